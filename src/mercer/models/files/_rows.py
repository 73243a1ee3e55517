"""Training rows ↔ members of a model file: plain arrays, next to what skops writes.

skops never reads them, and a Mercer that does not know them leaves them alone, so that files with
and without them are of one format.
"""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.models._training_sample import TrainingSample
from mercer.models.files._model_card import ModelCard
from mercer.tables import Column

# Numbers, dates (microseconds since 1970) and codes of categories, a column for each column of the
# table that is of this kind; codes of classes; numbers of rows, from 0.
_KINDS = {"number": "trainingnumbers", "date": "trainingdates", "category": "trainingcategories"}
_CLASSES, _PLACES = "trainingclasses", "trainingplaces"
_TYPES = {
    **dict.fromkeys(_KINDS.values(), np.dtype(np.int64)),
    _KINDS["number"]: np.dtype(np.float64),
    _CLASSES: np.dtype(np.int64),
    _PLACES: np.dtype(np.int64),
}


def members_of(rows: TrainingSample, card: ModelCard) -> dict[str, bytes]:
    """Return the members that hold training rows."""
    place = {name: code for code, name in enumerate(card.classes)}
    arrays: dict[str, NDArray[Any]] = {
        _CLASSES: np.array([place[str(name)] for name in rows.y], dtype=np.int64),
        _PLACES: rows.row_numbers.astype(np.int64) - 1,
    }
    for kind, name in _KINDS.items():
        columns = [_encoded(rows.X[one.name], one) for one in _used(card, kind)]
        if columns:
            arrays[name] = np.column_stack(columns).astype(_TYPES[name])
    return {f"{name}.npy": _as_bytes(array) for name, array in arrays.items()}


def rows_in(members: Mapping[str, bytes], card: ModelCard) -> TrainingSample | None:
    """Return the training rows of a file, or None if it has none.

    Raises
    ------
    ValueError
        Where arrays are not of the shape and type that the card says; its words go into brackets.
    """
    if f"{_PLACES}.npy" not in members:
        return None
    places = _array(members, _PLACES, 1)
    n_rows = len(places)
    classes = _array(members, _CLASSES, 1)
    _check(len(classes) == n_rows and _are_codes(classes, len(card.classes), 0))
    _check(n_rows >= 2 and (places >= 0).all())
    columns: dict[str, Any] = {}
    for kind, name in _KINDS.items():
        used = _used(card, kind)
        if not used:
            continue
        array = _array(members, name, 2)
        _check(array.shape == (n_rows, len(used)) and not np.isinf(array).any())
        for column, values in zip(used, array.T, strict=True):
            columns[column.name] = _decoded(values, column)
    order = [column.name for column in card.columns if column.used]
    X = pd.DataFrame({name: columns[name] for name in order})
    return TrainingSample(X.set_axis(places, axis=0), np.array(card.classes)[classes])


def count_rows_in(members: Mapping[str, bytes]) -> int:
    """Return how many training rows a file says it has."""
    found = members.get(f"{_PLACES}.npy")
    return 0 if found is None else int(np.load(io.BytesIO(found), allow_pickle=False).size)


def _used(card: ModelCard, kind: str) -> Sequence[Column]:
    return [column for column in card.columns if column.used and column.kind == kind]


def _encoded(values: pd.Series, column: Column) -> NDArray[Any]:
    if column.kind == "category":
        place = {name: code for code, name in enumerate(column.categories)}
        codes = [place.get(str(name), -1) for name in values.array.categories]
        return np.asarray(np.array([*codes, -1], dtype=np.int64)[values.array.codes])
    if column.kind == "date":
        return np.asarray(values.to_numpy(dtype="datetime64[us]").astype(np.int64))
    return np.asarray(values.to_numpy(dtype=np.float64))


def _decoded(values: NDArray[Any], column: Column) -> Any:
    if column.kind == "category":
        _check(_are_codes(values, len(column.categories), -1))
        return pd.Categorical.from_codes(
            values, categories=pd.Index(column.categories, dtype=object)
        )
    if column.kind == "date":
        return values.astype("datetime64[us]")
    return values


def _are_codes(codes: NDArray[Any], n: int, least: int) -> bool:
    return bool(np.all((codes >= least) & (codes < n)))


def _as_bytes(array: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def _array(members: Mapping[str, bytes], name: str, n_dimensions: int) -> NDArray[Any]:
    """Return a member as an array; the header has been checked."""
    _check(f"{name}.npy" in members)
    found = np.load(io.BytesIO(members[f"{name}.npy"]), allow_pickle=False)
    _check(found.ndim == n_dimensions and found.dtype == _TYPES[name])
    return np.asarray(found)


def _check(is_sound: Any) -> None:
    if not is_sound:
        raise ValueError("the training rows in it do not fit its card")

"""Outcomes on disk: one file for each job, there in full or not at all."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._system.files import make_folder, written_whole
from mercer.studies._model import Outcome
from mercer.studies._panels import Panel


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What is kept of a job: values by column as a matrix of replicates and dimensions."""

    seconds: float
    values: Mapping[str, NDArray[np.float64]]
    details: Mapping[str, Any]
    panels: Sequence[Mapping[str, Any]]


def write_outcome(
    path: Path, outcome: Outcome | Sequence[Panel], columns: tuple[str, ...], seconds: float
) -> None:
    """Write the outcome of a job."""
    arrays: dict[str, Any] = {}
    note: dict[str, Any] = {"seconds": seconds}
    if isinstance(outcome, Outcome):
        values = outcome.values if isinstance(outcome.values, Mapping) else None
        by_column = {columns[0]: outcome.values} if values is None else values
        if set(by_column) != set(columns):
            raise ValueError(f"A job of {columns} returned values for {tuple(by_column)}.")
        note["columns"] = list(columns)
        note["details"] = dict(outcome.details)
        for number, column in enumerate(columns):
            arrays[f"values_{number}"] = _matrix(by_column[column], column)
        arrays |= {f"predictions_{key}": np.asarray(a) for key, a in outcome.predictions.items()}
    else:
        note["panels"] = [panel.as_json() for panel in outcome]
    text = json.dumps(note, ensure_ascii=False).encode()
    arrays["note"] = np.frombuffer(text, dtype=np.uint8)
    # NumPy before 2.2 would pickle objects without asking.
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"A job returned {name} as objects: return numbers or text.")
    make_folder(path.parent)
    with written_whole(path) as beside, open(beside, "wb") as file:
        np.savez_compressed(file, **arrays)


def read_outcome(path: Path) -> Stored | None:
    """Read an outcome; None where there is none, or only a damaged one."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            note = json.loads(file["note"].tobytes())
            columns = note.get("columns", [])
            return Stored(
                seconds=float(note["seconds"]),
                values={c: _matrix(file[f"values_{k}"], c) for k, c in enumerate(columns)},
                details=dict(note.get("details", {})),
                panels=list(note.get("panels", [])),
            )
    except Exception:  # A damaged file raises one of many errors, and none of them matters here.
        return None


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that nobody ever sees a part of it."""
    with written_whole(path) as beside:
        beside.write_text(text, encoding="utf-8")


def _matrix(values: Any, column: str) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 3 or array.size == 0:
        raise ValueError(f"Column {column!r} got values of shape {array.shape}.")
    return array if array.ndim > 1 else array.reshape(-1, 1)

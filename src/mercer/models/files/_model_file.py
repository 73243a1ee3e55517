"""Model files: a fitted pipeline and its card, written and opened without pickle."""

import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mercer._system.files import shown_path
from mercer._system.words import limit_of_bytes
from mercer.models._training_sample import TrainingSample
from mercer.models.files._archive import CARD, digest, parse, read_members, write_whole
from mercer.models.files._model_card import FORMAT, ModelCard
from mercer.models.files._rows import count_rows_in, members_of, rows_in
from mercer.models.files._schema import (
    TRUSTED,
    check_members,
    estimator_types,
    schema_types,
    unknown_types,
)
from mercer.models.files._sound import check_sound

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_MAX_BYTES = 1 << 30


@dataclass(frozen=True)
class ModelContents:
    """What is in a model file.

    Parameters
    ----------
    card : ModelCard
        What the model is.
    types : tuple of str
        All types in it, in alphabetical order.
    untrusted : tuple of str
        Those that are not on Mercer's list, so that :func:`load_model` would refuse it; none in a
        file of Mercer.
    n_bytes : int
        Size of its members together.
    n_training_rows : int
        How many rows of its training table are in it, as they stood there.
    """

    card: ModelCard
    types: tuple[str, ...]
    untrusted: tuple[str, ...]
    n_bytes: int
    n_training_rows: int = 0


class ModelParts(NamedTuple):
    """What a model file holds, put together.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted.
    card : ModelCard
        What the file says of it.
    rows : TrainingSample or None
        Some rows of its training table; None where the file has none.
    """

    pipeline: "Pipeline"
    card: ModelCard
    rows: TrainingSample | None


def save_model(
    path: str | os.PathLike[str],
    pipeline: "Pipeline",
    card: ModelCard,
    *,
    rows: TrainingSample | None = None,
) -> None:
    """Write a fitted pipeline and its card to one file.

    Parameters
    ----------
    path : str or path
        A name that ends with ``.skops``; a file that is there is replaced, but only by a
        complete one.
    pipeline : sklearn.pipeline.Pipeline
        Fitted, its first step "table" and its last "model".  Of an :class:`OnDevice`, the
        classifier inside it is written: files know no devices.
    card : ModelCard
        What it is.
    rows : TrainingSample, optional
        Some rows of its training table, so that ``mercer predict`` can say how familiar new rows
        are.

    Raises
    ------
    ValueError
        Where the name ends otherwise, or the pipeline is larger than :func:`load_model` reads
        or holds types that it refuses.
    OSError
        Where the file cannot be written; nothing is left behind.
    """
    import skops.io
    from sklearn.pipeline import Pipeline

    from mercer.models._device import off_device

    file = f"File {shown_path(path)}"
    if Path(path).suffix.lower() != ".skops":
        raise ValueError(f"{file} must end with .skops: rename it.")
    pipeline = off_device(pipeline) if isinstance(pipeline, Pipeline) else pipeline
    _check_pipeline(pipeline, card)
    content = skops.io.dumps(pipeline)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if unknown := _unknown_types(file, members):
        raise ValueError(
            f"A model with {', '.join(unknown)} cannot be saved: its parts must be those of "
            "Mercer and the plain ones of scikit-learn."
        )
    if rows is not None:
        members |= members_of(rows, card)
    if sum(map(len, members.values())) > _MAX_BYTES:
        raise ValueError(
            f"The model takes more than {limit_of_bytes(_MAX_BYTES)}, the most that is read again: "
            "fit it on fewer rows, or choose another model."
        )
    digests = {name: digest(member) for name, member in members.items()}
    described = card.to_dict()
    digests["card"] = digest(_canonical(described))
    about = {"format": FORMAT, "card": described, "digests": digests}
    write_whole(path, {CARD: json.dumps(about, indent=1).encode(), **members})


def load_model(
    path: str | os.PathLike[str], *, max_bytes: int = _MAX_BYTES
) -> tuple["Pipeline", ModelCard]:
    """Open a model file, if there is nothing in it but what Mercer writes.

    Refused are: pickles and other foreign files; files with a type that no model of Mercer has,
    or with functions or methods; members that were changed since, by their digests; archives that
    unpack to more than the bound; other versions of the format; arrays of objects, and those that
    promise more than they hold; trees that point to nodes which do not exist, and support vectors
    or neighbours that do not fit each other.  Digests find damage and careless changes.  Whoever
    writes a file on purpose can write its digests too, and is stopped by the list of types.

    Parameters
    ----------
    path : str or path
        What :func:`save_model` wrote.
    max_bytes : int, default=2**30
        The most that is unpacked.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline
        Fitted.
    card : ModelCard
        What the file says of it.

    Raises
    ------
    ValueError
        Where the file is refused; one sentence says why.
    OSError
        Where it cannot be read.

    Warns
    -----
    UserWarning
        Where another version of scikit-learn trained the model.
    """
    pipeline, card, _ = load_model_parts(path, max_bytes=max_bytes)
    return pipeline, card


def load_model_parts(path: str | os.PathLike[str], *, max_bytes: int = _MAX_BYTES) -> ModelParts:
    """Open a model file as :func:`load_model` does, with the training rows that are in it.

    Parameters
    ----------
    path : str or path
        What :func:`save_model` wrote.
    max_bytes : int, default=2**30
        The most that is unpacked.

    Returns
    -------
    ModelParts
        Pipeline, card and training rows.

    Raises
    ------
    ValueError
        Where the file is refused; one sentence says why.
    OSError
        Where it cannot be read.

    Warns
    -----
    UserWarning
        Where another version of scikit-learn trained the model.
    """
    file = f"File {shown_path(path)}"
    members, card = _checked(path, file, max_bytes)
    pipeline = _construct(file, members)
    try:
        check_sound(pipeline)
        _check_pipeline(pipeline, card)
        rows = rows_in(members, card)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise ValueError(
            f"{file} is not a model that Mercer wrote ({error}): it is refused."
        ) from error
    if card.sklearn != (here := version("scikit-learn")):
        warnings.warn(
            f"The model was trained with scikit-learn {card.sklearn}, and this is "
            f"{here}: if predictions look odd, fit it again.",
            UserWarning,
            stacklevel=3,
        )
    return ModelParts(pipeline, card, rows)


def read_card(path: str | os.PathLike[str], *, max_bytes: int = _MAX_BYTES) -> ModelContents:
    """Say what is in a model file; nothing in it is built or run.

    Parameters
    ----------
    path : str or path
        What :func:`save_model` wrote, perhaps changed by somebody.
    max_bytes : int, default=2**30
        The most that is unpacked.

    Returns
    -------
    ModelContents
        The card, and what else is in the file.

    Raises
    ------
    ValueError
        Where it is not a model file of Mercer, or damaged.
    OSError
        Where it cannot be read.
    """
    file = f"File {shown_path(path)}"
    members, card = _checked(path, file, max_bytes)
    return ModelContents(
        card=card,
        types=tuple(schema_types(members)),
        untrusted=tuple(unknown_types(members)),
        n_bytes=sum(map(len, members.values())),
        n_training_rows=count_rows_in(members),
    )


def _checked(
    path: str | os.PathLike[str], file: str, max_bytes: int
) -> tuple[dict[str, bytes], ModelCard]:
    """Return the members of a file and its card, if nothing in it is what Mercer never writes.

    This is checked before skops sees the file.  ``file`` is what sentences call it.
    """
    members = read_members(path, max_bytes)
    described = _checked_description(file, members)
    try:
        card = ModelCard.from_dict(described)
        check_members(members, max_bytes)
    except ValueError as error:
        raise ValueError(f"{file} is refused: {error}.") from error
    return members, card


def _checked_description(file: str, members: dict[str, bytes]) -> Any:
    """Return what a file says of its model, if all members match their digests."""
    try:
        about = parse(members[CARD])
        version, digests = about["format"], about["digests"]
        described = about["card"]
        if not isinstance(digests, dict):
            raise TypeError("no digests")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} has a card that cannot be read: fit the model again.") from error
    if version != FORMAT:
        raise ValueError(
            f"{file} has version {version!r} of the format, and this Mercer reads {FORMAT}: fit "
            "the model again, or install the Mercer that wrote it."
        )
    found = {name: digest(content) for name, content in members.items() if name != CARD}
    found["card"] = digest(_canonical(described))
    if found != digests:
        changed = sorted(
            name for name in {*found, *digests} if found.get(name) != digests.get(name)
        )
        raise ValueError(
            f"{file} was changed after it was written ({changed[0]!r}): it is refused."
        )
    return described


def _construct(file: str, members: dict[str, bytes]) -> Any:
    """Build the pipeline by skops."""
    import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    if unknown := _unknown_types(file, members):
        raise ValueError(f"{file} holds {unknown[0]}, which no model of Mercer has: it is refused.")
    trusted = sorted({*TRUSTED, *estimator_types(members)})
    with _as_one_sentence(file), warnings.catch_warnings():
        # load_model warns once, of the whole model.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return skops.io.loads(_packed(members), trusted=trusted)


def _unknown_types(file: str, members: dict[str, bytes]) -> list[str]:
    """Return types that are not on Mercer's list, or else those that skops does not trust."""
    import skops.io

    if unknown := unknown_types(members):
        return unknown
    with _as_one_sentence(file):
        untrusted = set(skops.io.get_untrusted_types(data=_packed(members)))
        return sorted(untrusted - set(TRUSTED) - estimator_types(members))


def import_skops_quickly() -> None:
    """Import skops without its lists of all estimators of scikit-learn and of all ufuncs.

    They take more than a second, and torch.  Mercer finds out for itself which estimators to trust,
    and no model of it has a ufunc.  Others in the same process would miss the lists, so only our
    own commands do this, which have the process to themselves.
    """
    import scipy.special
    import sklearn.utils

    with (
        _replaced(sklearn.utils, "all_estimators"),
        _replaced(np, "__dir__"),
        _replaced(scipy.special, "__dir__"),
    ):
        import skops.io  # noqa: F401


@contextmanager
def _replaced(module: Any, name: str) -> Iterator[None]:
    """Let a function of a module return an empty list for a while."""
    before = vars(module).get(name)
    setattr(module, name, list)
    try:
        yield
    finally:
        if before is None:
            delattr(module, name)
        else:
            setattr(module, name, before)


@contextmanager
def _as_one_sentence(file: str) -> Iterator[None]:
    """Turn whatever skops raises for a made-up file, which may be anything, into one sentence."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"{file} cannot be put together ({type(error).__name__}): fit the model again."
        ) from error


def _packed(members: dict[str, bytes]) -> bytes:
    """Return an archive of the very bytes that were checked."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _check_pipeline(pipeline: Any, card: ModelCard) -> None:
    """Raise if this is not a pipeline from a table to the classes of the card."""
    from sklearn.pipeline import Pipeline

    if not isinstance(pipeline, Pipeline):
        raise ValueError(f"a model is a Pipeline, not a {type(pipeline).__name__}")
    names = [name for name, _ in pipeline.steps]
    if len(names) < 2 or names[0] != "table" or names[-1] != "model":
        raise ValueError("the steps of a model begin with 'table' and end with 'model'")
    classes = tuple(np.asarray(pipeline.classes_).tolist())
    if classes != card.classes:
        raise ValueError("the classes of the model and of its card differ")


def _canonical(described: Any) -> bytes:
    return json.dumps(described, sort_keys=True, separators=(",", ":")).encode()

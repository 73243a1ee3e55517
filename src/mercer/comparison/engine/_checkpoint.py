"""Fits that are kept in a folder as they are made, so that an interrupted comparison goes on."""

import hashlib
import json
import marshal
import shutil
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy import sparse

from mercer._system.environment import versions
from mercer._system.files import held_alone, make_folder, sweep, written_whole
from mercer._system.npy import read_arrays
from mercer.comparison.engine._fit import Fit

_ARRAYS = ("predicted", "outputs", "sets")
_FACTS = tuple(field.name for field in fields(Fit) if field.name not in _ARRAYS)
_STATE = "run.json"


class Checkpoint:
    """A folder with the fits of one question, each in a file that is there whole or not at all.

    Attributes
    ----------
    fits : dict of str to dict of int to Fit
        Those that were there, by estimator and split.
    seconds : float
        What was spent on them by the clock.
    begins_anew : bool
        Whether there were fits of another question, which are gone.
    """

    def __init__(self, folder: Path, question: str) -> None:
        self._folder = folder
        self._question = question
        self.fits: dict[str, dict[int, Fit]] = {}
        self.seconds = 0.0
        self._state = self._read_state()
        self.begins_anew = False
        if self._state.get("question") == question:
            self._read_fits()
        else:
            old = [*folder.glob("*.npz"), *folder.glob(_STATE)]
            self.begins_anew = any(file.suffix == ".npz" for file in old)
            for file in old:
                file.unlink()
            self._state = {"question": question}
            self._write_state()

    @property
    def n_rows(self) -> int | None:
        """How many rows were drawn, where that was settled before."""
        found = self._state.get("n_rows")
        return found if isinstance(found, int) else None

    def notes(self, budget: float) -> dict[str, str]:
        """Return why estimators were left out; with more time than then they may be tried again."""
        found = self._state.get("notes")
        then = self._state.get("budget")
        is_more = not isinstance(then, int | float) or budget > then
        return (
            {} if is_more or not isinstance(found, dict) else {k: str(v) for k, v in found.items()}
        )

    def keep(self, **facts: Any) -> None:
        """Write down what was settled: ``n_rows``, ``notes`` and ``budget``."""
        if any(self._state.get(key) != value for key, value in facts.items()):
            self._state |= facts
            self._write_state()

    def add(self, name: str, number: int, fit: Fit, seconds: float) -> None:
        """Write down a fit, and what all of them took so far."""
        facts = {key: getattr(fit, key) for key in _FACTS}
        facts |= {"name": name, "number": number, "spent": seconds, "scores": dict(fit.scores)}
        facts["by_part"] = {metric: list(map(float, of)) for metric, of in fit.by_part.items()}
        arrays = {key: getattr(fit, key) for key in _ARRAYS if getattr(fit, key) is not None}
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        place = self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:12]}-{number}.npz"
        # A disk that is full ends no comparison: this fit would only have to be made again.
        with suppress(OSError), written_whole(place) as beside, beside.open("wb") as stream:
            np.savez(stream, facts=text, **arrays)

    def _read_state(self) -> dict[str, Any]:
        try:
            found = json.loads((self._folder / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write_state(self) -> None:
        with written_whole(self._folder / _STATE) as beside:
            beside.write_text(json.dumps(self._state), encoding="utf-8")

    def _read_fits(self) -> None:
        for file in sorted(self._folder.glob("*.npz")):
            # A file that a disk has spoilt is one fit that is made again.
            with suppress(OSError, ValueError, KeyError, TypeError):
                arrays = read_arrays(file.read_bytes(), ("facts", *_ARRAYS))
                facts = json.loads(arrays.pop("facts").tobytes())
                facts["by_part"] = {key: np.asarray(of) for key, of in facts["by_part"].items()}
                fit = Fit(**{key: facts[key] for key in _FACTS}, **arrays)  # type: ignore[arg-type]
                self.fits.setdefault(str(facts["name"]), {})[int(facts["number"])] = fit
                self.seconds = max(self.seconds, float(facts["spent"]))


@contextmanager
def opened_checkpoint(folder: Path, question: str) -> Iterator[Checkpoint]:
    """Open a folder, which no other process may have open at the same time."""
    is_new = not folder.parent.exists()
    make_folder(folder)
    with held_alone(folder) as is_alone:
        if not is_alone:
            raise ValueError(
                f"Another comparison is running in {folder.parent}: wait for it, or choose another "
                "folder."
            )
        try:
            sweep(folder)
            yield Checkpoint(folder, question)
        finally:
            if not any(folder.glob("*.npz")):  # nothing to go on with
                shutil.rmtree(folder, ignore_errors=True)
                if is_new:
                    with suppress(OSError):
                        folder.parent.rmdir()


class _Digest(Protocol):
    def update(self, part: bytes, /) -> None: ...


def question_of(*parts: Any) -> str:
    """Return a digest of data, estimators and options; the versions of the packages count too.

    What has no contents that can be told, such as an open file, differs from run to run.
    """
    digest = hashlib.sha256()
    _feed(digest, [versions(), *parts])
    return digest.hexdigest()


def _feed(digest: _Digest, part: Any) -> None:
    digest.update(f"<{type(part).__module__}.{type(part).__qualname__}>".encode())
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    elif isinstance(part, pd.DataFrame | pd.Series):
        labels = part.columns if isinstance(part, pd.DataFrame) else [part.name]
        kinds = part.dtypes if isinstance(part, pd.DataFrame) else [part.dtype]
        digest.update(repr([[str(one) for one in labels], [str(one) for one in kinds]]).encode())
        digest.update(pd.util.hash_pandas_object(part).to_numpy().tobytes())
    elif sparse.issparse(part):
        csr = sparse.csr_array(part)
        _feed(digest, [csr.shape, csr.data, csr.indices, csr.indptr])
    elif isinstance(part, Mapping):
        _feed(digest, [[key, value] for key, value in part.items()])
    elif isinstance(part, Sequence | np.ndarray) and not isinstance(part, str | bytes):
        digest.update(f"{len(part)}".encode())
        for one in part:
            _feed(digest, one)
    elif isinstance(part, types.FunctionType):
        digest.update(marshal.dumps(part.__code__))
    elif hasattr(part, "get_params") and not isinstance(part, type):
        _feed(digest, sorted(part.get_params(deep=False).items()))
    else:
        digest.update(repr(part).encode())

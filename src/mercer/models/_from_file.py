"""A model in a Python file of the user's: ``my.py:model``."""

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mercer._system.files import shown_path
from mercer._system.words import did_you_mean
from mercer.models._packages import PackagedClassifier, is_packaged
from mercer.models._wrappers import DelegatingClassifier, check_indexable, keep_features


class ModelFromFile(DelegatingClassifier):
    """Fit what a Python file calls by a name; the file is run in every process that fits.

    Parameters
    ----------
    path : str
        The file.
    name : str
        Of a classifier or pipeline in it, or of what returns one when it is called.
    digest : str
        Of the file's content: a file that has changed meanwhile is refused.
    random_state : int
        For whatever has a ``random_state`` that the file leaves None.
    """

    def __init__(self, path: str, name: str, *, digest: str, random_state: int) -> None:
        self.path = path
        self.name = name
        self.digest = digest
        self.random_state = random_state

    @classmethod
    def of(cls, place: str, random_state: int) -> "ModelFromFile":
        """Return the model at a place such as ``my.py:model``."""
        path, _, name = place.rpartition(":")
        path = str(Path(path).expanduser().absolute())
        return cls(path, name, digest=_digest(_source(path)), random_state=random_state)

    @property
    def estimator(self) -> Any:
        """What the file has by this name, not fitted; raise where there is no such model."""
        found = _named(_module(self.path, self.digest), self.name, shown_path(self.path))
        seeds = {
            key: self.random_state
            for key, value in found.get_params(deep=True).items()
            if value is None and (key == "random_state" or key.endswith("__random_state"))
        }
        found = clone(found).set_params(**seeds)
        return PackagedClassifier(found) if is_packaged(found) else found

    @property
    def takes_table(self) -> bool:
        """Whether it prepares the columns itself: a pipeline, or a search over one."""
        found = self.estimator
        while not isinstance(found, Pipeline) and hasattr(found, "estimator"):
            found = found.estimator
        return isinstance(found, Pipeline)

    def fit(self, X: Any, y: Any) -> "ModelFromFile":
        """Fit what the file has."""
        model = self.estimator
        try:
            self.estimator_ = model.fit(X, y)
        except (TypeError, ValueError) as error:
            if not self.takes_table:
                raise
            first = str(error).strip().partition("\n")[0]
            raise ValueError(
                f"{first} (a pipeline is given the columns as they are, with categories, dates and "
                "gaps; a classifier alone is given numbers)"
            ) from error
        self.classes_ = self.estimator_.classes_
        keep_features(self, self.estimator_)
        return self

    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
        check_is_fitted(self)
        found: NDArray[Any] = getattr(self.estimator_, method)(check_indexable(X, self), **options)
        return found


def _source(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        why = error.strerror or str(error)
        raise type(error)(f"{shown_path(path)} cannot be read ({why}): check the path.") from error


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def _module(path: str, digest: str) -> ModuleType:
    """Return the file as a module, run once in a process.

    Modules beside it can be imported, after those that are installed: a file beside it that is
    called random.py would else take the place of Python's own.
    """
    key = f"mercer_model_file_{digest}"
    if key in sys.modules:
        return sys.modules[key]
    source, shown = _source(path), shown_path(path)
    if _digest(source) != digest:
        raise ValueError(f"{shown} has changed since it was first read: begin again.")
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{shown} is not a Python file: its name must end with .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        # A user's own file, as `python my.py` would run it; no compiled copy is left beside it.
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102
    except BaseException as error:
        del sys.modules[key]
        if not isinstance(error, Exception | SystemExit):
            raise
        raise ValueError(f"{shown} cannot be run ({_where(error, path)}): repair it.") from error
    return module


def _named(module: ModuleType, name: str, shown: str) -> Any:
    """Return the model of this name in a file that was run."""
    if not hasattr(module, name):
        names = [one for one in vars(module) if not one.startswith("_")]
        hint = did_you_mean(name, names, "write FILE.py:NAME, with a name that the file has.")
        raise ValueError(f"{shown} has no {name!r}: {hint}")
    found = getattr(module, name)
    if isinstance(found, type) or not hasattr(found, "fit"):
        if not callable(found):
            raise ValueError(
                f"{name!r} in {shown} is not a model: give a classifier or pipeline as "
                "scikit-learn has them, or a function that returns one."
            )
        try:
            found = found()
        except Exception as error:
            raise ValueError(
                f"{name}() in {shown} fails ({type(error).__name__}: {error}): it is called "
                "without arguments and returns a classifier."
            ) from error
    lacks = [one for one in ("fit", "predict", "get_params") if not hasattr(found, one)]
    if lacks:
        raise ValueError(
            f"{name!r} in {shown} has no {lacks[0]}: give a classifier or pipeline as "
            "scikit-learn has them, or a function that returns one."
        )
    return found


def _where(error: BaseException, path: str) -> str:
    """Return an error in words, with the last line of the file that was reached."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if frame.filename == path]  # fmt: skip
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    place = f"line {lines[-1]}: " if lines else ""
    what = error.msg if isinstance(error, SyntaxError) else error
    return f"{place}{type(error).__name__}: {what}"

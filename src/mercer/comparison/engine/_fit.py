"""One clone, fitted and tested on one split, and all that is kept of it."""

import pickle
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import parallel_config
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mercer.comparison._checks import FloatArray
from mercer.comparison.engine._metrics import Codes, score_all
from mercer.comparison.engine._splits import Split

__all__ = ["Fit", "Task", "Work", "run_task"]

# The name of an estimator and the number of a split.
Task = tuple[str, int]

_MOST_OUTPUTS = 250_000  # numbers kept of one fit, beyond which they only serve the scores
_MOST_BYTES = 1 << 30  # at which the size of a model is no longer counted


@dataclass(frozen=True, eq=False)
class Work:
    """What all fits share.

    ``positive`` is the class that F1 and average precision look for when there are two.
    """

    estimators: Mapping[str, Any]
    X: Any
    y: npt.NDArray[np.generic]
    classes: npt.NDArray[np.generic]
    positive: int


@dataclass(frozen=True, eq=False)
class Fit:
    """What one fit gave, or the error that ended it.

    ``outputs`` are probabilities or, where there are none, decision scores: a column per class.
    ``n_rows`` is how many of the training rows the estimator was fitted on.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    predicted: Codes | None = None
    outputs: npt.NDArray[np.float32] | None = None
    are_probabilities: bool = False
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    seconds: float = np.nan
    n_bytes: int | None = None
    n_rows: int = 0
    warning: str = ""
    error: str = ""


def run_task(work: Work, task: Task, split: Split) -> Fit:
    """Fit a clone on the training part and test it on the rest, on one thread.

    A failure is a result, not a crash. The size of the model is counted on the first split.
    """
    start = time.perf_counter()
    with (
        warnings.catch_warnings(record=True) as caught,
        threadpool_limits(1),
        parallel_config(backend="sequential"),
    ):
        warnings.simplefilter("always")
        try:
            fit = _run(work, task, split)
        except Exception as error:  # any estimator may fail in any way
            fit = {"error": f"{type(error).__name__}: {error}"}
    return Fit(**fit, seconds=time.perf_counter() - start, warning=_first(caught))


def _run(work: Work, task: Task, split: Split) -> dict[str, Any]:
    name, number = task
    train, test = split
    estimator = clone(work.estimators[name])
    X_train, X_test = _rows(work.X, train), _rows(work.X, test)
    start = time.perf_counter()
    estimator.fit(X_train, work.y[train])
    fitted = time.perf_counter()
    predicted = _codes(np.asarray(estimator.predict(X_test)), work.classes)
    ended = time.perf_counter()
    outputs, are_probabilities = _outputs(estimator, X_test, work.classes)
    truth = np.searchsorted(work.classes, work.y[test])
    scores = score_all(
        truth,
        predicted,
        outputs,
        are_probabilities=are_probabilities,
        n_classes=len(work.classes),
        positive=work.positive,
    )
    is_small = outputs is not None and outputs.size <= _MOST_OUTPUTS
    return {
        "scores": scores,
        "predicted": predicted,
        "outputs": outputs.astype(np.float32) if outputs is not None and is_small else None,
        "are_probabilities": are_probabilities,
        "fit_seconds": fitted - start,
        "predict_seconds": ended - fitted,
        "n_bytes": _size(estimator) if number == 0 else None,
        "n_rows": _rows_fitted(estimator, len(train)),
    }


def _rows_fitted(estimator: Any, n_rows: int) -> int:
    """Return how many rows were used: what the classifier or a pipeline's last step says."""
    steps = getattr(estimator, "steps", [("", estimator)])
    return int(getattr(steps[-1][1], "n_rows_fitted_", n_rows))


def _rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _codes(labels: npt.NDArray[np.generic], classes: npt.NDArray[np.generic]) -> Codes:
    """Return labels as positions among the classes."""
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        raise ValueError(f"it predicts {str(labels[strange[0]])!r}, which is no class of y")
    return np.asarray(codes, dtype=np.intp)


def _outputs(
    estimator: Any, X: Any, classes: npt.NDArray[np.generic]
) -> tuple[FloatArray | None, bool]:
    """Return a number per row and class: probabilities, else decision scores, else nothing."""
    for method in ("predict_proba", "decision_function"):
        if not hasattr(estimator, method):
            continue
        found = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
        own = np.asarray(estimator.classes_)
        if found.ndim == 1:  # of two classes, in favour of the second
            found = np.column_stack([-found, found])
        if found.shape[1] != len(own):  # one against one: no number per class
            continue
        is_proba = method == "predict_proba"
        outputs = np.full((len(found), len(classes)), 0.0 if is_proba else found.min(initial=0.0))
        outputs[:, _codes(own, classes)] = found
        return outputs, is_proba
    return None, False


class _Counter:
    """A file that only counts."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, part: Any) -> int:
        size = memoryview(part).nbytes
        self.n_bytes += size
        if self.n_bytes > _MOST_BYTES:
            raise OverflowError
        return size


def _size(estimator: Any) -> int | None:
    """Count the bytes of the pickled model without keeping them; None where that cannot be had."""
    counter = _Counter()
    try:
        pickle.dump(estimator, counter, protocol=5)
    except Exception:  # too large, or not to be pickled: its size is not known
        return None
    return counter.n_bytes


def _first(caught: list[warnings.WarningMessage]) -> str:
    """Return the first warning that speaks of this fit rather than of versions."""
    passing = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
    for one in caught:
        if not issubclass(one.category, passing):
            return str(one.message).strip().partition("\n")[0]
    return ""

"""One clone, fitted and tested on one split, and all that is kept of it."""

import pickle
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import parallel_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from mercer._arrays import FloatArray
from mercer._system.workers import WorkerDiedError

_MOST_BYTES = 1 << 30  # the size of a larger model is not counted
_DIED = "MemoryError: its process was ended from outside, for want of memory as a rule"

# Indices of the training and of the test samples.
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

# What is kept of a fitted estimator, its test samples, their classes and its predictions of them:
# the fields of a Fit that hold scores, predictions and outputs.
Judge = Callable[[Any, Any, npt.NDArray[np.generic], npt.NDArray[np.generic]], Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Material:
    """What all fits share; the size of a model is counted on the first split, if at all.

    Test samples are rows of X and y, or of a test file where ``test`` has its X and y.
    """

    estimators: Mapping[str, Any]
    X: Any
    y: npt.NDArray[np.generic]
    judge: Judge
    counts_bytes: bool = False
    test: tuple[Any, npt.NDArray[np.generic]] | None = None

    @property
    def tested(self) -> tuple[Any, npt.NDArray[np.generic]]:
        """The samples and classes that the test part of a split numbers."""
        return (self.X, self.y) if self.test is None else self.test


@dataclass(frozen=True, eq=False)
class Task:
    """A fit to be made: which estimator, on which split."""

    name: str
    number: int
    split: Split


@dataclass(frozen=True, eq=False)
class Fit:
    """What one fit gave, or the error that ended it.

    ``outputs`` are probabilities or, where there are none, decision scores: a column per class.
    ``n_rows`` is how many of the training rows the estimator was fitted on.  ``sets`` says which
    classes may be right, a column per class, where that was asked for and the estimator tells.
    ``by_part`` is what each part of a test file adds to a score.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    predicted: npt.NDArray[Any] | None = None
    outputs: npt.NDArray[np.float32] | None = None
    are_probabilities: bool = False
    sets: npt.NDArray[np.bool_] | None = None
    fit_seconds: float = np.nan
    predict_seconds: float = np.nan
    seconds: float = np.nan
    n_bytes: int | None = None
    n_rows: int = 0
    by_part: Mapping[str, FloatArray] = field(default_factory=dict)
    warning: str = ""
    error: str = ""

    def is_of(self, n_tested: int, n_classes: int) -> bool:
        """Tell whether what was read from a file can be what a fit gives for so many samples."""
        codes = self.predicted
        return (
            codes is not None
            and codes.shape == (n_tested,)
            and codes.dtype.kind == "i"
            and bool(np.all((codes >= 0) & (codes < n_classes)))
            and all(
                table is None or table.shape == (n_tested, n_classes)
                for table in (self.outputs, self.sets)
            )
        )


def as_fit(outcome: Fit | Exception) -> Fit:
    """Return the fit that came of a task; one with an error where it ended its process."""
    if isinstance(outcome, Fit):
        return outcome
    died = isinstance(outcome, WorkerDiedError)
    return Fit(error=_DIED if died else f"{type(outcome).__name__}: {outcome}")


def fit_and_test(material: Material, task: Task) -> Fit:
    """Fit a clone on the training part, then test it on the rest.

    A failure is a result, not a crash.
    """
    start = time.perf_counter()
    try:
        found = _fit_and_test(material, task)
    except Exception as error:  # any estimator may fail in any way
        found = {"error": f"{type(error).__name__}: {error}"}
    return Fit(**found, seconds=time.perf_counter() - start)


def fit_quietly(material: Material, task: Task) -> Fit:
    """Fit and test on one thread, and keep the first warning instead of showing it."""
    start = time.perf_counter()
    with (
        warnings.catch_warnings(record=True) as caught,
        threadpool_limits(1),
        parallel_config(backend="sequential"),
    ):
        warnings.simplefilter("always")
        fit = fit_and_test(material, task)
    return replace(fit, seconds=time.perf_counter() - start, warning=_first_warning(caught))


def _fit_and_test(material: Material, task: Task) -> dict[str, Any]:
    train, test = task.split
    estimator = clone(material.estimators[task.name])
    tested, truth = material.tested
    X_train = _part(estimator, material.X, train, train)
    X_test = _part(estimator, tested, test, train)
    start = time.perf_counter()
    estimator.fit(X_train, material.y[train])
    fitted = time.perf_counter()
    predicted = np.asarray(estimator.predict(X_test))
    if predicted.ndim == 2 and predicted.shape[1] == 1:  # as some packages answer
        predicted = predicted[:, 0]
    ended = time.perf_counter()
    is_sized = material.counts_bytes and task.number == 0
    return {
        **material.judge(estimator, X_test, truth[test], predicted),
        "fit_seconds": fitted - start,
        "predict_seconds": ended - fitted,
        "n_bytes": _pickled_size(estimator) if is_sized else None,
        "n_rows": _rows_fitted(estimator, len(train)),
    }


def _part(estimator: Any, X: Any, rows: npt.NDArray[np.intp], train: npt.NDArray[np.intp]) -> Any:
    """Rows of X; of a matrix between samples, as a precomputed kernel is, training columns too."""
    part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    # An estimator that has no tags, as one that does not come from scikit-learn, takes plain rows.
    has_tags = hasattr(estimator, "__sklearn_tags__")
    return part[:, train] if has_tags and get_tags(estimator).input_tags.pairwise else part


def _rows_fitted(estimator: Any, n_rows: int) -> int:
    """Return how many rows were used: what the classifier or a pipeline's last step says."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    fitted = getattr(last, "n_rows_fitted_", n_rows)
    return int(fitted) if isinstance(fitted, Integral) else n_rows


class _ByteCounter:
    """A file that only counts what is written to it."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, part: Any) -> int:
        size = memoryview(part).nbytes
        self.n_bytes += size
        if self.n_bytes > _MOST_BYTES:
            raise OverflowError
        return size


def _pickled_size(estimator: Any) -> int | None:
    """Count the bytes of the pickled model without keeping them; None where that cannot be had."""
    counter = _ByteCounter()
    try:
        pickle.dump(estimator, counter, protocol=5)
    except Exception:  # too large, or it cannot be pickled: its size is not known
        return None
    return counter.n_bytes


def _first_warning(caught: list[warnings.WarningMessage]) -> str:
    """Return the first warning that speaks of this fit rather than of versions."""
    passing = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
    for one in caught:
        if not issubclass(one.category, passing):
            return str(one.message).strip().partition("\n")[0]
    return ""


def prediction_table(
    y: npt.NDArray[np.generic],
    splits: Mapping[int, Split],
    predicted: Mapping[str, Sequence[npt.NDArray[Any]]],
) -> pd.DataFrame:
    """Return true and predicted classes, a row per split and test sample.

    ``predicted`` holds the classes of each estimator, split after split.
    """
    tested = [test for _, test in splits.values()]
    samples = np.concatenate(tested)
    numbers = np.repeat(list(splits), [len(test) for test in tested])
    index = pd.MultiIndex.from_arrays([numbers, samples], names=["split", "sample"])
    columns = {name: np.concatenate(parts) for name, parts in predicted.items()}
    return pd.DataFrame({"y_true": y[samples], **columns}, index)

"""The splits that all estimators share, and the fit of one clone on one of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import accuracy_score, check_scoring, get_scorer
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state, get_tags

__all__ = [
    "FoldRun",
    "Scorer",
    "Split",
    "five_by_two_splits",
    "is_tested_once",
    "make_splits",
    "resolve_scoring",
    "run_fold",
]

# Indices of the training and of the test samples.
Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

# Score of a fitted estimator on test samples, given its predictions of them.
Scorer = Callable[[Any, Any, Any, Any], Any]


def make_splits(
    cv: object,
    X: object,
    y: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> list[Split]:
    """Make the splits of a number of folds, of a splitter or of an iterable.

    Folds of a number are shuffled and stratified, and by group where groups are given.
    """
    if isinstance(cv, (int, np.integer)):
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(int(cv), shuffle=True, random_state=random_state)
        if groups is not None and (n_groups := len(np.unique(groups))) < cv:
            raise ValueError(f"{cv} folds by group need {cv} groups or more; got {n_groups}.")
    else:
        splitter = check_cv(cv, y, classifier=True)
    samples = np.arange(len(y))  # so that lists and masks become indices
    splits = [(samples[train], samples[test]) for train, test in splitter.split(X, y, groups)]
    if not splits:
        raise ValueError("cv gives no split.")
    return splits


def five_by_two_splits(
    X: object,
    y: npt.NDArray[np.generic],
    groups: npt.ArrayLike | None,
    random_state: int | np.random.RandomState | None,
) -> list[Split]:
    """Five shuffled two-fold cross-validations, one after the other."""
    rng = check_random_state(random_state)
    return [split for _ in range(5) for split in make_splits(2, X, y, groups, rng)]


def is_tested_once(splits: Sequence[Split]) -> bool:
    """Tell whether every sample is tested at most once, as in plain K-fold cross-validation."""
    tested = np.concatenate([test for _, test in splits])
    return len(np.unique(tested)) == len(tested)


@dataclass(frozen=True)
class FoldRun:
    """What one fit gave: a score, predictions and seconds, or an error."""

    score: float = np.nan
    fit_time: float = np.nan
    predictions: npt.NDArray[np.generic] | None = None
    error: str = ""


def resolve_scoring(scoring: object) -> tuple[str, Scorer]:
    """Name and scorer of a scikit-learn name or of a callable ``(estimator, X, y)``."""
    if not (isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            "scoring must be one name of sklearn.metrics.get_scorer_names() or one callable "
            f"(estimator, X, y); got {scoring!r}."
        )
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", str(scoring))
    if scoring == "accuracy":  # known from the predictions: no second pass over the test samples
        return name, lambda estimator, X, y, predictions: float(accuracy_score(y, predictions))
    # check_scoring knows a metric from a scorer, get_scorer has the shorter word on a wrong name
    scorer = get_scorer(scoring) if isinstance(scoring, str) else check_scoring(scoring=scoring)
    return name, lambda estimator, X, y, predictions: scorer(estimator, X, y)


def run_fold(estimator: Any, X: Any, y: Any, split: Split, scorer: Scorer) -> FoldRun:
    """Fit a clone on the training part, then predict and score the test part.

    A failure is a result, not a crash.
    """
    train, test = split
    try:
        fitted = clone(estimator)
        X_train, X_test = (_part(fitted, X, rows, train) for rows in split)
        start = perf_counter()
        fitted.fit(X_train, y[train])
        fit_time = perf_counter() - start
        predictions = np.asarray(fitted.predict(X_test))
        score = scorer(fitted, X_test, y[test], predictions)
        if isinstance(score, Mapping):
            raise TypeError(f"scoring must give one number; got {score!r}")
        score = float(score)
        if not np.isfinite(score):
            raise ValueError(f"the score is {score}")
    except Exception as error:  # any estimator may fail in any way
        return FoldRun(error=f"{type(error).__name__}: {error}")
    return FoldRun(score, fit_time, predictions)


def _part(estimator: Any, X: Any, rows: npt.NDArray[np.intp], train: npt.NDArray[np.intp]) -> Any:
    """Rows of X; of a matrix between samples, as a precomputed kernel is, training columns too."""
    part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return part[:, train] if get_tags(estimator).input_tags.pairwise else part

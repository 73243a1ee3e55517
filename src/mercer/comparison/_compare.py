"""Compare estimators on one data set: the same splits for all, every pair tested."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import Parallel, delayed

from mercer.comparison._checks import check_confidence_level, check_labels
from mercer.comparison._comparison import Comparison
from mercer.comparison.engine._splits import (
    FoldRun,
    Scorer,
    Split,
    five_by_two_splits,
    is_tested_once,
    make_splits,
    resolve_scoring,
    run_fold,
)
from mercer.comparison.tests._five_by_two import five_by_two_f_test, five_by_two_t_test
from mercer.comparison.tests._mcnemar import mcnemar_test
from mercer.comparison.tests._paired_t import corrected_t_test, kfold_paired_t_test
from mercer.comparison.tests._pairs import PairedTestResult, PairTest, run_pairs
from mercer.comparison.tests._sign import JUDGED_BY_ROWS, by_rows_where_without_spread

__all__ = ["compare"]

_FIVE_BY_TWO = {"five_by_two_t": five_by_two_t_test, "five_by_two_f": five_by_two_f_test}
_TESTS = ("corrected_t", "mcnemar", "kfold_t", *_FIVE_BY_TWO)


def compare(
    estimators: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: npt.ArrayLike,
    *,
    cv: Any = 10,
    tests: str | Sequence[str] = "corrected_t",
    scoring: str | Callable[..., float] = "accuracy",
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    groups: npt.ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Comparison:
    """Cross-validate estimators on the same splits and test every pair of them.

    Parameters
    ----------
    estimators : dict of name to estimator, list of (name, estimator), or list of estimators
        Classifiers with ``fit`` and ``predict``; clones are fitted. Without names, an estimator is
        called by its class.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Class labels.
    cv : int, splitter or iterable of splits, default=10
        A number stands for that many shuffled folds, stratified by class, and by group where
        ``groups`` are given.
    tests : str or sequence of str, default="corrected_t"
        ``"corrected_t"``, ``"mcnemar"`` (on the out-of-fold predictions), ``"kfold_t"``,
        ``"five_by_two_t"`` and ``"five_by_two_f"``. The last two fit every estimator ten times
        more, on halves. Choose before looking: the correction covers the pairs, not the tests.
    scoring : str or callable, default="accuracy"
        One scikit-learn scorer, where greater is better. McNemar's test always judges right and
        wrong predictions.
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it. The
        intervals themselves are not corrected for the number of pairs.
    n_jobs : int or None, default=None
        Fits that run at the same time, as in scikit-learn.
    groups : array-like of shape (n_samples,), optional
        Samples of one group stay on one side of every split.
    random_state : int, RandomState or None, default=None
        Seed of the splits. The estimators keep their own.

    Returns
    -------
    Comparison
        Scores, out-of-fold predictions and tests; prints as two tables. An estimator that fails
        is a row with its error and takes no part in the tests; where only a half of the 5×2 tests
        failed, the other tests still hold.

    Notes
    -----
    Cost: one fit per estimator and split (ten more for the 5×2 tests) and one prediction, two
    where ``scoring`` is not accuracy. All else takes milliseconds.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mercer.comparison import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> models = {"bayes": GaussianNB(), "knn": KNeighborsClassifier()}
    >>> comparison = compare(models, X, y, random_state=0)
    >>> comparison.pairs.loc[0, "verdict"]
    'bayes is better'
    """
    check_confidence_level(confidence_level)
    named = _named(estimators)
    chosen = _chosen(tests)
    score_name, scorer = resolve_scoring(scoring)
    labels = check_labels(y, "y")
    X, labels, groups = indexable(X if hasattr(X, "shape") else np.asarray(X), labels, groups)
    if type_of_target(labels, input_name="y") not in ("binary", "multiclass"):
        raise ValueError("y must hold class labels; compare is for classifiers.")

    splits = make_splits(cv, X, labels, groups, random_state)
    halves: list[Split] = []
    if any(test in _FIVE_BY_TWO for test in chosen):
        halves = five_by_two_splits(X, labels, groups, random_state)
    runs = _run_all(named, X, labels, [*splits, *halves], scorer, n_jobs)

    folds = pd.RangeIndex(len(splits), name="split")
    on_folds = {name: own[: len(splits)] for name, own in runs.items()}
    on_halves = {name: own[len(splits) :] for name, own in runs.items()}
    fold_errors = _first_errors(on_folds, "split")
    errors = _first_errors(on_halves, "5×2 half") | fold_errors
    scores = pd.DataFrame({name: [r.score for r in own] for name, own in on_folds.items()}, folds)
    fit_times = pd.DataFrame(
        {name: [r.fit_time for r in own] for name, own in on_folds.items()}, folds
    )
    five_by_two_scores = None
    if halves:
        replications = pd.MultiIndex.from_product(
            [range(5), range(2)], names=["replication", "half"]
        )
        five_by_two_scores = pd.DataFrame(
            {name: [r.score for r in own] for name, own in on_halves.items()}, replications
        )
    sound = [name for name in named if name not in fold_errors]
    predictions = _out_of_fold(labels, splits, {name: on_folds[name] for name in sound})

    pair_tests = _pair_tests(
        chosen, splits, scores, five_by_two_scores, predictions, confidence_level,
        by_rows=score_name in JUDGED_BY_ROWS,
    )  # fmt: skip
    pairs, results = run_pairs(sound, pair_tests, confidence_level=confidence_level)
    return Comparison(
        scoring=score_name,
        scores=scores,
        fit_times=fit_times,
        five_by_two_scores=five_by_two_scores,
        predictions=predictions,
        errors=errors,
        pairs=pairs,
        results=results,
    )


def _named(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Estimators by name; those without one are called by their class, numbered if need be."""
    if hasattr(estimators, "fit") or isinstance(estimators, str):
        raise ValueError("estimators must be a dict or a list of at least two; got one estimator.")
    if isinstance(estimators, Mapping):
        pairs = list(estimators.items())
    else:
        listed = list(estimators)
        if all(isinstance(item, tuple) and len(item) == 2 for item in listed):
            pairs = listed
        else:
            classes = [type(item).__name__ for item in listed]
            pairs = [
                (
                    name if classes.count(name) == 1 else f"{name}-{classes[: i + 1].count(name)}",
                    item,
                )
                for i, (name, item) in enumerate(zip(classes, listed, strict=True))
            ]
    named = {str(name): estimator for name, estimator in pairs}
    if len(named) < len(pairs):
        raise ValueError("Each estimator needs a name of its own.")
    if len(named) < 2:
        raise ValueError(f"compare needs at least two estimators; got {len(named)}.")
    if "y_true" in named:
        raise ValueError("The name 'y_true' is taken by the true labels; rename the estimator.")
    return named


def _chosen(tests: str | Sequence[str]) -> list[str]:
    chosen = [tests] if isinstance(tests, str) else list(tests)
    for test in chosen:
        if test not in _TESTS:
            raise ValueError(f"tests must be among {', '.join(_TESTS)}; got {test!r}.")
    if not chosen:
        raise ValueError(f"tests must name at least one of {', '.join(_TESTS)}.")
    return chosen


def _run_all(
    named: Mapping[str, Any],
    X: Any,
    y: npt.NDArray[np.generic],
    splits: Sequence[Split],
    scorer: Scorer,
    n_jobs: int | None,
) -> dict[str, list[FoldRun]]:
    """All fits, by estimator and in the order of the splits."""
    runs = Parallel(n_jobs=n_jobs)(
        delayed(run_fold)(estimator, X, y, split, scorer)
        for estimator in named.values()
        for split in splits
    )
    n = len(splits)
    return {name: runs[i * n : (i + 1) * n] for i, name in enumerate(named)}


def _first_errors(runs: Mapping[str, Sequence[FoldRun]], what: str) -> dict[str, str]:
    """First error of each estimator that failed, with the place where it did."""
    errors: dict[str, str] = {}
    for name, own in runs.items():
        for i, run in enumerate(own):
            if run.error:
                errors.setdefault(name, f"{what} {i}: {run.error}")
    return errors


def _out_of_fold(
    y: npt.NDArray[np.generic], splits: Sequence[Split], runs: Mapping[str, Sequence[FoldRun]]
) -> pd.DataFrame:
    """Predictions of all test samples, split after split."""
    samples = np.concatenate([test for _, test in splits])
    split = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    index = pd.MultiIndex.from_arrays([split, samples], names=["split", "sample"])
    columns = {name: np.concatenate([run.predictions for run in own]) for name, own in runs.items()}
    return pd.DataFrame({"y_true": y[samples], **columns}, index)


def _pair_tests(
    chosen: Sequence[str],
    splits: Sequence[Split],
    scores: pd.DataFrame,
    five_by_two_scores: pd.DataFrame | None,
    predictions: pd.DataFrame,
    confidence_level: float,
    *,
    by_rows: bool,
) -> dict[str, PairTest]:
    """Make functions of two names of the chosen tests."""
    once = is_tested_once(splits)

    def judged(result: PairedTestResult) -> PairedTestResult:
        return by_rows_where_without_spread(result, predictions) if by_rows else result

    def run(test: str, a: str, b: str) -> PairedTestResult:
        options: Any = {"confidence_level": confidence_level, "names": (a, b)}
        if test in _FIVE_BY_TWO and five_by_two_scores is not None:
            halves = five_by_two_scores[[a, b]]
            if halves.isna().any(axis=None):
                raise ValueError(f"{test} needs all ten halves, and not all could be scored.")
            return _FIVE_BY_TWO[test](halves[a], halves[b], **options)
        if test == "corrected_t":
            n_train = float(np.mean([len(train) for train, _ in splits]))
            n_test = float(np.mean([len(test) for _, test in splits]))
            options |= {"n_train": n_train, "n_test": n_test}
            return judged(corrected_t_test(scores[a], scores[b], **options))
        if not once:
            raise ValueError(
                f"{test} needs every sample in one test fold at most; with repeated or random "
                "splits use corrected_t."
            )
        if test == "mcnemar":
            return mcnemar_test(predictions["y_true"], predictions[a], predictions[b], **options)
        return judged(kfold_paired_t_test(scores[a], scores[b], **options))

    return {test: partial(run, test) for test in chosen}

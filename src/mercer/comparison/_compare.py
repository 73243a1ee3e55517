"""``compare``: the same fixed splits for all estimators of one data set, every pair tested."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import indexable
from sklearn.utils.multiclass import type_of_target

from mercer._system.workers import ByJoblib
from mercer.comparison._result import Section, ShownAsTables
from mercer.comparison.engine._fit import (
    Fit,
    Material,
    Split,
    Task,
    as_fit,
    fit_and_test,
    prediction_table,
)
from mercer.comparison.engine._metrics import OneScorer
from mercer.comparison.engine._splits import (
    five_by_two_splits,
    is_tested_once,
    make_splits,
    mean_sizes,
)
from mercer.comparison.tests._mcnemar import (
    JUDGED_BY_ROWS,
    by_rows_where_without_spread,
    mcnemar_test,
)
from mercer.comparison.tests._on_splits import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    kfold_paired_t_test,
)
from mercer.comparison.tests._pairs import (
    PairedTestResult,
    PairTest,
    Results,
    check_confidence_level,
    check_labels,
    run_pairs,
)

_FIVE_BY_TWO = {"five_by_two_t": five_by_two_t_test, "five_by_two_f": five_by_two_f_test}
_TESTS = ("corrected_t", "mcnemar", "kfold_t", *_FIVE_BY_TWO)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ShownAsTables):
    """Estimators compared on one data set.

    ``print(comparison)`` and rich show two tables, notebooks show them as HTML; the attributes
    hold everything that they were made from.

    Attributes
    ----------
    scoring : str
        Name of the score.
    scores : DataFrame of shape (n_splits, n_estimators)
        Score on each split; NaN where the estimator failed.
    fit_times : DataFrame of shape (n_splits, n_estimators)
        Seconds that each fit took.
    five_by_two_scores : DataFrame of shape (10, n_estimators) or None
        Scores on the ten halves, indexed by replication and half; None where no 5×2 test was
        asked for.
    predictions : DataFrame
        Out-of-fold predictions: a row per split and test sample (the index holds both), the column
        ``y_true`` and a column per estimator that did not fail there.
    errors : mapping of str to str
        First error of each estimator that failed, in full; the tables show its first line.
    pairs : DataFrame
        A row per test and pair: difference (score of a minus score of b) with its interval,
        statistic, p-value, p-value after Holm's correction over the pairs, and the verdict.
    results : dict
        The full result of each test, by ``(test, a, b)``.
    """

    scoring: str
    scores: pd.DataFrame
    fit_times: pd.DataFrame
    five_by_two_scores: pd.DataFrame | None
    predictions: pd.DataFrame
    errors: Mapping[str, str]
    pairs: pd.DataFrame
    results: Results

    @property
    def summary(self) -> pd.DataFrame:
        """One row per estimator, best first: mean score, its spread, seconds per fit, error."""
        table = pd.DataFrame(
            {
                "mean": self.scores.mean(skipna=False),
                "std": self.scores.std(skipna=False),
                "fit_seconds": self.fit_times.mean(skipna=False),
                "error": pd.Series(self.errors, dtype=object).reindex(
                    self.scores.columns, fill_value=""
                ),
            }
        ).rename_axis("estimator")
        return table.sort_values("mean", ascending=False, kind="stable")

    def _sections(self) -> list[Section]:
        summary = self.summary
        title = f"{self.scoring} on {len(self.scores)} splits"
        sections = [(title, summary.drop(columns="error"))]
        if self.errors:
            first_lines = {name: error.partition("\n")[0] for name, error in self.errors.items()}
            failed = pd.DataFrame({"failed": first_lines.keys(), "error": first_lines.values()})
            sections.append(("What failed", failed.set_index("failed")))
        for test, block in self.pairs.groupby("test", sort=False):
            table = block.drop(columns=["test", "statistic", "pvalue"]).set_index("a")
            table = table.rename(columns={"pvalue_holm": "p"})
            sections.append((f"{test}: a minus b, p after Holm's correction", table))
        return sections

    def __repr__(self) -> str:
        n_splits, n_estimators = self.scores.shape
        return (
            f"<Comparison of {n_estimators} estimators on {n_splits} splits: print it, or see "
            ".summary and .pairs>"
        )


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
    time: npt.ArrayLike | None = None,
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
    time : array-like of shape (n_samples,), optional
        Numbers or dates: the later half of the samples is cut into ``cv`` blocks, and each is
        tested by all samples that are earlier.
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
    named = _by_name(estimators)
    chosen = _checked_tests(tests)
    judge = OneScorer.of(scoring)
    labels = check_labels(y, "y")
    X, labels, groups, time = indexable(
        X if hasattr(X, "shape") else np.asarray(X), labels, groups, time
    )
    if type_of_target(labels, input_name="y") not in ("binary", "multiclass"):
        raise ValueError("y must hold class labels; compare is for classifiers.")

    has_free_rows = groups is None and time is None
    _check_tests_fit(chosen, has_free_rows=has_free_rows, is_by_time=time is not None)
    splits = make_splits(cv, X, labels, groups, random_state, time)
    halves: list[Split] = []
    if any(test in _FIVE_BY_TWO for test in chosen):
        halves = five_by_two_splits(X, labels, groups, random_state)
    fits = _fit_all(Material(named, X, labels, judge), [*splits, *halves], n_jobs)
    on_folds = {name: made[: len(splits)] for name, made in fits.items()}
    on_halves = {name: made[len(splits) :] for name, made in fits.items()}
    fold_errors = _first_errors(on_folds, "split")
    folds = pd.RangeIndex(len(splits), name="split")
    scores = _score_table(on_folds, folds, judge.name)
    five_by_two_scores = None
    if halves:
        index = pd.MultiIndex.from_product([range(5), range(2)], names=["replication", "half"])
        five_by_two_scores = _score_table(on_halves, index, judge.name)
    sound = [name for name in named if name not in fold_errors]
    predictions = prediction_table(
        labels,
        dict(enumerate(splits)),
        {name: [np.asarray(fit.predicted) for fit in on_folds[name]] for name in sound},
    )
    pair_tests = _pair_tests(
        chosen, splits, scores, five_by_two_scores, predictions, confidence_level,
        by_rows=judge.name in JUDGED_BY_ROWS and has_free_rows,
    )  # fmt: skip
    pairs, results = run_pairs(sound, pair_tests, confidence_level=confidence_level)
    return Comparison(
        scoring=judge.name,
        scores=scores,
        fit_times=pd.DataFrame(
            {name: [fit.fit_seconds for fit in made] for name, made in on_folds.items()}, folds
        ),
        five_by_two_scores=five_by_two_scores,
        predictions=predictions,
        errors=_first_errors(on_halves, "5×2 half") | fold_errors,
        pairs=pairs,
        results=results,
    )


def _by_name(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
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


def _checked_tests(tests: str | Sequence[str]) -> list[str]:
    chosen = [tests] if isinstance(tests, str) else list(tests)
    for test in chosen:
        if test not in _TESTS:
            raise ValueError(f"tests must be among {', '.join(_TESTS)}; got {test!r}.")
    if not chosen:
        raise ValueError(f"tests must name at least one of {', '.join(_TESTS)}.")
    return chosen


def _check_tests_fit(chosen: Sequence[str], *, has_free_rows: bool, is_by_time: bool) -> None:
    """Refuse tests that would not keep their level with groups or times."""
    if "mcnemar" in chosen and not has_free_rows:
        raise ValueError(
            "mcnemar takes samples to be independent, which those of one group or of neighbouring "
            "times are not: use corrected_t."
        )
    if is_by_time and (halves := [test for test in chosen if test in _FIVE_BY_TWO]):
        raise ValueError(f"{halves[0]} needs halves at random, not times: use corrected_t.")


def _fit_all(
    material: Material, splits: Sequence[Split], n_jobs: int | None
) -> dict[str, list[Fit]]:
    """Make all fits, by estimator and in the order of the splits."""
    fits: dict[str, list[Fit]] = {name: [] for name in material.estimators}
    tasks = [Task(name, k, split) for name in fits for k, split in enumerate(splits)]
    with ByJoblib(partial(fit_and_test, material), n_jobs) as workers:
        for task, outcome in workers.run(tasks):
            fits[task.name].append(as_fit(outcome))
    return fits


def _score_table(
    fits: Mapping[str, Sequence[Fit]], index: "pd.Index[Any]", scoring: str
) -> pd.DataFrame:
    columns = {
        name: [fit.scores.get(scoring, np.nan) for fit in made] for name, made in fits.items()
    }
    return pd.DataFrame(columns, index)


def _first_errors(fits: Mapping[str, Sequence[Fit]], what: str) -> dict[str, str]:
    """First error of each estimator that failed, with the place where it did."""
    errors: dict[str, str] = {}
    for name, made in fits.items():
        for i, fit in enumerate(made):
            if fit.error:
                errors.setdefault(name, f"{what} {i}: {fit.error}")
    return errors


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

    def or_by_rows(result: PairedTestResult) -> PairedTestResult:
        return by_rows_where_without_spread(result, predictions) if by_rows else result

    def run(test: str, a: str, b: str) -> PairedTestResult:
        options: Any = {"confidence_level": confidence_level, "names": (a, b)}
        if test in _FIVE_BY_TWO and five_by_two_scores is not None:
            halves = five_by_two_scores[[a, b]]
            if halves.isna().any(axis=None):
                raise ValueError(f"{test} needs all ten halves, and not all could be scored.")
            return _FIVE_BY_TWO[test](halves[a], halves[b], **options)
        if test == "corrected_t":
            n_train, n_test = mean_sizes(splits)
            options |= {"n_train": n_train, "n_test": n_test}
            return or_by_rows(corrected_t_test(scores[a], scores[b], **options))
        if not once:
            raise ValueError(
                f"{test} needs every sample in one test fold at most; with repeated or random "
                "splits use corrected_t."
            )
        if test == "mcnemar":
            return mcnemar_test(predictions["y_true"], predictions[a], predictions[b], **options)
        return or_by_rows(kfold_paired_t_test(scores[a], scores[b], **options))

    return {test: partial(run, test) for test in chosen}

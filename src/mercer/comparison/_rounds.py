"""``compare_in_rounds``: the same splits for all, as many as a time budget allows."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import indexable

from mercer._arrays import FloatArray
from mercer._system.cluster import OnCluster, connected
from mercer._system.words import count_of, grouped
from mercer._system.workers import InThisProcess, Processes, Workers
from mercer.comparison._pair_tests import judge_pairs
from mercer.comparison._result import RoundsComparison
from mercer.comparison.engine._checkpoint import opened_checkpoint, question_of
from mercer.comparison.engine._fit import Fit, Material, Task, fit_quietly, prediction_table
from mercer.comparison.engine._metrics import METRICS, AllMetrics, FindSets, choose_metric
from mercer.comparison.engine._plan import Clock, RoundsPlan, RoundsProgress
from mercer.comparison.engine._sample import SplitsOf, draw_rows, is_large, rows_in_time
from mercer.comparison.engine._splits import mean_sizes, plan_splits, random_parts
from mercer.comparison.tests._pairs import check_confidence_level, check_labels

_FEWEST_TEST_ROWS = 10  # With fewer, no test can tell anything.


def compare_in_rounds(
    estimators: Mapping[str, Any],
    X: Any,
    y: npt.ArrayLike,
    *,
    budget: float = 120.0,
    metric: str | Sequence[str] | None = None,
    costs: npt.ArrayLike | None = None,
    floor: str | None = None,
    n_folds: int = 10,
    max_rounds: int = 20,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    scheduler: str | None = None,
    groups: npt.ArrayLike | None = None,
    time: npt.ArrayLike | None = None,
    test: tuple[Any, npt.ArrayLike] | None = None,
    random_state: int | np.random.RandomState | None = None,
    find_sets: FindSets | None = None,
    on_progress: Callable[[RoundsProgress], None] | None = None,
    sample: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> RoundsComparison:
    r"""Compare classifiers on the same splits, round after round, until the time is used.

    A round is one split, on which every estimator is fitted and tested; the splits are those of
    repeated stratified folds, in a fixed order, or, with ``groups``, ``time`` or ``test``, those
    that test whole groups, later rows or the rows of another table. No round begins that would
    overrun the budget, by what the last ones took. So a short budget gives wide intervals, never an
    unfair comparison.

    With scores :math:`s_1, …, s_J`, mean :math:`m` and variance :math:`S^2` over J rounds, the
    interval of a score is that of Nadeau and Bengio [1]_ for training sets that overlap,

    .. math:: m \pm t_{J-1}\sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2}

    and every pair is tested by :func:`corrected_t_test`, or for accuracy on rows that are split at
    random by :func:`corrected_rows_test`, with Holm's correction over all pairs: so
    it does no harm that the leader is chosen by looking.

    Parameters
    ----------
    estimators : dict of name to estimator
        Classifiers with ``fit`` and ``predict``; clones are fitted. Give each its own seed, and
        those that are quick first: should the budget not suffice for one round, the last are out.
    X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
        Samples.
    y : array-like of shape (n_samples,)
        Class labels; every class needs two samples or more.
    budget : float, default=120
        Seconds that all fits together may take by the clock.
    metric : {"accuracy", "balanced", "f1", "auc", "average-precision", "log-loss", "cost"} \
            or a sequence of them, optional
        What to judge by; all are computed. Of several, the first ranks, and the result holds a
        comparison by each of the others; p-values are corrected over the pairs by all of them
        together. By default it is "cost" where ``costs`` are given, and
        else :func:`choose_metric` decides. With two
        classes, F1 and the average precision are those of the rarer one, with more they and the
        area under the ROC curve are means over classes against the rest.
    costs : array-like of shape (n_classes, n_classes), optional
        What it costs to answer the class of the column where that of the row is true, both in the
        order of the sorted classes. The estimators are not told.
    floor : str, optional
        Name of the estimator that any other must beat, such as a dummy. The others are tested
        against it in a family of tests of their own, so that it costs them nothing.
    n_folds : int, default=10
        Folds of a repetition; fewer where the smallest class has fewer samples.
    max_rounds : int, default=20
        The most rounds, whatever time is left: more than twice the folds narrow the intervals by
        little, and a test of many more repetitions finds differences that are not there
        (docs/comparison.md).
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.
    n_jobs : int or None, default=None
        None fits in this process, where nothing can be stopped. A number fits in so many
        processes, of one thread each; there a fit that takes more than its share is ended.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``: its workers fit, as many at a
        time as they have threads. A fit that takes more than its share is given up there, but
        keeps its thread until it ends.
    groups : array-like of shape (n_samples,), optional
        Whole groups are tested, by folds with about the same shares of the classes. With fewer
        than twice as many groups as folds there is one repetition: more would be the same splits.
    time : array-like of shape (n_samples,), optional
        Numbers or dates: the later half of the samples is cut into ``n_folds`` blocks, and each is
        tested by all samples that are earlier. Samples of one time stay together.
    test : tuple (X_test, y_test), optional
        Everybody is fitted once, on all of X, and scored on these samples. Tests and intervals then
        are of the fitted classifiers and of such samples, not of other training samples.
    random_state : int, RandomState or None, default=None
        Seed of the splits. The estimators keep their own.
    find_sets : callable, optional
        Called with a fitted estimator and test samples: returns which classes may be right, a
        boolean array of shape (n_samples, n_classes), or None where the estimator does not tell.
    on_progress : callable, optional
        Called with a :class:`RoundsProgress` after every fit.
    sample : bool, default=False
        Whether some of the samples are drawn where less than five rounds of all would fit the
        budget, so many that five do.  Classes keep their shares in the draw, but have as many
        samples as there are folds, if they can.  How many are drawn depends on the machine, since
        fits are tried on few samples first; ``n_samples`` of the result says it.
    checkpoint : path-like, optional
        A folder in which every fit is kept as soon as it is made.  Where it has fits of the same
        samples, estimators, seed and versions, as after Ctrl-C or a power cut, they are not made
        again, and what they took counts as spent; those of another question are removed.  It stays
        for you to remove, and no two comparisons may run on it at once.  The code of your own
        estimators is not looked at, only their parameters.

    Returns
    -------
    RoundsComparison
        Scores, predictions and tests; prints as tables. An estimator that fails is a row with its
        error. One that is too slow for two rounds is left out with a note. Ctrl-C keeps the rounds
        that are finished.

    Notes
    -----
    Scores do not depend on ``n_jobs`` or on the order of the estimators; how many rounds there are
    does depend on the machine. Cost: one fit and two predictions (classes, probabilities) per
    estimator and round. Memory: the data once per process, and per fit the test part's outputs.
    With ``n_jobs``, a script must protect its entry by ``if __name__ == "__main__":``, as for any
    other use of :mod:`multiprocessing`.

    *Tests that fit the split.* With ``groups`` and ``time`` the same corrected t test keeps its
    level (docs/comparison.md); rows are not taken one by one there, as those of a group or of a
    time are alike. With ``test``, accuracy is tested by McNemar's test, and any other score by a
    paired t test of 40 random parts of the test samples, the jackknife; so are the intervals. Give
    one of the three.

    *Slow estimators.* In the first round a fit may take an equal share of what is left of half the
    budget; what was stopped is tried again if the others leave it twice as much. If a second round
    of all would overrun the budget, the slowest are left out until it fits.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
       52, 239-281. :doi:`10.1023/A:1024068626366`

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from mercer.comparison import compare_in_rounds
    >>> X, y = load_wine(return_X_y=True)
    >>> models = {"bayes": GaussianNB(), "knn": KNeighborsClassifier()}
    >>> print(compare_in_rounds(models, X, y, random_state=0).answer)
    bayes is better than knn (p < 0.001).
    """
    check_confidence_level(confidence_level)
    _check_numbers(budget, n_folds, max_rounds, n_jobs)
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise ValueError("random_state must be a whole number where there is a checkpoint.")
    if scheduler is not None and n_jobs is not None:
        raise ValueError("Give n_jobs or scheduler, not both.")
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError("estimators must be a dict of names and estimators, with one at least.")
    asked = _check_metrics(metric)
    if floor is not None and floor not in estimators:
        raise ValueError(f"floor must be the name of an estimator; got {floor!r}.")
    labels = check_labels(y, "y")
    X, labels, groups, time = indexable(
        X if hasattr(X, "shape") else np.asarray(X), labels, groups, time
    )
    classes, counts = np.unique(labels, return_counts=True)
    _check_classes(classes, counts)

    table = None if costs is None else _check_costs(costs, len(classes))
    if "cost" in asked and table is None:
        raise ValueError("metric='cost' needs costs: what each mistake costs.")
    tested = None if test is None else _check_test(test, classes)
    n_test = None if tested is None else len(tested[1])

    def splits_of(n: int) -> SplitsOf:
        rows = draw_rows(labels, n, n_folds, random_state)
        known = (None if one is None else np.asarray(one)[rows] for one in (groups, time))
        by_group, by_time = known
        planned = plan_splits(
            labels[rows], n_folds, random_state, groups=by_group, time=by_time, n_test=n_test
        )
        return SplitsOf(rows, planned, tests_rows=n_test is None)

    splits = splits_of(len(labels))
    judge = AllMetrics(
        classes,
        positive=int(counts.argmin()),
        costs=table,
        find_sets=find_sets,
        parts=None if n_test is None else random_parts(n_test, random_state),
    )
    named = {str(name): estimator for name, estimator in estimators.items()}
    material = Material(named, X, labels, judge, counts_bytes=True, test=tested)
    metrics = asked or ("cost" if table is not None else choose_metric(labels)[0],)
    interrupted, n_resumed = False, 0
    with ExitStack() as stack:
        kept = None
        if checkpoint is not None:
            options = (n_folds, random_state, metrics, table, find_sets is not None, sample)
            question = question_of(X, labels, groups, time, tested, named, options)
            kept = stack.enter_context(opened_checkpoint(Path(checkpoint), question))
        clock = Clock(budget, spent=kept.seconds if kept else 0.0)
        workers = stack.enter_context(_workers(material, n_jobs, scheduler))
        left_out: dict[str, str] = {}
        if sample and n_test is None and is_large(X, budget):
            n_drawn = kept.n_rows if kept is not None else None
            if n_drawn is None:
                n_drawn, left_out = rows_in_time(
                    workers, list(named), lambda n: splits_of(n)[0], len(labels), clock
                )
            splits = splits_of(n_drawn)
        most = int(min(max_rounds, splits.n_rounds))
        plan = RoundsPlan(named, metrics[0], clock, most, on_progress, kept)
        plan.notes |= left_out
        if kept is not None:
            kept.keep(n_rows=splits.n_rows)
            plan.restore(kept, splits, len(classes))
            n_resumed = len(plan.finished_rounds())
        try:
            plan.run(workers, splits)
        except KeyboardInterrupt:
            interrupted = True
            if not plan.finished_rounds():
                raise
    return _collect(
        plan,
        material,
        judge,
        splits,
        metrics=metrics,
        floor=floor,
        confidence_level=confidence_level,
        seconds=clock.spent(),
        interrupted=interrupted,
        n_resumed=n_resumed,
    )


def _check_metrics(metric: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the metrics that were asked for, each once; none where there is no wish."""
    given = () if metric is None else (metric,) if isinstance(metric, str) else tuple(metric)
    for one in given:
        if one not in METRICS:
            raise ValueError(
                f"metric must be one of {', '.join(METRICS)}, or several; got {one!r}."
            )
    if metric is not None and not given:
        raise ValueError("metric must name at least one metric, or be None.")
    return tuple(dict.fromkeys(given))


def _check_numbers(budget: float, n_folds: int, max_rounds: int, n_jobs: int | None) -> None:
    if not budget > 0:
        raise ValueError(f"budget must be a positive number of seconds; got {budget}.")
    if n_folds < 2 or max_rounds < 1:
        raise ValueError(
            f"n_folds must be 2 or more and max_rounds 1 or more; got {n_folds} and {max_rounds}."
        )
    if n_jobs is not None and n_jobs < 1:
        raise ValueError(f"n_jobs must be None or a positive number; got {n_jobs}.")


def _check_classes(classes: npt.NDArray[np.generic], counts: npt.NDArray[np.intp]) -> None:
    if len(classes) < 2:
        raise ValueError("y must hold two classes or more.")
    if counts.min() < 2:
        alone = str(classes[counts.argmin()])
        raise ValueError(
            f"Class {alone!r} has one sample, which cannot be both learnt and tested: leave it out."
        )


def _check_test(
    test: tuple[Any, npt.ArrayLike], classes: npt.NDArray[np.generic]
) -> tuple[Any, npt.NDArray[np.generic]]:
    """Return the test samples and their classes, which must be among those of y."""
    if not isinstance(test, tuple) or len(test) != 2:
        raise ValueError("test must be a tuple (X_test, y_test).")
    X, labels = test
    labels = check_labels(labels, "y_test")
    X, labels = indexable(X if hasattr(X, "shape") else np.asarray(X), labels)
    if len(labels) < _FEWEST_TEST_ROWS:
        raise ValueError(
            f"A test needs {_FEWEST_TEST_ROWS} test samples or more; got {len(labels)}."
        )
    strange = labels[~np.isin(labels, classes)]
    if len(strange):
        raise ValueError(
            f"y_test holds the class {str(strange[0])!r}, which y does not: leave out."
        )
    return X, labels


def _check_costs(costs: npt.ArrayLike, n_classes: int) -> FloatArray:
    table: FloatArray = np.asarray(costs, dtype=np.float64)
    if table.shape != (n_classes, n_classes) or not np.isfinite(table).all():
        raise ValueError(
            f"costs must be finite numbers, a row and a column for each of the {n_classes} classes."
        )
    return table


@contextmanager
def _workers(
    material: Material, n_jobs: int | None, scheduler: str | None
) -> Iterator[Workers[Task, Fit]]:
    """Give what runs the fits: a cluster, processes, or this process."""
    fit = partial(fit_quietly, material)
    if scheduler is not None:
        with connected(scheduler) as client, OnCluster(fit, client, send_once=True) as cluster:
            yield cluster
    elif n_jobs is not None:
        with Processes(fit, n_jobs) as processes:
            yield processes
    else:
        yield InThisProcess(fit)


def _collect(
    plan: RoundsPlan,
    material: Material,
    judge: AllMetrics,
    splits: SplitsOf,
    *,
    metrics: Sequence[str],
    floor: str | None,
    confidence_level: float,
    seconds: float,
    interrupted: bool,
    n_resumed: int,
) -> RoundsComparison:
    """Put together what the fits gave, judged by the first metric and by each of the others."""
    names, rounds = plan.remaining(), plan.finished_rounds()
    if not rounds:
        raise ValueError(_why_nothing(plan.errors, plan.notes))
    finished = {k: splits[k] for k in rounds}
    fits = {name: [plan.fits[name][k] for k in rounds] for name in names}
    n_first = len(splits[rounds[0]][0])
    n_train, n_test = mean_sizes(list(finished.values()))
    predictions = prediction_table(
        material.tested[1],
        finished,
        {name: [judge.classes[fit.predicted] for fit in made] for name, made in fits.items()},
    )
    by_part = {name: made[0].by_part for name, made in fits.items() if made[0].by_part}
    scores = {
        one: pd.DataFrame({name: [fit.scores[one] for fit in made] for name, made in fits.items()})
        for one in metrics
    }
    tests = judge_pairs(
        scores,
        floor,
        n_train=n_train,
        n_test=n_test,
        predictions=predictions,
        confidence_level=confidence_level,
        by_part=by_part,
        has_free_rows=splits.has_free_rows,
    )
    warned = {name: next((f.warning for f in made if f.warning), "") for name, made in fits.items()}
    judged = RoundsComparison(
        metric=metrics[0],
        floor=floor,
        metrics=_metric_table(plan.fits),
        rounds=tuple(rounds),
        classes=judge.classes,
        positive=judge.classes[judge.positive],
        predictions=predictions,
        outputs={
            name: np.concatenate([fit.outputs for fit in made])
            for name, made in fits.items()
            if all(fit.outputs is not None for fit in made)
        },
        has_probabilities={name: made[0].are_probabilities for name, made in fits.items()},
        sets={
            name: np.concatenate([fit.sets for fit in made if fit.sets is not None])
            for name, made in fits.items()
            if all(fit.sets is not None for fit in made)
        },
        fit_seconds=_by_round(fits, rounds, "fit_seconds"),
        predict_seconds=_by_round(fits, rounds, "predict_seconds"),
        n_rows_fitted={name: made[0].n_rows for name, made in fits.items()},
        samples={
            name: f"saw {grouped(made[0].n_rows)} of {count_of(n_first, 'row')}"
            for name, made in fits.items()
            if made[0].n_rows < n_first
        },
        n_bytes={
            name: plan.fits[name][0].n_bytes if 0 in plan.fits[name] else None for name in names
        },
        errors=dict(plan.errors),
        notes=dict(plan.notes),
        warnings={name: text for name, text in warned.items() if text},
        pairs=tests[metrics[0]][0],
        results=tests[metrics[0]][1],
        n_train=n_train,
        n_test=n_test,
        n_samples=splits.n_rows,
        n_folds=splits.n_folds,
        confidence_level=confidence_level,
        seconds=seconds,
        interrupted=interrupted,
        n_resumed=n_resumed,
        costs=judge.costs,
        split_kind=splits.kind,
        is_complete=len(rounds) >= splits.n_rounds,
        by_part=by_part,
        splits=finished,
    )
    also_by = {
        one: replace(judged, metric=one, pairs=tests[one][0], results=tests[one][1])
        for one in metrics[1:]
    }
    return replace(judged, also_by=also_by)


def _metric_table(fits: Mapping[str, Mapping[int, Fit]]) -> pd.DataFrame:
    """Return every score that there is, those of rounds that not all have finished among them."""
    made = {(name, k): fit for name, by in fits.items() for k, fit in sorted(by.items())}
    index = pd.MultiIndex.from_tuples(list(made), names=["estimator", "split"])
    return pd.DataFrame([fit.scores for fit in made.values()], index=index)


def _by_round(fits: Mapping[str, Sequence[Fit]], rounds: Sequence[int], field: str) -> pd.DataFrame:
    columns = {name: [getattr(fit, field) for fit in made] for name, made in fits.items()}
    return pd.DataFrame(columns, pd.Index(rounds, name="split"))


def _why_nothing(errors: Mapping[str, str], notes: Mapping[str, str]) -> str:
    """Say why nothing could be compared."""
    if errors:
        name, error = next(iter(errors.items()))
        return f"No estimator could be scored; {name}: {error}"
    name, note = next(iter(notes.items()))
    return f"The budget is too short for one round ({name} {note}): give more seconds."

"""Compare estimators in rounds of splits, as many as a time budget allows."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import indexable

from mercer.comparison._checks import check_confidence_level, check_labels
from mercer.comparison._rounds_cluster import Cluster
from mercer.comparison._rounds_result import RoundsComparison, collect_rounds
from mercer.comparison._rounds_workers import Here, Processes, Workers
from mercer.comparison.engine._fit import Work
from mercer.comparison.engine._metrics import METRICS, choose_metric
from mercer.comparison.engine._plan import Clock, Course, RoundsProgress, Splits

__all__ = ["compare_in_rounds"]


def compare_in_rounds(
    estimators: Mapping[str, Any],
    X: Any,
    y: npt.ArrayLike,
    *,
    budget: float = 120.0,
    metric: str | None = None,
    floor: str | None = None,
    n_folds: int = 10,
    max_rounds: int = 20,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    scheduler: str | None = None,
    random_state: int | np.random.RandomState | None = None,
    on_progress: Callable[[RoundsProgress], None] | None = None,
) -> RoundsComparison:
    r"""Compare classifiers on the same splits, round after round, until the time is used.

    A round is one split, on which every estimator is fitted and tested; the splits are those of
    repeated stratified folds, in a fixed order. No round begins that would overrun the budget, by
    what the last ones took. So a short budget gives wide intervals, never an unfair comparison.

    With scores :math:`s_1, …, s_J`, mean :math:`m` and variance :math:`S^2` over J rounds, the
    interval of a score is that of Nadeau and Bengio [1]_ for training sets that overlap,

    .. math:: m \pm t_{J-1}\sqrt{\left(\frac1J + \frac{n_{test}}{n_{train}}\right) S^2}

    and every pair is tested by :func:`corrected_t_test`, with Holm's correction over all pairs: so
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
    metric : {"accuracy", "balanced", "f1", "auc", "average-precision", "log-loss"}, optional
        What to judge by; all are computed. By default :func:`choose_metric` decides. With two
        classes, F1 and the average precision are those of the rarer one, with more they and the
        area under the ROC curve are means over classes against the rest.
    floor : str, optional
        Name of the estimator that any other must beat, such as a dummy. The others are tested
        against it in a family of tests of their own, so that it costs them nothing.
    n_folds : int, default=10
        Folds of a repetition; fewer where the smallest class has fewer samples.
    max_rounds : int, default=20
        Enough is enough: twice the folds narrow the intervals by little more, and a test of many
        more repetitions finds differences that are not there (docs/comparison.md).
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.
    n_jobs : int or None, default=None
        None fits in this process, where nothing can be stopped. A number fits in so many
        processes, of one thread each; there a fit that takes more than its share is ended.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``: its workers fit, as many at a
        time as they have threads. A fit that takes more than its share is given up there, but
        keeps its thread until it ends.
    random_state : int, RandomState or None, default=None
        Seed of the splits. The estimators keep their own.
    on_progress : callable, optional
        Called with a :class:`RoundsProgress` after every fit.

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
    if scheduler is not None and n_jobs is not None:
        raise ValueError("give n_jobs or scheduler, not both.")
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError("estimators must be a dict of names and estimators, with one at least.")
    if metric is not None and metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}.")
    if floor is not None and floor not in estimators:
        raise ValueError(f"floor must be the name of an estimator; got {floor!r}.")
    labels = check_labels(y, "y")
    X, labels = indexable(X if hasattr(X, "shape") else np.asarray(X), labels)
    classes, counts = np.unique(labels, return_counts=True)
    _check_classes(classes, counts)

    work = Work({str(name): one for name, one in estimators.items()}, X, labels, classes,
                positive=int(counts.argmin()))  # fmt: skip
    splits = Splits(labels, min(n_folds, int(counts.min())), random_state)
    metric = metric or choose_metric(labels)[0]
    workers: Workers = Here(work)
    if scheduler is not None:
        workers = Cluster(work, scheduler)
    elif n_jobs is not None:
        workers = Processes(work, n_jobs)
    clock = Clock(budget)
    course = Course(work.estimators, metric, clock, max_rounds, on_progress)
    interrupted = False
    try:
        with workers:
            course.run(workers, splits)
    except KeyboardInterrupt:
        interrupted = True
        if not course.finished():
            raise
    return collect_rounds(
        work,
        splits=[splits[k] for k in course.finished()],
        rounds=course.finished(),
        fits=course.fits,
        errors=course.errors,
        notes=course.notes,
        metric=metric,
        floor=floor,
        n_folds=splits.n_folds,
        confidence_level=confidence_level,
        seconds=clock.spent(),
        interrupted=interrupted,
    )


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

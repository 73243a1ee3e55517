"""Parzen's classifier: Bayes' rule with window estimates of the class densities."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import like, take_rows, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import resolve_bandwidth
from mercer.bandwidth._resolve import RULES
from mercer.classifiers._base import ClassVectorClassifier, check_priors
from mercer.classifiers._class_vectors import add_own
from mercer.classifiers._leave_one_out import Ladder, LeftOut, LeftOutWindows
from mercer.classifiers._logs import safe_log
from mercer.classifiers._sample import Rows, Sample
from mercer.classifiers._selection import self_tune
from mercer.kernels import KERNELS, Kernel, get_kernel
from mercer.samples import is_dask_array, keep_counted
from mercer.sums import group_sums, log_kernel_sum

Array = Any


class ParzenClassifier(ClassVectorClassifier):
    r"""Classify by Bayes' rule, each class density a sum of Parzen windows.

    The density of a class is the mean of windows, one at each of its points; a new point goes to
    the class with the largest density times prior.  It is the plainest of kernel classifiers
    and, with a bandwidth chosen by leave-one-out, not far behind the others.

    .. math::

        \hat p(x \mid c) = \frac{1}{N_c} \sum_{i \in c} W_h(x - x_i), \qquad
        c^*(x) = \arg\max_c \; \pi_c\, \hat p(x \mid c)

    With the classes' shares as priors this is equation (20) of [1]_.

    =================  ==========================================
    paper              here
    =================  ==========================================
    σ                  ``bandwidth``, ``bandwidth_`` (h)
    W_σ                ``kernel``
    P_c                ``priors``, ``priors_``
    =================  ==========================================

    Parameters
    ----------
    bandwidth : float, str or array-like of shape (n_classes,), default="loo"
        The window's width h: one number, one for each class in the order of ``classes_``,
        ``"loo"`` (leave-one-out among √2 steps from a sixteenth of Silverman's to sixteen times
        it), or a rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    per_class : bool, default=False
        Whether a rule looks at each class alone.  A class whose rows are all the
        same takes the width of all rows.
    kernel : {"gaussian", "laplace", "epanechnikov", "cauchy"}, default="gaussian"
        The window.  "cauchy" is a density in one dimension only, and elsewhere needs one width for
        all classes.
    priors : array-like of shape (n_classes,), "uniform" or None, default=None
        None takes the classes' shares in training.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What leave-one-out maximises.
    loo_rows : int or None, default=32768
        How many rows leave-one-out judges at most, drawn by class, each without itself and
        with all others; None judges all, unless a bandwidth is surely not the best.
    tol : float or None, default=None
        Relative error allowed to the kernel sums, each of them, for linear time at up to three
        features (see :func:`mercer.sums.kernel_sum`); None adds up every term.  Leave-one-out
        always does.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    bandwidth_ : float or array of shape (n_classes,)
        As used.
    priors_ : array of shape (n_classes,)
        As used.
    class_count_ : array of shape (n_classes,)
        N_c, weights counted.
    X_fit_ : array of shape (n_rows, n_features)
        The training rows of positive weight, in the order of their classes.
    loo_results_ : dict of arrays
        Only with ``bandwidth="loo"``: bandwidth, accuracy, balanced accuracy, their log-losses,
        rows, how many of them these come from, and error, the standard error of the
        difference to the best.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    LaplacianClassifier : Angles between weighted means of the same windows.

    Notes
    -----
    Time: nothing to fit at a given bandwidth; as much as six sums over all pairs (n²·d) for
    leave-one-out over 17; n_test·n·d to predict.  Memory grows with n, and while leaving out with
    n times the number of classes.  Densities are compared as logarithms, so that a point far from
    all data still gets the class of the nearest.  Where a window of bounded support reaches
    no row, the priors decide.

    `predict_proba` is the posterior under these density estimates.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import ParzenClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ParzenClassifier().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3), round(model.bandwidth_, 3)
    (0.92, 0.803)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"loo", *RULES}),
            "array-like",
        ],
        "per_class": ["boolean"],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "loo_rows": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "loo",
        per_class: bool = False,
        kernel: Any = "gaussian",
        priors: Any = None,
        scoring: str = "accuracy",
        loo_rows: int | None = 2**15,
        tol: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.per_class = per_class
        self.kernel = kernel
        self.priors = priors
        self.scoring = scoring
        self.loo_rows = loo_rows
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ParzenClassifier":
        """Keep the rows and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts: 2 is the same as the row twice.  Others
            are relative: a common factor changes nothing.

        Returns
        -------
        self
            The fitted estimator.
        """
        sample, _ = self._check_fit(X, y, sample_weight)
        weights, counts = sample.weights, to_numpy(sample.counts)
        self.class_count_ = like(counts, weights)
        self.priors_ = like(check_priors(self.priors, counts), weights)
        self.bandwidth_ = self._resolve(sample)
        self.X_fit_, self._weights = sample.X, weights
        self._codes = like(sample.codes, weights, dtype=array_namespace(weights).int64)
        return self

    def _resolve(self, sample: Sample) -> Any:
        """Return the bandwidth as a number, or as one for each class."""
        xp = array_namespace(sample.weights)
        if isinstance(self.bandwidth, Real):
            return float(self.bandwidth)
        if not isinstance(self.bandwidth, str):
            return like(_check_widths(self.bandwidth, sample.n_classes), sample.weights)
        if self.bandwidth == "loo":
            if self.per_class:
                raise ValueError(
                    "bandwidth='loo' chooses one width for all classes; with per_class=True take "
                    "a rule, or pass one number for each class."
                )
            return self._leave_one_out(sample)
        pooled = sample.resolve_bandwidth(self.bandwidth, kernel=self.kernel)
        if not self.per_class:
            return pooled
        if is_dask_array(sample.X):
            return self._widths_of_blocks(sample, pooled)
        widths = [
            resolve_bandwidth(
                self.bandwidth, sample.X[low:high, :], sample.weights[low:high], kernel=self.kernel
            )
            if bool(xp.any(sample.X[low:high, :] != sample.X[low, :]))
            else pooled
            for low, high in pairwise(sample.bounds)
        ]
        return xp.asarray(widths, dtype=xp.float64, device=sample.weights.device)

    def _widths_of_blocks(self, sample: Sample, pooled: float) -> NDArray[np.float64]:
        """Return one width for each class, whose rows are those with a weight."""
        widths = []
        for c in range(sample.n_classes):
            weights, X = keep_counted(sample.weights * (sample.codes == c), sample.X)
            varies = bool(abs(X - X[:1]).max() > 0)
            rule = {"sample_weight": weights, "kernel": self.kernel}
            widths.append(resolve_bandwidth(self.bandwidth, X, **rule) if varies else pooled)
        return np.array(widths)

    def _leave_one_out(self, sample: Sample) -> float:
        kernel = get_kernel(self.kernel)

        def prepare(bandwidths: tuple[float, ...]) -> Ladder:
            if kernel.name == "gaussian":
                return LeftOutWindows(sample, bandwidths)
            return _OtherWindows(sample, bandwidths, kernel)

        rules = {"bayes": lambda part: [self._left_out_scores(part)]}
        results, best, _ = self_tune(prepare, rules, sample, self.scoring, self.loo_rows)
        del results["rule"]
        self.loo_results_ = results
        return float(results["bandwidth"][best])

    def _left_out_scores(self, part: LeftOut) -> Array:
        xp = array_namespace(part.log_sums)
        if self.priors is None:
            log_priors = safe_log(part.counts / xp.sum(part.counts, axis=1, keepdims=True))
        else:
            log_priors = xp.where(part.counts > 0, xp.log(self.priors_), -float("inf"))
        return _bayes(part.log_sums, safe_log(part.counts), log_priors)

    def _log_scores(self, X: Array) -> Array:
        xp = array_namespace(X)
        return _bayes(self._log_sums(X), xp.log(self.class_count_), xp.log(self.priors_))

    def _log_sums(self, X: Array) -> Array:
        """Return log Σ_{i in c} ω_i W(x − x_i): (n, C); W unnormalised where all share a width."""
        xp = array_namespace(X)
        codes, n_classes = self._codes, len(self.classes_)
        kernel = get_kernel(self.kernel)
        options: dict[str, Any] = {"log": True, "kernel": kernel, "tol": self.tol}
        if isinstance(self.bandwidth_, float):
            return group_sums(
                X, self.X_fit_, self._weights, codes, n_classes, bandwidth=self.bandwidth_,
                **options,
            )  # fmt: skip
        columns = []
        if is_dask_array(X):  # one pass over all rows for each class
            for c, h in enumerate(to_numpy(self.bandwidth_).tolist()):
                sums = group_sums(
                    X, self.X_fit_, self._weights, codes, n_classes, bandwidth=h, **options
                )
                columns.append(sums[:, c] - kernel.log_normaliser(h, X.shape[1]))
            return xp.stack(columns, axis=1).rechunk({1: -1})
        for c, h in enumerate(to_numpy(self.bandwidth_).tolist()):
            rows = np.flatnonzero(to_numpy(codes) == c)
            nodes, weights = take_rows(self.X_fit_, rows), take_rows(self._weights, rows)
            sums = group_sums(X, nodes, weights, rows * 0, 1, bandwidth=h, **options)
            columns.append(sums[:, 0] - kernel.log_normaliser(h, X.shape[1]))
        return xp.stack(columns, axis=1)


def _bayes(log_sums: Array, log_counts: Array, log_priors: Array) -> Array:
    """Return log π_c p̂(x|c); log π_c where no window reaches the point."""
    xp = array_namespace(log_sums)
    present = log_priors + xp.zeros_like(log_sums) != -float("inf")
    shift = xp.where(present, log_priors - xp.where(present, log_counts, 0.0), 0.0)
    scores = xp.where(present, log_sums + shift, -float("inf"))
    reached = xp.any(scores != -float("inf"), axis=1, keepdims=True)
    return xp.where(reached, scores, log_priors + xp.zeros_like(scores))


@dataclass(frozen=True)
class _OtherWindows(LeftOutWindows):
    """Class sums of a kernel without a ladder of squares: one pass for each bandwidth."""

    kernel: Kernel

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield sums and counts, one bandwidth after the other."""
        sample = self.sample.judged
        xp = array_namespace(sample.weights)
        some: Rows = slice(0, sample.X.shape[0]) if rows is None else rows
        at = sample.index(some)
        counts, copies = sample.counts_without(some), sample.weights[at] - sample.unit[at]
        for rung, h in enumerate(self.bandwidths):
            sums = xp.astype(self._sums(rows, h), xp.float64)
            sums = add_own(sample, sums, copies, some)
            yield LeftOut(some, rung, counts, sums, None, None, xp.zeros_like(copies))

    def _sums(self, rows: NDArray[np.int64] | None, bandwidth: float) -> Array:
        """Return log Σ without the row itself: with the others of these, and with all others."""
        if is_dask_array(self.sample.X):
            from mercer.classifiers._dask_left_out import other_window_sums

            return other_window_sums(self.sample, rows, self.kernel, bandwidth)
        sample, xp = self.sample, array_namespace(self.sample.X)
        options: dict[str, Any] = {"kernel": self.kernel, "bandwidth": bandwidth}
        weights = xp.astype(sample.weights, sample.X.dtype)
        if rows is None:
            return log_kernel_sum(
                sample.X, weights=weights, groups=sample.codes, exclude_self=True, **options
            )
        rest = np.delete(np.arange(sample.codes.size), rows)
        X, parts = take_rows(sample.X, rows), []
        for columns, others in ((rows, None), (rest, take_rows(sample.X, rest))):
            sums = log_kernel_sum(
                X, others, weights=take_rows(weights, columns), groups=sample.codes[columns],
                exclude_self=others is None, **options,
            )  # fmt: skip
            absent = (X.shape[0], sample.n_classes - sums.shape[1])
            empty = xp.full(absent, -float("inf"), dtype=X.dtype, device=device(X))
            parts.append(xp.concat([sums, empty], axis=1))
        return xp.logaddexp(*parts)


def _check_widths(bandwidth: Any, n_classes: int) -> NDArray[np.float64]:
    widths = np.asarray(bandwidth, dtype=float)
    if widths.shape != (n_classes,):
        raise ValueError(
            f"bandwidth must be one number or one for each of the {n_classes} classes, got "
            f"shape {widths.shape}."
        )
    if not (np.isfinite(widths).all() and (widths > 0).all()):
        raise ValueError(f"bandwidth must be positive and finite, got {widths.tolist()}.")
    return widths

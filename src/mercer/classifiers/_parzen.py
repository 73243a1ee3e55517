"""Parzen's classifier: Bayes' rule with window estimates of the class densities."""

from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import like, take_rows, to_numpy
from mercer._dask import is_dask_array, keep_counted
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import resolve_bandwidth
from mercer.classifiers._base import ClassVectorClassifier, check_priors
from mercer.classifiers._class_vectors import add_own
from mercer.classifiers._leave_one_out import LeftOut, left_out_windows
from mercer.classifiers._logs import safe_log
from mercer.classifiers._point_sums import log_class_sums
from mercer.classifiers._sample import Sample, class_counts
from mercer.classifiers._selection import search, tally
from mercer.kernels import KERNELS, Kernel, get_kernel
from mercer.sums import log_kernel_sum

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

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    bandwidth_ : float or array of shape (n_classes,)
    priors_ : array of shape (n_classes,)
    class_count_ : array of shape (n_classes,)
        N_c, weights counted.
    X_fit_ : array of shape (n_rows, n_features)
        The training rows of positive weight, in the order of their classes.
    loo_results_ : dict of arrays
        With ``bandwidth="loo"``: bandwidth, accuracy, balanced accuracy, and their log-losses.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)

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
        "bandwidth": [Interval(Real, 0, None, closed="neither"), str, "array-like"],
        "per_class": ["boolean"],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "loo",
        per_class: bool = False,
        kernel: Any = "gaussian",
        priors: Any = None,
        scoring: str = "accuracy",
    ) -> None:
        self.bandwidth = bandwidth
        self.per_class = per_class
        self.kernel = kernel
        self.priors = priors
        self.scoring = scoring

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ParzenClassifier":
        """Keep the rows and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts; a weight of 2 is the same as the row twice.

        Returns
        -------
        self
        """
        X, codes, weights = self._check_fit(X, y, sample_weight)
        sample = Sample.sorted(X, codes, weights, len(self.classes_))
        counts = class_counts(codes, weights, len(self.classes_))
        self.class_count_ = like(counts, weights)
        self.priors_ = like(check_priors(self.priors, counts), weights)
        self.bandwidth_ = self._resolve(sample)
        self.X_fit_, self._weights = sample.X, sample.weights
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
        pooled = resolve_bandwidth(self.bandwidth, sample.X, sample.weights, kernel=self.kernel)
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
            varies = float(abs(X - X[:1]).max())
            rule = {"sample_weight": weights, "kernel": self.kernel}
            widths.append(resolve_bandwidth(self.bandwidth, X, **rule) if varies else pooled)
        return np.array(widths)

    def _leave_one_out(self, sample: Sample) -> float:
        kernel = get_kernel(self.kernel)

        def run(bandwidths: tuple[float, ...]) -> dict[str, NDArray[Any]]:
            if is_dask_array(sample.X):
                return self._tally_blocks(kernel, sample, bandwidths)
            if kernel.name == "gaussian":
                parts = left_out_windows(sample, bandwidths)
            else:
                parts = _left_out_windows_of(kernel, sample, bandwidths)
            return tally(sample, bandwidths, parts, {"bayes": self._left_out_ways})

        results, best = search(run, sample, self.scoring)
        del results["rule"]
        self.loo_results_ = results
        return float(results["bandwidth"][best])

    def _tally_blocks(
        self, kernel: Kernel, sample: Any, bandwidths: tuple[float, ...]
    ) -> dict[str, NDArray[Any]]:
        from mercer.classifiers._dask_left_out import tally_windows, tally_windows_of

        rules = {"bayes": self._left_out_ways}
        if kernel.name == "gaussian":
            return tally_windows(sample, bandwidths, rules)
        return tally_windows_of(kernel, sample, bandwidths, rules)

    def _left_out_ways(self, part: LeftOut) -> list[Array]:
        return [self._left_out_scores(part)]

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
        codes = self._codes if is_dask_array(self._codes) else to_numpy(self._codes)
        n_classes = len(self.classes_)
        if isinstance(self.bandwidth_, float):
            return log_class_sums(
                X, self.X_fit_, self._weights, groups=codes, n_classes=n_classes,
                kernel=self.kernel, bandwidth=self.bandwidth_,
            )  # fmt: skip
        kernel = get_kernel(self.kernel)
        columns = []
        if is_dask_array(X):  # one pass over all rows for each class
            for c, h in enumerate(to_numpy(self.bandwidth_).tolist()):
                sums = log_class_sums(
                    X, self.X_fit_, self._weights, groups=codes, n_classes=n_classes,
                    kernel=kernel, bandwidth=h,
                )  # fmt: skip
                columns.append(sums[:, c] - kernel.log_normaliser(h, X.shape[1]))
            return xp.stack(columns, axis=1).rechunk({1: -1})
        for c, h in enumerate(to_numpy(self.bandwidth_).tolist()):
            rows = np.flatnonzero(codes == c)
            sums = log_class_sums(
                X, take_rows(self.X_fit_, rows), take_rows(self._weights, rows),
                groups=codes[rows] * 0, n_classes=1, kernel=kernel, bandwidth=h,
            )  # fmt: skip
            columns.append(sums[:, 0] - kernel.log_normaliser(h, X.shape[1]))
        return xp.stack(columns, axis=1)


def _bayes(log_sums: Array, log_counts: Array, log_priors: Array) -> Array:
    """Return log π_c p̂(x|c); log π_c where no window reaches the point."""
    xp = array_namespace(log_sums)
    present = xp.isfinite(log_priors + xp.zeros_like(log_sums))
    shift = xp.where(present, log_priors - xp.where(present, log_counts, 0.0), 0.0)
    scores = xp.where(present, log_sums + shift, -float("inf"))
    reached = xp.any(xp.isfinite(scores), axis=1, keepdims=True)
    return xp.where(reached, scores, log_priors + xp.zeros_like(scores))


def _left_out_windows_of(
    kernel: Kernel, sample: Sample, bandwidths: tuple[float, ...]
) -> Iterator[LeftOut]:
    """Yield class sums of a kernel without a ladder of squares: one pass for each bandwidth."""
    xp = array_namespace(sample.weights)
    rows = slice(0, sample.X.shape[0])
    counts, copies = sample.counts_without(rows), sample.weights - sample.unit
    for rung, h in enumerate(bandwidths):
        sums = log_kernel_sum(
            sample.X, weights=xp.astype(sample.weights, sample.X.dtype), groups=sample.codes,
            kernel=kernel, bandwidth=h, exclude_self=True,
        )  # fmt: skip
        sums = add_own(sample, xp.astype(sums, xp.float64), copies, rows)
        yield LeftOut(rows, rung, counts, sums, None, None, xp.zeros_like(copies))


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

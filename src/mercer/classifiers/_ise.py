"""The ISE classifier: the class that x makes most unlike the others; with SVM weights, an SVM."""

from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, like, take_rows, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import RULES
from mercer.classifiers._cauchy_schwarz import cauchy_schwarz_weights, log_kernel_matrix
from mercer.classifiers._class_vectors import ClassVectors, ise_gains
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors
from mercer.classifiers._margin import margin_weights
from mercer.classifiers._selection import sample_bandwidth, self_tune
from mercer.kernels import mercer_width
from mercer.samples import ProbabilityClassifier, SortedSample, check_training, refuse_dask
from mercer.sums import group_sums, kernel_sum


class ISEClassifier(ProbabilityClassifier):
    r"""Classify by the integrated squared error between class densities.

    A point goes to the class that, with the point appended, differs most from the other classes:
    the one whose Parzen density then has the largest integrated squared error (ISE) to theirs.  In
    feature space that is the nearest class mean, with a hyperplane between two classes.
    With weighted means instead of plain ones the same rule is the support vector machine.

    .. math::

        c^*(x) = \arg\max_c \sum_{j \ne c} \| m'_c - m_j \|^2, \qquad
        m'_c = \frac{\Omega_c\, m_c + \Phi(x)}{\Omega_c + 1}, \qquad
        m_c = \frac{1}{\Omega_c} \sum_{i \in c} \alpha_i\, \Phi(x_i)

    These are (34)–(36) of [1]_ for any class sizes and any number of classes.

    =================  ==========================================
    paper              here
    =================  ==========================================
    σ                  ``bandwidth``, ``bandwidth_`` (h)
    k, 2σ²             Gaussian kernel of width √2·``bandwidth_``
    ‖m_c‖²             ``squared_norms_``
    α_i (signed)       ``dual_coef_``
    Ω                  ``omega_``
    b*                 ``intercept_``
    =================  ==========================================

    Parameters
    ----------
    bandwidth : float or str, default="loo"
        The Parzen width h, ``"loo"`` (leave-one-out of the rule with equal weights, whatever
        `weighting` is), or a rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    weighting : {"uniform", "margin", "cauchy_schwarz"}, default="uniform"
        ``"uniform"``: all rows count alike.  ``"margin"``: weights are the SVM's dual variables,
        one class against the rest where there are several; the classifier then *is* the SVM.
        ``"cauchy_schwarz"`` (experimental): weights that minimise the Cauchy–Schwarz divergence
        between the two sides, and angles instead of distances.
    C : float, default=1.0
        For ``"margin"``, the SVM's; for ``"cauchy_schwarz"``, no weight exceeds (1 + C)/N_c.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What leave-one-out maximises.
    loo_rows : int or None, default=32768
        How many rows leave-one-out judges at most, drawn by class, each without itself and
        with all others; None judges all, unless a bandwidth is clearly not the best.
    tol : float or None, default=None
        Relative error allowed to the kernel sums, each of them, for linear time at up to three
        features (see :func:`mercer.sums.kernel_sum`); None adds up every term.  Leave-one-out
        always does.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    bandwidth_ : float
        As used.
    X_fit_ : array of shape (n_nodes, n_features)
        Rows of the expansion: all with equal weights, else those whose weight is not zero.
    class_count_ : array of shape (n_classes,)
        Ω_c of equal weights: N_c, sample weights counted; only with ``weighting="uniform"``.
    squared_norms_ : array of shape (n_classes,)
        ‖m_c‖², the classes' information potentials in units of the kernel's peak; only with
        ``weighting="uniform"``.
    dual_coef_ : array of shape (n_sides, n_nodes)
        Learned weights, negative on the other side; one row for two classes, else one for each
        class against the rest.  Only where weights are learned.
    omega_ : array of shape (n_sides,)
        Sum of the learned weights on one side, only where weights are learned.
    intercept_ : array of shape (n_sides,)
        Only with ``weighting="margin"``.
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
    LaplacianClassifier : Angles instead of distances.
    sklearn.svm.SVC : The machine behind ``weighting="margin"``.

    Notes
    -----
    Time: one sum over all pairs (n²·d) with equal weights, some ten times that with leave-one-out;
    n_test·n_nodes·d to predict.
    ``"margin"`` adds libsvm's time, n² to n³; ``"cauchy_schwarz"`` some hundred products with the
    kernel matrix, which must fit scikit-learn's ``working_memory``.

    Departures from the paper: (40)–(42), (46)–(47) and (56) mix windows of σ² and 2σ²; the kernel
    of width √2·h is used throughout.  (16) holds for a hard margin only, so that
    ``"margin"`` takes the SVM's own intercept: it equals (16) where no weight reaches C.

    `predict_proba` is a soft-max of N log(ISE with x in c), of the SVM's decision value or of the
    difference of log-cosines: no calibrated probability.

    References
    ----------
    .. [1] R. Jenssen, T. Eltoft, D. Erdogmus and J. C. Principe, "Some equivalences between kernel
       methods and information theoretic methods", Journal of VLSI Signal Processing 45,
       49–65, 2006.  https://doi.org/10.1007/s11265-006-9771-8

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import ISEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ISEClassifier().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 3)
    0.933
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"loo", *RULES})],
        "weighting": [StrOptions({"uniform", "margin", "cauchy_schwarz"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "loo_rows": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "loo",
        weighting: str = "uniform",
        C: float = 1.0,
        scoring: str = "accuracy",
        loo_rows: int | None = 2**15,
        tol: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.weighting = weighting
        self.C = C
        self.scoring = scoring
        self.loo_rows = loo_rows
        self.tol = tol

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ISEClassifier":
        """Choose the bandwidth and find the class means.

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
        sample = check_training(self, X, y, sample_weight).sorted()
        if self.weighting != "uniform":
            refuse_dask(
                sample.X,
                f"ISEClassifier(weighting={self.weighting!r})",
                "its solver looks at all rows at once",
                "use weighting='uniform', or a sample of the rows in memory, X[rows].compute()",
            )
        self.bandwidth_, chosen = self._resolve(sample)
        if self.weighting == "uniform":
            self._fit_means(sample, chosen)
        else:
            self._fit_weights(sample)
        return self

    def _resolve(self, sample: SortedSample) -> tuple[float, LeftOutVectors | None]:
        """Return the bandwidth, and what leave-one-out has computed at it."""
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "loo"):
            return sample_bandwidth(self.bandwidth, sample), None

        def prepare(bandwidths: tuple[float, ...]) -> LeftOutVectors:
            return LeftOutVectors.of(sample, bandwidths, None, links="counts")

        rules = {"ise": _left_out_ways}
        results, best, chosen = self_tune(prepare, rules, sample, self.scoring, self.loo_rows)
        del results["rule"]
        self.loo_results_ = results
        return float(results["bandwidth"][best]), cast(LeftOutVectors, chosen)

    def _fit_means(self, sample: SortedSample, chosen: LeftOutVectors | None) -> None:
        """Set ‖m_c‖² and ⟨m_c, Σ_j m_j⟩, which leave-one-out has computed already."""
        xp = array_namespace(sample.weights)
        width = mercer_width(self.bandwidth_)
        self.class_count_ = sample.counts
        shares = sample.weights / sample.of_own_class(self.class_count_)
        if chosen is not None:
            self.squared_norms_ = chosen.vectors.squared_norms[0, :] / self.class_count_**2
            log_links = chosen.whole(0).log_links[0, :]
            links = array_namespace(log_links).exp(log_links)
            self._cross = links / self.class_count_ + self.squared_norms_
        else:
            vectors = ClassVectors(sample, (width,), shares[None, :], self.tol)
            self.squared_norms_ = vectors.squared_norms[0, :]
            everywhere = kernel_sum(
                sample.X, weights=xp.astype(shares, sample.X.dtype), bandwidth=width, tol=self.tol
            )
            self._cross = sample.class_sums(shares * xp.astype(everywhere, xp.float64))
        self.X_fit_, self._shares = sample.X, shares
        self._codes = sample.classes

    def _fit_weights(self, sample: SortedSample) -> None:
        """Learn the weights of each class against the rest, or of two classes."""
        width = mercer_width(self.bandwidth_)
        X, weights = to_numpy(sample.X), to_numpy(sample.weights)
        positive = [1] if sample.n_classes == 2 else range(sample.n_classes)
        parts: list[tuple[Any, Any]]
        if self.weighting == "margin":
            parts = [margin_weights(X, sample.codes == c, weights, width, self.C) for c in positive]
        else:
            log_k = log_kernel_matrix(X, width)
            parts = [
                cauchy_schwarz_weights(log_k, sample.codes == c, weights, self.C) for c in positive
            ]
        dual, constants = (np.array(part) for part in zip(*parts, strict=True))
        support = np.flatnonzero((dual != 0).any(axis=0))
        self.dual_coef_ = like(dual[:, support], sample.weights)
        self.omega_ = like(np.maximum(dual, 0).sum(axis=1), sample.weights)
        self.X_fit_ = take_rows(sample.X, support)
        if self.weighting == "margin":
            self.intercept_ = like(constants, sample.weights)
        else:
            self._log_norms = like(constants, sample.weights)

    def _scores(self, X: Array) -> Array:
        if self.weighting == "uniform":
            sums = self._class_means(X)
            return _ise_scores(sums, self.squared_norms_, self._cross, self.class_count_)
        xp = array_namespace(X)
        values = self._margins(X) if self.weighting == "margin" else self._angles(X)
        if values.shape[1] == 1:
            return xp.concat([-values / 2, values / 2], axis=1)
        return values

    def _class_means(self, X: Array) -> Array:
        """Return ⟨Φ(x), m_c⟩, in units of the kernel's peak: (n, C)."""
        return group_sums(
            X, self.X_fit_, self._shares, self._codes, len(self.classes_),
            log=False, bandwidth=mercer_width(self.bandwidth_), tol=self.tol,
        )  # fmt: skip

    def _margins(self, X: Array) -> Array:
        """Return Ω (p̂(x) − q̂(x)) + b*, [1] (55): (n, sides)."""
        xp = array_namespace(X)
        sums = kernel_sum(
            X,
            self.X_fit_,
            weights=xp.astype(self.dual_coef_.T, self.X_fit_.dtype),
            bandwidth=mercer_width(self.bandwidth_),
            tol=self.tol,
        )
        return xp.astype(sums, xp.float64) + self.intercept_

    def _angles(self, X: Array) -> Array:
        """Return log cos∠(Φ(x), m₁) − log cos∠(Φ(x), m₂): (n, sides)."""
        xp = array_namespace(X)
        width = mercer_width(self.bandwidth_)
        columns = []
        for side in range(self.dual_coef_.shape[0]):
            signed = to_numpy(self.dual_coef_[side, :])
            logs = []
            for s, weights in enumerate((np.maximum(signed, 0), np.maximum(-signed, 0))):
                rows = np.flatnonzero(weights)
                nodes = take_rows(self.X_fit_, rows)
                sums = group_sums(
                    X, nodes, like(weights[rows], nodes), rows * 0, 1,
                    log=True, bandwidth=width, tol=self.tol,
                )  # fmt: skip
                logs.append(sums[:, 0] - self._log_norms[side, s])
            columns.append(logs[0] - logs[1])
        return xp.stack(columns, axis=1)


def _ise_scores(sums: Array, squared_norms: Array, cross: Array, counts: Array) -> Array:
    """Return N log(ISE with x in c / ISE): (n, C)."""
    xp = array_namespace(sums)
    present = counts > 0
    n_classes = xp.sum(xp.astype(present, sums.dtype), axis=-1, keepdims=True)
    gains = ise_gains(sums, squared_norms, cross, counts)
    # Σ_{i<j} ‖m_i − m_j‖² = C Σ ‖m_c‖² − ‖Σ m_c‖²
    norms = xp.where(present, squared_norms, xp.zeros_like(squared_norms))
    total = n_classes * xp.sum(norms, axis=-1, keepdims=True)
    ise = total - xp.sum(xp.where(present, cross, 0.0), axis=-1, keepdims=True)
    ise = xp.maximum(ise, total * 1e-15)  # Between equal classes the rest is rounding.
    ratio = xp.where(present, gains / ise, xp.zeros_like(gains))
    n_total = xp.sum(counts, axis=-1, keepdims=True)
    scores = n_total * xp.log1p(xp.maximum(ratio, xp.full_like(ratio, -1 + 1e-15)))
    return xp.where(present, scores, xp.full_like(scores, -float("inf")))


def _left_out_ways(part: LeftOut) -> list[Array]:
    """Return the scores of rows from classes without them, and from whole classes."""
    return [_left_out_scores(part), _left_out_scores(part.with_whole_classes())]


def _left_out_scores(part: LeftOut) -> Array:
    xp = array_namespace(part.counts)
    assert part.log_norms is not None  # noqa: S101
    present = part.counts > 0
    counts = xp.where(present, part.counts, xp.ones_like(part.counts))
    squared_norms = xp.exp(2 * part.log_norms) / counts**2
    cross = xp.exp(part.log_links) / counts + squared_norms
    return _ise_scores(xp.exp(part.log_sums) / counts, squared_norms, cross, part.counts)

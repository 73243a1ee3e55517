"""The ISE classifier: the nearest class mean in feature space; with SVM weights, an SVM."""

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, itemsize, like, take_rows, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import RULES
from mercer.classifiers._calibration import (
    CalibratedClassifier,
    LeftOutRows,
)
from mercer.classifiers._cauchy_schwarz import cauchy_schwarz_weights, log_kernel_matrix
from mercer.classifiers._class_vectors import ClassVectors, ise_scores, plane_scores
from mercer.classifiers._leave_one_out import LeftOut, LeftOutVectors
from mercer.classifiers._margin import margin_weights
from mercer.classifiers._own_terms import OwnTermsLeftOut
from mercer.classifiers._selection import settle
from mercer.kernels import (
    KERNELS,
    Kernel,
    KernelExpansion,
    WindowSums,
    get_kernel,
    kernel_function,
    overlap_width,
)
from mercer.samples import SortedSample, check_training, home_of, refuse_dask, safe_log
from mercer.sums import group_sums, kernel_sum

# By bytes of a number: what of the distance of rows from their class mean may be rounding.
_LEAST = {4: 2e-6, 8: 4e-15}
# Of rows nearer than this to their class mean, means and sums are computed in float64: windows are
# so wide that float32 could not tell the classes apart.
_WIDE = 0.02


class ISEClassifier(CalibratedClassifier):
    r"""Classify by distances between means of windows in feature space.

    The integrated squared error (ISE) of two Parzen estimates is the squared distance of their
    class means in the feature space of a kernel.  A point goes to the class whose mean is nearest:
    between two classes that is a hyperplane, with an offset from the classes' information
    potentials.  With weighted means instead of plain ones it is the support vector machine.

    .. math::

        c^*(x) = \arg\min_c \| \Phi(x) - m_c \|^2
               = \arg\max_c \; \langle \Phi(x), m_c \rangle - \tfrac12 \| m_c \|^2, \qquad
        m_c = \frac{1}{\Omega_c} \sum_{i \in c} \alpha_i\, \Phi(x_i)

    These are (38)–(42) of [1]_, :math:`\hat p(x) - \hat q(x) + b \ge 0`, for any class sizes and
    any number of classes.  ``rule="append"`` is what the paper derives them from, (34)–(36):
    the class that makes the ISE of all pairs of classes largest when the point is put into it.

    .. math::

        c^*(x) = \arg\max_c \Bigl( \sum_{j \ne c} \| m'_c - m_j \|^2
               + \sum_{i < j; \; i, j \ne c} \| m_i - m_j \|^2 \Bigr), \qquad
        m'_c = \frac{\Omega_c\, m_c + \Phi(x)}{\Omega_c + 1}

    The two agree for two classes of one size.

    =================  ==========================================
    paper              here
    =================  ==========================================
    σ                  ``bandwidth``, ``bandwidth_`` (h)
    k, 2σ²             Gaussian kernel of width √2·``bandwidth_``, or ``kernel``
    ‖m_c‖²             ``squared_norms_``
    b                  ½(‖m₂‖² − ‖m₁‖²), from ``squared_norms_``
    α_i (signed)       ``dual_coef_``
    Ω                  ``omega_``
    b*                 ``intercept_``
    =================  ==========================================

    Parameters
    ----------
    bandwidth : float, str or array-like of shape (n_classes,), default="loo"
        The Parzen width h: one number, one for each class in the order of ``classes_``,
        ``"loo"`` (leave-one-out of the rule with equal weights, whatever `weighting` is), or a
        rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    per_class : bool, default=False
        Whether a rule looks at each class alone.  A class whose rows are all the
        same takes the width of all rows.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.  Gaussian windows of width h overlap as a Gaussian of width
        √2·h; of others the kernel itself, of width h, takes the place of their overlap.
    rule : {"plane", "append", "auto"}, default="plane"
        ``"plane"``: the nearest class mean.  ``"append"``: the class that makes all classes differ
        most with the point put into it.  ``"auto"`` lets leave-one-out choose.  Weights that are
        learned come with a plane of their own, and take ``"plane"`` alone.
    weighting : {"uniform", "margin", "cauchy_schwarz"}, default="uniform"
        ``"uniform"``: all rows count alike.  ``"margin"``: weights are the SVM's dual variables,
        one class against the rest where there are several; the classifier then *is* the SVM: the
        plane between weighted means, with the SVM's offset.
        ``"cauchy_schwarz"`` (experimental): weights that minimise the Cauchy–Schwarz divergence
        between the two sides, and angles instead of distances.
    C : float, default=1.0
        For ``"margin"``, the SVM's; for ``"cauchy_schwarz"``, no weight exceeds (1 + C)/N_c.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What leave-one-out maximises.
    loo_rows : int or None, default=32768
        How many rows leave-one-out judges at most, drawn by class, each without itself and
        with all others; None judges all, unless a bandwidth is clearly not the best.
    calibration : {"loo", "loo-biases"} or None, default="loo"
        How sure probabilities are.  "loo" divides the scores by the temperature at which training
        rows that are left out, at most 2048 and `loo_rows`, have the least log-loss; no prediction
        changes.  "loo-biases" adds a number to the scores of each class first, which is found with
        the temperature and shrunken; predictions change.  None takes the scores at their word.
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
    rule_ : {"plane", "append"}
        As used.
    X_fit_ : array of shape (n_nodes, n_features)
        Rows of the expansion: all with equal weights, else those whose weight is not zero.
    class_count_ : array of shape (n_classes,)
        Ω_c of equal weights: N_c, sample weights counted; only with ``weighting="uniform"``.
    squared_norms_ : array of shape (n_classes,)
        ‖m_c‖², the classes' information potentials in units of the kernel's peak, or of the
        highest one where each class has its width; only with ``weighting="uniform"``.
    dual_coef_ : array of shape (n_sides, n_nodes)
        Learned weights, negative on the other side; one row for two classes, else one for each
        class against the rest.  Only where weights are learned.
    omega_ : array of shape (n_sides,)
        Sum of the learned weights on one side, only where weights are learned.
    intercept_ : array of shape (n_sides,)
        Only with ``weighting="margin"``.
    temperature_ : float
        What scores are divided by before their soft-max gives probabilities; 1 without
        calibration, and where weights are learned or each class has its width.
    biases_ : array of shape (n_classes,)
        What is added to the scores of the classes, 0 unless `calibration` is "loo-biases".
    loo_results_ : dict of arrays
        Only with ``bandwidth="loo"`` or ``rule="auto"``: rule, bandwidth, accuracy, balanced
        accuracy, their log-losses, rows, how many of them these come from, and error, the standard
        error of the difference to the best.
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
    Time: one sum over all pairs of a class with equal weights, and over all pairs (n²·d) for
    ``rule="append"``; some ten times that with leave-one-out; n_test·n_nodes·d to predict.
    ``"margin"`` adds libsvm's time, n² to n³; ``"cauchy_schwarz"`` some hundred products with the
    kernel matrix, which must fit scikit-learn's ``working_memory``.

    Where no window reaches, b alone decides: a point far from all rows, and any new point
    under windows that are much too narrow, goes to the class with the smallest ‖m_c‖², the one
    that is most spread out or has the most rows.  As windows grow, the rule becomes that of
    the nearest class mean in the space of the columns.

    Leave-one-out is exact.  That of ``rule="append"`` counts a row as right only if it is so both
    with and without its weight in the size of its class: a class that has lost a row could be told
    by that.

    With a width h_c for each class, which below (27) is called easy to incorporate, means of
    classes a and c overlap with width √(h_a² + h_c²), and (37)–(38) hold with the mean of the
    point's windows of all widths in place of Φ(x): its inner product with m_c has all these widths,
    and predicting takes as many passes as there are classes.

    Departures from the paper: (40)–(42), (46)–(47) and (56) mix windows of σ² and 2σ²; the kernel
    of width √2·h is used throughout.  (16) holds for a hard margin only, so that
    ``"margin"`` takes the SVM's own intercept: it equals (16) where no weight reaches C.

    `predict_proba` is a soft-max at a temperature.  With v the mean of ‖m_c‖², in units
    of the kernel's peak, it is one of 4 (⟨Φ(x), m_c⟩ − ½‖m_c‖²) / (v(1 − v)) for the plane; of
    N log(ISE with x in c) for ``rule="append"``; of the SVM's decision value; or of the difference
    of log-cosines.  Of learned weights no row is left out, nor with a width for each class: the
    temperature of these is 1, and they are not calibrated.

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
    0.92
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"loo", *RULES}),
            "array-like",
        ],
        "per_class": ["boolean"],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "rule": [StrOptions({"plane", "append", "auto"})],
        "weighting": [StrOptions({"uniform", "margin", "cauchy_schwarz"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "loo_rows": [Interval(Integral, 1, None, closed="left"), None],
        "calibration": [StrOptions({"loo", "loo-biases"}), None],
        "tol": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        bandwidth: Any = "loo",
        per_class: bool = False,
        kernel: Any = "gaussian",
        rule: str = "plane",
        weighting: str = "uniform",
        C: float = 1.0,
        scoring: str = "accuracy",
        loo_rows: int | None = 2**15,
        calibration: str | None = "loo",
        tol: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.per_class = per_class
        self.kernel = kernel
        self.rule = rule
        self.weighting = weighting
        self.C = C
        self.scoring = scoring
        self.loo_rows = loo_rows
        self.calibration = calibration
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
        kernel = get_kernel(self.kernel)
        kernel.require_mercer("ISEClassifier")
        learns, option = self.weighting != "uniform", f"weighting={self.weighting!r}"
        if learns and self.rule != "plane":
            raise ValueError(
                f"rule={self.rule!r} goes with weighting='uniform': {option} learns a plane of its "
                "own."
            )
        sample = check_training(self, X, y, sample_weight).sorted()
        if learns:
            refuse_dask(
                sample.X,
                f"ISEClassifier({option})",
                "its solver looks at all rows at once",
                "use weighting='uniform', or a sample of the rows in memory, X[rows].compute()",
            )
        self._least = _LEAST[itemsize(sample.X)]
        rules = ("plane", "append") if self.rule == "auto" else (self.rule,)
        links = "counts" if "append" in rules else None
        found = settle(
            self,
            sample,
            {rule: partial(self._left_out_ways, rule) for rule in rules},
            lambda bandwidths: LeftOutVectors.of(sample, bandwidths, None, kernel, links=links),
        )
        self.bandwidth_, self.rule_ = found.bandwidth, found.rule
        if found.results is not None:
            self.loo_results_ = found.results
        left_out = None
        if not learns:
            chosen = cast(LeftOutVectors | None, found.ladder)
            self._fit_means(sample, kernel, chosen)
            if isinstance(self.bandwidth_, float):
                left_out = partial(self._without_rows, sample, kernel, chosen)
        elif isinstance(self.bandwidth_, float):
            self._fit_weights(sample, kernel)
        else:
            raise ValueError(f"{option} takes one width for all classes; give one bandwidth.")
        self._calibrate(left_out, sample, partial(self._left_out_ways, self.rule_), sample.counts)
        return self

    def _without_rows(
        self, sample: SortedSample, kernel: Kernel, chosen: LeftOutVectors | None
    ) -> LeftOutRows:
        """Return what leaves out rows, with the means that are there."""
        if chosen is not None and itemsize(self.X_fit_) == itemsize(sample.X):
            return chosen
        # The means may be those of float64 where the rows are float32.
        X = array_namespace(sample.X).astype(sample.X, self.X_fit_.dtype)
        norms, counts, links = self.squared_norms_, self.class_count_, None
        if self.rule_ == "append":
            links = safe_log((self._cross - norms) * counts)
        widths = np.full(sample.n_classes, self._width)
        return OwnTermsLeftOut(
            replace(sample, X=X), sample.weights, widths, kernel, norms * counts**2, links
        )

    def _leaves_out_rows(self) -> bool:
        return super()._leaves_out_rows() and self.weighting == "uniform"

    def _left_out_ways(self, rule: str, part: LeftOut) -> list[Array]:
        """Return the scores of rows from classes without them; of "append", also by whole ones."""
        return [self._left_out_scores(rule, way) for way in part.ways(rule)]

    def _left_out_scores(self, rule: str, part: LeftOut) -> Array:
        xp = array_namespace(part.counts)
        assert part.log_norms is not None  # noqa: S101
        counts = xp.where(part.counts > 0, part.counts, xp.ones_like(part.counts))
        sums, squared_norms = xp.exp(part.log_sums) / counts, xp.exp(2 * part.log_norms) / counts**2
        if rule == "plane":
            return plane_scores(sums, squared_norms, part.counts, 1.0, self._least)
        cross = xp.exp(part.log_links) / counts + squared_norms
        return ise_scores(sums, squared_norms, cross, part.counts)

    def _fit_means(
        self, sample: SortedSample, kernel: Kernel, chosen: LeftOutVectors | None
    ) -> None:
        """Set ‖m_c‖² and ⟨m_c, Σ_j m_j⟩, which leave-one-out may have computed already."""
        xp, tol = array_namespace(sample.weights), self.tol
        self.X_fit_, self._codes, self.class_count_ = sample.X, sample.classes, sample.counts
        self._least = _LEAST[itemsize(sample.X)]
        self._shares = shares = sample.weights / sample.of_own_class(self.class_count_)
        if chosen is not None:
            self.squared_norms_ = chosen.vectors.squared_norms[0, :] / self.class_count_**2
        else:
            vectors = ClassVectors.of(sample, self.bandwidth_, shares, kernel, tol)
            self.squared_norms_ = vectors.squared_norms[0, :]
        if not isinstance(self.bandwidth_, float):
            self._peaks = _peaks(kernel, to_numpy(self.bandwidth_).tolist(), sample.X.shape[1])
            own_peaks = sample.per_class(np.diagonal(self._peaks).copy())
            self.squared_norms_ = self.squared_norms_ * own_peaks
        elif itemsize(sample.X) == 4 and float(xp.max(1 - self.squared_norms_)) < _WIDE:
            X = array_namespace(sample.X).astype(sample.X, xp.float64)
            self._fit_means(replace(sample, X=X), kernel, None)
            return
        if self.rule_ == "plane":
            return
        if chosen is not None:
            log_links = chosen.whole(0).log_links[0, :]
            links = array_namespace(log_links).exp(log_links)
            self._cross = links / self.class_count_ + self.squared_norms_
        else:
            (width,), weights = vectors.widths, xp.astype(shares, sample.X.dtype)
            sums = kernel_sum(sample.X, weights=weights, kernel=kernel, bandwidth=width, tol=tol)
            self._cross = sample.class_sums(shares * xp.astype(sums, xp.float64))

    def _fit_weights(self, sample: SortedSample, kernel: Kernel) -> None:
        """Learn the weights of each class against the rest, or of two classes."""
        X, weights = to_numpy(sample.X), to_numpy(sample.weights)
        positive = [1] if sample.n_classes == 2 else range(sample.n_classes)
        sides, width = [sample.codes == c for c in positive], self._width
        parts: list[tuple[Any, Any]]
        if self.weighting == "margin":
            parts = [margin_weights(X, side, weights, kernel, width, self.C) for side in sides]
        else:
            option = "weighting='cauchy_schwarz'"
            log_k = log_kernel_matrix(X, kernel, width, option, "weighting='margin'")
            parts = [cauchy_schwarz_weights(log_k, side, weights, self.C) for side in sides]
        dual, constants = (np.array(part) for part in zip(*parts, strict=True))
        support = np.flatnonzero((dual != 0).any(axis=0))
        self.dual_coef_ = like(dual[:, support], sample.weights)
        self.omega_ = like(np.maximum(dual, 0).sum(axis=1), sample.weights)
        self.X_fit_ = take_rows(sample.X, support)
        if self.weighting == "margin":
            self.intercept_ = like(constants, sample.weights)
        else:
            self._log_norms = like(constants, sample.weights)

    @property
    def _width(self) -> float:
        """The width of the Mercer kernel."""
        return overlap_width(get_kernel(self.kernel), self.bandwidth_, self.bandwidth_)

    def _raw_scores(self, X: Array) -> Array:
        if self.weighting == "uniform":
            sums, norms, counts = self._class_means(X), self.squared_norms_, self.class_count_
            if self.rule_ == "append":
                return ise_scores(sums, norms, self._cross, counts)
            is_one = isinstance(self.bandwidth_, float)
            peak = 1.0 if is_one else float(np.diagonal(self._peaks).mean())
            return plane_scores(sums, norms, counts, peak, self._least)
        xp = array_namespace(X)
        values = self._margins(X) if self.weighting == "margin" else self._angles(X)
        if values.shape[1] == 1:
            return xp.concat([-values / 2, values / 2], axis=1)
        return values

    def _expansion(self) -> KernelExpansion | WindowSums | None:
        """Return the kernels of which the scores are made, with coefficients if they are sums."""
        if self.weighting == "cauchy_schwarz" or not isinstance(self.bandwidth_, float):
            return None
        kernel = get_kernel(self.kernel)
        function = kernel_function(kernel, self._width)
        if self.weighting == "margin" and function is not None:
            coef, intercept = to_numpy(self.dual_coef_), to_numpy(self.intercept_)
            if len(self.classes_) == 2:
                coef, intercept = (np.concatenate([-A / 2, A / 2]) for A in (coef, intercept))
            return KernelExpansion(function, self.X_fit_, coef.T, intercept)
        if self.weighting == "margin":
            return None
        shares, codes = to_numpy(self._shares), to_numpy(self._codes)
        if function is None or self.rule_ == "append":
            return WindowSums(kernel, (self._width,), self.X_fit_, shares)
        norms, counts = to_numpy(self.squared_norms_), to_numpy(self.class_count_)
        none, one = (
            plane_scores(np.full((1, len(norms)), sums), norms, counts, 1.0, self._least)[0]
            for sums in (0.0, 1.0)
        )
        own = codes[:, None] == np.arange(len(norms))
        coef = np.where(own, shares[:, None] * (one - none), 0.0)
        temperature, biases = vars(self).get("temperature_", 1.0), vars(self).get("biases_", 0.0)
        intercept = (none + to_numpy(biases)) / temperature
        return KernelExpansion(function, self.X_fit_, coef / temperature, intercept)

    def _class_means(self, X: Array) -> Array:
        """Return ⟨Φ(x), m_c⟩, in units of the kernel's peak: (n, C)."""
        kernel, n_classes = get_kernel(self.kernel), len(self.classes_)
        nodes = (self.X_fit_, self._shares, self._codes, n_classes)
        options: dict[str, Any] = {"log": False, "kernel": kernel, "tol": self.tol}
        if isinstance(self.bandwidth_, float):
            return group_sums(X, *nodes, bandwidth=self._width, **options)
        # The point's window has the width of each class in turn, and Φ(x) is their mean.
        total, each = 0.0, to_numpy(self.bandwidth_).tolist()
        for h, peaks in zip(each, self._peaks, strict=True):
            widths = [overlap_width(kernel, h, other) for other in each]
            sums = group_sums(X, *nodes, bandwidth=widths, **options)
            total = total + sums * home_of(X).like(peaks / n_classes, sums)
        return total

    def _margins(self, X: Array) -> Array:
        """Return Ω (p̂(x) − q̂(x)) + b*, [1] (55): (n, sides)."""
        xp = array_namespace(X)
        sums = kernel_sum(
            X,
            self.X_fit_,
            weights=xp.astype(self.dual_coef_.T, self.X_fit_.dtype),
            kernel=get_kernel(self.kernel),
            bandwidth=self._width,
            tol=self.tol,
        )
        return xp.astype(sums, xp.float64) + self.intercept_

    def _angles(self, X: Array) -> Array:
        """Return log cos∠(Φ(x), m₁) − log cos∠(Φ(x), m₂): (n, sides)."""
        xp, kernel = array_namespace(X), get_kernel(self.kernel)
        columns = []
        for side in range(self.dual_coef_.shape[0]):
            signed = to_numpy(self.dual_coef_[side, :])
            logs = []
            for s, weights in enumerate((np.maximum(signed, 0), np.maximum(-signed, 0))):
                rows = np.flatnonzero(weights)
                nodes = take_rows(self.X_fit_, rows)
                sums = group_sums(
                    X, nodes, like(weights[rows], nodes), rows * 0, 1,
                    log=True, bandwidth=self._width, kernel=kernel, tol=self.tol,
                )  # fmt: skip
                logs.append(sums[:, 0] - self._log_norms[side, s])
            columns.append(logs[0] - logs[1])
        return xp.stack(columns, axis=1)


def _peaks(kernel: Kernel, bandwidths: list[float], n_features: int) -> NDArray[np.float64]:
    """Return the peak of ⟨Φ_a, Φ_c⟩ for windows of each two widths, relative to the highest."""
    logs = np.array(
        [
            [-kernel.log_normaliser(overlap_width(kernel, a, c), n_features) for c in bandwidths]
            for a in bandwidths
        ]
    )
    peaks: NDArray[np.float64] = np.exp(logs - logs.max())
    return peaks

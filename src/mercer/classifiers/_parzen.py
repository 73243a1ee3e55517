"""Parzen's classifier: Bayes' rule with window estimates of the class densities."""

from numbers import Integral, Real
from typing import Any, ClassVar

from array_api_compat import array_namespace

from mercer._arrays import Array, to_numpy
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import RULES
from mercer.classifiers._calibration import (
    CalibratedClassifier,
    LeftOutRows,
)
from mercer.classifiers._class_vectors import log_class_sums
from mercer.classifiers._leave_one_out import LeftOut, LeftOutWindows
from mercer.classifiers._own_terms import OwnTermsLeftOut
from mercer.classifiers._selection import settle
from mercer.kernels import KERNELS, Kernel, WindowSums, get_kernel
from mercer.samples import (
    SortedSample,
    check_priors,
    check_training,
    log_priors,
    safe_log,
)


class ParzenClassifier(CalibratedClassifier):
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
    kernel : {"gaussian", "exponential", "laplacian", "epanechnikov", "cauchy"}, default="gaussian"
        The window.  "cauchy" is a density in one dimension only, and elsewhere needs one width for
        all classes.
    priors : array-like of shape (n_classes,), "uniform" or None, default=None
        None takes the classes' shares in training.  A class of prior 0 is never chosen.
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
    priors_ : array of shape (n_classes,)
        As used.
    class_count_ : array of shape (n_classes,)
        N_c, weights counted.
    X_fit_ : array of shape (n_rows, n_features)
        The training rows of positive weight, in the order of their classes.
    temperature_ : float
        What scores are divided by before their soft-max gives probabilities; 1 without
        calibration.
    biases_ : array of shape (n_classes,)
        What is added to the scores of the classes, 0 unless `calibration` is "loo-biases".
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
    Time: n·d for each row that is left out for `calibration`, at a given bandwidth, and nothing
    else; as much as six sums over all pairs (n²·d) for leave-one-out over 17; n_test·n·d to
    predict.  Memory grows with n, and while leaving out with
    n times the number of classes.  Densities are compared as logarithms, so that a point far from
    all data still gets the class of the nearest.  Where a window of bounded support reaches
    no row, the priors decide.

    `predict_proba` is the posterior under these density estimates, each to the power of one over
    `temperature_`; with ``calibration=None`` it is the posterior itself.

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
        "calibration": [StrOptions({"loo", "loo-biases"}), None],
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
        calibration: str | None = "loo",
        tol: float | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.per_class = per_class
        self.kernel = kernel
        self.priors = priors
        self.scoring = scoring
        self.loo_rows = loo_rows
        self.calibration = calibration
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
        sample = check_training(self, X, y, sample_weight).sorted()
        counts = to_numpy(sample.counts)
        self.class_count_ = sample.per_class(counts)
        self.priors_ = sample.per_class(check_priors(self.priors, counts))
        kernel = get_kernel(self.kernel)
        rules = {"bayes": lambda part: [self._left_out_scores(part)]}
        chosen = settle(self, sample, rules, lambda h: LeftOutWindows.of(sample, h, kernel))
        self.bandwidth_ = chosen.bandwidth
        if chosen.results is not None:
            self.loo_results_ = {k: v for k, v in chosen.results.items() if k != "rule"}
        self._calibrate(
            lambda: chosen.ladder or self._without_rows(sample, kernel),
            sample,
            rules["bayes"],
            self.priors_,
        )
        self.X_fit_, self._weights, self._codes = sample.X, sample.weights, sample.classes
        return self

    def _without_rows(self, sample: SortedSample, kernel: Kernel) -> LeftOutRows:
        """Return what leaves out rows at a bandwidth that was given."""
        if isinstance(self.bandwidth_, float):
            return LeftOutWindows.of(sample, (self.bandwidth_,), kernel)
        widths, n_features = to_numpy(self.bandwidth_), sample.X.shape[1]
        factors = [-kernel.log_normaliser(h, n_features) for h in widths.tolist()]
        options = {"log_factors": sample.per_class(factors)}
        return OwnTermsLeftOut(sample, sample.weights, widths, kernel, **options)

    def _left_out_scores(self, part: LeftOut) -> Array:
        xp = array_namespace(part.log_sums)
        if self.priors is None:
            log_shares = safe_log(part.counts / xp.sum(part.counts, axis=1, keepdims=True))
        else:
            log_shares = xp.where(part.counts > 0, log_priors(self.priors_), -float("inf"))
        return _bayes(part.log_sums, safe_log(part.counts), log_shares)

    def _raw_scores(self, X: Array) -> Array:
        log_counts = array_namespace(X).log(self.class_count_)
        return _bayes(self._log_sums(X), log_counts, log_priors(self.priors_))

    def _expansion(self) -> WindowSums:
        """Return the windows of which the scores are made."""
        widths = tuple(to_numpy(self.bandwidth_).ravel().tolist())
        return WindowSums(get_kernel(self.kernel), widths, self.X_fit_, self._weights)

    def _log_sums(self, X: Array) -> Array:
        """Return log Σ_{i in c} ω_i W(x − x_i): (n, C); W is unnormalised if there is one width."""
        return log_class_sums(
            X, self.X_fit_, self._weights, self._codes, len(self.classes_), self.bandwidth_,
            get_kernel(self.kernel), self.tol,
        )  # fmt: skip


def _bayes(log_sums: Array, log_counts: Array, log_priors: Array) -> Array:
    """Return log π_c p̂(x|c); log π_c where no window reaches the point."""
    xp = array_namespace(log_sums)
    present = log_priors + xp.zeros_like(log_sums) != -float("inf")
    shift = xp.where(present, log_priors - xp.where(present, log_counts, 0.0), 0.0)
    scores = xp.where(present, log_sums + shift, -float("inf"))
    reached = xp.any(scores != -float("inf"), axis=1, keepdims=True)
    return xp.where(reached, scores, log_priors + xp.zeros_like(scores))

"""``KernelFisherDiscriminant``: all rows in the expansion, kernel and ridge by leave-one-out.

Y. Xu, J.-y. Yang, J. Yang (2004), eqs (1)–(12) and (21)–(22).
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._memory import explain_full_device, working_memory
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.discriminants._base import (
    KERNEL_NAMES,
    FisherDiscriminant,
    validate_rows,
)
from mercer.discriminants._block_fit import fit_exact
from mercer.discriminants._choice import CLIMB_ROWS, Candidates
from mercer.discriminants._coding import Coding, class_sums, encode, rotate
from mercer.discriminants._gaussian import Rule
from mercer.discriminants._trial import BASIS_ROWS, Criterion, Gram, Trial, climb, ridge_column
from mercer.discriminants._tuning import (
    Tuned,
    best_entry,
    given_ridge,
    loo_rule,
    tie_slack,
    tune,
)
from mercer.discriminants._width import landmark_basis, ridge_scale_path, tune_width
from mercer.kernels import KernelFunction
from mercer.samples import (
    check_class_weight,
    check_priors,
    log_priors,
    on_dask,
    sample_of,
    stratified_rows,
)
from mercer.spectral import factor_kernel

# Above the rows that are expanded in full, n_landmarks="auto" takes this many.
_LANDMARKS = 1000
# Widths and ridges that are tried on up to 4 000 rows.
_CLIMB_STEPS = 6


def most_exact_rows() -> int:
    """Return how many rows are expanded in full: one matrix of them fills the memory budget."""
    return int(np.sqrt(working_memory() / 8))


@on_dask(fit=partial(fit_exact, most=most_exact_rows))
class KernelFisherDiscriminant(FisherDiscriminant):
    r"""Kernel Fisher discriminant whose kernel and ridge choose themselves by leave-one-out.

    Fisher's discriminants in the feature space of a kernel separate the class means most,
    relative to the scatter within the classes.  They are a regularised least-squares regression
    on the classes, so the outputs that each row would have if it had been left out come in closed
    form.  Kernel, width, scales of the columns, ridge and threshold are all taken from these
    outputs, and no fold is ever refitted.

    Discriminants are expansions [1]_ (eqs 4, 10, 21), and the class is the most probable one
    for Gaussians around the class means, with a variance of each discriminant for all classes:

    .. math::

        z(x) = \sum_i \alpha_i k(x, x_i), \qquad
        \alpha = (N + \mu R)^{-1} (M_1 - M_2), \qquad
        \hat c(x) = \arg\max_c \; \ln \pi_c - \sum_k \frac{(z_k(x) - \bar z_{ck})^2}{2 s_k^2}

    With two classes that is the threshold (z₁ + z₂)/2 + (s²/(z₁ − z₂))·ln(π₂/π₁), and with a linear
    kernel and a small ridge the rule is linear discriminant analysis.

    ======================== ====================================================
    in the paper             here
    ======================== ====================================================
    k, σ²                    ``kernel``; ``gamma`` = 1/(2σ²)
    μ                        ``alpha``
    R = I                    ``penalty="coef"``; ``"rkhs"`` takes R = K
    N, eq. (6)               ``scatter="sum"``; see there for the others
    c₁, c₂                   ``classes_[1]``, ``classes_[0]``
    α                        ``dual_coef_[:, 0]``
    J                        ``eigenvalues_[0]``
    f(x), eq. (21)           ``transform``
    ======================== ====================================================

    Parameters
    ----------
    kernel : str or callable, default="auto"
        One of "rbf", "exponential" (exp(−gamma·distance)), "laplacian" (exp(−gamma·sum of absolute
        differences)), "poly", "linear", "precomputed", as in scikit-learn's kernel machines; a
        callable returns the matrix for two sets of rows.  "auto" takes the best of the first three
        and of "laplacian" with column scales, by leave-one-out on at most 2 000 rows; with a
        gamma other than "loo" it is "rbf".
    gamma : "loo", "scale" or float, default="loo"
        Width of the kernel.  "loo" tries gamma·median(base) = ⅛, ¼, …, 8, base being the squared
        distance ("exponential": the distance, "laplacian": the sum of absolute differences, "poly":
        the inner product), and goes on for as long as the best lies on an edge.  Above 500 rows a
        sample of 500 is tried, and from the best there neighbouring widths on up to 4 000 rows.
        "scale" is 1 / (n_features · variance).
        Not used by "linear", "precomputed" and callables.
    alpha : "loo" or float, default="loo"
        Ridge on the matrix N.  "loo" tries half-decades from 10⁻⁹ to 10, relative to the mean
        diagonal of the kernel.  Beyond 10^±50 times that diagonal, all numbers are alike.
    column_scales : "auto", "loo", None or array-like of shape (n_features,), default="auto"
        Factors of the columns.  "loo" learns them by descent on the squared leave-one-out error of
        at most 1 400 rows, for "laplacian" and "rbf", and keeps them if halves of these rows
        that did not learn them are better off with them; dummies of one category share a scale.
        "auto" is "loo" with ``kernel="auto"`` and None with a kernel by name.
    penalty : {"rkhs", "coef"}, default="rkhs"
        What the ridge multiplies: αᵀKα, the squared norm of the discriminant, or αᵀα as in the
        paper.  Under "rkhs" leave-one-out equals refitting without the row.  Under "coef" the row
        is deleted but its kernel stays among the functions of the expansion.
    scatter : {"class", "total", "sum"}, default="class"
        Scale of N: every class's scatter over its own weight and added up, the sum over the total
        weight, or the plain sum, as printed.  "class" also gives all classes the same say.
    priors : array-like of shape (n_classes,), "uniform" or None, default=None
        Priors in the threshold; None takes the weighted shares of the classes.  A class of prior 0
        is never chosen.
    class_weight : "balanced", dict or None, default=None
        Factors on the rows of each class, in the scatter, in the priors and in the leave-one-out
        score; "balanced" is N/(C·N_c).
    n_components : int, default=None
        Number of discriminants that `transform` returns, at most C − 1 (None).  It does not
        change predictions.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What leave-one-out maximises.  Scores within half a standard error of the best are ties,
        and the least squared leave-one-out error decides among them.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant term of "poly".
    n_landmarks : "auto", int or None, default="auto"
        Rows that the expansion stands on: a random subset of this size, classes ∝ √n.  None
        takes all; "auto" takes all whose kernel matrix fits scikit-learn's ``working_memory``
        (1 GiB: 11 585 rows), and above that, with a warning, 1 000.
    calibration : {"loo"} or None, default="loo"
        How sure probabilities are.  "loo" divides their logarithms by the temperature that gives
        the classes of left-out rows the best odds, and so `decision_function`; no prediction
        changes.  None takes the Gaussians at their word.
    search_seconds : float, default=None
        After so many seconds no further kernel is tried; those at work are finished.  None tries
        all.
    random_state : int, RandomState or None, default=None
        For landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    priors_ : ndarray of shape (n_classes,)
        As used.
    kernel_ : str or callable
        The kernel that was chosen.
    gamma_ : float or None
        Width, where the kernel has one.
    column_scales_ : ndarray of shape (n_features_in_,) or None
        Factors of the columns, with mean 1 if they were learned; None where all are alike.
    column_shares_ : ndarray of shape (n_features_in_,) or None
        Share of each column in the distance of two rows, on average.  With learned scales it tells
        which columns matter, without them only which vary.
    choice_ : str
        One sentence that says which kernels were tried, and how well they did.
    alpha_ : float
        Ridge.
    temperature_ : float
        What the logarithms of probabilities were divided by; 1 without calibration.
    dual_coef_ : ndarray of shape (n_terms, n_classes − 1)
        Coefficients of the discriminants, strongest first, each scaled so that
        αᵀ(N + μR)α is its eigenvalue.
    eigenvalues_ : ndarray of shape (n_classes − 1,)
        The criterion J of each: M over N + μR.  M is (M₁ − M₂)(M₁ − M₂)ᵀ for two classes
        and Σ_c π_c (M_c − M)(M_c − M)ᵀ for more.
    support_ : ndarray of int of shape (n_terms,)
        Rows that the expansion stands on.
    X_fit_ : ndarray of shape (n_terms, n_features)
        These rows; not with a precomputed kernel.
    loo_results_ : dict
        The surface: "gamma" (n_gammas,), "alpha", "score" and "squared_error"
        (n_gammas, n_alphas), "rows" (n_gammas,), how many rows each width was judged on, and
        "best_index".  Above 500 rows the chosen width is judged on all of them, and the others on
        the sample; ridges that were not tried on all rows are NaN there.  With landmarks, that of
        the sample on which the width was chosen.  "kernels" is a list of the candidates, the
        chosen one first: "kernel", "has_scales", "gamma", "score", "squared_error", "rows";
        with landmarks and a kernel that was given there is none.
        :class:`mercer.plots.LeaveOneOutSurfaceDisplay` draws it.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    SparseKernelFisherDiscriminant : A few nodes instead of all rows; any number of rows.

    Notes
    -----
    Time: the search of kernel and width is on at most 4 000 rows; then one eigendecomposition up to
    1 000 rows, and two or three Cholesky factorisations, O(n³), above.  Memory: three matrices of
    n² numbers.  With m landmarks O(n·m²) and O(n·m).  A prediction costs n_terms kernels.

    *Tensors.*  Through scikit-learn's array API dispatch, rows may be torch tensors: everything is
    computed on their device then, in float64, and fitted arrays and answers are tensors there.

    *Leave-one-out.*  Targets, class weights, ridge and scale stay at their values for all rows;
    the level of the outputs, which would tell the class of the row that is missing, is taken
    out.  Identical rows of one class are one row and leave together, unless rows of another
    class lie at the same place: then one of them leaves at a time.

    Departures from the paper: several classes; the penalty αᵀKα by default, for which
    leave-one-out is refitting; N scaled by class, which the paper's results need; priors in the
    threshold, and outputs of left-out rows for it, where the paper takes the midpoint between
    the means of fitted rows (``priors=[0.5, 0.5]`` comes near).

    References
    ----------
    .. [1] Y. Xu, J.-y. Yang, J. Yang (2004). A reformative kernel Fisher discriminant analysis.
       Pattern Recognition 37, 1299-1302. https://doi.org/10.1016/j.patcog.2003.10.006
    .. [2] G. C. Cawley, N. L. C. Talbot (2003). Efficient leave-one-out cross-validation of
       kernel Fisher discriminant classifiers. Pattern Recognition 36, 2585-2592.
       https://doi.org/10.1016/S0031-3203(03)00136-5

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.discriminants import KernelFisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant().fit(X[::2], y[::2])
    >>> float(model.score(X[1::2], y[1::2])) > 0.95
    True
    >>> model.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(KERNEL_NAMES | {"precomputed"}), callable],
        "gamma": [StrOptions({"loo", "scale"}), Interval(Real, 0, None, closed="neither")],
        "alpha": [StrOptions({"loo"}), Interval(Real, 0, None, closed="neither")],
        "column_scales": [StrOptions({"auto", "loo"}), "array-like", None],
        "penalty": [StrOptions({"rkhs", "coef"})],
        "scatter": [StrOptions({"class", "total", "sum"})],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "n_landmarks": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "calibration": [StrOptions({"loo"}), None],
        "search_seconds": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "auto",
        gamma: float | str = "loo",
        alpha: float | str = "loo",
        column_scales: Any = "auto",
        penalty: str = "rkhs",
        scatter: str = "class",
        priors: Any = None,
        class_weight: str | Mapping[Any, float] | None = None,
        n_components: int | None = None,
        scoring: str = "accuracy",
        degree: float = 3,
        coef0: float = 1.0,
        n_landmarks: int | str | None = "auto",
        calibration: str | None = "loo",
        search_seconds: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.column_scales = column_scales
        self.penalty = penalty
        self.scatter = scatter
        self.priors = priors
        self.class_weight = class_weight
        self.n_components = n_components
        self.scoring = scoring
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.calibration = calibration
        self.search_seconds = search_seconds
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose width and ridge, and solve for the discriminants.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows, or the kernel matrix of all rows with ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts: 2 is the same as the row twice.  Others
            are relative: a common factor changes nothing.

        Returns
        -------
        KernelFisherDiscriminant
            Itself.
        """
        X, y = validate_rows(self, X, y, double=True)
        with explain_full_device(f"a fit on {X.shape[0]} rows"):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Array, y: Array, sample_weight: Any) -> Self:
        """Fit validated rows."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs a square matrix in fit, got shape {tuple(X.shape)}."
            )

        sample = sample_of(self, X, y, sample_weight)
        self._check_components(sample.n_classes)
        in_class = class_sums(sample.codes, sample.weights, sample.n_classes)
        class_weight = check_class_weight(self.class_weight, to_numpy(self.classes_), in_class)
        coding = encode(sample, class_weight, self.scatter)

        X, rows = sample.X, sample.rows
        self.priors_ = like(check_priors(self.priors, in_class * class_weight), X)
        if self.kernel == "precomputed":
            X = take_rows(X.T, rows).T
        rng = check_random_state(self.random_state)
        terms = stratified_rows(sample.codes, self._resolve_n_terms(len(rows)), 0.5, rng)
        self.support_ = like(rows[terms], X, dtype=array_namespace(X).int64)

        alpha = None if self.alpha == "loo" else float(self.alpha) / coding.scale
        criterion = Criterion(log_priors(self.priors_), self.scoring, self.penalty, alpha)
        candidates, trials = Candidates.of(self, X), []
        has_all = len(terms) == len(rows)
        if has_all or candidates.is_choice:
            trials = candidates.try_all(X, coding, criterion, self.search_seconds)
        if has_all:
            kernel, tuned, coef, mean = _solve_all(trials[0], criterion, coding, X)
        else:
            kernel = trials[0].kernel if trials else candidates.kernels[0]
            search = candidates.searches_width
            tuned, coef, mean = _solve_on(kernel, criterion, coding, X, terms, search, rng)

        self._set_kernel(kernel.with_gamma(tuned.gamma), candidates, trials, X, coding.rule_weights)
        self.loo_results_ = {**tuned.results, "kernels": [trial.summary() for trial in trials]}
        self.alpha_ = tuned.alpha * coding.scale
        if self.kernel != "precomputed":
            self.X_fit_ = take_rows(X, terms)
        alphas = np.array([tuned.alpha])
        coding = coding.like(X)
        rule, outputs, _ = loo_rule(tuned.basis, alphas, coding, criterion.log_priors)
        rule = Rule(rule.coef[0, :, :], rule.intercept[0, :])
        temperature = 1.0
        if self.calibration == "loo":
            temperature = rule.calibrate(outputs[0, :, :], coding, criterion.log_priors)
        left = tuned.basis.residuals(coding.targets, alphas)[0][0, :, :]
        unexplained = coding.targets.T @ (coding.weights[:, None] * left)
        found = rotate(unexplained, coding.shares, coding.scale)
        self.eigenvalues_ = found.eigenvalues
        self.dual_coef_ = coef @ found.rotation
        # The regression's outputs are k(x)·coef − mean·coef.
        intercept = rule.intercept - mean @ coef @ rule.coef
        self._set_rule(found.inverse @ rule.coef, intercept, temperature)
        return self

    def _resolve_n_terms(self, n_rows: int) -> int:
        """Return on how many rows the discriminants are expanded."""
        most = most_exact_rows()
        if self.n_landmarks is None or (self.n_landmarks == "auto" and n_rows <= most):
            return n_rows
        if self.n_landmarks != "auto":
            return int(self.n_landmarks)
        n_landmarks = min(_LANDMARKS, n_rows)
        warnings.warn(
            f"X has {n_rows} rows, more than the {most} whose kernel matrix fits scikit-learn's "
            f"working_memory: the discriminants are expanded on {n_landmarks} landmarks. Set "
            "n_landmarks to choose their number or to None for all rows, or use "
            "SparseKernelFisherDiscriminant.",
            stacklevel=7,
        )
        return n_landmarks

    def _combine(self, X: Array, coef: Array) -> Array:
        if self.kernel == "precomputed":
            xp: Any = array_namespace(X)
            return xp.astype(xp.take(X, self.support_, axis=1), xp.float64, copy=False) @ coef
        return super()._combine(X, coef)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _solve_all(
    trial: Trial, criterion: Criterion, coding: Coding, X: Array
) -> tuple[KernelFunction, Tuned, Array, Array]:
    """Expand on all rows: the kernel of a trial, at the ridge that is best for all of them.

    Returns the kernel, the choice, the coefficients (n_rows, C − 1), and the weighted mean of the
    kernel's rows.
    """
    if X.shape[0] > BASIS_ROWS:
        trial = climb(trial, X, coding, criterion, CLIMB_ROWS, _CLIMB_STEPS)
    coding, kernel = coding.like(X), trial.kernel
    gram = Gram.of(kernel, X, None, criterion)
    base = gram.base if criterion.penalty == "coef" else None
    mean = coding.weights @ kernel.profile(gram.base)
    if X.shape[0] <= BASIS_ROWS:
        tuned = criterion.tune(gram, coding, kernel.gamma, False)
    else:
        K, alphas = gram.at(kernel.gamma)
        del gram  # and with it a matrix of all pairs
        tuned = _tune_ridge(trial, K, alphas, coding, criterion)
    coef = tuned.basis.coefficients(coding.targets, tuned.alpha)
    if base is not None:
        coef = kernel.profile(base).T @ coef
    tuned = replace(tuned, results=_with_chosen_width(trial.surface, tuned.results))
    return kernel, tuned, coef, mean


def _tune_ridge(
    trial: Trial, K: Array, alphas: FloatArray, coding: Coding, criterion: Criterion
) -> Tuned:
    """Choose among two ridges by Cholesky, or three if the smaller is the better one."""
    n_rows = coding.labels.shape[0]
    column = ridge_column(trial, n_rows)
    score, error = np.full(len(alphas), np.nan), np.full(len(alphas), np.nan)
    best, best_factor = column, None
    for k in range(column, max(column - 3, -1), -1):
        factor = factor_kernel(K, coding.weights, float(alphas[k]))
        if factor is None:
            break
        found = criterion.judge(factor, np.array([alphas[k]]), coding)
        score[k], error[k] = float(found[0][0]), float(found[1][0])
        tried = np.flatnonzero(~np.isnan(score))
        if tried[best_entry(score[tried], error[tried], tie_slack(coding))] != k:
            break
        best, best_factor = k, factor
    if best_factor is None:
        raise ValueError(
            f"The kernel matrix of {n_rows} rows is not positive definite at the ridge "
            f"{alphas[column]:.2g}; give a larger alpha."
        )
    results = {
        "gamma": np.array([trial.kernel.gamma]),
        "alpha": alphas[None, :] * coding.scale,
        "score": score[None, :],
        "squared_error": error[None, :],
        "rows": np.array([n_rows]),
        "best_index": (0, best),
    }
    return Tuned(trial.kernel.gamma, float(alphas[best]), best_factor, results)


def _with_chosen_width(surface: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return a sample's surface in which the chosen width is judged on all rows.

    A width that was not on the surface gets a line of its own.
    """
    gamma = line["gamma"][0]
    rung = int(np.searchsorted(surface["gamma"], gamma * (1 - 1e-9)))
    is_new = rung == len(surface["gamma"]) or not np.isclose(surface["gamma"][rung], gamma)
    found = {**surface, "best_index": (rung, line["best_index"][1])}
    for name in ("gamma", "alpha", "score", "squared_error", "rows"):
        old = surface[name]
        found[name] = np.insert(old, rung, old[0], axis=0) if is_new else old.copy()
        found[name][rung] = line[name][0]
    return found


def _solve_on(
    kernel: KernelFunction,
    criterion: Criterion,
    coding: Coding,
    X: Array,
    terms: NDArray[np.intp],
    search: bool,
    rng: np.random.RandomState,
) -> tuple[Tuned, Array, Array]:
    """Expand on landmarks: the width from a sample, then the ridge from all rows."""
    gamma, results = kernel.gamma, None
    if search:
        options = (criterion.scoring, criterion.penalty, rng)
        sampled = tune_width(kernel, X, coding, criterion.log_priors, *options)
        gamma, results = sampled.gamma, sampled.results
    kernel = kernel.with_gamma(gamma)
    if kernel.kernel == "precomputed":
        K = take_rows(X.T, terms).T
    else:
        K = kernel.matrix(X, take_rows(X, terms))
    kernel.check_range(K)
    among, coding = take_rows(K, terms), coding.like(X)
    basis, span = landmark_basis(K, among, coding.weights, criterion.penalty)
    path = ridge_scale_path(basis, among, criterion.penalty)
    alphas = path if criterion.alpha is None else given_ridge(criterion.alpha, float(path[-1]))
    tuned = tune(lambda _: (basis, alphas), gamma, coding, criterion.log_priors, criterion.scoring)
    coef = basis.coefficients(coding.targets, tuned.alpha)
    if span is not None:
        coef = span.dual(coef)
    if results is not None:
        tuned = replace(tuned, results=results)
    return tuned, coef, coding.weights @ K

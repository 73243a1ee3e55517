"""``KernelFisherDiscriminant``: all rows in the expansion, kernel and ridge by leave-one-out.

Y. Xu, J.-y. Yang, J. Yang (2004), eqs (1)–(12) and (21)–(22).
"""

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from array_api_compat import array_namespace
from sklearn.utils import check_random_state

from mercer._arrays import Array, like, take_rows, to_numpy
from mercer._memory import budget_for, explain_full_device, is_on_gpu
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer._system.words import grouped, listed
from mercer.discriminants._base import (
    KERNEL_NAMES,
    FisherDiscriminant,
    validate_rows,
)
from mercer.discriminants._block_fit import fit_exact
from mercer.discriminants._choice import Candidates
from mercer.discriminants._coding import Coding, class_sums, encode, rotate
from mercer.discriminants._expansion import Expansion, expand_on_all, expand_on_landmarks
from mercer.discriminants._gaussian import Rule
from mercer.discriminants._iterative import Effort, expand_iteratively, most_iterative_rows
from mercer.discriminants._jackknife import (
    JACKKNIFE_ROWS,
    FittedRows,
    Jackknife,
    most_jackknife_rows,
)
from mercer.discriminants._trial import Criterion
from mercer.discriminants._tuning import Tuned, left_out_rules, loo_rule
from mercer.samples import (
    LeftOutScores,
    Sample,
    answer_rows,
    check_class_weight,
    log_priors,
    on_dask,
    sample_of,
    stratified_rows,
)
from mercer.sums import combine_kernel

# Above the rows for which all of them are solved, the expansion stands on this many.
_LANDMARKS = 1000
# A factorisation in full holds this many matrices of all pairs at its peak.
_MATRICES = 5
_SET_METHODS = ("auto", "jackknife+", "left-out")
# Beyond it a matrix has more entries than an index of 32 bits, which some kernels of CUDA have.
_MOST_INDEXED = 46_340


def most_exact_rows(X: Array) -> int:
    """Return how many rows are factored in full in double precision.

    One matrix of them fills the working memory; on a GPU, five fill half of what is free there.
    """
    if is_on_gpu(X):
        return min(int(np.sqrt(budget_for(X) / (8 * _MATRICES))), _MOST_INDEXED)
    return int(np.sqrt(budget_for(X) / 8))


@on_dask(fit=fit_exact)
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
    k, σ²                    ``kernel``; ``gamma`` = 1/(2σ²), or ``"variance"``
    μ                        ``alpha``
    R = I                    ``penalty="coef"``; ``"rkhs"`` takes R = K
    N, eq. (6)               ``scatter="sum"``; see there for the others
    c₁, c₂                   ``classes_[1]``, ``classes_[0]``
    α                        ``dual_coef_[:, 0]``
    J                        ``eigenvalues_[0]``
    f(x), eq. (21)           ``transform``
    f₁, f₂, eq. (22)         ``rule="nearest_mean"``
    ======================== ====================================================

    Parameters
    ----------
    kernel : str or callable, default="auto"
        One of "rbf", "exponential" (exp(−gamma·distance)), "laplacian" (exp(−gamma·sum of absolute
        differences)), "poly", "linear", "precomputed", as in scikit-learn's kernel machines; a
        callable returns the matrix for two sets of rows.  "auto" takes the best of the first three
        and of "laplacian" with column scales, by leave-one-out on at most 2 000 rows; with a
        gamma other than "loo" it is "rbf".
    gamma : "loo", "scale", "variance" or float, default="loo"
        Width of the kernel.  "loo" tries gamma·median(base) = ⅛, ¼, …, 8, base being the squared
        distance ("exponential": the distance, "laplacian": the sum of absolute differences, "poly":
        the inner product), and goes on for as long as the best lies on an edge.  Above 500 rows a
        sample of 500 is tried, and from the best there neighbouring widths on up to 4 000 rows.
        "scale" is 1 / (n_features · variance of all numbers), as in scikit-learn; "variance" is
        1/(2σ²) with σ² the sum of the variances of the columns, as in the paper's experiments.
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
    rule : {"gaussian", "nearest_mean"}, default="gaussian"
        "gaussian" takes means and variances of left-out rows, and priors.  "nearest_mean" takes
        those of fitted rows and no priors: with two classes the threshold is the middle between
        the class means of f, eq. (22) of the paper; with more, distances from the means are in
        units of the deviation within the classes.  Leave-one-out chooses by "gaussian" with equal
        priors then.
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
    solver : {"auto", "exact", "iterative", "landmarks"}, default="auto"
        How discriminants are found.  "exact" factors the kernel matrix of all rows in double
        precision.  "iterative" solves for all rows too, by conjugate gradients on products that
        never store the matrix; it needs ``penalty="rkhs"``.  "landmarks" expands on some rows only.
        "auto" takes the first that the machine can do: "exact" while a matrix of all pairs fits
        scikit-learn's ``working_memory`` (1 GiB: 11 585 rows), or five of them half of a GPU's free
        memory; "iterative" up to 50 000 rows on a processor and two million on a GPU; and above
        that "landmarks", with a warning.
    n_landmarks : int or None, default=None
        Size of the random subset, classes ∝ √n, that "landmarks" expands on; None is 1 000.  A
        number makes "auto" take "landmarks"; the other solvers do not look at it.
    tol : float, default=1e-4
        An iterative solution ends when its residual is this share of the targets, or when the
        squared error of left-out rows stands still for three steps, within ten times this share,
        at a residual below 6 %.
    max_iter : int, default=200
        Most steps of an iterative solution, each a product of the kernel matrix.
    calibration : {"loo"} or None, default="loo"
        How sure probabilities are.  "loo" divides their logarithms by the temperature that gives
        the classes of left-out rows the best odds, and so `decision_function`; no prediction
        changes.  None takes the Gaussians at their word.
    search_seconds : float, default=None
        After so many seconds no further kernel is tried; those at work are finished.  None tries
        all.
    verbose : bool, default=False
        Print every step of an iterative solution.  Ctrl-C ends it with what was reached so far.
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
    solver_ : str
        How the discriminants were found: "exact", "iterative" or "landmarks".
    n_iter_ : int
        Steps of an iterative solution; 1 for the others.
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
    loo_proba_ : ndarray of shape (n_rows, n_classes)
        Probabilities that rows of the fit would have got, had they been left out; identical rows of
        a class leave together.
    loo_rows_ : ndarray of int of shape (n_rows,)
        Which of the rows given they are: all whose weight is positive.
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

    *Iterative.*  While half of the kernel matrix fits the memory in float32 (1 GiB: 23 170 rows; on
    a GPU at most 60 000), its Cholesky factor steers the steps: two or three of them reach the
    solution of "exact" to five digits, or as many as `tol` asks for.  Beyond, some of the columns
    and blocks of neighbours steer some 10 to 20 steps, each of which adds up n² kernels, on a GPU
    in float32; leverages for leave-one-out are estimates then, off by a tenth or so, and the ridge
    is that of the largest sample.

    *Tensors.*  Through scikit-learn's array API dispatch, rows may be torch tensors: everything is
    computed on their device then, in float64, and fitted arrays and answers are tensors there.

    *Leave-one-out.*  Targets, class weights, ridge and scale stay at their values for all rows;
    the level of the outputs, which would tell the class of the row that is missing, is taken
    out.  Identical rows of one class are one row and leave together, unless rows of another
    class lie at the same place: then one of them leaves at a time.

    *Sets.*  The scores of left-out rows, by a threshold without them, are kept for `predict_set`;
    up to 2 000 rows also their classes and weights, from which it makes the fits without each row.

    Departures from the paper: several classes; the penalty αᵀKα by default, for which
    leave-one-out is refitting; N scaled by class, which the paper's results need; priors in the
    threshold, and outputs of left-out rows for it, where the paper takes the midpoint between
    the means of fitted rows (``rule="nearest_mean"``; eq. (22) prints these means without α).
    Identical rows of one class are one row with one α, so that under "coef" copies are penalised
    as one; with an α for each, as in eq. (10), the penalty of m copies would be an m-th of that.

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
        "gamma": [
            StrOptions({"loo", "scale", "variance"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "alpha": [StrOptions({"loo"}), Interval(Real, 0, None, closed="neither")],
        "column_scales": [StrOptions({"auto", "loo"}), "array-like", None],
        "penalty": [StrOptions({"rkhs", "coef"})],
        "scatter": [StrOptions({"class", "total", "sum"})],
        "rule": [StrOptions({"gaussian", "nearest_mean"})],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", "exact", "iterative", "landmarks"})],
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "calibration": [StrOptions({"loo"}), None],
        "search_seconds": [Interval(Real, 0, None, closed="left"), None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    _fitted_rows: FittedRows | None = None  # What fits without each row need, where rows are few.
    _is_single = False  # Whether answers are summed in float32, as an iterative fit on a GPU was.

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "auto",
        gamma: float | str = "loo",
        alpha: float | str = "loo",
        column_scales: Any = "auto",
        penalty: str = "rkhs",
        scatter: str = "class",
        rule: str = "gaussian",
        priors: Any = None,
        class_weight: str | Mapping[Any, float] | None = None,
        n_components: int | None = None,
        scoring: str = "accuracy",
        degree: float = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        n_landmarks: int | None = None,
        tol: float = 1e-4,
        max_iter: int = 200,
        calibration: str | None = "loo",
        search_seconds: float | None = None,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.column_scales = column_scales
        self.penalty = penalty
        self.scatter = scatter
        self.rule = rule
        self.priors = priors
        self.class_weight = class_weight
        self.n_components = n_components
        self.scoring = scoring
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.calibration = calibration
        self.search_seconds = search_seconds
        self.verbose = verbose
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
        return self._fit_in_memory(X, y, sample_weight)

    def _fit_in_memory(
        self, X: Any, y: Any, sample_weight: Any, share_rows: Callable[[Array], Any] | None = None
    ) -> Self:
        """Fit rows in memory; `share_rows` puts them where sums over all of them are computed."""
        X, y = validate_rows(self, X, y, double=True)
        with explain_full_device(f"a fit on {X.shape[0]} rows"):
            return self._fit(X, y, sample_weight, share_rows)

    def _fit(
        self, X: Array, y: Array, sample_weight: Any, share_rows: Callable[[Array], Any] | None
    ) -> Self:
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
        self.priors_ = like(self._resolve_priors(in_class * class_weight), X)
        if self.kernel == "precomputed":
            X = take_rows(X.T, rows).T
        self.solver_ = self._resolve_solver(X)
        rng = check_random_state(self.random_state)
        n_terms = len(rows) if self.solver_ != "landmarks" else self.n_landmarks or _LANDMARKS
        terms = stratified_rows(sample.codes, n_terms, 0.5, rng)
        self.support_ = like(rows[terms], X, dtype=array_namespace(X).int64)
        self._codes = sample.codes[terms]

        alpha = None if self.alpha == "loo" else float(self.alpha) / coding.scale
        criterion = Criterion(log_priors(self.priors_), self.scoring, self.penalty, alpha)
        candidates, trials = Candidates.of(self, X, coding.counts), []
        has_all = len(terms) == len(rows)
        if has_all and self.solver_ == "landmarks":
            self.solver_ = "exact"
        if has_all or candidates.is_choice:
            trials = candidates.try_all(X, coding, criterion, self.search_seconds)
        found: Expansion
        if has_all and self.solver_ == "iterative":
            effort = Effort(float(self.tol), int(self.max_iter), bool(self.verbose))
            found = expand_iteratively(trials[0], criterion, coding, X, effort, share_rows)
        elif has_all:
            found = expand_on_all(trials[0], criterion, coding, X)
        else:
            kernel = trials[0].kernel if trials else candidates.kernels[0]
            search = candidates.searches_width
            found = expand_on_landmarks(kernel, criterion, coding, X, terms, search, rng)

        tuned, coef = found.tuned, found.coef
        self.n_iter_ = max(1, found.n_steps)
        self._is_single = found.is_single
        kernel = found.kernel.with_gamma(tuned.gamma)
        self._set_kernel(kernel, candidates, trials, X, coding.rule_weights)
        self.loo_results_ = {**tuned.results, "kernels": [trial.summary() for trial in trials]}
        self.alpha_ = tuned.alpha * coding.scale
        if self.kernel != "precomputed":
            self.X_fit_ = take_rows(X, terms)
        alphas = np.array([tuned.alpha])
        coding = coding.like(X)
        of_fitted = self.rule == "nearest_mean"
        options = (coding, criterion.log_priors)
        rule, outputs, _ = loo_rule(tuned.basis, alphas, *options, of_fitted=of_fitted)
        rule = Rule(rule.coef[0, :, :], rule.intercept[0, :])
        temperature = 1.0
        if self.calibration == "loo":
            temperature = rule.calibrate(outputs[0, :, :], coding, criterion.log_priors)
        left = tuned.basis.residuals(coding.targets, alphas)[0][0, :, :]
        unexplained = coding.targets.T @ (coding.weights[:, None] * left)
        turned = rotate(unexplained, coding.shares, coding.scale)
        self.eigenvalues_ = turned.eigenvalues
        self.dual_coef_ = coef @ turned.rotation
        intercept = rule.intercept - found.level @ rule.coef
        self._set_rule(turned.inverse @ rule.coef, intercept, temperature)
        self._keep_left_out(tuned, coding, criterion.log_priors, sample)
        return self

    def _keep_left_out(self, tuned: Tuned, coding: Coding, priors: Array, sample: Sample) -> None:
        """Keep the scores of left-out rows, and what the fits without each row need."""
        of_fitted = self.rule == "nearest_mean"
        options = (tuned.alpha, coding, priors)
        rules, outputs = left_out_rules(tuned.basis, *options, of_fitted=of_fitted)
        scores = rules.scores(outputs)
        self._set_left_out(scores, sample.given, sample.index)
        scores = scores / self.temperature_
        self._left_out = LeftOutScores.of(scores, coding.labels, coding.counts)
        self._fitted_rows = None
        is_small = coding.labels.shape[0] <= JACKKNIFE_ROWS
        if self.solver_ == "exact" and self.kernel != "precomputed" and is_small:
            settings = (tuned.alpha, self.temperature_, of_fitted)
            self._fitted_rows = FittedRows.of(coding, *settings)

    def predict_set(self, X: Any, coverage: float = 0.9, *, method: str = "auto") -> Array:
        """Return the classes that may be right: sets with the true class as often as asked for.

        A set holds the predicted class, and every class that suits the row no worse than its own
        class suits a share `coverage` of the training rows, each of which was left out.  Where the
        predicted class is right more often than `coverage`, it is alone in every set, and sets hold
        the true class as often as it is right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            Share of new rows whose set holds the true class, between 0 and 1.
        method : {"auto", "jackknife+", "left-out"}, default="auto"
            By which fit a new row is judged beside each row left out: "jackknife+" takes the fit
            without that row, "left-out" the fit with all rows.  The first factors the kernel
            matrix again in every call; it is for the exact solver and up to 2 000 rows, and "auto"
            takes it up to 500.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Which classes, in the order of ``classes_``, are in the set of each row.
        """
        left_out = self._check_left_out(coverage)
        if method not in _SET_METHODS:
            names = listed(list(map(repr, _SET_METHODS)), word="or")
            raise ValueError(f"method must be one of {names}; got {method!r}.")
        found = self._jackknife(method)
        if found is None:
            return super().predict_set(X, coverage)

        def answer(rows: Array) -> Array:
            return found.sets(rows, self._scores(rows), left_out, coverage)

        return answer_rows(
            self,
            X,
            self._fitted,
            answer,
            n_columns=len(self.classes_),
            dtype=np.bool_,
            bytes_per_row=lambda _: found.bytes_per_row(),
        )

    def _jackknife(self, method: str) -> Jackknife | None:
        """Return the fits without each row where a method asks for them."""
        rows = self._fitted_rows
        if method == "left-out" or (method == "auto" and rows is None):
            return None
        if rows is None:
            raise ValueError(
                "method='jackknife+' needs solver='exact' on at most "
                f"{grouped(JACKKNIFE_ROWS)} rows that are not a kernel matrix; take "
                "method='left-out'."
            )
        n_rows = self.X_fit_.shape[0]
        if method == "auto" and n_rows > most_jackknife_rows():
            return None
        with explain_full_device(f"the fits without each of {n_rows} rows"):
            priors = log_priors(self.priors_)
            return Jackknife.of(self._kernel, self.X_fit_, rows, self.penalty, priors)

    def _resolve_solver(self, X: Array) -> str:
        """Return how the discriminants of these rows are found."""
        is_solvable = self.penalty == "rkhs" and self.kernel != "precomputed"
        if self.solver == "iterative" and not is_solvable:
            raise ValueError(
                "solver='iterative' needs penalty='rkhs' and a kernel other than 'precomputed'; "
                f"got penalty={self.penalty!r} and kernel={self.kernel!r}."
            )
        if self.solver != "auto":
            return self.solver
        n_rows = X.shape[0]
        if self.n_landmarks is not None:
            return "landmarks"
        if n_rows <= most_exact_rows(X):
            return "exact"
        if is_solvable and n_rows <= most_iterative_rows(X):
            return "iterative"
        most = most_iterative_rows(X) if is_solvable else most_exact_rows(X)
        warnings.warn(
            f"X has {n_rows} rows, more than the {most} that solver='auto' solves for in full: the "
            f"discriminants are expanded on {_LANDMARKS} landmarks. Set n_landmarks to choose "
            "their number, solver='iterative' or 'exact' to solve for all rows however long that "
            "takes, or use SparseKernelFisherDiscriminant.",
            stacklevel=8,
        )
        return "landmarks"

    def _combine(self, X: Array, coef: Array) -> Array:
        if self.kernel == "precomputed":
            xp: Any = array_namespace(X)
            return xp.astype(xp.take(X, self.support_, axis=1), xp.float64, copy=False) @ coef
        if self._is_single:
            xp = array_namespace(X)
            centre = xp.mean(self.X_fit_, axis=0)
            rows, terms = (xp.astype(A - centre, xp.float32) for A in (X, self.X_fit_))
            return combine_kernel(self._kernel, rows, terms, coef)
        return super()._combine(X, coef)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

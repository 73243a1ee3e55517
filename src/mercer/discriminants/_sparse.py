"""``SparseKernelFisherDiscriminant``: an expansion on a few significant nodes.

Y. Xu, J.-y. Yang, J. Yang (2004), eqs (13)–(22).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._memory import explain_full_device, row_slabs, working_memory
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.discriminants._base import (
    KERNEL_NAMES,
    FisherDiscriminant,
    validate_rows,
)
from mercer.discriminants._block_fit import fit_sparse
from mercer.discriminants._blocks import BlockFitting, BlockState
from mercer.discriminants._choice import Candidates
from mercer.discriminants._coding import Coding, class_sums, encode, rotate
from mercer.discriminants._count import (
    count_grid,
    fewest_best,
    held_out_scores,
    left_out_outputs,
    left_out_scores,
)
from mercer.discriminants._moments import Moments, accumulate, near_mean
from mercer.discriminants._nodes import NodeLimits, choose_nodes
from mercer.discriminants._path import MOST_LEVERAGE, NodePath, gcv_path, solve_path
from mercer.discriminants._trial import Criterion
from mercer.discriminants._tuning import given_ridge, ridge_path, tune
from mercer.discriminants._width import landmark_basis, tune_width
from mercer.samples import (
    LeftOutScores,
    check_class_weight,
    check_new_rows,
    dense_rows,
    in_memory,
    log_priors,
    on_dask,
    sample_of,
    stratified_rows,
)
from mercer.spectral import RidgeBasis, StopRule

# Width and nodes are chosen on a sample of this many rows, in which a class of n rows has a share
# in proportion to n to this power.
_SAMPLE_ROWS = 10_000
_SAMPLE_POWER = 0.75
# Kernels meet each other on at most this many rows of the sample.
_TRIAL_ROWS = 1000
# In NumPy, kernels of longer tables than this are computed in single precision for the moments.
_LONG_TABLE = 10_000
# The ridge while nodes are chosen, relative to the kernel's diagonal, if the user gives none.
_SELECTION_RIDGE = 1e-6
# Above this many nodes per row the ridge is chosen by leave-one-out rather than by GCV.
_MANY_NODES = 0.2


@on_dask(fit=fit_sparse)
class SparseKernelFisherDiscriminant(BlockFitting, FisherDiscriminant):
    r"""Kernel Fisher discriminant on a few significant nodes, for tables of any length.

    Nodes are taken one by one, each the candidate that raises Fisher's criterion most; a pivoted
    Cholesky factorisation keeps that gain for all candidates at once.  The discriminants
    are then expanded on the nodes alone, so that a prediction costs as many kernels as there are
    nodes.  Width and nodes come from a sample, and one pass over all rows adds up the moments
    that the solution needs.

    .. math::

        z(x) = \sum_{j \in S} \alpha_j k(x, x_j), \qquad
        j^* = \arg\max_j \; \frac{\| R_j \|^2}{\rho_j}, \qquad
        J_s = \operatorname{tr} U_S^T (N_{SS} + \mu R_{SS})^{-1} U_S

    where ρ_j and R_j are what the nodes so far leave of the diagonal and of the class means
    ([1]_ eq. (20): ρ = γ − uᵀz and R = (a − b) − y).  The class is the most probable one, as in
    `KernelFisherDiscriminant`.

    ======================== ====================================================
    in the paper             here
    ======================== ====================================================
    k, σ²                    ``kernel``; ``gamma`` = 1/(2σ²), or ``"variance"``
    μ                        ``alpha``
    ε                        ``tol``, with ``stop_rule="printed"``
    N, eq. (6)               ``criterion="within"``, ``scatter="sum"``
    significant nodes        ``support_``, ``X_fit_``
    J_s                      ``criterion_path_``
    α                        ``dual_coef_[:, 0]``
    f₁, f₂, eq. (22)         ``rule="nearest_mean"``
    ======================== ====================================================

    Parameters
    ----------
    kernel : {"auto", "rbf", "exponential", "laplacian", "poly", "linear"} or callable, \
            default="auto"
        As in `KernelFisherDiscriminant`; "auto" chooses on at most 1 000 rows.
    gamma : "loo", "scale", "variance" or float, default="loo"
        Width of the kernel.  "loo" takes the least squared leave-one-out error on at most 6 000
        rows with 400 random landmarks, over a ladder that widens as needed.  "scale" and "variance"
        are as in `KernelFisherDiscriminant`, of the sample.
    alpha : "auto", "gcv", "loo" or float, default="auto"
        Ridge.  "gcv" takes it from generalised cross-validation, which needs no row again, "loo"
        from leave-one-out; "auto" is "loo" above one node for five rows, else "gcv".
    column_scales : "auto", "loo", None or array-like of shape (n_features,), default="auto"
        As in `KernelFisherDiscriminant`.
    max_nodes : "auto" or int, default="auto"
        Most nodes to take; "auto" is 500, 1 000 from 10 classes and 2 000 above 20; from 5 000 rows
        on one for ten rows if that is more, at most 2 000 and, above 62 500 rows, √(2.5·10¹¹/rows).
    tol : float, default=1e-6
        Gain of a node in the criterion below which no more are taken; 0 takes `max_nodes`.
    stop_rule : {"window", "printed"}, default="window"
        "window" stops where ten nodes together raise the criterion by less than ten times `tol`,
        and leaves these ten out, because single gains are not monotone.  "printed" stops at the
        first node that raises it by less than `tol`, and keeps that node, as in the paper.
    n_candidates : "auto", int or None, default="auto"
        Rows of the sample that may become nodes: a random subset, classes ∝ √n.  "auto" takes
        2 000, above 10 classes 4 000, and at least two for a node; None takes all of them.
    criterion : {"auto", "within", "total"}, default="auto"
        Scatter in the criterion: within the classes as in the paper, or about the overall mean,
        which is better for several classes at few nodes.  "auto" is "within" for two classes.
    node_choice : {"all", "loo", "validation"}, default="all"
        Keep all nodes taken, or as many as score best in leave-one-out (a little optimistic: the
        nodes were chosen with all rows) or on a part of the rows that is held out for this and
        then added to the fit.
    validation_fraction : float, default=0.1
        Size of that part.
    penalty : {"rkhs", "coef"}, default="rkhs"
        What the ridge multiplies: αᵀKα or, as in the paper, αᵀα.
    scatter : {"total", "class", "sum"}, default="total"
        Scale of N, as in `KernelFisherDiscriminant`.
    rule : {"gaussian", "nearest_mean"}, default="gaussian"
        As in `KernelFisherDiscriminant`.
    priors : array-like of shape (n_classes,), "uniform" or None, default=None
        Priors in the threshold; None takes the weighted shares of the classes.  A class of prior 0
        is never chosen.
    class_weight : "balanced", dict or None, default=None
        Factors on the rows of each class, in the scatter, in the priors and in scores.
    n_components : int, default=None
        Number of discriminants that `transform` returns, at most C − 1 (None).
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        Score by which ``alpha="loo"`` and ``node_choice`` choose.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant term of "poly".
    calibration : {"loo"} or None, default="loo"
        How sure probabilities are.  "loo" divides their logarithms by the temperature that gives
        the classes of left-out rows the best odds, on at most 10 000 rows, and so
        `decision_function`; no prediction changes.  The nodes were chosen with these rows: where
        they are many for each row, probabilities stay too sure.  None takes the Gaussians at their
        word.  `partial_fit` calibrates whenever it chooses nodes.
    search_seconds : float, default=None
        After so many seconds no further kernel is tried; those at work are finished.  None tries
        all.
    random_state : int, RandomState or None, default=None
        For the sample, the landmarks and the candidates.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    priors_ : ndarray of shape (n_classes,)
        As used.
    kernel_, column_scales_, column_shares_, choice_
        As in `KernelFisherDiscriminant`.
    gamma_ : float or None
        Width, where the kernel has one.
    alpha_ : float
        Ridge.
    temperature_ : float
        What the logarithms of probabilities were divided by; 1 without calibration.
    support_ : ndarray of int of shape (n_nodes,)
        Rows that are nodes, in the order in which they were taken.
    X_fit_ : ndarray of shape (n_nodes, n_features)
        The nodes.
    n_nodes_ : int
        How many nodes there are.
    criterion_path_ : ndarray of shape (n_nodes,)
        J after each node, on the sample; the paper's J for two classes and "within".
    dual_coef_ : ndarray of shape (n_nodes, n_classes − 1)
        Coefficients of the discriminants, strongest first.
    eigenvalues_ : ndarray of shape (n_classes − 1,)
        The criterion of each discriminant.
    loo_results_ : dict
        The leave-one-out surface of the sample, only with ``gamma="loo"``; its "rows" says how
        many rows that has, its "kernels" which were tried: none where the kernel
        was given.
    node_results_ : dict
        "n_nodes" and "score"; only where `node_choice` is not "all".
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    KernelFisherDiscriminant : All rows; better up to some ten thousand.

    Notes
    -----
    With n rows, s nodes, a sample of n' ≤ 10 000 rows and l candidates: time O(n'·l² + s²·l) for
    the nodes and O(n·s²) for the rows, on all cores; memory O(l² + s²) beside the table, blocks
    of rows excepted.  Above 10 000 rows of NumPy kernels are computed in float32 and added up
    in float64: a float32 Gram matrix fails below a ridge of 10⁻⁶.

    Through scikit-learn's array API dispatch, rows may be torch tensors: everything is computed on
    their device then, in float64 and in blocks within ``working_memory``, and fitted arrays
    and answers are tensors there.  Labels pass through NumPy.

    `predict_set` goes by the left-out scores of the sample's rows; nodes were chosen with them.

    The threshold follows from the same moments.  Leave-one-out means and variance are had from
    those of the fit by the mean leverage of a row, as in generalised cross-validation.

    Departures from the paper: several classes, the penalty αᵀKα, the stop rule, candidates and
    width from a sample, priors in the threshold.  With ``penalty="coef"``, ``criterion="within"``,
    ``n_candidates=None`` and a number for ``alpha`` the nodes are the paper's, in its order; with
    ``stop_rule="printed"``, ``rule="nearest_mean"`` and ``gamma="variance"`` so are the rest.

    References
    ----------
    .. [1] Y. Xu, J.-y. Yang, J. Yang (2004). A reformative kernel Fisher discriminant analysis.
       Pattern Recognition 37, 1299-1302. https://doi.org/10.1016/j.patcog.2003.10.006

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer.discriminants import SparseKernelFisherDiscriminant
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseKernelFisherDiscriminant(max_nodes=50, random_state=0)
    >>> float(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])) > 0.93
    True
    >>> model.X_fit_.shape
    (50, 64)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(KERNEL_NAMES), callable],
        "gamma": [
            StrOptions({"loo", "scale", "variance"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "alpha": [StrOptions({"auto", "gcv", "loo"}), Interval(Real, 0, None, closed="neither")],
        "column_scales": [StrOptions({"auto", "loo"}), "array-like", None],
        "max_nodes": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "stop_rule": [StrOptions({"window", "printed"})],
        "n_candidates": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "criterion": [StrOptions({"auto", "within", "total"})],
        "node_choice": [StrOptions({"all", "loo", "validation"})],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "penalty": [StrOptions({"rkhs", "coef"})],
        "scatter": [StrOptions({"class", "total", "sum"})],
        "rule": [StrOptions({"gaussian", "nearest_mean"})],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "calibration": [StrOptions({"loo"}), None],
        "search_seconds": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        kernel: str | Callable[..., Any] = "auto",
        gamma: float | str = "loo",
        alpha: float | str = "auto",
        column_scales: Any = "auto",
        max_nodes: int | str = "auto",
        tol: float = 1e-6,
        stop_rule: StopRule = "window",
        n_candidates: int | str | None = "auto",
        criterion: str = "auto",
        node_choice: str = "all",
        validation_fraction: float = 0.1,
        penalty: str = "rkhs",
        scatter: str = "total",
        rule: str = "gaussian",
        priors: Any = None,
        class_weight: str | Mapping[Any, float] | None = None,
        n_components: int | None = None,
        scoring: str = "accuracy",
        degree: float = 3,
        coef0: float = 1.0,
        calibration: str | None = "loo",
        search_seconds: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.column_scales = column_scales
        self.max_nodes = max_nodes
        self.tol = tol
        self.stop_rule = stop_rule
        self.n_candidates = n_candidates
        self.criterion = criterion
        self.node_choice = node_choice
        self.validation_fraction = validation_fraction
        self.penalty = penalty
        self.scatter = scatter
        self.rule = rule
        self.priors = priors
        self.class_weight = class_weight
        self.n_components = n_components
        self.scoring = scoring
        self.degree = degree
        self.coef0 = coef0
        self.calibration = calibration
        self.search_seconds = search_seconds
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose width, nodes and ridge, and add up all rows in one pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; float32 is not copied.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers say how often each row counts: 2 is the same as the row twice.  Others
            are relative: a common factor changes nothing.

        Returns
        -------
        SparseKernelFisherDiscriminant
            Itself.
        """
        X, y = validate_rows(self, X, y, double=False)
        with explain_full_device(f"a fit on {X.shape[0]} rows"):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: Array, y: Array, sample_weight: Any) -> Self:
        """Fit validated rows."""
        sample, n_rows = sample_of(self, X, y, sample_weight), X.shape[0]
        self._check_components(sample.n_classes)
        X = sample.X

        in_class = class_sums(sample.codes, sample.weights, sample.n_classes)
        class_weight = check_class_weight(self.class_weight, to_numpy(self.classes_), in_class)
        coding = encode(sample, class_weight, self.scatter)
        self._set_priors(in_class * class_weight, X)

        rng = check_random_state(self.random_state)
        if self.node_choice == "validation":
            sampled, nodes, n_nodes = self._fit_and_validate(X, coding, rng)
        else:
            sampled, nodes = self._choose(X, coding, rng)
            self._add_up(X, coding)
            self._path = self._solve(X, coding)
            n_nodes = len(self._path)
            if self.node_choice == "loo":
                n_nodes = self._count_by_leave_one_out(X, coding, rng)
        self._set_support(sample.rows[nodes], sample.codes[nodes], X)
        units = (coding.weights * coding.removed)[sampled]
        drawn = take_rows(X, sampled), coding.take(sampled), units
        outputs, judged = self._leave_out(*drawn, n_nodes)
        self._finish(n_nodes, self._calibrate(outputs, judged, n_nodes, in_class))
        self._state = BlockState(in_class, n_rows)  # so that partial_fit can follow
        return self

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions of the fits on the first 1, 2, … nodes, up to all of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows; those of a Dask array are loaded.

        Yields
        ------
        ndarray of shape (n_samples,)
            Predictions; the last are those of `predict`.
        """
        check_is_fitted(self)
        X = dense_rows(check_new_rows(self, in_memory(X), self._fitted, double=True))
        latent = self._path.latent(self._kernel.matrix(X, self.X_fit_))
        outputs = 0.0
        for n_nodes in range(1, self.n_nodes_ + 1):
            outputs = outputs + latent[:, n_nodes - 1, None] * self._path.q[n_nodes - 1, :]
            scores = self._path.rule(n_nodes, log_priors(self.priors_)).scores(outputs)
            yield self._labels(scores)

    def _set_priors(self, in_class: NDArray[np.float64], X: Array) -> None:
        """Set the priors of classes with these weights, on the device of the rows."""
        priors = self._resolve_priors(in_class)
        self.priors_ = like(priors, X, dtype=array_namespace(X).float64)

    def _set_support(self, rows: NDArray[np.intp], codes: NDArray[np.intp], X: Array) -> None:
        """Set the row numbers of the nodes, on the device of the rows, and their classes."""
        self._codes = codes
        self.support_ = like(rows, X, dtype=array_namespace(X).int64)

    def _choose(
        self, X: Array, coding: Coding, rng: np.random.RandomState, n_rows: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Choose kernel and nodes on a sample; return its rows, and those that became nodes.

        `n_rows` is how many rows there are where these are a sample of them.
        """
        xp: Any = array_namespace(X)
        sampled = stratified_rows(coding.labels, _SAMPLE_ROWS, _SAMPLE_POWER, rng)
        sample = coding.take(sampled)
        X = xp.astype(take_rows(X, sampled), xp.float64, copy=False)
        self.__dict__.pop("loo_results_", None)  # of an earlier fit
        given = None if isinstance(self.alpha, str) else float(self.alpha) / sample.scale
        criterion = Criterion(log_priors(self.priors_), self.scoring, self.penalty, given)
        candidates, trials = Candidates.of(self, X, sample.counts), []
        if candidates.is_choice:
            seconds = self.search_seconds
            trials = candidates.try_all(X, sample, criterion, seconds, _TRIAL_ROWS)
        kernel = trials[0].kernel if trials else candidates.kernels[0]
        if candidates.searches_width:
            options = (log_priors(self.priors_), self.scoring, self.penalty, rng)
            tuned = tune_width(kernel, X, sample, *options)
            kernel = kernel.with_gamma(tuned.gamma)
            self.loo_results_ = {**tuned.results, "kernels": [one.summary() for one in trials]}
        self._set_kernel(kernel, candidates, trials, X, sample.rule_weights)

        far = X[int(xp.argmax(xp.max(xp.abs(X), axis=1))) :, :][:1, :]
        kernel.check_range(kernel.matrix(far, far))
        self._scale = sample.scale
        self._ridge_unit = float(xp.mean(xp.linalg.diagonal(kernel.matrix(X[:64, :], X[:64, :]))))
        n_classes, n_rows = len(sample.shares), len(coding.labels) if n_rows is None else n_rows
        size = NodeLimits.resolve(self.max_nodes, self.n_candidates, n_classes, n_rows)
        nodes = choose_nodes(
            kernel,
            X,
            sample,
            alpha=self._given_alpha() or _SELECTION_RIDGE * self._ridge_unit,
            penalty=self.penalty,
            criterion=self._resolve_criterion(),
            max_nodes=size.max_nodes,
            tol=self.tol,
            stop_rule=self.stop_rule,
            n_candidates=size.n_candidates,
            rng=rng,
        )
        self.criterion_path_ = like(nodes.criterion, X)
        self.X_fit_ = take_rows(X, nodes.rows)
        shift = near_mean(kernel.matrix(X[:1000, :], self.X_fit_), sample.weights[:1000])
        self._moments = Moments.empty(len(sample.shares), shift)
        return sampled, sampled[nodes.rows]

    def _given_alpha(self) -> float | None:
        """Return the ridge relative to the normalised scatter, if it is a number."""
        if isinstance(self.alpha, str):
            return None
        return float(given_ridge(float(self.alpha) / self._scale, self._ridge_unit)[0])

    def _resolve_criterion(self) -> str:
        """Return the scatter that nodes are chosen by."""
        if self.criterion != "auto":
            return self.criterion
        return "within" if self.priors_.shape[0] == 2 else "total"

    def _add_up(self, X: NDArray[Any], coding: Coding) -> None:
        """Add rows to the moments of the nodes; long tables of NumPy in single precision."""
        kernel, nodes = self._kernel, self.X_fit_

        def double(rows: slice) -> Array:
            return kernel.matrix(X[rows, :], nodes)

        # On a GPU the products take longer than the kernels, so that double precision costs little.
        is_long = len(X) > _LONG_TABLE and kernel.kernel == "rbf" and is_numpy_array(X)
        block = self._single_block(X) if is_long else double
        coding = coding.like(X)
        weights = coding.weights * coding.total  # so that moments of later blocks can be added
        accumulate(self._moments, block, coding.labels, weights, coding.observations)

    def _single_block(self, X: NDArray[Any]) -> Callable[[slice], Array]:
        """Return a function that computes kernels of rows with the nodes in single precision."""
        kernel, centre = self._kernel, self.X_fit_.mean(axis=0)
        near = np.asarray(self.X_fit_ - centre, dtype=np.float32)

        def single(rows: slice) -> Array:
            return kernel.single_precision_matrix(
                np.subtract(X[rows], centre, dtype=np.float32), near
            )

        return single

    def _solve(self, X: Array | None, coding: Coding | None) -> NodePath:
        """Choose the ridge and factor the problem for every number of nodes.

        The rows are needed only if the ridge is chosen by leave-one-out.
        """
        moments, nodes = self._moments, self.X_fit_
        xp = array_namespace(nodes)
        if self.penalty == "rkhs":
            R, unit = self._kernel.matrix(nodes, nodes), self._ridge_unit
        else:
            R = xp.eye(nodes.shape[0], dtype=xp.float64, device=device(nodes))
            unit = float(xp.linalg.trace(moments.total_scatter()))
        alphas = ridge_path(unit)
        alpha = self._given_alpha()
        if alpha is None and X is not None and coding is not None and self._ridge_by_loo():
            K, coding = self._kernel.matrix(X, nodes), coding.like(X)
            basis, _ = landmark_basis(K, R, coding.weights, self.penalty)
            options = (coding, log_priors(self.priors_), self.scoring)
            leverages = _leverages(basis, alphas, coding)
            # Of nearly interpolated rows rounding is left, and no threshold follows from that.
            kept = leverages <= max(MOST_LEVERAGE, leverages.min())
            alpha = tune(lambda _: (basis, alphas[kept]), 1.0, *options).alpha
            leverage = float(leverages[alphas == alpha][0])
            path = solve_path(moments, R, alpha).with_leverage(min(leverage, MOST_LEVERAGE))
        else:
            if alpha is None:
                alpha = float(alphas[np.argmin(gcv_path(moments, R, alphas))])
            path = solve_path(moments, R, alpha)
        return replace(path, of_fitted=self.rule == "nearest_mean")

    def _ridge_by_loo(self) -> bool:
        """Tell whether the ridge is chosen by leave-one-out rather than by GCV."""
        if self.alpha == "auto":
            return bool(self.X_fit_.shape[0] > _MANY_NODES * self._moments.count)
        return self.alpha == "loo"

    def _count_by_leave_one_out(self, X: Array, coding: Coding, rng: np.random.RandomState) -> int:
        """Return the node count with the best leave-one-out score on a sample of the rows."""
        rows = stratified_rows(coding.labels, _SAMPLE_ROWS, _SAMPLE_POWER, rng)
        K = self._kernel.matrix(take_rows(X, rows), self.X_fit_)
        units = (coding.weights * coding.removed)[rows]
        sample, units = coding.take(rows).like(K), like(units, K)
        options = (log_priors(self.priors_), self.scoring)
        return self._best_count(left_out_scores(self._path, K, sample, units, *options))

    def _leave_out(
        self, X: Array, coding: Coding, units: NDArray[np.float64], n_nodes: int
    ) -> tuple[Array, Coding]:
        """Return scores of the fit on the first nodes for fitted rows that are left out.

        `coding` and `units`, the share of each row in the weight of the fit, are NumPy's.  Of rows
        that are nearly interpolated, such as nodes of a kernel with a cusp, rounding is left: in
        the coding that is returned they do not count.
        """
        xp = array_namespace(X)
        found: list[tuple[Array, Array]] = []
        bytes_per_row = 4 * 8 * self.X_fit_.shape[0]  # kernels, coordinates and their squares
        for start, stop in row_slabs(X.shape[0], bytes_per_row, working_memory() // 2):
            K, rows = self._kernel.matrix(X[start:stop, :], self.X_fit_), np.arange(start, stop)
            part, share = coding.part(rows).like(K), like(units[rows], K)
            found += left_out_outputs(self._path, K, part, share, [n_nodes])
        outputs, left = (xp.concat(parts) for parts in zip(*found, strict=True))
        weights = np.where(to_numpy(left) > 1.0 - MOST_LEVERAGE, coding.rule_weights, 0.0)
        return outputs, replace(coding, rule_weights=weights)

    def _calibrate(
        self, outputs: Array, judged: Coding, n_nodes: int, in_class: NDArray[np.float64]
    ) -> float:
        """Return the temperature of the fit on the first nodes, from what `_leave_out` returned.

        `in_class` is the sample weight of each class.  The scores of these rows are kept for sets.
        """
        priors = log_priors(self.priors_)
        rule, temperature = self._path.rule(n_nodes, priors), 1.0
        if self.calibration is not None:
            temperature = rule.calibrate(outputs, judged.like(outputs), priors)
        known = np.where(judged.rule_weights > 0, judged.stands_for(in_class), 0.0)
        scores = rule.scores(outputs) / temperature
        self._left_out = LeftOutScores.of(scores, judged.like(outputs).labels, known)
        return temperature

    def _fit_and_validate(
        self, X: Array, coding: Coding, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], int]:
        """Fit without a part of the rows, count nodes on that part, then add it to the fit.

        Returns the rows of the sample, those that became nodes, and how many of them to keep.
        """
        n_rows = X.shape[0]
        size = max(n_rows - int(self.validation_fraction * n_rows), len(coding.shares))
        kept = stratified_rows(coding.labels, size, 1.0, rng)
        held_out = np.setdiff1d(np.arange(n_rows), kept)
        if len(held_out) == 0:
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {n_rows} rows leaves none to "
                "choose the number of nodes on."
            )
        fitted, new = take_rows(X, kept), take_rows(X, held_out)
        sampled, nodes = (kept[rows] for rows in self._choose(fitted, coding.take(kept), rng))
        self._add_up(fitted, coding.part(kept))
        self._path = self._solve(fitted, coding.take(kept))
        K, part = self._kernel.matrix(new, self.X_fit_), coding.part(held_out)
        options = (log_priors(self.priors_), self.scoring)
        n_nodes = self._best_count(held_out_scores(self._path, K, part.like(K), *options))
        self._add_up(new, part)
        self._path = self._solve(X, coding)
        return sampled, nodes, n_nodes

    def _best_count(self, score: NDArray[np.float64]) -> int:
        """Set `node_results_`, and return the fewest nodes with the best score."""
        counts = count_grid(len(self._path))
        self.node_results_ = {"n_nodes": counts, "score": score}
        return int(counts[fewest_best(score)])

    def _finish(self, n_nodes: int, temperature: float) -> None:
        """Set the fitted attributes of the fit on the first nodes."""
        path = self._path = self._path.head(n_nodes)
        self.n_nodes_ = n_nodes
        self.alpha_ = path.alpha * self._scale
        self.X_fit_ = self.X_fit_[:n_nodes, :]
        self.support_, self._codes = self.support_[:n_nodes], self._codes[:n_nodes]
        self.criterion_path_ = self.criterion_path_[:n_nodes]
        coef = path.coefficients(n_nodes)
        rule = path.rule(n_nodes, log_priors(self.priors_))
        xp, n_outputs = array_namespace(coef), coef.shape[1]
        one = xp.eye(n_outputs, dtype=xp.float64, device=device(coef))
        unexplained = one - path.explained(n_nodes)
        found = rotate(unexplained, path.shares, self._scale)
        self.eigenvalues_ = found.eigenvalues
        self.dual_coef_ = coef @ found.rotation
        # The regression's outputs are k(x)·coef − mean·coef.
        rule_coef, intercept = (like(A, coef) for A in (rule.coef, rule.intercept))
        intercept = intercept - path.mean @ coef @ rule_coef
        self._set_rule(found.inverse @ rule_coef, intercept, temperature)


def _leverages(basis: RidgeBasis, alphas: FloatArray, coding: Coding) -> FloatArray:
    """Return h of every ridge, so that errors of left-out rows are those of the fit over 1 − h.

    The mean leverage would do if all rows had the same.  Rows that are nodes of a kernel with a
    cusp have nearly one.
    """
    targets = coding.targets
    outputs = basis.leave_one_out(targets, alphas, coding.removed)
    squares = (to_numpy((targets - output) ** 2).sum(axis=2) for output in outputs)
    left_out, fitted = (square @ to_numpy(coding.weights) for square in squares)
    share = np.divide(fitted, left_out, out=np.ones_like(fitted), where=left_out > 0)
    return np.asarray(1.0 - np.sqrt(np.minimum(share, 1.0)))

"""All rows, without their matrix: conjugate gradients on products that the engine computes.

The problem is that of `mercer.spectral`: with A the weighted kernel matrix, (A + αI)V = √p·[T 1] is
solved for the targets T and the level.  What steers the steps depends on the rows and the memory:

half of the matrix fits   its Cholesky factor in float32; two or three steps, and leverages to
                          single precision
more rows                 some columns and blocks of neighbours (`NystromBlocks`); leverages are
                          those of that approximation, corrected by random signs: for z of ±1,
                          z·(P − M⁻¹)z has the diagonal of P − M⁻¹ as its mean
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device
from sklearn.exceptions import ConvergenceWarning

from mercer._arrays import Array, FloatArray, like
from mercer._memory import budget_for, is_on_gpu, row_slabs, working_memory
from mercer.discriminants._coding import Coding
from mercer.discriminants._expansion import (
    Expansion,
    climb_samples,
    tune_ridge,
    with_chosen_width,
)
from mercer.discriminants._trial import Criterion, Trial
from mercer.discriminants._tuning import given_ridge, ridge_path
from mercer.kernels import KernelFunction
from mercer.spectral import (
    NotPositiveError,
    NystromBlocks,
    PanelFactor,
    RidgeAnswer,
    Solution,
    conjugate_gradients,
    most_panel_rows,
    split_in_neighbours,
)
from mercer.sums import kernel_products

# Pairs of rows up to which "auto" solves for all rows: some 50 000 of them on a processor, and two
# million on a GPU.  A product of the matrix takes seconds there.
_MOST_PAIRS = {False: 2.5e9, True: 4e12}
# On a GPU, more rows than this are quicker by approximation than by a factor.
_MOST_FACTORED_ON_GPU = 60_000
# What is added to a unit diagonal if it is not positive in single precision.
_SHIFTS = (1e-6, 1e-5, 1e-4, 1e-3)
# Rows of a block of neighbours, and the most columns; both within the memory budget.
_BLOCK_ROWS, _MOST_COLUMNS = 1000, 6000
# Products that the columns may cost, n·rank², on a processor and on a GPU.
_MOST_PRODUCTS = {False: 5e11, True: 4e13}
# Random signs for leverages, and the residual to which they are solved.
_N_PROBES, _PROBE_TOL = 16, 3e-2
# Steps over which the left-out error must stand still, by how many times the tolerance, and at
# which residual at most: a solution that hardly moves may still be far away.
_STILL_STEPS, _STILL, _STILL_RESIDUAL = 3, 10.0, 0.06
# Residuals relative to the right-hand sides are not smaller than this in float64.
_LEAST_TOL = 1e-14


def most_iterative_rows(X: Array) -> int:
    """Return up to how many rows "auto" solves for all of them."""
    return int(np.sqrt(_MOST_PAIRS[is_on_gpu(X)]))


@dataclass(frozen=True)
class Effort:
    """How far an iterative solution goes.

    Attributes
    ----------
    tol : float
        It ends when the residuals are this share of the targets, or when they are small and the
        squared error of left-out rows changes by less than ten times this share in three steps.
    max_iter : int
        Most steps.
    verbose : bool
        Whether each step is printed.
    """

    tol: float
    max_iter: int
    verbose: bool


def expand_iteratively(
    trial: Trial,
    criterion: Criterion,
    coding: Coding,
    X: Array,
    effort: Effort,
    share_rows: Callable[[Array], Array] | None = None,
) -> Expansion:
    """Expand on all rows by conjugate gradients, at the ridge that is best for all of them.

    `share_rows` puts rows where their sums are computed: in the blocks of a Dask array.
    """
    trial = climb_samples(trial, X, coding, criterion)
    coding = coding.like(X)
    rows = _Rows.of(trial.kernel, X, coding.weights, share_rows)
    unit = float(array_namespace(X).mean(rows.diagonal))
    alphas = ridge_path(unit) if criterion.alpha is None else given_ridge(criterion.alpha, unit)
    solver = _Solver(rows, unit, coding.targets, effort)
    # Estimates of leverages do not tell neighbouring ridges apart.
    most = 2 if rows.is_factored else 1
    tuned = tune_ridge(trial, alphas, solver.solve, coding, criterion, most)
    solver.warn_of(tuned.alpha)
    coef = tuned.basis.coefficients(coding.targets, tuned.alpha)
    level = coding.weights @ rows.products(coef)
    tuned = replace(tuned, results=with_chosen_width(trial.surface, tuned.results))
    return Expansion(trial.kernel, tuned, coef, level, solver.n_steps, rows.is_single)


@dataclass(frozen=True)
class _Rows:
    """The kernel matrix of all rows, by its products and by single entries.

    Attributes
    ----------
    kernel : KernelFunction
        Of the rows as they are here.
    X : array of shape (n_rows, n_features)
        In float32 where kernels are summed so, about their mean.
    shared : array or Dask array
        The same rows, where sums over all of them are computed.
    diagonal, root : arrays of shape (n_rows,)
        Of the kernel matrix, and √p.
    is_factored : bool
        Whether half of the matrix fits the memory, and is factored.
    is_single : bool
        Whether kernels are summed in float32: a GPU is far quicker there, and the steps without a
        factor are many.
    """

    kernel: KernelFunction
    X: Array
    shared: Any
    diagonal: Array
    root: Array
    is_factored: bool
    is_single: bool

    @classmethod
    def of(
        cls,
        kernel: KernelFunction,
        X: Array,
        weights: Array,
        share_rows: Callable[[Array], Array] | None,
    ) -> "_Rows":
        xp: Any = array_namespace(X)
        diagonal, on_gpu, by_distance = kernel.diagonal(X), is_on_gpu(X), kernel.is_of_distance
        # Asked once: the free memory of a GPU changes.
        most = most_panel_rows(budget_for(X))
        is_factored = X.shape[0] <= (min(most, _MOST_FACTORED_ON_GPU) if on_gpu else most)
        is_single = by_distance and on_gpu and not is_factored
        if by_distance:  # Other kernels depend on where zero is.
            X = kernel.scaled(X - xp.mean(X, axis=0))
            kernel = replace(kernel, scales=None)
            X = xp.astype(X, xp.float32) if is_single else X
        # Only the engine sums over blocks.
        shared = share_rows(X) if share_rows is not None and by_distance else X
        return cls(kernel, X, shared, diagonal, xp.sqrt(weights), is_factored, is_single)

    def products(self, coef: Array) -> Array:
        """Return K·coef in float64."""
        return kernel_products(self.kernel, self.shared, coef)

    def entries(self, rows: Array | slice, columns: Array | slice) -> Array:
        """Return entries of K."""
        return self.kernel.matrix(self.X[rows, :], self.X[columns, :])


class _Solver:
    """Solves the problem at one ridge after the other."""

    def __init__(self, rows: _Rows, unit: float, targets: Array, effort: Effort) -> None:
        self.rows, self.unit, self.targets, self.effort = rows, unit, targets, effort
        self.n_steps = 0
        self.doubts: dict[float, str] = {}  # why the solution at a ridge is not to be trusted
        self.is_interrupted = False
        # The solution does not depend on these draws, but for its last digits.
        self.rng = np.random.RandomState(0)

    def solve(self, alpha: float) -> RidgeAnswer | None:
        """Return the solution at a ridge, or None where there is none."""
        if self.is_interrupted:
            return None
        root, rows = self.rows.root, self.rows
        xp, n_targets = array_namespace(root), self.targets.shape[1]
        try:
            steer = self._preconditioner(alpha)
            if steer is None:
                return None
            level = root[:, None]
            wanted = [level * self.targets, level]
            # With a large ridge outputs are a small difference of targets and residuals.
            tol = max(_LEAST_TOL, self.effort.tol * min(1.0, self.unit / alpha))
            tols = np.full(n_targets + 1, tol)
            if not steer.is_exact:
                signs = self.rng.randint(0, 2, (root.shape[0], _N_PROBES)) * 2.0 - 1.0
                wanted.append(like(signs, root))
                tols = np.concatenate([tols, np.full(_N_PROBES, max(tol, _PROBE_TOL))])
            B = xp.concat(wanted, axis=1)

            def product(V: Array) -> Array:
                return root[:, None] * rows.products(root[:, None] * V) + alpha * V

            watch = _Watch(n_targets, root, steer, self.effort)
            most = self.effort.max_iter
            found = conjugate_gradients(
                product, steer.solve, B, tol=tols, max_iter=most, watch=watch
            )
        except NotPositiveError:
            return None
        self.n_steps += found.n_steps
        self.is_interrupted = found.ended == "interrupted"
        self._doubt(alpha, found, steer)
        return self._answer(found.X, B, steer, alpha)

    def _preconditioner(self, alpha: float) -> "_Factor | _Approximation | None":
        """Return what steers the steps; None for a ridge that is only tried and not needed."""
        if not self.rows.is_factored:
            return _Approximation.of(self.rows, alpha, self.rng)
        is_first = self.n_steps == 0
        return _Factor.of(self.rows, alpha, may_shift=is_first)

    def _answer(
        self, X: Array, B: Array, steer: "_Factor | _Approximation", alpha: float
    ) -> RidgeAnswer:
        """Take the level out of the solution, and add the leverages."""
        root, n_targets = self.rows.root, self.targets.shape[1]
        xp = array_namespace(root)
        level = X[:, n_targets]
        solution = without_level(X[:, :n_targets], level, root)
        diagonal = steer.inverse_diagonal(X[:, n_targets + 1 :], B[:, n_targets + 1 :])
        complements = alpha * (diagonal - level**2 / (root @ level))
        complements = xp.clip(complements, np.finfo(float).tiny, 1.0)
        return RidgeAnswer(self.targets, solution, complements, alpha, root)

    def _doubt(self, alpha: float, found: Solution, steer: "_Factor | _Approximation") -> None:
        """Remember what a user should know of the solution at a ridge."""
        residual = found.residuals[: self.targets.shape[1] + 1].max()
        if found.ended in ("interrupted", "max_iter"):
            why = "was interrupted" if self.is_interrupted else "used up its steps (max_iter)"
            self.doubts[alpha] = (
                f"The iterative solution {why} at a residual of {residual:.2g}, for tol="
                f"{self.effort.tol:g}: what was reached so far is the answer."
            )
        elif isinstance(steer, _Factor) and not steer.is_exact:
            self.doubts[alpha] = (
                f"The kernel matrix at the ridge {alpha:.2g} is not positive in single precision: "
                "the discriminants are right, but leverages for the threshold are estimates. Give "
                "a larger alpha, or solver='exact'."
            )

    def warn_of(self, alpha: float) -> None:
        """Warn where the solution at this ridge is not to be trusted."""
        if alpha in self.doubts:
            warnings.warn(self.doubts[alpha], ConvergenceWarning, stacklevel=9)


def without_level(solution: Array, level: Array, root: Array) -> Array:
    """Return solutions of (A + αI)V = B projected on the complement of √p: the free intercept."""
    return solution - level[:, None] * ((root @ solution) / (root @ level))


@dataclass(frozen=True)
class _Scaled:
    """The matrix S = s(√p K √p + αI)s, whose diagonal is one.

    Attributes
    ----------
    rows : _Rows
    scale : array of shape (n_rows,)
        s.
    outer : array of shape (n_rows,)
        s·√p: entries of S beside the diagonal are outerᵢ Kᵢⱼ outerⱼ.
    ridge : array of shape (n_rows,)
        s²α.
    """

    rows: _Rows
    scale: Array
    outer: Array
    ridge: Array

    @classmethod
    def of(cls, rows: _Rows, alpha: float) -> "_Scaled":
        scale = (rows.root**2 * rows.diagonal + alpha) ** -0.5
        return cls(rows, scale, scale * rows.root, scale**2 * alpha)

    def entries(self, at: Array | slice, columns: Array | slice) -> Array:
        """Return entries of S − ridge."""
        K = self.rows.entries(at, columns)
        K = K * like(self.outer[at][:, None], K)  # not in place: it may be a user's own array
        K *= like(self.outer[columns], K)
        return K


class _Factor:
    """Half of the matrix, factored; in float32 where that is enough."""

    def __init__(self, factor: PanelFactor, scaled: _Scaled, is_exact: bool) -> None:
        self._factor, self._scale, self.is_exact = factor, scaled.scale, is_exact

    @classmethod
    def of(cls, rows: _Rows, alpha: float, may_shift: bool) -> "_Factor | None":
        """Factor the matrix, in float64 if it is not positive in float32 and there is room.

        Where neither serves, something is added to its diagonal, if that is allowed.
        """
        scaled, n_rows = _Scaled.of(rows, alpha), rows.X.shape[0]
        xp: Any = array_namespace(rows.X)

        def lower(dtype: Any, shift: float, columns: slice) -> Array:
            start, width = columns.start, columns.stop - columns.start
            panel = xp.empty((n_rows - start, width), dtype=dtype, device=device(rows.X))
            for first, last in row_slabs(n_rows - start, 24 * width, working_memory() // 8):
                at = slice(start + first, start + last)
                panel[first:last, :] = xp.astype(scaled.entries(at, columns), dtype)
            own = xp.arange(width, device=device(panel))
            panel[own, own] = 1.0 + shift
            return panel

        ways = [(xp.float32, 0.0)]
        if n_rows <= most_panel_rows(budget_for(rows.X), 8):
            ways.append((xp.float64, 0.0))
        if may_shift:
            ways += [(xp.float32, shift) for shift in _SHIFTS]
        for dtype, shift in ways:
            factor = PanelFactor.of(partial(lower, dtype, shift), n_rows)
            if factor is not None:
                return cls(factor, scaled, shift == 0)
        return None

    def solve(self, B: Array) -> Array:
        """Return nearly (A + αI)⁻¹B."""
        scale = self._scale[:, None]
        return scale * self._factor.solve(scale * B)

    def inverse_diagonal(self, solved: Array, probes: Array) -> Array:
        """Return the diagonal of (A + αI)⁻¹; the factor is used up."""
        own = None if self.is_exact else self.solve(probes)
        own_diagonal = self._factor.take_inverse_diagonal()
        diagonal = self._scale**2 * array_namespace(own_diagonal).clip(own_diagonal, 1.0, None)
        return diagonal if own is None else corrected(diagonal, probes * (solved - own))


class _Approximation:
    """Some columns and blocks of neighbours."""

    is_exact: ClassVar[bool] = False

    def __init__(self, approximation: NystromBlocks, scaled: _Scaled) -> None:
        self._approximation, self._scale = approximation, scaled.scale
        self.diagonal = scaled.scale**2 * approximation.inverse_diagonal()

    @classmethod
    def of(cls, rows: _Rows, alpha: float, rng: np.random.RandomState) -> "_Approximation":
        """Approximate the matrix within the memory budget."""
        n_rows, budget = rows.X.shape[0], budget_for(rows.X)
        size = max(1, min(_BLOCK_ROWS, budget // 4 // (4 * n_rows)))
        products = _MOST_PRODUCTS[is_on_gpu(rows.X)]
        most = (budget // 2 // (4 * n_rows), int(np.sqrt(products / n_rows)), n_rows // 4)
        blocks = split_in_neighbours(rows.X, size, rng)
        scaled = _Scaled.of(rows, alpha)
        diagonal = scaled.outer**2 * rows.diagonal
        rank = max(1, min(_MOST_COLUMNS, *most))
        return cls(
            NystromBlocks.of(scaled.entries, diagonal, scaled.ridge, blocks, rank, rng), scaled
        )

    def solve(self, B: Array) -> Array:
        """Return nearly (A + αI)⁻¹B."""
        scale = self._scale[:, None]
        return scale * self._approximation.solve(scale * B)

    def inverse_diagonal(self, solved: Array, probes: Array) -> Array:
        """Return the diagonal of (A + αI)⁻¹, from columns of signs that were solved for."""
        return corrected(self.diagonal, probes * (solved - self.solve(probes)))


def corrected(diagonal: Array, differences: Array) -> Array:
    """Return an approximate diagonal, corrected by unbiased estimates of what is missing.

    Parameters
    ----------
    diagonal : array of shape (n_rows,)
        Positive.
    differences : array of shape (n_rows, n_probes)
        The mean over many probes is what is missing.

    Returns
    -------
    array of shape (n_rows,)
        Few probes say the mean ratio to a fraction of a percent, and that of a row to a tenth or
        so: each is drawn to the mean by the share that is chance in how they vary (empirical
        Bayes).
    """
    xp: Any = array_namespace(diagonal)
    n_probes = differences.shape[1]
    ratios = differences / diagonal[:, None]
    each, mean = xp.mean(ratios, axis=1), float(xp.mean(ratios))
    chance = float(xp.mean(xp.var(ratios, axis=1, correction=1))) / n_probes
    varies = float(xp.var(each))
    trust = max(0.0, 1.0 - chance / varies) if varies > 0 else 0.0
    ratio = 1.0 + mean + trust * (each - mean)
    return diagonal * xp.maximum(ratio, 0.1)  # A diagonal is positive, whatever chance says.


class _Watch:
    """Prints the steps, and ends them where the answers of left-out rows stand still."""

    def __init__(
        self, n_targets: int, root: Array, steer: "_Factor | _Approximation", effort: Effort
    ) -> None:
        self.n_targets, self.root, self.effort = n_targets, root, effort
        self.diagonal = getattr(steer, "diagonal", None)
        self.errors: list[float] = []

    def __call__(self, step: int, X: Array, residuals: FloatArray) -> bool:
        residual = residuals[: self.n_targets + 1].max()
        said = f"step {step}: residual {residual:.2e}"
        if self.diagonal is not None:
            self.errors.append(self._left_out_error(X))
            said += f", squared error of left-out rows {self.errors[-1]:.5f}"
        if self.effort.verbose:
            print(said, flush=True)
        return bool(residual <= _STILL_RESIDUAL) and self._stands_still()

    def _left_out_error(self, X: Array) -> float:
        """Return the squared error of left-out rows, by the diagonal of the approximation."""
        xp, level = array_namespace(X), X[:, self.n_targets]
        solution = without_level(X[:, : self.n_targets], level, self.root)
        own = self.diagonal - level**2 / (self.root @ level)
        return float(xp.sum((solution / own[:, None]) ** 2)) / self.n_targets

    def _stands_still(self) -> bool:
        last = self.errors[-_STILL_STEPS - 1 :]
        if len(last) <= _STILL_STEPS:
            return False
        return max(last) - min(last) <= _STILL * self.effort.tol * min(last)

"""All rows, without their matrix: conjugate gradients on products that the engine computes.

The problem is that of `mercer.spectral`: with A the weighted kernel matrix, (A + αI)V = √p·[T 1] is
solved for the targets T and the level.  What steers the steps depends on the rows and the memory:

half of the matrix fits   its Cholesky factor in float32; two or three steps, and exact leverages
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
from mercer._memory import budget_for, is_on_gpu
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
_MOST_FACTORED_ON_GPU = 100_000
# What is added to a unit diagonal if it is not positive in single precision.
_SHIFTS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3)
# Rows of a block of neighbours, and the most columns; both within the memory budget.
_BLOCK_ROWS, _MOST_COLUMNS = 1000, 6000
# Products that the columns may cost, n·rank², on a processor and on a GPU.
_MOST_PRODUCTS = {False: 5e11, True: 4e13}
# Random signs for leverages, and the residual to which they are solved.
_N_PROBES, _PROBE_TOL = 6, 1e-2
# Steps over which the left-out error must stand still, and by how many times the tolerance.
_STILL_STEPS, _STILL = 3, 10.0


def most_iterative_rows(X: Array) -> int:
    """Return up to how many rows "auto" solves for all of them."""
    return int(np.sqrt(_MOST_PAIRS[is_on_gpu(X)]))


@dataclass(frozen=True)
class Effort:
    """How far an iterative solution goes.

    Attributes
    ----------
    tol : float
        It ends when the residuals are this share of the targets, or when the squared error of
        left-out rows changes by less than ten times this share in three steps.
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
    coding, kernel = coding.like(X), trial.kernel
    diagonal = kernel_diagonal(kernel, X)
    unit = float(array_namespace(X).mean(diagonal))
    alphas = ridge_path(unit) if criterion.alpha is None else given_ridge(criterion.alpha, unit)
    is_single = is_summed_in_single_precision(X)
    rows = _Rows.of(kernel, X, diagonal, coding.weights, is_single, share_rows)
    solver = _Solver(rows, coding.targets, effort)
    # Estimates of leverages do not tell neighbouring ridges apart.
    most = 2 if is_factored(X) else 1
    tuned = tune_ridge(trial, alphas, solver.solve, coding, criterion, most)
    solver.warn_unless_converged()
    coef = tuned.basis.coefficients(coding.targets, tuned.alpha)
    level = coding.weights @ rows.products(coef)
    tuned = replace(tuned, results=with_chosen_width(trial.surface, tuned.results))
    return Expansion(kernel, tuned, coef, level, solver.n_steps)


def is_factored(X: Array) -> bool:
    """Tell whether half of the kernel matrix is factored in float32."""
    most = most_panel_rows(budget_for(X))
    return bool(X.shape[0] <= (min(most, _MOST_FACTORED_ON_GPU) if is_on_gpu(X) else most))


def is_summed_in_single_precision(X: Array) -> bool:
    """Tell whether kernels of all pairs of rows are summed in float32.

    On a GPU the engine is some fifty times as quick there, and where no factor in float32 steers
    the steps, their number makes that count.
    """
    return is_on_gpu(X) and not is_factored(X)


def kernel_diagonal(kernel: KernelFunction, X: Array) -> Array:
    """Return k(xᵢ, xᵢ) of all rows, in float64."""
    xp: Any = array_namespace(X)
    if kernel.kernel in ("linear", "poly"):
        X = kernel.scaled(X)
        return kernel.profile(xp.vecdot(X, X))
    if isinstance(kernel.kernel, str):
        return xp.ones(X.shape[0], dtype=xp.float64, device=device(X))
    blocks = (X[start : start + 256, :] for start in range(0, X.shape[0], 256))
    return xp.concat([xp.linalg.diagonal(kernel.matrix(rows, rows)) for rows in blocks])


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
    """

    kernel: KernelFunction
    X: Array
    shared: Any
    diagonal: Array
    root: Array

    @classmethod
    def of(
        cls,
        kernel: KernelFunction,
        X: Array,
        diagonal: Array,
        weights: Array,
        is_single: bool,
        share_rows: Callable[[Array], Array] | None,
    ) -> "_Rows":
        xp: Any = array_namespace(X)
        if kernel.is_of_distance:
            X = kernel.scaled(X - xp.mean(X, axis=0))
            kernel = replace(kernel, scales=None)
            X = xp.astype(X, xp.float32) if is_single else X
        shared = X if share_rows is None else share_rows(X)
        return cls(kernel, X, shared, diagonal, xp.sqrt(weights))

    def products(self, coef: Array) -> Array:
        """Return K·coef in float64."""
        return kernel_products(self.kernel, self.shared, coef)

    def entries(self, rows: Array | slice, columns: Array | slice) -> Array:
        """Return entries of K."""
        return self.kernel.matrix(self.X[rows, :], self.X[columns, :])


class _Solver:
    """Solves the problem at one ridge after the other."""

    def __init__(self, rows: _Rows, targets: Array, effort: Effort) -> None:
        self.rows, self.targets, self.effort = rows, targets, effort
        self.n_steps = 0
        self.last: Solution | None = None
        # The solution does not depend on these draws, but for its last digits.
        self.rng = np.random.RandomState(0)

    def solve(self, alpha: float) -> RidgeAnswer | None:
        """Return the solution at a ridge, or None where the kernel is not positive."""
        root, rows = self.rows.root, self.rows
        xp = array_namespace(root)
        steer: _Factor | _Approximation | None
        if is_factored(rows.X):
            steer = _Factor.of(rows, alpha)
        else:
            steer = _Approximation.of(rows, alpha, self.rng)
        if steer is None:
            return None
        level = root[:, None]
        wanted = [level * self.targets, level]
        tol = np.full(self.targets.shape[1] + 1, self.effort.tol)
        if not steer.is_exact:
            signs = self.rng.randint(0, 2, (root.shape[0], _N_PROBES)) * 2.0 - 1.0
            wanted.append(like(signs, root))
            tol = np.concatenate([tol, np.full(_N_PROBES, max(self.effort.tol, _PROBE_TOL))])
        B = xp.concat(wanted, axis=1)

        def product(V: Array) -> Array:
            return root[:, None] * rows.products(root[:, None] * V) + alpha * V

        watch = _Watch(self.targets.shape[1], root, steer, self.effort)
        try:
            found = conjugate_gradients(
                product, steer.solve, B, tol=tol, max_iter=self.effort.max_iter, watch=watch
            )
        except NotPositiveError:
            return None
        self.last = found
        self.n_steps += found.n_steps
        return self._answer(found.X, B, steer, alpha)

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

    def warn_unless_converged(self) -> None:
        """Warn where the last solution ended before it was reached."""
        if self.last is None or self.last.ended in ("tol", "watch"):
            return
        residual = self.last.residuals[: self.targets.shape[1] + 1].max()
        why = {
            "interrupted": "was interrupted",
            "max_iter": f"used up max_iter={self.effort.max_iter} steps",
        }[self.last.ended]
        warnings.warn(
            f"The iterative solution {why} at a residual of {residual:.2g}, for tol="
            f"{self.effort.tol:g}: what was reached so far is the answer.",
            ConvergenceWarning,
            stacklevel=2,
        )


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
        K *= like(self.outer[at][:, None], K)
        K *= like(self.outer[columns], K)
        return K


class _Factor:
    """Half of the matrix, factored in float32."""

    def __init__(self, factor: PanelFactor, scaled: _Scaled, is_exact: bool) -> None:
        self._factor, self._scale, self.is_exact = factor, scaled.scale, is_exact

    @classmethod
    def of(cls, rows: _Rows, alpha: float) -> "_Factor | None":
        """Factor the matrix; with something on its diagonal where it is not positive."""
        scaled = _Scaled.of(rows, alpha)
        xp: Any = array_namespace(rows.X)

        def lower(shift: float, columns: slice) -> Array:
            panel = xp.astype(scaled.entries(slice(columns.start, None), columns), xp.float32)
            at = xp.arange(panel.shape[1], device=device(panel))
            panel[at, at] = 1.0 + shift
            return panel

        for shift in _SHIFTS:
            factor = PanelFactor.of(partial(lower, shift), rows.X.shape[0])
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
        diagonal = self._scale**2 * self._factor.take_inverse_diagonal()
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
        return self._stands_still()

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

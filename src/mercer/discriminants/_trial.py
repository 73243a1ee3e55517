"""A kernel on trial: its width and ridge by leave-one-out, on few rows and then on more.

On few rows the whole surface is known, by eigenvectors.  On more, neighbouring widths and ridges of
the best are tried by Cholesky, for as long as they are better.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, take_rows
from mercer.discriminants._coding import Coding
from mercer.discriminants._tuning import (
    RIDGES_PER_DECADE,
    Tuned,
    best_entry,
    evaluate,
    given_ridge,
    ridge_path,
    tie_slack,
    tune,
)
from mercer.discriminants._width import gamma_unit
from mercer.kernels import KernelFunction
from mercer.samples import stratified_rows
from mercer.spectral import RidgeBasis, decompose_kernel, factor_kernel

# Rows of the surface.
SURFACE_ROWS = 500
# Up to this many rows eigenvectors serve every ridge; beyond, Cholesky factors are quicker.
BASIS_ROWS = 1000
# Kernels that are symmetric but for rounding.
_SYMMETRIC = ("rbf", "exponential", "laplacian")


@dataclass(frozen=True)
class Criterion:
    """What kernels are judged by."""

    log_priors: Array
    scoring: str
    penalty: str
    alpha: float | None  # a ridge that the user gave

    def tune(self, gram: "Gram", coding: Coding, gamma: float, search: bool) -> Tuned:
        """Choose width and ridge by eigenvectors; the coding is on the device of the kernel."""
        gammas = (gamma, "loo") if search else gamma
        return tune(gram.decompose_with(coding), gammas, coding, self.log_priors, self.scoring)

    def judge(self, solution: Any, alphas: FloatArray, coding: Coding) -> tuple[Any, Any]:
        """Return leave-one-out score and squared error of every ridge."""
        return evaluate(solution, alphas, coding, self.log_priors, self.scoring)


@dataclass(frozen=True)
class Gram:
    """Gram matrices of some rows at every width, and the ridges to try.

    Under ``penalty="coef"`` the kernel's columns are features: their Gram matrix is K Kᵀ.
    """

    kernel: KernelFunction
    base: Array
    penalty: str
    alpha: float | None

    @classmethod
    def of(
        cls, kernel: KernelFunction, X: Array, rows: NDArray[np.intp] | None, criterion: Criterion
    ) -> "Gram":
        """Return the matrices of a kernel on these rows, or on all of them."""
        part = X if rows is None else take_rows(X, rows)
        if kernel.kernel == "precomputed":
            base = part if rows is None else take_rows(part.T, rows).T
        else:
            base = kernel.base(part, part)
        if not kernel.uses_gamma:
            kernel.check_range(base)
        return cls(kernel, base, criterion.penalty, criterion.alpha)

    def at(self, gamma: float) -> tuple[Array, FloatArray]:
        """Return the Gram matrix and the ridges at this width."""
        K = self.kernel.with_gamma(gamma).profile(self.base)
        self.kernel.check_range(K)
        K = gram_matrix(self.kernel, K, self.penalty)
        unit = float(array_namespace(K).linalg.trace(K)) / K.shape[0]
        return K, ridge_path(unit) if self.alpha is None else given_ridge(self.alpha, unit)

    def decompose_with(self, coding: Coding) -> Any:
        """Return the function from a width to the decomposition and the ridges."""

        def decompose(gamma: float) -> tuple[RidgeBasis, FloatArray]:
            K, alphas = self.at(gamma)
            return decompose_kernel(K, coding.weights), alphas

        return decompose


def gram_matrix(kernel: KernelFunction, K: Array, penalty: str) -> Array:
    """Return the matrix of the ridge regression from the kernel matrix of the same rows."""
    if penalty == "coef":
        return K @ K.T
    return K if kernel.kernel in _SYMMETRIC else (K + K.T) / 2


@dataclass(frozen=True)
class Trial:
    """A kernel at its best width, and what leave-one-out says of it.

    Attributes
    ----------
    kernel : KernelFunction
        With its gamma and scales.
    unit : float
        The middle of its ladder of widths.
    column : int
        Position of its ridge among those of `ridge_path`.
    score, error : float
        Leave-one-out score and squared error.
    rows : int
        On how many rows.
    surface : dict
        The surface of at most 500 rows, as ``loo_results_`` has it.
    searches_width : bool
        Whether another width may be taken.
    """

    kernel: KernelFunction
    unit: float
    column: int
    score: float
    error: float
    rows: int
    surface: dict[str, Any]
    searches_width: bool

    def summary(self) -> dict[str, Any]:
        """Return what `loo_results_` says of the candidate."""
        return {
            "kernel": self.kernel.kernel,
            "has_scales": self.kernel.scales is not None,
            "gamma": self.kernel.gamma,
            "score": self.score,
            "squared_error": self.error,
            "rows": self.rows,
        }


def sample_rows(coding: Coding, size: int) -> NDArray[np.intp]:
    """Return rows with the shares of the classes; smaller samples are parts of larger ones.

    They are the same in every fit, because an expansion on all rows uses no random state.
    """
    return stratified_rows(coding.labels, size, 1.0, np.random.RandomState(0))


def try_on_few(
    kernel: KernelFunction, X: Array, coding: Coding, criterion: Criterion, *, search: bool
) -> Trial:
    """Return the trial of a kernel on at most 500 rows.

    Parameters
    ----------
    kernel : KernelFunction
        The kernel; without `search` it keeps its width.
    X : array of shape (n_rows, n_features)
        Rows, of which a sample is taken.
    coding : Coding
        Their classes and weights, as NumPy arrays.
    criterion : Criterion
        What it is judged by.
    search : bool
        Whether its width is to be found.
    """
    rows = sample_rows(coding, SURFACE_ROWS)
    few, counts = coding.take(rows).like(X), coding.counts[rows]
    gram = Gram.of(kernel, X, rows, criterion)
    unit = gamma_unit(gram.base, counts, counts)
    tuned = criterion.tune(gram, few, unit if search else kernel.gamma, search)
    (rung, column), surface = tuned.results["best_index"], tuned.results
    return Trial(
        kernel.with_gamma(tuned.gamma),
        unit,
        column,
        score=float(surface["score"][rung, column]),
        error=float(surface["squared_error"][rung, column]),
        rows=len(rows),
        surface=surface,
        searches_width=search,
    )


def climb(
    trial: Trial, X: Array, coding: Coding, criterion: Criterion, size: int, most: int
) -> Trial:
    """Return the trial on up to `size` rows, at the best width and ridge that steps lead to.

    More rows allow narrower kernels and need a smaller ridge.  From the best so far, neighbouring
    widths and ridges are tried until none is better, or `most` points were tried.  A kernel that is
    not positive keeps its trial.
    """
    rows = sample_rows(coding, size)
    if len(rows) <= trial.rows:
        return trial
    gram, part = Gram.of(trial.kernel, X, rows, criterion), coding.take(rows).like(X)
    slack, gamma = tie_slack(part), trial.kernel.gamma
    at = (0, ridge_column(trial, len(rows)))
    found: dict[tuple[int, int], tuple[float, float]] = {}
    step: tuple[int, int] | None = at
    while step is not None and len(found) < most:
        K, alphas = gram.at(gamma * 2.0 ** step[0])
        found[step] = _judge_ridge(K, float(alphas[step[1]]), part, criterion)
        score, error = np.array(list(found.values())).T
        at = list(found)[best_entry(score, error, slack)]
        near = [(at[0], at[1] - 1), (at[0] + 1, at[1]), (at[0], at[1] + 1), (at[0] - 1, at[1])]
        if not trial.searches_width:
            near = near[::2]
        step = next((p for p in near if p not in found and 0 <= p[1] < len(alphas)), None)
    (rung, column), (score, error) = at, found[at]
    if error == np.inf:
        return trial
    kernel = trial.kernel.with_gamma(gamma * 2.0**rung)
    return replace(trial, kernel=kernel, column=column, score=score, error=error, rows=len(rows))


def ridge_column(trial: Trial, n_rows: int) -> int:
    """Return the position of a trial's ridge for so many rows.

    The ridge stands beside a mean over the rows, so that it falls as their number grows.
    """
    shift = round(math.log10(n_rows / trial.rows) * RIDGES_PER_DECADE)
    return max(trial.column - shift, 0)


def _judge_ridge(
    K: Array, alpha: float, coding: Coding, criterion: Criterion
) -> tuple[float, float]:
    """Return score and squared error at one ridge; if K is not positive, none and no end of it."""
    factor = factor_kernel(K, coding.weights, alpha)
    if factor is None:
        return 0.0, np.inf
    score, error = criterion.judge(factor, np.array([alpha]), coding)
    return float(score[0]), float(error[0])

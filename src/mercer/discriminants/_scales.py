"""Scales of the columns, learned by descent on the leave-one-out error.

With weights p, √p·K·√p + αI and its inverse P on the complement of √p (`RidgeFactor`), rows that
are left out have the errors eᵢ = αqᵢ/(√pᵢ·ℓᵢ), q = P√pT, ℓᵢ = (1 − sᵢ) + sᵢαPᵢᵢ, sᵢ the share of a
row that leaves.  Since dP = −P dA P, one matrix serves the derivatives by all scales:

    L = Σ pᵢ‖eᵢ‖²,   dL = ⟨W, dA⟩ + …dα,   W = −(Pu)qᵀ + P diag(v) P,
    u = 2α²q/ℓ²,   v = 2α³s‖q‖²/ℓ³.

G. C. Cawley, N. L. C. Talbot (2007). Preventing over-fitting during model selection via Bayesian
regularisation of the hyper-parameters. JMLR 8, 841-861.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer._arrays import Array, FloatArray, like, to_numpy
from mercer.discriminants._coding import Coding
from mercer.kernels import KernelFunction
from mercer.spectral import factor_kernel
from mercer.sums import weighted_differences

# Kernels whose derivatives by the scales are known here.
WITH_DERIVATIVES = ("laplacian", "rbf")
# The logarithms of the scales have a normal prior about their mean, of this variance.
_PRIOR_VARIANCE = 1.0
# The descent ends after this many steps.
_STEPS = 12
# A scale may move from where it began by these factors, the ridge to these sizes.
_LEAST_FACTOR, _MOST_FACTOR = np.exp(-9.0), np.exp(5.0)
_LEAST_RIDGE, _MOST_RIDGE = 1e-10, 1.0


def dummy_groups(X: Array) -> NDArray[np.intp]:
    """Return the group of each column: dummies of one category are a group, any other is its own.

    Neighbouring columns that hold zero and one other number, the same for all of them, are dummies
    of a category if no row has two of them.  They share one scale, so that two categories of a
    column are as far from each other as any other two.  A column of zeros, such as the dummy of a
    category that no row has, joins its neighbours.
    """
    rows = to_numpy(X)
    top = rows.max(axis=0)
    is_dummy = ((rows == 0) | (rows == top)).all(axis=0) & (rows.min(axis=0) == 0)
    groups = np.empty(rows.shape[1], dtype=np.intp)
    # Rows that the dummies of the group at hand cover, the number that they hold, and whether it is
    # one of dummies.
    taken, height, is_open = np.zeros(len(rows), dtype=bool), 0.0, False
    group = -1
    for k in range(rows.shape[1]):
        hit, fits = rows[:, k] > 0, 0 in (height, top[k]) or height == top[k]
        if is_open and is_dummy[k] and fits and not (taken & hit).any():
            taken |= hit
            height = max(height, top[k])
        else:
            group, taken, height, is_open = group + 1, hit, top[k], bool(is_dummy[k])
        groups[k] = group
    return groups


@dataclass(frozen=True)
class Scaled:
    """Factors of the columns, and the ridge that suits them."""

    scales: FloatArray
    alpha: float


def learn_scales(
    kernel: KernelFunction,
    X: Array,
    coding: Coding,
    groups: NDArray[np.intp],
    alpha: float,
    steps: int = _STEPS,
) -> Scaled:
    """Return scales of the columns that lower the leave-one-out error, and the ridge.

    Parameters
    ----------
    kernel : KernelFunction
        "laplacian" or "rbf", with the width that suits all columns alike.
    X : array of shape (n_rows, n_features)
        Rows.
    coding : Coding
        Their classes and weights, on the device of X.
    groups : ndarray of int of shape (n_features,)
        Columns of one group share a scale.
    alpha : float
        Ridge to begin with.
    steps : int
        How many steps the descent takes at most.
    """
    descent = _Descent(kernel, X, coding, groups)
    start = np.append(np.zeros(groups.max() + 1), np.log(alpha))
    scale_range = (np.log(_LEAST_FACTOR), np.log(_MOST_FACTOR))
    ridge_range = (min(np.log(_LEAST_RIDGE), start[-1]), max(np.log(_MOST_RIDGE), start[-1]))
    bounds = [scale_range] * (len(start) - 1) + [ridge_range]
    options = {"maxiter": steps, "maxfun": steps + 8}
    found = minimize(descent, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return Scaled(np.exp(found.x[:-1])[groups], float(np.exp(found.x[-1])))


class _Descent:
    """The logarithm of the leave-one-out error with the prior, and its derivatives.

    Called with the logarithms of the groups' scales, and of the ridge at the end.
    """

    def __init__(
        self, kernel: KernelFunction, X: Array, coding: Coding, groups: NDArray[np.intp]
    ) -> None:
        self.kernel, self.X, self.coding, self.groups = kernel, X, coding, groups
        self.n_rows = float(to_numpy(coding.observations).sum())

    def __call__(self, at: FloatArray) -> tuple[float, FloatArray]:
        theta, alpha = at[:-1], float(np.exp(at[-1]))
        error, by_scale, by_ridge = self._error(np.exp(theta)[self.groups], alpha)
        if not 0 < error < np.inf:  # Not a number that can be improved: a barrier.
            return 1e10, np.zeros_like(at)
        by_group = np.bincount(self.groups, by_scale, len(theta))
        weight, spread = 1 / (_PRIOR_VARIANCE * self.n_rows), theta - theta.mean()
        value = np.log(error) + weight * float(spread @ spread)
        return value, np.append(by_group / error + 2 * weight * spread, by_ridge * alpha / error)

    def _error(self, scales: FloatArray, alpha: float) -> tuple[float, FloatArray, float]:
        """Return the error, its derivatives by the logarithms of all scales, and by the ridge."""
        xp: Any = array_namespace(self.X)
        coding, kernel = self.coding, self.kernel
        X = self.X * like(scales, self.X)
        K = kernel.matrix(X, X)
        factor = factor_kernel(K, coding.weights, alpha)
        if factor is None:
            return np.inf, scales, 0.0
        P, root = factor.matrix(), factor.root
        q = P @ (root[:, None] * coding.targets)
        size, diagonal = xp.sum(q**2, axis=1), xp.linalg.diagonal(P)
        left = (1.0 - coding.removed) + coding.removed * alpha * diagonal
        u = 2 * alpha**2 * q / (left**2)[:, None]
        v = 2 * alpha**3 * coding.removed * size / left**3
        half = P * xp.sqrt(v)
        W = half @ half.T
        W -= (P @ u) @ q.T
        by_ridge = float(xp.sum(xp.linalg.diagonal(W)) + xp.sum(2 * alpha * size / left**2))
        by_ridge -= float(xp.sum(2 * alpha**2 * size * coding.removed * diagonal / left**3))
        W *= K
        W *= root
        W *= root[:, None]
        error = float(xp.sum(alpha**2 * size / left**2))
        if kernel.kernel == "rbf":
            rows = (X**2).T @ (xp.sum(W, axis=0) + xp.sum(W, axis=1))
            by_scale = -2 * kernel.gamma * (rows - 2 * xp.sum(X * (W @ X), axis=0))
        else:
            by_scale = -kernel.gamma * weighted_differences(W, X)
        return error, to_numpy(by_scale), by_ridge

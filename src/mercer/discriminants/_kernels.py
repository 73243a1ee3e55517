"""Kernels by the names of scikit-learn's kernel machines, and what one can do with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances
from sklearn.utils import gen_batches

from mercer.kernels import width_from_gamma
from mercer.sums import kernel_sum

__all__ = ["KERNEL_NAMES", "KernelFunction", "resolve_gamma", "row_batches", "weighted_median"]

Array = NDArray[np.float64]

KERNEL_NAMES = {"laplacian", "linear", "poly", "rbf"}
_WITH_GAMMA = {"laplacian", "poly", "rbf"}


@dataclass(frozen=True)
class KernelFunction:
    """A kernel k(x, y) = profile(base(x, y)), where only the profile depends on gamma.

    =========== =========================== ====================
    name        base                        profile
    =========== =========================== ====================
    rbf         squared distance            exp(−gamma·base)
    laplacian   sum of absolute differences exp(−gamma·base)
    poly        inner product               (gamma·base + coef0)^degree
    linear      inner product               base
    precomputed the given entry             base
    a callable  what it returns             base
    =========== =========================== ====================
    """

    kernel: str | Callable[..., Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0

    @property
    def uses_gamma(self) -> bool:
        """Whether gamma means anything."""
        return isinstance(self.kernel, str) and self.kernel in _WITH_GAMMA

    def with_gamma(self, gamma: float) -> "KernelFunction":
        """Return the same kernel of another width."""
        return replace(self, gamma=gamma)

    def base(self, X: Any, Y: Any) -> Array:
        """Return the part that does not depend on gamma, of shape (n, m)."""
        if self.kernel == "rbf":
            centre = Y.mean(axis=0)  # distances by products lose digits far from the origin
            squared = euclidean_distances(X - centre, Y - centre, squared=True)
            return np.asarray(squared, dtype=np.float64)
        if self.kernel == "laplacian":
            return np.asarray(manhattan_distances(X, Y), dtype=np.float64)
        if self.kernel in ("linear", "poly"):
            return np.asarray(X @ Y.T, dtype=np.float64)
        if self.kernel == "precomputed":
            return np.asarray(X, dtype=np.float64)
        kernel: Any = self.kernel
        K: Array = np.asarray(kernel(X, Y), dtype=np.float64)
        if K.shape != (len(X), len(Y)):
            raise ValueError(
                f"kernel must return a matrix of shape {(len(X), len(Y))} here, as SVC's does; "
                f"it returned shape {K.shape}."
            )
        return K

    def profile(self, base: Array) -> Array:
        """Return the kernel at these values of the base."""
        if self.kernel in ("rbf", "laplacian"):
            return np.exp(-self.gamma * base)
        if self.kernel == "poly":
            return np.asarray((self.gamma * base + self.coef0) ** self.degree)
        return base

    def matrix(self, X: Any, Y: Any) -> Array:
        """Return the kernel matrix in float64, of shape (n, m)."""
        return self.profile(self.base(X, Y))

    def single(self, X: NDArray[np.float32], Y: NDArray[np.float32]) -> NDArray[np.floating[Any]]:
        """Return the kernel matrix in float32 where the kernel is rbf: for long streams of rows."""
        if self.kernel != "rbf":
            return self.matrix(X, Y)
        gamma = np.float32(self.gamma)
        K = X @ (2 * gamma * Y.T)
        K -= gamma * np.einsum("ij,ij->i", X, X)[:, None]
        K -= gamma * np.einsum("ij,ij->i", Y, Y)
        np.minimum(K, 0, out=K)
        return np.exp(K, out=K)

    def combine(self, X: Any, Y: Any, coef: Array) -> Array:
        """Return Σⱼ k(x, yⱼ) coefⱼ at each row x, of shape (n, n_outputs), in bounded memory."""
        if self.kernel == "rbf":
            width = width_from_gamma(self.gamma)
            return np.asarray(kernel_sum(X, Y, weights=coef, bandwidth=width), dtype=np.float64)
        out = np.empty((len(X), coef.shape[1]))
        for rows in row_batches(len(X), len(Y)):
            out[rows] = self.matrix(X[rows], Y) @ coef
        return out

    def gamma_unit(self, base: Array, row_weights: Array, column_weights: Array) -> float:
        """Return the gamma that makes gamma·base of order one: the middle of the ladder.

        The median is over all ordered pairs, a row with itself included, so that a row of
        weight two counts as two rows.
        """
        middle = weighted_median(np.abs(base), row_weights, column_weights)
        if not middle > 0:  # most pairs coincide: the mean
            total = row_weights.sum() * column_weights.sum()
            middle = float(row_weights @ np.abs(base) @ column_weights / total)
        return 1.0 / middle if middle > 0 else 1.0


def weighted_median(values: Array, row_weights: Array, column_weights: Array) -> float:
    """Return the lower median of the entries of a matrix, entry (i, j) counting rᵢ·cⱼ times."""
    flat = values.ravel()
    if np.ptp(row_weights) == 0 and np.ptp(column_weights) == 0:
        return float(np.partition(flat, (len(flat) - 1) // 2)[(len(flat) - 1) // 2])
    order = np.argsort(flat, kind="stable")
    reached = np.cumsum(np.outer(row_weights, column_weights).ravel()[order])
    half = reached[-1] * (0.5 - 1e-12)
    return float(flat[order[np.searchsorted(reached, half)]])


def row_batches(n_rows: int, n_columns: int) -> Any:
    """Slices of rows such that a float64 matrix of them fits scikit-learn's working memory."""
    size = int(get_config()["working_memory"] * 2**20 / 4 / 8 / max(n_columns, 1))
    return gen_batches(n_rows, max(size, 64))


def resolve_gamma(gamma: float | str, X: Array) -> float:
    """Return a number for gamma: itself, or 1 / (n_features · variance) for "scale"."""
    if gamma != "scale":
        return float(gamma)
    variance = float(X.var())
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

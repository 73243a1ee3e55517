"""Kernels by the names of scikit-learn's kernel machines, and what one can do with them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from mercer._arrays import like
from mercer._memory import in_blocks, working_memory
from mercer.kernels import width_from_gamma
from mercer.samples import squared_distances
from mercer.sums import kernel_sum

__all__ = ["KERNEL_NAMES", "KernelFunction", "resolve_gamma", "weighted_median"]

Array = Any
FloatArray = NDArray[np.float64]

KERNEL_NAMES = {"laplacian", "linear", "poly", "rbf"}
_WITH_GAMMA = {"laplacian", "poly", "rbf"}
_LARGEST = 1e100  # value of a kernel whose products are in range
_SMALLEST = 1e-302  # base whose inverse, times the widest rung of a ladder, is in range


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
        xp: Any = array_namespace(X)
        if self.kernel == "rbf":
            return squared_distances(X, Y)
        if self.kernel == "laplacian":
            return _absolute_differences(X, Y)
        if self.kernel in ("linear", "poly"):
            with np.errstate(over="ignore"):
                return xp.astype(X, xp.float64, copy=False) @ Y.T
        if self.kernel == "precomputed":
            return xp.astype(X, xp.float64, copy=False)
        kernel: Any = self.kernel
        K = like(kernel(X, Y), X, dtype=xp.float64)
        if tuple(K.shape) != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"kernel must return a matrix of shape {(X.shape[0], Y.shape[0])} here, as SVC's "
                f"does; it returned shape {tuple(K.shape)}."
            )
        return K

    def profile(self, base: Array) -> Array:
        """Return the kernel at these values of the base."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel in ("rbf", "laplacian"):
                return array_namespace(base).exp(-self.gamma * base)
            if self.kernel == "poly":
                return (self.gamma * base + self.coef0) ** self.degree
            return base

    def check_range(self, K: Array) -> None:
        """Refuse a kernel of the rows whose values have no squares."""
        xp = array_namespace(K)
        largest = float(xp.max(xp.abs(K)))
        if 0 < largest < 1 / _LARGEST or not largest <= _LARGEST:
            raise ValueError(
                f"kernel={self.kernel!r} takes values of size {largest:.2g} on the rows of X, "
                f"beyond {1 / _LARGEST:g} … {_LARGEST:g}; scale X."
            )

    def matrix(self, X: Any, Y: Any) -> Array:
        """Return the kernel matrix in float64, of shape (n, m)."""
        return self.profile(self.base(X, Y))

    def single(self, X: NDArray[np.float32], Y: NDArray[np.float32]) -> Array:
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
        xp: Any = array_namespace(X)
        by_engine = self.kernel == "rbf"
        if by_engine and is_numpy_array(X):
            return self._sums(X, Y, coef)
        out = xp.empty((X.shape[0], coef.shape[1]), dtype=xp.float64, device=device(X))

        def fill(rows: slice) -> None:
            block = X[rows, :]
            if by_engine:
                out[rows, :] = self._sums(block, Y, coef)
                return
            with np.errstate(over="ignore", invalid="ignore"):
                out[rows, :] = self.matrix(block, Y) @ coef
            if not bool(xp.all(xp.isfinite(out[rows, :]))):
                raise ValueError(
                    f"X has rows so large that kernel={self.kernel!r} is beyond the range of "
                    "floating point."
                )

        # The engine bounds all memory but that of the rows in float64.
        wide = X.shape[1] + coef.shape[1] if by_engine else Y.shape[0]
        in_blocks(fill, X.shape[0], working_memory() // 4 // (8 * wide))
        return out

    def _sums(self, X: Any, Y: Any, coef: Array) -> Array:
        """Return sums of the rbf kernel by the engine, in float64."""
        xp: Any = array_namespace(X)
        width = width_from_gamma(self.gamma)
        sums = kernel_sum(X, Y, weights=coef, bandwidth=width)
        return xp.astype(sums, xp.float64, copy=False)

    def gamma_unit(self, base: Array, row_weights: FloatArray, column_weights: FloatArray) -> float:
        """Return the gamma that makes gamma·base of order one: the middle of the ladder.

        The median is over all ordered pairs, a row with itself included, so that a row of
        weight two counts as two rows.
        """
        size = array_namespace(base).abs(base)
        middle = weighted_median(size, row_weights, column_weights)
        if not middle > _SMALLEST:  # most pairs coincide: the mean
            rows, columns = (w / w.sum() for w in (row_weights, column_weights))
            middle = float(like(rows, base) @ size @ like(columns, base))
        if middle == 0:
            return 1.0
        return 1.0 / max(middle, _SMALLEST)


def weighted_median(values: Array, row_weights: FloatArray, column_weights: FloatArray) -> float:
    """Return the lower median of the entries of a matrix, entry (i, j) counting rᵢ·cⱼ times."""
    xp = array_namespace(values)
    flat = xp.reshape(values, (-1,))
    if np.ptp(row_weights) == 0 and np.ptp(column_weights) == 0:
        middle = (flat.shape[0] - 1) // 2
        if is_numpy_array(flat):
            return float(np.partition(flat, middle)[middle])
        return float(xp.sort(flat)[middle])
    order = xp.argsort(flat, stable=True)
    times = xp.reshape(like(np.outer(row_weights, column_weights), values), (-1,))
    reached = xp.cumulative_sum(xp.take(times, order))
    half = float(reached[-1]) * (0.5 - 1e-12)
    return float(flat[order[int(xp.searchsorted(reached, like(half, reached)))]])


def resolve_gamma(gamma: float | str, X: Array) -> float:
    """Return a number for gamma: itself, or 1 / (n_features · variance) for "scale"."""
    if gamma != "scale":
        return float(gamma)
    variance = float(array_namespace(X).var(X))
    return 1.0 if variance == 0 else 1.0 / (X.shape[1] * variance)


def _absolute_differences(X: Array, Y: Array) -> Array:
    """Return sums of absolute differences."""
    if is_numpy_array(X):
        return cdist(X, Y, "cityblock")
    from torch import cdist as torch_cdist

    return torch_cdist(X.to(Y.dtype), Y, p=1.0)

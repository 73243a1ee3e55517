"""Kernels by the names of scikit-learn's kernel machines, as matrices of all pairs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from mercer._arrays import Array, FloatArray, like
from mercer._memory import thread_count

# A squared distance that is computed by products has lost digits where it is below this share of
# the squared norms.
_CANCELLED = 1e-5
# Differences are computed in blocks of this many numbers, 32 MiB.
_NUMBERS_AT_ONCE = 2**22
# Threads are started for distances of this many differences, which take a tenth of a second.
_WORTH_THREADS = 10**8
# The diagonal of a kernel that is a function comes from blocks of so many rows.
_ROWS_AT_ONCE = 64
_WITH_GAMMA = {"exponential", "laplacian", "poly", "rbf", "sigmoid"}
_OF_DISTANCE = ("rbf", "exponential", "laplacian")  # exp(−gamma·base), 1 for a row with itself
# Values of a kernel up to this size have products and sums of them within floating point.
_LARGEST = 1e100


def squared_distances(X: Array, Y: Array) -> Array:
    """Return the squared distances of all pairs, in full: (n, m).

    Products about the mean of Y are quick and lose the digits of rows that are close together;
    such pairs are computed by differences.
    """
    xp: Any = array_namespace(X)
    centre = xp.mean(Y, axis=0)
    A, B = X - centre, Y - centre
    squared = A @ (-2.0 * B.T)
    norms = xp.vecdot(A, A)[:, None] + xp.vecdot(B, B)
    squared += norms
    rows, columns = xp.nonzero(squared < _CANCELLED * norms)
    step = max(1, _NUMBERS_AT_ONCE // X.shape[1])
    for start in range(0, rows.shape[0], step):
        i, j = rows[start : start + step], columns[start : start + step]
        squared[i, j] = xp.sum((X[i, :] - Y[j, :]) ** 2, axis=1)
    return xp.maximum(squared, 0.0)


def absolute_differences(X: Array, Y: Array) -> Array:
    """Return the sums of absolute differences of all pairs, in full: (n, m)."""
    if not is_numpy_array(X):
        from torch import cdist as torch_cdist

        return torch_cdist(X.to(Y.dtype), Y, p=1.0)
    from scipy.spatial.distance import cdist

    out = np.empty((X.shape[0], Y.shape[0]))
    if out.size * X.shape[1] < _WORTH_THREADS:
        return cdist(X, Y, "cityblock", out=out)
    X, Y = (np.ascontiguousarray(A, dtype=np.float64) for A in (X, Y))
    # SciPy's loops hold no lock, so that threads of Python share the rows.
    Parallel(n_jobs=thread_count(), prefer="threads")(
        delayed(cdist)(X[rows], Y, "cityblock", out=out[rows])
        for rows in gen_batches(len(X), max(1, _NUMBERS_AT_ONCE // len(Y)))
    )
    return out


@dataclass(frozen=True)
class KernelFunction:
    """A kernel k(x, y) = profile(base(x, y)), where only the profile depends on gamma.

    =========== =========================== ===========================
    name        base                        profile
    =========== =========================== ===========================
    rbf         squared distance            exp(−gamma·base)
    exponential distance                    exp(−gamma·base)
    laplacian   sum of absolute differences exp(−gamma·base)
    poly        inner product               (gamma·base + coef0)^degree
    sigmoid     inner product               tanh(gamma·base + coef0)
    linear      inner product               base
    cosine      cosine of the angle         base
    precomputed the given entry             base
    a callable  what it returns             base
    =========== =========================== ===========================

    A callable takes two tables and returns a matrix, as SVC's does; with `by_rows` it takes two
    rows and returns a number.  Kernels that the discriminants know by name take torch
    tensors too.  With `scales`, the columns are multiplied by these numbers first.
    """

    kernel: str | Callable[..., Any]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0
    by_rows: bool = False
    scales: tuple[float, ...] | None = None

    @property
    def uses_gamma(self) -> bool:
        """Whether gamma means anything."""
        return isinstance(self.kernel, str) and self.kernel in _WITH_GAMMA

    @property
    def is_of_distance(self) -> bool:
        """Whether it is a function of the distance of two rows, 1 for a row with itself."""
        return isinstance(self.kernel, str) and self.kernel in _OF_DISTANCE

    def with_gamma(self, gamma: float) -> "KernelFunction":
        """Return the same kernel of another width."""
        return replace(self, gamma=gamma)

    def with_scales(self, scales: FloatArray) -> "KernelFunction":
        """Return the same kernel of rows whose columns are multiplied by these numbers."""
        return replace(self, scales=tuple(map(float, scales)))

    def scaled(self, X: Any) -> Any:
        """Return the rows with their columns multiplied by the scales, if there are any."""
        return X if self.scales is None else X * like(self.scales, X)

    def base(self, X: Any, Y: Any) -> Array:
        """Return the part that does not depend on gamma, of shape (n, m)."""
        xp: Any = array_namespace(X)
        X, Y = self.scaled(X), self.scaled(Y)
        if self.kernel == "rbf":
            return squared_distances(X, Y)
        if self.kernel == "exponential":
            return xp.sqrt(squared_distances(X, Y))
        if self.kernel == "laplacian":
            return absolute_differences(X, Y)
        if self.kernel in ("linear", "poly", "sigmoid"):
            with np.errstate(over="ignore"):
                return xp.astype(X, xp.float64, copy=False) @ Y.T
        if self.kernel == "precomputed":
            return xp.astype(X, xp.float64, copy=False)
        if self.kernel == "cosine" or self.by_rows:
            from sklearn.metrics.pairwise import pairwise_kernels

            return np.asarray(pairwise_kernels(X, Y, metric=self.kernel), dtype=np.float64)
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
        xp = array_namespace(base)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel in _OF_DISTANCE:
                K = -self.gamma * base
                return np.exp(K, out=K) if is_numpy_array(K) else xp.exp(K)  # one matrix less
            if self.kernel == "poly":
                return (self.gamma * base + self.coef0) ** self.degree
            if self.kernel == "sigmoid":
                return xp.tanh(self.gamma * base + self.coef0)
            return base

    def matrix(self, X: Any, Y: Any) -> Array:
        """Return the kernel matrix in float64, of shape (n, m)."""
        return self.profile(self.base(X, Y))

    def diagonal(self, X: Array) -> Array:
        """Return the values k(xᵢ, xᵢ), in float64."""
        xp: Any = array_namespace(X)
        if self.is_of_distance:
            return xp.ones(X.shape[0], dtype=xp.float64, device=device(X))
        if self.kernel == "cosine":  # It is 0, not 1, for a row of zeros.
            from sklearn.preprocessing import normalize

            unit = normalize(X)
            return np.asarray(np.einsum("ij,ij->i", unit, unit))
        if self.kernel in ("linear", "poly", "sigmoid"):
            rows = xp.astype(self.scaled(X), xp.float64, copy=False)
            with np.errstate(over="ignore"):
                return self.profile(xp.vecdot(rows, rows))
        # A kernel that is a function may be slow for single rows.
        size = 1 if self.by_rows else _ROWS_AT_ONCE
        blocks = (X[start : start + size, :] for start in range(0, X.shape[0], size))
        return xp.concat([xp.linalg.diagonal(self.matrix(rows, rows)) for rows in blocks])

    def single_precision_matrix(self, X: NDArray[np.float32], Y: NDArray[np.float32]) -> Array:
        """Return the kernel matrix, in float32 if the kernel is rbf: for long streams of rows."""
        if self.kernel != "rbf":
            return self.matrix(X, Y)
        gamma, X, Y = np.float32(self.gamma), self.scaled(X), self.scaled(Y)
        K = X @ (2 * gamma * Y.T)
        K -= gamma * np.einsum("ij,ij->i", X, X)[:, None]
        K -= gamma * np.einsum("ij,ij->i", Y, Y)
        np.minimum(K, 0, out=K)
        return np.exp(K, out=K)

    def check_range(self, K: Array, least: float = 1 / _LARGEST) -> None:
        """Raise ValueError if products of values would overflow, or all are below `least`."""
        xp = array_namespace(K)
        largest = max(-float(xp.min(K)), float(xp.max(K)))
        if 0 < largest < least or not largest <= _LARGEST:
            bounds = f"{least:g} … {_LARGEST:g}" if least else f"{_LARGEST:g}"
            raise ValueError(
                f"kernel={self.kernel!r} takes values of size {largest:.2g} on the rows of X, "
                f"beyond {bounds}; scale X."
            )


def resolve_gamma(gamma: float | str, X: Array, weights: Array = None) -> float:
    """Return a number for gamma: itself, or by a rule, in which a row of weight two counts as two.

    The rules of scikit-learn's SVC are 1 / n_features for "auto", and that divided by the variance
    of all numbers for "scale".  "variance" is 1 / (2σ²) with σ² the sum of the variances of the
    columns, the mean squared distance of rows from their mean.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return float(1.0 / X.shape[1])
    by_column = gamma == "variance"
    total = X.shape[1] * _variance(X, weights, by_column=by_column)
    return 1.0 if total == 0 else float(1.0 / ((2.0 if by_column else 1.0) * total))


def _variance(X: Array, weights: Array, *, by_column: bool) -> float:
    """Return the variance of all numbers of X, or the mean of the variances of its columns."""
    xp: Any = array_namespace(X)
    axis = 0 if by_column else None
    if weights is None:
        return float(xp.mean(xp.var(X, axis=axis)))
    shares = weights / weights.max()  # at most 1, so that products stay in range
    shares = like(shares / shares.sum(), X)[:, None]
    size = 1 if by_column else X.shape[1]
    mean = xp.sum(shares * X, axis=axis) / size
    return float(xp.mean(xp.sum(shares * (X - mean) ** 2, axis=axis)) / size)

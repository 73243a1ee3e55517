"""A kernel by name: its matrix, and its sums through the engine where that has it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from mercer.kernels import width_from_gamma
from mercer.samples import squared_distances
from mercer.sums import kernel_sum

__all__ = ["KernelFunction", "resolve_gamma"]

FloatArray = NDArray[np.float64]
_LARGEST = 1e100  # value of a kernel whose products are in range


def resolve_gamma(gamma: float | str, X: FloatArray) -> float:
    """``gamma`` as a number, by the rules of scikit-learn's SVC."""
    if not isinstance(gamma, str):
        return float(gamma)
    variance = float(X.var()) if gamma == "scale" else 1.0
    return 1.0 if variance == 0 else 1.0 / (X.shape[1] * variance)


@dataclass(frozen=True)
class KernelFunction:
    """What k(x, y) is: a name of scikit-learn's or a function of two rows."""

    kernel: str | Callable[..., float]
    gamma: float
    degree: float
    coef0: float

    def matrix(self, X: FloatArray, Y: FloatArray | None = None) -> FloatArray:
        """All values k(xᵢ, yⱼ)."""
        if callable(self.kernel):
            return np.asarray(pairwise_kernels(X, Y, metric=self.kernel), dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel == "rbf":
                return np.asarray(np.exp(-self.gamma * squared_distances(X, X if Y is None else Y)))
            K = pairwise_kernels(
                X,
                Y,
                metric=self.kernel,
                filter_params=True,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
            )
        K = np.asarray(K, dtype=np.float64)
        largest = float(np.abs(K).max(initial=0.0))
        if not largest <= _LARGEST:
            raise ValueError(
                f"kernel={self.kernel!r} takes values of size {largest:.2g} on the rows of X, "
                f"beyond {_LARGEST:g}; scale X."
            )
        return K

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return the values k(xᵢ, xᵢ)."""
        if self.kernel in ("rbf", "laplacian"):
            return np.ones(len(X))
        if self.kernel == "cosine":  # 0 for a row of zeros
            unit = normalize(X)
            return np.asarray(np.einsum("ij,ij->i", unit, unit))
        return np.array([self.matrix(row[np.newaxis])[0, 0] for row in X])

    def sums(self, X: FloatArray, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Σⱼ k(xᵢ, yⱼ) wⱼ for every column of weights, without the whole matrix."""
        if self.kernel == "rbf":
            width = width_from_gamma(self.gamma)
            return np.asarray(kernel_sum(X, Y, weights=weights, bandwidth=width))
        budget: Any = get_config()["working_memory"]
        rows = max(1, int(budget * 2**20 / (8 * len(Y))))
        parts = [self.matrix(X[batch], Y) @ weights for batch in gen_batches(len(X), rows)]
        return np.vstack(parts)

"""A kernel by name: its matrix, and its sums through the engine where that has it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches

from mercer.kernels import width_from_gamma
from mercer.sums import kernel_sum

__all__ = ["KernelFunction", "resolve_gamma"]

FloatArray = NDArray[np.float64]


def resolve_gamma(gamma: float | str, X: FloatArray) -> float:
    """``gamma`` as a number, by the rules of scikit-learn's SVC."""
    if not isinstance(gamma, str):
        return float(gamma)
    variance = float(X.var()) if gamma == "scale" else 1.0
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


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
        if self.kernel == "rbf":  # by products, which lose digits far from the origin
            centre = (X if Y is None else Y).mean(axis=0)
            X, Y = X - centre, None if Y is None else Y - centre
        K = pairwise_kernels(
            X,
            Y,
            metric=self.kernel,
            filter_params=True,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
        )
        return np.asarray(K, dtype=np.float64)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Return the values k(xᵢ, xᵢ)."""
        if self.kernel in ("rbf", "laplacian", "cosine"):
            return np.ones(len(X))
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

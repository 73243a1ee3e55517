"""The two reductions as merge laws: a sum, and the logarithm of a sum.

A law turns a tile of kernel values into a partial result and merges partial results.
Merging is associative and has an identity, so that one law serves tiles, slabs, bands of
weights and the parts of a distributed array alike.
"""

from abc import ABC, abstractmethod

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, like, times_powers_of_two
from mercer.kernels import Kernel

_FAR = -1e4  # logarithms below which groups may differ by less than float32 resolves


class Law(ABC):
    """How tiles become a result."""

    identity: float

    @abstractmethod
    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        """Reduce squared distances (rows, columns) with weights (columns, c) to (rows, c)."""

    @abstractmethod
    def merge(self, a: Array, b: Array) -> Array:
        """Merge two partial results."""

    @abstractmethod
    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        """Return the partial result of weights that are 2**exponents times as large."""


class Sum(Law):
    """Σⱼ wⱼ kⱼ."""

    identity = 0.0

    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        return kernel.profile(d2, bandwidth) @ weights

    def merge(self, a: Array, b: Array) -> Array:
        return a + b

    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        return times_powers_of_two(partial, exponents)


class LogSum(Law):
    """log Σⱼ wⱼ kⱼ, relative to the largest kernel value, so that nothing underflows."""

    identity = float("-inf")

    def reduce(self, kernel: Kernel, d2: Array, bandwidth: float, weights: Array) -> Array:
        xp = array_namespace(d2)
        logs = kernel.log_profile(d2, bandwidth)
        top = xp.max(logs, axis=1, keepdims=True)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        return top + xp.log(xp.exp(logs - top) @ weights)

    def merge(self, a: Array, b: Array) -> Array:
        return array_namespace(a, b).logaddexp(a, b)

    def scale(self, partial: Array, exponents: NDArray[np.int64]) -> Array:
        return partial + like(exponents, partial) * 0.6931471805599453  # log 2


SUM, LOG_SUM = Sum(), LogSum()


def law(log: bool) -> Law:
    """Return the law of sums or of their logarithms."""
    return LOG_SUM if log else SUM


def are_far(logs: Array) -> Array:
    """Whether a row's largest logarithm is too large a number for float32 to tell groups apart."""
    return array_namespace(logs).max(logs, axis=1) < _FAR

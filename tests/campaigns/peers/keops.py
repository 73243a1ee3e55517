"""As much of KeOps' LazyTensor as its tests of kernels need, on Mercer's sums.

An expression is followed step by step from two sets of points to a kernel, and the reduction of
that kernel is `kernel_sum` or `log_kernel_sum`.  A factor on the squared distance goes into the
points, so that it has derivatives.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from mercer.sums import kernel_sum, log_kernel_sum

# Widths at which Mercer's kernels are KeOps' formulas of a distance: exp(−r²), exp(−r), 1/(1 + r²).
_WIDTHS = {"gaussian": 0.5**0.5, "exponential": 1.0, "cauchy": 1.0}


@dataclass(frozen=True)
class LazyTensor:
    """A step on the way: points, difference, squares, distance, root, a log-kernel, a kernel."""

    x: Any
    y: Any = None
    step: str = "points"
    factor: Any = 1.0
    kernel: str = ""
    weights: Any = None

    def __sub__(self, other: "LazyTensor") -> "LazyTensor":
        return replace(self, y=other.x, step="difference")

    def __pow__(self, power: int) -> "LazyTensor":
        self._must_be("difference", power == 2)
        return replace(self, step="squares")

    def square(self) -> "LazyTensor":
        return self**2

    def sqdist(self, other: "LazyTensor") -> "LazyTensor":
        return replace(self - other, step="distance")

    def sum(self, dim: int) -> Any:
        """Add up the columns of squared differences, or the terms of a kernel."""
        if self.step == "kernel":
            weights = self.weights.squeeze(-3)  # they belong to the second points
            if dim == self.x.ndim - 2:
                return _by_batch(kernel_sum, self, weights)
            return _by_batch(kernel_sum, self.t(), torch.ones_like(self.x[..., 0])) * weights
        self._must_be("squares")
        return replace(self, step="distance")

    def __neg__(self) -> "LazyTensor":
        if self.step == "root":
            return replace(self, step="log-kernel", kernel="exponential")
        if self.step == "points":
            return replace(self, x=-self.x)
        self._must_be("distance")
        return replace(self, factor=-self.factor)

    def __mul__(self, other: "LazyTensor") -> "LazyTensor":
        if self.step == "kernel":
            return replace(self, weights=other.x)
        if other.step == "distance":
            return replace(other, factor=other.factor * self.x)
        raise NotImplementedError(f"{self.step} times {other.step}")

    def __radd__(self, one: int) -> "LazyTensor":
        self._must_be("distance", one == 1)
        return replace(self, step="one more")

    def sqrt(self) -> "LazyTensor":
        return replace(self, step={"distance": "root", "one more": "root of one more"}[self.step])

    def power(self, exponent: int) -> "LazyTensor":
        if self.step == "one more" and exponent == -1:
            return replace(self, step="kernel", kernel="cauchy")
        self._must_be("root of one more", exponent == -1)
        return replace(self, step="kernel", kernel="inverse multiquadric")

    def log(self) -> "LazyTensor":
        self._must_be("kernel")
        return replace(self, step="log-kernel")

    def exp(self) -> "LazyTensor":
        if self.step == "distance":
            return replace(self._gaussian(), step="kernel")
        self._must_be("log-kernel")
        return replace(self, step="kernel")

    def t(self) -> "LazyTensor":
        self._must_be("kernel")
        return replace(self, x=self.y.transpose(-3, -2), y=self.x.transpose(-3, -2))

    def logsumexp(self, dim: int, weight: "LazyTensor") -> Any:
        """Reduce a log-kernel; the one that Mercer has not is left to torch."""
        log_kernel = self._gaussian() if self.step == "distance" else self
        log_kernel._must_be("log-kernel")
        if log_kernel.kernel == "inverse multiquadric":
            squares = log_kernel.factor * (self.x - self.y).square().sum(-1)
            return (-0.5 * torch.log1p(squares) + weight.x[..., 0].log()).logsumexp(-1)
        return _by_batch(log_kernel_sum, log_kernel, weight.x.squeeze(-3))

    def __matmul__(self, b: Any, out: Any = None, **options: Any) -> Any:
        self._must_be("kernel")
        result = _by_batch(kernel_sum, self, b)
        if out is not None:
            out[...] = result
        return result

    def _gaussian(self) -> "LazyTensor":
        self._must_be("distance")
        return replace(self, factor=-self.factor, step="log-kernel", kernel="gaussian")

    def _must_be(self, step: str, condition: bool = True) -> None:
        if self.step != step or not condition:
            raise NotImplementedError(f"Mercer's sums have no such function of {self.step}.")


def Vi(rows: Any) -> LazyTensor:  # noqa: N802
    return LazyTensor(rows[:, None, :])


def Vj(rows: Any) -> LazyTensor:  # noqa: N802
    return LazyTensor(rows[None, :, :])


def Pm(parameter: Any) -> LazyTensor:  # noqa: N802
    return LazyTensor(parameter)


def _by_batch(function: Any, kernel: LazyTensor, weights: Any) -> Any:
    """Apply a sum to x (…, m, 1, d), y (…, 1, n, d) and weights (…, n, c), batch by batch."""
    root = torch.sqrt(torch.as_tensor(kernel.factor)) if kernel.factor is not None else 1.0
    x, y = (kernel.x * root).squeeze(-2), (kernel.y * root).squeeze(-3)
    batch = torch.broadcast_shapes(x.shape[:-2], y.shape[:-2], weights.shape[:-2])
    x, y, weights = (part.expand(*batch, *part.shape[-2:]) for part in (x, y, weights))
    width = _WIDTHS[kernel.kernel]
    options = {"kernel": kernel.kernel, "bandwidth": width}
    if not batch:
        return function(x, y, weights=weights, **options)
    parts = [
        function(x[index], y[index], weights=weights[index], **options)
        for index in np.ndindex(*batch)
    ]
    return torch.stack(parts).reshape(*batch, *parts[0].shape)

"""One or two Parzen estimates, and their overlap: the one double sum behind every measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array

from mercer._arrays import Array
from mercer.bandwidth import resolve_bandwidth
from mercer.kernels import Kernel, get_kernel, overlap_width
from mercer.samples import check_pair, check_sample, home_of, total_weight
from mercer.sums import log_kernel_sum

Weights = Any  # float64 of shape (n,), a Dask array if the rows are one; or None


def log_mean_kernel(
    X: Array, w_x: Weights, Y: Array | None, w_y: Weights, kernel: Kernel, width: float
) -> Array:
    """Return log Σᵢ Σⱼ wᵢ wⱼ k(xᵢ, yⱼ) / (Σ wᵢ · Σ wⱼ), Y = X if None; k(0) = 1, float64."""
    columns = X if Y is None else Y
    home = home_of(X, columns)
    weights = None if w_y is None else home.like(w_y, columns)
    rows = log_kernel_sum(X, Y, weights=weights, kernel=kernel, bandwidth=width)
    rows = as_double(rows)
    if w_x is not None:
        rows = rows + home.like(np.log(w_x), rows)
    log_pairs = np.log(total_weight(X, w_x)) + np.log(total_weight(columns, w_y))
    return home.log_total(rows) - float(log_pairs)


def as_double(A: Array) -> Array:
    """Return A in float64."""
    xp: Any = array_namespace(A)
    return xp.astype(A, xp.float64)


def as_scalar(value: Array, X: Array) -> Any:
    """Return a 0-d result as users get it: a float, or a tensor in the precision of X."""
    return value.to(X.dtype) if is_torch_array(X) else float(value)


def exp(value: Array) -> Array:
    """Return exp without a warning: beyond the range of floats, 0 and infinity are right."""
    xp: Any = array_namespace(value)
    with np.errstate(over="ignore", under="ignore"):
        return xp.exp(value)


def times_exp(value: Array, exponent: Array) -> Array:
    """Return value · exp(exponent), 0 where the value is 0, also where the factor overflows."""
    xp: Any = array_namespace(exponent)
    half = exp(xp.minimum(exponent / 2, xp.full_like(exponent, 700.0)))
    with np.errstate(over="ignore", under="ignore"):
        return value * half * half


@dataclass(frozen=True)
class Estimate:
    """Rows and weights with a bandwidth: a Parzen estimate."""

    X: Array
    weights: Weights
    bandwidth: float
    kernel: Kernel

    @classmethod
    def of(cls, X: Any, sample_weight: Any, bandwidth: Any, kernel: str | Kernel) -> "Estimate":
        """Return the estimate of a sample as users pass it, checked."""
        kernel = get_kernel(kernel)
        X, weights = check_sample(X, sample_weight)
        return cls(X, weights, resolve_bandwidth(bandwidth, X, weights, kernel=kernel), kernel)

    def log_self_overlap(self) -> Array:
        """Return log of the double sum over the sample, k(0) = 1."""
        return log_mean_kernel(self.X, self.weights, None, self.weights, self.kernel, self.width)

    @property
    def width(self) -> float:
        """Width of the kernel that is summed."""
        return overlap_width(self.kernel, self.bandwidth, self.bandwidth)

    @property
    def log_normaliser(self) -> float:
        """Log of the integral of that kernel, by which the overlap becomes one of densities."""
        return self.kernel.log_normaliser(self.width, self.X.shape[1])


@dataclass(frozen=True)
class Pair:
    """Two Parzen estimates of one library, precision, kernel and number of columns."""

    x: Estimate
    y: Estimate

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        sample_weight: Any,
        sample_weight_y: Any,
        bandwidth: Any,
        kernel: str | Kernel,
    ) -> "Pair":
        """Return the estimates of two samples, checked; a rule looks at the rows of both."""
        kernel = get_kernel(kernel)
        X, w_x, Y, w_y = check_pair(X, sample_weight, Y, sample_weight_y)
        if isinstance(bandwidth, Sequence) and not isinstance(bandwidth, str):
            if len(bandwidth) != 2:
                raise ValueError(
                    f"bandwidth must be one, or two, for X and for Y; got {len(bandwidth)} of them."
                )
            h_x = resolve_bandwidth(bandwidth[0], X, w_x, kernel=kernel)
            h_y = resolve_bandwidth(bandwidth[1], Y, w_y, kernel=kernel)
        else:
            h_x = h_y = _pooled_bandwidth(bandwidth, X, Y, w_x, w_y, kernel)
        overlap_width(kernel, h_x, h_y)  # raises if the kernel cannot mix these widths
        return cls(Estimate(X, w_x, h_x, kernel), Estimate(Y, w_y, h_y, kernel))

    @property
    def kernel(self) -> Kernel:
        """The kernel of both."""
        return self.x.kernel

    @property
    def width(self) -> float:
        """Width of the kernel that is summed over pairs of rows of X and Y."""
        return overlap_width(self.kernel, self.x.bandwidth, self.y.bandwidth)

    @property
    def log_normaliser(self) -> float:
        """Log of the integral of that kernel."""
        return self.kernel.log_normaliser(self.width, self.x.X.shape[1])

    def log_cross_overlap(self) -> Array:
        """Return log of the double sum over pairs of rows of X and Y, k(0) = 1."""
        x, y = self.x, self.y
        return log_mean_kernel(x.X, x.weights, y.X, y.weights, self.kernel, self.width)

    def relative_normalisers(self) -> tuple[float, float]:
        """Return the log normalisers of the self-overlaps over that of the cross-overlap.

        With one bandwidth they cancel, and a kernel without a finite integral can be used too.
        """
        if self.x.bandwidth == self.y.bandwidth:
            return 0.0, 0.0
        cross = self.log_normaliser
        return self.x.log_normaliser - cross, self.y.log_normaliser - cross


def _pooled_bandwidth(
    bandwidth: Any, X: Array, Y: Array, w_x: Weights, w_y: Weights, kernel: Kernel
) -> float:
    if not isinstance(bandwidth, str):
        return resolve_bandwidth(bandwidth, X)
    weights = None
    if w_x is not None or w_y is not None:
        counts = (np.ones(len(A)) if w is None else w for A, w in ((X, w_x), (Y, w_y)))
        weights = np.concatenate(list(counts))
    return resolve_bandwidth(bandwidth, array_namespace(X).concat([X, Y]), weights, kernel=kernel)

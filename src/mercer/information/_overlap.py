"""The overlap of two weighted samples: the one double sum behind every measure."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array

from mercer._arrays import Array
from mercer.kernels import Kernel, cross_width
from mercer.samples import home_of, total_weight
from mercer.sums import log_kernel_sum

Weights = Any  # (n,) float64, a Dask array where the rows are one; or None


def overlap_width(kernel: Kernel, bandwidth_x: float, bandwidth_y: float) -> float:
    """Return the width of the kernel whose double sum is the overlap of two Parzen estimates.

    Gaussian windows overlap as a Gaussian of width √(h₁² + h₂²), EQ eq. (21).  Of others the
    kernel itself is summed, EQ eq. (62).
    """
    if kernel.name == "gaussian":
        return cross_width(bandwidth_x, bandwidth_y)
    if bandwidth_x != bandwidth_y:
        raise ValueError(
            f"Two bandwidths, {bandwidth_x:g} and {bandwidth_y:g}, need kernel='gaussian', got "
            f"{kernel.name!r}; pass one bandwidth."
        )
    return bandwidth_x


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
    """Return exp, where 0 and infinity are meant beyond the range of floats."""
    xp: Any = array_namespace(value)
    with np.errstate(over="ignore", under="ignore"):
        return xp.exp(value)


def times_exp(value: Array, exponent: Array) -> Array:
    """Return value · exp(exponent), 0 where the value is 0, also where the factor overflows."""
    xp: Any = array_namespace(exponent)
    half = exp(xp.minimum(exponent / 2, xp.full_like(exponent, 700.0)))
    with np.errstate(over="ignore", under="ignore"):
        return value * half * half

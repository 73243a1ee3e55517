"""Σⱼ k(xᵢ, yⱼ) cⱼ for the kernels of kernel machines; the engine computes those of a distance."""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from mercer._arrays import Array
from mercer._memory import in_blocks, is_on_gpu, working_memory
from mercer.kernels import KERNELS, KernelFunction, width_from_gamma
from mercer.samples import in_memory
from mercer.sums._api import kernel_sum

# What the engine calls the kernels that it has.
_ENGINE_NAMES = {"rbf": "gaussian", "exponential": "exponential", "laplacian": "laplacian"}

# By bytes of a number: weights below this share of the largest of their column are left out.
_NOTHING = {4: 1e-17, 8: 1e-140}


def combine_kernel(function: KernelFunction, X: Any, Y: Any, coef: Array) -> Array:
    """Return Σⱼ k(x, yⱼ) coefⱼ at each row x, of shape (n, n_outputs), in bounded memory."""
    xp: Any = array_namespace(X)
    by_engine = function.kernel in _ENGINE_NAMES
    if by_engine and is_numpy_array(X):
        return _engine_sums(function, X, Y, coef)
    out = xp.empty((X.shape[0], coef.shape[1]), dtype=xp.float64, device=device(X))

    def fill(rows: slice) -> None:
        block = X[rows, :]
        if by_engine:
            out[rows, :] = _engine_sums(function, block, Y, coef)
            return
        with np.errstate(over="ignore", invalid="ignore"):
            out[rows, :] = function.matrix(block, Y) @ coef
        if not bool(xp.all(xp.isfinite(out[rows, :]))):
            raise ValueError(
                f"X has rows so large that kernel={function.kernel!r} is beyond the range of "
                "floating point."
            )

    # The engine bounds its own memory, but not that of the rows and sums in float64.
    wide = X.shape[1] + coef.shape[1] if by_engine else Y.shape[0]
    in_blocks(fill, X.shape[0], working_memory() // 4 // (8 * wide))
    return out


def kernel_products(function: KernelFunction, X: Any, coef: Array) -> Array:
    """Return Σⱼ k(xᵢ, xⱼ) coefⱼ over all rows: products of their kernel matrix, in float64.

    Rows in float32 are summed in float32; columns may be of any scale.  For a kernel that the
    engine has, X may be in the blocks of a Dask array, whose workers then share the pairs; the
    products are in memory.
    """
    if function.kernel not in _ENGINE_NAMES:
        return combine_kernel(function, X, X, coef)
    return _engine_sums(function, X, None, coef)


def _in_the_engine(function: KernelFunction) -> tuple[str, float]:
    """Return the engine's name of a kernel, and its width there."""
    name = _ENGINE_NAMES[str(function.kernel)]
    is_gaussian = name == "gaussian"
    return name, width_from_gamma(function.gamma) if is_gaussian else 1.0 / function.gamma


def _engine_sums(function: KernelFunction, X: Any, Y: Any, coef: Array) -> Array:
    """Return sums of a kernel that the engine has, in float64; of X with itself if Y is None."""
    xp: Any = array_namespace(coef)
    name, width = _in_the_engine(function)
    X, Y = function.scaled(X), None if Y is None else function.scaled(Y)
    # Columns may be of any scale.  Weights that are nothing beside the largest of their column
    # would ask for a pass of their own; a solution is not exact to so many digits.
    top = xp.max(xp.abs(coef), axis=0)
    top = xp.where(top > 0, top, xp.ones_like(top))
    weights = coef / top
    weights = xp.where(xp.abs(weights) < _NOTHING[X.dtype.itemsize], 0.0, weights)
    if X.dtype.itemsize == 4:
        weights = xp.astype(weights, xp.float32)
    kernel = KERNELS[name]
    if kernel.metric == "euclidean" and X.dtype.itemsize == 4 and is_on_gpu(X):
        # Products on the matrix units give even the distance of close rows to 1e-4 of the radius:
        # differences, which others get for a kernel with a cusp, take several times as long.
        kernel = replace(kernel, is_smooth=True)
    sums = in_memory(kernel_sum(X, Y, weights=weights, bandwidth=width, kernel=kernel))
    return xp.astype(sums, xp.float64, copy=False) * top

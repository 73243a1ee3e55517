"""Σⱼ k(xᵢ, yⱼ) cⱼ for the kernels of kernel machines; the engine computes those of a distance."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from mercer._arrays import Array
from mercer._memory import in_blocks, working_memory
from mercer.kernels import KernelFunction, width_from_gamma
from mercer.sums._api import kernel_sum

# What the engine calls the kernels that it has.
_ENGINE_NAMES = {"rbf": "gaussian", "exponential": "exponential", "laplacian": "laplacian"}


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


def _engine_sums(function: KernelFunction, X: Any, Y: Any, coef: Array) -> Array:
    """Return sums of a kernel that the engine has, in float64."""
    xp: Any = array_namespace(X)
    name = _ENGINE_NAMES[str(function.kernel)]
    width = width_from_gamma(function.gamma) if name == "gaussian" else 1.0 / function.gamma
    X, Y = function.scaled(X), function.scaled(Y)
    sums = kernel_sum(X, Y, weights=coef, bandwidth=width, kernel=name)
    return xp.astype(sums, xp.float64, copy=False)

"""Class sums at new points, with the digits that a decision needs."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_dask_array
from numpy.typing import NDArray

from mercer._arrays import Array, itemsize, take_rows, to_numpy
from mercer.kernels import Kernel, get_kernel
from mercer.samples import as_blocks, from_memory
from mercer.sums import log_kernel_sum

_FAR = -1e4  # logarithms below which classes may differ by less than float32 resolves


def log_class_sums(
    X: Array, rows: Array, weights: Array, *, n_classes: int, **options: Any
) -> Array:
    """Return `log_kernel_sum` in float64: (n, C).

    Far from all rows, logarithms of float32 numbers are so large that their differences between
    classes drown in rounding: such points are summed in float64.  C is `n_classes`, whether or
    not a block of a Dask array has rows of all classes.
    """
    if is_dask_array(X):
        return class_sums_in_blocks(X, rows, weights, n_classes, log=True, **options)
    xp = array_namespace(X)
    sums = log_kernel_sum(X, rows, weights=xp.astype(weights, rows.dtype), **options)
    sums = xp.astype(sums, xp.float64)
    if itemsize(X) == 8:
        return sums
    is_far = to_numpy(xp.max(sums, axis=1) < _FAR)
    if not is_far.any():
        return sums
    near, far = np.flatnonzero(~is_far), np.flatnonzero(is_far)
    X, rows = xp.astype(take_rows(X, far), xp.float64), xp.astype(rows, xp.float64)
    again = log_kernel_sum(X, rows, weights=xp.astype(weights, xp.float64), **options)
    return take_rows(xp.concat([take_rows(sums, near), again]), np.argsort(np.r_[near, far]))


def class_sums_in_blocks(
    X: Array,
    rows: Array,
    weights: Array,
    n_classes: int,
    *,
    log: bool,
    groups: Array,
    bandwidth: float,
    kernel: str | Kernel = "gaussian",
    tol: float | None = None,
) -> Array:
    """Return the sums over classes, or their logarithms, as a Dask array in float64: (n, C)."""
    from mercer.sums.dask._run import block_sums

    Y = rows if is_dask_array(rows) else from_memory(rows)
    options = {
        "log": log, "self_sum": False, "exclude_self": False,
        "method": "auto", "tol": tol, "precision": "high",
    }  # fmt: skip
    return block_sums(
        X,
        Y,
        as_blocks(weights, Y),
        as_blocks(groups, Y),
        n_classes,
        get_kernel(kernel),
        (float(bandwidth),),
        options,
        again=_are_far if log else None,
    )[0]


def _are_far(sums: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(sums.max(axis=1) < _FAR)

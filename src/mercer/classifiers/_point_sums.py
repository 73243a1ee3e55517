"""Class sums at new points, with the digits that a decision needs."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, itemsize, take_rows, to_numpy
from mercer.sums import log_kernel_sum

_FAR = -1e4  # logarithms below which classes may differ by less than float32 resolves


def log_class_sums(X: Array, rows: Array, weights: Array, **options: Any) -> Array:
    """Return `log_kernel_sum` in float64: (n, C).

    Far from all rows, logarithms of float32 numbers are so large that their differences between
    classes drown in rounding: such points are summed in float64.
    """
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

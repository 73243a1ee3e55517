"""Sums of absolute differences by column: derivatives of the city-block kernel by its scales."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array

from mercer._arrays import Array

# The rows are cut into this many parts, so that the order of additions is always the same.
_PARTS = 32


def weighted_differences(M: Array, X: Array) -> Array:
    """Return Σᵢⱼ Mᵢⱼ |xᵢₖ − xⱼₖ| for every column k of X.

    Parameters
    ----------
    M : array of shape (n, n)
        Weights of the pairs, in float64.
    X : array of shape (n, d)
        Rows, in float64.

    Returns
    -------
    array of shape (d,)
        In NumPy by n²·d/2 steps of compiled code on all cores; of tensors column by column.
    """
    if not is_numpy_array(X):
        xp: Any = array_namespace(X)
        columns = (X[:, k] for k in range(X.shape[1]))
        return xp.stack([xp.sum(M * xp.abs(x[:, None] - x)) for x in columns])
    from mercer.sums.cpu._loops import add_differences
    from mercer.sums.cpu._threads import run_all

    M, X = np.ascontiguousarray(M), np.ascontiguousarray(X)
    # Row i has i pairs: parts of equal work end at the square roots of equal steps.
    ends = np.round(len(X) * np.sqrt(np.arange(_PARTS + 1) / _PARTS)).astype(int)
    totals = np.zeros((_PARTS, X.shape[1]))

    def add(part: int) -> None:
        add_differences(M, X, ends[part], ends[part + 1], totals[part])

    run_all(add, [(part,) for part in range(_PARTS)])
    return totals.sum(axis=0)

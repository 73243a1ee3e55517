"""Distances of all pairs of rows, in full."""

from typing import Any

from array_api_compat import array_namespace, is_numpy_array

Array = Any

# Squared distances by products below this share of the squared norms have lost digits.
_CANCELLED = 1e-5
_BLOCK = 2**22  # numbers in a block of differences: 32 MiB


def squared_distances(X: Array, Y: Array) -> Array:
    """Return the squared distances of all pairs, in full: (n, m).

    Products about the mean of Y are quick and lose the digits of rows that are close together;
    such pairs are taken by differences.
    """
    xp: Any = array_namespace(X)
    centre = xp.mean(Y, axis=0)
    A, B = X - centre, Y - centre
    squared = A @ (-2.0 * B.T)
    norms = xp.vecdot(A, A)[:, None] + xp.vecdot(B, B)
    squared += norms
    rows, columns = xp.nonzero(squared < _CANCELLED * norms)
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, rows.shape[0], step):
        i, j = rows[start : start + step], columns[start : start + step]
        squared[i, j] = xp.sum((X[i, :] - Y[j, :]) ** 2, axis=1)
    return xp.maximum(squared, 0.0)


def absolute_differences(X: Array, Y: Array) -> Array:
    """Return the sums of absolute differences of all pairs, in full: (n, m)."""
    if is_numpy_array(X):
        from scipy.spatial.distance import cdist

        return cdist(X, Y, "cityblock")
    from torch import cdist as torch_cdist

    return torch_cdist(X.to(Y.dtype), Y, p=1.0)

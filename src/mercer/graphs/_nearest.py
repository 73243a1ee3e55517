"""The nearest rows, by distances that keep their digits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["is_wide", "nearest_rows", "squared_differences", "without_self"]

FloatArray = NDArray[np.float64]

_CHUNK = 2**22  # numbers in a block of differences: 32 MiB
_WIDE = 15  # columns above which a tree visits nearly all rows
_ROUNDING = 32 * np.finfo(np.float64).eps  # of squared norms: error of distances by products
_DOUBT = 1e-6  # error, relative to a squared distance, above which differences decide


def is_wide(X: NDArray[Any]) -> bool:
    """Whether matrix products find neighbours sooner than a tree."""
    return bool(X.shape[1] > _WIDE)


def nearest_rows(Y: NDArray[Any], k: int, X: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """Return which k rows of Y are nearest to each row of X: (n, k), in no order.

    X None takes the rows of Y themselves, each without itself.  Many columns are searched by matrix
    products about the mean; rows so far from it, relative to their neighbours, that products
    have lost the digits which tell these apart are looked for in a tree, by differences.
    """
    centre = Y.mean(axis=0, dtype=np.float64)
    Yc = Y - centre
    if not is_wide(Y):
        tree = NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(Yc)
        found = tree.kneighbors(None if X is None else X - centre, return_distance=False)
        return np.asarray(found, dtype=np.intp)
    index = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(Yc)
    Xc = Yc if X is None else X - centre
    found = index.kneighbors(None if X is None else Xc, return_distance=False)
    rows = np.repeat(np.arange(len(Xc)), k)
    reach = squared_differences(Xc, rows, found.ravel(), Yc).reshape(found.shape).max(axis=1)
    error = _ROUNDING * (np.einsum("ij,ij->i", Xc, Xc) + reach)
    doubtful = np.flatnonzero((error > _DOUBT * reach) & (reach > 0))
    if doubtful.size:
        tree = NearestNeighbors(algorithm="kd_tree").fit(Yc)
        more = k + (X is None)
        sure = tree.kneighbors(Xc[doubtful], n_neighbors=more, return_distance=False)
        found[doubtful] = without_self(sure, doubtful) if X is None else sure
    return np.asarray(found, dtype=np.intp)


def without_self(found: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Leave each row out of what was found for it; the last one where copies hide it."""
    is_self = found == rows[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    kept: NDArray[np.intp] = found[~is_self].reshape(len(rows), found.shape[1] - 1)
    return kept


def squared_differences(
    X: NDArray[Any], rows: NDArray[np.intp], columns: NDArray[np.intp], Y: Any = None
) -> FloatArray:
    """‖x_r − y_c‖² for pairs of row numbers, by differences, in blocks; Y is X by default."""
    Y = X if Y is None else Y
    out = np.empty(len(rows))
    step = max(1, _CHUNK // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        difference = X[rows[part]].astype(np.float64) - Y[columns[part]]
        out[part] = (difference * difference).sum(axis=1)
    return out

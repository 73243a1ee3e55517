"""Nearest rows, exactly, for data of any scale, offset and spread.

Up to 15 features a tree searches, by differences.  Above that a tree looks at every row, and
products ‖x‖² + ‖y‖² − 2x·y about the mean are far quicker, but wrong by some eps of the squared
radius of the data.  So products only propose: where that error could change which rows are the
nearest, all candidates are compared by differences.

Where there are many pairs of rows, the compiled tiles of the sums search instead, by differences,
in memory that grows with the rows: of more features than a tree is quick with, and of no more than
leave BLAS behind.
"""

from collections.abc import Iterator
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from mercer._arrays import FloatArray
from mercer._memory import row_slabs, working_memory
from mercer.sums import nearest_columns, pairs_in_reach

Indices = NDArray[np.intp]

_TREE_UP_TO = 15  # A tree searches tables of up to this many features.
_MANY_PAIRS = 2000**2  # More pairs than this are worth the compiled search, which is loaded first.
_TREE_UP_TO_FOR_MANY = 5  # The features up to which a tree is quicker than that,
_TILES_UP_TO = 64  # and those beyond which products of BLAS are.
_EXPONENT = 490  # Coordinates are scaled to below this power of two, so that squares stay in range.
_CHUNK = 2**22  # Differences are computed in blocks of this many numbers, 32 MiB.
_SHORTEST, _LONGEST = 1e-300, 1e307  # Squared distances between these two keep all their digits.


def squared_differences(X: NDArray[Any], rows: Indices, columns: Indices, Y: Any) -> FloatArray:
    """Return ‖x_r − y_c‖² for pairs of row numbers, by differences, in blocks.

    ValueError if one of these squares overflows, or if all of them underflow.
    """
    out = np.empty(len(rows))
    farthest = 0.0  # the largest difference among those whose squares underflow
    for part, difference in _differences(X, rows, columns, Y):
        out[part] = (difference * difference).sum(axis=1)
        if out[part].max(initial=0.0) < _SHORTEST:
            farthest = max(farthest, float(np.abs(difference).max(initial=0.0)))
        elif out[part].max() > _LONGEST:
            _raise_out_of_range(float(np.abs(difference).max()))
    if farthest > 0 and out.max(initial=0.0) < _SHORTEST:
        _raise_out_of_range(farthest)
    return out


def _raise_out_of_range(apart: float) -> None:
    raise ValueError(
        f"X has rows that are {apart:.3g} apart: the square of that is beyond the range of "
        "floating point; scale the columns of X, for example with StandardScaler."
    )


def nearest_rows(X: NDArray[Any], Y: NDArray[Any] | None, k: int) -> Indices:
    """Return (n, k) numbers of the nearest rows of Y, or of the other rows of X, in no order."""
    scaled = _in_range(X) if Y is None else _in_range(X, Y)
    A, B = scaled[0], scaled[-1]
    many = len(A) * len(B) > _MANY_PAIRS
    if many and _TREE_UP_TO_FOR_MANY < A.shape[1] <= _TILES_UP_TO:
        return nearest_columns(A, None if Y is None else B, k)
    if A.shape[1] <= _TREE_UP_TO:
        tree = NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(B)
        found: Indices = tree.kneighbors(None if Y is None else A, return_distance=False)
        return found
    return _by_products(A, None if Y is None else B, k)


def rows_within(X: NDArray[Any], radius: float) -> tuple[Indices, Indices]:
    """Return pairs of different rows (i, j), sorted by i, that may be within the radius.

    All pairs that are within it are among them, and few others.
    """
    (A,), scale = _in_range(X), _scale(X)
    with np.errstate(over="ignore"):
        reach = min(radius * scale * (1 + 1e-9), 1e153)
    if A.shape[1] <= _TREE_UP_TO:
        tree = NearestNeighbors(radius=reach, algorithm="kd_tree").fit(A)
        found = tree.radius_neighbors(return_distance=False)
        counts = np.array([len(f) for f in found])
        return np.repeat(np.arange(len(A)), counts), np.concatenate([*found, np.arange(0)])
    squares = np.full(len(A), reach**2)
    pairs = list(_pairs_in_reach(A, A, squares, squares))
    i, j = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return i[i != j], j[i != j]


def pairs_within_radii(
    X: NDArray[Any], Y: NDArray[Any], radii_X: FloatArray, radii_Y: FloatArray
) -> Iterator[tuple[Indices, Indices]]:
    """Yield pairs (row of X, row of Y) of which either may be within the other's squared radius."""
    (A, B), scale = _in_range(X, Y), _scale(X, Y)
    with np.errstate(over="ignore", under="ignore"):  # An infinite radius reaches all rows.
        squares = [radii * scale * scale for radii in (radii_X, radii_Y)]
    yield from _pairs_in_reach(A, B, *squares)


def _by_products(X: FloatArray, Y: FloatArray | None, k: int) -> Indices:
    """Return the nearest rows by a matrix product, and by differences where that may be wrong."""
    rows = X if Y is None else Y
    centre = rows.mean(axis=0)
    A, B = X - centre, rows - centre
    most = len(rows) - (Y is None)
    search = NearestNeighbors(n_neighbors=min(k + 1, most), algorithm="brute").fit(B)
    distances, proposed = search.kneighbors(None if Y is None else A)
    found: Indices = proposed[:, :k]
    if k == most:
        return found
    error, squares = _error(A, B), distances**2
    doubtful = np.flatnonzero(squares[:, k] - squares[:, k - 1] <= 2 * error)
    bounds = squares[:, k - 1] + 2 * error
    for start, stop in row_slabs(len(doubtful), 24 * len(B), working_memory()):
        some = doubtful[start:stop]
        near = euclidean_distances(A[some], B, squared=True) <= bounds[some, np.newaxis]
        i, j = np.nonzero(near)
        i = some[i]
        if Y is None:
            i, j = i[i != j], j[i != j]
        exact = np.empty(len(i))
        for part, difference in _differences(X, i, j, rows):
            exact[part] = (difference * difference).sum(axis=1)
        order = np.lexsort((j, exact, i))
        i, j = i[order], j[order]
        compared, starts = np.unique(i, return_index=True)
        found[compared] = j[starts[:, np.newaxis] + np.arange(k)]
    return found


def _error(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return bounds on the error of products in squared distances of each row of A to B."""
    norms_A, norms_B = (np.einsum("ij,ij->i", C, C) for C in (A, B))
    eps = float(np.finfo(np.float64).eps)
    error: FloatArray = 4 * (A.shape[1] + 4) * eps * (norms_A + norms_B.max(initial=0.0))
    return error


def _pairs_in_reach(
    A: FloatArray, B: FloatArray, squares_A: FloatArray, squares_B: FloatArray
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the pairs whose squared distance may be within the larger of their squared radii."""
    if len(A) * len(B) > _MANY_PAIRS:
        yield pairs_in_reach(A, B, squares_A, squares_B)
    else:
        yield from _pairs_by_products(A, B, squares_A, squares_B)


def _pairs_by_products(
    A: FloatArray, B: FloatArray, squares_A: FloatArray, squares_B: FloatArray
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the pairs whose squared distance may be within the larger of their squared radii."""
    centre = B.mean(axis=0)
    A, B = A - centre, B - centre
    error = _error(A, B)
    for start, stop in row_slabs(len(A), 24 * len(B), working_memory()):
        batch = slice(start, stop)
        reach = np.maximum(squares_A[batch, np.newaxis], squares_B)
        near = (
            euclidean_distances(A[batch], B, squared=True) <= reach + 2 * error[batch, np.newaxis]
        )
        i, j = np.nonzero(near)
        yield i + start, j


def _differences(
    X: NDArray[Any], rows: Indices, columns: Indices, Y: NDArray[Any]
) -> Iterator[tuple[slice, FloatArray]]:
    step = max(1, _CHUNK // max(1, X.shape[1]))
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            yield part, X[rows[part]].astype(np.float64) - Y[columns[part]]


def _in_range(*arrays: NDArray[Any]) -> list[FloatArray]:
    """Return the rows multiplied by one power of two, so that squares of them are in range."""
    scale = _scale(*arrays)
    return [A.astype(np.float64) * scale for A in arrays]


def _scale(*arrays: NDArray[Any]) -> float:
    largest = max(float(np.abs(A).max(initial=0.0)) for A in arrays)
    return float(2.0 ** min(_EXPONENT - frexp(largest)[1], 1000)) if largest else 1.0

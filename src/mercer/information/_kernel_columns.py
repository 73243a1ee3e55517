"""Columns whose products are a kernel, at several widths: what a test of independence sees.

The columns of one side are made from its rows, and from random numbers of their own, alone.  What
permutes the rows of the side therefore permutes the rows of its columns, and no permuted sample
needs to be looked at again.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from mercer._arrays import FloatArray
from mercer._linalg import eigh
from mercer._memory import row_slabs, working_memory
from mercer.bandwidth import resolve_bandwidth
from mercer.information._median import near_one
from mercer.kernels import mercer_width, parzen_bandwidth, squared_distances

_DISTANCES_OF = 500  # Widths come from the distances of at most this many rows.
# Shares of the pairs of different rows that are closer than a width.
_SHARES = (0.5, 0.25, 0.125, 0.0625)
_WIDER = (4.0, 2.0)  # Times the median distance: where a Gaussian is almost a parabola.
_LANDMARKS = 128  # The kernel is made from its values at this many rows.
MOST_COLUMNS = 40  # Eigenvectors of the landmarks' kernel matrix are kept up to this number,
_LEFT_OUT = 0.01  # or until less than this share of the variance is left out.
_RANK = 1e-10  # Eigenvalues below this share of the largest are rounding errors.
_BY_DIFFERENCES = 8  # Up to this many columns, distances come from differences.


@dataclass(frozen=True)
class KernelColumns:
    """Columns of mean 0 for each width, side by side; AAᵀ is the centred kernel, up to a factor.

    Attributes
    ----------
    columns : ndarray of shape (n, p)
        Those of one width, A, are scaled so that ‖AᵀA‖ = 1; all 0 for a constant side.
    means : ndarray of shape (p,)
        What was taken away, in the same units.
    starts : ndarray of shape (widths + 1,)
        Where the columns of each width start.
    bandwidths : ndarray of shape (widths,)
        The Parzen bandwidth of each.
    """

    columns: FloatArray
    means: FloatArray
    starts: NDArray[np.int64]
    bandwidths: FloatArray

    def __len__(self) -> int:
        return len(self.bandwidths)

    def parts(self) -> list[slice]:
        """Return where the columns of each width are."""
        return [slice(a, b) for a, b in pairwise(self.starts.tolist())]


def kernel_columns(X: FloatArray, bandwidth: Any, random: np.random.RandomState) -> KernelColumns:
    """Return the columns of one side for a bandwidth, or for the ladder where that is None."""
    given = None if bandwidth is None else mercer_width(resolve_bandwidth(bandwidth, X))
    rows, unit = near_one(X)
    if given is not None:
        widths = np.array([given / unit])
    else:
        widths = _widths(rows[random.permutation(len(rows))[:_DISTANCES_OF]])
    landmarks = rows[random.permutation(len(rows))[:_LANDMARKS]]
    within = _squared_distances(landmarks, landmarks)
    maps = [_eigenmap(_kernel(within, width)) for width in widths]
    starts = np.concatenate([[0], np.cumsum([part.shape[1] for part in maps])])
    columns = np.empty((len(rows), starts[-1]))
    parts = [slice(a, b) for a, b in pairwise(starts.tolist())]
    for start, stop in row_slabs(len(rows), 32 * len(landmarks), working_memory() // 4):
        distances = _squared_distances(rows[start:stop], landmarks)
        for part, width, map_ in zip(parts, widths, maps, strict=True):
            columns[start:stop, part] = _kernel(distances, width) @ map_
    means = columns.mean(axis=0)
    columns -= means
    for part in parts:
        A = columns[:, part]
        # A constant side leaves rounding errors, which are no columns.
        spread = np.linalg.norm(A.T @ A) / len(rows)
        scale = 0.0 if spread < _RANK else (spread * len(rows)) ** -0.5
        columns[:, part] *= scale
        means[part] *= scale or 1.0
    if given is not None and not columns.any() and rows.any():
        raise ValueError(
            f"bandwidth={parzen_bandwidth(given):.3g} is so wide that rows which differ cannot be "
            "told apart."
        )
    with np.errstate(over="ignore"):
        in_units_of_rows = np.minimum(widths * unit, np.finfo(float).max)
    bandwidths = np.array([parzen_bandwidth(float(width)) for width in in_units_of_rows])
    return KernelColumns(columns, means, starts, bandwidths)


def _widths(rows: FloatArray) -> FloatArray:
    """Return widths, the widest first, at which rows see from most of the others to few."""
    distances = pdist(rows)
    distances = distances[distances > 0]
    if distances.size == 0:
        return np.ones(1)
    closest = np.quantile(distances, _SHARES)
    widths: FloatArray = np.concatenate([np.multiply(_WIDER, closest[0]), closest])
    is_new = np.append(True, np.diff(widths) < -1e-9 * widths[:-1])
    kept: FloatArray = widths[is_new]
    return kept


def _kernel(distances: FloatArray, width: float) -> FloatArray:
    """Return Gaussian kernel values from squared distances; the limits 0 and 1 are right."""
    with np.errstate(over="ignore", under="ignore"):
        values: FloatArray = np.exp(-0.5 * distances / width / width)
    return values


def _squared_distances(X: FloatArray, Y: FloatArray) -> FloatArray:
    if X.shape[1] > _BY_DIFFERENCES:
        return np.asarray(squared_distances(X, Y))
    total = np.zeros((len(X), len(Y)))
    for x, y in zip(X.T, Y.T, strict=True):
        total += (x[:, None] - y) ** 2
    return total


def _eigenmap(K: FloatArray) -> FloatArray:
    """Return what kernel values at the landmarks, with matrix K, are multiplied by: (m, p).

    The columns that come out have the kernel as their products, but for the smallest eigenvalues.
    """
    variance = np.trace(K) - K.mean(axis=0).sum()
    values, vectors = eigh(K.copy())
    values, vectors = values[::-1], vectors[:, ::-1]
    left_out = np.trace(K) - np.cumsum(values)
    n_columns = 1 + int(np.sum(left_out > _LEFT_OUT * variance))
    kept = values[: min(n_columns, MOST_COLUMNS)]
    kept = kept[kept > _RANK * values[0]]
    mapped: FloatArray = vectors[:, : len(kept)] / np.sqrt(kept)
    return mapped

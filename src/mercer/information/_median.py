"""The bandwidth whose kernel is as wide as the median distance of two rows of all samples."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from mercer._arrays import Array, FloatArray, take_rows, to_numpy
from mercer.kernels import Kernel, parzen_bandwidth

_MEDIAN_OF = 1000  # The median distance is taken from at most this many rows.
_FARTHEST = 1e150  # In sizes of a usual row: farther coordinates are this, whose square is finite.


def median_bandwidth(
    parts: Sequence[Array], kernel: Kernel, random: np.random.RandomState
) -> float:
    """Return the bandwidth whose kernel is as wide as the median distance of two rows.

    Rows are drawn from all parts alike, so that the median says nothing of which row is whose.
    """
    n = sum(part.shape[0] for part in parts)
    rows = np.concatenate([to_numpy(part).astype(np.float64) for part in _drawn(parts, n, random)])
    rows, unit = near_one(rows)
    if not rows.any():
        return unit
    distances = pdist(rows, kernel.metric)
    # The median is 0 if half of the rows are equal.
    median = float(np.median(distances)) or float(distances.mean())
    width = min(unit * median, np.finfo(float).max)
    return parzen_bandwidth(width) if kernel.name == "gaussian" else width


def near_one(X: FloatArray) -> tuple[FloatArray, float]:
    """Return rows about their medians, over the size of a usual row, and what that is.

    One row far out leaves the others their digits, wherever it stands.
    """
    rows = X / 2  # so that differences are finite
    rows = rows - np.median(rows, axis=0)
    sizes = np.abs(rows).max(axis=1)
    if not sizes.any():  # Any size will do, if its ratio to the coordinates has a square.
        return rows, max(1.0, 1e-100 * float(np.abs(X).max()))
    usual = float(np.median(sizes[sizes > 0]))
    with np.errstate(over="ignore"):
        rows = np.clip(rows / usual, -_FARTHEST, _FARTHEST)
    return rows, min(2 * usual, float(np.finfo(float).max))


def _drawn(parts: Sequence[Array], n: int, random: np.random.RandomState) -> list[Array]:
    """Return at most `_MEDIAN_OF` of the n rows of all parts."""
    if n <= _MEDIAN_OF:
        return list(parts)
    chosen = random.choice(n, _MEDIAN_OF, replace=False)
    ends = np.cumsum([part.shape[0] for part in parts])
    which = np.searchsorted(ends, chosen, side="right")
    starts = ends - [part.shape[0] for part in parts]
    return [take_rows(part, chosen[which == i] - starts[i]) for i, part in enumerate(parts)]

"""The bandwidth whose kernel is as wide as the median distance of two rows of all samples."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from mercer._arrays import Array, take_rows, to_numpy
from mercer.kernels import Kernel, parzen_bandwidth

_MEDIAN_OF = 1000  # The median distance is taken from at most this many rows.


def median_bandwidth(
    parts: Sequence[Array], kernel: Kernel, random: np.random.RandomState
) -> float:
    """Return the bandwidth whose kernel is as wide as the median distance of two rows.

    Rows are drawn from all parts alike, so that the median says nothing of which row is whose.
    """
    n = sum(part.shape[0] for part in parts)
    rows = np.concatenate([to_numpy(part).astype(np.float64) for part in _drawn(parts, n, random)])
    farthest = float(np.abs(rows).max())
    rows = rows / 2 - rows[:1] / 2
    unit = float(np.abs(rows).max())
    if unit == 0:  # Any width is as good as another, if its ratio to the coordinates has a square.
        return max(1.0, 1e-100 * farthest)
    distances = pdist(rows / unit, kernel.metric)
    # The median is 0 if half of the rows are equal.
    median = float(np.median(distances)) or float(distances.mean())
    width = 2 * unit * median
    return parzen_bandwidth(width) if kernel.name == "gaussian" else width


def _drawn(parts: Sequence[Array], n: int, random: np.random.RandomState) -> list[Array]:
    """Return at most `_MEDIAN_OF` of the n rows of all parts."""
    if n <= _MEDIAN_OF:
        return list(parts)
    chosen = random.choice(n, _MEDIAN_OF, replace=False)
    ends = np.cumsum([part.shape[0] for part in parts])
    which = np.searchsorted(ends, chosen, side="right")
    starts = ends - [part.shape[0] for part in parts]
    return [take_rows(part, chosen[which == i] - starts[i]) for i, part in enumerate(parts)]

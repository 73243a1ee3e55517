"""The door to the compiled search for neighbours; Numba is imported where it is used."""

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]
FloatArray = NDArray[np.float64]


def nearest_columns(X: FloatArray, Y: FloatArray | None, k: int) -> Indices:
    """Return (n, k) numbers of the nearest rows of Y, or of the other rows of X.

    They come in no order; of rows as near as each other, those of smaller numbers are taken.
    Squares of differences must be in the range of floating point.
    """
    from mercer.sums.cpu._near import search_nearest

    return search_nearest(X, Y, k)


def pairs_in_reach(
    X: FloatArray, Y: FloatArray, reach_X: FloatArray, reach_Y: FloatArray
) -> tuple[Indices, Indices]:
    """Return the pairs (row of X, row of Y) of which either is in the other's squared reach.

    They are sorted, and a pair that is beyond by rounding may be among them.
    """
    from mercer.sums.cpu._near import search_in_reach

    return search_in_reach(X, Y, reach_X, reach_Y)

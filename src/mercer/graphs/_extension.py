"""A graph that new rows can join: each row has a radius, which decides about its edges.

Each row has a radius, the distance to its k-th neighbour, and two rows are joined if either is
within the radius of the other.  This is the "or" graph of k neighbours, ties included; and
because it is a rule about pairs, a new row is joined as an old one is, and a copy of an old
row is joined exactly as that row is.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._arrays import Array, FloatArray, to_numpy
from mercer.graphs._search import nearest_rows, pairs_within_radii, squared_differences
from mercer.graphs._sparse import csr_of_pairs
from mercer.samples import check_rows, match_rows

_TIGHT = 1e-12  # Squared radii are larger by this share, so that rounding separates no ties.


def neighbor_radii(X: Any, Y: Any, n_neighbors: int) -> FloatArray:
    """Squared distance from each row of X to its `n_neighbors`-th nearest row of Y.

    A row of X that is in Y counts among its own neighbours.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, old or new.
    Y : array-like of shape (m, d)
        Rows among which neighbours are looked for.
    n_neighbors : int
        Which neighbour; the farthest where there are fewer.

    Returns
    -------
    ndarray of shape (n,)
        Squared radii.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.graphs import neighbor_radii
    >>> Y = np.array([[0.0], [1.0], [3.0]])
    >>> neighbor_radii(Y, Y, 2), neighbor_radii([[2.5]], Y, 2)
    (array([1., 1., 4.]), array([2.25]))
    """
    X, Y = _pair_of_tables(X, Y)
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be 1 or more, got {n_neighbors}.")
    k = min(n_neighbors, len(Y))
    found = nearest_rows(X, Y, k)
    squares = squared_differences(X, np.repeat(np.arange(len(X)), k), found.ravel(), Y)
    farthest: FloatArray = squares.reshape(len(X), k).max(axis=1)
    return farthest


def radius_edges(X: Any, Y: Any, radii_X: FloatArray, radii_Y: FloatArray) -> csr_array:
    """Squared distances of pairs of rows where either is within the other's radius.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows, old or new.
    Y : array-like of shape (m, d)
        Rows of the graph.
    radii_X, radii_Y : ndarray of shape (n,) and (m,)
        Squared radii.

    Returns
    -------
    csr_array of shape (n, m)
        Stored also where the distance is zero, as that of a row to itself is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.graphs import neighbor_radii, radius_edges
    >>> Y = np.array([[0.0], [1.0], [3.0]])
    >>> r = neighbor_radii(Y, Y, 2)
    >>> radius_edges(Y, Y, r, r).toarray()
    array([[0., 1., 0.],
           [1., 0., 4.],
           [0., 4., 0.]])
    """
    X, Y = _pair_of_tables(X, Y)
    parts = []
    for i, j in pairs_within_radii(X, Y, radii_X, radii_Y):
        exact = squared_differences(X, i, j, Y)
        keep = exact <= np.maximum(radii_X[i], radii_Y[j]) * (1 + _TIGHT)
        parts.append((i[keep], j[keep], exact[keep]))
    i, j, data = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csr_of_pairs(i, j, data, (len(X), len(Y)))


def _pair_of_tables(X: Any, Y: Any) -> tuple[Array, Array]:
    """Return both as checked NumPy arrays of one precision and width."""
    return match_rows(check_rows(to_numpy(X), "X"), check_rows(to_numpy(Y), "Y"))

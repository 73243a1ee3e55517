"""A graph that knows what to do with a new row: edges by radii that belong to the rows.

Each row has a radius, the distance to its k-th neighbour, and two rows are joined if either is
within the radius of the other.  This is the "or" graph of k neighbours, ties included; and
because it is a rule about pairs, a new row is joined as an old one is, and a copy of an old
row is joined exactly as that row is.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import get_config
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from mercer.graphs._nearest import nearest_rows, squared_differences

__all__ = ["neighbor_radii", "radius_edges"]

FloatArray = NDArray[np.float64]

_LOOSE = 1e-6  # of squared norms: what distances by products may be wrong by
_TIGHT = 1e-12  # of squared radii: ties stay ties


def neighbor_radii(X: Any, Y: Any, n_neighbors: int) -> FloatArray:
    """Squared distance from each row of X to its `n_neighbors`-th nearest row of Y.

    A row of X that is in Y counts among its own neighbours.

    >>> import numpy as np
    >>> from mercer.graphs import neighbor_radii
    >>> Y = np.array([[0.0], [1.0], [3.0]])
    >>> neighbor_radii(Y, Y, 2), neighbor_radii([[2.5]], Y, 2)
    (array([1., 1., 4.]), array([2.25]))
    """
    X, Y = np.asarray(X), np.asarray(Y)
    k = min(n_neighbors, len(Y))
    found = nearest_rows(Y, k, X)
    pairs = squared_differences(X, np.repeat(np.arange(len(X)), k), found.ravel(), Y)
    return np.asarray(pairs.reshape(found.shape).max(axis=1))


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
    X, Y = np.asarray(X), np.asarray(Y)
    centre = Y.mean(axis=0)
    Yc = Y - centre
    norms = np.einsum("ij,ij->i", Yc, Yc)
    budget: Any = get_config()["working_memory"]
    rows = max(1, int(budget * 2**20 / (24 * max(1, len(Y)))))
    parts = []
    for batch in gen_batches(len(X), rows):
        Xc = X[batch] - centre
        reach = np.maximum(radii_X[batch][:, np.newaxis], radii_Y)
        slack = _LOOSE * (np.einsum("ij,ij->i", Xc, Xc)[:, np.newaxis] + norms)
        near = euclidean_distances(Xc, Yc, squared=True) <= reach + slack
        i, j = np.nonzero(near)
        exact = squared_differences(X[batch], i, j, Y)
        keep = exact <= reach[i, j] * (1 + _TIGHT)
        parts.append((i[keep] + batch.start, j[keep], exact[keep]))
    i, j, data = (np.concatenate(part) for part in zip(*parts, strict=True))
    starts = np.searchsorted(i, np.arange(len(X) + 1))
    return csr_array((data, j, starts), shape=(len(X), len(Y)))

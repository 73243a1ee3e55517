"""Rows that add up to one: locally linear reconstruction, and plain means."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mercer.graphs._search import nearest_rows
from mercer.graphs._sparse import csr_of_pairs, with_values

_CHUNK = 2**22  # Differences are computed in blocks of this many numbers, 32 MiB.


def reconstruction_weights(X: Any, graph: csr_array, *, reg: float = 1e-3) -> csr_array:
    r"""Return weights that best rebuild each row from its neighbours and add up to one.

    .. math:: \min_w \; \bigl\| x_i - \sum_j w_j x_j \bigr\|^2 + \rho \|w\|^2,
              \quad \sum_j w_j = 1, \quad \rho = \mathrm{reg} \cdot \mathrm{tr}\, G_i

    with G the Gram matrix of the differences to the neighbours (the convention of Roweis and
    Saul and of scikit-learn).  A row without neighbours rebuilds itself.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    graph : csr_array of shape (n, n)
        Of `neighbor_graph`; its entries do not matter, only where they are.
    reg : float, default=1e-3
        Ridge, relative to the trace of the Gram matrix.

    Returns
    -------
    csr_array of shape (n, n)
        Rows add up to one.

    Notes
    -----
    k neighbours cost k²·(d + k/3) per row; rows with the same number of neighbours are
    solved together, in blocks of bounded size.

    Examples
    --------
    >>> from mercer.graphs import neighbor_graph, reconstruction_weights
    >>> X = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]
    >>> W = reconstruction_weights(X, neighbor_graph(X, n_neighbors=2), reg=1e-9)
    >>> W.toarray().round(3)
    array([[ 0.   ,  1.5  , -0.5  ],
           [ 0.667,  0.   ,  0.333],
           [-2.   ,  3.   ,  0.   ]])
    """
    X = np.asarray(X, dtype=np.float64)
    counts = np.diff(graph.indptr)
    data = np.empty(graph.nnz)
    for k in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == k)
        step = max(1, _CHUNK // (int(k) * max(X.shape[1], int(k))))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            entries = graph.indptr[part][:, np.newaxis] + np.arange(k)
            data[entries] = _barycentric(X[graph.indices[entries]] - X[part, np.newaxis], reg)
    W = with_values(graph, data)
    alone = (counts == 0).astype(np.float64)
    return csr_array(W + diags_array(alone)) if alone.any() else W


def new_row_weights(X: Any, Y: Any, n_neighbors: int, *, reg: float = 1e-3) -> csr_array:
    """Return weights that best rebuild new rows from their nearest rows of Y and add up to one.

    A row that is in Y is rebuilt from itself alone, which a ridge would not do; where several
    copies of it are near, they have equal weights.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        New rows.
    Y : ndarray of shape (m, d)
        The rows to rebuild them from.
    n_neighbors : int
        How many of them; all where there are fewer.
    reg : float, default=1e-3
        As in `reconstruction_weights`.

    Returns
    -------
    csr_array of shape (n, m)
        Rows add up to one.
    """
    k = min(n_neighbors, len(Y))
    nearest = np.sort(nearest_rows(X, Y, k), axis=1)
    weights = np.empty((len(X), k))
    step = max(1, _CHUNK // (k * max(X.shape[1], k)))
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        differences = Y[nearest[part]] - X[part, np.newaxis]
        copies = (differences == 0).all(axis=2)
        shares = copies / np.maximum(copies.sum(axis=1, keepdims=True), 1)
        found = copies.any(axis=1)
        weights[part] = shares
        weights[part][~found] = _barycentric(differences[~found], reg)
    rows = np.repeat(np.arange(len(X)), k)
    return csr_of_pairs(rows, nearest.ravel(), weights.ravel(), (len(X), len(Y)))


def _barycentric(differences: NDArray[np.float64], reg: float) -> NDArray[np.float64]:
    """Return weights (b, k) for differences to the neighbours (b, k, d)."""
    # The unit does not change the weights; that of the farthest neighbour keeps squares in range.
    unit = np.abs(differences).max(axis=(1, 2), keepdims=True)
    differences = differences / np.where(unit > 0, unit, 1.0)
    gram = differences @ differences.transpose(0, 2, 1)
    k = gram.shape[1]
    trace = np.trace(gram, axis1=1, axis2=2)
    ridge = reg * np.where(trace > 0, trace, 1.0)  # Copies of the row get equal weights.
    gram[:, np.arange(k), np.arange(k)] += ridge[:, np.newaxis]
    try:
        weights = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
    except np.linalg.LinAlgError:
        raise ValueError(
            f"reg={reg:g} is too small: the neighbours of a row depend on each other, and many "
            "weights rebuild it equally well; use 1e-3."
        ) from None
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def uniform_weights(graph: csr_array) -> csr_array:
    """Return weights of the mean over a row and its neighbours, itself included.

    The graph of all pairs gives 1/N everywhere, the graph of the classes 1/n_c within them:
    what is left of the rows is then the covariance and the within-class scatter.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Of `neighbor_graph`.

    Returns
    -------
    csr_array of shape (n, n)
        Rows add up to one.

    Examples
    --------
    >>> from mercer.graphs import neighbor_graph, uniform_weights
    >>> graph = neighbor_graph([[0.0], [1.0], [5.0]], [0, 0, 1], neighborhood="class")
    >>> uniform_weights(graph).toarray()
    array([[0.5, 0.5, 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    share = 1.0 / (np.diff(graph.indptr) + 1)
    ones = with_values(graph, np.ones(graph.nnz))
    return csr_array(diags_array(share) @ (ones + diags_array(np.ones(graph.shape[0]))))

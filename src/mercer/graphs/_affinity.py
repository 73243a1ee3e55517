"""Symmetric weights of edges, heat and binary affinities, and the Laplacian of them."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from mercer.graphs._sparse import with_values
from mercer.kernels import get_kernel

Symmetry = Literal["or", "and", "mean"]


def heat_width(squared_lengths: NDArray[np.float64]) -> float:
    """Width that suits the scale of the data: the median length of the edges.

    Where most lengths are zero, those that are not decide.

    Parameters
    ----------
    squared_lengths : ndarray of shape (n_edges,)
        Entries of `neighbor_graph`.

    Returns
    -------
    float
        A positive width.

    Examples
    --------
    >>> from mercer.graphs import heat_width, neighbor_graph
    >>> heat_width(neighbor_graph([[0.0], [2.0], [7.0]], n_neighbors=1).data)
    2.0
    """
    median = float(np.median(squared_lengths)) if len(squared_lengths) else 0.0
    if median == 0.0:
        positive = squared_lengths[squared_lengths > 0]
        median = float(np.median(positive)) if len(positive) else 1.0
    return float(np.sqrt(median))


def heat_affinity(graph: csr_array, *, width: float) -> csr_array:
    """Return weights exp(−d²/2·width²) of the edges of `neighbor_graph`.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Of `neighbor_graph`.
    width : float
        Width of the heat kernel.

    Returns
    -------
    csr_array of shape (n, n)
        Weights at the places of the graph.

    Examples
    --------
    >>> from mercer.graphs import heat_affinity, neighbor_graph
    >>> heat_affinity(neighbor_graph([[0.0], [2.0]]), width=1.0).data.round(4).tolist()
    [0.1353, 0.1353]
    """
    with np.errstate(under="ignore"):
        weights = get_kernel("gaussian").profile(graph.data, width)
    return with_values(graph, weights)


def binary_affinity(graph: csr_array) -> csr_array:
    """Weight 1 for every edge of `neighbor_graph`.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Of `neighbor_graph`.

    Returns
    -------
    csr_array of shape (n, n)
        Weights at the places of the graph.

    Examples
    --------
    >>> from mercer.graphs import binary_affinity, neighbor_graph
    >>> binary_affinity(neighbor_graph([[0.0], [2.0]])).data.tolist()
    [1.0, 1.0]
    """
    return with_values(graph, np.ones(graph.nnz))


def symmetrize(W: csr_array, how: Symmetry = "or") -> csr_array:
    """Make weights symmetric: an edge that either row has, that both have, or the mean.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Weights of the edges.
    how : {"or", "and", "mean"}, default="or"
        Which edges stay, and with what weight.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric weights.

    Examples
    --------
    >>> from mercer.graphs import binary_affinity, neighbor_graph, symmetrize
    >>> W = binary_affinity(neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=1))
    >>> [symmetrize(W, how).toarray()[1].tolist() for how in ("or", "and", "mean")]
    [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.5]]
    """
    if how == "mean":
        return csr_array((W + W.T) * 0.5)
    return csr_array(W.maximum(W.T) if how == "or" else W.minimum(W.T))


def laplacian(W: csr_array, *, normalized: bool = False) -> csr_array:
    """Laplacian of a graph with symmetric weights: D − W, or I − D^(−1/2) W D^(−1/2).

    D holds the sums of the rows.  A row without edges gives a row of zeros in both forms.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Symmetric weights.
    normalized : bool, default=False
        Whether to take the second form.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from mercer.graphs import laplacian
    >>> W = csr_array(np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> laplacian(W).toarray()
    array([[ 4., -4.,  0.],
           [-4.,  4.,  0.],
           [ 0.,  0.,  0.]])
    >>> laplacian(W, normalized=True).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    degree = np.asarray(W.sum(axis=1)).ravel()
    if not normalized:
        return csr_array(diags_array(degree) - W)
    alone = degree <= 0
    scale = diags_array(np.where(alone, 0.0, 1 / np.sqrt(np.where(alone, 1.0, degree))))
    return csr_array(diags_array((~alone).astype(np.float64)) - scale @ W @ scale)

"""What classes add to weights: alpha within a class, 1 − alpha between classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mercer.graphs._sparse import with_values


def perturb_edges(W: csr_array, y: Any, label_weight: float) -> csr_array:
    """Add `label_weight` to edges within a class and its complement to edges between classes.

    Only edges that are there change, so the graph stays sparse.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Weights of the edges.
    y : array-like of shape (n,)
        Classes of the rows.
    label_weight : float
        What is added within a class, α; 1 − α is added between classes.

    Returns
    -------
    csr_array of shape (n, n)
        The new weights.

    Examples
    --------
    >>> from mercer.graphs import binary_affinity, neighbor_graph, perturb_edges
    >>> W = binary_affinity(neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=2))
    >>> perturb_edges(W, ["a", "a", "b"], 0.75).toarray()
    array([[0.  , 1.75, 1.25],
           [1.75, 0.  , 1.25],
           [1.25, 1.25, 0.  ]])
    """
    y = np.asarray(y)
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    same = y[rows] == y[W.indices]
    return with_values(W, W.data + np.where(same, label_weight, 1 - label_weight))


def label_product(y: Any, label_weight: float, Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """W_α @ Z for the dense W_α of all pairs, which has rank n_classes and is never stored.

    Its entries are `label_weight` within a class, the diagonal included, and 1 − `label_weight`
    between classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes of the rows.
    label_weight : float
        Entries of W_α within a class; those between classes are its complement.
    Z : ndarray of shape (n, k)
        What is multiplied.

    Returns
    -------
    ndarray of shape (n, k)
        The product.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.graphs import label_product
    >>> label_product(["a", "a", "b"], 0.75, np.eye(3))
    array([[0.75, 0.75, 0.25],
           [0.75, 0.75, 0.25],
           [0.25, 0.25, 0.75]])
    """
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    sums = np.zeros((codes.max() + 1, Z.shape[1]))
    np.add.at(sums, codes, Z)
    product: NDArray[np.float64] = (1 - label_weight) * Z.sum(axis=0) + (
        2 * label_weight - 1
    ) * sums[codes]
    return product

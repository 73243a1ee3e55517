"""Graph Laplacians."""

import numpy as np
from scipy.sparse import csr_array, diags_array


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

"""Sparse matrices as other libraries take them: with indices of 32 bits if these suffice.

scikit-learn's spectral methods refuse indices of 64 bits, and SciPy keeps the type that it is
given.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, get_index_dtype

from mercer._arrays import FloatArray

Indices = NDArray[np.intp]


def csr_of_pairs(
    rows: Indices, columns: Indices, values: FloatArray, shape: tuple[int, int]
) -> csr_array:
    """Return the values at (row, column), in the order given; rows must be sorted.

    SciPy's conversion from coordinates would merge pairs and sort columns.
    """
    kind = get_index_dtype(maxval=max(len(values), *shape))
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    return csr_array((values, columns.astype(kind), starts.astype(kind)), shape=shape)


def with_values(graph: csr_array, values: FloatArray) -> csr_array:
    """Return a graph with other values on the same edges, which shares no arrays with it."""
    return csr_array((values, graph.indices.copy(), graph.indptr.copy()), shape=graph.shape)

"""Who is whose neighbour: a sparse matrix of squared distances, one row per point."""

import importlib.util
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from mercer._arrays import to_numpy
from mercer._system.extras import how_to_install
from mercer.graphs._search import nearest_rows, rows_within, squared_differences
from mercer.graphs._sparse import Indices, csr_of_pairs
from mercer.samples import check_rows

Neighborhood = Literal["knn", "radius", "class", "class_knn"]
Algorithm = Literal["auto", "exact", "approximate"]

# Above this many rows "auto" looks for approximate neighbours, if pynndescent is installed.
APPROXIMATE_ABOVE = 100_000


def neighbor_graph(
    X: Any,
    y: Any = None,
    *,
    neighborhood: Neighborhood | Any = "knn",
    n_neighbors: int = 10,
    radius: float = 1.0,
    algorithm: Algorithm = "auto",
    random_state: int | None = None,
) -> csr_array:
    """Squared distances from each row to its neighbours; no row is its own neighbour.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    y : array-like of shape (n,), default=None
        Classes; needed by "class" and "class_knn".
    neighborhood : {"knn", "radius", "class", "class_knn"} or matrix (n, n), default="knn"
        The `n_neighbors` nearest rows; all rows within `radius`; all rows of the same class;
        the `n_neighbors` nearest rows of the same class.  In a matrix of one's own, sparse or not,
        row j is a neighbour of row i where entry (i, j) is not zero.
    n_neighbors : int, default=10
        How many; fewer where a set has no more rows.
    radius : float, default=1.0
        For "radius".
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        How "knn" and "class_knn" search.  "approximate" needs pynndescent (the extra ``fast``);
        "auto" takes it for sets of more than 100 000 rows where it is installed.
    random_state : int, default=None
        For the approximate search.

    Returns
    -------
    csr_array of shape (n, n)
        Entry (i, j) is ‖xᵢ − xⱼ‖² where j is a neighbour of i.  It is stored even where it is
        zero, and it need not be there for (j, i): see `symmetrize`.  Each row is sorted by
        distance, as scikit-learn sorts its graphs, not by column.

    Notes
    -----
    "class" has Σ n_c² entries.  Distances are taken by differences, so that none is
    negative or lost in rounding, and an exact search finds the nearest rows at any scale and
    offset.  Rows so far apart that the square of their distance is beyond the range of floating
    point are refused, and so are rows that are all so near.

    Examples
    --------
    >>> from mercer.graphs import neighbor_graph
    >>> neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 4., 0.]])
    """
    X = check_rows(to_numpy(X), "X")
    if not (n_neighbors >= 1 and radius >= 0):
        raise ValueError(
            f"n_neighbors must be 1 or more and radius 0 or more; got n_neighbors={n_neighbors} "
            f"and radius={radius}."
        )
    n = X.shape[0]
    if not isinstance(neighborhood, str):
        return _sorted_edges(X, *_own_pairs(neighborhood, n))
    if neighborhood in ("class", "class_knn"):
        if y is None:
            raise ValueError(f"neighborhood={neighborhood!r} needs the classes y.")
        codes = np.unique(np.asarray(y), return_inverse=True)[1]
        members = [np.flatnonzero(codes == c) for c in range(codes.max() + 1)]
    else:
        members = [np.arange(n)]
    pairs = [
        _pairs_within(X[rows], neighborhood, n_neighbors, radius, algorithm, random_state)
        for rows in members
    ]
    sources = np.concatenate(
        [rows[i] for rows, (i, _) in zip(members, pairs, strict=True)], dtype=np.intp
    )
    targets = np.concatenate(
        [rows[j] for rows, (_, j) in zip(members, pairs, strict=True)], dtype=np.intp
    )
    longest = float(radius) * float(radius) if neighborhood == "radius" else np.inf
    return _sorted_edges(X, sources, targets, longest)


def _sorted_edges(
    X: NDArray[Any], sources: Indices, targets: Indices, longest: float = np.inf
) -> csr_array:
    """Return the squared lengths of edges up to `longest`, sorted by row and length."""
    squares = squared_differences(X, sources, targets, X)
    order = np.lexsort((targets, squares, sources))
    order = order[squares[order] <= longest]
    return csr_of_pairs(sources[order], targets[order], squares[order], (len(X), len(X)))


def _own_pairs(graph: Any, n: int) -> tuple[Indices, Indices]:
    """Return the edges of a matrix of one's own, without those from a row to itself."""
    try:
        entries = graph if issparse(graph) else np.asarray(graph, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "The matrix given for neighborhood must hold numbers: row j is a neighbour of row i "
            "where entry (i, j) is not zero."
        ) from None
    if entries.shape != (n, n):
        raise ValueError(
            f"The matrix given for neighborhood must have a row and a column for each of the {n} "
            f"rows of X, got shape {entries.shape}."
        )
    graph = coo_array(entries)
    if np.isnan(graph.data).any():
        at = int(np.flatnonzero(np.isnan(graph.data))[0])
        i, j = (int(numbers[at]) for numbers in graph.coords)
        raise ValueError(
            f"The matrix given for neighborhood has NaN in row {i}, column {j}: it must say "
            "whether these rows are neighbours, by a number or by zero."
        )
    graph.sum_duplicates()
    i, j = graph.coords
    kept = (graph.data != 0) & (i != j)
    return i[kept].astype(np.intp), j[kept].astype(np.intp)


def _pairs_within(
    X: NDArray[Any],
    neighborhood: str,
    n_neighbors: int,
    radius: float,
    algorithm: Algorithm,
    random_state: int | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return row numbers (i, j) such that j is a neighbour of i among these rows."""
    n = X.shape[0]
    rows = np.arange(n)
    if neighborhood == "radius":
        return rows_within(X, radius)
    k = n - 1 if neighborhood == "class" else min(n_neighbors, n - 1)
    if k == n - 1:  # All other rows are neighbours, so that there is nothing to search.
        i, j = np.divmod(np.arange(n * k), max(k, 1))
        return i, j + (j >= i)
    if _is_approximate(algorithm, n):
        indices = _approximate_neighbors(X, k, random_state)
    else:
        indices = nearest_rows(X, None, k)
    return np.repeat(rows, k), indices.ravel()


def _is_approximate(algorithm: Algorithm, n: int) -> bool:
    """Tell whether to search approximately; ImportError if that was asked for and cannot be."""
    installed = importlib.util.find_spec("pynndescent") is not None
    if algorithm == "approximate" and not installed:
        raise ImportError(
            f"algorithm='approximate' needs pynndescent: {how_to_install('fast')}, or use "
            "algorithm='exact'."
        )
    return algorithm == "approximate" or (
        algorithm == "auto" and installed and n > APPROXIMATE_ABOVE
    )


def _approximate_neighbors(X: NDArray[Any], k: int, random_state: int | None) -> NDArray[np.intp]:
    """Return indices (n, k) of nearly the nearest neighbours, the row itself left out."""
    from pynndescent import NNDescent

    index = NNDescent(X, n_neighbors=k + 1, random_state=random_state)
    found = np.asarray(index.neighbor_graph[0], dtype=np.intp)
    # The row itself is nearly always first; where it is missing, drop the last one instead.
    is_self = found == np.arange(X.shape[0])[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    kept: NDArray[np.intp] = found[~is_self].reshape(X.shape[0], k)
    return kept

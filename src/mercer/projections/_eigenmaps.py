"""Laplacian eigenmaps with an extension to new rows.

[1] Belkin and Niyogi; [2] Bengio et al. (the extension).
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from mercer._arrays import FloatArray
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.graphs import heat_width, neighbor_radii, radius_edges
from mercer.projections._neighbor_embedding import NeighborEmbedding
from mercer.samples import (
    LARGEST,
    on_dask,
    refuses_dask,
    validate_training,
)
from mercer.spectral import sparse_eigh

_BYTES_PER_EDGE = 100  # An edge of a new row takes this many bytes while it joins the graph.


@on_dask(
    fit=refuses_dask("neighbours are looked for among all rows"),
    transform=lambda m: (m._n_features_out, np.float64),
)
class LaplacianEigenmaps(NeighborEmbedding):
    r"""Coordinates in which neighbours lie together, for old rows and new ones.

    Rows are joined to their neighbours and mapped so that weighted squared differences across
    edges are smallest at unit variance: the first eigenvectors of the graph's random walk, the
    constant one left out.  A new row is joined to the graph by the same rule as the old ones, and
    its coordinates are the walk's average of its neighbours' ones, rescaled.  On a training row
    this is the eigenvector itself, so `transform` and `fit_transform` agree.

    .. math::

        y_k(x) = \frac{1}{1 - \lambda_k} \sum_j
        \frac{W(x, x_j)}{\sum_l W(x, x_l)} \, y_k(x_j), \qquad
        L y_k = \lambda_k D y_k

    =========================  =====================================================
    in the papers              here
    =========================  =====================================================
    n, ε                       `n_neighbors`, `radius`
    t of exp(−d²/t)            `affinity_width`: t = 2·width²
    λ_k                        `eigenvalues_`
    =========================  =====================================================

    Parameters
    ----------
    n_components : int, default=2
        How many coordinates; fewer where there are too few rows.
    neighborhood : {"knn", "radius"}, default="knn"
        Rows are joined if either is among the `n_neighbors` nearest of the other (ties included),
        or if they are within `radius`.
    n_neighbors, radius : int and float, default=10 and 1.0
        Of the graph; a row is not counted among its own neighbours.
    affinity : {"heat", "binary"}, default="heat"
        Weights exp(−d²/2·width²), or 1.
    affinity_width : "median" or float, default="median"
        Width of the heat weights; "median" is the median length of the edges.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows: mean 0 and variance 1, both weighted by the degrees.
    eigenvalues_ : ndarray of shape (n_components,)
        λ, rising.
    n_connected_components_ : int
        Parts of the graph.  If there are more than one, the first coordinates say no more than
        which part a row is in: take more neighbours.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows.
    affinity_width_ : float
        As used, only with heat weights.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    LocalityPreservingProjection : The linear form.

    Notes
    -----
    *Cost.*  At most n²·d differences for the graph, fewer where rows lie in groups or along few
    dimensions; Lanczos iterations on n·k edges, above 1 000 rows; at most n·d per new row.
    Memory grows with the rows and edges, never with pairs of rows.

    *Departures.*  A row is joined to itself (weight 1), as a new row would be to its copy; this
    shrinks all eigenvalues but changes little else.  The extension is that of [2], with radii
    that belong to the rows so that the "or" graph extends without contradiction.  A new row that
    nobody is near to (possible with "radius") gets the coordinates of the nearest row.  Where
    1 − λ is 0, a walk says nothing of where it came from: that coordinate is 0 for all rows.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
       representation", Neural Computation 15 (2003), 1373–1396, doi:10.1162/089976603321780317.
    .. [2] Y. Bengio et al., "Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and
       spectral clustering", NIPS 16 (2004), 177–184.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mercer.projections import LaplacianEigenmaps
    >>> X, _ = load_iris(return_X_y=True)
    >>> maps = LaplacianEigenmaps()
    >>> bool(np.allclose(maps.fit_transform(X), maps.transform(X)))
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "neighborhood": [StrOptions({"knn", "radius"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "affinity": [StrOptions({"heat", "binary"})],
        "affinity_width": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_components: int = 2,
        neighborhood: str = "knn",
        n_neighbors: int = 10,
        radius: float = 1.0,
        affinity: str = "heat",
        affinity_width: float | str = "median",
    ) -> None:
        self.n_components = n_components
        self.neighborhood = neighborhood
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.affinity = affinity
        self.affinity_width = affinity_width

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted estimator.
        """
        # The rows are kept, so that they are copied.
        X = validate_training(
            self, X, double=True, tensors=False, span=True, ensure_min_samples=2, copy=True
        )
        self.X_fit_ = X
        self._radii = self._squared_radii(X)
        edges = radius_edges(X, X, self._radii, self._radii)
        if self.affinity == "heat":
            width = self.affinity_width
            is_self = np.repeat(np.arange(len(X)), np.diff(edges.indptr)) == edges.indices
            self.affinity_width_ = (
                heat_width(edges.data[~is_self]) if isinstance(width, str) else float(width)
            )
        W = self._affinities(edges)
        self.n_connected_components_ = int(connected_components(W, directed=False)[0])

        degree = np.asarray(W.sum(axis=1)).ravel()
        root = np.sqrt(degree)
        S = csr_array(diags_array(1 / root) @ W @ diags_array(1 / root))
        total = np.sqrt(degree.sum())
        count = min(self.n_components, len(X) - 1)
        values, vectors = sparse_eigh(S, count, without=root / total)
        # After a step of the random walk nothing is left of a vector of eigenvalue zero.
        values = np.where(np.abs(values) <= len(X) * np.finfo(np.float64).eps, 0.0, values)
        self.eigenvalues_ = 1.0 - values
        self.embedding_ = np.where(values != 0, vectors, 0.0) * (total / root)[:, np.newaxis]
        return self

    def _bytes_per_row(self) -> int:
        n_edges = 4 * self.n_neighbors if self.neighborhood == "knn" else len(self.X_fit_)
        return _BYTES_PER_EDGE * n_edges

    def _extend(self, X: FloatArray) -> FloatArray:
        """Return the coordinates of some rows."""
        edges = radius_edges(X, self.X_fit_, self._squared_radii(X), self._radii)
        W = self._affinities(edges, relative=True)
        walk = diags_array(1 / np.asarray(W.sum(axis=1)).ravel()) @ W
        values = 1.0 - self.eigenvalues_
        return np.asarray(walk @ self.embedding_ / np.where(values != 0, values, 1.0))

    def _squared_radii(self, X: FloatArray) -> FloatArray:
        """Return how far edges of rows reach, squared: to the k-th neighbour, or the radius."""
        if self.neighborhood == "radius":
            nearest = neighbor_radii(X, self.X_fit_, 1)  # so that every row has an edge
            return np.maximum(nearest, min(float(self.radius), LARGEST) ** 2)
        return neighbor_radii(X, self.X_fit_, self.n_neighbors + 1)

    def _affinities(self, edges: csr_array, *, relative: bool = False) -> csr_array:
        """Return weights of edges; `relative` to the largest in each row they do not underflow."""
        squared = edges.data
        if self.affinity == "binary":
            weights = np.ones_like(squared)
        else:
            if relative:
                nearest = np.minimum.reduceat(squared, edges.indptr[:-1])
                squared = squared - np.repeat(nearest, np.diff(edges.indptr))
            with np.errstate(under="ignore"):
                weights = np.exp(-0.5 * squared / self.affinity_width_**2)
        return csr_array((weights, edges.indices, edges.indptr), shape=edges.shape)

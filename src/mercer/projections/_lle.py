"""Locally linear embedding with an extension to new rows.

[1] Roweis and Saul; [2] Saul and Roweis, section 6.1 (new rows).
"""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.graphs import neighbor_graph, new_row_weights, reconstruction_weights
from mercer.projections._neighbor_embedding import NeighborEmbedding
from mercer.samples import on_dask, refuses_dask, validate_training
from mercer.spectral import gram_eigh

_BYTES_PER_EDGE = 100  # An edge of a new row takes this many bytes while it is found and weighed.


@on_dask(
    fit=refuses_dask("neighbours are looked for among all rows"),
    transform=lambda m: (m._n_features_out, np.float64),
)
class LocallyLinearEmbedding(NeighborEmbedding):
    r"""Coordinates that neighbours rebuild as they rebuild the rows, for old rows and new ones.

    Each row is written as a combination of its nearest neighbours, with weights that add up to
    one, and coordinates are sought for which the same combinations fit best: the eigenvectors of
    the smallest eigenvalues, the constant one left out.  A new row is written so by its nearest
    training rows, and its coordinates are that combination of theirs.

    .. math::

        \min_Y \; \sum_i \bigl\| y_i - \sum_j W_{ij} \, y_j \bigr\|^2
        = \mathrm{tr}\; Y^\top (I - W)^\top (I - W) \, Y, \qquad
        Y^\top Y = I, \; Y^\top 1 = 0

    =========================  =====================================================
    in the papers              here
    =========================  =====================================================
    K                          `n_neighbors`
    Δ², regularisation         `reg`: the trace of the Gram matrix times `reg`
    M = (I − W)ᵀ(I − W)        its eigenvalues are `eigenvalues_`
    =========================  =====================================================

    Parameters
    ----------
    n_components : int, default=2
        How many coordinates; fewer where there are too few rows.
    n_neighbors : int, default=10
        From how many rows a row is rebuilt; a training row is not among its own neighbours.
    reg : float, default=1e-3
        Ridge of the weights, relative to the trace of their Gram matrix.
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        Search for neighbours among the training rows: see :func:`mercer.graphs.neighbor_graph`.
    random_state : int, RandomState or None, default=None
        For the approximate search.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows: columns of mean 0 and length 1, orthogonal.
    eigenvalues_ : ndarray of shape (n_components,)
        Squared errors of the coordinates, rising, without that of the constant vector.
    n_connected_components_ : int
        Parts of the graph.  If there are more than one, the first coordinates say no more than
        which part a row is in: take more neighbours.
    X_fit_ : ndarray of shape (n_samples, n_features)
        The training rows.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    RoweisSaulProjection : The linear form.
    LaplacianEigenmaps : Coordinates in which neighbours lie together.

    Notes
    -----
    *Cost.*  At most n²·d differences for the graph, k²·(d + k/3) per row for the weights, n³ below
    1 000 rows.  Above, a sparse factor of M, which no memory budget bounds: its size depends on
    how the rows lie.  Along two dimensions it took 1 % of n² numbers at 20 000 rows, and in 16
    dimensions, which a graph cannot be cut along, 44 % at 5 000.  New rows cost n·d each at most,
    in slabs within the budget.

    *New rows.*  An exact copy of a training row gets the coordinates of that row (the mean of them
    where there are several), so that `transform` and `fit_transform` agree where no training rows
    coincide.  A ridge alone would not do that: a row that is near to a training row, but no copy,
    is rebuilt from all its neighbours, and so the map jumps a little at training rows.

    *Departures.*  None from [1]; beside scikit-learn's class of the same name, the constant vector
    is left out as such and not as the first found, so that graphs in several parts come out the
    same every time, and copies of training rows are told apart as above.

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear
       embedding", Science 290 (2000), 2323–2326, doi:10.1126/science.290.5500.2323.
    .. [2] L. K. Saul and S. T. Roweis, "Think globally, fit locally: unsupervised learning of low
       dimensional manifolds", Journal of Machine Learning Research 4 (2003), 119–155.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from mercer.projections import LocallyLinearEmbedding
    >>> X, _ = make_swiss_roll(300, random_state=0)
    >>> maps = LocallyLinearEmbedding().fit(X[:200])
    >>> maps.transform(X[200:]).shape
    (100, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="neither")],
        "algorithm": [StrOptions({"auto", "exact", "approximate"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int = 10,
        reg: float = 1e-3,
        algorithm: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.algorithm = algorithm
        self.random_state = random_state

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
        graph = neighbor_graph(
            X,
            n_neighbors=self.n_neighbors,
            algorithm=self.algorithm,  # type: ignore[arg-type]
            random_state=check_random_state(self.random_state).randint(2**31),
        )
        n = len(X)
        residual = csr_array(eye_array(n) - reconstruction_weights(X, graph, reg=self.reg))
        self.n_connected_components_ = int(connected_components(residual, directed=False)[0])
        count = min(self.n_components, n - 1)
        constant = np.full(n, 1 / np.sqrt(n))
        try:
            self.eigenvalues_, self.embedding_ = gram_eigh(residual, count, without=constant)
        except ArpackNoConvergence:
            raise ValueError(
                f"reg={self.reg:g} is too small: copies of rows rebuild each other alone, and many "
                "coordinates fit equally well; use 1e-3, or leave copies of rows out."
            ) from None
        return self

    def _bytes_per_row(self) -> int:
        n_edges = min(self.n_neighbors, len(self.X_fit_))
        return int(_BYTES_PER_EDGE * n_edges + 16 * self.n_features_in_)

    def _extend(self, X: FloatArray) -> FloatArray:
        """Return the coordinates of some rows."""
        W = new_row_weights(X, self.X_fit_, self.n_neighbors, reg=self.reg)
        return np.asarray(W @ self.embedding_)

"""Locality preserving projections: Laplacian eigenmaps made linear.

[1] He and Niyogi; [2] He, Yan, Hu, Niyogi and Zhang (Laplacianfaces).
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from mercer._arrays import FloatArray
from mercer._sklearn import Interval, StrOptions
from mercer.graphs import (
    binary_affinity,
    heat_affinity,
    heat_width,
    label_product,
    perturb_edges,
    symmetrize,
)
from mercer.projections._linear_projection import (
    LinearGraphProjection,
    PrincipalRows,
    solve_projection,
)

_ALONE = 1e-12  # A row whose weights add up to less than this has no neighbours.


class LocalityPreservingProjection(LinearGraphProjection):
    r"""Linear directions along which neighbours stay together (LPP; on faces: Laplacianfaces).

    Rows are joined to their neighbours by weights, and directions are sought along which the
    weighted squared differences of neighbours are smallest relative to the variance.  It is the
    linear form of Laplacian eigenmaps, so new rows are projected as old ones are.  With a graph
    of classes, or `label_weight`, it is supervised.

    .. math::

        \min_v \; \frac{v^\top X^\top L X v}{v^\top X^\top D X v}
        = \frac{\tfrac12 \sum_{ij} W_{ij} (v^\top x_i - v^\top x_j)^2}
               {\sum_i D_{ii} (v^\top x_i)^2}

    =========================  =====================================================
    in the papers              here
    =========================  =====================================================
    W_PCA (PCA front)          `pca_components`
    k, ε                       `n_neighbors`, `radius`
    t of exp(−d²/t)            `affinity_width`: t = 2·width²
    α of the α graph [3]       `label_weight`
    =========================  =====================================================

    Parameters
    ----------
    n_components : int, default=None
        How many directions, at most as many as the rows have dimensions; None is one less than
        there are classes, or 2 without classes.
    pca_components : int or float, default=None
        Project on this many principal components first, or on as many as hold this share of the
        variance.  None keeps every direction that has any; give 0.98 or so where there are fewer
        rows than columns, because all of them would fit the graph exactly.
    neighborhood : {"knn", "radius", "class", "class_knn"}, matrix or callable, default="knn"
        Who is joined: see :func:`mercer.graphs.neighbor_graph`.  A matrix of one's own
        (n_samples, n_samples), sparse or not, has entries that are not zero where the row has
        that neighbour; a callable makes it of X.
    n_neighbors, radius : int and float, default=5 and 1.0
        Of the graph.
    affinity : {"heat", "binary"}, default="heat"
        Weights exp(−d²/2·width²), or 1.
    affinity_width : "median" or float, default="median"
        Width of the heat weights; "median" is the median length of the edges.
    symmetry : {"or", "and", "mean"}, default="or"
        When two rows are joined: if either has the other as a neighbour, if both have.
    unit_length : bool, default=False
        Scale the directions to length 1, instead of to variance 1: a direction that hardly
        varies then counts for little in distances.  Widespread code does so, and published
        results on faces are near only with it.
    label_weight : float, default=None
        What is added to weights within a class, α; 1 − α is added between classes.
    perturbation : {"edges", "printed"}, default="edges"
        Whether `label_weight` goes on the edges that are there, or on all pairs, as [3] prints it.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", "sigmoid", "cosine", "laplacian", or a function of two rows.
        Neighbours, axes and directions are those of its feature space.  With other kernels than the
        linear one give `pca_components`, 0.99 or so: with all axes the graph is fitted exactly, and
        what is found says little about new rows.
    gamma : {"scale", "auto"} or float, default="scale"
        Of the kernels that have one, as in :class:`sklearn.svm.SVC`.
    degree, coef0 : float, default=3 and 1.0
        Of "poly" and "sigmoid".
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        Search for neighbours.
    random_state : int, RandomState or None, default=None
        For the approximate search.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Only with a linear kernel: directions, with vᵀXᵀDXv = 1 or, on request, vᵀv = 1.
    eigenvalues_ : ndarray of shape (n_components_,)
        The ratios above, rising.
    mean_ : ndarray of shape (n_features,)
        Only with a linear kernel: the mean of the training rows.
    dual_coef_ : ndarray of shape (n_samples, n_components_)
        Only with another kernel: the directions as combinations of the mapped training rows.
    offset_ : ndarray of shape (n_components_,)
        Only with another kernel: what is taken from the sums, so that training rows have mean 0.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Only with another kernel: the training rows.
    gamma_ : float
        Only with another kernel: the number that `gamma` stands for.
    affinity_width_ : float
        As used, only with heat weights.
    n_components_ : int
        How many directions there are.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    RoweisSaulProjection : Reconstruction from neighbours instead of differences.
    LaplacianEigenmaps : The same, not linear.
    laplacianfaces : A pipeline with a nearest-neighbour classifier.

    Notes
    -----
    *Cost.*  Neighbours, n·d² and min(n, d)³; with fewer rows than columns the work is done
    in the space of the rows.  With a kernel, n³ and a matrix of n × n.

    *Departures.*  Rows are always centred, which [2] has by its PCA front and [1] leaves open.
    The eigenproblem is solved in whitened coordinates, so that nearly collinear columns do no
    harm.  Directions of value zero, which may be mixed at will, come shortest first.

    References
    ----------
    .. [1] X. He and P. Niyogi, "Locality preserving projections", NIPS 16 (2004), 153–160.
    .. [2] X. He, S. Yan, Y. Hu, P. Niyogi and H. Zhang, "Face recognition using Laplacianfaces",
       IEEE PAMI 27 (2005), 328–340, doi:10.1109/TPAMI.2005.55.
    .. [3] P. Rajamannar and G. V. Ramanan, "Roweis-Saul classifier for machine learning".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.projections import LocalityPreservingProjection
    >>> X, y = load_iris(return_X_y=True)
    >>> lpp = LocalityPreservingProjection(n_components=2).fit(X)
    >>> lpp.transform(X).shape, lpp.get_feature_names_out().tolist()
    ((150, 2), ['localitypreservingprojection0', 'localitypreservingprojection1'])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearGraphProjection._parameter_constraints,
        "affinity": [StrOptions({"heat", "binary"})],
        "affinity_width": [
            StrOptions({"median"}),
            Interval(Real, 0, None, closed="neither"),
        ],
        "symmetry": [StrOptions({"or", "and", "mean"})],
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        pca_components: int | float | None = None,
        neighborhood: Any = "knn",
        n_neighbors: int = 5,
        radius: float = 1.0,
        affinity: str = "heat",
        affinity_width: float | str = "median",
        symmetry: str = "or",
        unit_length: bool = False,
        label_weight: float | None = None,
        perturbation: str = "edges",
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        algorithm: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.pca_components = pca_components
        self.neighborhood = neighborhood
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.affinity = affinity
        self.affinity_width = affinity_width
        self.symmetry = symmetry
        self.unit_length = unit_length
        self.label_weight = label_weight
        self.perturbation = perturbation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.algorithm = algorithm
        self.random_state = random_state

    def _solve(
        self, rows: PrincipalRows, graph: csr_array, n_components: int
    ) -> tuple[FloatArray, FloatArray]:
        if self.affinity == "heat":
            width = self.affinity_width
            scaled = heat_width(graph.data) if isinstance(width, str) else width / rows.unit
            self.affinity_width_ = float(scaled * rows.unit)
            W = heat_affinity(graph, width=scaled)
        else:
            W = binary_affinity(graph)
        W = symmetrize(W, self.symmetry)  # type: ignore[arg-type]
        U, alpha = rows.U, self.label_weight
        if alpha is not None and self.perturbation == "edges":
            W = perturb_edges(W, rows.y, alpha)
        degree = np.asarray(W.sum(axis=1)).ravel()
        moved = W @ U
        if alpha is not None and self.perturbation == "printed":
            degree = degree + label_product(rows.y, alpha, np.ones((len(U), 1)))[:, 0]
            moved = moved + label_product(rows.y, alpha, U)
        B = U.T @ (degree[:, np.newaxis] * U)
        A = B - U.T @ moved  # UᵀLU = UᵀDU − UᵀWU
        try:
            return solve_projection(rows, (A + A.T) / 2, B, n_components)
        except ValueError:
            named = isinstance(self.neighborhood, str)  # A matrix is too long for a sentence.
            graph_name = f"neighborhood={self.neighborhood!r}" if named else "The neighborhood"
            raise ValueError(
                f"{graph_name} joins {int((degree < _ALONE).sum())} of "
                f"{len(U)} rows to no other, and too few are left for all directions of X: take "
                "fewer by pca_components, more neighbours, or a wider affinity_width."
            ) from None

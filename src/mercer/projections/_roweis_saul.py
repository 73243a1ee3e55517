"""The Roweis–Saul projection: locally linear embedding made linear.

[1] Rajamannar and Ramanan, eqs (1)–(9), (14).
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from mercer._arrays import FloatArray
from mercer._sklearn import Interval, StrOptions
from mercer.graphs import label_product, perturb_edges, reconstruction_weights, uniform_weights
from mercer.projections._linear_projection import (
    LinearGraphProjection,
    PrincipalRows,
    solve_orthogonal,
    solve_projection,
)


class RoweisSaulProjection(LinearGraphProjection):
    r"""Linear directions along which rows are rebuilt from their neighbours (Roweis–Saul, NPE).

    Each row is written as a combination of its neighbours, as in locally linear embedding, and
    directions are sought along which these combinations fit best.  With neighbours of the same
    class and more columns than rows, the directions of value zero are those in which every class
    is one point (the null space of the within-class scatter).  Without classes and with
    ``constraint="unit_covariance"`` it is neighbourhood preserving embedding (NPE).

    .. math::

        \min_V \; \sum_i \bigl\| V^\top x_i - \sum_j W_{ij} V^\top x_j \bigr\|^2
        = \mathrm{tr}\; V^\top X^\top (I - W)^\top (I - W) X V, \qquad V^\top V = I

    =========================  =====================================================
    in the paper               here
    =========================  =====================================================
    V_PCA (step 0)             `pca_components`
    K, ε, user defined         `neighborhood`, `n_neighbors`, `radius`
    W, eq. (1)                 `weights`, `reg`
    α, eq. (14)                `label_weight`, `perturbation`
    V                          `components_` (transposed)
    =========================  =====================================================

    Parameters
    ----------
    n_components : int, default=None
        How many directions, at most as many as the rows have dimensions; None is one less than
        there are classes, or 2 without classes.
    pca_components : int or float, default=None
        Project on this many principal components first, or on as many as hold this share of the
        variance; None keeps every direction that has any.
    neighborhood : {"knn", "radius", "class", "class_knn"}, matrix or callable, default="class_knn"
        From whom a row is rebuilt: see :func:`mercer.graphs.neighbor_graph`.  A matrix of one's own
        (n_samples, n_samples), sparse or not, has entries that are not zero where the row has
        that neighbour; a callable makes it of X.
    n_neighbors, radius : int and float, default=5 and 1.0
        Of the graph.
    weights : {"reconstruction", "uniform"}, default="reconstruction"
        Best weights that add up to one, or the mean of the row and its neighbours (section 3 of
        the paper: scatter matrices).
    reg : float, default=1e-3
        Ridge of the best weights, relative to the trace of their Gram matrix.
    label_weight : float, default=None
        What is added to weights within a class, α; 1 − α is added between classes.
    perturbation : {"edges", "printed"}, default="edges"
        "edges" changes the edges that are there and makes rows add up to one again.  "printed"
        adds to all pairs, as the paper has it: rows then add up to much more than one, class means
        are penalised, and the projection is destroyed.  It is here for the record.
    constraint : {"auto", "orthonormal", "unit_covariance", "orthogonal"}, default="auto"
        VᵀV = I as in the paper, or VᵀXᵀXV = I as in NPE.  The first is for faces: with more rows
        than dimensions it finds the directions in which nothing varies.  So "auto" takes the
        second if the rows outnumber dimensions and classes together.  "orthogonal" is orthogonal
        NPE: one direction after the other has the least error relative to its variance, among
        those orthogonal to the ones before, and length 1.
    discard_first : bool, default=False
        Leave out the direction of the smallest value, as the paper prints it.
    unit_length : bool, default=False
        Scale directions of unit covariance to length 1.
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
        Only with a linear kernel: the directions.
    eigenvalues_ : ndarray of shape (n_components_,)
        Squared errors along them, rising; relative to the variance unless "orthonormal".
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
    constraint_ : str
        As used.
    n_components_ : int
        How many directions there are.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    LocalityPreservingProjection : Differences to neighbours instead of reconstructions.
    roweis_saul_classifier : A pipeline with a nearest-neighbour classifier.

    Notes
    -----
    *Cost.*  Neighbours, k²·(d + k/3) per row for the weights, n·d² and min(n, d)³; with fewer
    rows than columns the work is done in the space of the rows; with a kernel, n³ and a matrix of
    n × n.  ``neighborhood="class"`` with
    best weights takes n_c⁴ per class: prefer "class_knn" beyond some hundred rows per class.

    *Departures from the paper.*  Eqs (3)–(5) print W and its transpose swapped; (6) and (7) are
    read as eigenvectors of MMᵀ.  The constraint is the paper's only where that makes
    sense (`constraint`).  The first direction is kept, unless `discard_first`: its value is not
    zero, as the text has it, unless the graph is one of classes, and then it is the best.  (It is
    zero in locally linear embedding, where the first eigenvector is constant.)  Directions of value
    zero come in the order of their variance.  A row without neighbours rebuilds itself.

    References
    ----------
    .. [1] P. Rajamannar and G. V. Ramanan, "Roweis-Saul classifier for machine learning".
    .. [2] X. He, D. Cai, S. Yan and H.-J. Zhang, "Neighborhood preserving embedding", ICCV 2005,
       1208–1213, doi:10.1109/ICCV.2005.167.
    .. [3] H. Cevikalp, M. Neamtu, M. Wilkes and A. Barkana, "Discriminative common vectors for
       face recognition", IEEE PAMI 27 (2005), 4–13, doi:10.1109/TPAMI.2005.9.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.projections import RoweisSaulProjection
    >>> X, y = load_iris(return_X_y=True)
    >>> RoweisSaulProjection(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearGraphProjection._parameter_constraints,
        "weights": [StrOptions({"reconstruction", "uniform"})],
        "reg": [Interval(Real, 0, None, closed="neither")],
        "constraint": [StrOptions({"auto", "orthonormal", "unit_covariance", "orthogonal"})],
        "discard_first": ["boolean"],
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        pca_components: int | float | None = None,
        neighborhood: Any = "class_knn",
        n_neighbors: int = 5,
        radius: float = 1.0,
        weights: str = "reconstruction",
        reg: float = 1e-3,
        label_weight: float | None = None,
        perturbation: str = "edges",
        constraint: str = "auto",
        discard_first: bool = False,
        unit_length: bool = False,
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
        self.weights = weights
        self.reg = reg
        self.label_weight = label_weight
        self.perturbation = perturbation
        self.constraint = constraint
        self.discard_first = discard_first
        self.unit_length = unit_length
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.algorithm = algorithm
        self.random_state = random_state

    def _solve(
        self, rows: PrincipalRows, graph: csr_array, n_components: int
    ) -> tuple[FloatArray, FloatArray]:
        F, alpha = rows.coordinates, self.label_weight
        if self.weights == "uniform":
            W = uniform_weights(graph)
        else:
            W = reconstruction_weights(F, graph, reg=self.reg)  # [1] eq. (1)
        if alpha is not None and self.perturbation == "edges":
            W = perturb_edges(W, rows.y, alpha)
            W = csr_array(diags_array(1 / np.asarray(W.sum(axis=1)).ravel()) @ W)
        if self.constraint == "auto":
            outnumbered = len(F) > F.shape[1] + (1 if rows.y is None else len(np.unique(rows.y)))
            self.constraint_ = "unit_covariance" if outnumbered else "orthonormal"
        else:
            self.constraint_ = self.constraint
        orthonormal = self.constraint_ == "orthonormal"
        Z = F if orthonormal else rows.U
        residual = Z - W @ Z
        if alpha is not None and self.perturbation == "printed":
            residual = residual - label_product(rows.y, alpha, Z)  # [1] eq. (14)
        A = residual.T @ residual  # [1] eq. (6): MMᵀ
        first = int(self.discard_first)
        if first and A.shape[0] == 1:
            raise ValueError("discard_first=True leaves no direction: X varies along one only.")
        count = min(n_components + first, A.shape[0])
        if self.constraint_ == "orthogonal":
            values, directions = solve_orthogonal(rows, A, count)
        else:
            B = None if orthonormal else np.eye(Z.shape[1])
            values, directions = solve_projection(rows, A, B, count)
        return values[first:], directions[first:]

"""Laplacian support vector analysis: successive Laplacian SVMs in deflated spaces.

[1] Arvanitopoulos, Bouzas and Tefas, eqs (1)–(20), Algorithms 1 and 2.
"""

import warnings
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._linalg import one_thread
from mercer._memory import by_slabs
from mercer._sklearn import Interval, StrOptions, fit_afresh, fit_context
from mercer.projections._directions import ClassOrder, Directions, find_directions
from mercer.projections._laplacian_machine import LaplacianMachine, Setting
from mercer.projections._svm import Loss
from mercer.samples import check_coordinates, on_dask, refuses_dask
from mercer.spectral import PenaltyPath, Whitened, whiten


@on_dask(
    fit=refuses_dask("its support vector machines look at all rows at once"),
    transform=lambda m: (m._n_features_out, np.float64),
    inverse_transform=lambda m: (m.n_features_in_, np.float64),
)
class LaplacianSupportVectorAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, LaplacianMachine
):
    r"""Discriminant directions by successive Laplacian support vector machines (LSVA, KLSVA).

    A support vector machine sets one class apart from the others, with a penalty on outputs that
    differ between neighbours.  Its normal vector is the first direction; the data are then
    projected on the complement of it and the next class has its turn.  Rows without a label (−1
    in `y`) take part in the graph only, which is where the penalty pays most.

    With ``laplacian_weight=0`` this is margin maximising discriminant analysis (MMDA) and, with a
    kernel, kernel MMDA (KMMDA).

    .. math::

        \min_{w, b} \; \tfrac12 \|w\|^2 + \tfrac{\lambda}{2}\, f^\top \mathcal{L} f
        + C \sum_{i \text{ labelled}} \max\bigl(0,\, 1 - y_i (f_i + b)\bigr),
        \quad f_i = \langle w, \phi(x_i) \rangle, \quad w \perp \tilde w_1, \dots, \tilde w_{k-1}

    and the projection of a row is :math:`z_k(x) = \langle \tilde w_k, \phi(x) \rangle`, with
    orthonormal :math:`\tilde w_k = w_k / \|w_k\|`.

    =========================  =====================================================
    in the paper               here
    =========================  =====================================================
    λ                          `laplacian_weight`
    C                          `C`
    d′, n′                     `n_components`
    k (kernel)                 `kernel`, `gamma`, `degree`, `coef0`
    K = 10, σ = 1 (graph)      `n_neighbors`, `affinity_width`
    ℒ = D − W                  ``normalized=False``
    W̃                          `components_` (transposed; linear kernel)
    Ã                          `dual_directions_`
    K·Ã (readout)              ``readout="printed"``
    =========================  =====================================================

    Parameters
    ----------
    n_components : int, default=None
        How many directions; None is one less than there are classes.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"} or callable, \
            default="linear"
        Mercer kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly", "sigmoid" and "laplacian", as in scikit-learn's SVC.
    degree, coef0 : float, default=3 and 0.0
        Of "poly" and "sigmoid".
    C : float, default=100
        Price of an error.
    laplacian_weight : float, default=1.0
        Weight of the Laplacian penalty, relative to ‖w‖².
    normalized : bool, default=False
        Whether the Laplacian is I − D^(−1/2) W D^(−1/2) instead of D − W, which the paper has.
    n_neighbors : int, default=10
        Neighbours in the graph; an edge is there if either row has it ("or").
    affinity_width : "median" or float, default="median"
        Width σ of the heat weights exp(−d²/2σ²) of the edges; "median" is the median length of
        the edges.  The paper has 1.0 on features scaled to [−1, 1].
    loss : {"hinge", "squared_hinge", "squared_error"}, default="hinge"
        The squares always have a direction where the hinge may have none.
    class_order : {"cycle", "largest", "random"}, default="cycle"
        All classes have a turn; after that they have it again in the same order, or the largest
        class has, or one drawn at random.
    landmarks : int, default=None
        Approximate the kernel by this many of its columns (drawn at random by what they leave
        unexplained); None is exact.  Of no use with the linear kernel, which ignores it.
    readout : {"orthonormal", "printed"}, default="orthonormal"
        What `transform` returns with a kernel: projections on the orthonormal directions, or
        K·Ã as the paper prints it, which is a shear of them.
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        Search for neighbours: see :func:`mercer.graphs.neighbor_graph`.
    tol : float, default=1e-5
        For libsvm, which solves the machines that have many coordinates; its answer is polished
        to rounding wherever its support vectors are right.
    random_state : int, RandomState or None, default=None
        For `landmarks`, ``class_order="random"`` and the approximate search.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Orthonormal rows, only with the linear kernel.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, only with the linear kernel: what `inverse_transform` fills in for
        directions that are not among the components.  `transform` does not subtract it.
    dual_coef_ : ndarray of shape (n_fit, n_components_)
        Coefficients of the kernels of `X_fit_`, only with other kernels than the linear one.
    X_fit_ : ndarray of shape (n_fit, n_features)
        The training rows, or the landmarks, only with other kernels than the linear one.
    dual_directions_ : ndarray of shape (n_samples, n_components_)
        Ã of the paper.
    direction_classes_ : ndarray of shape (n_components_,)
        The class that each direction sets apart; of two classes, the second.
    lengths_ : ndarray of shape (n_components_,)
        ‖w‖ of each direction before it is normalised: line 11 of Algorithm 1, as printed, is
        ``transform(X) * lengths_``.
    n_components_ : int
        Directions found: fewer than asked for where the rest would be noise (a warning says so).
    classes_ : ndarray
        The classes, without −1.
    gamma_ : float
        Of the kernel, as used.
    affinity_width_ : float
        Of the graph, as used.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    LaplacianSVC : The first step, as a classifier.
    LocalityPreservingProjection : The graph without margins.

    Notes
    -----
    *Cost.*  Linear: n·d² and one support vector machine per direction.  With a kernel: 3·n³
    once, n² per direction, n² memory.  With m landmarks: n·m² and n·m memory.  A list of
    weights by `fit_path` shares everything but the machines.

    *Departures from the paper.*  Eqs (8), (9) and line 10 of Algorithm 2 do not deflate; the
    exact step is K ← K − zzᵀ.  B of eq. (15) is singular after the first step; nothing here
    inverts it: with K = FFᵀ the linear algorithm runs on F.  Of the many α that (18) then has, all
    with the same w, Ã holds α = (I + λLK)⁻¹c.  Eq. (17) lacks μ ≤ C.  The readout
    K·Ã of line 12 mixes directions; the default projects on the orthonormal ones, for new rows
    too.  `affinity_width` follows the data by default.

    *Degenerate steps.*  In a deflated space the best hinge machine is often w = 0, and what a
    solver returns is noise.  Such a class is skipped from then on (it has no direction in any
    smaller space either), and when all are, the search ends with a ConvergenceWarning.

    In supervised use, with `laplacian_weight` chosen inside the training data, the Laplacian term
    is no clear gain over 0; with few labels and many rows it is (``docs/projections.md``).  The
    default is the paper's D − W; LaplacianSVC has the normalised form, which did better there.

    References
    ----------
    .. [1] N. Arvanitopoulos, D. Bouzas and A. Tefas, "Laplacian support vector analysis for
       subspace discriminative learning", ICPR 2014.
    .. [2] A. Kocsor, K. Kovács and C. Szepesvári, "Margin maximizing discriminant analysis",
       ECML 2004, 227–238, doi:10.1007/978-3-540-30115-8_23.
    .. [3] M. Belkin, P. Niyogi and V. Sindhwani, "Manifold regularization", Journal of Machine
       Learning Research 7 (2006), 2399–2434.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.projections import LaplacianSupportVectorAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> y[::2] = -1  # half of the labels are unknown
    >>> lsva = LaplacianSupportVectorAnalysis(n_components=2, kernel="rbf").fit(X, y)
    >>> lsva.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "class_order": [StrOptions({"cycle", "largest", "random"})],
        "readout": [StrOptions({"orthonormal", "printed"})],
        **LaplacianMachine._parameter_constraints,
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        kernel: str | Callable[..., float] = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        C: float = 100,
        laplacian_weight: float = 1.0,
        normalized: bool = False,
        n_neighbors: int = 10,
        affinity_width: float | str = "median",
        loss: Loss = "hinge",
        class_order: ClassOrder = "cycle",
        landmarks: int | None = None,
        readout: str = "orthonormal",
        algorithm: str = "auto",
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.C = C
        self.laplacian_weight = laplacian_weight
        self.normalized = normalized
        self.n_neighbors = n_neighbors
        self.affinity_width = affinity_width
        self.loss = loss
        self.class_order = class_order
        self.landmarks = landmarks
        self.readout = readout
        self.algorithm = algorithm
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows, with and without labels.
        y : array-like of shape (n_samples,)
            Classes; −1 marks a row without a label (also among names, in an array of objects).

        Returns
        -------
        self
            The fitted estimator.
        """
        X, codes, ones = self._check_fit(X, y)
        setting = self._setting(X, ones)
        weight = float(self.laplacian_weight)
        S = setting.smoothness() if weight > 0 else np.zeros((0, 0))
        return self._finish(setting, codes, whiten(setting.space.F, S, weight))

    def fit_path(self, X: Any, y: Any, laplacian_weights: Iterable[float]) -> list[Self]:
        """Fit for many weights of the Laplacian, with one graph, factor and decomposition.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows, with and without labels.
        y : array-like of shape (n_samples,)
            Classes, as in `fit`.
        laplacian_weights : iterable of float
            The weights; the parameter `laplacian_weight` is not looked at.

        Returns
        -------
        list
            A fitted estimator for every weight, equal to one fitted with it alone.
        """
        self._validate_params()
        first = clone(self)
        X, codes, ones = first._check_fit(X, y)
        setting = first._setting(X, ones)
        path = PenaltyPath(setting.space.F, setting.smoothness())
        fitted = []
        for weight in laplacian_weights:
            one = clone(self).set_params(laplacian_weight=weight)
            one._validate_params()
            with fit_afresh(one):
                for name, value in vars(first).items():
                    if name.endswith("_") and not name.startswith("_"):
                        setattr(one, name, value)
                fitted.append(one._finish(setting, codes, path.at(float(weight))))
        return fitted

    def _finish(self, setting: Setting, codes: NDArray[np.intp], whitened: Whitened) -> Self:
        """Find the directions and set the fitted attributes."""
        asked = self.n_components or len(self.classes_) - 1
        # With matrices of a few hundred columns, threads wait for each other longer than they gain.
        with one_thread():
            found = find_directions(
                whitened,
                codes,
                setting.L,
                weight=float(self.laplacian_weight),
                n_components=asked,
                C=self.C,
                loss=self.loss,
                order=self.class_order,
                rng=np.random.default_rng(setting.seed),
                tol=self.tol,
            )
        _warn_of_degenerate_steps(found, asked, self.laplacian_weight)
        self.n_components_ = found.W.shape[1]
        self.direction_classes_ = self.classes_[found.classes]
        self.lengths_ = found.lengths
        self.dual_directions_ = found.duals
        space = setting.space
        if space.axes is not None:
            self.components_ = found.W.T @ space.axes
            self.mean_ = space.centre
            return self
        if space.pivots is not None:
            self.X_fit_ = setting.X[space.pivots]
            self.dual_coef_ = space.landmark_coefficients(found.W)
        else:
            self.X_fit_ = setting.X.copy()
            # Z = K Ã T⁻¹: the coefficients of all rows, without an inverse of K.
            self.dual_coef_ = np.asarray(np.linalg.solve(found.shear.T, found.duals.T).T)
        if self.readout == "printed":
            self.dual_coef_ = self.dual_coef_ @ found.shear
        return self

    def transform(self, X: Any) -> FloatArray:
        """Project rows on the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Coordinates.
        """
        X = self._check_new(X)
        components = self.components_ if self.kernel == "linear" else None
        n_bytes = 8 * (X.shape[1] + 3 * self._width(components))
        out: FloatArray = by_slabs(lambda rows: self._projections(rows, components), X, n_bytes)
        return out

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return to the space of the features: the nearest rows that project so (linear only).

        What no direction sees is filled in by the mean of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Projections.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the features.
        """
        check_is_fitted(self)
        if self.kernel != "linear":
            raise ValueError(
                f"inverse_transform needs kernel='linear'; with kernel={self.kernel!r} a "
                "projection has no image in the space of the features."
            )
        Z = check_coordinates(X, self.n_components_, self)
        filled: FloatArray = self.mean_ + (Z - self.components_ @ self.mean_) @ self.components_
        return filled

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)


def _warn_of_degenerate_steps(found: Directions, asked: int, weight: float) -> None:
    """Warn if fewer directions were found than asked for; ValueError if there are none."""
    count = found.W.shape[1]
    if count == 0:
        raise ValueError(
            "No direction separates the classes better than w = 0 does with "
            f"laplacian_weight={weight:g}: lower it, raise C or use loss='squared_hinge'."
        )
    if count < asked:
        warnings.warn(
            f"Found {count} of {asked} directions: what is left of the data after them separates "
            "no class from the others, so that further ones would be noise. "
            "loss='squared_hinge' finds more, as long as the data have dimensions left.",
            ConvergenceWarning,
            stacklevel=7,
        )

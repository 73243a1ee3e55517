"""The Laplacian support vector machine: the first step of the analysis, as a classifier."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from mercer._arrays import FloatArray
from mercer._sklearn import fit_context
from mercer.kernels import KernelExpansion
from mercer.projections._laplacian_machine import LaplacianMachine
from mercer.projections._svm import Loss, solve_each
from mercer.samples import ScoreClassifier, merge_copies, on_dask, refuses_dask
from mercer.spectral import whiten


@on_dask(fit=refuses_dask("its support vector machines look at all rows at once"))
class LaplacianSVC(LaplacianMachine, ScoreClassifier):
    r"""Classifier whose output is smooth along a graph of all rows (LapSVM, LapRLS).

    A support vector machine with a penalty on outputs that differ between neighbours.  Rows
    without a label (−1 in `y`) take part in the graph, so that clusters of them move the boundary
    into the gaps.  Several classes are set apart one versus all, with one graph and one factor.
    With ``loss="squared_error"`` it is Laplacian regularised least squares.

    .. math::

        \hat c(x) = \arg\max_c \; f_c(x) + b_c, \qquad
        f = \arg\min \; \tfrac12 \|f\|^2 + \tfrac{\lambda}{2}\, f^\top \mathcal{L} f
        + C \sum_{i \text{ labelled}} \omega_i \max\bigl(0,\, 1 - y_i (f(x_i) + b)\bigr)

    =========================  =====================================================
    in the papers              here
    =========================  =====================================================
    λ; γ_I / (γ_A (l + u)²)    `laplacian_weight`
    C; 1 / (2 l γ_A)           `C`
    σ of the graph             `affinity_width`
    V: hinge; squared loss     `loss`: "hinge" (LapSVM); "squared_error" (LapRLS)
    ℒ = D − W in [2]           ``normalized=False`` (the default is True)
    =========================  =====================================================

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"} or callable, \
            default="rbf"
        Mercer kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf", "poly", "sigmoid" and "laplacian", as in scikit-learn's SVC.
    degree, coef0 : float, default=3 and 0.0
        Of "poly" and "sigmoid".
    C : float, default=100
        Price of an error.
    laplacian_weight : float, default=1.0
        Weight of the Laplacian penalty, relative to ‖f‖².  With one label of each class or little
        more, no weight was seen to help in the mean of many sets.
    normalized : bool, default=True
        Whether the Laplacian is I − D^(−1/2) W D^(−1/2) instead of D − W.  Then dense parts of the
        data do not outweigh the others, and with few labels errors are fewer on most data sets
        (``docs/projections.md``).
    n_neighbors : int, default=10
        Neighbours in the graph of distinct rows; an edge is there if either row has it ("or").
    affinity_width : "median" or float, default="median"
        Width σ of the heat weights exp(−d²/2σ²) of the edges; "median" is the median length of
        the edges.
    loss : {"hinge", "squared_hinge", "squared_error"}, default="hinge"
        What an error e = 1 − y(f + b) costs: max(0, e), max(0, e)² or e².  The last one is solved
        in closed form, all classes with one factor.
    landmarks : int, default=None
        Approximate the kernel by this many of its columns (drawn at random by what they leave
        unexplained); None is exact.  Of no use with the linear kernel, which ignores it.
    algorithm : {"auto", "exact", "approximate"}, default="auto"
        Search for neighbours: see :func:`mercer.graphs.neighbor_graph`.
    tol : float, default=1e-5
        For libsvm, which solves the machines that have many coordinates; its answer is polished
        to rounding wherever its support vectors are right.
    random_state : int, RandomState or None, default=None
        For `landmarks` and the approximate search.

    Attributes
    ----------
    classes_ : ndarray
        The classes, without −1.
    coef_ : ndarray of shape (n_problems, n_features)
        Normal vectors, only with the linear kernel; one problem for two classes.
    dual_coef_ : ndarray of shape (n_fit, n_problems)
        Coefficients of the kernels of `X_fit_`, only with other kernels than the linear one.
    intercept_ : ndarray of shape (n_problems,)
        Intercepts.
    X_fit_ : ndarray of shape (n_fit, n_features)
        The distinct training rows that have a weight, or the landmarks, only with other kernels
        than the linear one.
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
    LaplacianSupportVectorAnalysis : Further directions after this one; copies are rows there.

    Notes
    -----
    Time and memory are those of one direction per class of the analysis.  The intercept is not
    penalised; in [1]_ there is none.  Belkin et al. divide the penalty by the square of the number
    of rows; here it is not divided, as in the paper of the analysis.

    A weight ω multiplies the price of a row's errors and the weights of the edges to its
    neighbours; in the normalised form, ℒ becomes Ω^(1/2) ℒ Ω^(1/2).  Copies of a row are one row of
    the graph, with the weight of all: they are not neighbours of each other and take no other
    neighbour's place, so that whole weights are copies exactly, of rows without a label too.

    With the linear kernel, the penalty is that of f about its mean over the rows, so that the
    origin says nothing; in the plain form the mean does not matter.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi and V. Sindhwani, "Manifold regularization", Journal of Machine
       Learning Research 7 (2006), 2399–2434.
    .. [2] N. Arvanitopoulos, D. Bouzas and A. Tefas, "Laplacian support vector analysis for
       subspace discriminative learning", ICPR 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from mercer.projections import LaplacianSVC
    >>> X, truth = make_moons(200, noise=0.06, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[:6] = truth[:6]  # six labels
    >>> LaplacianSVC(gamma=5.0, laplacian_weight=10.0).fit(X, y).score(X, truth)
    1.0
    """

    def __init__(
        self,
        *,
        kernel: str | Callable[..., float] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        C: float = 100,
        laplacian_weight: float = 1.0,
        normalized: bool = True,
        n_neighbors: int = 10,
        affinity_width: float | str = "median",
        loss: Loss = "hinge",
        landmarks: int | None = None,
        algorithm: str = "auto",
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
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
        self.landmarks = landmarks
        self.algorithm = algorithm
        self.tol = tol
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one machine per class, or one for two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All rows, with and without labels.
        y : array-like of shape (n_samples,)
            Classes; −1 marks a row without a label (also among names, in an array of objects).
            Where all of y is −1 or 1, a warning says that these are taken as two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are numbers of copies; others count by their ratios alone.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, codes, weights = self._check_fit(X, y, sample_weight, signs=True)
        # Copies of a row are one row of the graph, and of the loss one row for each class.
        places = merge_copies(X, np.zeros_like(codes), weights)
        setting = self._setting(places.take(X), places.weights)
        labelled = np.flatnonzero(codes >= 0)
        priced = merge_copies(X[labelled], codes[labelled], weights[labelled])
        codes, at = (numbers[labelled][priced.rows] for numbers in (codes, places.index))
        weight = float(self.laplacian_weight)
        S = setting.smoothness() if weight > 0 else np.zeros((0, 0))
        whitened = whiten(setting.space.F, S, weight)

        problems = [1] if len(self.classes_) == 2 else np.arange(len(self.classes_))
        signs = np.where(codes[:, np.newaxis] == problems, 1.0, -1.0)
        duals, self.intercept_ = solve_each(
            whitened.G[at], signs, C=self.C * priced.weights, loss=self.loss, tol=self.tol
        )
        c = np.zeros((len(setting.X), len(problems)))
        np.add.at(c, at, duals)

        V = whitened.G.T @ c
        space = setting.space
        if space.axes is not None:
            self.coef_ = (whitened.R @ V).T @ space.axes
            self.intercept_ -= self.coef_ @ space.centre
        elif space.pivots is not None:
            self.X_fit_ = setting.X[space.pivots]
            self.dual_coef_ = space.landmark_coefficients(whitened.R @ V)
        else:
            self.X_fit_ = setting.X.copy()
            self.dual_coef_ = c - weight * (setting.L @ (whitened.G @ V))
        return self

    @property
    def _fitted(self) -> FloatArray:
        return self.intercept_

    @property
    def _components(self) -> FloatArray | None:
        return self.coef_ if self.kernel == "linear" else None

    def _scores(self, X: FloatArray) -> FloatArray:
        """Return the outputs of the machines; of a single one, ± half of it for the two classes."""
        out: FloatArray = self._projections(X, self._components) + self.intercept_
        return np.concatenate([-out / 2, out / 2], axis=1) if len(self.classes_) == 2 else out

    def _expansion(self) -> KernelExpansion | None:
        """Return the kernels and coefficients of the scores; None for a linear machine's."""
        if self.kernel == "linear":
            return None
        coef, intercept = self.dual_coef_.T, self.intercept_
        if len(self.classes_) == 2:
            coef, intercept = (np.concatenate([-A / 2, A / 2]) for A in (coef, intercept))
        return KernelExpansion(self._kernel(), self.X_fit_, coef.T, intercept)

    def _bytes_per_row(self, X: Any) -> int:
        return int(8 * (X.shape[1] + 5 * self._width(self._components)))

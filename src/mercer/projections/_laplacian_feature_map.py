"""The feature space of the Laplacian matrix, approximated by its leading eigenvectors."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import Array, FloatArray, itemsize, like, to_numpy
from mercer._memory import by_slabs, explain_full_device
from mercer._sklearn import Interval, StrOptions, fit_context
from mercer.bandwidth import RULES, resolve_bandwidth
from mercer.kernels import get_kernel, mercer_width
from mercer.samples import (
    check_new_rows,
    check_size,
    check_width_span,
    on_dask,
    refuses_dask,
    validate_training,
)
from mercer.spectral import fix_signs, generalized_eigh
from mercer.sums import kernel_sum, log_kernel_sum

_DENSE_BELOW = 1000  # Below this many rows the matrix itself is decomposed.
_FAR = -500.0  # Below this log density, in units of a window's peak, kernel values underflow.


@on_dask(
    fit=refuses_dask("its eigenvectors have an entry for every row"),
    transform=lambda m: (m._n_features_out, m.X_fit_.dtype),
)
class LaplacianFeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Map rows to the leading eigenvectors of the Laplacian data matrix.

    The Laplacian matrix is the kernel matrix with each row and column divided by the root of the
    density there.  Its leading eigenvectors, scaled by the roots of their eigenvalues, are
    coordinates in which well separated groups lie along different directions from the
    origin, so that angles tell them apart.  In the ideal case, C clusters infinitely far apart,
    and with ``density="mercer"`` the first C coordinates send each cluster in a direction of its
    own, at right angles to all others; with other densities a wide cluster may take two of them
    before a small one has its first.
    Without the densities the map is that of uncentred kernel PCA.

    .. math::

        K_f(x, y) = \frac{k(x, y)}{\sqrt{\hat f(x) \hat f(y)}}, \qquad
        z_m(x) = \lambda_m^{-1/2} \sum_l e_{ml}\, K_f(x, x_l)

    which at training rows is :math:`\sqrt{\lambda_m}\, e_{ml}`, equation (22) of [1]_.

    =================  ==========================================
    paper              here
    =================  ==========================================
    σ                  ``bandwidth``, ``bandwidth_`` (h)
    W_{√2σ}            Gaussian kernel of width √2·``bandwidth_``
    λ_m, e_m           ``eigenvalues_``, ``eigenvectors_``
    C                  ``n_components``
    =================  ==========================================

    Parameters
    ----------
    n_components : int, default=2
        How many coordinates; the paper takes the number of classes.
    bandwidth : float or str, default="silverman"
        The Parzen width h, or a rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    density : {"parzen", "mercer"} or None, default="parzen"
        Windows of f̂: of width h, or of width √2·h; None is f ≡ 1, the map of kernel PCA.

    Attributes
    ----------
    bandwidth_ : float
        As used.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest first.
    eigenvectors_ : ndarray of shape (n_rows, n_components)
        Of unit length.
    X_fit_ : ndarray of shape (n_rows, n_features)
        The training rows.
    weights_ : ndarray of shape (n_rows,)
        f̂^(−1/2) at the training rows, in units of one window's peak over N.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    mercer.LaplacianClassifier : The angle to class means in the whole feature space.
    mercer.NearestAngleClassifier : The angle to class means, for use after this map.
    sklearn.decomposition.KernelPCA : Centred.

    Notes
    -----
    Time: n³ below 1000 rows; above, some dozens of kernel sums (n²·d each) without storing
    the matrix, more where eigenvalues lie close together.  New rows cost n·d each.

    Through scikit-learn's array API dispatch, rows may be torch tensors: kernel sums and dense
    decompositions are computed on their device, and the map returns tensors there.

    The kernel's peak is taken as 1 and f̂ in units of a window's peak: K_f is larger than the
    paper's by 2^(d/2), which changes no angle.  At a new row f̂ has no window of
    its own, so that training rows map to the same place by `fit_transform` and `transform`.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import LaplacianFeatureMap, NearestAngleClassifier
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 120)
    >>> ring, disc = 3 * np.c_[np.cos(angle), np.sin(angle)], rng.normal(0, 0.5, (400, 2))
    >>> X, y = np.r_[ring, disc], np.repeat(["ring", "disc"], [120, 400])
    >>> model = make_pipeline(LaplacianFeatureMap(2), NearestAngleClassifier())
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({*RULES})],
        "density": [StrOptions({"parzen", "mercer"}), None],
    }

    def __init__(
        self, n_components: int = 2, *, bandwidth: Any = "silverman", density: str | None = "parzen"
    ) -> None:
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.density = density

    def fit(self, X: Any, y: Any = None) -> "LaplacianFeatureMap":
        """Decompose the Laplacian matrix of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.fit_transform(X)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Decompose the Laplacian matrix of the rows and return their coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : Ignored
            Not used: it is there for pipelines.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates of the rows.
        """
        # The rows are kept, so that they are copied.
        X = validate_training(self, X, span=True, ensure_min_samples=2, copy=True)
        xp = array_namespace(X)
        if self.n_components > X.shape[0]:
            raise ValueError(
                f"n_components={self.n_components} is more than the number of rows, "
                f"n_samples={X.shape[0]}."
            )
        self.bandwidth_ = resolve_bandwidth(self.bandwidth, X)
        check_width_span(self.bandwidth_)
        self.X_fit_ = X
        with explain_full_device(f"the Laplacian matrix of {X.shape[0]} rows"):
            self.weights_ = xp.exp(-0.5 * self._log_density(X))
            values, vectors = self._decompose()
        # An eigenvalue that is zero but for rounding has no direction: its coordinate is 0.
        values = xp.where(values <= X.shape[0] * np.finfo(np.float64).eps * values[0], 0.0, values)
        self.eigenvalues_, self.eigenvectors_ = values, vectors
        return xp.astype(vectors * xp.sqrt(values), X.dtype)

    def transform(self, X: Any) -> Array:
        """Return the coordinates of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = check_new_rows(self, X, self.X_fit_)
        xp = array_namespace(self.X_fit_)
        check_size(X)
        floats = xp.float32 if itemsize(X) == 4 else xp.float64
        with explain_full_device(f"the coordinates of {X.shape[0]} rows"):
            return by_slabs(
                lambda rows: xp.astype(self._coordinates(rows), floats),
                X,
                8 * (X.shape[1] + 4 * self._n_features_out + 4),
            )

    def _coordinates(self, X: Array) -> Array:
        """Return the coordinates of validated rows, in float64."""
        xp = array_namespace(X)
        log_density = self._log_density(X)
        roots = xp.sqrt(xp.where(self.eigenvalues_ <= 0, np.inf, self.eigenvalues_))
        expansion = self.weights_[:, None] * self.eigenvectors_ / roots
        near = log_density > _FAR
        if bool(xp.all(near)):
            return self._sums(X, expansion) * xp.exp(-0.5 * log_density)[:, None]
        out = xp.empty((X.shape[0], self._n_features_out), dtype=xp.float64, device=device(X))
        if bool(xp.any(near)):
            out[near] = self._sums(X[near], expansion) * xp.exp(-0.5 * log_density[near])[:, None]
        out[~near] = self._far_sums(X[~near], expansion)
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])

    def _log_density(self, X: Array) -> Array:
        """Return log f̂ in units of one window's peak, over the training rows: (n,)."""
        xp: Any = array_namespace(X)
        if self.density is None:
            return xp.zeros(X.shape[0], dtype=xp.float64, device=device(X))
        width = self.bandwidth_ if self.density == "parzen" else mercer_width(self.bandwidth_)
        Y = None if X is self.X_fit_ else self.X_fit_
        sums = log_kernel_sum(X, Y, bandwidth=width)
        return xp.astype(sums, xp.float64) - np.log(self.X_fit_.shape[0])

    def _sums(self, X: Array | None, weights: Array) -> Array:
        """Return Σ_l w_l k(x, x_l); over the training rows themselves when X is None."""
        xp: Any = array_namespace(self.X_fit_)
        first, second = (self.X_fit_, None) if X is None else (X, self.X_fit_)
        weights = xp.astype(weights, self.X_fit_.dtype)
        width = mercer_width(self.bandwidth_)
        sums = kernel_sum(first, second, weights=weights, bandwidth=width)
        return xp.astype(sums, xp.float64)

    def _far_sums(self, X: Array, expansion: Array) -> Array:
        """Return coordinates of rows at which every kernel value underflows: k/√f̂ does not.

        Distances relative to the nearest row's are d² − d²_m = (x_l − x_m)(x_l + x_m − 2x), because
        differences of the large squares would have lost their digits.
        """
        xp: Any = array_namespace(X)
        rows, n = xp.astype(self.X_fit_, xp.float64), self.X_fit_.shape[0]
        kernel = 1 / (2 * mercer_width(self.bandwidth_) ** 2)
        window = kernel if self.density == "mercer" else 2 * kernel
        parts = []
        for x in xp.astype(X, xp.float64):
            d2 = xp.sum((rows - x) ** 2, axis=1)
            nearest = rows[int(xp.argmin(d2)), :]
            beyond = xp.sum((rows - nearest) * (rows + nearest - 2 * x), axis=1)
            # log k − ½ log f̂, in which d²_m cancels where the window is the squared kernel
            log_density = xp.log(xp.sum(xp.exp(-window * beyond)) / n)
            common = (window / 2 - kernel) * xp.min(d2) - log_density / 2
            parts.append(xp.exp(common - kernel * beyond) @ expansion)
        return xp.stack(parts)

    def _decompose(self) -> tuple[Array, Array]:
        """Return the leading eigenpairs of K_f."""
        xp: Any = array_namespace(self.X_fit_)
        n, a = self.X_fit_.shape[0], self.weights_
        if n < _DENSE_BELOW or self.n_components > n // 2:
            kernel, columns = get_kernel("gaussian"), xp.astype(self.X_fit_, xp.float64).T
            d2 = kernel.squared_distances(column[:, None] - column for column in columns)
            K = kernel.profile(d2, mercer_width(self.bandwidth_))
            return generalized_eigh(
                a[:, None] * K * a, n_components=self.n_components, which="largest"
            )

        def product(v: FloatArray) -> FloatArray:
            return to_numpy(a * self._sums(None, a * like(v.ravel(), a)))

        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        # The leading eigenvector is near 1/a = √f̂, from which the iteration starts.
        values, vectors = eigsh(operator, k=self.n_components, which="LA", v0=to_numpy(1 / a))
        order = np.argsort(-values, kind="stable")
        return like(values[order], a), like(fix_signs(vectors[:, order]), a)

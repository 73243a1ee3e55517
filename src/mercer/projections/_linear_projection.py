"""What linear projections on graphs share: centring, principal axes, graph, transform.

A direction is a combination of principal axes.  In the space of the columns these are rows of
numbers; in that of a kernel each is a combination of the mapped training rows, and `axes` holds its
coefficients, so that both are solved by the same lines.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray, refuse_tensor
from mercer._memory import by_slabs
from mercer._sklearn import FloatInterval, Interval, StrOptions, fit_context
from mercer.graphs import neighbor_graph
from mercer.kernels import KernelFunction, resolve_gamma
from mercer.samples import (
    check_coordinates,
    check_new_rows,
    check_size,
    on_dask,
    power_of_two,
    refuses_dask,
    validate_training,
)
from mercer.spectral import (
    fix_signs,
    generalized_eigh,
    kernel_principal_axes,
    principal_axes,
    rotate_ties,
)
from mercer.sums import combine_kernel

# Eigenvalues below this share of the largest are zero, so that any basis of their vectors will do.
_TIE = 1e-10
# Principal axes of a kernel hold at least this share of the variance along the first.
_LEAST_VARIANCE = 1e-8
NO_VARIANCE = "X has no variance: all rows are the same."


@dataclass(frozen=True)
class PrincipalRows:
    """Centred rows in principal coordinates, X/unit = (U · lengths) @ axes, and their classes.

    With a kernel, `axes` are the coefficients (r, n) of the rows of which each axis is made.  The
    unit is a power of two near the largest number, so that squares stay in range.
    """

    U: FloatArray
    lengths: FloatArray
    axes: FloatArray
    y: NDArray[Any] | None
    unit: float = 1.0

    @property
    def coordinates(self) -> FloatArray:
        """Principal coordinates F = U · lengths."""
        return self.U * self.lengths


def solve_projection(
    rows: PrincipalRows, A: FloatArray, B: FloatArray | None, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest eigenvalues of A against B, in the coordinates U, and directions (k, d).

    If B is None the directions are orthonormal, and A is in the coordinates F.  Directions of
    eigenvalue zero (all of them with a graph of classes and as many columns as rows) are in the
    order of the variance along a unit of length.
    """
    # Where B fixes the variance of all directions, the shortest come first.
    variance = np.diag(rows.lengths**2) if B is None else -np.diag(rows.lengths**-2.0)
    values, V = generalized_eigh(A, B)
    V = rotate_ties(values, V, variance, tol=_TIE * max(values[-1], 0.0))[:, :n_components]
    values = np.maximum(values[:n_components], 0.0)
    if B is None:
        return values * rows.unit**2, V.T @ rows.axes
    return values, (V / rows.lengths[:, np.newaxis]).T @ rows.axes / rows.unit


def solve_orthogonal(
    rows: PrincipalRows, A: FloatArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return the smallest ratios vᵀAv/vᵀXᵀXv, each v orthogonal to those before, and V (k, d).

    A is in the coordinates U.  There v is u/lengths and the variance is uᵀu, so that the next u
    has the least uᵀAu among those orthogonal to u_j/lengths² for the directions before.
    """
    values, found = np.zeros(n_components), np.zeros((len(A), n_components))
    weight = rows.lengths**-2.0 * rows.lengths[-1] ** 2
    scale = float(np.trace(A))
    for k in range(n_components):
        before, _ = np.linalg.qr(weight[:, np.newaxis] * found[:, :k], mode="complete")
        Q = before[:, k:]  # an orthonormal basis of what is left
        ratios, u = generalized_eigh(Q.T @ A @ Q)
        shortest = -(Q.T * weight) @ Q
        u = Q @ rotate_ties(ratios, u, shortest, tol=_TIE * scale)[:, 0]
        values[k] = max(float(u @ A @ u), 0.0)
        found[:, k] = u / np.linalg.norm(u * np.sqrt(weight))
    V = fix_signs(found * np.sqrt(weight)[:, np.newaxis])
    return values, V.T @ rows.axes


@on_dask(
    fit=refuses_dask("neighbours are looked for among all rows"),
    transform=lambda m: (m._n_features_out, np.float64),
    inverse_transform=lambda m: (m.n_features_in_, np.float64),
)
class LinearGraphProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of linear projections; a subclass writes `_solve`, from rows and graph to directions."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "pca_components": [
            Interval(Integral, 1, None, closed="left"),
            FloatInterval(0, 1, closed="neither"),
            None,
        ],
        "neighborhood": [
            StrOptions({"knn", "radius", "class", "class_knn"}),
            "array-like",
            "sparse matrix",
            callable,
        ],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "kernel": [
            StrOptions({"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"}),
            callable,
        ],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "unit_length": ["boolean"],
        "label_weight": [Interval(Real, 0, 1, closed="both"), None],
        "perturbation": [StrOptions({"edges", "printed"})],
        "algorithm": [StrOptions({"auto", "exact", "approximate"})],
        "random_state": ["random_state"],
    }

    @abstractmethod
    def _solve(
        self, rows: PrincipalRows, graph: csr_array, n_components: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return eigenvalues and directions (k, n_features)."""

    @property
    def _needs_classes(self) -> bool:
        named = isinstance(self.neighborhood, str)  # A matrix is not to be compared with a name.
        of_classes = named and self.neighborhood in ("class", "class_knn")
        return of_classes or self.label_weight is not None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Classes; needed by graphs of classes and by `label_weight`.

        Returns
        -------
        self
            The fitted estimator.
        """
        options: dict[str, Any] = {"double": True, "tensors": False, "span": True}
        if y is None:
            if self._needs_classes:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None: "
                    "graphs of classes and label_weight need it."
                )
            X = validate_training(self, X, ensure_min_samples=2, **options)
        else:
            X, y = validate_training(self, X, y, ensure_min_samples=2, **options)
            if self._needs_classes or self.n_components is None:
                check_classification_targets(y)
        rows = self._principal_rows(X, y) if self._is_linear else self._mapped_rows(X, y)
        unit, axes_found = rows.unit, len(rows.lengths)

        count = self.n_components
        if count is None:
            count = 2 if y is None else max(1, len(np.unique(y)) - 1)
        graph = neighbor_graph(
            rows.coordinates,
            y,
            neighborhood=self.neighborhood(X) if callable(self.neighborhood) else self.neighborhood,
            n_neighbors=self.n_neighbors,
            radius=self.radius / unit,
            algorithm=self.algorithm,
            random_state=check_random_state(self.random_state).randint(2**31),
        )
        self.eigenvalues_, directions = self._solve(rows, graph, min(count, axes_found))
        if self.unit_length:
            directions = directions / np.abs(directions).max(axis=1, keepdims=True)
            on_axes = directions if self._is_linear else directions @ rows.coordinates
            directions = directions / np.linalg.norm(on_axes, axis=1, keepdims=True)
        if self._is_linear:
            self.components_ = directions
        else:
            self.dual_coef_ = directions.T
            self.offset_ = self._kernel_means @ self.dual_coef_
        return self

    @property
    def _is_linear(self) -> bool:
        """Tell whether directions lie in the space of the columns."""
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _principal_rows(self, X: FloatArray, y: Any) -> PrincipalRows:
        """Return the rows in their principal coordinates; set ``mean_``."""
        self.mean_ = X[0] + (X - X[0]).mean(axis=0)  # exact for a constant column
        centred = X - self.mean_
        unit = power_of_two(centred)
        U, lengths, axes = principal_axes(centred / unit, self.pca_components)
        if not len(lengths):
            raise ValueError(NO_VARIANCE)
        return PrincipalRows(U, lengths, axes, y, unit)

    def _mapped_rows(self, X: FloatArray, y: Any) -> PrincipalRows:
        """Return the rows as the kernel maps them; set ``X_fit_`` and ``gamma_``."""
        self.X_fit_ = X.copy()
        self.gamma_ = resolve_gamma(self.gamma, X)
        kernel = self._kernel_function()
        K = kernel.matrix(X, X)
        kernel.check_range(K, least=0.0)
        U, lengths = kernel_principal_axes(K, self.pca_components, least=_LEAST_VARIANCE)
        if not len(lengths) or not lengths[0] > 0:
            raise ValueError(NO_VARIANCE)
        self._kernel_means = K.mean(axis=0)
        return PrincipalRows(U, lengths, (U / lengths).T, y)

    def _kernel_function(self) -> KernelFunction:
        """Return the kernel; a callable is a function of two rows."""
        by_rows = callable(self.kernel)
        return KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0, by_rows=by_rows)

    def transform(self, X: Any) -> FloatArray:
        """Project rows: ``(X - mean_) @ components_.T``; with a kernel, by sums of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Coordinates.
        """
        refuse_tensor(X, self)
        X = check_new_rows(self, X, None)
        project = self._project if self._is_linear else self._project_mapped
        out: FloatArray = by_slabs(project, X, 8 * X.shape[1])
        return out

    def _project(self, X: Any) -> FloatArray:
        """Return the projections of some rows."""
        out: FloatArray = (X - self.mean_) @ self.components_.T
        return out

    def _project_mapped(self, X: Any) -> FloatArray:
        """Return the projections of some rows that the kernel maps."""
        check_size(X)
        X = X.astype(np.float64, copy=False)
        sums = combine_kernel(self._kernel_function(), X, self.X_fit_, self.dual_coef_)
        return np.asarray(sums - self.offset_)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return to the space of the features: the row nearest to the mean that projects so.

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
        if not self._is_linear:
            raise ValueError(
                f"inverse_transform is for kernel='linear': with kernel={self.kernel!r} a point "
                "of the feature space need not be the image of a row."
            )
        Z = check_coordinates(X, self.n_components_, self)
        out: FloatArray = self.mean_ + Z @ np.linalg.pinv(self.components_).T
        return out

    @property
    def n_components_(self) -> int:
        """Number of directions."""
        return len(self.eigenvalues_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        tags.target_tags.required = self._needs_classes
        return tags

"""What Laplacian support vector analysis and its first step share: graph, coordinates, labels.

Directions lie in a space where the rows have coordinates F with K = FFᵀ:

=============  =================================================  ==========================
form           F                                                  a direction w̃ becomes
=============  =================================================  ==========================
linear         centred rows, or their principal coordinates       a row of ``components_``
               where there are fewer rows than columns
kernel         pivoted Cholesky factor of K                       coefficients of all rows
landmarks      Cholesky factor of a few columns of K              coefficients of these rows
=============  =================================================  ==========================
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets

from mercer._arrays import FloatArray, refuse_tensor
from mercer._sklearn import Interval, StrOptions
from mercer.graphs import heat_affinity, heat_width, laplacian, neighbor_graph, symmetrize
from mercer.kernels import KernelFunction, resolve_gamma
from mercer.samples import (
    check_new_rows,
    check_row_weights,
    check_size,
    check_some_weight,
    check_span,
    check_two_classes,
    validate_training,
)
from mercer.spectral import partial_cholesky, pivoted_cholesky, principal_axes
from mercer.sums import combine_kernel


@dataclass(frozen=True)
class FeatureSpace:
    """Coordinates F, n × r, of the training rows.

    In the linear form, F are rows about their `centre`, and a direction in the space of the columns
    is wᵀ @ axes.  In the form of landmarks, `pivots` are the rows from which F was made, and
    F[pivots] is lower triangular.
    """

    F: FloatArray
    axes: FloatArray | None = None
    centre: FloatArray | float = 0.0
    pivots: NDArray[np.intp] | None = None

    def landmark_coefficients(self, W: FloatArray) -> FloatArray:
        """Return the landmarks' coefficients of the projections on the columns of W."""
        triangle = self.F[self.pivots]
        out: FloatArray = linalg.solve_triangular(
            triangle, W, lower=True, trans="T", check_finite=False
        )
        return out


def feature_space(
    X: FloatArray,
    weights: FloatArray,
    kernel: KernelFunction,
    landmarks: int | None,
    rng: np.random.Generator,
) -> FeatureSpace:
    """Choose the form and factor the kernel of the weighted rows."""

    def checked(K: FloatArray) -> FloatArray:
        kernel.check_range(K, least=0.0)  # Small values are harmless, as none is squared here.
        return K

    if kernel.kernel == "linear":
        # The intercept makes the centre irrelevant to errors and to D − W; the normalised Laplacian
        # would penalise a common offset.
        centre = X.mean(axis=0)
        centre = centre + weights @ (X - centre) / weights.sum()
        centred = X - centre
        far = centred[np.abs(centred).max(axis=1).argmax()][np.newaxis]
        checked(kernel.matrix(far, far))
        if X.shape[1] <= X.shape[0]:
            return FeatureSpace(centred, np.eye(X.shape[1]), centre)
        U, lengths, axes = principal_axes(centred)
        return FeatureSpace(U * lengths, axes, centre)
    if landmarks is None:
        return FeatureSpace(pivoted_cholesky(checked(kernel.matrix(X, X))))
    F, pivots = partial_cholesky(
        checked(kernel.diagonal(X)),
        lambda i: checked(kernel.matrix(X, X[i : i + 1]))[:, 0],
        landmarks,
        rng,
    )
    return FeatureSpace(F, pivots=pivots)


@dataclass(frozen=True)
class Setting:
    """Everything that depends neither on the weight of the Laplacian nor on the classes."""

    X: FloatArray
    space: FeatureSpace
    L: csr_array
    seed: int

    def smoothness(self) -> FloatArray:
        """Return FᵀLF: how fast each direction varies along the edges of the graph."""
        F = self.space.F
        S: FloatArray = F.T @ (self.L @ F)
        return S


class LaplacianMachine(BaseEstimator):
    """Base of estimators that solve support vector machines with a Laplacian penalty."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [
            StrOptions({"linear", "rbf", "poly", "sigmoid", "cosine", "laplacian"}),
            callable,
        ],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "laplacian_weight": [Interval(Real, 0, None, closed="left")],
        "normalized": ["boolean"],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "affinity_width": [StrOptions({"median"}), Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"hinge", "squared_hinge", "squared_error"})],
        "landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "algorithm": [StrOptions({"auto", "exact", "approximate"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def _check_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, signs: bool = False
    ) -> tuple[FloatArray, NDArray[np.intp], FloatArray]:
        """Return rows of positive weight, classes (−1: no label) and weights; set ``classes_``."""
        X, y = validate_training(self, X, y, double=True, tensors=False, ensure_min_samples=2)
        weights = check_row_weights(sample_weight, len(X))
        counted = weights > 0
        check_some_weight(bool(counted.any()))
        if not counted.all():
            X, y, weights = X[counted], y[counted], weights[counted]
        self.classes_, codes = encode_labels(self, y, signs=signs)
        check_span(X)
        return X, codes, weights

    def _setting(self, X: FloatArray, weights: FloatArray) -> Setting:
        """Return graph and coordinates of weighted rows; set ``gamma_`` and ``affinity_width_``.

        A row of weight two has its edges twice.  In the normalised form each of its copies has the
        degree of one, D/ω, so that the penalty is ½ Σ W_ij (f_i/√(D_i/ω_i) − f_j/√(D_j/ω_j))²; both
        forms grow with the number of copies as the errors do.
        """
        random = check_random_state(self.random_state)
        rng = np.random.default_rng(random.randint(2**31))
        self.gamma_ = resolve_gamma(self.gamma, X, weights)

        graph = neighbor_graph(
            X,
            n_neighbors=self.n_neighbors,
            algorithm=self.algorithm,
            random_state=int(rng.integers(2**31)),
        )
        width = self.affinity_width
        self.affinity_width_ = heat_width(graph.data) if isinstance(width, str) else float(width)
        heat = heat_affinity(graph, width=self.affinity_width_)
        heat.data *= np.repeat(weights, np.diff(heat.indptr))
        L = laplacian(symmetrize(heat, "or"), normalized=self.normalized)
        if self.normalized:
            root = diags_array(np.sqrt(weights))
            L = csr_array(root @ L @ root)
        space = feature_space(X, weights, self._kernel(), self.landmarks, rng)
        return Setting(X, space, L, int(rng.integers(2**31)))

    def _kernel(self) -> KernelFunction:
        """Return the kernel; a callable is a function of two rows."""
        by_rows = callable(self.kernel)
        return KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0, by_rows=by_rows)

    def _check_new(self, X: Any, fitted: Any = None) -> Any:
        """Return new rows as floats whose squares are in range; sparse ones stay sparse."""
        refuse_tensor(X, self)
        X = check_new_rows(self, X, None)
        if isinstance(X, np.ndarray) or issparse(X):  # Blocks are checked one by one.
            check_size(X)
        return X

    def _projections(self, X: FloatArray, components: FloatArray | None) -> FloatArray:
        """Return projections of rows on components, or by kernel sums without these."""
        X = X.astype(np.float64, copy=False)
        if components is not None:
            return np.asarray(X @ components.T)
        return np.asarray(combine_kernel(self._kernel(), X, self.X_fit_, self.dual_coef_))

    def _width(self, components: FloatArray | None) -> int:
        """Return how many projections there are."""
        return len(self.dual_coef_.T if components is None else components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        tags.target_tags.required = True
        return tags


def encode_labels(
    model: Any, y: NDArray[Any], *, signs: bool = False
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes, and the number of each row's class, −1 for rows without a label.

    In arrays of numbers −1 marks such a row; in arrays of objects the number −1 does, beside
    names; arrays of strings have a label in every row.  With `signs`, an array of −1 and 1 only is
    taken as two classes, with a warning, as it would otherwise be one class.

    >>> import numpy as np
    >>> encode_labels(None, np.array(["b", -1, "a", "b"], dtype=object))
    (array(['a', 'b'], dtype=object), array([ 1, -1,  0,  1]))
    """
    if y.dtype.kind == "O":
        types = (int, float, np.number)
        unlabelled = np.array([isinstance(v, types) and v == -1 for v in y], dtype=bool)
    elif y.dtype.kind in "US":
        unlabelled = np.zeros(len(y), dtype=bool)
    else:
        unlabelled = y == -1
    if signs and y.dtype.kind in "iuf" and set(np.unique(y)) == {-1, 1}:
        warnings.warn(
            "y holds −1 and 1 only: they are taken as two classes here, though −1 means unlabelled "
            "otherwise. Code two classes as 0 and 1.",
            UserWarning,
            stacklevel=7,
        )
        unlabelled[:] = False
    known = y[~unlabelled]
    if len(known):
        check_classification_targets(known)
    classes, numbers = np.unique(known, return_inverse=True)
    note = " Note that −1 means unlabelled here: code two classes as 0 and 1, not as −1 and 1."
    check_two_classes(model, classes, note)
    codes = np.full(len(y), -1, dtype=np.intp)
    codes[~unlabelled] = numbers
    return classes, codes

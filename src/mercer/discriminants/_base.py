"""What both discriminants share: from discriminants of rows to classes, and checks of classes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import like, take_rows, to_numpy
from mercer._memory import by_slabs, room_on_device
from mercer._sklearn import get_namespace
from mercer.kernels import KernelFunction
from mercer.samples import (
    check_row_weights,
    check_same_home,
    check_span,
    check_tensor,
    dense_rows,
    merge_copies,
    on_dask,
    warn_of_scales,
)
from mercer.sums import combine_kernel

__all__ = [
    "KERNEL_NAMES",
    "FisherDiscriminant",
    "encode_labels",
    "log_priors",
    "resolve_class_weight",
    "resolve_priors",
    "validate_rows",
]

Array = Any
FloatArray = NDArray[np.float64]
KERNEL_NAMES = {"laplacian", "linear", "poly", "rbf"}
_ONE_WIDTH = ("rbf", "laplacian")  # kernels in which columns of other scales drown each other
_TABLES = 6  # arrays of (rows, classes) that answering holds at once


@on_dask(
    decision_function=lambda m: (None if len(m.classes_) == 2 else len(m.classes_), np.float64),
    predict=lambda m: (None, m.classes_.dtype),
    predict_proba=lambda m: (len(m.classes_), np.float64),
    predict_log_proba=lambda m: (len(m.classes_), np.float64),
    transform=lambda m: (m._n_features_out, np.float64),
)
class FisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator
):
    """Classify and project by discriminants Σⱼ αⱼ k(x, xⱼ).

    A subclass sets ``classes_``, ``dual_coef_`` (n_terms, C − 1), ``X_fit_`` (n_terms, d), the
    kernel ``_kernel`` and the rule ``_rule_coef`` (C − 1, C), ``_rule_intercept`` (C,) that
    turns discriminants into scores.  All arrays are of the library of the rows, and on their
    device; ``classes_`` is where y was.
    """

    classes_: Array
    dual_coef_: Array
    X_fit_: Any
    n_components: int | None
    _kernel: KernelFunction
    _rule_coef: Array
    _rule_intercept: Array

    def _combine(self, X: Array, coef: Array) -> Array:
        """Return Σⱼ k(x, xⱼ) coefⱼ at validated rows."""
        return combine_kernel(self._kernel, X, self.X_fit_, coef)

    def _check_new(self, X: Any, *, double: bool = False) -> Array:
        """Return new rows as floats, if they are where the fit is; sparse ones stay sparse."""
        check_is_fitted(self)
        X = check_tensor(X)
        xp, _ = get_namespace(X)
        floats = xp.float64 if double else [xp.float64, xp.float32]
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=floats)
        check_same_home(dense_rows(X[:0, :]) if issparse(X) else X, self.dual_coef_)
        return X

    def _answer(self, X: Any, finish: Callable[[Array], Array]) -> Array:
        """Return what is made of the scores, of as many rows at a time as fit the budget.

        Scores are log posteriors up to a constant of each row, of shape (n_rows, C).
        """
        X, coef = self._check_new(X), self.dual_coef_ @ self._rule_coef

        def answer(rows: Array) -> Array:
            return finish(self._combine(rows, coef) + self._rule_intercept)

        with room_on_device(f"the scores of {X.shape[0]} rows"):
            return by_slabs(answer, X, 8 * len(self.classes_) * _TABLES)

    def _labels(self, scores: Array) -> Array:
        """Return the class of the greatest score of each row."""
        best = array_namespace(scores).argmax(scores, axis=1)
        if is_torch_array(best) and is_torch_array(self.classes_):
            return self.classes_[best.to(self.classes_.device)]
        return take_rows(self.classes_, to_numpy(best))

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the posterior probabilities up to a constant of each row; with two
            classes their difference, positive for ``classes_[1]``.
        """
        return self._answer(X, _difference)

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            A class for each row.
        """
        return self._answer(X, self._labels)

    def predict_proba(self, X: Any) -> Array:
        """Return posterior probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, which add up to 1 in each row.
        """
        return self._answer(X, _shares)

    def predict_log_proba(self, X: Any) -> Array:
        """Return logarithms of the posterior probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of the probabilities.
        """
        return self._answer(X, _log_shares)

    def transform(self, X: Any) -> Array:
        """Return the discriminants of each row, strongest first: eq. (21) of the paper.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        X, coef = self._check_new(X), self.dual_coef_[:, : self._n_features_out]
        with room_on_device(f"the discriminants of {X.shape[0]} rows"):
            return by_slabs(lambda rows: self._combine(rows, coef), X, 16 * coef.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # made dense where that fits the memory budget
        return tags

    @property
    def _n_features_out(self) -> int:
        """How many columns `transform` returns."""
        most = int(self.dual_coef_.shape[1])
        return most if self.n_components is None else min(self.n_components, most)

    def _check_components(self, n_classes: int) -> None:
        """Refuse more components than there are discriminants."""
        if self.n_components is not None and self.n_components > n_classes - 1:
            raise ValueError(
                f"n_components={self.n_components} is more than the {n_classes - 1} discriminants "
                f"that {n_classes} classes have."
            )


def _difference(scores: Array) -> Array:
    """Return scores, of two classes their difference."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _shares(scores: Array) -> Array:
    """Return posterior probabilities."""
    xp = array_namespace(scores)
    shares = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return shares / xp.sum(shares, axis=1, keepdims=True)


def _log_shares(scores: Array) -> Array:
    """Return their logarithms."""
    xp = array_namespace(scores)
    scores = scores - xp.max(scores, axis=1, keepdims=True)
    return scores - xp.log(xp.sum(xp.exp(scores), axis=1, keepdims=True))


def validate_rows(
    estimator: BaseEstimator, X: Any, y: Any, *, double: bool, reset: bool = True
) -> tuple[Array, Array]:
    """Return dense rows as floats, and labels, as scikit-learn validates them.

    Tensors stay where they are.
    """
    X = check_tensor(X)
    xp, _ = get_namespace(X)
    floats = xp.float64 if double else [xp.float64, xp.float32]
    X, y = validate_data(estimator, X, y, reset=reset, accept_sparse="csr", dtype=floats)
    in_blocks = hasattr(estimator, "partial_fit")
    X = dense_rows(X, ", or give partial_fit blocks of rows" if in_blocks else "")
    check_span(X)
    check_classification_targets(y)
    if reset and getattr(estimator, "kernel", None) in _ONE_WIDTH:
        warn_of_scales(estimator, X)
    return X, y


def encode_labels(
    estimator: FisherDiscriminant, X: Array, y: Array, sample_weight: Any
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[np.intp], FloatArray, FloatArray]:
    """Set ``classes_``; return the rows that count, the classes, and what is known of the rows.

    That is their labels 0 … C − 1, their weights, and the share of a row's weight that
    leave-one-out takes away.  Of identical rows of one class only the first is returned, with
    the weight of all.  All that is returned is of NumPy.

    Raises
    ------
    ValueError
        If fewer than two classes have rows with a positive weight.
    """
    weights = check_row_weights(sample_weight, y.shape[0])
    rows = np.flatnonzero(weights > 0)
    classes, labels = np.unique(to_numpy(y)[rows], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes in y with a "
            f"positive weight, got {len(classes)} class."
        )
    estimator.classes_ = like(classes, y) if is_torch_array(y) else classes
    labels = labels.astype(np.intp)
    merged = merge_copies(
        take_rows(X, rows) if len(rows) < len(weights) else X, labels, weights[rows]
    )
    removed = merged.leaving / merged.weights
    return rows[merged.rows], classes, merged.take(labels), merged.weights, removed


def resolve_class_weight(
    class_weight: Any, classes: NDArray[Any], in_class: FloatArray
) -> FloatArray:
    """Return the factor of each class: ones, N/(C·N_c) for "balanced", or from a dictionary."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(in_class.sum() / (len(classes) * in_class))
    unknown = [key for key in class_weight if key not in classes]
    if unknown:
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not among the classes.")
    factors = np.array([float(class_weight.get(c, 1.0)) for c in classes.tolist()])
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise ValueError("class_weight must be positive for every class.")
    return factors


def resolve_priors(priors: Any, in_class: FloatArray) -> FloatArray:
    """Return priors that add up to one; None means the weighted shares of the classes."""
    if priors is None:
        return np.asarray(in_class / in_class.sum())
    values = np.asarray(priors, dtype=float)
    if values.shape != in_class.shape:
        raise ValueError(
            f"priors must have one entry for each of the {len(in_class)} classes, got shape "
            f"{values.shape}."
        )
    if (values < 0).any() or not np.isclose(values.sum(), 1.0):
        raise ValueError("priors must not be negative and must add up to 1.")
    return np.asarray(values / values.sum())


def log_priors(priors: Array) -> Array:
    """Return logarithms; a class with prior zero is never chosen."""
    with np.errstate(divide="ignore"):
        return array_namespace(priors).log(priors)

"""What both discriminants share: from discriminants of rows to classes, and checks of classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._dask import on_dask
from mercer._sklearn import check_sample_weight
from mercer.discriminants._kernels import KernelFunction

__all__ = [
    "FisherDiscriminant",
    "encode_labels",
    "log_priors",
    "resolve_class_weight",
    "resolve_priors",
]

Array = NDArray[np.float64]


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
    turns discriminants into scores.
    """

    classes_: NDArray[Any]
    dual_coef_: Array
    X_fit_: Any
    n_components: int | None
    _kernel: KernelFunction
    _rule_coef: Array
    _rule_intercept: Array

    def _combine(self, X: Any, coef: Array) -> Array:
        """Return Σⱼ k(x, xⱼ) coefⱼ at validated rows."""
        return self._kernel.combine(X, self.X_fit_, coef)

    def _scores(self, X: Any) -> Array:
        """Return log posteriors up to a constant of each row, of shape (n_rows, C)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        coef = self.dual_coef_ @ self._rule_coef
        return self._combine(X, coef) + self._rule_intercept

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Logarithms of the posterior probabilities up to a constant of each row; with two
            classes their difference, positive for ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return posterior probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(softmax(self._scores(X), axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """Return logarithms of the posterior probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return np.asarray(log_softmax(self._scores(X), axis=1))

    def transform(self, X: Any) -> Array:
        """Return the discriminants of each row, strongest first: eq. (21) of the paper.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._combine(X, self.dual_coef_[:, : self._n_features_out])

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


def encode_labels(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any
) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[np.intp], Array]:
    """Return the rows that count, the classes, the labels 0 … C − 1 and weights of these rows.

    Raises
    ------
    ValueError
        If fewer than two classes have rows with a positive weight.
    """
    check_classification_targets(y)
    weights = np.asarray(
        check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )
    rows = np.flatnonzero(weights > 0)
    classes, labels = np.unique(np.asarray(y)[rows], return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs rows of at least two classes with a positive "
            f"weight, got {len(classes)} class."
        )
    return rows, classes, labels.astype(np.intp), weights[rows]


def resolve_class_weight(class_weight: Any, classes: NDArray[Any], in_class: Array) -> Array:
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


def resolve_priors(priors: Any, in_class: Array) -> Array:
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
        return np.asarray(np.log(priors))

"""What wrappers of one classifier share: rows are the classifier's to check, and so are answers."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from mercer._arrays import refuse_tensor

__all__ = ["DelegatingClassifier", "check_classes", "check_indexable", "keep_features"]


def check_indexable(X: Any, wrapper: Any) -> Any:
    """Return rows of any kind, texts included, that parts can be taken of."""
    refuse_tensor(X, wrapper)
    return indexable(X)[0]


def check_classes(X: Any, y: Any, wrapper: Any) -> NDArray[Any]:
    """Return the classes of rows, one for each."""
    y = validate_data(wrapper, y=y)
    check_classification_targets(y)
    indexable(X, y)
    return np.asarray(y)


def keep_features(wrapper: Any, fitted: Any) -> None:
    """Copy what the fitted classifier knows of the columns; one of texts knows nothing."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(wrapper, name, getattr(fitted, name))


def _has(method: str) -> Any:
    """Return a test of whether the wrapped classifier has a method."""

    def has(wrapper: Any) -> bool:
        return hasattr(getattr(wrapper, "estimator_", wrapper.estimator), method)

    return available_if(has)


class DelegatingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, ABC):
    """Base of wrappers around `estimator`, which fit sets as `estimator_`."""

    estimator: Any

    @abstractmethod
    def _answer(self, method: str, X: Any) -> NDArray[Any]:
        """Return what a method of the fitted classifier says of these rows."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            A class for each row.
        """
        return self._answer("predict", X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, which add up to 1 in each row.
        """
        return self._answer("predict_proba", X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            A score for each class, or one for two classes: positive for the second.
        """
        return self._answer("decision_function", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags

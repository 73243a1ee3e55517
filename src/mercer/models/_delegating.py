"""What wrappers of one classifier share: their answers are the classifier's."""

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

__all__ = ["DelegatingClassifier"]


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

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._answer("predict", X)

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._answer("predict_proba", X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._answer("decision_function", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags

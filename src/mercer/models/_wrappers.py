"""Classifiers around a classifier: what they share, and one that limits the rows of the fit."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import refuse_tensor
from mercer._sklearn import HasMethods, Interval, fit_context, take_rows_of_any
from mercer.spectral import stratified_rows


def check_indexable(X: Any, wrapper: Any) -> Any:
    """Return rows of any kind, texts included, as something of which parts can be taken."""
    refuse_tensor(X, wrapper)
    return indexable(X)[0]


def check_classes(X: Any, y: Any, wrapper: Any) -> NDArray[Any]:
    """Return the classes of rows, one for each."""
    y = validate_data(wrapper, y=y)
    check_classification_targets(y)
    indexable(X, y)
    return np.asarray(y)


def keep_features(wrapper: Any, fitted: Any) -> None:
    """Copy what the fitted classifier knows of the columns, if it knows anything."""
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
    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
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

    @_has("predict_set")
    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return the classes that may be right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            Share of new rows whose set holds the true class, between 0 and 1.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Which classes, in the order of ``classes_``, are in the set of each row.
        """
        return self._answer("predict_set", X, coverage=coverage)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = get_tags(self.estimator).classifier_tags
        return tags


class CappedClassifier(DelegatingClassifier):
    """Fit a classifier on a random part of the rows where there are too many of them.

    Time and memory of methods that compare all pairs of rows grow with the square of their
    number.  Above ``max_rows`` they see a sample in which each class keeps its share, and at
    least one row.  Rows that are not drawn are not looked at.

    Parameters
    ----------
    estimator : classifier
        What to fit.
    max_rows : int, default=5000
        The most rows that it is fitted on.
    random_state : int, RandomState or None, default=None
        For the sample.

    Attributes
    ----------
    estimator_ : classifier
        Fitted.
    n_rows_fitted_ : int
        How many rows it was fitted on.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    TunedClassifier : Caps the rows on which parameters are chosen, not those of the last fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.classifiers import ParzenClassifier
    >>> from mercer.models import CappedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CappedClassifier(ParzenClassifier(), max_rows=60, random_state=0).fit(X, y)
    >>> model.n_rows_fitted_, round(model.score(X, y), 2)
    (60, 0.98)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "max_rows": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, *, max_rows: int = 5000, random_state: Any = None) -> None:
        self.estimator = estimator
        self.max_rows = max_rows
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> "CappedClassifier":
        """Draw the rows and fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples,)
            Rows of any kind that the estimator takes: numbers, texts, a DataFrame.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_indexable(X, self)
        y = check_classes(X, y, self)
        self.classes_, labels = np.unique(y, return_inverse=True)
        rows = stratified_rows(labels, self.max_rows, 1.0, check_random_state(self.random_state))
        self.n_rows_fitted_ = len(rows)
        self.estimator_ = clone(self.estimator).fit(take_rows_of_any(X, rows), y[rows])
        keep_features(self, self.estimator_)
        return self

    def _answer(self, method: str, X: Any, **options: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(getattr(self.estimator_, method)(check_indexable(X, self), **options))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

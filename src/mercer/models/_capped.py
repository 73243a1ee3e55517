"""A classifier that is fitted on at most so many rows."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._sklearn import HasMethods, Interval, fit_context, take_rows_of_any
from mercer.models._delegating import (
    DelegatingClassifier,
    check_classes,
    check_indexable,
    keep_features,
)
from mercer.spectral import stratified_rows

__all__ = ["CappedClassifier"]


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

    def _answer(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(getattr(self.estimator_, method)(check_indexable(X, self)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

"""A classifier that is fitted on at most so many rows."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._rows import refuse_tensor
from mercer._sklearn import HasMethods, Interval, fit_context
from mercer.models._delegating import DelegatingClassifier
from mercer.spectral import stratified_rows

__all__ = ["CappedClassifier"]


class CappedClassifier(DelegatingClassifier):
    """Fit a classifier on a random part of the rows where there are too many of them.

    Time and memory of methods that compare all pairs of rows grow with the square of their
    number.  Above ``max_rows`` they see a sample in which each class keeps its share, and at
    least one row.

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
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

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
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        refuse_tensor(X, self)
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        rows = stratified_rows(labels, self.max_rows, 1.0, check_random_state(self.random_state))
        self.n_rows_fitted_ = len(rows)
        self.estimator_ = clone(self.estimator).fit(X[rows], y[rows])
        return self

    def _answer(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        refuse_tensor(X, self)
        X = validate_data(self, X, reset=False)
        return np.asarray(getattr(self.estimator_, method)(X))

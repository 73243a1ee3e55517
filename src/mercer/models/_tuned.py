"""A classifier that chooses its parameters by folds, with probabilities from the same folds."""

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import FloatArray
from mercer._memory import by_slabs
from mercer._sklearn import HasMethods, Interval, StrOptions, fit_context, take_rows_of_any
from mercer.models._folds import left_out_values
from mercer.models._wrappers import check_classes, check_indexable, keep_features
from mercer.spectral import stratified_rows

_TABLES = 6  # An answer holds this many arrays of (rows, classes) at once.


class TunedClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Choose the parameters of a classifier by stratified folds.

    Each cell of the grid is fitted on all folds but one and judged on that one; the best cell is
    then fitted on all rows.  Where the classifier has no probabilities, a logistic regression on
    its decision values gives them; it is fitted on the values of rows left out, which the
    folds have computed already.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` or `decision_function`.
    param_grid : dict of str to list
        Values to try; the first of equally good cells is taken.
    n_splits : int, default=3
        How many folds; fewer where the largest class has fewer rows.
    max_rows : int, default=2000
        The most rows that the folds are made of; classes keep their shares.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What makes a cell good; "balanced_accuracy" also gives all classes the same weight in
        the logistic regression.
    random_state : int, RandomState or None, default=None
        For the rows and the folds.

    Attributes
    ----------
    best_params_ : dict
        The cell that was taken.
    best_score_ : float
        Score of the best cell on rows left out.
    estimator_ : classifier
        Fitted on all rows with the best parameters.
    calibrator_ : LogisticRegression or None
        Turns decision values into probabilities.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Gives no probabilities to a classifier without them.
    sklearn.calibration.CalibratedClassifierCV : Fits the classifier again for them.

    Notes
    -----
    `predict` is the most probable class.  Cost: n_splits fits for each cell on at most
    ``max_rows`` rows, and one on all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from mercer.models import TunedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TunedClassifier(SVC(), {"C": [1, 10]}, random_state=0).fit(X, y)
    >>> model.best_params_, model.predict_proba(X[:1]).round(1).tolist()
    ({'C': 10}, [[1.0, 0.0, 0.0]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [
            HasMethods(["fit", "predict_proba"]),
            HasMethods(["fit", "decision_function"]),
        ],
        "param_grid": [dict],
        "n_splits": [Interval(Integral, 2, None, closed="left")],
        "max_rows": [Interval(Integral, 4, None, closed="left")],
        "scoring": [StrOptions({"accuracy", "balanced_accuracy"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, list[Any]],
        *,
        n_splits: int = 3,
        max_rows: int = 2000,
        scoring: str = "accuracy",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.n_splits = n_splits
        self.max_rows = max_rows
        self.scoring = scoring
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any) -> "TunedClassifier":
        """Choose the parameters, and fit with these.

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
        if len(self.classes_) < 2:
            found = "1 class" if len(self.classes_) else "no rows"
            raise ValueError(f"TunedClassifier needs rows of at least two classes, got {found}.")
        rng = check_random_state(self.random_state)
        rows = stratified_rows(labels, self.max_rows, 1.0, rng)

        some = take_rows_of_any(X, rows)
        cells = list(ParameterGrid(self.param_grid))
        seed = int(rng.randint(2**31 - 1))
        numbers = np.arange(len(self.classes_))
        values = [
            left_out_values(
                clone(self.estimator).set_params(**cell),
                some, labels[rows], numbers, self.n_splits, seed, _values,
            )
            for cell in cells
        ]  # fmt: skip
        scores = [self._score(labels[rows], found) for found in values]
        best = int(np.argmax(scores))
        self.best_params_, self.best_score_ = cells[best], float(scores[best])

        self.estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        keep_features(self, self.estimator_)
        self.calibrator_ = None
        if not hasattr(self.estimator_, "predict_proba"):
            weight = "balanced" if self.scoring == "balanced_accuracy" else None
            self.calibrator_ = LogisticRegression(class_weight=weight, max_iter=1000)
            self.calibrator_.fit(_columns(values[best]), labels[rows])
        return self

    def _score(self, labels: NDArray[np.intp], values: FloatArray) -> float:
        predicted = np.argmax(values, axis=1)
        if self.scoring == "accuracy":
            return float(np.mean(predicted == labels))
        return float(balanced_accuracy_score(labels, predicted))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, which add up to 1 in each row.
        """
        return self._by_slabs(self._shares, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            A class for each row.
        """
        return self._by_slabs(lambda rows: self.classes_[self._shares(rows).argmax(axis=1)], X)

    def _by_slabs(self, answer: Callable[[Any], NDArray[Any]], X: Any) -> NDArray[Any]:
        """Answer as many rows at a time as fit the memory budget."""
        check_is_fitted(self)
        X, each = check_indexable(X, self), 8 * len(self.classes_) * _TABLES
        return np.asarray(by_slabs(answer, X, each, take=take_rows_of_any))

    def _shares(self, X: Any) -> FloatArray:
        """Return the probabilities of rows."""
        if self.calibrator_ is None:
            return np.asarray(self.estimator_.predict_proba(X))
        return np.asarray(self.calibrator_.predict_proba(_columns(_values(self.estimator_, X))))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _values(model: Any, X: Any) -> FloatArray:
    """Return probabilities or decision values, one column for each class."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    values = np.asarray(model.decision_function(X))
    return np.stack([-values, values], axis=1) if values.ndim == 1 else values


def _columns(values: FloatArray) -> FloatArray:
    """Leave out the first of two columns, which is the other with the sign changed."""
    return values[:, 1:] if values.shape[1] == 2 else values

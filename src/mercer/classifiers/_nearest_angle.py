"""The class whose mean a point makes the smallest angle with, in the space as it is."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import like, take_rows, to_numpy
from mercer._memory import by_slabs
from mercer._sklearn import fit_context, get_namespace
from mercer.classifiers._dask_sample import check_dask_fit
from mercer.samples import (
    check_row_weights,
    check_same_home,
    check_tensor,
    class_totals,
    on_dask,
    take_by_code,
)

Array = Any


def _fit_blocks(
    model: "NearestAngleClassifier", X: Any, y: Any, sample_weight: Any = None
) -> "NearestAngleClassifier":
    """Find the class means of rows in a Dask array: one pass."""
    sample = check_dask_fit(model, X, y, sample_weight)
    X, codes, weights = sample.X, sample.codes, sample.weights
    counts = class_totals(codes, weights, model.classes_.size)
    shares = weights * take_by_code(1 / counts, codes)
    model.means_ = class_totals(codes, shares * X.astype(np.float64).T, model.classes_.size).T
    return model


@on_dask(
    fit=_fit_blocks,
    decision_function=lambda m: (None if len(m.classes_) == 2 else len(m.classes_), np.float64),
    predict=lambda m: (None, m.classes_.dtype),
)
class NearestAngleClassifier(ClassifierMixin, BaseEstimator):
    r"""Classify by the cosine to class means.

    A class is the mean of its rows, a point goes to the class whose mean vector makes the
    smallest angle with it.  That is the rule of the Laplacian classifier in coordinates that are
    already there: use it after :class:`mercer.LaplacianFeatureMap`.

    .. math:: c^*(x) = \arg\max_c \frac{x \cdot m_c}{\|x\| \, \|m_c\|}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    means_ : ndarray of shape (n_classes, n_features)
        Means of the classes.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, only where all of them are text.

    See Also
    --------
    mercer.LaplacianClassifier : The same in the kernel's whole feature space.
    sklearn.neighbors.NearestCentroid : Distances instead of angles.

    Notes
    -----
    Time and memory are linear in the table.  A row or mean of length zero has cosine 0 with
    everything.  This is (16) of [1]_ with an explicit map.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> from mercer import NearestAngleClassifier
    >>> model = NearestAngleClassifier().fit([[1, 0], [9, 1], [0, 2]], ["east", "east", "north"])
    >>> model.predict([[100, 90], [1, 2]])
    array(['east', 'north'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "NearestAngleClassifier":
        """Find the class means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        X = check_tensor(X)
        xp, _ = get_namespace(X)
        X, y = validate_data(self, X, y, dtype=[xp.float64, xp.float32])
        check_classification_targets(y)
        labels, weights = to_numpy(y), check_row_weights(sample_weight, X.shape[0])
        counted = np.flatnonzero(weights > 0)
        if counted.size == 0:
            raise ValueError("sample_weight is zero everywhere: no row is left to learn from.")
        X = xp.astype(take_rows(X, counted), xp.float64)
        weights, labels = weights[counted], labels[counted]
        classes, codes = np.unique(labels, return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                "NearestAngleClassifier needs at least two classes in y, got one class: "
                f"{classes.tolist()[0]!r}."
            )
        self.classes_ = like(classes, y) if is_torch_array(y) else classes
        members = np.zeros((classes.size, codes.size))
        members[codes, np.arange(codes.size)] = weights / np.bincount(codes, weights)[codes]
        self.means_ = like(members, X) @ X
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the cosines to the class means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            For two classes the second one's cosine minus the first one's.
        """
        return self._answer(X, _difference)

    def predict(self, X: Any) -> Array:
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

        def finish(cosines: Array) -> Array:
            values = to_numpy(_difference(cosines))
            chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
            return take_rows(self.classes_, chosen)

        return self._answer(X, finish)

    def _answer(self, X: Any, finish: Callable[[Array], Array]) -> Array:
        """Return what is made of the cosines, of as many rows at a time as fit the budget."""
        check_is_fitted(self)
        X = check_tensor(X)
        xp, _ = get_namespace(X)
        X = validate_data(self, X, reset=False, dtype=[xp.float64, xp.float32])
        check_same_home(X, self.means_)
        means = _unit(self.means_).T

        def answer(rows: Array) -> Array:
            return finish(_unit(xp.astype(rows, xp.float64)) @ means)

        return by_slabs(answer, X, 8 * (4 * X.shape[1] + 3 * means.shape[1]))


def _difference(cosines: Array) -> Array:
    """Return cosines, of two classes their difference."""
    return cosines[:, 1] - cosines[:, 0] if cosines.shape[1] == 2 else cosines


def _unit(A: Array) -> Array:
    """Divide rows by their lengths, whatever their scale; rows of zeros stay."""
    xp = array_namespace(A)
    largest = xp.max(xp.abs(A), axis=1, keepdims=True)
    A = A / xp.where(largest > 0, largest, 1.0)
    lengths = xp.sqrt(xp.sum(A * A, axis=1, keepdims=True))
    return A / xp.where(lengths > 0, lengths, 1.0)

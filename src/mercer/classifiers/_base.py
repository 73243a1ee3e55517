"""What the classifiers share: input, labels, priors, and answers from one table of scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array, is_torch_array
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import itemsize, like, take_rows, to_numpy
from mercer._memory import by_slabs
from mercer._sklearn import get_namespace
from mercer.classifiers._logs import log_normalise
from mercer.classifiers._sample import Sample
from mercer.samples import (
    Merged,
    as_given,
    by_blocks,
    check_dask_rows,
    check_row_weights,
    check_same_home,
    check_tensor,
    dense_rows,
    from_memory,
    is_dask_array,
    merge_copies,
    warn_of_scales,
)

Array = Any
_SINGLE = (1e-15, 1e15)  # weights that are summed in float32, where rows are
_TABLES = 6  # arrays of (rows, classes) that scoring holds at once


class ClassVectorClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of classifiers that score a point by its sums over classes.

    A subclass writes `fit` and `_log_scores(X)`, a float64 (rows, classes) table whose largest
    entry is the answer; −inf is allowed, unless a whole row of it.
    """

    classes_: Array
    X_fit_: Array

    @abstractmethod
    def _log_scores(self, X: Array) -> Array:
        """Return the scores of some rows: (rows, classes)."""

    def decision_function(self, X: Any) -> Array:
        """Return the scores of each class, in logarithms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples,)
            For two classes the second one's score minus the first one's.  Always finite: a score
            of −inf is the lowest number there is.
        """
        given, X = X, self._check_rows(X)
        if self._goes_by_blocks(X):
            n_columns = None if len(self.classes_) == 2 else len(self.classes_)
            return by_blocks(self.decision_function, X, n_columns=n_columns, dtype=X.dtype)
        xp = array_namespace(X)

        def finish(scores: Array) -> Array:
            if scores.shape[1] == 2:
                scores = scores[:, 1] - scores[:, 0]
            largest = xp.finfo(X.dtype).max  # what bounded windows do not reach is −inf
            return xp.astype(xp.clip(scores, -largest, largest), X.dtype)

        return as_given(self._answer(X, finish), given)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Logarithms of the probabilities.
        """
        shares = self.predict_proba(X)
        if is_numpy_array(shares):
            return np.log(shares, out=shares)
        return array_namespace(shares).log(shares)

    def predict_proba(self, X: Any) -> Array:
        """Return the scores, divided by their sum.

        They are no calibrated probabilities: use
        :class:`sklearn.calibration.CalibratedClassifierCV` where their size matters.  None is
        exactly zero: below the smallest normal number, `decision_function` has the scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, which add up to 1 in each row.
        """
        given, X = X, self._check_rows(X)
        if self._goes_by_blocks(X):
            return by_blocks(self.predict_proba, X, n_columns=len(self.classes_), dtype=X.dtype)
        xp = array_namespace(X)

        def finish(scores: Array) -> Array:
            shares = xp.astype(xp.exp(log_normalise(scores)), X.dtype)
            return xp.maximum(shares, xp.full_like(shares, xp.finfo(X.dtype).smallest_normal))

        return as_given(self._answer(X, finish), given)

    def predict(self, X: Any) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            A class for each row.
        """
        given, X = X, self._check_rows(X)
        if self._goes_by_blocks(X):
            return by_blocks(self.predict, X, n_columns=None, dtype=self.classes_.dtype)
        xp = array_namespace(X)
        labels = self._answer(X, lambda scores: self._labels(xp.argmax(scores, axis=1)))
        return as_given(labels, given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # made dense where that fits the memory budget
        # Dispatch works for torch; this tag would promise every library of the standard.
        tags.array_api_support = False
        return tags

    def _answer(self, X: Array, finish: Callable[[Array], Array]) -> Array:
        """Return what is made of the scores, of as many rows at a time as fit the budget."""
        if is_dask_array(X):  # in blocks as it is
            return finish(self._log_scores(X))
        bytes_per_row = 8 * self.classes_.shape[0] * _TABLES
        return by_slabs(lambda rows: finish(self._log_scores(rows)), X, bytes_per_row)

    def _labels(self, chosen: Array) -> Array:
        if is_dask_array(chosen):
            return chosen.map_blocks(partial(np.take, self.classes_), dtype=self.classes_.dtype)
        if is_torch_array(self.classes_):
            return take_rows(self.classes_, to_numpy(chosen))
        return self.classes_[to_numpy(chosen)]

    def _check_rows(self, X: Any) -> Array:
        """Return new rows as the training rows were: dense floats of one library and device."""
        check_is_fitted(self)
        if is_dask_array(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return check_dask_rows(X, "X")
        X = check_tensor(X)
        xp, _ = get_namespace(X)
        floats = [xp.float64, xp.float32]
        X = dense_rows(validate_data(self, X, reset=False, accept_sparse="csr", dtype=floats))
        if self._is_in_blocks() and is_numpy_array(X):
            return from_memory(X)
        check_same_home(X, self.X_fit_)
        return X

    def _is_in_blocks(self) -> bool:
        """Whether the classifier was fitted on a Dask array and keeps its rows there."""
        return any(is_dask_array(value) for value in vars(self).values())

    def _goes_by_blocks(self, X: Array) -> bool:
        """Whether each block of X can be answered alone."""
        return is_dask_array(X) and not self._is_in_blocks()

    def _check_fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[Sample, Merged | None]:
        """Validate training data; return the sample, and how its rows were merged; set `classes_`.

        Rows of weight 0 are gone, as if they had not been given, and copies of a row are one.
        """
        if is_dask_array(X):
            from mercer.classifiers._dask_sample import check_dask_fit

            return check_dask_fit(self, X, y, sample_weight), None
        X = check_tensor(X)
        xp, _ = get_namespace(X)
        floats = [xp.float64, xp.float32]
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=floats)
        check_classification_targets(y)
        X, labels = dense_rows(X), to_numpy(y)
        weights = check_row_weights(sample_weight, X.shape[0])
        if sample_weight is not None:
            counted = np.flatnonzero(weights > 0)
            if counted.size == 0:
                raise ValueError("sample_weight is zero everywhere: no row is left to learn from.")
            X, labels, weights = take_rows(X, counted), labels[counted], weights[counted]
        classes, codes = np.unique(labels, return_inverse=True)
        if classes.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes in y, got one class: "
                f"{classes.tolist()[0]!r}."
            )
        if itemsize(X) == 4 and not (_SINGLE[0] <= weights.min() <= weights.max() <= _SINGLE[1]):
            X = xp.astype(X, xp.float64)  # float32 could not hold the weights and their products
        warn_of_scales(self, X)
        is_tensor = is_torch_array(y)
        self.classes_ = xp.asarray(classes, device=device(y)) if is_tensor else classes
        codes = codes.astype(np.int64)
        merged = merge_copies(X, codes, weights)
        numbers = (like(v, X, dtype=xp.float64) for v in (merged.weights, merged.leaving))
        return Sample.sorted(merged.take(X), merged.take(codes), *numbers), merged


def check_priors(priors: Any, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class priors that add up to 1: given ones, equal ones, or the classes' shares."""
    shares: NDArray[np.float64] = counts / counts.sum()
    if priors is None:
        return shares
    if isinstance(priors, str):  # "uniform": the constraints allow no other
        return np.full_like(shares, 1 / shares.size)
    values = np.asarray(priors, dtype=float)
    if values.shape != shares.shape:
        raise ValueError(
            f"priors must have one entry for each of the {shares.size} classes, got shape "
            f"{values.shape}."
        )
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(f"priors must be positive, got {values.tolist()}.")
    if abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"priors must add up to 1, got {values.sum():g}.")
    normalised: NDArray[np.float64] = values / values.sum()
    return normalised

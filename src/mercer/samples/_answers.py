"""Answers to new rows: as many at a time as fit the memory budget, on any device or in blocks.

A classifier computes one table of scores, and everything that users ask for is made of that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer._arrays import Array, take_rows, to_numpy
from mercer._memory import by_slabs, explain_full_device
from mercer._sklearn import fit_afresh, get_namespace
from mercer.samples._checks import check_same_home, check_tensor, dense_rows
from mercer.samples._dask_arrays import (
    as_given,
    by_blocks,
    check_dask_rows,
    from_memory,
    refuse_dask,
)
from mercer.samples._homes import is_in_blocks
from mercer.samples._in_memory import log_normalise

T = TypeVar("T")
_TABLES = 6  # Scoring holds this many arrays of (rows, classes) at once.
_LARGEST = np.finfo(np.float64).max
_SMALLEST = np.finfo(np.float64).smallest_normal


class ScoreClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Base of classifiers that answer by a table of scores.

    A subclass writes `fit`, which sets `classes_`, and `_scores`.  Rows may be NumPy arrays, sparse
    matrices, torch tensors where the fit is one, and Dask arrays.
    """

    classes_: Array
    X_fit_: Array

    @abstractmethod
    def _scores(self, X: Array) -> Array:
        """Return the scores of some rows, (rows, classes), the largest of which is the answer.

        In float64.  A score may be −inf, but not all scores of a row.
        """

    @property
    def _fitted(self) -> Array:
        """An array that is where the fit is: new rows must be there as well."""
        return self.X_fit_

    def decision_function(self, X: Any) -> Array:
        """Return the scores of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes) or (n_samples,)
            In float64.  For two classes the second one's score minus the first one's.  Always
            finite: a score of −inf becomes the lowest number of float64.
        """
        check_is_fitted(self)
        n_classes = len(self.classes_)
        return self._answer(X, _differences, None if n_classes == 2 else n_classes)

    def predict(self, X: Any) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            A class for each row.
        """
        check_is_fitted(self)
        return self._answer(X, self._labels, None, self.classes_.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True  # They are made dense, if that fits the memory budget.
        # Dispatch works for torch; this tag would promise every library of the standard.
        tags.array_api_support = False
        return tags

    def _answer(
        self,
        X: Any,
        finish: Callable[[Array], Array],
        n_columns: int | None,
        dtype: Any = np.float64,
    ) -> Array:
        """Return `finish` of the scores of all rows: (rows,) or (rows, n_columns)."""
        return answer_rows(
            self,
            X,
            self._fitted,
            lambda rows: finish(self._scores(rows)),
            n_columns=n_columns,
            dtype=dtype,
            bytes_per_row=self._bytes_per_row,
            check=self._check_new,
        )

    def _check_new(self, X: Any, fitted: Array | None) -> Array:
        """Return new rows as floats, in memory or in blocks."""
        return check_new_rows(self, X, fitted)

    def _bytes_per_row(self, X: Array) -> int:
        """Return the bytes that scoring takes for each row, beside the row itself."""
        return 8 * len(self.classes_) * _TABLES

    def _labels(self, scores: Array) -> Array:
        """Return the class of the greatest score of each row."""
        chosen = array_namespace(scores).argmax(scores, axis=1)
        if is_in_blocks(chosen):
            return chosen.map_blocks(partial(np.take, self.classes_), dtype=self.classes_.dtype)
        if is_torch_array(chosen) and is_torch_array(self.classes_):
            return self.classes_[chosen.to(self.classes_.device)]
        return take_rows(self.classes_, to_numpy(chosen))


class ProbabilityClassifier(ScoreClassifier):
    """Base of classifiers whose scores are logarithms of probabilities, up to a constant."""

    def predict_proba(self, X: Any) -> Array:
        """Return the shares of the classes: exp of the scores, divided by their sum.

        Zero is a class that cannot be, of prior zero or out of reach of every window; below the
        smallest normal number, `predict_log_proba` has the logarithms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, in float64, which add up to 1 in each row.
        """
        check_is_fitted(self)
        return self._answer(X, lambda scores: _shares(self._log_odds(scores)), len(self.classes_))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Logarithms, in float64, also of what is too small for a number.
        """
        check_is_fitted(self)
        finish = lambda scores: _log_shares(self._log_odds(scores))  # noqa: E731
        return self._answer(X, finish, len(self.classes_))

    def _log_odds(self, scores: Array) -> Array:
        """Return the logarithms of probabilities, up to a constant for each row, from scores."""
        return scores


def _differences(scores: Array) -> Array:
    """Return the scores as finite numbers; of two classes, their difference."""
    xp = array_namespace(scores)
    if scores.shape[1] == 2:
        scores = scores[:, 1] - scores[:, 0]
    return xp.clip(scores, -_LARGEST, _LARGEST)  # −inf where no bounded window reaches


def _shares(scores: Array) -> Array:
    """Return shares that add up to 1: zero where the score is −inf, and nowhere else."""
    xp = array_namespace(scores)
    shares = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    shares = shares / xp.sum(shares, axis=1, keepdims=True)
    least = xp.where(scores == -float("inf"), 0.0, _SMALLEST)
    return xp.maximum(shares, least)


def _log_shares(scores: Array) -> Array:
    """Return the logarithms of the shares, all of them finite."""
    return array_namespace(scores).clip(log_normalise(scores), -_LARGEST, _LARGEST)


def answer_rows(
    model: Any,
    X: Any,
    fitted: Array | None,
    answer: Callable[[Array], Array],
    *,
    n_columns: int | None = None,
    dtype: Any = np.float64,
    bytes_per_row: Callable[[Array], int],
    check: Callable[[Any, Array | None], Array] | None = None,
) -> Array:
    """Return `answer` of new rows wherever they are: (rows,) or (rows, n_columns).

    Parameters
    ----------
    model : estimator
        Fitted; if some attribute of it is in blocks, so are the answers before they are computed.
    X : array-like, sparse matrix, tensor or Dask array of shape (n, d)
        As users pass it.
    fitted : array or None
        The rows must be of its library and on its device; None if that does not matter.
    answer : callable
        From checked rows to their answers, called on as many rows as fit the memory budget.
    n_columns : int or None
        Columns of the answer; None for a vector.
    dtype : dtype
        Its type.
    bytes_per_row : callable
        From the checked rows to the bytes that an answer takes for each, beside the row itself.
    check : callable or None
        In place of `check_new_rows`, from rows and what was fitted.
    """
    fit_is_in_blocks = is_in_blocks(*vars(model).values())
    given = X
    X = check(X, fitted) if check is not None else check_new_rows(model, X, fitted)
    if fit_is_in_blocks:  # Answers are sums over pairs of blocks, and stay in blocks.
        X = X if is_in_blocks(X) else from_memory(dense_rows(X))
        return as_given(answer(X), given)
    if is_in_blocks(X):
        of_block = partial(
            answer_rows, model, fitted=fitted, answer=answer, n_columns=n_columns, dtype=dtype,
            bytes_per_row=bytes_per_row, check=check,
        )  # fmt: skip
        return by_blocks(of_block, X, n_columns=n_columns, dtype=dtype)
    with explain_full_device(f"the scores of {X.shape[0]} rows"):
        return by_slabs(answer, X, bytes_per_row(X))


def check_new_rows(model: Any, X: Any, fitted: Array | None, *, double: bool = False) -> Array:
    """Return new rows as floats, in memory or in blocks; sparse ones stay sparse.

    Parameters
    ----------
    model : estimator
    X : array-like or sparse matrix of shape (n, d)
    fitted : array or None
        The rows must be of its library and on its device; None if that does not matter.
    double : bool
        Whether float32 becomes float64.
    """
    check_is_fitted(model)
    if is_in_blocks(X):
        validate_data(model, X, reset=False, skip_check_array=True)
        if fitted is not None:
            check_same_home(X, fitted)
        return check_dask_rows(X, "X")
    X = check_tensor(X)
    xp, _ = get_namespace(X)
    floats = xp.float64 if double else [xp.float64, xp.float32]
    X = validate_data(model, X, reset=False, accept_sparse="csr", dtype=floats)
    if fitted is not None:
        check_same_home(dense_rows(X[:0, :]) if issparse(X) else X, fitted)
    return X


def on_dask(
    *,
    fit: Callable[..., Any] | None = None,
    **answers: Callable[[Any], tuple[int | None, Any]],
) -> Callable[[type[T]], type[T]]:
    """Return a class decorator: what an estimator does where X is a Dask array.

    Parameters
    ----------
    fit : callable or None
        Called as fit(model, X, y, …) in place of the method.
    **answers : callables
        For each method that answers row by row: the columns (None for a vector) and the type of
        its answer, from the fitted model.  The method is called for each block alone, lazily.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name, shape in answers.items():
            setattr(cls, name, _answering(getattr(cls, name), name, shape))
        if fit is not None:
            for name in ("fit", "fit_transform"):
                if name in vars(cls):
                    setattr(cls, name, _fitting(getattr(cls, name), name, fit))
        return cls

    return decorate


def _answering(
    method: Callable[..., Any], name: str, shape: Callable[[Any], tuple[int | None, Any]]
) -> Callable[..., Any]:
    """Return the method, which now answers Dask arrays too, block by block."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        if not is_in_blocks(X):
            return method(self, X)
        check_is_fitted(self)
        if name != "inverse_transform":
            validate_data(self, X, reset=False, skip_check_array=True)
        if hasattr(self, "X_fit_"):
            check_same_home(X, self.X_fit_)
        rows = check_dask_rows(X, "X")
        n_columns, dtype = shape(self)
        return by_blocks(getattr(self, name), rows, n_columns=n_columns, dtype=dtype)

    return answer


def _fitting(method: Callable[..., Any], name: str, fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method, which now calls `fit` where X is a Dask array."""

    @wraps(method)
    def fitted(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if not is_in_blocks(X):
            return method(self, X, *arguments, **options)
        with fit_afresh(self):
            model = fit(self, X, *arguments, **options)
        return model.transform(X) if name == "fit_transform" else model

    return fitted


def refuses_dask(why: str) -> Callable[..., Any]:
    """Return a fit that refuses Dask arrays in one sentence."""

    def fit(model: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        refuse_dask(
            X,
            f"{type(model).__name__}.fit",
            why,
            "fit rows in memory, such as a sample X[rows].compute(); the fitted model answers "
            "Dask arrays block by block",
        )

    return fit

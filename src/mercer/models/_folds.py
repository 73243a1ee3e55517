"""Answers to rows that were left out by folds, for classifiers without leave-one-out."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from mercer._arrays import FloatArray
from mercer._sklearn import take_rows_of_any


def left_out_values(
    estimator: Any,
    X: Any,
    labels: NDArray[np.intp],
    classes: NDArray[Any],
    n_splits: int,
    seed: int,
    values_of: Callable[[Any, Any], FloatArray],
) -> FloatArray:
    """Return the value of each class for each row, from a fit without the row's fold.

    A class that a fit has not seen is less likely than any that it has.

    Parameters
    ----------
    estimator : classifier
        Clones of it are fitted.
    X : array-like of shape (n_rows, …)
        Rows of any kind.
    labels : ndarray of int of shape (n_rows,)
        Class of each row, 0 … C − 1.
    classes : ndarray of shape (C,)
        What the fits are told the classes are called, in order.
    n_splits : int
        Folds; fewer where the largest class has fewer rows.
    seed : int
        Of the folds.
    values_of : callable
        From a fitted classifier and rows to a table of values, a column for each class it has seen.
    """
    n_splits = max(2, min(n_splits, int(np.bincount(labels).max())))
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    values = np.empty((len(labels), len(classes)))
    with warnings.catch_warnings():
        # A class with fewer rows than folds is in some folds only.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        parts = list(folds.split(labels, labels))
    for train, test in parts:
        present = np.unique(labels[train])
        if len(present) < 2:
            values[test] = present[0] == np.arange(len(classes))
            continue
        model = clone(estimator).fit(take_rows_of_any(X, train), classes[labels[train]])
        found = values_of(model, take_rows_of_any(X, test))
        values[test] = found.min(axis=1, keepdims=True) - 1.0
        values[np.ix_(test, present)] = found
    return values

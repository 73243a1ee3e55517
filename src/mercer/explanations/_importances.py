"""Which columns a model goes by: what it loses when a column is shuffled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray, to_numpy
from mercer.explanations._setting import Setting, check_count

# From a fitted classifier, rows and their classes: a number of which more is better.
Scorer = Callable[[Any, Any, Any], float]


@dataclass(frozen=True, eq=False)
class ColumnImportances:
    """What a classifier loses where the values of a column are dealt out anew among the rows.

    Parameters
    ----------
    columns : tuple of str
        The columns of the user's table that the classifier sees.
    log_loss : ndarray of shape (n_columns,)
        By how much the log-loss grows; NaN where the classifier has no probabilities.
    log_loss_errors : ndarray of shape (n_columns,)
        Standard errors, from row to row.
    accuracy : ndarray of shape (n_columns,)
        By how much the share of right answers falls.
    accuracy_errors : ndarray of shape (n_columns,)
        Standard errors, from row to row.
    learned_shares : ndarray of shape (n_columns,) or None
        Share of each column in the distance of two rows, where the classifier has learned scales of
        its columns; None where it has none.
    n_rows : int
        How many rows with classes the others are from.
    """

    columns: tuple[str, ...]
    log_loss: FloatArray
    log_loss_errors: FloatArray
    accuracy: FloatArray
    accuracy_errors: FloatArray
    learned_shares: FloatArray | None
    n_rows: int


def column_importances(
    model: Any, X: Any, y: Any, *, n_repeats: int = 5, random_state: Any = 0
) -> ColumnImportances:
    """Return what a fitted classifier loses when the values of one column are shuffled.

    All numbers that a column of the user's table became are shuffled together.  Columns that say
    the same stand in for each other, so that each of them can look unimportant.

    Parameters
    ----------
    model : pipeline or classifier
        Fitted.
    X : DataFrame or array-like of shape (n_rows, n_columns)
        Rows, as `predict` takes them; better rows that the model was not fitted on.
    y : array-like of shape (n_rows,)
        Their classes.
    n_repeats : int, default=5
        How often each column is shuffled.
    random_state : int, RandomState or None, default=0
        For the shuffling.

    Returns
    -------
    ColumnImportances
        Losses by column, with standard errors.

    Raises
    ------
    ValueError
        Where y holds a class that the model does not know, or X and y differ in length.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.explanations import column_importances
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(kernel="rbf").fit(X[::2], y[::2])
    >>> found = column_importances(model, X[1::2], y[1::2])
    >>> found.columns[found.accuracy.argmax()]
    'x2'
    """
    setting = Setting.of(model)
    check_count("n_repeats", n_repeats, 1)
    rng = check_random_state(random_state)
    Z, codes = setting.encode(X), _codes(setting, y)
    if len(Z) != len(codes):
        raise ValueError(f"X has {len(Z)} rows and y has {len(codes)}.")
    losses, rights = _judged(setting, Z, codes)
    losing, failing = np.zeros((2, len(setting.columns))), np.zeros((2, len(setting.columns)))
    for column in range(len(setting.columns)):
        loss, right = np.zeros(len(Z)), np.zeros(len(Z))
        for _ in range(n_repeats):
            new_losses, new_rights = _judged(setting, _shuffled(setting, Z, column, rng), codes)
            loss += (new_losses - losses) / n_repeats
            right += (rights - new_rights) / n_repeats
        losing[:, column], failing[:, column] = _mean_and_error(loss), _mean_and_error(right)
    return ColumnImportances(
        setting.columns,
        losing[0],
        losing[1],
        failing[0],
        failing[1],
        _learned_shares(setting),
        len(Z),
    )


def score_losses(
    model: Any,
    X: Any,
    y: Any,
    scorer: Scorer,
    *,
    n_repeats: int,
    random_state: Any,
    most: int | None = None,
) -> tuple[tuple[str, ...], FloatArray]:
    """Return the columns of a fitted classifier, and by how much shuffling each lowers a score.

    The scorer is called as scikit-learn's are, with what answers behind the preprocessing, rows as
    that sees them, and their classes.  The losses are means over the repeats, of the first columns
    where there is a number of them.
    """
    setting = Setting.of(model)
    rng, Z = check_random_state(random_state), setting.encode(X)
    as_it_is = scorer(setting.model, setting.as_fitted(Z), y)
    losses = np.zeros(len(setting.columns[:most]))
    for column in range(len(losses)):
        for _ in range(n_repeats):
            shuffled = setting.as_fitted(_shuffled(setting, Z, column, rng))
            losses[column] += (as_it_is - scorer(setting.model, shuffled, y)) / n_repeats
    return setting.columns, losses


def _shuffled(
    setting: Setting, Z: FloatArray, column: int, rng: np.random.RandomState
) -> FloatArray:
    """Deal out the values of a user's column anew, with all numbers that it became."""
    own = setting.groups == column
    shuffled = Z.copy()
    shuffled[:, own] = Z[rng.permutation(len(Z))][:, own]
    return shuffled


def _codes(setting: Setting, y: Any) -> NDArray[np.intp]:
    labels = np.asarray(to_numpy(y))
    if labels.ndim != 1 or not len(labels):
        raise ValueError("y must hold a class for each row.")
    is_class = labels[:, None] == setting.classes
    if not is_class.any(axis=1).all():
        unknown = labels[~is_class.any(axis=1)][0]
        raise ValueError(f"y holds {str(unknown)!r}, which the model does not know.")
    return np.asarray(is_class.argmax(axis=1), dtype=np.intp)


def _judged(
    setting: Setting, Z: FloatArray, codes: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Return the log-loss of each row, and whether its class was predicted."""
    right = (setting.predict(Z) == codes).astype(np.float64)
    if not hasattr(setting.model, "predict_proba"):
        return np.full(len(Z), np.nan), right
    own = setting.probabilities(Z)[np.arange(len(Z)), codes]
    # As scikit-learn's log_loss: a class that was ruled out costs what the least float32 does.
    return -np.log(np.maximum(own, np.finfo(np.float32).eps)), right


def _mean_and_error(values: FloatArray) -> tuple[float, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def _learned_shares(setting: Setting) -> FloatArray | None:
    """Return the shares of the user's columns in distances, where scales were learned."""
    shares = getattr(setting.fitted, "column_shares_", None)
    if shares is None or getattr(setting.fitted, "column_scales_", None) is None:
        return None
    found = np.bincount(setting.groups, to_numpy(shares), minlength=len(setting.columns))
    return found.astype(np.float64)

"""How the probabilities of a model change with one column, and whether two columns interact.

J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine.  Annals of
Statistics 29(5), 1189-1232.  J. H. Friedman, B. E. Popescu (2008). Predictive learning via rule
ensembles.  Annals of Applied Statistics 2(3), 916-954.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray
from mercer._memory import row_slabs, working_memory
from mercer.explanations._background import Background
from mercer.explanations._setting import Setting, check_count
from mercer.tables import ColumnNotFoundError

# Mean probabilities that change by less than the root of this change by rounding.
_NOTHING = 1e-20


@dataclass(frozen=True, eq=False)
class PartialDependence:
    """Mean probabilities of the classes if all rows had the same value in one column.

    Parameters
    ----------
    column : str
        The column.
    values : ndarray of shape (n_values,)
        Its values: of numbers and dates some from the least to the largest, of a category the most
        frequent; None, NaN or NaT where it is missing.
    counts : ndarray of int of shape (n_values,)
        How many rows of the background have just this value; of numbers and dates, this value or
        one between it and the last one.  A missing value comes last.
    probabilities : ndarray of shape (n_values, n_classes)
        Means over the background.
    standard_errors : ndarray of shape (n_values, n_classes)
        Of these, from row to row.
    classes : ndarray of shape (n_classes,)
        The classes.
    background : {"given", "training"}
        Where the rows are from.
    n_background : int
        How many they are.
    """

    column: str
    values: NDArray[Any]
    counts: NDArray[np.intp]
    probabilities: FloatArray
    standard_errors: FloatArray
    classes: NDArray[Any]
    background: str
    n_background: int


@dataclass(frozen=True, eq=False)
class ColumnInteraction:
    """How far two columns act together, beyond what each of them does alone.

    Parameters
    ----------
    columns : tuple of two str
        The columns.
    strength : float
        Friedman's H²: the share of what the two columns change in the mean probabilities that is
        not the sum of what each of them changes; 0 without interaction.
    change : float
        The standard deviation of that part, in probability, over rows and classes.
    n_background : int
        How many rows it comes from.
    """

    columns: tuple[str, str]
    strength: float
    change: float
    n_background: int


def partial_dependence(
    model: Any,
    X: Any = None,
    column: str | int = 0,
    *,
    n_values: int = 20,
    n_background: int = 200,
    random_state: Any = 0,
) -> PartialDependence:
    """Return the mean probabilities of the classes at each of some values of a column.

    Every row of the background gets the value in turn, and keeps its other columns.  Where columns
    go together, that makes rows that never occur.

    Parameters
    ----------
    model : pipeline or classifier
        Fitted.
    X : DataFrame or array-like of shape (n_rows, n_columns), default=None
        Rows to average over.  None takes training rows that the classifier has kept.
    column : str or int, default=0
        Name or position of the column.
    n_values : int, default=20
        How many values at most.
    n_background : int, default=200
        How many rows are averaged over at most.
    random_state : int, RandomState or None, default=0
        For the choice of rows.

    Returns
    -------
    PartialDependence
        Values with probabilities.

    Raises
    ------
    ValueError
        Where X is None and the classifier keeps no training rows.
    LookupError
        Where there is no such column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.explanations import partial_dependence
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    >>> found = partial_dependence(model, X, "x2")
    >>> found.probabilities[[0, -1]].argmax(axis=1).tolist()
    [0, 2]
    """
    setting = Setting.of(model)
    check_count("n_values", n_values, 1)
    check_count("n_background", n_background, 1)
    rng = check_random_state(random_state)
    number = _column_number(setting, column)
    drawn, frame = _drawn(setting, X, n_background, rng)
    own = setting.groups == number
    values, rows, counts = _grid(
        frame.iloc[:, list(frame.columns).index(setting.columns[number])], n_values
    )
    means = np.empty((len(values), len(setting.classes)))
    errors = np.full_like(means, np.nan)
    for k, row in enumerate(rows):
        changed = drawn.rows.copy()
        changed[:, own] = drawn.rows[row, own]
        shares = setting.probabilities(changed)
        means[k] = shares.mean(axis=0)
        if len(shares) > 1:
            errors[k] = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    return PartialDependence(
        setting.columns[number],
        values,
        counts,
        means,
        errors,
        setting.classes,
        drawn.source,
        len(drawn.rows),
    )


def column_interaction(
    model: Any,
    X: Any = None,
    columns: Sequence[str | int] = (0, 1),
    *,
    n_background: int = 50,
    random_state: Any = 0,
) -> ColumnInteraction:
    r"""Return how far two columns act together: Friedman's H².

    .. math::

        H^2_{gh} = \frac{\sum_i \bigl(F_{gh}(x_i) - F_g(x_i) - F_h(x_i)\bigr)^2}
                        {\sum_i F_{gh}(x_i)^2}

    with the mean probabilities F, each centred, if all rows had row i's values in these columns,
    and sums over the classes too.

    Parameters
    ----------
    model : pipeline or classifier
        Fitted.
    X : DataFrame or array-like of shape (n_rows, n_columns), default=None
        Rows to average over.  None takes training rows that the classifier has kept.
    columns : two of str or int, default=(0, 1)
        Names or positions of the columns.
    n_background : int, default=50
        How many rows are taken at most; cost grows with the square.
    random_state : int, RandomState or None, default=0
        For the choice of rows.

    Returns
    -------
    ColumnInteraction
        The strength, and what it is in probability.

    Raises
    ------
    ValueError
        Where X is None and the classifier keeps no training rows, or the columns are not two.
    LookupError
        Where there is no such column.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelFisherDiscriminant
    >>> from mercer.explanations import column_interaction
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    >>> 0 <= column_interaction(model, X, ("x2", "x3")).strength < 1
    True
    """
    setting = Setting.of(model)
    check_count("n_background", n_background, 1)
    rng = check_random_state(random_state)
    numbers = [_column_number(setting, column) for column in columns]
    if len(numbers) != 2 or numbers[0] == numbers[1]:
        raise ValueError(f"columns must be two different columns; got {list(columns)!r}.")
    drawn, _ = _drawn(setting, X, n_background, rng)
    one, other = (
        _centred_means(setting, drawn.rows, setting.groups == number) for number in numbers
    )
    both = _centred_means(setting, drawn.rows, np.isin(setting.groups, numbers))
    rest, whole = ((both - one - other) ** 2).mean(), (both**2).mean()
    return ColumnInteraction(
        (setting.columns[numbers[0]], setting.columns[numbers[1]]),
        float(rest / whole) if whole > _NOTHING else 0.0,
        float(np.sqrt(rest)),
        len(drawn.rows),
    )


def _centred_means(setting: Setting, rows: FloatArray, own: NDArray[np.bool_]) -> FloatArray:
    """Return mean probabilities if all rows had those of row i where `own`, less their mean."""
    out = np.empty((len(rows), len(setting.classes)))
    for start, stop in row_slabs(len(rows), 8 * 4 * rows.size, working_memory() // 2):
        mixed = np.where(own, rows[start:stop, None, :], rows[None, :, :])
        shares = setting.probabilities(mixed.reshape(-1, rows.shape[1]))
        out[start:stop] = shares.reshape(stop - start, len(rows), -1).mean(axis=1)
    return np.asarray(out - out.mean(axis=0))


def _column_number(setting: Setting, column: str | int) -> int:
    """Return the position of a column that was given by name or position."""
    if isinstance(column, str):
        if column in setting.columns:
            return setting.columns.index(column)
    elif not isinstance(column, bool) and 0 <= column < len(setting.columns):
        return int(column)
    raise ColumnNotFoundError(f"The model sees no column {column!r}.")


def _drawn(
    setting: Setting, X: Any, size: int, rng: np.random.RandomState
) -> tuple[Background, pd.DataFrame]:
    """Return rows to average over, and the values of the user's columns in them."""
    if X is None and setting.training_rows is None:
        raise ValueError(
            f"{type(setting.fitted).__name__} keeps no training rows: give X, rows to average over."
        )
    drawn = Background.draw(setting, np.empty((0, 0)), X, size, rng)
    return drawn, setting.decode(drawn.rows)


def _grid(values: pd.Series, most: int) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
    """Return some values of a column, for each a row that has it, and how many rows they stand for.

    Rows are numbers that the classifier sees, so that a value that stands in no row is not tried.
    """
    codes, known = pd.factorize(values, sort=values.dtype.kind != "O", use_na_sentinel=False)
    counts = np.bincount(codes, minlength=len(known))
    first = np.unique(codes, return_index=True)[1]
    if values.dtype.kind == "O":
        kept = np.argsort(-counts, kind="stable")[:most]
        return np.asarray(known)[kept], first[kept], counts[kept]
    known, is_missing = np.asarray(known), np.asarray(pd.isna(known))
    there, kept = np.flatnonzero(~is_missing), np.flatnonzero(is_missing)
    if len(there) > most:  # at ranks of equal distance
        ends = np.cumsum(counts[there])
        at = np.unique(np.searchsorted(ends, np.linspace(0, ends[-1] - 1, most), side="right"))
        counts[there[at]] = np.diff(ends[at], prepend=0)
        there = there[at]
    kept = np.concatenate([there, kept])
    return known[kept], first[kept], counts[kept]

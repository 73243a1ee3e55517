"""What is said of the answers to some rows of a table: records, and how their cells are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer._system.words import grouped, signed, significant
from mercer.explanations._dependence import PartialDependence

_NAMED = 3  # so many columns are named in words
_NOTHING = 0.005  # unless their shares are below this


@dataclass(frozen=True)
class ColumnPart:
    """What one column of a row speaks for.

    Parameters
    ----------
    column : str
        Its name.
    value : str
        What stands there in the row, as text.
    share : float
        Its share in the score: positive for the answer, negative against it.
    error : float
        The share's standard error.
    """

    column: str
    value: str
    share: float
    error: float


@dataclass(frozen=True)
class SpeakingRow:
    """A training row that speaks for an answer or against it.

    Parameters
    ----------
    number : int or None
        Its number among the training rows, from 1; None if that is not known.
    answer : str
        Its class; empty if that is not known.
    share : float
        Its share of all that training rows on its side say.
    similarity : float
        How alike it is to the row, from 0 to 1.
    cells : dict of str to str
        Its values, by column.
    """

    number: int | None
    answer: str
    share: float
    similarity: float
    cells: dict[str, str]


@dataclass(frozen=True)
class ExplainedRow:
    """The answer to one row of a table, and the reasons for it.

    Parameters
    ----------
    number : int
        Of the row in its table, from 1.
    predicted, against : str
        The answer, and the runner-up.
    probabilities : dict of str to float
        Of all classes, the most probable first; empty where the model has none.
    score, base : float
        The score of the answer less that of the runner-up, and the same on average.
    parts : tuple of ColumnPart
        All columns, the largest share first, whether for or against.
    supporting, opposing : tuple of SpeakingRow
        Training rows that speak most for and against the answer.
    """

    number: int
    predicted: str
    against: str
    probabilities: dict[str, float]
    score: float
    base: float
    parts: tuple[ColumnPart, ...]
    supporting: tuple[SpeakingRow, ...] = ()
    opposing: tuple[SpeakingRow, ...] = ()

    @property
    def main_reasons(self) -> str:
        """The columns with the largest shares: ``age 61 (+0.31), income 12 000 (−0.12)``."""
        return in_words(self.parts)


@dataclass(frozen=True)
class ColumnWeight:
    """How much a model goes by a column.

    Parameters
    ----------
    column : str
        Its name.
    log_loss, log_loss_error : float
        By how much the log-loss grows where the column is shuffled, and the standard error.
    accuracy, accuracy_error : float
        By how much the share of right answers falls.
    """

    column: str
    log_loss: float
    log_loss_error: float
    accuracy: float
    accuracy_error: float


@dataclass(frozen=True)
class TableReasons:
    """What a model goes by, and why it answers some rows of a table as it does.

    Parameters
    ----------
    columns : tuple of ColumnWeight
        The columns, those that count most first; empty where no rows with classes are known.
    n_rows_of_weights : int
        How many rows these come from.
    curves : tuple of PartialDependence
        Of the first of them.
    rows : tuple of ExplainedRow
        The rows that were explained.
    unit : {"log odds", "score", "probability"}
        What scores and shares are.
    exact : bool
        Whether shares are in closed form, or sampled.
    background : {"given", "training", "explained"}
        Where the rows are from that each row is compared with.
    n_background : int
        How many these are.
    """

    columns: tuple[ColumnWeight, ...]
    n_rows_of_weights: int
    curves: tuple[PartialDependence, ...]
    rows: tuple[ExplainedRow, ...]
    unit: str
    exact: bool
    background: str
    n_background: int


def in_words(parts: Sequence[ColumnPart]) -> str:
    """Write the first columns with their values: ``age 61 (+0.31), income 12 000 (−0.12)``.

    Shares that round to nothing are left out, but for the first.
    """
    named = [one for k, one in enumerate(parts[:_NAMED]) if k == 0 or abs(one.share) >= _NOTHING]
    return ", ".join(f"{one.column} {one.value} ({signed(one.share, 2)})" for one in named)


def value_text(value: Any) -> str:
    """Write a cell of a typed table for people.

    >>> [value_text(one) for one in (61.0, 12000.0, 0.123456789, None, "clerk")]
    ['61', '12 000', '0.123457', 'missing', 'clerk']
    """
    if value is None or pd.isna(value):
        return "missing"
    if isinstance(value, float | int | np.number):
        number = float(value)
        return grouped(number) if number.is_integer() and abs(number) < 1e15 else _number(number)
    if isinstance(value, pd.Timestamp | np.datetime64):
        date = pd.Timestamp(value)
        return str(date.date()) if date == date.normalize() else f"{date:%Y-%m-%d %H:%M}"
    return str(value)


def _number(number: float) -> str:
    return significant(number, 6)

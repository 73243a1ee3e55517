"""All reasons for the answers to some rows of a table, in words and numbers for people."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.words import grouped, signed, significant
from mercer.explanations._dependence import PartialDependence, partial_dependence
from mercer.explanations._importances import column_importances
from mercer.explanations._row_reasons import RowReasons, explain_rows
from mercer.explanations._setting import Setting
from mercer.explanations._training_rows import TrainingRows, readable_rows

_CURVES = 4  # so many of the columns that count most have a curve
_NAMED = 3  # so many columns are named in words
_NOTHING = 0.005  # unless their shares are below this
_SPEAKING = 3  # training rows on either side
_BACKGROUND = 100  # rows that a row is compared with
_AT_ONCE = 10  # Between so many rows, progress is told.


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


def explain_table(
    model: Any,
    X: pd.DataFrame,
    *,
    known: pd.DataFrame | None = None,
    labelled: tuple[pd.DataFrame, NDArray[Any]] | None = None,
    numbers: Sequence[int] | None = None,
    n_rows: int = _SPEAKING,
    random_state: int = 0,
    on_progress: Callable[[str], None] | None = None,
) -> TableReasons:
    """Return all reasons for the answers to some rows, and the columns that a model goes by.

    Parameters
    ----------
    model : pipeline
        Fitted, as :func:`mercer.models.load_model` returns it.
    X : DataFrame
        Typed rows to explain, as :func:`mercer.tables.match_columns` returns them.
    known : DataFrame, default=None
        Typed training rows to compare with; None takes those that the classifier has kept, or X.
    labelled : tuple of DataFrame and ndarray, default=None
        Typed rows with their classes, on which columns are weighed; None weighs none.
    numbers : sequence of int, default=None
        The numbers of the rows in their table, from 1; None counts them.
    n_rows : int, default=3
        How many training rows are shown on either side.
    random_state : int, default=0
        Seed of draws.
    on_progress : callable, default=None
        Told in words what is being done.

    Returns
    -------
    TableReasons
    """
    say = on_progress or _say_nothing
    weights: tuple[ColumnWeight, ...] = ()
    curves: tuple[PartialDependence, ...] = ()
    if labelled is not None:
        say("weighing the columns …")
        weights = _weights(model, *labelled, random_state)
        rows = labelled[0] if known is None else known
        for one in weights[:_CURVES]:
            say(f"following column {one.column} …")
            curves += (partial_dependence(model, rows, one.column, random_state=random_state),)
    found = list(_in_parts(model, X, known, n_rows, random_state, say))
    first = found[0]
    numbers = range(1, len(X) + 1) if numbers is None else numbers
    return TableReasons(
        columns=weights,
        n_rows_of_weights=0 if labelled is None else len(labelled[1]),
        curves=curves,
        rows=tuple(_rows(model, X, numbers, found)),
        unit=first.unit,
        exact=first.exact,
        background=first.background,
        n_background=first.n_background,
    )


def main_reasons(
    model: Any,
    X: pd.DataFrame,
    *,
    known: pd.DataFrame | None = None,
    random_state: int = 0,
    on_progress: Callable[[str], None] | None = None,
) -> list[str]:
    """Return for each row the columns with the largest shares: ``age 61 (+0.31), …``.

    Parameters
    ----------
    model, X, known, random_state, on_progress
        As for :func:`explain_table`.

    Returns
    -------
    list of str
        Three columns for each row, with the row's values and their shares.
    """
    say = on_progress or _say_nothing
    texts: list[str] = []
    for reasons in _in_parts(model, X, known, 0, random_state, say):
        some = X.iloc[len(texts) : len(texts) + len(reasons.scores)]
        texts += [in_words(_parts(reasons, i, some.iloc[i])) for i in range(len(reasons.scores))]
    return texts


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


def _say_nothing(text: str) -> None:
    """Tell nobody."""


def _in_parts(
    model: Any,
    X: pd.DataFrame,
    known: pd.DataFrame | None,
    n_rows: int,
    seed: int,
    say: Callable[[str], None],
) -> Iterator[RowReasons]:
    """Yield the reasons for some rows at a time, so that progress can be told.

    All parts are compared with the same rows.
    """
    background = known
    if known is None and not _keeps_rows(model):
        background = X
    for start in range(0, len(X), _AT_ONCE):
        say(f"explaining row {grouped(start + 1)} of {grouped(len(X))} …")
        yield explain_rows(
            model,
            X.iloc[start : start + _AT_ONCE],
            background=background,
            n_background=_BACKGROUND,
            n_rows=n_rows,
            random_state=seed,
        )


def _keeps_rows(model: Any) -> bool:
    return Setting.of(model).training_rows is not None


def _weights(model: Any, X: pd.DataFrame, y: NDArray[Any], seed: int) -> tuple[ColumnWeight, ...]:
    """Return the columns by what is lost without them, the most important first."""
    found = column_importances(model, X, y, random_state=seed)
    order = np.argsort(-_known_or(found.log_loss, found.accuracy), kind="stable")
    return tuple(
        ColumnWeight(
            found.columns[k],
            float(found.log_loss[k]),
            float(found.log_loss_errors[k]),
            float(found.accuracy[k]),
            float(found.accuracy_errors[k]),
        )
        for k in order
    )


def _known_or(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the first of two arrays, or the second where the first has nothing."""
    return other if np.isnan(one).all() else one


def _rows(
    model: Any, X: pd.DataFrame, numbers: Sequence[int], found: list[RowReasons]
) -> Iterator[ExplainedRow]:
    """Yield the rows with their reasons in words."""
    shares = np.empty((len(X), 0))
    if hasattr(model, "predict_proba"):
        shares = np.asarray(model.predict_proba(X))
    at = 0
    for reasons in found:
        for i in range(len(reasons.scores)):
            order = np.argsort(-shares[at], kind="stable")
            yield ExplainedRow(
                number=int(numbers[at]),
                predicted=str(reasons.predicted[i]),
                against=str(reasons.against[i]),
                probabilities={str(model.classes_[k]): float(shares[at, k]) for k in order},
                score=float(reasons.scores[i]),
                base=float(reasons.base[i]),
                parts=_parts(reasons, i, X.iloc[at]),
                supporting=_speaking(model, reasons.supporting, i),
                opposing=_speaking(model, reasons.opposing, i),
            )
            at += 1


def _parts(reasons: RowReasons, i: int, row: pd.Series) -> tuple[ColumnPart, ...]:
    """Return the columns of a row, the largest share first."""
    order = np.argsort(-np.abs(reasons.shares[i]), kind="stable")
    return tuple(
        ColumnPart(
            reasons.columns[k],
            value_text(row[reasons.columns[k]]),
            float(reasons.shares[i, k]),
            float(reasons.standard_errors[i, k]),
        )
        for k in order
    )


def _speaking(model: Any, side: TrainingRows | None, i: int) -> tuple[SpeakingRow, ...]:
    """Return the training rows on one side of an answer, with readable values."""
    if side is None:
        return ()
    there = np.flatnonzero(side.terms[i] >= 0)
    if not len(there):
        return ()
    cells = readable_rows(model, side.terms[i, there])
    return tuple(
        SpeakingRow(
            None if side.row_numbers is None else int(side.row_numbers[i, k]) + 1,
            "" if side.classes is None else str(side.classes[i, k]),
            float(side.shares[i, k]),
            float(side.similarities[i, k]),
            {str(name): value_text(values.iloc[j]) for name, values in cells.items()},
        )
        for j, k in enumerate(there)
    )

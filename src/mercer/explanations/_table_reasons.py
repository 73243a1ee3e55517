"""All reasons for the answers to some rows of a table, in words and numbers for people."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.words import grouped
from mercer.explanations._dependence import PartialDependence, partial_dependence
from mercer.explanations._importances import column_importances
from mercer.explanations._row_reasons import RowReasons, explain_rows
from mercer.explanations._setting import Setting
from mercer.explanations._table_records import (
    ColumnPart,
    ColumnWeight,
    ExplainedRow,
    SpeakingRow,
    TableReasons,
    in_words,
    value_text,
)
from mercer.explanations._training_rows import TrainingRows, readable_rows

_CURVES = 4  # so many of the columns that count most have a curve
_SPEAKING = 3  # training rows on either side
_BACKGROUND = 100  # rows that a row is compared with
_AT_ONCE = 10  # Between so many rows, progress is told.


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
        Columns by weight, curves of the first of them, and the rows in the order of X.
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
    model : pipeline
        Fitted.
    X : DataFrame
        Typed rows to explain.
    known : DataFrame, default=None
        Typed training rows to compare with; None takes those that the classifier has kept, or X.
    random_state : int, default=0
        Seed of draws.
    on_progress : callable, default=None
        Told in words what is being done.

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

"""Columns of a table → what the model sees: floats, categories, dates, as was described."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._column import Column
from mercer.tables._dates import parse_dates
from mercer.tables._numbers import LARGEST, parse_numbers
from mercer.tables._values import ABSENT, as_dates, as_numbers, as_text, is_date, is_number
from mercer.tables._words import quoted

__all__ = ["typed_frame"]


def typed_frame(frame: pd.DataFrame, columns: Iterable[Column], table: str) -> pd.DataFrame:
    """Return the used columns, in their order: float64, category or datetime64.

    Infinite numbers become missing.  A category that was not described keeps its name.
    """
    return pd.DataFrame(
        {
            column.name: _typed(frame[column.name], column, table)
            for column in columns
            if column.used
        },
        index=frame.index,
    )


def _typed(values: pd.Series, column: Column, table: str) -> Any:
    if column.kind == "number":
        return _numbers(values, column, table)
    if column.kind == "date":
        return _dates(values, column, table)
    return as_text(values)


def _numbers(values: pd.Series, column: Column, table: str) -> Any:
    if is_number(values):
        numbers = as_numbers(values)
    else:
        texts = as_text(values)
        by_text = parse_numbers(texts.categories, column.style)
        _check_read(texts, by_text, column, table)
        numbers = np.append(by_text, np.nan)[texts.codes]
    return np.where(np.abs(numbers) <= LARGEST, numbers, np.nan)


def _dates(values: pd.Series, column: Column, table: str) -> Any:
    if is_date(values):
        return np.asarray(as_dates(values))
    texts = as_text(values)
    by_text = parse_dates([*texts.categories, ""], column.style)
    _check_read(texts, by_text[:-1], column, table)
    return np.asarray(by_text)[texts.codes]


def _check_read(texts: pd.Categorical, parsed: Any, column: Column, table: str) -> None:
    """Refuse text that is not of the column's kind, naming the first row of it."""
    is_bad = pd.isna(parsed) & ~texts.categories.isin(ABSENT)
    rows = np.flatnonzero(np.append(is_bad, False)[texts.codes])
    if rows.size:
        like = f" (such as {quoted(column.examples[0])})" if column.examples else ""
        raise ValueError(
            f"Column {quoted(column.name)} of {table} holds {quoted(texts[rows[0]])} in row "
            f"{rows[0] + 1}, where {column.kind}s are expected{like}: repair it or leave it empty."
        )

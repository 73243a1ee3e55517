"""Columns of a table → what the model sees: floats, categories, dates, as was described."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._column import Column
from mercer.tables._dates import parse_dates
from mercer.tables._numbers import LARGEST, parse_numbers
from mercer.tables._unread import Unread, unread_cells
from mercer.tables._values import as_dates, as_numbers, as_text, is_date, is_number

__all__ = ["typed_frame"]


def typed_frame(
    frame: pd.DataFrame, columns: Iterable[Column]
) -> tuple[pd.DataFrame, dict[str, Unread]]:
    """Return the used columns, in their order: float64, category or datetime64.

    Infinite numbers become missing, and so does text that is not of the column's kind: the second
    value tells of it by the name of the column.  A category that was not described keeps its name.
    """
    typed: dict[str, Any] = {}
    unread: dict[str, Unread] = {}
    for column in columns:
        if column.used:
            typed[column.name], found = _typed(frame[column.name], column)
            if found is not None:
                unread[column.name] = found
    return pd.DataFrame(typed, index=frame.index), unread


def _typed(values: pd.Series, column: Column) -> tuple[Any, Unread | None]:
    if column.kind == "number":
        return _numbers(values, column)
    if column.kind == "date":
        return _dates(values, column)
    return as_text(values), None


def _numbers(values: pd.Series, column: Column) -> tuple[Any, Unread | None]:
    unread = None
    if is_number(values):
        numbers = as_numbers(values)
    else:
        texts = as_text(values)
        by_text = parse_numbers(texts.categories, column.style)
        unread = unread_cells(texts, by_text, values.index)
        numbers = np.append(by_text, np.nan)[texts.codes]
    return np.where(np.abs(numbers) <= LARGEST, numbers, np.nan), unread


def _dates(values: pd.Series, column: Column) -> tuple[Any, Unread | None]:
    if is_date(values):
        return np.asarray(as_dates(values)), None
    texts = as_text(values)
    by_text = parse_dates([*texts.categories, ""], column.style)
    unread = unread_cells(texts, by_text[:-1], values.index)
    return np.asarray(by_text)[texts.codes], unread

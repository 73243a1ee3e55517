"""Described columns → what a model sees of them, in the training table and in new ones."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mercer._system.words import count_of, did_you_mean, quoted
from mercer.tables._sentences import ColumnNotFoundError, listed
from mercer.tables._table import Column, Table, as_table
from mercer.tables.typing._cells import (
    Unread,
    as_dates,
    as_numbers,
    as_text,
    is_date,
    is_number,
)
from mercer.tables.typing._dates import date_in_style, read_dates
from mercer.tables.typing._numbers import (
    LARGEST,
    count_without_sign,
    in_hundredths,
    is_time,
    read_numbers,
)

# Up to this many cells of another kind are taken as missing, however few rows there are.
_MOST_ACCIDENTS = 5


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
    unread = None
    if column.kind == "category":
        return as_text(values), None
    if column.kind == "date":
        if is_date(values):
            return np.asarray(as_dates(values)), None
        return read_dates(as_text(values), column.style, values.index)
    if is_number(values) and not is_time(column.style):
        numbers = as_numbers(values)
    else:
        numbers, unread = read_numbers(as_text(values), column.style, values.index)
    return np.where(np.abs(numbers) <= LARGEST, numbers, np.nan), unread


def match_columns(table: Any, columns: Sequence[Column]) -> Table:
    r"""Return the columns that a model uses, found by name and read as they were for training.

    Parameters
    ----------
    table : Table or DataFrame
        New rows; the order of columns does not matter, and more columns do not hurt.
    columns : sequence of Column
        What :func:`split_target` or :func:`describe_columns` returned for the training table.

    Returns
    -------
    Table
        The used columns, typed, rows in the order of ``table``. Notes tell of columns that nobody
        asked for, categories that the training table did not have (they will be encoded as
        none of the known ones), cells that are not numbers or dates and should be (they become
        missing, as the first of them is named), and columns without any value.

    Raises
    ------
    ColumnNotFoundError
        Where a used column is missing.
    ValueError
        Where most cells of a column, and more than five, are not numbers or dates and should be:
        it is another column or in another style. The sentence names column and row.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import describe_columns, match_columns
    >>> columns = describe_columns(pd.DataFrame({"sex": ["m", "f", "m"], "age": [31, 40, 52]}))
    >>> new = match_columns(pd.DataFrame({"age": ["33"], "sex": ["x"], "pet": ["cat"]}), columns)
    >>> new.frame["age"].tolist()
    [33.0]
    >>> print(*new.notes, sep="\n")
    Column 'pet' of the table is not used.
    Column 'sex' of the table has 1 category that the model does not know ('x', in 1 row).
    """
    table = as_table(table)
    names = [str(name) for name in table.frame.columns]
    _check_present(columns, names, table.name)
    notes = list(table.notes)

    known = {column.name for column in columns}
    extra = [name for name in names if name not in known]
    if extra:
        many = len(extra) > 1
        notes.append(
            f"Column{'s' * many} {listed(extra)} of {table.name} {'are' if many else 'is'} not "
            "used."
        )
    typed: dict[str, Any] = {}
    for column in columns:
        if column.used:
            given = table.frame[column.name]
            values, unread = _typed(given, column)
            typed[column.name] = values
            where = f"Column {quoted(column.name)} of {table.name}"
            notes += _numbers_without_sign(given, column, where)
            if unread is not None:
                _check_mostly_read(unread, column, where)
                notes.append(f"{where}: {unread.sentence(column.kind)}.")
            n_missing = int(pd.isna(values).sum())
            if n_missing == len(given):
                notes.append(f"{where} has no values; the model will take its usual one.")
            elif column.kind == "category":
                notes += _new_categories(values, column, where)
            elif n_missing:
                n_known = int(given.isna().sum()) + (unread.count if unread else 0)
                if n_missing > n_known:
                    lost = count_of(n_missing - n_known, "value")
                    notes.append(f"{where} has {lost} taken as missing.")
    frame = pd.DataFrame(typed, index=table.frame.index)
    return Table(frame, table.name, tuple(notes))


def _check_mostly_read(unread: Unread, column: Column, where: str) -> None:
    if unread.count > max(_MOST_ACCIDENTS, unread.present / 2):
        like = f" (such as {quoted(_written_as_there(column))})" if column.examples else ""
        raise ValueError(
            f"{where} holds {quoted(unread.text)} in row {unread.row}, where {column.kind}s are "
            f"expected{like}, and more such cells than others: repair it or leave it empty."
        )


def _written_as_there(column: Column) -> str:
    """Return what a cell of the column looked like in training."""
    if column.kind == "date":
        return date_in_style(column.examples[0], column.style)
    return column.examples[0] if column.style in ("", "plain") else column.style


def _numbers_without_sign(values: pd.Series, column: Column, where: str) -> list[str]:
    """Say where numbers lack the % of training: 0.5 may be meant as a half there."""
    sign = in_hundredths(column.style) if column.kind == "number" else ""
    n_without = count_without_sign(as_text(values), column.style) if sign else 0
    if not n_without:
        return []
    has = "has" if n_without == 1 else "have"
    is_taken = "is taken as if it" if n_without == 1 else "are taken as if they"
    numbers = count_of(n_without, "number")
    return [f"{where}: {numbers} {has} no {sign}, as training had, and {is_taken} had."]


def _check_present(columns: Sequence[Column], names: list[str], table: str) -> None:
    there = set(names)
    missing = [column.name for column in columns if column.used and column.name not in there]
    if not missing:
        return
    free = set(names) - {column.name for column in columns}
    hint = did_you_mean(missing[0], sorted(free), "add it, with empty cells if need be.")
    if len(missing) == 1:
        raise ColumnNotFoundError(
            f"Column {quoted(missing[0])}, which the model uses, is missing in {table}: {hint}"
        )
    raise ColumnNotFoundError(
        f"{len(missing)} columns that the model uses are missing in {table} ({listed(missing)}): "
        f"{hint if hint.startswith('did') else 'add them, with empty cells if need be.'}"
    )


def _new_categories(typed: pd.Categorical, column: Column, where: str) -> list[str]:
    is_new = np.array([not _is_among(text, column.categories) for text in typed.categories])
    if not is_new.any():
        return []
    n_rows = int(np.append(is_new, False)[typed.codes].sum())
    new = [str(text) for text in typed.categories[is_new]]
    count = count_of(len(new), "category", "categories")
    shown = f"{listed(new)}, in {count_of(n_rows, 'row')}"
    return [f"{where} has {count} that the model does not know ({shown})."]


def _is_among(text: str, texts: Sequence[str]) -> bool:
    """Tell whether a text is one of many in alphabetical order."""
    place = bisect_left(texts, text)
    return place < len(texts) and texts[place] == text

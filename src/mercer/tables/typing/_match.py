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
_MOST_NEW = 100_000  # New categories are not counted beyond this many.


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
    matcher = ColumnMatcher(columns, table.name, list(table.frame.columns))
    frame = matcher.match(table.frame)
    return Table(frame, table.name, (*table.notes, *matcher.notes()))


class ColumnMatcher:
    """Reads the columns that a model uses, some rows of a table at a time.

    Parameters
    ----------
    columns : sequence of Column
        As for :func:`match_columns`.
    table : str
        What sentences call the table.
    names : sequence of str
        Of its columns.

    Notes
    -----
    Rows are read by their own cells alone, and what is said of them is said of all that were read:
    the parts in which a table comes change nothing.
    """

    def __init__(self, columns: Sequence[Column], table: str, names: Sequence[str]) -> None:
        names = [str(name) for name in names]
        _check_present(columns, names, table)
        known = {column.name for column in columns}
        self._extra = [name for name in names if name not in known]
        self._columns = columns
        self._table = table
        self._seen = {column.name: _Seen() for column in columns if column.used}
        self._n_rows = 0

    def match(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the used columns, typed; the index has the numbers of the rows, from 0."""
        typed: dict[str, Any] = {}
        for column in self._columns:
            if column.used:
                given = frame[column.name]
                values, unread = _typed(given, column)
                typed[column.name] = values
                self._seen[column.name].add(given, values, column, unread)
        self._n_rows += len(frame)
        return pd.DataFrame(typed, index=frame.index)

    def notes(self) -> list[str]:
        """Return what is to be said of all rows; raise where a column is not what it should be."""
        notes = []
        if self._extra:
            many = len(self._extra) > 1
            notes.append(
                f"Column{'s' * many} {listed(self._extra)} of {self._table} "
                f"{'are' if many else 'is'} not used."
            )
        for column in self._columns:
            if column.used:
                where = f"Column {quoted(column.name)} of {self._table}"
                notes += self._seen[column.name].notes(column, where, self._n_rows)
        return notes


class _Seen:
    """What was seen of a column."""

    def __init__(self) -> None:
        self.n_missing = 0
        self.n_given = 0  # missing before they were read
        self.n_without_sign = 0
        self.unread: Unread | None = None
        self.new: set[str] = set()
        self.n_rows_of_new = 0

    def add(self, given: pd.Series, typed: Any, column: Column, unread: Unread | None) -> None:
        n_missing = int(pd.isna(typed).sum())
        self.n_missing += n_missing
        if n_missing:  # Cells that are missing were so before, or could not be read.
            self.n_given += int(given.isna().sum())
        if column.kind == "number" and in_hundredths(column.style):
            self.n_without_sign += count_without_sign(as_text(given), column.style)
        if column.kind == "category":
            is_new = np.array([not _is_among(text, column.categories) for text in typed.categories])
            if is_new.any():
                self.n_rows_of_new += int(np.append(is_new, False)[typed.codes].sum())
                if len(self.new) < _MOST_NEW:  # Their names take memory.
                    self.new |= {str(text) for text in typed.categories[is_new]}
        if unread is not None:
            self.unread = unread if self.unread is None else self.unread.and_later(unread)

    def notes(self, column: Column, where: str, n_rows: int) -> list[str]:
        notes = _numbers_without_sign(self.n_without_sign, column, where)
        n_lost = self.n_missing - self.n_given
        if self.unread:
            _check_mostly_read(self.unread, column, where)
            notes.append(f"{where}: {self.unread.sentence(column.kind)}.")
            n_lost -= self.unread.count
        if self.n_missing == n_rows:
            notes.append(f"{where} has no values; the model will take its usual one.")
        elif column.kind == "category":
            notes += _new_categories(sorted(self.new), self.n_rows_of_new, where)
        elif n_lost:
            notes.append(f"{where} has {count_of(n_lost, 'value')} taken as missing.")
        return notes


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


def _numbers_without_sign(n_without: int, column: Column, where: str) -> list[str]:
    """Say where numbers lack the % of training: 0.5 may be meant as a half there."""
    if not n_without:
        return []
    sign = in_hundredths(column.style)
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


def _new_categories(new: Sequence[str], n_rows: int, where: str) -> list[str]:
    if not new:
        return []
    count = count_of(len(new), "category", "categories")
    if len(new) >= _MOST_NEW:
        count = f"more than {count_of(_MOST_NEW, 'category', 'categories')}"
    shown = f"{listed(new)}, in {count_of(n_rows, 'row')}"
    return [f"{where} has {count} that the model does not know ({shown})."]


def _is_among(text: str, texts: Sequence[str]) -> bool:
    """Tell whether a text is one of many in alphabetical order."""
    place = bisect_left(texts, text)
    return place < len(texts) and texts[place] == text

"""Cells → numbers, dates or text with gaps; and the cells that could not be read as such."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer._arrays import FloatArray
from mercer._system.words import count_of, quoted

# Text that stands for no value, in a file or in a frame.
MISSING = frozenset({
    "", "?", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "NaT", "NULL", "Null", "null",
})  # fmt: skip
# Text that stands for no value among numbers and dates, but may be a category or a class.
ABSENT = frozenset(
    ["None", "none", "-", "--", ".", "na", "n.a.", "missing", "Missing", "unknown", "Unknown"]
)
# A column is one of numbers or dates if at least this share of its cells with a value are.
LEAST_READ = 0.95
_FEW_ROWS = 100  # Of so many, each cell is looked at by itself: pandas would take longer to begin.
# Of these types, as pandas infers them, equal cells are equal texts.
_UNIFORM = ("string", "integer", "floating", "boolean", "empty")
_TRUTH = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"}


def is_number(values: pd.Series) -> bool:
    """Tell whether a column holds numbers as such, durations included."""
    dtype = values.dtype
    return bool(
        (pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype))
        and not pd.api.types.is_bool_dtype(dtype)
        and not pd.api.types.is_complex_dtype(dtype)
    )


def is_date(values: pd.Series) -> bool:
    """Tell whether a column holds dates as such."""
    return bool(pd.api.types.is_datetime64_any_dtype(values.dtype))


def as_numbers(values: pd.Series) -> FloatArray:
    """Return a column of numbers as floats, durations in seconds, missing values as NaN."""
    if pd.api.types.is_timedelta64_dtype(values.dtype):
        values = values.dt.total_seconds()
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def as_dates(values: pd.Series) -> pd.Series:
    """Return a column of dates without a time zone; those with one are turned into UTC."""
    return values if values.dt.tz is None else values.dt.tz_convert("UTC").dt.tz_localize(None)


def as_text(values: pd.Series) -> pd.Categorical:
    """Return any column as text: trimmed, missing values apart, the different texts in order.

    What is computed for the categories (few) then holds for the rows (many) by their codes.
    """
    cells: Any
    if len(values) <= _FEW_ROWS:
        cells, codes = _cells_of_few(values), np.arange(len(values))
    elif isinstance(values.dtype, pd.CategoricalDtype):
        values = values.cat.remove_unused_categories()
        codes = np.asarray(values.cat.codes, dtype=np.int64)
        cells = np.asarray(values.cat.categories, dtype=object)
    elif pd.api.types.infer_dtype(values, skipna=True) in _UNIFORM:
        codes, found = pd.factorize(values)
        cells = np.asarray(found, dtype=object)
    else:  # A dictionary takes 1, 1.0 and True for the same, so cells become text first.
        texts = [_text(cell) for cell in np.asarray(values, dtype=object)]
        codes, cells = pd.factorize(np.array(texts, dtype=object))
    texts = [_text(cell) for cell in cells]
    categories = sorted({text for text in texts if text is not None})
    place = {text: i for i, text in enumerate(categories)}
    recoded = np.array([-1 if text is None else place[text] for text in texts] + [-1])
    dtype = pd.CategoricalDtype(pd.Index(categories, dtype=object))
    return pd.Categorical.from_codes(recoded[codes], dtype=dtype, validate=False)


def _cells_of_few(values: pd.Series) -> list[Any]:
    """Return the cells of a short column."""
    if isinstance(values.dtype, pd.CategoricalDtype):  # An array would make whole numbers floats.
        categories = values.array.categories
        return [None if code < 0 else categories[code] for code in values.array.codes]
    return list(np.asarray(values, dtype=object))


def _text(cell: Any) -> str | None:
    """Return a cell as it would stand in a file; whole numbers without a point."""
    if isinstance(cell, float | np.floating):
        number = float(cell)
        if np.isnan(number):
            return None
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, bytes):
        cell = cell.decode("utf-8", errors="replace")
    text = str(cell).strip()
    return None if text in MISSING else _TRUTH.get(text, text)


@dataclass(frozen=True)
class Unread:
    """Cells that cannot be read: how many, and the first of them; false where there are none.

    Parameters
    ----------
    count : int
        How many.
    present : int
        Cells that hold something, these included.
    text : str
        What the first of them holds.
    row : int
        Its row; the first row after the header is 1.
    """

    count: int
    present: int
    text: str
    row: int

    def __bool__(self) -> bool:
        return self.count > 0

    def and_later(self, other: "Unread") -> "Unread":
        """Return the same of these cells and those of later rows."""
        first = self if self else other
        count, present = self.count + other.count, self.present + other.present
        return Unread(count, present, first.text, first.row)

    def sentence(self, kind: str) -> str:
        """Say that these cells are taken as missing, without a full stop."""
        are = f"is not a {kind} and is" if self.count == 1 else f"are not {kind}s and are"
        first = "" if self.count == 1 else "first "
        return (
            f"{count_of(self.count, 'cell')} {are} taken as missing "
            f"({first}{quoted(self.text)} in row {self.row})"
        )


def unread_cells(texts: pd.Categorical, parsed: Any, index: pd.Index) -> Unread:
    """Return the cells that did not become a number or date.

    ``parsed`` holds what each category of ``texts`` became, ``index`` the number of each row in
    the table, counted from 0.
    """
    is_missing = np.asarray(pd.isna(parsed))
    if not is_missing.any():
        return Unread(0, int((texts.codes >= 0).sum()), "", 0)
    is_absent = texts.categories.isin(ABSENT)
    is_unread = np.append(is_missing & ~is_absent, False)[texts.codes]
    rows = np.flatnonzero(is_unread)
    present = int((~np.append(is_absent, True)[texts.codes]).sum())
    if not rows.size:
        return Unread(0, present, "", 0)
    return Unread(len(rows), present, str(texts[rows[0]]), int(index[rows[0]]) + 1)

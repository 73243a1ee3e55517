"""Tables of text that no spreadsheet runs: made harmless when written, restored when read."""

import csv
import re
from collections.abc import Callable
from typing import IO

import numpy as np
import pandas as pd

# A spreadsheet takes a cell that begins so for a formula, some also if the sign is of full width
# or comes after a line break; an apostrophe before it makes it text.  One more is put before
# apostrophes that are there already, so that restoring is exact.
_SIGNS = r"[=+\-@\t\r\n＝＋－＠]"
_FORMULA = re.compile("'*" + _SIGNS)
_ESCAPED = re.compile("'+" + _SIGNS)
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


def neutralised_text(text: str) -> str:
    """Put an apostrophe before text that begins as a formula does; numbers stay as they are."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return "'" + text
    return text


def _restored_text(text: str) -> str:
    if _ESCAPED.match(text) and not _NUMBER.fullmatch(text):
        return text[1:]
    return text


def neutralised(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose text cells and names no spreadsheet runs."""
    return _mapped(frame, neutralised_text)


def restored(frame: pd.DataFrame) -> pd.DataFrame:
    """Undo :func:`neutralised`; ValueError for two columns of one name, which it never makes."""
    names = [_restored_text(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"two columns are named {twice!r}, one of them behind an apostrophe")
    return _mapped(frame, _restored_text)


def _mapped(frame: pd.DataFrame, change: Callable[[str], str]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {}
    for name in frame.columns:
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
            columns[change(name)] = values
            continue
        cells = np.asarray(values, dtype=object)
        columns[change(name)] = pd.Series(
            [change(cell) if isinstance(cell, str) else cell for cell in cells],
            index=frame.index,
            dtype=object,
        )
    return pd.DataFrame(columns, index=frame.index)


def write_delimited(
    frame: pd.DataFrame, stream: IO[bytes], separator: str = ",", *, header: bool = True
) -> None:
    """Write a frame without its index, so that no spreadsheet runs what is in it."""
    neutralised(frame).to_csv(
        stream,
        sep=separator,
        index=False,
        header=header,
        quoting=csv.QUOTE_NONNUMERIC,
        lineterminator="\n",
        encoding="utf-8",
    )

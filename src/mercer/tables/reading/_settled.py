"""What the cells of a column are in all parts of a file: so that each part is read as the whole."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

_INTEGERS = ("count", "int64", "uint64")
_NUMBERS = (*_INTEGERS, "float64", "empty")
_DTYPES = {
    "count": "int64", "int64": "int64", "uint64": "uint64", "float64": "float64",
    "empty": "float64", "bool": "bool", "other": "object",
}  # fmt: skip


class SettledKinds:
    """The kinds of the columns of a table, part by part until all have been seen.

    A kind is what pandas makes of a column: whole numbers (``count`` where none is negative),
    ``float64``, ``bool``, ``empty`` without any value, another type by its name, or ``other``:
    text, and whatever is mixed.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._n_rows = 0

    def add(self, frame: pd.DataFrame) -> None:
        """Look at a part; a column that is missing in it, or was before, has empty cells there."""
        if not len(frame):
            return
        found = {name: _kind(frame[name]) for name in frame}
        for name in [*self._kinds, *found]:
            before = self._kinds.get(name, "empty" if self._n_rows else found.get(name, "empty"))
            self._kinds[name] = _merged(before, found.get(name, "empty"))
        self._n_rows += len(frame)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order in which they came."""
        return list(self._kinds)

    def numbers(self) -> list[str]:
        """Names of the columns that hold nothing but numbers, or nothing."""
        return [name for name, kind in self._kinds.items() if kind in _NUMBERS]

    def dtypes(self) -> Mapping[str, str]:
        """Return the type of each column: of text and of mixed cells it is object."""
        return {name: _DTYPES.get(kind, kind) for name, kind in self._kinds.items()}


def _kind(values: pd.Series) -> str:
    dtype = values.dtype
    if not isinstance(dtype, np.dtype):  # categories, dates with a zone, texts of pandas
        return "other" if isinstance(dtype, pd.StringDtype) else str(dtype)
    if dtype.kind == "i":
        return "int64" if (values < 0).any() else "count"
    if dtype.kind == "u":
        return "uint64" if (values > np.iinfo(np.int64).max).any() else "count"
    if dtype.kind in "fO" and values.isna().all():
        return "empty"
    return "other" if dtype.kind == "O" else str(dtype)


def _merged(a: str, b: str) -> str:
    if a == b:
        return a
    if {a, b} <= set(_INTEGERS):
        larger = {a, b} - {"count"}
        return larger.pop() if len(larger) == 1 else "other"  # 64 bits hold no such numbers
    if {a, b} <= set(_NUMBERS):
        return "float64"
    if "empty" in (a, b):  # a type that knows of missing values stays as it is
        other = b if a == "empty" else a
        return "other" if other == "bool" else other
    return "other"


def regrouped(frames: Iterator[pd.DataFrame], n_rows: int) -> Iterator[pd.DataFrame]:
    """Yield the same rows so many at a time, with their numbers in the table as their index."""
    waiting: list[pd.DataFrame] = []
    n_waiting = start = 0

    def joined() -> pd.DataFrame:
        return waiting[0] if len(waiting) == 1 else pd.concat(waiting, ignore_index=True)

    for frame in frames:
        waiting.append(frame)
        n_waiting += len(frame)
        while n_waiting >= n_rows:
            whole = joined()
            some = whole.iloc[:n_rows]
            yield some.set_axis(pd.RangeIndex(start, start + n_rows))
            start += n_rows
            n_waiting -= n_rows
            waiting = [whole.iloc[n_rows:].reset_index(drop=True)]
    if n_waiting:
        whole = joined()
        yield whole.set_axis(pd.RangeIndex(start, start + len(whole)))

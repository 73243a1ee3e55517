"""What the functions of this package take and hand over: rows, columns and notes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._system.extras import how_to_install
from mercer._system.words import quoted
from mercer.tables._sentences import MissingPackageError

USABLE = ("number", "category", "date")


@dataclass(frozen=True, repr=False)
class Column:
    """One column of a table.

    Only text, numbers, booleans and tuples of text: ``dataclasses.asdict`` gives JSON.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"number", "category", "date", "text", "identifier", "constant", "empty", "excluded"}
        What its values are.
    used : bool
        Whether a model sees it; only numbers, categories and dates are used.
    reason : str
        Why it is not used, or what is particular about how it is read; often empty.
    n_missing : int
        Rows without a value.
    n_unique : int
        How many different values there are.
    examples : tuple of str
        Up to three values: of numbers and dates the least, the middle and the largest, else the
        most frequent.
    style : str
        How text is turned into numbers or dates, so that a new file is read in the same way.
    categories : tuple of str
        Of a category, all values in alphabetical order; else empty.
    """

    name: str
    kind: str
    used: bool
    reason: str
    n_missing: int
    n_unique: int
    examples: tuple[str, ...] = ()
    style: str = ""
    categories: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return name, kind and some values in a line, of a column of thousands too."""
        shown = [text if len(text) <= 30 else f"{text[:29]}…" for text in self.examples]
        values = ", ".join([*shown, *(["…"] if self.n_unique > len(shown) else [])])
        told = [self.kind if self.used else f"{self.kind}, not used", self.reason, values]
        return f"<Column {quoted(self.name)}: {'; '.join(filter(None, told))}>"


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with named columns, and what was noticed on the way.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows. Column names are text, and no two are alike.
    name : str
        What sentences call it: the path of a file, ``"standard input"`` or ``"the table"``.
    notes : tuple of str
        Sentences that the user should read, in the order in which things were noticed.
    other_sheets : tuple of str
        Of a workbook, the sheets that were not read.
    """

    frame: pd.DataFrame
    name: str = "the table"
    notes: tuple[str, ...] = ()
    other_sheets: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows that are ready to be learnt from.

    Parameters
    ----------
    X : pandas.DataFrame
        The columns that are used, typed: float64, category or datetime64. The index keeps the
        number of each row in the table it came from, counted from 0.
    y : ndarray of str of shape (n_rows,)
        The class of each row.
    columns : tuple of Column
        Every column but the target, used or not, with the reason.
    target : str
        Name of the column that holds the classes.
    notes : tuple of str
        What was left out or read in a particular way.
    """

    X: pd.DataFrame
    y: NDArray[np.str_]
    columns: tuple[Column, ...]
    target: str
    notes: tuple[str, ...] = ()

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """The number of each row in the table it came from, counted from 1."""
        return np.asarray(self.X.index, dtype=np.intp) + 1


def as_table(data: Any) -> Table:
    """Return a Table of what a user passes: a Table, or a frame of pandas, polars or pyarrow."""
    if isinstance(data, Table):
        return data
    if isinstance(data, pd.DataFrame):
        frame = data
    elif hasattr(data, "to_pandas"):  # This is all that narwhals would do with such a frame.
        try:
            frame = data.to_pandas()
        except ImportError as error:
            raise MissingPackageError(
                f"A {type(data).__module__.split('.')[0]} frame is turned into a pandas one by "
                f"pyarrow: {how_to_install('tables')}."
            ) from error
    else:
        raise ValueError(
            f"A {type(data).__name__} is not a table: give what read_table returns, or a DataFrame "
            "of pandas, polars or pyarrow."
        )
    names = [str(name) for name in frame.columns]
    check_names(names, "the table")
    if names == frame.columns.tolist() and frame.index.equals(pd.RangeIndex(len(frame))):
        return Table(frame)
    return Table(frame.set_axis(names, axis=1).reset_index(drop=True))


def check_names(names: list[str], table: str) -> None:
    """Raise if two columns have the same name."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        places = [str(i + 1) for i, name in enumerate(names) if name == twice]
        raise ValueError(
            f"{table} has {len(places)} columns named {quoted(twice)} "
            f"(columns {', '.join(places[:5])}): give each its own name."
        )

"""What the functions of this package take and hand over: rows and notes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._system.extras import how_to_install
from mercer.tables._column import Column
from mercer.tables._words import MissingPackageError, quoted

__all__ = ["LabelledTable", "Table", "as_table", "check_names"]


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
    """

    frame: pd.DataFrame
    name: str = "the table"
    notes: tuple[str, ...] = ()


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


def as_table(data: Any) -> Table:
    """Return a Table of what a user passes: a Table, or a frame of pandas, polars or pyarrow."""
    if isinstance(data, Table):
        return data
    if isinstance(data, pd.DataFrame):
        frame = data
    elif hasattr(data, "to_pandas"):
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
    return Table(frame.set_axis(names, axis=1).reset_index(drop=True))


def check_names(names: list[str], table: str) -> None:
    """Refuse names that are given twice."""
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        places = [str(i + 1) for i, name in enumerate(names) if name == twice]
        raise ValueError(
            f"{table} has {len(places)} columns named {quoted(twice)} "
            f"(columns {', '.join(places[:5])}): give each its own name."
        )

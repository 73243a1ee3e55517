"""Cells that are neither a value of the column's kind nor a sign for a missing one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mercer.tables._values import ABSENT
from mercer.tables._words import counted, quoted

__all__ = ["LEAST_READ", "Unread", "unread_cells"]

LEAST_READ = 0.95  # share of cells with a value that makes a column one of numbers or dates


@dataclass(frozen=True)
class Unread:
    """Cells that cannot be read: how many, and the first of them.

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

    def sentence(self, kind: str) -> str:
        """Return what is done about them, without a full stop."""
        are = f"is not a {kind} and is" if self.count == 1 else f"are not {kind}s and are"
        first = "" if self.count == 1 else "first "
        return (
            f"{counted(self.count, 'cell')} {are} taken as missing "
            f"({first}{quoted(self.text)} in row {self.row})"
        )


def unread_cells(texts: pd.Categorical, parsed: Any, index: pd.Index) -> Unread | None:
    """Return the cells that did not become a number or date; None where all did.

    ``parsed`` holds what each category of ``texts`` became, ``index`` the number of each row in
    the table, counted from 0.
    """
    is_absent = texts.categories.isin(ABSENT)
    is_unread = np.append(pd.isna(parsed) & ~is_absent, False)[texts.codes]
    rows = np.flatnonzero(is_unread)
    if not rows.size:
        return None
    present = int((~np.append(is_absent, True)[texts.codes]).sum())
    return Unread(len(rows), present, str(texts[rows[0]]), int(index[rows[0]]) + 1)

"""A table as the checks see it: classes as numbers, columns as numbers or codes, and some rows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.tables import LabelledTable, Table

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a labelled table, and the table they came from."""

    data: LabelledTable
    table: Table

    @cached_property
    def y(self) -> Codes:
        """Classes as numbers from 0."""
        return np.unique(self.data.y, return_inverse=True)[1].astype(np.intp)

    @cached_property
    def codes(self) -> dict[str, Codes]:
        """Every used column as numbers of its different values; −1 where there is none."""
        return {name: codes_of(self.data.X[name]) for name in self.data.X}

    def values(self, name: str) -> Codes:
        """Return any column of the table, used or not, as numbers of its different values."""
        if name in self.data.X:
            return self.codes[name]
        return codes_of(self.table.frame.loc[self.data.X.index, name])


def codes_of(values: "pd.Series[Any]") -> Codes:
    """Return the number of each value in the order in which values come; −1 for a missing one."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.codes, dtype=np.intp)
    return np.asarray(pd.factorize(values)[0], dtype=np.intp)


def as_floats(values: "pd.Series[Any]") -> npt.NDArray[np.float64]:
    """Return a column of numbers or dates as numbers in their order; NaN where there is none."""
    if values.dtype.kind == "M":
        times = values.to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(times), np.nan, times.astype(np.int64).astype(np.float64))
    return np.asarray(values, dtype=np.float64)


def some_rows(n: int, most: int, rng: np.random.Generator) -> Codes:
    """Return row numbers in their order: all, or so many at random."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))

"""How ``mercer compare`` splits rows: by whole groups, by time, or by a test file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from mercer._system.words import count_of, quoted
from mercer.cli._reading import Reading

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import LabelledTable, Table

Groups = Annotated[
    str | None,
    typer.Option(help="A column of groups, such as patients: whole groups are tested."),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time", help="A column of dates or numbers: later rows are tested by earlier ones."
    ),
]
TestTable = Annotated[
    str | None,
    typer.Option("--test", help="A file of rows to test on; all of the table is learnt from."),
]


@dataclass(frozen=True)
class SplitRows:
    """Rows to compare models on, and how they are split.

    Parameters
    ----------
    data : LabelledTable
        The table, with notes on the split.
    options : dict
        What `compare_in_rounds` is told of groups, times or test rows.
    rows : ndarray of int
        The number of each row that may be tested in its table, counted from 1.
    frame : DataFrame
        That table, as it was read.
    source : str
        The column of groups or times, or the test file; empty where there is none.
    test : LabelledTable or None
        The rows of the test file, typed as the table is.
    """

    data: "LabelledTable"
    options: Mapping[str, Any]
    rows: npt.NDArray[np.intp]
    frame: "pd.DataFrame"
    source: str = ""
    test: "LabelledTable | None" = None


@dataclass(frozen=True)
class Splitting:
    """The options that say how rows are split, of which there is one at most."""

    groups: str | None = None
    time: str | None = None
    test: str | None = None

    def __post_init__(self) -> None:
        """Refuse more than one."""
        if sum(one is not None for one in (self.groups, self.time, self.test)) > 1:
            raise ValueError("Give one of --groups, --time and --test: each is a split of its own.")

    @property
    def column(self) -> str | None:
        """The column of groups or of times."""
        return self.groups or self.time

    def kinds(self, kinds: Mapping[str, str], target: str | None) -> dict[str, str]:
        """Return the kinds of columns, with that of groups or times left out if not named there."""
        if self.column is not None and self.column == target:
            raise ValueError(
                f"{target!r} is the target: --groups and --time are for other columns."
            )
        return {**({self.column: "excluded"} if self.column else {}), **kinds}

    def read(self, table: "Table", data: "LabelledTable", reading: Reading) -> SplitRows:
        """Return the rows with their groups or times, or with the rows of the test file."""
        if self.test is not None:
            return _with_test_file(data, self.test, reading)
        if self.column is None:
            return SplitRows(data, {}, data.row_numbers, table.frame)
        notes = list(data.notes)
        if reading.kinds.get(self.column) == "excluded":
            notes.append(
                f"{quoted(self.column)} splits the rows, so that models do not see it; "
                f"--kind {self.column}=KIND lets them."
            )
        if self.groups is not None:
            values, said = _groups(table, data, self.groups)
            found = replace(data, notes=(*notes, *said))
            options = {"groups": values}
            return SplitRows(found, options, data.row_numbers, table.frame, self.groups)
        times = _times(table, data, self.column)
        is_known = ~np.isnan(times)
        if not is_known.all():
            missing = int((~is_known).sum())
            notes.append(
                f"{count_of(missing, 'row')} without a value of {quoted(self.column)} "
                f"{'is' if missing == 1 else 'are'} left out."
            )
        data = replace(data, X=data.X[is_known], y=data.y[is_known], notes=tuple(notes))
        options = {"time": times[is_known]}
        return SplitRows(data, options, data.row_numbers, table.frame, self.column)


def _groups(table: "Table", data: "LabelledTable", column: str) -> tuple[Any, list[str]]:
    """Return the number of the group of each row; rows without one are a group together."""
    import pandas as pd

    codes, names = pd.factorize(table.frame.loc[data.X.index, column])
    said = [f"{quoted(column)} has {count_of(len(names), 'group')}."]
    missing = int((codes < 0).sum())
    if missing:
        said.append(f"{count_of(missing, 'row')} without a group count as one group.")
    if len(names) == len(codes):
        said.append(f"Every row is a group of its own, so that {quoted(column)} changes nothing.")
    return codes, said


def _times(table: "Table", data: "LabelledTable", column: str) -> npt.NDArray[np.float64]:
    """Return numbers that are in the order of the times; NaN where there is none."""
    from mercer.tables import describe_columns, typed_frame

    frame = table.frame.loc[data.X.index, [column]]
    described = describe_columns(replace(table, frame=frame))
    if described[0].kind not in ("number", "date"):
        try:  # Whole numbers that are all different were taken for an identifier.
            described = describe_columns(replace(table, frame=frame), kinds={column: "number"})
        except ValueError as error:
            raise ValueError(
                f"--time takes a column of dates or numbers, and {quoted(column)} is neither: "
                f"{error}"
            ) from error
    typed = typed_frame(frame, [replace(described[0], used=True)])[0][column]
    if described[0].kind == "date":
        days = typed.to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return np.asarray(typed, dtype=np.float64)


def _with_test_file(data: "LabelledTable", path: str, reading: Reading) -> SplitRows:
    """Return the rows and those of a test file, read as `mercer predict` reads new rows."""
    from mercer.tables import match_columns, split_target

    given = reading.read(path)
    labelled = split_target(given, data.target, kinds={}, min_class_rows=1)
    unused = [column.name for column in data.columns if not column.used]
    known = [name for name in (data.target, *unused) if name in given.frame]
    matched = match_columns(replace(given, frame=given.frame.drop(columns=known)), data.columns)
    is_known = np.isin(labelled.y, np.unique(data.y))
    rows = labelled.X.index[is_known]
    notes = [*data.notes, *matched.notes]
    if len(rows) < len(given.frame):
        left_out = len(given.frame) - len(rows)
        notes.append(
            f"{count_of(left_out, 'row')} of {path} without a class that the table has "
            f"{'is' if left_out == 1 else 'are'} left out."
        )
    test = replace(data, X=matched.frame.loc[rows], y=labelled.y[is_known], notes=())
    data = replace(data, notes=tuple(notes))
    options = {"test": (test.X, test.y)}
    return SplitRows(data, options, test.row_numbers, given.frame, path, test)

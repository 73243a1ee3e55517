"""Whether two tables come from one distribution, and in which columns they differ."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.words import p_value
from mercer.comparison import holm_correction
from mercer.information import cauchy_schwarz_divergence, two_sample_test
from mercer.tables import (
    Column,
    Table,
    describe_columns,
    make_preprocessor,
    match_columns,
    typed_frame,
)
from mercer.views._column_difference import ColumnDifference, column_difference

_LEVEL = 0.05
_MAX_ROWS = 2500  # All columns together are tested on at most as many rows of each table.


@dataclass(frozen=True)
class TableDifference:
    """What :func:`measure_tables` found; ``str(result)`` is a sentence.

    Parameters
    ----------
    names : tuple of two str
        What the tables are called.
    n_rows : tuple of two int
        Their rows.
    pvalue : float
        Of all columns together, by permutations.
    squared_error : float
        Integrated squared error of the two densities, in units of the kernel's peak.
    expected_squared_error : float
        Its median where rows are dealt at random.
    divergence : float
        Cauchy–Schwarz divergence of the two densities, at the same bandwidth.
    columns : tuple of ColumnDifference
        Those that differ most first.
    level : float
        Probability that equal tables are said to differ.
    notes : tuple of str
    """

    names: tuple[str, str]
    n_rows: tuple[int, int]
    pvalue: float
    squared_error: float
    expected_squared_error: float
    divergence: float
    columns: tuple[ColumnDifference, ...]
    level: float
    notes: tuple[str, ...]

    @property
    def differing(self) -> tuple[ColumnDifference, ...]:
        """The columns that differ by more than chance, each on its own."""
        return tuple(one for one in self.columns if one.corrected <= self.level / 2)

    @property
    def differs(self) -> bool:
        """Whether the tables differ: all columns together, or any one by itself."""
        return self.pvalue <= self.level / 2 or bool(self.differing)

    def __str__(self) -> str:
        together = f"all columns together: {p_value(self.pvalue)}"
        who = f"{self.names[0]} and {self.names[1]}"
        if not self.differs:
            return (
                f"No difference was found between {who} ({together}): they may well be from one "
                "distribution."
            )
        if not self.differing:
            return f"{who} differ ({together}), though no column does so clearly by itself."
        n, most = len(self.differing), self.differing[0].name
        return (
            f"{who} differ ({together}); by itself, {n} of {len(self.columns)} columns "
            f"{'does' if n == 1 else 'do'}, most of all {most!r}."
        )


def measure_tables(
    first: Table, second: Table, *, n_permutations: int = 999, random_state: int = 0
) -> TableDifference:
    """Test whether two tables come from one distribution, on the columns that both have.

    The rows of both are put together to see what each column holds and to fit one preprocessing;
    the test then sees which row is from which table.  All columns together are tested by
    :func:`mercer.information.two_sample_test`; each by itself by a classical test, with Holm's
    correction.  Half of the level goes to either, so that equal tables are said to differ in at
    most 5 % of cases.

    Parameters
    ----------
    first, second : Table
        Rows, which must be independent of each other.
    n_permutations : int, default=999
        Of the test of all columns.
    random_state : int, default=0
        Seed of the permutations and of the sample of rows.

    Returns
    -------
    TableDifference
        How they differ, and where.

    Raises
    ------
    ValueError
        Where there is no column to compare, or a table has fewer than two rows.

    Notes
    -----
    All columns together are tested on at most 2 500 rows of each table, drawn at random: some
    seconds.  Single columns are tested on all rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.views import measure_tables
    >>> from mercer.tables import Table
    >>> rng = np.random.default_rng(0)
    >>> frames = [pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]) for _ in range(2)]
    >>> frames[1]["b"] += 1
    >>> found = measure_tables(Table(frames[0], "old"), Table(frames[1], "new"))
    >>> found.differs, found.columns[0].name, found.pvalue
    (True, 'b', 0.001)
    """
    columns, X, is_second, notes = _pool(first, second)
    tested = [
        column_difference(X[column.name], column, is_second) for column in columns if column.used
    ]
    tested.sort(key=lambda one: (one.pvalue, -one.difference))
    corrected = holm_correction([one.pvalue for one in tested])
    Z = np.asarray(make_preprocessor(columns).fit_transform(X), dtype=np.float64)
    parts, more = _sample_rows(Z, is_second, random_state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # One width, because the divergence that is shown beside the p-value has that width too.
        result = two_sample_test(
            *parts, bandwidth="median", n_permutations=n_permutations, random_state=random_state
        )
        divergence = cauchy_schwarz_divergence(*parts, bandwidth=result.bandwidth)
    said = [one.message for one in caught if issubclass(one.category, UserWarning)]
    notes += [*more, *map(str, said)]
    return TableDifference(
        names=(first.name, second.name),
        n_rows=(len(first.frame), len(second.frame)),
        pvalue=float(result.pvalue),
        squared_error=float(result.statistic),
        expected_squared_error=float(result.null_quantiles[0.5]),
        divergence=float(np.maximum(divergence, 0.0)),
        columns=tuple(
            replace(one, corrected=float(p)) for one, p in zip(tested, corrected, strict=True)
        ),
        level=_LEVEL,
        notes=tuple(dict.fromkeys(notes)),
    )


def _pool(
    first: Table, second: Table
) -> tuple[list[Column], pd.DataFrame, NDArray[np.bool_], list[str]]:
    """Return the columns of both, their typed rows, which are of the second table, and notes."""
    for table in (first, second):
        if len(table.frame) < 2:
            raise ValueError(f"{table.name} has fewer than two rows: there is nothing to compare.")
    shared = [name for name in first.frame if name in second.frame]
    if not shared:
        raise ValueError(
            f"{first.name} and {second.name} have no column in common: their names must agree."
        )
    notes = [*first.notes, *second.notes]
    for table, other in ((first, second), (second, first)):
        only = [str(name) for name in table.frame if name not in other.frame]
        if only:
            shown = ", ".join(map(repr, only[:5])) + (", …" if len(only) > 5 else "")
            notes.append(f"Only in {table.name}, and not compared: {shown}.")
    frames = _read_alike(first, second, shared, notes)
    both = pd.concat(frames, ignore_index=True)
    pooled = Table(both, f"{first.name} and {second.name}")
    columns = describe_columns(pooled)
    for table, frame in zip((first, second), frames, strict=True):
        _type_with_notes(Table(frame, table.name), columns, notes)
    notes += [
        f"Column {column.name!r} is not compared ({column.kind}: {column.reason})."
        for column in columns
        if not column.used
    ]
    if not any(column.used for column in columns):
        raise ValueError(
            f"No column of {pooled.name} can be compared: all are identifiers, text or constant."
        )
    is_second = np.arange(len(both)) >= len(first.frame)
    return columns, match_columns(pooled, columns).frame, is_second, notes


def _type_with_notes(table: Table, columns: list[Column], notes: list[str]) -> pd.DataFrame:
    """Return the typed columns; a note names cells that are not of their column's kind."""
    kinds = {column.name: column.kind for column in columns}
    frame, unread = typed_frame(table.frame, columns)
    notes += [
        f"Column {name!r} of {table.name}: {found.sentence(kinds[name])}."
        for name, found in unread.items()
    ]
    return frame


def _read_alike(
    first: Table, second: Table, shared: list[str], notes: list[str]
) -> list[pd.DataFrame]:
    """Return the shared columns; numbers and dates written in two styles are read by their own."""
    frames = [table.frame[shared].copy() for table in (first, second)]
    for name in shared:
        tables = [
            Table(frame[[name]], table.name)
            for table, frame in zip((first, second), frames, strict=True)
        ]
        described = [describe_columns(table) for table in tables]
        kinds, styles = zip(*((column.kind, column.style) for (column,) in described), strict=True)
        if styles[0] != styles[1] and kinds in (("number", "number"), ("date", "date")):
            for frame, table, columns in zip(frames, tables, described, strict=True):
                frame[name] = _type_with_notes(table, columns, notes)[name]
    return frames


def _sample_rows(
    Z: FloatArray, is_second: NDArray[np.bool_], random_state: int
) -> tuple[list[FloatArray], list[str]]:
    rng = np.random.default_rng(random_state)
    parts, is_cut = [], False
    for mask in (~is_second, is_second):
        rows = np.flatnonzero(mask)
        if len(rows) > _MAX_ROWS:
            rows, is_cut = np.sort(rng.choice(rows, _MAX_ROWS, replace=False)), True
        parts.append(Z[rows])
    note = f"All columns together are tested on {_MAX_ROWS} rows at random of a longer table."
    return parts, [note] * is_cut

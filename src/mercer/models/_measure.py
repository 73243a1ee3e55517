"""Whether two tables come from one distribution, and in which columns they differ."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp

from mercer.information import cauchy_schwarz_divergence, two_sample_test
from mercer.tables import (
    Column,
    Table,
    describe_columns,
    make_preprocessor,
    match_columns,
    typed_frame,
)

__all__ = ["ColumnDifference", "TableDifference", "measure_tables"]

_LEVEL = 0.05
_MAX_ROWS = 2500  # of each table in the test of all columns together
_FEW = 5  # expected rows of a category, below which it is counted with the other rare ones


@dataclass(frozen=True)
class ColumnDifference:
    """How much a column differs between two tables.

    Parameters
    ----------
    name : str
    kind : {"number", "category", "date"}
    difference : float
        Between 0 and 1: the largest gap of the two cumulative distributions (numbers, dates), the
        share of rows that would have to change category, or the gap in missing values if
        that is larger.
    pvalue : float
        Kolmogorov–Smirnov for numbers and dates, chi² for categories; where values are missing,
        twice the lesser of this and the p-value of their counts.
    corrected : float
        After Holm, for all columns.
    first, second : str
        What it is like in either table.
    """

    name: str
    kind: str
    difference: float
    pvalue: float
    corrected: float
    first: str
    second: str


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
        together = f"all columns together: p = {self.pvalue:.2g}"
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
    >>> from mercer.models import measure_tables
    >>> from mercer.tables import Table
    >>> rng = np.random.default_rng(0)
    >>> frames = [pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"]) for _ in range(2)]
    >>> frames[1]["b"] += 1
    >>> found = measure_tables(Table(frames[0], "old"), Table(frames[1], "new"))
    >>> found.differs, found.columns[0].name, found.pvalue
    (True, 'b', 0.001)
    """
    columns, X, is_second, notes = _pooled(first, second)
    tested = [_tested(X[column.name], column, is_second) for column in columns if column.used]
    tested.sort(key=lambda found: (found[1], -found[0].difference))
    corrected = _holm([p for _, p in tested])
    found = tuple(
        ColumnDifference(one.name, one.kind, one.difference, p, adjusted, one.first, one.second)
        for (one, p), adjusted in zip(tested, corrected, strict=True)
    )
    Z = np.asarray(make_preprocessor(columns).fit_transform(X), dtype=np.float64)
    parts, more = _sampled(Z, is_second, random_state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = two_sample_test(*parts, n_permutations=n_permutations, random_state=random_state)
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
        columns=found,
        level=_LEVEL,
        notes=tuple(dict.fromkeys(notes)),
    )


def _pooled(
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
        _typed_with_notes(Table(frame, table.name), columns, notes)
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


def _typed_with_notes(table: Table, columns: list[Column], notes: list[str]) -> pd.DataFrame:
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
                frame[name] = _typed_with_notes(table, columns, notes)[name]
    return frames


def _sampled(
    Z: NDArray[np.float64], is_second: NDArray[np.bool_], random_state: int
) -> tuple[list[NDArray[np.float64]], list[str]]:
    rng = np.random.default_rng(random_state)
    parts, is_cut = [], False
    for mask in (~is_second, is_second):
        rows = np.flatnonzero(mask)
        if len(rows) > _MAX_ROWS:
            rows, is_cut = np.sort(rng.choice(rows, _MAX_ROWS, replace=False)), True
        parts.append(Z[rows])
    note = f"All columns together are tested on {_MAX_ROWS} rows at random of a longer table."
    return parts, [note] * is_cut


@dataclass(frozen=True)
class _Found:
    """What is known of a column before the correction."""

    name: str
    kind: str
    difference: float
    first: str
    second: str


def _tested(
    values: pd.Series, column: Column, is_second: NDArray[np.bool_]
) -> tuple[_Found, float]:
    """Return how a column differs, and its p-value."""
    if column.kind == "category":
        return _tested_category(values, column, is_second)
    numbers = _as_floats(values)
    is_missing = np.isnan(numbers)
    a, b = numbers[~is_second & ~is_missing], numbers[is_second & ~is_missing]
    gap, p = 0.0, 1.0
    if len(a) and len(b):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # exact → asymptotic
            found = ks_2samp(a, b)
        gap, p = float(found.statistic), float(found.pvalue)
    texts = [_median(part, column) for part in (a, b)]
    if is_missing.any():
        counts = _counts(is_missing.astype(np.intp), is_second, 2)
        missing = counts[:, 1] / counts.sum(axis=1)
        p = float(np.minimum(1.0, 2 * np.minimum(p, _contingency(counts))))
        if abs(missing[1] - missing[0]) > gap:
            gap = float(abs(missing[1] - missing[0]))
            texts = [f"{share:.0%} missing".replace("%", " %") for share in missing]
    return _Found(column.name, column.kind, gap, *texts), p


def _tested_category(
    values: pd.Series, column: Column, is_second: NDArray[np.bool_]
) -> tuple[_Found, float]:
    codes = values.cat.codes.to_numpy() + 1  # 0: missing
    names = ["(missing)", *map(str, values.cat.categories)]
    counts = _counts(codes, is_second, len(names))
    shares = counts / counts.sum(axis=1, keepdims=True)
    change = np.abs(shares[1] - shares[0])
    most = int(np.argmax(change if change.any() else shares[0]))
    texts = [f"{part[most]:.0%} {names[most]}".replace("%", " %", 1) for part in shares]
    found = _Found(column.name, column.kind, float(change.sum() / 2), *texts)
    return found, _contingency(counts)


def _counts(codes: NDArray[Any], is_second: NDArray[np.bool_], n_codes: int) -> NDArray[np.intp]:
    return np.stack(
        [np.bincount(codes[mask], minlength=n_codes) for mask in (~is_second, is_second)]
    )


def _contingency(counts: NDArray[np.intp]) -> float:
    """Return the p-value that two rows of counts are of one distribution."""
    counts = counts[:, counts.sum(axis=0) > 0]
    expected = counts.sum(axis=0) * counts.sum(axis=1).min() / counts.sum()
    is_rare = expected < _FEW
    if counts.shape[1] > 2 and is_rare.any():  # rare ones are counted together
        rest = counts[:, is_rare].sum(axis=1, keepdims=True)
        counts = np.concatenate([counts[:, ~is_rare], rest], axis=1)
    if counts.shape[1] < 2:
        return 1.0
    if counts.shape == (2, 2) and is_rare.any():
        return float(fisher_exact(counts).pvalue)
    return float(chi2_contingency(counts, correction=False).pvalue)


def _as_floats(values: pd.Series) -> NDArray[np.float64]:
    """Return numbers as they are and dates as days from 1970."""
    if pd.api.types.is_datetime64_any_dtype(values):
        days = (values - pd.Timestamp(0)) / pd.Timedelta(days=1)
        return np.asarray(days, dtype=np.float64)
    return np.asarray(values, dtype=np.float64)


def _median(part: NDArray[np.float64], column: Column) -> str:
    if not len(part):
        return "no values"
    middle = float(np.median(part))
    if column.kind == "date":
        return "median " + str((pd.Timestamp(0) + pd.Timedelta(days=middle)).date())
    return f"median {middle:.6g}"


def _holm(sorted_pvalues: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values of ascending ones."""
    m, largest, adjusted = len(sorted_pvalues), 0.0, []
    for i, p in enumerate(sorted_pvalues):
        largest = float(np.maximum(largest, np.minimum(1.0, (m - i) * p)))
        adjusted.append(largest)
    return adjusted

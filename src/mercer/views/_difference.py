"""Whether two tables come from one distribution, how far apart they are, and where they differ."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.vocabulary import USUAL_BOUND
from mercer._system.words import grouped
from mercer.comparison import holm_correction
from mercer.information import cauchy_schwarz_divergence, two_sample_test
from mercer.tables import Column, Table, make_preprocessor, source_columns
from mercer.views._column_difference import column_difference
from mercer.views._effect import FEWEST_ROWS, Witness, find_witness
from mercer.views._pool import pool_tables
from mercer.views._table_difference import (
    TableDifference,
    TypicalRow,
    check_bound,
)

_LEVEL = 0.05
_MAX_ROWS = 10_000  # All columns together are looked at on at most as many rows of each table.
_ROWS_OF_DENSITIES = 2500  # Divergences of densities are of at most as many.
_DEALS = 99  # How far apart they are by chance is the median of so many permutations.
_TYPICAL_ROWS = 5
_CELLS = 6  # So many cells of a typical row are shown.


def measure_tables(
    first: Table,
    second: Table,
    *,
    bound: float = USUAL_BOUND,
    kinds: Mapping[str, str] | None = None,
    n_permutations: int = 999,
    random_state: int = 0,
) -> TableDifference:
    """Test whether two tables come from one distribution, and say how far apart they are.

    The columns that both have are compared.  The rows of both are put together to see what each
    column holds and to fit one preprocessing; the rest then sees which row is from which table.

    *Test.*  All columns together are tested by :func:`mercer.information.two_sample_test`; each by
    itself by a classical test, with Holm's correction.  Half of the level goes to either, so that
    equal tables are said to differ in at most 5 % of cases.

    *Effect.*  Of long tables even the least difference is found.  So the rows are held out in five
    parts, and a :class:`mercer.discriminants.KernelFisherDiscriminant` fitted on the others scores
    them: its AUC says how well a row can be told to be of one table or the other, from 0.5 (not at
    all) to 1 (without doubt).  The tables are practically different if the interval of the AUC lies
    above `bound`.  Columns and rows by which they are told apart are named.

    Parameters
    ----------
    first, second : Table
        Rows, which must be independent of each other.
    bound : float, default=0.6
        An AUC up to this one does not matter in practice: 0.5 or more, and less than 1.  Of one
        normal column, 0.6 is a shift by 0.36 standard deviations.
    kinds : dict of name to kind, optional
        As :func:`mercer.tables.describe_columns` takes them; ``"excluded"`` leaves a column out.
    n_permutations : int, default=999
        Of the test of all columns.
    random_state : int, default=0
        Seed of the permutations, of the sample of rows and of the parts.

    Returns
    -------
    TableDifference
        Whether and how far they differ, and where.

    Raises
    ------
    ValueError
        Where there is no column to compare, a table has fewer than two rows, or `bound` is not an
        AUC.

    Notes
    -----
    All columns together are looked at on at most 10 000 rows of each table, drawn at random, and a
    note says so; squared error and divergence are of at most 2 500 of these, at the median
    distance.  Single columns are tested on all rows.
    The kernel is Gaussian.  Column scales and width of each of the five discriminants are chosen on
    at most 500 of its rows; with more, it is expanded on 500 landmarks and its ridge chosen on all.

    The choice by leave-one-out is made without the rows that are held out, and pairs are of rows of
    one part, so that the AUC of equal tables is 0.5 on average.  Leave-one-out scores themselves
    would give 0.45 (30 rows each, one column), because each is of a discriminant that misses
    another row.  The interval (Hanley and McNeil's variance, inverted, and doubled because parts
    share the rows they are fitted on) covers 0.5 in about 95 % of equal tables, and is wider than
    need be where tables differ.

    The AUC is what a discriminant learns from these rows; from more it may learn more.  So few rows
    of many columns can hide a difference that matters.

    Columns that say the same can stand in for each other: their shares may be small.

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
    >>> found.verdict, found.effect.low < 0.76 < found.effect.high
    ('practically different', True)
    """
    check_bound(bound)
    columns, X, is_second, notes = pool_tables(first, second, kinds)
    tested = [
        column_difference(X[column.name], column, is_second) for column in columns if column.used
    ]
    tested.sort(key=lambda one: (one.pvalue, -one.difference))
    corrected = holm_correction([one.pvalue for one in tested])
    rng = np.random.default_rng(random_state)
    rows = _sample_rows(is_second, _MAX_ROWS, rng)
    X, is_second = X.iloc[rows], is_second[rows]
    if len(rows) < len(first.frame) + len(second.frame):
        notes.append(
            f"The test of all columns and the AUC are of {grouped(_MAX_ROWS)} rows at random of a "
            "longer table."
        )
    Z = np.asarray(make_preprocessor(columns).fit_transform(X), dtype=np.float64)
    result = two_sample_test(
        Z[~is_second], Z[is_second], n_permutations=n_permutations, random_state=random_state
    )
    densities = _compare_densities(Z, is_second, rng)
    del Z
    witness = _find_witness(columns, X, is_second, random_state)
    notes += [*densities.notes, *_notes_of_effect(witness, first, second)]
    shares = witness.shares if witness else {}
    found = TableDifference(
        names=(first.name, second.name),
        n_rows=(len(first.frame), len(second.frame)),
        pvalue=float(result.pvalue),
        squared_error=densities.squared_error,
        expected_squared_error=densities.expected_squared_error,
        divergence=densities.divergence,
        columns=tuple(
            replace(one, corrected=float(p), share=shares.get(one.name))
            for one, p in zip(tested, corrected, strict=True)
        ),
        level=_LEVEL,
        notes=tuple(dict.fromkeys(notes)),
        effect=witness.effect if witness else None,
        bound=float(bound),
    )
    if witness and witness.effect.is_shown:
        found = replace(found, typical=_typical_rows(witness, (first, second), X, rows))
    return found


def _sample_rows(
    is_second: NDArray[np.bool_], most: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return row numbers in their order, of either table at most so many, drawn at random."""
    parts = [np.flatnonzero(is_second == which) for which in (False, True)]
    drawn = [part if len(part) <= most else rng.choice(part, most, replace=False) for part in parts]
    return np.sort(np.concatenate(drawn))


@dataclass(frozen=True)
class _Densities:
    """How far apart two densities of one bandwidth are; see `TableDifference`."""

    squared_error: float
    expected_squared_error: float
    divergence: float
    notes: list[str]


def _compare_densities(
    Z: FloatArray, is_second: NDArray[np.bool_], rng: np.random.Generator
) -> _Densities:
    """Compare the densities of some rows; their p-value is not used, as it is that of one width."""
    some = _sample_rows(is_second, _ROWS_OF_DENSITIES, rng)
    parts = [Z[some[is_second[some] == which]] for which in (False, True)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = two_sample_test(
            *parts, bandwidth="median", n_permutations=_DEALS, random_state=int(rng.integers(2**31))
        )
        divergence = cauchy_schwarz_divergence(*parts, bandwidth=result.bandwidth)
    return _Densities(
        squared_error=float(result.statistic),
        expected_squared_error=float(result.null_quantiles[0.5]),
        divergence=float(np.maximum(divergence, 0.0)),
        notes=[str(one.message) for one in caught if issubclass(one.category, UserWarning)],
    )


def _find_witness(
    columns: list[Column], X: pd.DataFrame, is_second: NDArray[np.bool_], random_state: int
) -> Witness | None:
    """Return what tells the rows of the two tables apart, or None where there are too few."""
    if min(is_second.sum(), (~is_second).sum()) < FEWEST_ROWS:
        return None
    preprocessor = make_preprocessor(columns, scale="soft-ranks")
    Z = np.asarray(preprocessor.fit_transform(X), dtype=np.float64)
    return find_witness(Z, is_second, source_columns(preprocessor), random_state)


def _notes_of_effect(witness: Witness | None, first: Table, second: Table) -> list[str]:
    if witness is None:
        fewer = (first if len(first.frame) < FEWEST_ROWS else second).name
        note = f"{fewer} has fewer than {FEWEST_ROWS} rows: there is no AUC."
        return [note]
    if witness.effect.high < 0.5:
        note = "The AUC lies below 0.5, as it does where rows of one table stand in the other too."
        return [f"{note} Rows must be independent of each other."]
    return []


def _typical_rows(
    witness: Witness, tables: tuple[Table, Table], X: pd.DataFrame, rows: NDArray[np.intp]
) -> tuple[TypicalRow, ...]:
    """Return the rows of either table that are most unlike the other's, without copies.

    X holds the rows that were drawn of both tables, and `rows` their numbers among all.
    """
    names = sorted(witness.shares, key=witness.shares.__getitem__, reverse=True)[:_CELLS]
    n_first = len(tables[0].frame)
    found: list[TypicalRow] = []
    for table, is_second in zip(tables, (False, True), strict=True):
        own = np.flatnonzero((rows >= n_first) == is_second)
        shown: list[TypicalRow] = []
        for one in map(int, witness.most_typical(own, is_second)):
            number = int(rows[one]) - n_first * is_second
            cells = {
                name: _cell(X[name].iloc[one], table.frame[name].iloc[number]) for name in names
            }
            if cells not in (other.cells for other in shown):
                chance = witness.chance(one, is_second)
                shown.append(TypicalRow(table.name, number + 1, chance, cells))
            if len(shown) == _TYPICAL_ROWS:
                break
        found += shown
    return tuple(found)


def _cell(typed: Any, written: Any) -> str:
    """Return what stands in a cell: a number with six digits, else what is written, in short."""
    if pd.isna(typed):
        return "(missing)"
    if isinstance(typed, int | float | np.number):
        return f"{typed:.6g}"
    text = " ".join(str(written).split())
    return text if len(text) <= 40 else text[:39] + "…"

"""Which columns of a table depend on each other: each two by a test of independence."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, factorial

import numpy as np

from mercer._arrays import FloatArray
from mercer._system.words import count_of, p_value, score
from mercer.comparison import holm_correction
from mercer.information import pairwise_independence
from mercer.tables import Column, Table, describe_columns, make_preprocessor, match_columns

_PAIRS_LEVEL = 0.05
_MOST_COLUMNS = 30
_MOST_ROWS = 5000  # Pairs are tested on at most as many rows.
_LEAST_PERMUTATIONS, _PERMUTATIONS_OF_PAIR = 9999, 50  # Holm's correction needs many for many.


@dataclass(frozen=True)
class ColumnPair:
    """How much two columns depend on each other.

    Parameters
    ----------
    first, second : str
        Their names.
    dependence : float
        About 0 for independent columns, 1 where rows are as near to each other in one as in the
        other: that of :func:`mercer.information.independence_test`.
    pvalue : float
        Of the test of independence.
    corrected : float
        After Holm's correction for all pairs.
    """

    first: str
    second: str
    dependence: float
    pvalue: float
    corrected: float


@dataclass(frozen=True)
class ColumnPairs:
    """What :func:`measure_pairs` found; ``str(result)`` is a sentence.

    Parameters
    ----------
    name : str
        What the table is called.
    n_rows : int
        Its rows.
    n_tested : int
        Rows that the pairs were tested on.
    columns : tuple of str
        Columns that were compared, in the order of the table.
    pairs : tuple of ColumnPair
        Those that depend most on each other first.
    level : float
        Probability that any two independent columns are said to depend on each other.
    notes : tuple of str
    """

    name: str
    n_rows: int
    n_tested: int
    columns: tuple[str, ...]
    pairs: tuple[ColumnPair, ...]
    level: float
    notes: tuple[str, ...]

    @property
    def depending(self) -> tuple[ColumnPair, ...]:
        """The pairs that depend on each other by more than chance."""
        return tuple(pair for pair in self.pairs if pair.corrected <= self.level)

    def pair(self, first: str, second: str) -> ColumnPair:
        """Return the pair of two columns, in either order."""
        (found,) = (pair for pair in self.pairs if {pair.first, pair.second} == {first, second})
        return found

    def __str__(self) -> str:
        n, total = len(self.depending), count_of(len(self.pairs), "pair")
        if not n:
            least = min(pair.corrected for pair in self.pairs)
            return (
                f"No two columns of {self.name} were found to depend on each other: of {total}, "
                f"the clearest has {p_value(least)} with Holm's correction."
            )
        most = self.depending[0]
        verb = "depends on the other column" if n == 1 else "depend on each other"
        return (
            f"Of {total} of columns of {self.name}, {n} {verb}, most of all {most.first!r} and "
            f"{most.second!r} ({score(most.dependence, 2)} of 1; {p_value(most.corrected)} with "
            "Holm's correction)."
        )


def measure_pairs(
    table: Table, *, kinds: Mapping[str, str] | None = None, random_state: int = 0
) -> ColumnPairs:
    """Test each two columns of a table for independence, and say how much they depend.

    A number is one coordinate, a category one 0/1 column for each of its values, a date its parts;
    where values are missing, that is a coordinate too.  Dependence of any form is seen, not only
    that along a line.

    Parameters
    ----------
    table : Table
        Rows, which must be independent of each other.
    kinds : dict of name to kind, optional
        As :func:`mercer.tables.describe_columns` takes them; ``"excluded"`` leaves a column out.
    random_state : int, default=0
        Seed of the permutations and of the sample of rows.

    Returns
    -------
    ColumnPairs
        Dependence and p-value of each pair.

    Raises
    ------
    ValueError
        Where there are fewer than two columns or rows to compare.

    Notes
    -----
    The first 30 columns that can be compared are, on at most 5 000 rows, drawn at random.  There
    are fifty permutations for each pair that Holm's correction counts, and at least 9 999: the test
    of a pair takes a fraction of a second.  From less than some 50 rows there are fewer, and a note
    says so where they are too few for any pair of so many to stand out.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.tables import Table
    >>> from mercer.views import measure_pairs
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    >>> frame["c"] = frame["a"] ** 2 + 0.3 * frame["c"]
    >>> [(pair.first, pair.second) for pair in measure_pairs(Table(frame, "t.csv")).depending]
    [('a', 'c')]
    """
    columns = describe_columns(table, kinds=kinds)
    notes = [
        f"Column {column.name!r} is not compared ({column.kind}: {column.reason})."
        for column in columns
        if not column.used
    ]
    used = [column for column in columns if column.used]
    if len(used) < 2 or len(table.frame) < 2:
        raise ValueError(
            f"{table.name} has {count_of(len(used), 'column')} that can be compared and "
            f"{count_of(len(table.frame), 'row')}: pairs need two of either."
        )
    if len(used) > _MOST_COLUMNS:
        notes.append(
            f"Of {len(used)} columns the first {_MOST_COLUMNS} are compared, up to "
            f"{used[_MOST_COLUMNS - 1].name!r}; pass a table with fewer columns to choose."
        )
        used = used[:_MOST_COLUMNS]
    rows = np.arange(len(table.frame))
    random = np.random.RandomState(random_state)
    if len(rows) > _MOST_ROWS:
        rows = np.sort(random.permutation(len(rows))[:_MOST_ROWS])
        notes.append(f"Pairs are tested on {count_of(_MOST_ROWS, 'row')} drawn at random.")
    sides = [_side(table, column)[rows] for column in used]
    n_pairs = comb(len(used), 2)
    found = list(
        pairwise_independence(
            sides,
            n_permutations=max(_LEAST_PERMUTATIONS, _PERMUTATIONS_OF_PAIR * n_pairs),
            random_state=random,
        )
    )
    # Of few rows the same order is drawn more than once.
    n_pairings = min(1 + len(found[0][2].null_distribution), factorial(len(rows)))
    if n_pairs / n_pairings > _PAIRS_LEVEL:
        notes.append(
            f"{count_of(len(rows), 'row')} are too few for {n_pairs} pairs: with Holm's correction "
            f"none can have a p-value of {_PAIRS_LEVEL} or less; pass a table with fewer columns."
        )
    names = [str(column.name) for column in used]
    tested = [(names[i], names[j], one.dependence, one.pvalue) for i, j, one in found]
    corrected = holm_correction([one[3] for one in tested])
    pairs = [ColumnPair(*one, float(p)) for one, p in zip(tested, corrected, strict=True)]
    pairs.sort(key=lambda pair: -pair.dependence)
    return ColumnPairs(
        name=table.name,
        n_rows=len(table.frame),
        n_tested=len(rows),
        columns=tuple(names),
        pairs=tuple(pairs),
        level=_PAIRS_LEVEL,
        notes=tuple(dict.fromkeys([*table.notes, *notes])),
    )


def _side(table: Table, column: Column) -> FloatArray:
    """Return the coordinates of one column: (n, 1 or more)."""
    frame = match_columns(Table(table.frame[[column.name]], table.name), [column]).frame
    return np.asarray(make_preprocessor([column]).fit_transform(frame), dtype=np.float64)

"""``check_table``: what to ask about a table before anything is fitted."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mercer._system.words import count_of, listed, percent, quoted
from mercer.checks._answers import find_answers
from mercer.checks._copies import add_up, count_pairs, pairs_but_for_one, row_hashes, same_columns
from mercer.checks._drift import find_drift
from mercer.checks._few_rows import find_few_rows
from mercer.checks._finding import CODES, Finding
from mercer.checks._order import find_groups, find_row_order, find_times
from mercer.checks._sample import Rows, codes_of
from mercer.comparison import choose_metric
from mercer.tables import LabelledTable, Table, split_target

_FEWEST_COPIES, _LEAST_SHARE = 5, 0.005  # Fewer copies than either hardly change a score.


def check_table(
    table: Any,
    target: str,
    *,
    kinds: Mapping[str, str] | None = None,
    groups: str | None = None,
    time: str | None = None,
    random_state: int = 0,
) -> list[Finding]:
    """Look for what makes scores too good, or too few rows to tell, before anything is fitted.

    Parameters
    ----------
    table : Table or DataFrame
        Rows.
    target : str
        The column to predict.
    kinds : dict of name to kind, optional
        Columns whose kind you know better, as :func:`mercer.tables.split_target` takes them.
        Nothing is asked about these.
    groups, time : str, optional
        The column by which rows are split. Then groups, times and the order of rows are settled.
    random_state : int, default=0
        Seed of the rows that are drawn of a long table.

    Returns
    -------
    list of Finding
        By kind of check; empty where there is nothing to ask.

    Notes
    -----
    Cost: a few passes over all cells, and quadratic work on at most 2 500 rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.checks import check_table
    >>> income = np.arange(400) * 7.3
    >>> frame = pd.DataFrame({"income": income, "age": np.arange(400) % 37})
    >>> frame["taxed"] = np.where(income > 1100, "yes", "no")
    >>> print(*check_table(frame, "taxed"))
    leak: 'income' alone finds 100.0 % of each class: is it known beforehand? If not, --exclude \
income.
    """
    used = dict(kinds or {})
    for name in (groups, time):
        if name is not None:
            used.setdefault(name, "excluded")
    data = split_target(table, target, kinds=used)
    given = table if isinstance(table, Table) else Table(pd.DataFrame(table).reset_index(drop=True))
    return check_rows(
        data, given, groups=groups, time=time, settled=used, random_state=random_state
    )


def check_rows(
    data: LabelledTable,
    table: Table,
    *,
    groups: str | None = None,
    time: str | None = None,
    test: LabelledTable | None = None,
    test_name: str = "",
    settled: Collection[str] = (),
    random_state: int = 0,
) -> list[Finding]:
    """Run all checks on a labelled table that came from `table`; `settled` columns are known."""
    rng = np.random.default_rng(random_state)
    rows, known = Rows(data, table), frozenset(settled)
    found = find_answers(rows, known, rng)
    if groups is None and time is None and test is None:
        asked = find_times(rows, known)
        asked += find_groups(rows, known, rng)
        found += asked or find_row_order(rows, rng)
    found += _copied_rows(rows, test, test_name)
    found += [_copied_columns(names) for names in same_columns(data.X, rows.codes)]
    tested = data if test is None else test
    unit = "group" if groups else "time"
    column = groups or time
    units = (unit, table.frame.loc[data.X.index, column].astype(str)) if column else None
    classes = np.unique(tested.y, return_inverse=True)[1]
    found += find_few_rows(classes, choose_metric(data.y)[0], units)
    if test is not None:
        found += find_drift(data, test, test_name, rng)
    return sorted(found, key=lambda one: list(CODES).index(one.code))


def _copied_rows(rows: Rows, test: LabelledTable | None, test_name: str) -> list[Finding]:
    """Tell of rows that stand in the table again, or in the test file, if not by chance."""
    codes = {**rows.codes, "": rows.y}
    n = len(rows.y)
    if test is not None:
        codes = {
            name: codes_of(pd.concat([_plain(rows.data.X[name]), _plain(test.X[name])]))
            for name in rows.data.X
        }
        codes[""] = codes_of(pd.Series([*rows.data.y, *test.y]))
    hashes = row_hashes(codes)
    total = add_up(hashes)
    if test is None:
        n_copies = n - len(np.unique(total))
    else:
        n_copies, n = int(np.isin(total[n:], total[:n]).sum()), len(test.y)
    if n_copies < max(_FEWEST_COPIES, _LEAST_SHARE * n):
        return []
    alike = count_pairs(total)
    if pairs_but_for_one(hashes, total, alike) >= alike:  # Such rows coincide by chance.
        return []
    count = f"{count_of(n_copies, 'row')} ({percent(n_copies / n)})"
    if test is not None:
        text = f"{count} of {test_name} stand in the table too: they are known, not tested."
    else:
        text = (
            f"{count} stand in the table before, alike in every column, and folds put copies on "
            "both sides: leave them out if each should count once."
        )
    return [Finding("copied-rows", text)]


def _plain(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column without the categories of its table, so that two tables can be joined."""
    return values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values


def _copied_columns(names: tuple[str, ...]) -> Finding:
    first, *others = names
    text = (
        f"{listed([quoted(name) for name in others], most=5)} "
        f"{'says' if len(others) == 1 else 'say'} the same as {quoted(first)}: one of them is "
        "enough, and importances are shared out among them."
    )
    return Finding("copied-columns", text, names)

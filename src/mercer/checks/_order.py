"""Which columns look like times or groups, and whether neighbouring rows are alike."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer._system.words import grouped, percent, quoted
from mercer.checks._finding import Finding
from mercer.checks._nearest_rows import Help, measure_help
from mercer.checks._sample import Codes, Rows, as_floats
from mercer.tables import Column

_MOST_ROWS = 2500  # whose nearest rows are looked for
_STRETCH = 125  # rows of a long table that follow each other
_STRETCHES = 20
_LEVEL = 0.005  # of p, and so the share of false alarms
_LEAST_LOSS = 0.03  # A smaller loss of the nearest row's answers is not worth a word.
_FEWEST_TIMES = 5
_FEWEST_GROUPS = 3
_FEWEST_BEINGS = 5  # With fewer, such as two kinds of customers, a name alone says little.
_FEWEST_ROWS_PER_GROUP = 1.2
_FEW_VALUES = 20  # Where no column has more, rows may well be an enumeration of cases.
_SLIPS = 0.001  # of the steps in a sorted column that may go the other way

_WORD = r"(?:^|(?<=[^a-z]))(?:{})"
_TIME = re.compile(
    _WORD.format("date|datetime|timestamp|epoch|unixtime|year|yr") + "(?=$|[^a-z])", re.IGNORECASE
)
_NOT_TIME = re.compile("birth|born|dob|built|founded|expir", re.IGNORECASE)
_BEINGS = (
    "patient|subject|person|participant|respondent|customer|client|user|member|household|student|"
    "employee|driver|individual|animal|donor|speaker"
)
_THINGS = (
    "family|author|device|machine|sensor|station|site|hospital|clinic|centre|center|lab|school|"
    "farm|plot|plate|batch|lot|session|group|cluster|ticket|id|uuid|guid"
)
_LAST = r"(?:[^a-z]*(?:id|number|no|nr|code|name|key|index))?[^a-z]*$"
_BEING = re.compile(_WORD.format(_BEINGS) + _LAST, re.IGNORECASE)
_GROUP = re.compile(_WORD.format(f"{_BEINGS}|{_THINGS}") + _LAST, re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _words(name: str) -> str:
    """Return a name with its words apart: ``customerID`` is ``customer ID``."""
    return _CAMEL.sub(" ", name)


def find_times(rows: Rows, settled: frozenset[str]) -> list[Finding]:
    """Ask about columns that look like the time of a row."""
    found = []
    for column in rows.data.columns:
        if column.name not in settled and _is_time(column, rows):
            text = (
                f"{quoted(column.name)} looks like a time: random folds may flatter; "
                f"--time {as_argument(column.name)} tests on later rows."
            )
            found.append(Finding("time", text, (column.name,)))
    return found


def _is_time(column: Column, rows: Rows) -> bool:
    name = _words(column.name)
    if _NOT_TIME.search(name) or column.n_unique < _FEWEST_TIMES:
        return False
    if column.kind == "date":
        return True
    if column.kind != "number" or not column.used or not _TIME.search(name):
        return False
    numbers = as_floats(rows.data.X[column.name])
    known = numbers[np.isfinite(numbers)]
    is_year = (known >= 1900).all() and (known <= 2100).all()
    return bool(is_year or known.min() > 1e8 or _is_sorted(known, 0))


def _is_sorted(numbers: npt.NDArray[np.float64], parts: int) -> bool:
    """Tell whether numbers rise, or fall, but for some slips and the beginnings of parts."""
    steps = np.diff(numbers[np.isfinite(numbers)])
    most = max(parts, _SLIPS * len(steps))
    return bool(len(steps) and min((steps > 0).sum(), (steps < 0).sum()) <= most)


def find_groups(rows: Rows, settled: frozenset[str], rng: np.random.Generator) -> list[Finding]:
    """Ask about columns that name who a row is of, or whose rows tell each other's class."""
    found = []
    for column in rows.data.columns:
        if column.name in settled or not _may_be_group(column, len(rows.y)):
            continue
        codes = rows.values(column.name)
        ask = f"--groups {as_argument(column.name)} tests whole groups."
        if _BEING.search(_words(column.name)) and column.n_unique >= _FEWEST_BEINGS:
            text = (
                f"{quoted(column.name)} looks like groups, {grouped(column.n_unique)} of them: "
                f"random folds may flatter; {ask}"
            )
            found.append(Finding("groups", text, (column.name,)))
            continue
        some = _whole_groups(codes, rng)
        X = _measurements(rows.data.X).drop(columns=column.name, errors="ignore")
        helps = measure_help(X.iloc[some], rows.y[some], codes[some], rng)
        if helps is not None and _matters(helps):
            text = (
                f"{quoted(column.name)} looks like groups: the nearest row tells "
                f"{percent(helps.random)} of each class, and outside its own group "
                f"{percent(helps.outside)}; {ask}"
            )
            found.append(Finding("groups", text, (column.name,)))
    return found


def _may_be_group(column: Column, n: int) -> bool:
    if column.kind not in ("category", "identifier", "number") or not column.n_unique:
        return False
    is_repeated = (n - column.n_missing) >= _FEWEST_ROWS_PER_GROUP * column.n_unique
    is_named = bool(_GROUP.search(_words(column.name)))
    if column.n_unique < _FEWEST_GROUPS or not is_repeated:
        return False
    return is_named or column.kind == "identifier"


def _whole_groups(codes: Codes, rng: np.random.Generator) -> Codes:
    """Return the rows of some groups, whole but where one group is larger than the sample."""
    known = np.flatnonzero(codes >= 0)
    order = rng.permutation(codes.max() + 1)[codes[known]]
    chosen = known[np.argsort(order, kind="stable")]
    if len(chosen) > _MOST_ROWS and np.bincount(codes[known]).max() > _MOST_ROWS / _FEWEST_GROUPS:
        chosen = rng.permutation(known)
    return np.sort(chosen[:_MOST_ROWS])


def find_row_order(rows: Rows, rng: np.random.Generator) -> list[Finding]:
    """Ask about the order of rows where rows that follow each other tell each other's class.

    Rows that are sorted by what is in the table, or that enumerate cases, are alike because of
    that, which random folds do not mind.
    """
    if _is_sorted_table(rows):
        return []
    n = len(rows.y)
    if n <= _MOST_ROWS:
        some, blocks = np.arange(n), np.arange(n) * _STRETCHES // n
    else:
        starts = np.linspace(0, n - _STRETCH, _STRETCHES).astype(np.intp)
        some = (starts[:, None] + np.arange(_STRETCH)).ravel()
        blocks = np.repeat(np.arange(_STRETCHES), _STRETCH)
    X = _measurements(rows.data.X)
    helps = measure_help(X.iloc[some], rows.y[some], blocks, rng)
    if helps is None or not _matters(helps):
        return []
    text = (
        f"Rows that follow each other are alike: the nearest row tells {percent(helps.random)} of "
        f"each class, and outside its own stretch of the table {percent(helps.outside)}. Random "
        "folds flatter if rows are in order of time or source: say so by --time or --groups."
    )
    return [Finding("row-order", text)]


def _matters(helps: Help) -> bool:
    return helps.pvalue <= _LEVEL and helps.random - helps.outside >= _LEAST_LOSS


def _measurements(X: pd.DataFrame) -> pd.DataFrame:
    """Leave out dates."""
    return X[[name for name in X if X[name].dtype.kind != "M"]]


def _is_sorted_table(rows: Rows) -> bool:
    """Tell whether a table is sorted by a number, in each class perhaps, or has few values only."""
    n_classes, is_measured = int(rows.y.max()) + 1, False
    for name, codes in rows.codes.items():
        values: Any = rows.data.X[name]
        if values.dtype.kind == "f" and codes.max() >= _FEW_VALUES:
            is_measured = True
            if _is_sorted(values.to_numpy(), n_classes - 1):
                return True
    return not is_measured


def as_argument(name: str) -> str:
    """Write a name as a shell takes it."""
    return quoted(name) if re.search(r"[^\w.-]", name) else name

"""Columns that give the answer away: one that tells the class alone, and identifiers."""

import re

import numpy as np

from mercer._system.words import percent, quoted
from mercer.checks._finding import Finding
from mercer.checks._one_column import score_alone
from mercer.checks._order import as_argument
from mercer.checks._sample import Codes, Rows, some_rows

_MOST_CELLS = 250_000  # that are looked at
_FEWEST_ROWS = 50
_FEWEST_ROWS_OF_CLASS = 10  # Of classes with fewer, a share that is found means little.
_LEAK = 0.99  # of each class on average
_LEAK_BY_GAPS = 0.9  # the same, by whether there is a value at all
_SIGMAS = 5.0  # so far above chance an identifier tells the class
_IDENTIFIER = re.compile(r"(?:^|[^a-z])(?:id|uuid|guid|index|key|nr|no)(?:$|[^a-z])", re.IGNORECASE)
_IDENTIFIER_CAMEL = re.compile(r"[a-z](?:I[dD]|Key)$")


def find_answers(rows: Rows, settled: frozenset[str], rng: np.random.Generator) -> list[Finding]:
    """Ask about columns that tell the class alone, and about identifiers that do so at all."""
    X, n = rows.data.X, len(rows.y)
    some = some_rows(n, max(_MOST_CELLS // X.shape[1], 1000), rng)
    y = _frequent(rows.y[some])
    some, y = some[y >= 0], y[y >= 0]
    n_classes = len(np.unique(y))
    if len(y) < _FEWEST_ROWS or n_classes < 2:
        return []
    found = []
    error = np.sqrt(np.mean(0.25 / np.bincount(y)) / n_classes)
    for column in rows.data.columns:
        if not column.used or column.name in settled:
            continue
        values = X[column.name].iloc[some]
        score = score_alone(values, y, rng)
        gaps = values.isna()
        by_gaps = score_alone(gaps.astype("category"), y, rng) if gaps.any() else 0.0
        name, leave = quoted(column.name), f"--exclude {as_argument(column.name)}"
        known = "is it known beforehand?"
        if score >= _LEAK:
            said = f"{name} alone finds {percent(score)} of each class: {known} If not, {leave}."
            found.append(Finding("leak", said, (column.name,)))
        elif by_gaps >= _LEAK_BY_GAPS:
            said = (
                f"Whether {name} has a value finds {percent(by_gaps)} of each class: {known} If "
                f"not, {leave}."
            )
            found.append(Finding("leak", said, (column.name,)))
        elif is_identifier(column.name, column.n_unique, n) and (
            score > 1 / n_classes + _SIGMAS * error
        ):
            said = (
                f"{name} looks like an identifier, and alone it finds {percent(score)} of each "
                f"class, where chance finds {percent(1 / n_classes)}: {leave}."
            )
            found.append(Finding("id", said, (column.name,)))
    return found


def is_identifier(name: str, n_unique: int, n: int) -> bool:
    """Tell whether a column is named like an identifier and mostly different from row to row."""
    is_named = _IDENTIFIER.search(name) or _IDENTIFIER_CAMEL.search(name)
    return bool(is_named) and 2 * n_unique > n


def _frequent(y: Codes) -> Codes:
    """Return numbers of the classes that have rows enough; −1 stands for the others."""
    counts = np.bincount(y)
    number = np.where(counts >= _FEWEST_ROWS_OF_CLASS, 0, -1)
    number[number == 0] = np.arange((number == 0).sum())
    return np.asarray(number[y], dtype=np.intp)

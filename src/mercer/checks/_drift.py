"""Whether the rows of a test file differ from the table."""

from typing import Any

import numpy as np
import pandas as pd

from mercer._system.words import listed, percent, quoted
from mercer.checks._finding import Finding
from mercer.checks._one_column import score_alone
from mercer.checks._sample import some_rows
from mercer.tables import LabelledTable

_MOST_CELLS = 250_000  # of either table
_LARGE = 0.1  # Shares that are so far apart are worth a word,
_SIGMAS = 5.0  # if they are so many standard errors apart.


def find_drift(
    data: LabelledTable, test: LabelledTable, name: str, rng: np.random.Generator
) -> list[Finding]:
    """Say by which columns a test file can be told from the table, and how its classes differ."""
    return [*_told_apart(data, test, name, rng), *_other_classes(data, test, name)]


def _told_apart(
    data: LabelledTable, test: LabelledTable, name: str, rng: np.random.Generator
) -> list[Finding]:
    """Name the columns that alone tell which rows are of the file; later dates are no news."""
    most = max(_MOST_CELLS // data.X.shape[1], 1000)
    some = [one.X.iloc[some_rows(len(one.y), most, rng)] for one in (data, test)]
    is_test = np.repeat([0, 1], [len(one) for one in some])
    error = np.sqrt(np.mean(0.25 / np.bincount(is_test)) / 2)
    scores = {}
    for column in data.columns:
        if column.used and column.kind != "date":
            values = _joined([one[column.name] for one in some])
            score = score_alone(values, is_test, rng)
            if score >= 0.5 + max(_LARGE, _SIGMAS * error):
                scores[column.name] = score
    if not scores:
        return []
    names = sorted(scores, key=scores.__getitem__, reverse=True)
    text = (
        f"{name} is not such as the table: {quoted(names[0])} alone tells "
        f"{percent(scores[names[0]])} of their rows apart, where half would be chance"
        f"{_and_others(names[1:])}. Scores are those of its rows; mercer measure tells more."
    )
    return [Finding("drift", text, tuple(names))]


def _joined(parts: "list[pd.Series[Any]]") -> "pd.Series[Any]":
    """Put a column of both tables together."""
    if isinstance(parts[0].dtype, pd.CategoricalDtype):
        plain = pd.concat([one.astype(object) for one in parts], ignore_index=True)
        return plain.astype("category")
    return pd.concat(parts, ignore_index=True)


def _and_others(names: list[str]) -> str:
    return f" (so do {listed([quoted(one) for one in names], most=3)})" if names else ""


def _other_classes(data: LabelledTable, test: LabelledTable, name: str) -> list[Finding]:
    counts = [pd.Series(one.y).value_counts() for one in (data, test)]
    shares = pd.DataFrame({k: one / one.sum() for k, one in enumerate(counts)}).fillna(0.0)
    gaps = (shares[0] - shares[1]).abs()
    worst = gaps.idxmax()
    both = sum(one.get(worst, 0) for one in counts) / (len(data.y) + len(test.y))
    error = np.sqrt(both * (1 - both) * (1 / len(data.y) + 1 / len(test.y)))
    if gaps[worst] <= max(_LARGE, _SIGMAS * error):
        return []
    before, now = (percent(float(shares.loc[worst, k])) for k in (0, 1))
    text = f"{quoted(worst)} has {before} of the rows of the table and {now} of those of {name}."
    return [Finding("drift", text)]

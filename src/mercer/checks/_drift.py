"""Whether the rows of a test file differ from the table."""

import numpy as np
import pandas as pd

from mercer._system.words import listed, percent, quoted
from mercer.checks._finding import Finding
from mercer.checks._sample import some_rows
from mercer.tables import LabelledTable, Table
from mercer.views import measure_tables

_MOST_ROWS = 500  # of either table
_DEALS = 199
_LARGE = 0.1  # Shares of a class that are so far apart are worth a word.
_SIGMAS = 4.0  # and so far that chance does not explain it


def find_drift(
    data: LabelledTable, test: LabelledTable, name: str, rng: np.random.Generator
) -> list[Finding]:
    """Say by which columns a test file can be told from the table, and how its classes differ."""
    return [*_told_apart(data, test, name, rng), *_other_classes(data, test, name)]


def _told_apart(
    data: LabelledTable, test: LabelledTable, name: str, rng: np.random.Generator
) -> list[Finding]:
    # A later file has later dates, which is no news.
    kinds = {one.name: one.kind for one in data.columns if one.used and one.kind != "date"}
    if not kinds:
        return []
    parts = [
        one.X[list(kinds)].iloc[some_rows(len(one.y), _MOST_ROWS, rng)] for one in (data, test)
    ]
    difference = measure_tables(
        Table(parts[0], "the table"),
        Table(parts[1], name),
        kinds=kinds,
        n_permutations=_DEALS,
        random_state=int(rng.integers(2**31)),
    )
    if not difference.is_practical or difference.effect is None:
        return []
    columns = tuple(one.name for one in difference.by_share[:3])
    text = (
        f"{name} is not such as the table: their rows can be told apart (AUC "
        f"{difference.effect.auc:.2f}), most by {listed([quoted(one) for one in columns])}. Scores "
        "are those of its rows; cross-validation would promise others."
    )
    return [Finding("drift", text, columns)]


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

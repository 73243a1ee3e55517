"""Do the rows of a test file differ from the table?"""

import numpy as np
import pandas as pd

from mercer._system.words import listed, percent, quoted
from mercer.checks._finding import Finding
from mercer.tables import LabelledTable, Table
from mercer.views import measure_tables

_MOST_ROWS = 500  # of either table
_DEALS = 199
_LARGE = 0.1  # Shares of a class that are so far apart are worth a word.


def find_drift(
    data: LabelledTable, test: LabelledTable, name: str, rng: np.random.Generator
) -> list[Finding]:
    """Say by which columns a test file can be told from the table, and how classes differ."""
    parts = [_some(one.X, rng) for one in (data, test)]
    kinds = {column.name: column.kind for column in data.columns if column.used}
    difference = measure_tables(
        Table(parts[0], "the table"),
        Table(parts[1], name),
        kinds=kinds,
        n_permutations=_DEALS,
        random_state=int(rng.integers(2**31)),
    )
    found = []
    if difference.is_practical and difference.effect is not None:
        columns = [one.name for one in difference.by_share[:3]]
        text = (
            f"{name} is not such as the table: their rows can be told apart (AUC "
            f"{difference.effect.auc:.2f}), most by {listed([quoted(one) for one in columns])}; "
            "scores are those of its rows, and cross-validation would promise others."
        )
        found.append(Finding("drift", text, tuple(columns)))
    classes = np.unique(data.y)
    shares = [pd.Series(one.y).value_counts(normalize=True) for one in (data, test)]
    gaps = (shares[1].reindex(classes, fill_value=0.0) - shares[0].reindex(classes)).abs()
    worst = str(gaps.idxmax())
    n = min(len(data.y), len(test.y))
    if gaps[worst] > _LARGE and gaps[worst] > 4 * np.sqrt(0.5 / n):
        before, now = (percent(float(one.get(worst, 0.0))) for one in shares)
        text = f"{quoted(worst)} has {before} of the table's rows and {now} of those of {name}."
        found.append(Finding("drift", text))
    return found


def _some(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    if len(X) <= _MOST_ROWS:
        return X
    return X.iloc[np.sort(rng.choice(len(X), _MOST_ROWS, replace=False))]

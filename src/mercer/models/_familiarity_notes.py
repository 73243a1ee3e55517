"""What is said of rows that a model's training rows do not resemble."""

import numpy as np
import pandas as pd
from scipy.special import bdtrc

from mercer._arrays import FloatArray
from mercer._system.words import count_of, grouped, listed, percent, quoted
from mercer.models._familiarity import Familiarity

_NAMED = 5  # so many rows are named
_LOW = 0.05  # Of rows like the training rows, this share has a familiarity below this.
# More rows than usual have one where they are twice as many, and chance would make them so once in
# so many tables.
_TIMES, _LEVEL = 2.0, 1e-3


def familiarity_notes(known: Familiarity, X: pd.DataFrame, familiarity: FloatArray) -> list[str]:
    """Return sentences on rows far from all training rows, and on too many that are far out.

    Parameters
    ----------
    known : Familiarity
        Of the training rows.
    X : pandas.DataFrame
        Typed new rows.
    familiarity : ndarray of shape (n_rows,)
        Their ranks.

    Returns
    -------
    list of str
        None, one or two sentences.
    """
    notes = []
    farthest = np.flatnonzero(familiarity == 0)
    if len(farthest):
        columns = known.farthest_column(X.iloc[farthest[:_NAMED]])
        named = [
            f"{grouped(int(row) + 1)} (most of all {quoted(column)})"
            for row, column in zip(farthest, columns, strict=False)
        ]
        named += [grouped(int(row) + 1) for row in farthest[_NAMED:]]
        one = len(farthest) == 1
        notes.append(
            f"{grouped(len(farthest))} of {count_of(len(X), 'row')} "
            f"{'lies' if one else 'lie'} farther out than any training row: row{'s' * (not one)} "
            f"{listed(named, most=_NAMED)}. What the model says of {'it' if one else 'them'} is a "
            "guess."
        )
    low = int((familiarity < _LOW).sum())
    if low > _TIMES * _LOW * len(X) and bdtrc(low - 1, len(X), _LOW) < _LEVEL:
        notes.append(
            f"{percent(low / len(X))} of the rows have a familiarity below {_LOW:g}, where "
            f"{100 * _LOW:g} % is usual: these rows are unlike those that the model was trained on."
        )
    return notes

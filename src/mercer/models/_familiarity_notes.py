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


class FamiliarityNotes:
    """Counts rows far from all training rows, and rows that are far out, some at a time.

    Parameters
    ----------
    known : Familiarity
        Of the training rows.
    """

    def __init__(self, known: Familiarity) -> None:
        self._known = known
        self._named: list[str] = []
        self._n_farthest = self._n_low = self._n_rows = 0

    def add(self, X: pd.DataFrame, familiarity: FloatArray) -> None:
        """Count typed rows with their ranks; the index has the numbers of the rows, from 0."""
        farthest = np.flatnonzero(familiarity == 0)
        self._n_farthest += len(farthest)
        self._n_low += int((familiarity < _LOW).sum())
        self._n_rows += len(X)
        shown = X.iloc[farthest[: _NAMED - len(self._named)]]
        if len(shown):
            columns = self._known.farthest_column(shown)
            self._named += [
                f"{grouped(int(row) + 1)} (most of all {quoted(column)})"
                for row, column in zip(shown.index, columns, strict=True)
            ]

    def sentences(self) -> list[str]:
        """Return none, one or two sentences on all rows that were counted."""
        notes = []
        if self._n_farthest:
            one = self._n_farthest == 1
            more = self._n_farthest - len(self._named)
            named = [*self._named, f"{grouped(more)} more"] if more else self._named
            notes.append(
                f"{grouped(self._n_farthest)} of {count_of(self._n_rows, 'row')} "
                f"{'lies' if one else 'lie'} farther out than any training row: "
                f"row{'s' * (not one)} {listed(named)}. What the model says of "
                f"{'it' if one else 'them'} is a guess."
            )
        low, n_rows = self._n_low, self._n_rows
        if low > _TIMES * _LOW * n_rows and bdtrc(low - 1, n_rows, _LOW) < _LEVEL:
            notes.append(
                f"{percent(low / n_rows)} of the rows have a familiarity below {_LOW:g}, where "
                f"{100 * _LOW:g} % is usual: these rows are unlike those that the model was "
                "trained on."
            )
        return notes

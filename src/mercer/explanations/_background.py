"""The rows that a row is compared with: what the columns of a typical row would say."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer._arrays import FloatArray
from mercer.explanations._setting import Setting


@dataclass(frozen=True, eq=False)
class Background:
    """Rows in whose place a row is put, column by column.

    Attributes
    ----------
    rows : ndarray of shape (n_background, n_numbers)
        As numbers that the classifier sees.
    source : {"given", "training", "explained"}
        Whether they were given, are training rows that the classifier has kept, or are some of the
        rows that are explained.
    n_of : int
        Of how many rows they were drawn.
    """

    rows: FloatArray
    source: str
    n_of: int

    @classmethod
    def draw(
        cls, setting: Setting, Z: FloatArray, given: Any, size: int, rng: np.random.RandomState
    ) -> "Background":
        """Draw rows of those that are given, else of training rows, else of Z."""
        if given is not None:
            pool, source = setting.encode(given), "given"
        else:
            kept = setting.training_rows
            pool, source = (Z, "explained") if kept is None else (kept, "training")
        if not len(pool):
            raise ValueError("background must have at least one row.")
        rows = rng.choice(len(pool), size=min(size, len(pool)), replace=False)
        return cls(pool[np.sort(rows)], source, len(pool))

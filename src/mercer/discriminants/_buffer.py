"""Rows kept by ``partial_fit`` until there are enough to choose nodes from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowBuffer"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RowBuffer:
    """Rows, labels, sample weights and positions in the stream.

    Attributes
    ----------
    chosen_at : int
        How many rows were kept when the nodes were last chosen.
    """

    X: Array
    labels: NDArray[np.intp]
    counts: Array
    position: NDArray[np.intp]
    chosen_at: int = 0

    def extend(
        self, X: Array, labels: NDArray[np.intp], counts: Array, position: NDArray[np.intp]
    ) -> "RowBuffer":
        """Return a buffer with more rows."""
        return RowBuffer(
            np.concatenate([self.X, X]),
            np.concatenate([self.labels, labels]),
            np.concatenate([self.counts, counts]),
            np.concatenate([self.position, position]),
            self.chosen_at,
        )

    @classmethod
    def empty(cls, n_features: int) -> "RowBuffer":
        """Return a buffer without rows."""
        whole = np.empty(0, dtype=np.intp)
        return cls(np.empty((0, n_features)), whole, np.empty(0), whole)

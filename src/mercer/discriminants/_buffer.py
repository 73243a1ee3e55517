"""Rows kept by ``partial_fit`` until there are enough to choose nodes from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = Any  # A float64 array of NumPy, or of torch on any device.


@dataclass(frozen=True)
class RowBuffer:
    """Rows, labels, sample weights and positions in the stream.

    Attributes
    ----------
    chosen_at : int
        How many rows were kept when the nodes were last chosen.
    """

    X: Rows
    labels: NDArray[np.intp]
    counts: Array
    position: NDArray[np.intp]
    chosen_at: int = 0

    def extend(
        self, X: Rows, labels: NDArray[np.intp], counts: Array, position: NDArray[np.intp]
    ) -> "RowBuffer":
        """Return a buffer with more rows."""
        return RowBuffer(
            array_namespace(X).concat([self.X, X]),
            np.concatenate([self.labels, labels]),
            np.concatenate([self.counts, counts]),
            np.concatenate([self.position, position]),
            self.chosen_at,
        )

    @classmethod
    def empty(cls, like: Rows) -> "RowBuffer":
        """Return a buffer without rows, for rows like these."""
        whole = np.empty(0, dtype=np.intp)
        return cls(like[:0, :], whole, np.empty(0), whole)

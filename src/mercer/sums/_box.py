"""The box that holds all points: one pass over them, and one word with their device."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from numpy.typing import NDArray

from mercer._arrays import Array, detached, to_numpy

_BY_COLUMN = 8  # features: NumPy reduces few long columns some twenty times as fast one by one


@dataclass(frozen=True)
class Box:
    """The least and largest coordinates, (d,) each; NaN or infinite if some point is."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, *arrays: Array) -> "Box":
        """Return the box of all rows of these arrays, of which there is one at least."""
        arrays = tuple(detached(A) for A in arrays if A.shape[0])
        if is_torch_array(arrays[0]):
            import torch

            ends = torch.stack([end for A in arrays for end in torch.aminmax(A, dim=0)])
            numbers = to_numpy(ends)
        else:
            numbers = np.concatenate([_ends(A) for A in arrays])
        low, high = numbers[::2].min(axis=0), numbers[1::2].max(axis=0)
        return cls(low.astype(np.float64), high.astype(np.float64))

    @property
    def is_finite(self) -> bool:
        """Whether all coordinates are."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def extent(self) -> float:
        """The largest absolute coordinate."""
        return float(np.maximum(self.high.max(), -self.low.min()))


def _ends(A: NDArray[Any]) -> NDArray[Any]:
    """Return the least and largest of each column: (2, d)."""
    if A.shape[1] > _BY_COLUMN:
        return np.stack([A.min(axis=0), A.max(axis=0)])
    columns = [A[:, j] for j in range(A.shape[1])]
    return np.array([[c.min() for c in columns], [c.max() for c in columns]])

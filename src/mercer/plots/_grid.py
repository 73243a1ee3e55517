"""A grid at which an estimator is asked, passed to it as the rows that it was fitted to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_resolution(grid_resolution: Any) -> None:
    """Raise if a grid cannot have so many points along an axis."""
    if not (isinstance(grid_resolution, int | np.integer) and grid_resolution > 1):
        raise ValueError(f"grid_resolution must be an integer above 1, got {grid_resolution!r}.")


def like_rows(X: Any, grid: NDArray[np.float64]) -> Any:
    """Return the grid as X is: a DataFrame of the same library with its names, or an array."""
    if hasattr(X, "columns"):
        return type(X)({name: grid[:, j] for j, name in enumerate(X.columns)})
    if hasattr(X, "detach"):
        return X.new_tensor(grid)
    return grid

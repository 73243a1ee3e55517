"""A map of the classes in two dimensions, for the page of ``mercer compare``."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from mercer.tables import LabelledTable

__all__ = ["draw_map"]

_MOST_ROWS = 1500  # a page can show them all, and three quarters are fitted in seconds


def draw_map(data: "LabelledTable", seed: int) -> "tuple[pd.DataFrame, dict[str, Any]]":
    """Return row, x, y, class and held_out of at most 1 500 rows, and what the map is.

    By the kernel Fisher discriminant; linear discriminants where that fails.
    """
    from mercer.models import project_table
    from mercer.spectral import stratified_rows

    _, labels = np.unique(data.y, return_inverse=True)
    rows = stratified_rows(labels, _MOST_ROWS, 1.0, np.random.RandomState(seed))
    part = replace(data, X=data.X.iloc[rows], y=data.y[rows])
    method = "fisher"
    try:
        table = project_table(part, method, random_state=seed)
    except (ValueError, np.linalg.LinAlgError):
        method = "lda"
        table = project_table(part, method, random_state=seed)
    return table.frame, {"method": method, "notes": list(table.notes)}

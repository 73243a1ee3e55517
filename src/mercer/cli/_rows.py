"""Some of the rows of a large table: as many as are asked for, or as fit into the time."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
import typer

from mercer._system.words import grouped

if TYPE_CHECKING:
    import pandas as pd

    from mercer.comparison import RoundsComparison
    from mercer.tables import LabelledTable

Rows = Annotated[
    int | None,
    typer.Option(
        min=50,
        help="The most rows, a sample that keeps the shares of the classes; default: all, or as "
        "many as leave time for five rounds.",
    ),
]


def with_at_most(
    data: "LabelledTable", n_rows: int | None, *, least: int, seed: int
) -> "LabelledTable":
    """Return a sample where there are more rows, with a note that says so.

    Classes keep their shares, but each has `least` rows, if it has so many at all.
    """
    from mercer.comparison import draw_rows

    n_all = len(data.y)
    if n_rows is None or n_rows >= n_all:
        return data
    drawn = draw_rows(data.y, n_rows, least, seed)
    note = f"A sample of {grouped(len(drawn))} of {grouped(n_all)} rows is compared, as asked for."
    return replace(data, X=data.X.iloc[drawn], y=data.y[drawn], notes=(*data.notes, note))


def with_sample_note(data: "LabelledTable", n_rows: int) -> "LabelledTable":
    """Add a note where a comparison has drawn a sample by itself."""
    n_all = len(data.y)
    if n_rows >= n_all:
        return data
    note = (
        f"A sample of {grouped(n_rows)} of {grouped(n_all)} rows is compared, so that five rounds "
        f"fit into the time; --rows {n_all} compares all."
    )
    return replace(data, notes=(*data.notes, note))


def familiarity_of_tested(
    X: "pd.DataFrame", comparison: "RoundsComparison", seed: int
) -> npt.NDArray[np.float64]:
    """Return how familiar each row is that was tested among all of these; NaN for the others.

    Of a large table, of which a sample was compared, most rows are nobody's question.
    """
    from mercer.models import familiarity_of_rows

    tested = np.unique(comparison.predictions.index.get_level_values("sample"))
    ranks = np.full(len(X), np.nan)
    ranks[tested] = familiarity_of_rows(X.iloc[tested], seed)
    return ranks

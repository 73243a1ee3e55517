"""``write_pairs_page``: which columns of a table depend on each other → one HTML page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from mercer._system.words import fixed
from mercer.report._document import render_template, write_whole

if TYPE_CHECKING:
    from mercer.views import ColumnPairs


def write_pairs_page(found: "ColumnPairs", path: str | os.PathLike[str]) -> Path:
    """Write a page with what :func:`mercer.views.measure_pairs` found.

    A table of all pairs of columns, coloured by their dependence, and a list of them: one HTML file
    that needs nothing else.

    Parameters
    ----------
    found : ColumnPairs
        What `measure_pairs` returned.
    path : path-like
        Where the page goes.

    Returns
    -------
    Path
        The page.  It appears whole or not at all.

    Raises
    ------
    FileNotFoundError
        If the folder for the page is not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pandas as pd
    >>> from mercer.report import write_pairs_page
    >>> from mercer.tables import Table
    >>> from mercer.views import measure_pairs
    >>> frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = measure_pairs(Table(frame, "t.csv"))
    ...     write_pairs_page(found, pathlib.Path(folder, "pairs.html")).name
    'pairs.html'
    """
    grid = [
        (row, [None if row == column else found.pair(row, column) for column in found.columns])
        for row in found.columns
    ]
    page = render_template(
        "pairs.html",
        found=found,
        title=Path(found.name).name or found.name,
        grid=grid,
        depending=set(found.depending),
        fixed=fixed,
    )
    return write_whole(Path(path), page)

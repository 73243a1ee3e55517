"""``write_scatter_page``: an embedding → one interactive HTML page."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mercer.report._document import render_template, write_whole
from mercer.report.charts._scatter_figure import make_scatter

_COLUMNS = ("row", "x", "y", "class", "held_out")


def write_scatter_page(
    frame: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    title: str,
    text: str = "",
    notes: Sequence[str] = (),
) -> Path:
    """Write a page with the points of an embedding: one HTML file that needs nothing else.

    Pointing at a point tells its row and class; classes can be hidden, rows found, and the
    picture zoomed.  Without its script the page shows a still picture, of at most 3 000 points.

    Parameters
    ----------
    frame : DataFrame
        Columns ``row`` (whole numbers), ``x``, ``y``, ``class`` and ``held_out``.
    path : path-like
        Where the page goes.
    title : str
        Of the page.
    text : str, default=""
        What the points are, in a sentence or two.
    notes : sequence of str, default=()
        What else a reader should know.

    Returns
    -------
    Path
        The page.  It appears whole or not at all.

    Raises
    ------
    ValueError
        If a column is missing, or there are no points.
    FileNotFoundError
        If the folder for the page is not there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from mercer.report import write_scatter_page
    >>> points = pd.DataFrame({"row": [1, 2], "x": [0.0, 1.0], "y": [1.0, 0.0],
    ...                        "class": ["a", "b"], "held_out": [False, True]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_scatter_page(points, pathlib.Path(folder, "map.html"), title="Two points").name
    'map.html'
    """
    missing = [column for column in _COLUMNS if column not in frame.columns]
    if missing:
        raise ValueError(f"frame has no column {missing[0]!r}.")
    if frame.empty:
        raise ValueError("frame has no rows.")
    values = pd.unique(np.asarray(frame["class"], dtype=object))
    try:
        ordered = sorted(values)
    except TypeError:  # classes of several types have no order of their own
        ordered = sorted(values, key=str)
    names = list(dict.fromkeys(map(str, ordered)))
    frame = frame.assign(**{"class": [str(name) for name in frame["class"]]})
    scatter = make_scatter(frame, names, title=title)
    sizes = frame.groupby("class")["held_out"].agg(["size", "sum"])
    lines = [(name, int(sizes.loc[name, "size"]), int(sizes.loc[name, "sum"])) for name in names]
    page = render_template(
        "scatter.html",
        title=title,
        text=text,
        notes=list(notes),
        scatter=scatter,
        lines=lines,
        n_rows=len(frame),
    )
    return write_whole(Path(path), page)

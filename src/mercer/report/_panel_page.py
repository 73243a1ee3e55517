"""``write_panel_page``: one figure, and a table beside it → one HTML page."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mercer.report._document import render_template, write_whole
from mercer.report.charts._figures import draw_panel


def write_panel_page(
    panel: Mapping[str, Any],
    path: str | os.PathLike[str],
    *,
    title: str,
    text: Sequence[str] = (),
    table_title: str = "",
    head: Sequence[str] = (),
    lines: Sequence[Sequence[str]] = (),
    notes: Sequence[str] = (),
) -> Path:
    """Write a page with a figure and a table: one HTML file that needs nothing else.

    Parameters
    ----------
    panel : mapping
        Layers of points, lines, bars and maps, as ``Panel.as_json`` of :mod:`mercer.studies` has
        them.
    path : path-like
        Where the page goes.
    title : str
        Of the page.
    text : sequence of str
        Paragraphs above the figure.
    table_title : str, default=""
        Above the table.
    head : sequence of str
        Of the columns of the table, all of them numbers.
    lines : sequence of sequence of str
        The table; without lines there is none.
    notes : sequence of str
        What else a reader should know.

    Returns
    -------
    Path
        The page.  It appears whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer.report import write_panel_page
    >>> panel = {"layers": [{"kind": "line", "x": [0, 1, 2], "y": [0, 1, 0]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_panel_page(panel, pathlib.Path(folder, "peak.html"), title="A peak").name
    'peak.html'
    """
    page = render_template(
        "panel.html",
        title=title,
        text=list(text),
        figure=draw_panel(panel),
        table_title=table_title,
        head=list(head),
        lines=list(lines),
        notes=list(notes),
    )
    return write_whole(Path(path), page)

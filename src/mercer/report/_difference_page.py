"""``write_difference_page``: what was found between two tables → one HTML page."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from mercer._system.vocabulary import DIFFERENCES
from mercer._system.words import confidence, fixed, interval, score
from mercer.report._document import render_template, write_whole
from mercer.report.charts._glyphs import glyph
from mercer.report.charts._scales import Linear
from mercer.report.charts._svg import element

if TYPE_CHECKING:
    from mercer.views import TableDifference, TableEffect

_SHOWN = 1000
_WIDTH, _HEIGHT = 460.0, 74.0


def write_difference_page(found: "TableDifference", path: str | os.PathLike[str]) -> Path:
    """Write a page with what :func:`mercer.views.measure_tables` found.

    The verdict and its figures, the AUC with its interval beside the bound, the columns with their
    shares, and the rows that are most typical of either table: one HTML file that needs nothing
    else.

    Parameters
    ----------
    found : TableDifference
        What `measure_tables` returned.
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
    >>> import pandas as pd
    >>> from mercer.report import write_difference_page
    >>> from mercer.tables import Table
    >>> from mercer.views import measure_tables
    >>> old, new = (pd.DataFrame({"age": range(k, k + 30)}) for k in (20, 40))
    >>> found = measure_tables(Table(old, "old"), Table(new, "new"), n_permutations=99)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_difference_page(found, pathlib.Path(folder, "difference.html")).name
    'difference.html'
    """
    names = tuple(Path(name).name or name for name in found.names)
    page = render_template(
        "difference.html",
        found=found,
        names=names,
        mark=DIFFERENCES[found.verdict],
        marks=list(DIFFERENCES.values()),
        columns=found.by_share[:_SHOWN],
        largest_share=max((one.share or 0.0 for one in found.columns), default=0.0),
        typical=[
            (name, [one for one in found.typical if one.table == table])
            for table, name in zip(found.names, names, strict=True)
        ],
        scale=None if found.effect is None else draw_effect(found.effect, found.bound),
        level="" if found.effect is None else confidence(found.effect.confidence),
        fixed=fixed,
    )
    return write_whole(Path(path), page)


def draw_effect(effect: "TableEffect", bound: float) -> Markup:
    """Draw an AUC with its interval on a scale up to 1, and the bound."""
    lowest = min(0.5, int(10 * effect.low) / 10)
    x = Linear((lowest, 1.0), (24.0, _WIDTH - 24.0))
    middle, bottom = 36.0, 54.0
    parts = [element("path", class_="base", d=f"M{x(lowest):.1f} {bottom}H{x(1.0):.1f}")]
    for tenth in range(round(10 * lowest), 11):
        across = float(x(tenth / 10))
        parts.append(element("path", class_="base", d=f"M{across:.1f} {bottom}V{bottom + 4}"))
        text = fixed(tenth / 10, 1)
        options = {"x": across, "y": bottom + 16, "text_anchor": "middle", "class_": "tick"}
        parts.append(element("text", text, **options))
    at_bound, low, high, at = (float(x(v)) for v in (bound, effect.low, effect.high, effect.auc))
    parts += [
        element("path", class_="bound", d=f"M{at_bound:.1f} 18V{bottom}"),
        element("text", f"bound {fixed(bound, 2)}", x=at_bound, y=12, text_anchor="middle",
                class_="tick"),
        element("path", class_="interval", d=f"M{low:.1f} {middle}H{high:.1f}"),
        element("path", class_="points k0", d=glyph("circle", at, middle, 5.5)),
    ]  # fmt: skip
    said = (
        f"AUC {score(effect.auc, 2)}, {confidence(effect.confidence)} interval "
        f"{interval(effect.low, effect.high, 2)}, bound {fixed(bound, 2)}."
    )
    return element(
        "svg",
        element("desc", said),
        *parts,
        viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
        role="img",
        aria_label="How well the tables can be told apart",
        class_="chart effect",
    )

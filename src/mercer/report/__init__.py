"""A results folder becomes one HTML page that needs nothing else.

The page is a single file: styles, script and figures are inside it, nothing is fetched, and
everything can be read without the script, on a phone, in the dark and on paper. Figures are drawn
here as SVG, from panels of points, lines, bars and maps; no drawing library is needed::

    mercer reproduce ──► Results ──┬──► counts and reasons ───────────┐
      run.json, studies.json,      ├──► tables: published, measured ──┼──► page.html
      cells.csv, figures/ …        ├──► panels ──► SVG ───────────────┤
                                   └──► mercer.comparison ──► verdicts ┘

    mercer compare ────► Comparison ──┬──► the question in sentences ─┐
      comparison.json, curves.json,   ├──► ranking, tests, costs ─────┼──► comparison.html
      scores.csv, map.csv             ├──► confusions, curves ──► SVG ┤
                                      └──► scatter ───────────────────┘

    mercer project ────► an embedding ───► scatter ─────────────────────► scatter.html

    mercer measure ──┬─► TableDifference ───────────────────────────────► difference.html
                     └─► ColumnPairs (--pairs) ─────────────────────────► pairs.html
    mercer density ────► a panel and a table ───────────────────────────► panel.html
    mercer explain ────► TableReasons ──────────────────────────────────► reasons.html

All extend ``frame.html`` (colours, contents, theme, sorting, printing). A scatter is an SVG that
the script replaces with a canvas of all points, where rows can be pointed at.

Nothing is fitted here, and no other part of Mercer than :mod:`mercer.comparison` is imported (the
results of :mod:`mercer.views` and :mod:`mercer.explanations` are only written down).
"""

from mercer.report._difference_page import write_difference_page
from mercer.report._pairs_page import write_pairs_page
from mercer.report._panel_page import write_panel_page
from mercer.report._reasons_page import RowFacts, write_reasons_page
from mercer.report._scatter_page import write_scatter_page
from mercer.report.comparison._page import write_comparison_report
from mercer.report.study._markdown import write_markdown
from mercer.report.study._report import write_report

__all__ = [
    "RowFacts",
    "write_comparison_report",
    "write_difference_page",
    "write_markdown",
    "write_pairs_page",
    "write_panel_page",
    "write_reasons_page",
    "write_report",
    "write_scatter_page",
]

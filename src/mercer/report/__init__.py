"""A results folder becomes one HTML page that needs nothing else.

The page is a single file: styles, script and figures are inside it, nothing is fetched, and
everything can be read without the script, on a phone, in the dark and on paper. Figures are drawn
here as SVG, from panels of points, lines, bars and maps; no drawing library is needed::

    results folder ──► Results ──┬──► counts and reasons ───────────┐
      run.json, studies.json,    ├──► tables: published, measured ──┼──► page.html
      cells.csv, figures/ …      ├──► panels ──► SVG ───────────────┤
                                 └──► mercer.comparison ──► verdicts ┘

Nothing is fitted here, and no other part of Mercer than :mod:`mercer.comparison` is imported.
"""

from mercer.report._page import write_report

__all__ = ["write_report"]

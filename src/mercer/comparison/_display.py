"""A DataFrame as text for people: one formatting, shown by rich and as HTML."""

import io
from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

# A heading and the table below it.
Section = tuple[str, pd.DataFrame]

# Columns of plain text.
_WIDTH = 80


def _cell(value: object, column: str) -> str:
    """Write one cell: p to three places, means to four digits, others to three; a gap is a dash."""
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA:
        return "–"
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return "–"
        if column == "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        if column.startswith("P("):
            return f"{value:.2f}"
        return f"{value:.4g}" if column.startswith("mean") else f"{value:.3g}"
    return str(value)


@dataclass(frozen=True)
class _Grid:
    """A table as text: headings, which of the columns hold numbers, and rows."""

    title: str
    columns: list[str]
    numeric: list[bool]
    rows: list[list[str]]


def _grid(title: str, table: pd.DataFrame) -> _Grid:
    """Write every cell, the index first."""
    table = table.reset_index()
    columns = [str(column) for column in table.columns]
    rows = [
        [_cell(value, column) for value, column in zip(row, columns, strict=True)]
        for row in table.itertuples(index=False, name=None)
    ]
    return _Grid(title, columns, [is_numeric_dtype(dtype) for dtype in table.dtypes], rows)


class ShownAsTables(ABC):
    """Prints as tables, by itself, in rich and in notebooks; names are never read as markup."""

    @abstractmethod
    def _sections(self) -> list[Section]:
        """Headings and tables, in the order to show them."""

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = []
        for section in self._sections():
            grid = _grid(*section)
            shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for column, numeric in zip(grid.columns, grid.numeric, strict=True):
                side: JustifyMethod = "right" if numeric else "left"
                shown.add_column(Text(column), justify=side, no_wrap=numeric, overflow="fold")
            for row in grid.rows:
                shown.add_row(*(Text(cell) for cell in row))
            parts += [Text(grid.title, style="bold"), shown]
        return Group(*parts)

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, force_jupyter=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip()

    def _repr_html_(self) -> str:
        grids = [_grid(*section) for section in self._sections()]
        return "<div>" + "".join(_html(grid) for grid in grids) + "</div>"


def _html(grid: _Grid) -> str:
    """Write heading and table, every text escaped."""
    head, *body = (
        "<tr>"
        + "".join(
            f'<{tag} style="text-align: {"right" if numeric else "left"}; padding: 0.1em 0.6em">'
            f"{escape(cell)}</{tag}>"
            for cell, numeric in zip(row, grid.numeric, strict=True)
        )
        + "</tr>"
        for tag, row in [("th", grid.columns), *(("td", row) for row in grid.rows)]
    )
    return (
        f"<p><strong>{escape(grid.title)}</strong></p>"
        f'<table class="dataframe"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'
    )

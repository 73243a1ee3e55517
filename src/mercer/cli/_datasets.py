"""``mercer datasets``: what there is, and where it would come from now."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mercer.datasets import list_datasets


def datasets(
    folder: Annotated[
        Path | None, typer.Option(help="Folder of .npz files; default: $MERCER_DATA.")
    ] = None,
) -> None:
    """List the data sets that Mercer knows, and where each would be loaded from.

    Example: [bold]mercer datasets --folder ~/data[/bold]
    """
    listing = list_datasets(folder=folder)
    columns = ["name", "rows", "columns", "classes", "where", "licence"]
    table = Table(box=None, header_style="bold")
    for column in columns:
        is_count = column in ("rows", "columns", "classes")
        table.add_column(column, justify="right" if is_count else "left", no_wrap=column == "name")
    for row in listing.reset_index()[columns].itertuples(index=False):
        table.add_row(*(str(value) for value in row))
    Console().print(table)

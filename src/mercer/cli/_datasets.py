"""``mercer datasets``: what there is, and where it would come from now."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mercer.datasets import list_datasets


def datasets(
    folder: Annotated[
        Path | None, typer.Option(help="Folder of .npz files; default: $MERCER_DATA.")
    ] = None,
) -> None:
    """List data sets: where each would be loaded from, and what a study would skip without it.

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
    console = Console()
    console.print(table)
    console.print()
    _print_studies(console, folder)


def _print_studies(console: Console, folder: Path | None) -> None:
    """Say of each study what it would skip here, and what is not measured anywhere."""
    from mercer.studies import list_studies, plan_jobs

    for name in list_studies():
        plan = plan_jobs((name,), folder=None if folder is None else str(folder))
        parts = dict.fromkeys(part for _, part, _ in plan.skipped)
        missing = plan.studies[name].missing
        console.print(f"[bold]mercer reproduce {name}[/]", highlight=False)
        if not parts:
            console.print("  all data are here", highlight=False)
        for part in parts:
            rows = [row for _, key, row in plan.skipped if key == part]
            what = f"Table {part}: {', '.join(rows)}" if any(rows) else f"Figure {part}"
            console.print(f"  would skip {escape(what)}", highlight=False)
        for what, why in missing.items():
            console.print(f"  not available: {escape(what)} ({escape(why)})", highlight=False)

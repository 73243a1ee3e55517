"""``mercer reproduce``: the papers' tables, rerun; published beside measured."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from mercer._system.vocabulary import (
    JUDGED,
    MARKS,
    NOT_JUDGED,
    UNMEASURED,
    mark_named,
    said_of_one_reading,
)
from mercer._system.words import count_of, duration, is_known
from mercer.cli._output import console, log_lines, one_line

if TYPE_CHECKING:
    import pandas as pd

    from mercer.studies import Progress, Results

_COLOURS = {
    "reached": "green", "near": "yellow", "better": "green", "short": "red", "differs": "yellow",
}  # fmt: skip
_MOST_COLUMNS = 8  # a table with more is printed with rows and columns exchanged


def reproduce(
    studies: Annotated[
        list[str] | None,
        typer.Argument(help="laplacian, equivalences, fisher, lsva, roweis-saul, or my_study.py."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few replications, short grids: minutes, not hours.")
    ] = False,
    protocol: Annotated[
        Literal["both", "paper", "honest"],
        typer.Option(help="As printed, with all choices on training rows alone, or both."),
    ] = "both",
    data: Annotated[
        Path | None, typer.Option(help="Folder of .npz files; default: $MERCER_DATA.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one for every core.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, whose workers do the work.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path(
        "mercer-results"
    ),
    markdown: Annotated[
        Path | None, typer.Option(help="Write the summary as Markdown too, figures beside it.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not use what earlier runs have found.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the cells as JSON.")] = False,
) -> None:
    """Rerun the tables and figures of the papers, and set published beside measured.

    Stopped runs go on where they were: give the same command again.

    Example: [bold]mercer reproduce laplacian --quick[/bold]
    """
    from mercer._system.files import one_at_a_time
    from mercer.report import write_markdown, write_report
    from mercer.studies import run_studies

    if jobs is not None and scheduler is not None:
        raise ValueError("Give --jobs or --scheduler, not both.")
    try:
        with _progress() as show:
            results = run_studies(
                studies or (),
                output,
                quick=quick,
                protocol=protocol,
                data=data,
                n_jobs=jobs,
                scheduler=scheduler,
                fresh=fresh,
                on_progress=show,
            )
    except KeyboardInterrupt:
        print("mercer: stopped; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(130) from None
    with one_at_a_time(results.folder):  # no other run may change its files meanwhile
        page = write_report(results.folder)
        if markdown is not None:
            write_markdown(results.folder, markdown)
    if as_json:
        cells = json.loads(results.cells.to_json(orient="records"))
        print(json.dumps({"run": results.run, "report": str(page), "cells": cells}))
    else:
        _print(results, page)
    if len(results.failures):
        where = results.folder / "failures.csv"
        said = one_line(f"{count_of(len(results.failures), 'job')} failed; {where} says why")
        print(f"mercer: {said}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[["Progress"], None]]:
    """Show what is done and the time that is left, on standard error.

    In a terminal as a bar, elsewhere as lines; jobs that fail are named at once in both.
    """
    screen = console(stderr=True)
    if not screen.is_terminal:
        log = log_lines()

        def show_line(progress: "Progress") -> None:
            if progress.error:
                print(f"mercer: {_failed(progress)}", file=sys.stderr)
            rest = f", {left}" if (left := _time_left(progress)) else ""
            log(f"{progress.done} of {progress.total} jobs{rest}, {progress.label}")

        yield show_line
        return
    columns = (BarColumn(30), MofNCompleteColumn(), TextColumn("{task.fields[rest]}"),
               TextColumn("{task.description}"))  # fmt: skip
    with Bar(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("planning", total=None, rest="")

        def show(progress: "Progress") -> None:
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                description=escape(one_line(progress.label)),
                rest=_time_left(progress),
            )
            if progress.error:
                bar.console.print(f"[red]{escape(_failed(progress))}[/]")

        yield show


def _time_left(progress: "Progress") -> str:
    return "" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"


def _failed(progress: "Progress") -> str:
    return one_line(f"{progress.label}: {progress.error}")


def _print(results: "Results", page: Path) -> None:
    screen = console()
    cells = results.cells
    shown = cells[cells["counts"] & cells["measured"].notna()]
    if shown.empty:  # only the honest protocol was run, whose numbers never count
        shown = cells[cells["measured"].notna()]
    studies = json.loads((results.folder / "studies.json").read_text(encoding="utf-8"))
    titles = {(s["name"], t["key"]): t["title"] for s in studies for t in s["tables"]}
    for (study, key), part in shown.groupby(["study", "table"], sort=False):
        _print_table(screen, f"{study} {key}: {titles.get((study, key), '')}", part)
    _print_counts(screen, cells)
    if results.run["mode"] == "quick":
        screen.print("A quick run: few replications and short grids.")
    screen.print(f"\nThe page: {escape(one_line(str(page)))}", soft_wrap=True)


def _print_counts(screen: Console, cells: "pd.DataFrame") -> None:
    """Print how many published numbers have each mark, and how the misprinted ones are known."""
    published = cells[cells["counts"]]
    by_mark = published["mark"].value_counts()
    screen.print(f"{count_of(by_mark.sum(), 'published number')}:")
    for mark in (*JUDGED, *NOT_JUDGED, *UNMEASURED):
        if by_mark.get(mark, 0):
            screen.print(f"  {by_mark[mark]:4d} {MARKS[mark].in_counts}")
    for line in published[published["mark"] == "misprint"].to_dict("records"):
        where = f"{line['study']} {line['table']}, {line['row']}, {line['column']}"
        screen.print(f"       {MARKS['misprint'].sign} {escape(one_line(where))}: ", end="")
        screen.print(escape(one_line(line["reason"])))
    if cells["one_reading"].any():
        reached = cells["one_reading"] & (cells["mark"] == "reached")
        screen.print(said_of_one_reading(int(reached.sum())))


def _print_table(screen: Console, title: str, part: "pd.DataFrame") -> None:
    """Print published over measured numbers; a table of many columns is turned by 90 degrees."""
    across, down = "column", "row"
    if part["column"].nunique() > _MOST_COLUMNS:
        across, down = down, across
    heads, labels = (list(dict.fromkeys(part[name])) for name in (across, down))
    screen.print(f"[bold]{escape(one_line(title))}[/]")
    table = Table(box=None, header_style="bold")
    table.add_column("published\nmeasured", style="dim")
    for head in heads:
        table.add_column(escape(one_line(head)), justify="right", vertical="bottom")
    by_cell = {(line[across], line[down]): line for line in part.to_dict("records")}
    for label in labels:
        texts = [_cell(by_cell.get((head, label))) for head in heads]
        table.add_row(f"[not dim]{escape(one_line(label))}[/]", *texts)
    screen.print(table)
    screen.print()


def _cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    published = f"[dim]{line['published']:g}  [/]\n" if is_known(line["published"]) else ""
    sign = mark_named(line["mark"]).sign or " "
    style = _COLOURS.get(line["mark"], "none")
    return f"{published}{line['measured']:.1f} [{style}]{sign}[/]"

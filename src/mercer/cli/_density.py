"""``mercer density``: where the values of one or two columns lie, and which rows lie apart."""

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mercer._system.words import count_of, grouped, listed, percent, significant
from mercer.cli._output import check_output, one_line, print_json, print_notes, status
from mercer.cli._reading import Delimiter, Reading, Sheet

if TYPE_CHECKING:
    from mercer.views import TableDensity


def density(
    table: Annotated[str, typer.Argument(help="CSV, TSV, parquet, Excel or .npz; - is stdin.")],
    columns: Annotated[
        str,
        typer.Option("--columns", "-c", help="One column of numbers, or two with a comma between."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the page: .html.")
    ] = Path("density.html"),
    bandwidth: Annotated[
        str,
        typer.Option(
            help="The width of windows: likelihood-cv, least-squares-cv, normal-reference, or a "
            "number for each column, with a comma between."
        ),
    ] = "likelihood-cv",
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice of rows.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Estimate the density of one or two columns; say where its peaks and unlikely rows are.

    Writes a page with a curve, or with regions that hold 50, 90 and 99 % of the mass.

    Example: [bold]mercer density people.csv --columns age,hours[/bold]
    """
    from mercer.report import write_panel_page
    from mercer.views import table_density

    check_output(output, (".html",))
    names = [name.strip() for row in csv.reader([columns], skipinitialspace=True) for name in row]
    widths = _widths(bandwidth, len(names))
    with status(f"reading {table} …") as show:
        rows = Reading(sheet, delimiter).read(table)
        show("estimating …")
        found = table_density(rows, names, bandwidth=widths, random_state=seed)
    text = _text(found)
    head = ["row", *found.columns, "log density"]
    lines = [
        [grouped(number), *(significant(value, 6) for value in values), significant(log)]
        for number, values, log in zip(*found.unlikely, found.unlikely_logs, strict=True)
    ]
    page = write_panel_page(
        found.panel(),
        Path(os.path.expanduser(output)),
        title=f"{one_line(Path(table).name)}: {listed(found.columns)}",
        text=text,
        table_title="The least likely rows, each by the density of all others",
        head=head,
        lines=lines,
        notes=found.notes,
    )
    if as_json:
        print_json(_as_json(found, page))
        return
    print_notes(found.notes)
    for line in text:
        print(one_line(line))
    if lines:
        numbers = listed([line[0] for line in lines[:5]])
        print(f"The least likely rows: {numbers}.")
    print(one_line(f"The page: {page}"))


def _widths(bandwidth: str, n_columns: int) -> str | list[float]:
    """Return the name, or a width for each column; words that are neither are refused."""
    names = ("likelihood-cv", "least-squares-cv", "normal-reference")
    if bandwidth in names:
        return bandwidth
    try:
        widths = [float(part) for part in bandwidth.split(",")]
    except ValueError:
        widths = []
    if len(widths) != n_columns or not all(0 < width < float("inf") for width in widths):
        raise ValueError(
            f"--bandwidth takes {', '.join(names)}, or a positive number for each column; got "
            f"{bandwidth!r}."
        )
    return widths


def _text(found: "TableDensity") -> list[str]:
    """Return what was found, in sentences."""
    from mercer.views import SHARES

    widths = listed([f"{width:.3g}" for width in found.widths])
    sentences = [
        str(found),
        f"{count_of(found.n_rows, 'row')}; windows have a standard deviation of {widths}.",
    ]
    if len(found.columns) == 1:
        regions = [
            f"{percent(share).replace('.0', '')} of the mass in "
            + listed(
                [
                    f"{significant(low)} to {significant(high)}"
                    for low, high in found.regions(share)
                ],
                most=4,
            )
            for share in SHARES[:2]
        ]
        sentences.append(f"The smallest regions hold {'; '.join(regions)}.")
    return sentences


def _as_json(found: "TableDensity", page: Path) -> dict[str, object]:
    unlikely = zip(*found.unlikely, found.unlikely_logs, strict=True)
    return {
        "page": str(page),
        "columns": found.columns,
        "n_rows": found.n_rows,
        "widths": found.widths,
        "peaks": found.peaks,
        "regions": {str(share): found.regions(share) for share in (0.5, 0.9)},
        "unlikely": [
            {"row": int(number), "values": values.tolist(), "log_density": float(log)}
            for number, values, log in unlikely
        ],
        "notes": found.notes,
        "answer": str(found),
    }

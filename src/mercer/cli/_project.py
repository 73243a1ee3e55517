"""``mercer project``: a table → two coordinates for each row."""

import os
from pathlib import Path
from typing import Annotated

import typer

from mercer._system.words import count_of
from mercer.cli._output import check_output, one_line, print_json, print_notes, status
from mercer.cli._reading import Delimiter, Exclude, Kinds, Reading, Sheet, column_kinds


def project(
    table: Annotated[str, typer.Argument(help="CSV, TSV, parquet, Excel or .npz; - is stdin.")],
    target: Annotated[str, typer.Option("--target", "-t", help="The column with the classes.")],
    method: Annotated[
        str,
        typer.Option(help="fisher, lsva, roweis-saul, lpp, lda, pca or eigenmaps."),
    ] = "fisher",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the coordinates: .csv, .tsv, .parquet.")
    ] = Path("embedding.csv"),
    exclude: Exclude = None,
    kind: Kinds = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the choice of rows.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Map the rows of a table to two coordinates.

    Writes row, x, y, class and held_out, and beside them a page to look at (.html).
    Methods that see classes are fitted on three quarters of the rows:
    the others (held_out) show whether the classes are really apart.

    Example: [bold]mercer project people.csv --target income --method fisher -o map.csv[/bold]
    """
    from mercer.report import write_scatter_page
    from mercer.tables import split_target, write_table
    from mercer.views import PROJECTIONS, project_table

    check_output(output, (".csv", ".tsv", ".parquet"))
    if method not in PROJECTIONS:  # It is refused before a long table is read.
        raise ValueError(f"There is no method {method!r}: choose {', '.join(PROJECTIONS)}.")
    reading = Reading(sheet, delimiter, column_kinds(exclude, kind, target))
    with status(f"reading {table} …") as show:
        data = split_target(reading.read(table), target, kinds=reading.kinds)
        show(f"mapping {count_of(len(data.y), 'row')} …")
        found = project_table(data, method, random_state=seed)
    notes = [*data.notes, *found.notes]
    write_table(found, output)
    page = write_scatter_page(
        found.frame,
        Path(os.path.expanduser(output)).with_suffix(".html"),
        title=f"{one_line(Path(table).name)}: {target} by {method}",
        text=f"Each point is a row; its colour and shape are its {target}.",
        notes=notes,
    )
    n_rows = len(found.frame)
    if as_json:
        print_json(
            {
                "output": str(output),
                "page": str(page),
                "method": method,
                "n_rows": n_rows,
                "n_held_out": int(found.frame["held_out"].sum()),
                "notes": notes,
            }
        )
        return
    print_notes(notes)
    print(one_line(f"{count_of(n_rows, 'row')} written to {output} (row, x, y, class, held_out)"))
    print(one_line(f"The page: {page}"))

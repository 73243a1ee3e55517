"""``mercer measure``: whether two tables differ, and how far; which columns of one depend."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from mercer._system.vocabulary import USUAL_BOUND
from mercer._system.words import count_of, grouped, p_number, percent, score
from mercer.cli._output import check_output, console, one_line, print_json, print_notes, status
from mercer.cli._reading import Delimiter, Exclude, Kinds, Reading, Sheet, column_kinds

if TYPE_CHECKING:
    from mercer.views import ColumnPairs, TableDifference

_SHOWN = 20
DIFFERENT = 3  # the exit code of --fail-on-difference, which no fault has


def measure(
    first: Annotated[str, typer.Argument(metavar="A", help="A table.")],
    second: Annotated[
        str | None, typer.Argument(metavar="B", help="Another, with the same columns.")
    ] = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="Of one table: which columns depend on each other."),
    ] = False,
    bound: Annotated[
        float | None,
        typer.Option(
            help="An AUC up to this one does not matter in practice: 0.5 to 1; default: 0.6."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File for a page to look at: .html.")
    ] = None,
    fail: Annotated[
        bool,
        typer.Option(
            "--fail-on-difference", help="End with exit code 3 if the tables practically differ."
        ),
    ] = False,
    exclude: Exclude = None,
    kind: Kinds = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the permutations.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Test whether two tables come from one distribution; say how far apart they are, and where.

    All columns together are tested by permutations, each also by itself (Holm).
    Equal tables are said to differ in at most 5 % of cases.
    How well rows can be told to be of A or B is an AUC, 0.5 to 1, of rows that were held out.
    The tables practically differ if its interval lies above --bound.

    With --pairs and one table, each two of its columns are tested for independence (Holm).

    Example: [bold]mercer measure last-year.csv this-year.csv -o difference.html[/bold]
    """
    if (second is None) != pairs:
        raise ValueError(
            "Pass two tables, or one with --pairs to see which of its columns depend on each other."
        )
    for option, is_given in (("--fail-on-difference", fail), ("--bound", bound is not None)):
        if pairs and is_given:
            raise ValueError(f"{option} goes with two tables, not with --pairs.")
    from mercer.views import check_bound, measure_tables

    bound = USUAL_BOUND if bound is None else bound
    check_bound(bound)
    if output is not None:
        check_output(output, (".html",))
    reading = Reading(sheet, delimiter, column_kinds(exclude, kind, None))
    if second is None:
        _measure_pairs(first, reading, output, seed, as_json)
        return
    with status(f"reading {first} and {second} …") as show:
        tables = reading.read(first), reading.read(second)
        show("testing …")
        found = measure_tables(*tables, bound=bound, kinds=reading.kinds, random_state=seed)
    page = None if output is None else _write_page(found, output)
    if as_json:
        figures = {**asdict(found), "verdict": found.verdict, "differs": found.differs}
        print_json({**figures, "answer": str(found), "page": page})
    else:
        print_notes(found.notes)
        _print(found)
        if page:
            print(one_line(f"The page: {page}"))
    if fail and found.is_practical:
        raise typer.Exit(DIFFERENT)


def _measure_pairs(
    table: str, reading: Reading, output: Path | None, seed: int, as_json: bool
) -> None:
    """Print, or write, which columns of one table depend on each other."""
    from mercer.report import write_pairs_page
    from mercer.views import measure_pairs

    with status(f"reading {table} …") as show:
        data = reading.read(table)
        show("testing pairs of columns …")
        found = measure_pairs(data, kinds=reading.kinds, random_state=seed)
    page = None
    if output is not None:
        page = str(write_pairs_page(found, Path(os.path.expanduser(output))))
    if as_json:
        print_json({**asdict(found), "answer": str(found), "page": page})
        return
    print_notes(found.notes)
    _print_pairs(found)
    if page:
        print(one_line(f"The page: {page}"))


def _print_pairs(found: "ColumnPairs") -> None:
    screen = console()
    screen.print(f"[bold]{escape(one_line(str(found)))}[/]", soft_wrap=True)
    screen.print()
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name in ("column", "and", "dependence", "p (Holm)"):
        is_number = name in ("dependence", "p (Holm)")
        grid.add_column(name, justify="right" if is_number else "left", overflow="fold")
    depending = found.depending
    for one in found.pairs[:_SHOWN]:
        texts = (one.first, one.second, score(one.dependence, 2), p_number(one.corrected))
        style = "bold" if one in depending else ""
        grid.add_row(*(escape(one_line(text)) for text in texts), style=style)
    screen.print(grid)
    if len(found.pairs) > _SHOWN:
        screen.print(f"and {len(found.pairs) - _SHOWN} more pairs, which depend less")


def _write_page(found: "TableDifference", output: Path) -> str:
    from mercer.report import write_difference_page

    return str(write_difference_page(found, Path(os.path.expanduser(output))))


def _print(found: "TableDifference") -> None:
    screen = console()
    screen.print(f"[bold]{escape(one_line(found.test_sentence))}[/]", soft_wrap=True)
    if found.effect is not None:
        screen.print(f"[bold]{escape(one_line(found.effect_sentence))}[/]", soft_wrap=True)
    rows = f"{grouped(found.n_rows[0])} and {count_of(found.n_rows[1], 'row')}"
    screen.print(
        f"{rows}; integrated squared error "
        f"{found.squared_error:.3g} (by chance {found.expected_squared_error:.3g}), "
        f"Cauchy–Schwarz divergence {found.divergence:.3g}",
        soft_wrap=True,
    )
    screen.print()
    _print_columns(screen, found)
    for table in dict.fromkeys(one.table for one in found.typical):
        screen.print()
        _print_rows(screen, found, table)


def _print_columns(screen: Console, found: "TableDifference") -> None:
    has_shares = any(one.share is not None for one in found.columns)
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    shares = ["share"] * has_shares
    for name in ("column", "kind", "difference", "p (Holm)", *shares, "in A", "in B"):
        is_number = name in ("difference", "p (Holm)", "share")
        grid.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for one in found.by_share[:_SHOWN]:
        style = "bold" if one in found.differing else ""
        share = [percent(one.share)] * has_shares
        texts = (one.name, one.kind, f"{one.difference:.3f}", p_number(one.corrected), *share,
                 one.first, one.second)  # fmt: skip
        grid.add_row(*(escape(one_line(text)) for text in texts), style=style)
    screen.print(grid)
    if len(found.columns) > _SHOWN:
        screen.print(f"and {len(found.columns) - _SHOWN} more columns, which differ less")


def _print_rows(screen: Console, found: "TableDifference", table: str) -> None:
    typical = [one for one in found.typical if one.table == table]
    screen.print(f"Most typical of {escape(one_line(table))}:", soft_wrap=True)
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name in ("row", "chance"):
        grid.add_column(name, justify="right")
    for name in typical[0].cells:
        grid.add_column(escape(one_line(name)), overflow="fold")
    for one in typical:
        cells = (escape(one_line(text)) for text in one.cells.values())
        grid.add_row(grouped(one.row), percent(one.chance), *cells)
    screen.print(grid)

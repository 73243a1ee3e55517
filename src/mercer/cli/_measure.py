"""``mercer measure``: whether two tables are from the same distribution."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table as Grid

from mercer._system.words import count_of, grouped, p_number
from mercer.cli._output import console, one_line, print_json, print_notes, status

if TYPE_CHECKING:
    from mercer.views import TableDifference

_SHOWN = 20


def measure(
    first: Annotated[str, typer.Argument(metavar="A", help="A table.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another, with the same columns.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the permutations.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Test whether two tables come from one distribution; say which columns differ.

    All columns together are tested by permutations, each also by itself (Holm).
    Equal tables are said to differ in at most 5 % of cases.

    Example: [bold]mercer measure last-year.csv this-year.csv[/bold]
    """
    from mercer.tables import read_table
    from mercer.views import measure_tables

    with status(f"reading {first} and {second} …") as show:
        tables = read_table(first), read_table(second)
        show("testing …")
        found = measure_tables(*tables, random_state=seed)
    if as_json:
        print_json({**asdict(found), "differs": found.differs, "answer": str(found)})
        return
    print_notes(found.notes)
    _print(found)


def _print(found: "TableDifference") -> None:
    screen = console()
    screen.print(f"[bold]{escape(one_line(str(found)))}[/]", soft_wrap=True)
    rows = f"{grouped(found.n_rows[0])} and {count_of(found.n_rows[1], 'row')}"
    screen.print(
        f"{rows}; integrated squared error "
        f"{found.squared_error:.3g} (by chance {found.expected_squared_error:.3g}), "
        f"Cauchy–Schwarz divergence {found.divergence:.3g}",
        soft_wrap=True,
    )
    screen.print()
    grid = Grid(box=None, header_style="bold", pad_edge=False)
    for name in ("column", "kind", "difference", "p (Holm)", "in A", "in B"):
        is_number = name in ("difference", "p (Holm)")
        grid.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for one in found.columns[:_SHOWN]:
        style = "bold" if one in found.differing else ""
        texts = (one.name, one.kind, f"{one.difference:.3f}", p_number(one.corrected), one.first,
                 one.second)  # fmt: skip
        grid.add_row(*(escape(one_line(text)) for text in texts), style=style)
    screen.print(grid)
    if len(found.columns) > _SHOWN:
        screen.print(f"and {len(found.columns) - _SHOWN} more columns, which differ less")

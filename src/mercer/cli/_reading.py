"""What commands are told of a table: how its file is read, which columns to use, and as what."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mercer.tables import Table

Exclude = Annotated[
    str | None,
    typer.Option(help="Columns to leave out, with commas between; one with a comma in quotes."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="What a column holds: number, category, date, text or identifier. May be repeated.",
    ),
]
Sheet = Annotated[str | None, typer.Option(help="The sheet of an Excel file; default: the first.")]
Delimiter = Annotated[
    str | None, typer.Option(help="What divides the cells of a text file; default: it is found.")
]


@dataclass(frozen=True)
class Reading:
    """How a table is read, as the options of a command say.

    Parameters
    ----------
    sheet, delimiter : str or None
        As `read_table` takes them.
    kinds : dict of str to str
        As `split_target` takes them.
    """

    sheet: str | None = None
    delimiter: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> "Table":
        """Return the table in a file."""
        from mercer.tables import read_table

        return read_table(path, sheet=self.sheet, delimiter=self.delimiter)

    def words(self) -> list[str]:
        """Return the options that say the same on a command line."""
        words = ["--sheet", self.sheet] if self.sheet is not None else []
        words += ["--delimiter", self.delimiter] if self.delimiter is not None else []
        for name, kind in self.kinds.items():
            words += ["--kind", f"{name}={kind}"] if kind != "excluded" else []
        excluded = [name for name, kind in self.kinds.items() if kind == "excluded"]
        quoted = [f'"{name}"' if "," in name else name for name in excluded]
        return [*words, *(["--exclude", ",".join(quoted)] if excluded else [])]

    def line(self, path: str, target: str) -> str:
        """Return the line of Python that reads the table, and divides it into X and y."""
        given = {"sheet": self.sheet, "delimiter": self.delimiter}
        options = "".join(f", {name}={value!r}" for name, value in given.items() if value)
        known = f", kinds={dict(self.kinds)!r}" if self.kinds else ""
        return f"data = split_target(read_table({path!r}{options}), {target!r}{known})"


def column_kinds(
    exclude: str | None, kinds: list[str] | None, target: str | None
) -> dict[str, str]:
    """Return the kind of each column that was named, as `split_target` takes it."""
    found: dict[str, str] = {}
    for given in kinds or []:
        name, sign, kind = given.rpartition("=")
        if not (sign and name.strip()):
            raise ValueError(f"--kind takes COLUMN=KIND, such as zip=category; got {given!r}.")
        found[name.strip()] = kind.strip()
    for row in csv.reader([exclude or ""], skipinitialspace=True):
        found |= {name.strip(): "excluded" for name in row if name.strip()}
    if target in found:
        raise ValueError(f"{target!r} is the target: --exclude and --kind are for other columns.")
    return found

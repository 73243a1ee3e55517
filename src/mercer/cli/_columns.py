"""``--exclude`` and ``--kind``: what the user knows of columns better than their values tell."""

import csv
from collections.abc import Mapping
from typing import Annotated

import typer

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


def column_options(kinds: Mapping[str, str]) -> list[str]:
    """Return the options that say the same on a command line."""
    excluded = [name for name, kind in kinds.items() if kind == "excluded"]
    words = [
        word
        for name, kind in kinds.items()
        if kind != "excluded"
        for word in ("--kind", f"{name}={kind}")
    ]
    quoted = [f'"{name}"' if "," in name else name for name in excluded]
    return [*words, *(["--exclude", ",".join(quoted)] if excluded else [])]

"""What all commands on a table do in the same way: notes, progress, JSON, the place of files."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from mercer._system.words import listed

__all__ = [
    "Device",
    "check_output",
    "console",
    "on_the_cpu",
    "one_line",
    "print_json",
    "print_notes",
    "resolve_device",
    "status",
    "visible",
]

Device = Annotated[
    str,
    typer.Option(help="Where Mercer's own models compute: cpu, cuda or cuda:1; needs torch."),
]


def resolve_device(device: str) -> str | None:
    """Return the device of torch, if it is there; None for cpu, where NumPy is quicker."""
    if device == "cpu":
        return None
    from mercer.models import check_device

    check_device(device)
    return device


def on_the_cpu(models: Iterable[str], device: str | None) -> list[str]:
    """Return a note on models that do not run on the device, if there are any."""
    from mercer.models import describe_model

    others = [name for name in models if describe_model(name).kind != "mercer"]
    if device is None or not others:
        return []
    runs = "runs" if len(others) == 1 else "run"
    return [f"{listed(others)} {runs} on the CPU: only Mercer's own models use {device}."]


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a way to print that takes a name such as :skull: for what it says."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, emoji=False)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error, one line each."""
    for note in notes:
        print(f"note: {one_line(note)}", file=sys.stderr)


@contextmanager
def status(text: str) -> Iterator[Any]:
    """Show what is going on, on standard error and to people only; yields a way to change it."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield lambda text: None
        return
    with screen.status(escape(one_line(text))) as shown:
        yield lambda text: shown.update(escape(one_line(text)))


def print_json(found: Any) -> None:
    """Print JSON on standard output; what is not a number is null."""
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    print(_CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text))


# What terminals obey, beyond line breaks and tabs; some change the order in which text is shown.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return a text of many lines with characters that a terminal would obey spelled out."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Return text without line breaks and other characters that a terminal would obey."""
    kept = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(kept.split())


def check_output(output: Path, endings: tuple[str, ...]) -> None:
    """Refuse a place where nothing can be written, before the work is done."""
    if output.suffix.lower() not in endings:
        *first, last = endings
        either = f"{', '.join(first)} or {last}" if first else last
        raise ValueError(f"File {output} must end with {either}: rename it.")
    place = Path(os.path.expanduser(output)).absolute()
    if not place.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {output.parent}: make it first.")
    if place.exists() and not place.is_file():
        raise IsADirectoryError(f"{output} is not a plain file: choose another name.")
    if not os.access(place.parent, os.W_OK):
        raise PermissionError(
            f"Nothing can be written to folder {output.parent}: choose another with -o."
        )

"""What commands share: notes, progress, JSON, and checks of the place for a file."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from mercer._system.words import listed, percent

_SECONDS_BETWEEN_LINES = 10.0  # of progress where there is no terminal

Device = Annotated[
    str,
    typer.Option(
        help="Where fisher, laplacian, parzen and ise compute: cpu, cuda or cuda:1; needs torch."
    ),
]


def resolve_device(device: str) -> str | None:
    """Return the device for torch after checking it; None for the CPU, where NumPy is quicker."""
    if device == "cpu":
        return None
    from mercer.models import check_device

    check_device(device)
    return device


def on_the_cpu(models: Iterable[str], device: str | None) -> list[str]:
    """Return a note on the models that run on the CPU all the same, or nothing."""
    from mercer.models import describe_model, list_models

    others = [name for name in models if not describe_model(name).uses_device]
    if device is None or not others:
        return []
    runs = "runs" if len(others) == 1 else "run"
    able = listed([name for name in list_models() if describe_model(name).uses_device])
    return [f"{listed(others)} {runs} on the CPU: only {able} use {device}."]


def console(*, stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a console that prints text such as ``:skull:`` as it is, not as an emoji."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, emoji=False)


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on standard error, one line each."""
    for note in notes:
        print(f"note: {one_line(note)}", file=sys.stderr)


def class_shares_text(counts: Mapping[str, int]) -> str:
    """Write the five largest classes with their shares of the rows, and how many more there are."""
    total = sum(counts.values())
    largest = sorted(counts, key=counts.__getitem__, reverse=True)[:5]
    shown = ", ".join(f"{name} ({percent(counts[name] / total)})" for name in largest)
    return f"{shown} and {len(counts) - 5} more" if len(counts) > 5 else shown


@contextmanager
def status(text: str) -> Iterator[Any]:
    """Show what is going on; yields a function that changes the text."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        yield log_lines()
        return
    with screen.status(escape(one_line(text))) as shown:
        yield lambda text: shown.update(escape(one_line(text)))


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float | None], None]]:
    """Give a function that shows what is done, and which share of it: as a bar, or as lines."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        log = log_lines()
        yield lambda what, share: log(what if share is None else f"{what}, {percent(share)}")
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(30), TextColumn("{task.description}"))
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, share: float | None) -> None:
            total = None if share is None else 1.0
            bar.update(task, description=escape(one_line(what)), total=total, completed=share)

        yield show


def log_lines() -> Callable[[str], None]:
    """Return a function that prints progress where there is no terminal: lines with the time.

    A line comes after ten seconds at the earliest, and ten seconds after the last one, so that
    quick commands print none and long ones do not fill a log.
    """
    last = time.monotonic()

    def show(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"{time.strftime('%H:%M:%S')} {one_line(text)}", file=sys.stderr, flush=True)

    return show


def print_json(found: Any) -> None:
    """Print JSON on standard output, with characters that a terminal would obey escaped."""
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    print(_CONTROL.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text))


# Characters that terminals obey, apart from line breaks and tabs; some of them change the order in
# which text is shown.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Return a text of many lines with characters that a terminal would obey spelled out."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Return text without line breaks and other characters that a terminal would obey."""
    kept = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(kept.split())


def check_output(output: Path, endings: tuple[str, ...]) -> None:
    """Raise an error if the output cannot be written, before the work is done."""
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


def check_folder(output: Path) -> None:
    """Refuse a folder for results where nothing can be written, before hours are spent."""
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file: choose another folder with -o.")
    there = output if output.exists() else next(p for p in output.absolute().parents if p.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file, not a folder: choose another with -o.")
    if not os.access(there, os.W_OK):
        raise PermissionError(f"Nothing can be written to {there}: choose another folder with -o.")


_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def parse_seconds(text: str) -> float:
    """Read a time such as ``90s``, ``2m``, ``1h30m`` or ``45`` (seconds).

    Examples
    --------
    >>> from mercer.cli._output import parse_seconds
    >>> parse_seconds("2m"), parse_seconds("1h30m"), parse_seconds("45")
    (120.0, 5400.0, 45.0)
    """
    number = r"\d+(?:\.\d+)?"
    parts = re.fullmatch(
        rf"(?:({number})h)?(?:({number})m)?(?:({number})s?)?", text.strip().lower().replace(" ", "")
    )
    if parts is None or not any(parts.groups()):
        raise ValueError(f"--budget takes a time such as 90s, 2m or 1h; got {text!r}.")
    found = zip(parts.groups(), _SECONDS.values(), strict=True)
    seconds = sum(float(part) * unit for part, unit in found if part)
    if not 1 <= seconds < 1e7:
        raise ValueError(
            f"--budget must be one second or more, and less than 100 days; got {text!r}."
        )
    return seconds

"""``mercer predict``: a model file and new rows → classes and probabilities."""

import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from mercer._system.words import count_of, grouped
from mercer.cli._answers import Answers
from mercer.cli._output import (
    Device,
    check_output,
    on_the_cpu,
    one_line,
    print_json,
    print_notes,
    progress_bar,
    resolve_device,
    status,
    visible,
)
from mercer.cli._reading import Delimiter, Sheet
from mercer.cli._sets import check_has_sets, check_sets_coverage

if TYPE_CHECKING:
    import pandas as pd

    from mercer.models import ModelCard, TrainingSample
    from mercer.tables import TableInParts

_SPOOLED_BYTES = 1 << 26  # Longer answers wait on the disk until they are printed.


def predict(
    model: Annotated[str, typer.Argument(help="What mercer fit wrote.")],
    table: Annotated[str, typer.Argument(help="New rows; - is stdin.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help=".csv, .tsv or .parquet; default: CSV to stdout."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A column of the new table to put first, such as an id."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            help="Such as 0.9: add a column with the classes that may be right, which holds the "
            "true one in that share of rows."
        ),
    ] = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    device: Device = "cpu",
    explained: Annotated[
        bool,
        typer.Option("--explain", help='Add a column "reasons": what speaks for and against.'),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of CSV.")] = False,
) -> None:
    """Predict the class of new rows, and its probabilities.

    Columns are found by name, in any order; rows keep their order.
    The answer has the columns to keep, "predicted", a "p(class)" for every class and "familiarity":
    the share of training rows that lie farther out than the row; 0 is farther out than all of them.
    With --coverage it has a "set" too: one class, or "too close to call" and the classes that may
    be right.
    --explain adds the three columns of each row that speak most for the answer (+) or against it;
    mercer explain writes a page.
    Delimited text, JSON lines and parquet may have any number of rows: they are read in parts.

    Example: [bold]mercer predict income.skops new.csv -o predictions.csv[/bold]
    """
    from mercer.models import import_skops_quickly, load_model_parts
    from mercer.tables import delimited_writer, table_in_parts, table_writer

    if output is not None:
        check_output(output, (".csv", ".tsv", ".parquet"))
    place = resolve_device(device)
    check_sets_coverage(coverage)
    with warnings.catch_warnings(record=True) as caught, status("reading the model …"):
        warnings.simplefilter("always")
        import_skops_quickly()
        pipeline, card, rows = load_model_parts(model)
    notes = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    notes += [card.decision] if card.decision else []
    notes += on_the_cpu([card.model], place)
    if coverage is not None:
        check_has_sets(pipeline, card)
    if place is not None:
        from mercer.models import on_device

        pipeline = on_device(pipeline, place)
    with ExitStack() as stack:
        told = stack.enter_context(progress_bar())
        new = stack.enter_context(
            table_in_parts(table, sheet=sheet, delimiter=delimiter, on_progress=told)
        )
        explain = _reasons(pipeline, rows, new, told) if explained else None
        answers = Answers(
            pipeline,
            card,
            rows,
            new,
            keep=keep or (),
            coverage=coverage,
            sets_as_lists=as_json and output is None,
            explain=explain,
        )
        lines: list[Any] = []
        spooled = None
        if output is not None:
            write = stack.enter_context(table_writer(output))
        elif as_json:
            _check_printable(new)

            def write(part: "pd.DataFrame") -> None:
                lines.extend(json.loads(part.to_json(orient="records", double_precision=15)))

        else:
            spooled = stack.enter_context(tempfile.SpooledTemporaryFile(_SPOOLED_BYTES))
            write = delimited_writer(spooled)
        for part in answers:
            write(part)
        notes += answers.notes()  # a column that is not what it should be leaves no file behind
        if spooled is not None:
            print_notes(notes)
            _print_text(spooled)
    if as_json:
        print_json(_as_json(answers, card, output, notes, lines))
    elif output is not None:
        print_notes(notes)
        shown = ", ".join(f"{name}: {grouped(n)}" for name, n in answers.counts.most_common(10))
        n_rows = count_of(answers.counts.total(), "row")
        print(one_line(f"{n_rows} written to {output} ({shown})"))


def _reasons(
    pipeline: Any, rows: "TrainingSample | None", table: "TableInParts", told: Any
) -> "Callable[[pd.DataFrame], list[str]]":
    """Return what finds the columns that speak most for each answer, or against it, in words."""
    from mercer.explanations import main_reasons

    known = None if rows is None else rows.X
    if known is None and not table.is_whole:
        raise ValueError(
            f"--explain compares rows with training rows, which {table.name} is too large to "
            "stand in for and the model file has not: fit it again without --no-rows."
        )
    return lambda X: main_reasons(
        pipeline, X, known=known, on_progress=lambda text: told(text.rstrip(" …"), None)
    )


def _check_printable(table: "TableInParts") -> None:
    """Refuse to print a table of any size as one piece of JSON."""
    if not table.is_whole:
        raise ValueError(
            f"{table.name} is too large to be printed as JSON: write the answers with -o, or "
            "print CSV."
        )


def _as_json(
    answers: Answers, card: "ModelCard", output: Path | None, notes: list[str], lines: list[Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "model": card.model,
        "target": card.target,
        "decision": card.decision,
        "n_rows": answers.counts.total(),
        "counts": {str(name): int(n) for name, n in answers.counts.most_common()},
        "notes": notes,
    }
    return {**found, "rows": lines} if output is None else {**found, "output": str(output)}


def _print_text(content: IO[bytes]) -> None:
    """Print what a file would hold; a reader that closes the pipe early is not an error."""
    content.seek(0)
    is_for_people = sys.stdout.isatty()  # A pipe gets exactly what a file would hold.
    try:
        for line in io.TextIOWrapper(content, encoding="utf-8", newline=""):
            sys.stdout.write(visible(line) if is_for_people else line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

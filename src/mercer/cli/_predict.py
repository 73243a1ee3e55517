"""``mercer predict``: a model file and new rows → classes and probabilities."""

import io
import os
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer._system.words import count_of, grouped, percent
from mercer.cli._output import (
    Device,
    check_output,
    on_the_cpu,
    one_line,
    print_json,
    print_notes,
    resolve_device,
    status,
    visible,
)
from mercer.cli._reading import Delimiter, Reading, Sheet
from mercer.cli._sets import NamedSets, check_has_sets, check_sets_coverage

if TYPE_CHECKING:
    import pandas as pd

    from mercer.models import ModelCard, TrainingSample
    from mercer.tables import Table


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

    Example: [bold]mercer predict income.skops new.csv -o predictions.csv[/bold]
    """
    from mercer.models import import_skops_quickly, load_model_parts
    from mercer.tables import match_columns, write_table

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
    with status(f"reading {table} …"):
        given = Reading(sheet, delimiter).read(table)
        new = match_columns(_without_known(given, card, keep or []), card.columns)
    with status(f"predicting {count_of(len(new.frame), 'row')} …"):
        answers = _answers(pipeline, card, new.frame)
        sets = None
        if coverage is not None:
            sets = NamedSets.of(pipeline, card, new.frame, coverage)
            answers.insert(1, "set", sets.texts())
        far = _add_familiarity(answers, rows, new.frame)
    if explained:
        _add_reasons(answers, pipeline, rows, new.frame)
    notes += [*new.notes, *_accuracy_note(given, card, answers), *far]
    if sets is not None:
        notes += sets.notes(_known_classes(given, card))
    answers = _with_kept_columns(given, keep or [], answers)

    if output is not None:
        write_table(answers, output)
    if as_json:
        if sets is not None and output is None:
            answers["set"] = sets.names
        print_json(_as_json(answers, card, output, notes))
        return
    print_notes(notes)
    if output is None:
        _print_csv(answers)
        return
    counts = answers["predicted"].value_counts()
    shown = ", ".join(f"{name}: {grouped(n)}" for name, n in counts.head(10).items())
    print(one_line(f"{count_of(len(answers), 'row')} written to {output} ({shown})"))


def _without_known(given: "Table", card: "ModelCard", keep: list[str]) -> "Table":
    """Leave out columns that have a use here, so that no note says that they are not used."""
    import dataclasses

    asked = {column.name for column in card.columns}
    known = [name for name in (card.target, *keep) if name in given.frame and name not in asked]
    return dataclasses.replace(given, frame=given.frame.drop(columns=list(dict.fromkeys(known))))


def _answers(pipeline: Any, card: "ModelCard", X: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    predicted = pd.Series(pipeline.predict(X), index=X.index, dtype=object)
    answers = pd.DataFrame({"predicted": predicted})
    if hasattr(pipeline, "predict_proba"):
        shares = pipeline.predict_proba(X)
        for i, name in enumerate(card.classes):
            answers[f"p({name})"] = shares[:, i]
    return answers


def _add_familiarity(
    answers: "pd.DataFrame", rows: "TrainingSample | None", X: "pd.DataFrame"
) -> list[str]:
    """Add how familiar rows are, if the model file knows, and return what is to be said of it."""
    from mercer.models import Familiarity, familiarity_notes

    if rows is None:
        return []
    known = Familiarity(rows.X)
    ranks = known.rank(X)
    answers["familiarity"] = ranks.round(3)  # Of 1 000 rows, one is not rounded to none.
    return familiarity_notes(known, X, ranks)


def _add_reasons(
    answers: "pd.DataFrame", pipeline: Any, rows: "TrainingSample | None", X: "pd.DataFrame"
) -> None:
    """Add the columns that speak most for each answer, or against it, in words."""
    from mercer.explanations import main_reasons

    with status("explaining …") as show:
        known = None if rows is None else rows.X
        answers["reasons"] = main_reasons(pipeline, X, known=known, on_progress=show)


def _accuracy_note(given: "Table", card: "ModelCard", answers: "pd.DataFrame") -> list[str]:
    """Say how many are right where the new table has the target too."""
    known = _known_classes(given, card)
    if known is None:
        return []
    share = percent(float((answers.loc[known.index, "predicted"] == known).mean()))
    rows = count_of(len(known), "row")
    return [f"Column {card.target!r} is there: {share} of {rows} are predicted right."]


def _known_classes(given: "Table", card: "ModelCard") -> "pd.Series[Any] | None":
    """Return the classes of the rows that have one where the new table has the target too."""
    import pandas as pd

    from mercer.tables import split_target

    if card.target not in given.frame:
        return None
    try:
        known = split_target(given, card.target, min_class_rows=1)
    except ValueError:  # With one class or none, a share of right answers says nothing.
        return None
    return pd.Series(known.y, index=known.X.index, dtype=object)


def _with_kept_columns(given: "Table", names: list[str], answers: "pd.DataFrame") -> "pd.DataFrame":
    """Put columns of the new table before the answers."""
    import pandas as pd

    for name in names:
        if name not in given.frame:
            raise LookupError(f"There is no column {name!r} in {given.name} to keep.")
        if name in answers:
            raise ValueError(f"Column {name!r} cannot be kept: the answers have one of that name.")
    return pd.concat([given.frame[list(dict.fromkeys(names))], answers], axis=1)


def _as_json(
    answers: "pd.DataFrame", card: "ModelCard", output: Path | None, notes: list[str]
) -> dict[str, Any]:
    import json

    found: dict[str, Any] = {
        "model": card.model,
        "target": card.target,
        "decision": card.decision,
        "n_rows": len(answers),
        "counts": {str(k): int(n) for k, n in answers["predicted"].value_counts().items()},
        "notes": notes,
    }
    if output is not None:
        return {**found, "output": str(output)}
    return {**found, "rows": json.loads(answers.to_json(orient="records", double_precision=15))}


def _print_csv(answers: "pd.DataFrame") -> None:
    """Print what a file would hold; a reader that closes the pipe early is not an error."""
    from mercer._system.formulas import write_delimited

    content = io.BytesIO()
    write_delimited(answers, content)
    text = content.getvalue().decode()
    if sys.stdout.isatty():  # A pipe gets exactly what a file would hold.
        text = visible(text)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

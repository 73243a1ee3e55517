"""``mercer explain``: a model file and rows → a page with the reasons for the answers."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mercer._system.words import count_of, grouped
from mercer.cli._output import check_output, one_line, print_json, print_notes, status
from mercer.cli._reading import Delimiter, Reading, Sheet
from mercer.cli._sets import NamedSets, check_has_sets, check_sets_coverage

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from mercer.explanations import TableReasons
    from mercer.models import ModelCard, TrainingSample
    from mercer.report import RowFacts
    from mercer.tables import Table

_USUAL, _MOST = 50, 200  # rows that are explained without being asked for, and at most
# With so many rows of known classes, columns are weighed on these, and not on training rows.
_LEAST_LABELLED, _MOST_LABELLED = 100, 1000
_SHOWN = 5
_COVERAGE = 0.9


def explain(
    model: Annotated[str, typer.Argument(help="What mercer fit wrote.")],
    table: Annotated[str, typer.Argument(help="Rows to explain; - is stdin.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the page: .html.")
    ] = Path("reasons.html"),
    rows: Annotated[
        str | None,
        typer.Option(help="Rows to explain, such as 3,17-20; default: the first 50."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="A column that names a row, such as an id. May be repeated."),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(help="How often sets of classes hold the true one; default: 0.9, if any."),
    ] = None,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn at random.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the reasons as JSON.")] = False,
) -> None:
    """Say why a model answers as it does: which columns count, and what speaks for each answer.

    Writes a page that shows what the model goes by, and for each row the shares of its columns in
    the answer, how familiar the row is, and the training rows that speak for and against.
    If the table has the target too, answers are compared with it.

    Example: [bold]mercer explain income.skops new.csv -o reasons.html[/bold]
    """
    from mercer.explanations import explain_table
    from mercer.models import describe_model, import_skops_quickly, load_model_parts
    from mercer.report import write_reasons_page
    from mercer.tables import match_columns

    check_output(output, (".html",))
    check_sets_coverage(coverage)
    with status("reading the model …"):
        import_skops_quickly()
        pipeline, card, sample = load_model_parts(model)
    with status(f"reading {table} …"):
        given = Reading(sheet, delimiter).read(table)
        new = match_columns(_model_columns(given, card), card.columns)
    places = _places(rows, len(new.frame))
    kept = _kept(given, keep or [], places)
    notes = [*new.notes, *([card.decision] if card.decision else [])]
    if rows is None and len(places) < len(new.frame):
        notes.append(
            f"The first {grouped(len(places))} of {count_of(len(new.frame), 'row')} are explained: "
            "--rows asks for others."
        )
    X = new.frame.iloc[places]
    actual = _actual(given, card)
    labelled, weighed_on = _labelled(new.frame, actual, card, sample)
    with status("explaining …") as show:
        found = explain_table(
            pipeline,
            X,
            known=None if sample is None else sample.X,
            labelled=labelled,
            numbers=[place + 1 for place in places],
            random_state=seed,
            on_progress=show,
        )
    coverage = _coverage(coverage, pipeline, card)
    sets = [""] * len(X)
    if coverage is not None:
        sets = NamedSets.of(pipeline, card, X, coverage).texts().tolist()
    facts = _facts(sample, X, None if actual is None else actual[places], kept, sets)
    label = describe_model(card.model).label
    page = write_reasons_page(
        found,
        Path(os.path.expanduser(output)),
        model=f"{label} of {one_line(Path(model).name)}",
        target=card.target,
        table=table if table != "-" else "standard input",
        facts=facts,
        weighed_on=weighed_on,
        coverage=coverage,
        notes=notes,
    )
    if as_json:
        print_json(_as_json(found, card, facts, weighed_on, notes, page))
        return
    print_notes(notes)
    for line in _lines(found, facts):
        print(one_line(line))
    print(one_line(f"The page: {page}"))


def _coverage(asked: float | None, pipeline: Any, card: "ModelCard") -> float | None:
    """Return how often sets hold the true class; None where there are none and none are wanted."""
    from mercer.models import has_sets

    if asked is None:
        return _COVERAGE if has_sets(pipeline) else None
    check_has_sets(pipeline, card)
    return asked


def _model_columns(given: "Table", card: "ModelCard") -> "Table":
    """Leave out columns that the model does not use, so that no note is made of them."""
    import dataclasses

    known = {column.name for column in card.columns}
    others = [name for name in given.frame if name not in known]
    return dataclasses.replace(given, frame=given.frame.drop(columns=others))


def _places(rows: str | None, n_rows: int) -> list[int]:
    """Return the places of the rows to explain, from 0; raise where the option makes no sense."""
    if rows is None:
        return list(range(min(n_rows, _USUAL)))
    places: dict[int, None] = {}
    for part in rows.split(","):
        first, dash, last = (text.strip() for text in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"--rows takes numbers of rows such as 3,17-20; got {rows!r}.")
        start, stop = int(first), int(last or first)
        if not 1 <= start <= stop <= n_rows:
            raise ValueError(
                f"--rows asks for {part.strip()}, and the table has rows 1 to {grouped(n_rows)}."
            )
        if stop - start >= _MOST or len(places) > _MOST:
            raise ValueError(f"--rows asks for more than {_MOST} rows, the most that is explained.")
        places |= dict.fromkeys(range(start - 1, stop))
    if len(places) > _MOST:
        raise ValueError(f"--rows asks for more than {_MOST} rows, the most that is explained.")
    return list(places)


def _kept(given: "Table", names: list[str], places: list[int]) -> list[dict[str, str]]:
    """Return the cells of the columns that name rows."""
    from mercer.explanations import value_text

    for name in names:
        if name not in given.frame:
            raise LookupError(f"There is no column {name!r} in {given.name} to keep.")
    cells = given.frame[list(dict.fromkeys(names))].iloc[places]
    return [
        {str(name): value_text(value) for name, value in row.items()}
        for row in cells.to_dict("records")
    ]


def _actual(given: "Table", card: "ModelCard") -> "NDArray[Any] | None":
    """Return the classes that the table has, None where a row has none; None without the target."""
    import numpy as np

    from mercer.tables import split_target

    if card.target not in given.frame:
        return None
    try:
        known = split_target(given, card.target, min_class_rows=1)
    except ValueError:  # With one class or none there is nothing to compare with.
        return None
    found = np.full(len(given.frame), None, dtype=object)
    found[np.asarray(known.X.index, dtype=np.intp)] = known.y
    return found


def _labelled(
    X: "pd.DataFrame",
    actual: "NDArray[Any] | None",
    card: "ModelCard",
    sample: "TrainingSample | None",
) -> "tuple[tuple[pd.DataFrame, NDArray[Any]] | None, str]":
    """Return the rows on which columns are weighed, and what they are called."""
    import numpy as np

    if actual is not None:
        there = np.flatnonzero(np.isin(actual.astype(str), list(card.classes)))[:_MOST_LABELLED]
        if len(there) >= _LEAST_LABELLED:
            rows = X.iloc[there], actual[there].astype(str)
            return rows, f"{count_of(len(there), 'row')} of this table, whose classes are known"
    if sample is None:
        return None, ""
    words = f"{count_of(len(sample.y), 'training row')}, which the model has seen"
    return (sample.X, sample.y), words


def _facts(
    sample: "TrainingSample | None",
    X: "pd.DataFrame",
    actual: "NDArray[np.object_] | None",
    kept: list[dict[str, str]],
    sets: list[str],
) -> "list[RowFacts]":
    """Return what else is known of each row."""
    from mercer.models import Familiarity
    from mercer.report import RowFacts

    ranks: list[float | None] = [None] * len(X)
    farthest = [""] * len(X)
    if sample is not None:
        known = Familiarity(sample.X)
        ranks, farthest = known.rank(X).tolist(), known.farthest_column(X)
    classes = [None] * len(X) if actual is None else actual.tolist()
    return [RowFacts(*one) for one in zip(ranks, farthest, classes, kept, sets, strict=True)]


def _lines(found: "TableReasons", facts: "list[RowFacts]") -> list[str]:
    """Return what is printed: the first rows with their answers and main reasons."""
    from mercer._system.words import listed, percent

    lines = []
    if found.columns:
        leading = listed([one.column for one in found.columns[:3]])
        lines.append(f"The model goes most of all by {leading}.")
    for row, fact in list(zip(found.rows, facts, strict=True))[:_SHOWN]:
        share = row.probabilities.get(row.predicted)
        sure = "" if share is None else f" ({percent(share)})"
        far = ", farther out than any training row" if fact.familiarity == 0 else ""
        lines.append(f"row {row.number}: {row.predicted}{sure}{far}, by {row.main_reasons}")
    if len(found.rows) > _SHOWN:
        lines.append(f"and {count_of(len(found.rows) - _SHOWN, 'more row')}")
    return lines


def _as_json(
    found: "TableReasons",
    card: "ModelCard",
    facts: "list[RowFacts]",
    weighed_on: str,
    notes: list[str],
    page: Path,
) -> dict[str, Any]:
    from mercer.explanations import value_text

    curves = [
        {
            "column": one.column,
            "values": [value_text(value) for value in one.values],
            "classes": [str(name) for name in one.classes],
            "probabilities": one.probabilities.tolist(),
        }
        for one in found.curves
    ]
    rows = [
        {**asdict(row), "main_reasons": row.main_reasons, **asdict(fact)}
        for row, fact in zip(found.rows, facts, strict=True)
    ]
    return {
        "model": card.model,
        "target": card.target,
        "unit": found.unit,
        "exact": found.exact,
        "n_background": found.n_background,
        "weighed_on": weighed_on,
        "columns": [asdict(one) for one in found.columns],
        "curves": curves,
        "rows": rows,
        "notes": notes,
        "page": str(page),
    }

"""``mercer compare --from``: verdicts on scores that are there already, with nothing fitted."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mercer._system.words import count_of, listed, p_number, percent
from mercer.cli._compare_print import ranking_table
from mercer.cli._output import check_folder, console, one_line, print_json, print_notes, status
from mercer.cli._reading import Reading

if TYPE_CHECKING:
    from mercer.comparison import ComparisonRecord, ElsewhereRecord

_LONGEST_NAME = 21
_MOST_STEPS = 12  # of a ranking that a terminal shows; the page has all

Results = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="Scores of models on splits, as from cross_validate, skore, MLflow, AutoGluon or "
        "TabArena, or their predictions beside the truth, instead of a table: nothing is fitted. "
        "Here --metric names the column of scores.",
    ),
]
Better = Annotated[
    Literal["higher", "lower"] | None,
    typer.Option(help="With --from: which scores are better, where the metric does not tell."),
]
TestShare = Annotated[
    float | None,
    typer.Option(help="With --from: the share of rows that a split tests, such as 0.1."),
]
Rope = Annotated[
    float | None,
    typer.Option(
        help="With --from: differences up to this size are practically none.",
        show_default="0.01",
    ),
]


def refuse_for_results(given: Mapping[str, object]) -> None:
    """Raise an error where an option is given that needs a table."""
    named = [name for name, value in given.items() if value]
    if named:
        raise ValueError(
            f"With --from there is no table and nothing is fitted: leave out {listed(named)}."
        )


def refuse_without_results(given: Mapping[str, object]) -> None:
    """Raise an error where an option is given that is for scores from elsewhere."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for scores from elsewhere: give --from FILE with it.")


def compare_results(
    file: str,
    reading: Reading,
    options: Mapping[str, Any],
    *,
    seed: int,
    output: Path,
    as_json: bool,
) -> None:
    """Judge the scores in a file, write what was found, and print it."""
    from mercer import comparison as comparing
    from mercer._system.files import one_at_a_time
    from mercer.report import write_comparison_report

    check_folder(output)
    with status("reading the results …") as say:
        table = reading.read(file)
        say("testing …")
        asked = {name: value for name, value in options.items() if value is not None}
        if not asked and comparing.truth_column(table.frame) is not None:
            found = comparing.compare_predictions(table.frame)
        else:
            found = comparing.compare_scores(table.frame, random_state=seed, **asked)
        record = comparing.record_scores(found, table.name, seed=seed)
        comparing.write_scores(output, record, comparing.score_lines(found))
        with one_at_a_time(output):
            page = write_comparison_report(output)
    if as_json:
        print_json({**record.to_json(), "folder": str(output), "report": str(page)})
        return
    screen = console(soft_wrap=True)
    if record.elsewhere is not None:
        _print_source(screen, record, record.elsewhere)
        models = [replace(model, name=_short(model.name)) for model in record.models]
        level = record.confidence_level
        screen.print(ranking_table(record.metric, models, level, costs=False))
        screen.print(f"\n[bold]{escape(one_line(record.answer))}[/]")
        _print_steps(screen, record.elsewhere, 1 - record.confidence_level)
    screen.print(f"\nResults: {escape(one_line(str(output)))}")
    print(one_line(f"The page: {page}"))


def _print_source(
    screen: Console, record: "ComparisonRecord", elsewhere: "ElsewhereRecord"
) -> None:
    """Print what was read, and what was assumed of it."""
    models = count_of(len(record.models), "model")
    over = count_of(record.rounds, elsewhere.unit)
    screen.print(f"[bold]{escape(one_line(elsewhere.file))}[/]: {models}, {over}")
    print_notes(elsewhere.notes)
    screen.print(escape(one_line(f"{record.metric_reason} {elsewhere.splits}")))
    if elsewhere.overall:
        said = elsewhere.overall[:1].upper() + elsewhere.overall[1:]
        screen.print(escape(one_line(f"{said}.")))


def _short(name: str) -> str:
    """Return a name of a model, cut so that two of them fit 80 columns."""
    text = one_line(name)
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def _print_steps(screen: Console, elsewhere: "ElsewhereRecord", level: float) -> None:
    """Print the neighbours in the ranking, with the probabilities of the Bayesian test."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    has_chances = any(step.p_same is not None for step in elsewhere.steps)
    heads = [("ahead", "left"), ("behind", "left"), ("p", "right")]
    if has_chances:
        heads += [("better", "right"), ("same", "right"), ("worse", "right")]
    for head, side in heads:
        table.add_column(head, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for step in elsewhere.steps[:_MOST_STEPS]:
        chances = (step.p_ahead, step.p_same, step.p_behind)
        table.add_row(
            escape(_short(step.ahead)),
            escape(_short(step.behind)),
            p_number(step.corrected),
            *(percent(one) for one in chances if has_chances),
        )
    said = "From one rank to the next: p after Holm's correction over all pairs"
    if has_chances:
        said += (
            ", and how probable it is that the one ahead is better, within "
            f"{elsewhere.rope:g}, or worse"
        )
    screen.print(f"\n{said}:")
    screen.print(table)
    if len(elsewhere.steps) > _MOST_STEPS:
        rest = len(elsewhere.steps) - _MOST_STEPS
        screen.print(f"{count_of(rest, 'more step')} on the page.")
    _, n_plain = elsewhere.steps_apart(level)
    plain = f"By p-values that are not corrected, {n_plain} of "
    plain += f"{count_of(len(elsewhere.steps), 'step')}."
    screen.print(f"\n{plain} {escape(elsewhere.datasets_sentence)}".rstrip())

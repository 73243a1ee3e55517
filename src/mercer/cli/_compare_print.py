"""What ``mercer compare`` prints: its progress, a ranking, the answer, where everything is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from mercer._system.words import (
    confidence,
    count_of,
    duration,
    fixed,
    grouped,
    interval,
    p_remark,
    size,
)
from mercer.cli._deciding import decision_cells, decision_heads
from mercer.cli._output import class_shares_text, console, one_line, print_notes

if TYPE_CHECKING:
    from mercer.comparison import ComparisonRecord, DecisionRecord, ModelRecord, RoundsProgress

_STYLES = {"best": "bold green", "worse": "red"}


@contextmanager
def show_progress() -> "Iterator[Callable[[RoundsProgress], None]]":
    """Show the time that is used, on standard error and to people only."""
    screen = console(stderr=True)
    screen.quiet = not screen.is_terminal  # before 14.3, rich ends a hidden bar with a line
    columns = (BarColumn(30), TextColumn("{task.description}"))
    with Bar(*columns, console=screen, disable=screen.quiet, transient=True) as bar:
        task = bar.add_task("getting ready", total=None)

        def show(progress: "RoundsProgress") -> None:
            rounds = f"{progress.rounds} of up to {progress.max_rounds} rounds"
            used = max(progress.seconds / progress.budget, progress.rounds / progress.max_rounds)
            bar.update(
                task,
                total=1.0,
                completed=min(used, 1.0),
                description=f"{rounds}, {progress.seconds:.0f} s, {escape(progress.estimator)}",
            )

        yield show


def print_ranking(record: "ComparisonRecord") -> None:
    """Print what was asked, the ranking and the answer."""
    screen = console(soft_wrap=True)
    _print_question(screen, record)
    screen.print(_ranking(record))
    screen.print()
    screen.print(f"[bold]{escape(one_line(record.answer))}[/]")
    if record.decision is not None:
        _print_decisions(screen, record.decision, record.leaders)
    if record.longer_command:
        screen.print(f"To tell more: {escape(one_line(record.longer_command))}")
    for model in record.models:
        reason = model.error or model.note
        if reason:
            first = reason.partition("\n")[0]
            screen.print(f"  {model.name}: {escape(one_line(first))}")
    hard = record.hard_rows
    if hard.count:
        screen.print(
            f"{grouped(hard.count)} of {grouped(hard.tested)} rows are wrong for every model."
        )


def _print_decisions(
    screen: Console, decision: "DecisionRecord", leaders: "tuple[str, ...]"
) -> None:
    """Print what the rule comes to for the leaders, beside the most probable class."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("model", *decision_heads(decision)):
        table.add_column(head, no_wrap=True)
    for line in decision.lines:
        if line.name in leaders:
            table.add_row(escape(line.name), *decision_cells(line))
    screen.print("\nBy the rule, and by the most probable class in brackets:")
    screen.print(table)
    if decision.note:
        print_notes([decision.note])


def print_places(record: "ComparisonRecord", folder: Path, page: Path) -> None:
    """Print where the results are, and how to fit the best model."""
    screen = console(soft_wrap=True)
    if record.map.method is None:
        print_notes(record.map.notes)
    screen.print(f"\nResults: {escape(one_line(str(folder)))}")
    screen.print(f"To fit the best: {escape(one_line(record.fit_command))}")
    print(one_line(f"The page: {page}"))


def _print_question(screen: Console, record: "ComparisonRecord") -> None:
    question = record.question
    used = sum(column.used for column in question.columns)
    if question.is_bundled:
        screen.print(
            "No table was given, so this is a data set that comes with scikit-learn; "
            "yours: mercer compare people.csv --target COLUMN"
        )
    rows = f"{count_of(question.rows, 'row')}, {count_of(used, 'column')} used"
    shares = class_shares_text({one.name: one.rows for one in question.classes})
    classes_of = f"{question.target}: {shares}"
    screen.print(
        f"[bold]{escape(one_line(question.table))}[/]: {rows}; {escape(one_line(classes_of))}"
    )
    print_notes(question.notes)
    screen.print(escape(record.metric_reason))
    if record.splits.source:
        screen.print(escape(one_line(record.splits.sentence)))


def _ranking(record: "ComparisonRecord") -> Table:
    """Return the ranking; the metric has its short name, so that all fits 80 columns."""
    level = f"{confidence(record.confidence_level)} interval"
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column, side in (("model", "left"), (record.metric, "right"),
                         (level, "left"), ("against the best", "left"), ("fit", "right"),
                         ("size", "right")):  # fmt: skip
        table.add_column(column, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for model in record.models:
        style = _STYLES.get(model.against_best or "", "dim")
        table.add_row(
            escape(model.name),
            fixed(model.score, 3),
            interval(model.low, model.high, 3),
            f"[{style}]{_verdict(model)}[/]",
            duration(model.fit_seconds),
            size(model.bytes),
        )
    return table


def _verdict(model: "ModelRecord") -> str:
    """Say how a model stands to the best, on how many rows it was fitted, and by which p-value."""
    if model.standing in ("failed", "left out"):
        return model.standing
    word = model.against_best or "–"
    if model.sample:
        word = f"{word} ({model.sample})"
    remark = p_remark(model.pvalue)
    return f"{word}, {remark}" if remark else word

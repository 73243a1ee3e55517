"""What ``mercer compare`` prints: its progress, a ranking, the answer, where everything is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table

from mercer._system.vocabulary import metric_named
from mercer._system.words import (
    confidence,
    count_of,
    duration,
    fixed,
    grouped,
    interval,
    listed,
    p_remark,
    percent,
    score,
    significant,
    size,
)
from mercer.cli._deciding import decision_cells, decision_heads
from mercer.cli._output import class_shares_text, console, log_lines, one_line, print_notes

if TYPE_CHECKING:
    from mercer.comparison import (
        ComparisonRecord,
        DecisionRecord,
        ImportancesRecord,
        ModelRecord,
        RareClassRecord,
        RoundsProgress,
    )

_LONGEST_METRIC = 10  # characters of a name that is the head of a column
_MOST_COLUMNS = 5  # So many of the columns that count are printed.
_STYLES = {"best": "bold green", "worse": "red"}


@contextmanager
def show_progress() -> "Iterator[Callable[[RoundsProgress], None]]":
    """Show the time that is used, on standard error: as a bar, or as lines without a terminal."""
    screen = console(stderr=True)
    if not screen.is_terminal:
        log = log_lines()

        def tell(progress: "RoundsProgress") -> None:
            if progress.remark:
                print_notes([progress.remark])
            log(_progress_text(progress))

        yield tell
        return
    columns = (BarColumn(30), TextColumn("{task.description}"))
    with Bar(*columns, console=screen, transient=True) as bar:
        task = bar.add_task("getting ready", total=None)

        def show(progress: "RoundsProgress") -> None:
            if progress.remark:
                print_notes([progress.remark])
            used = max(progress.seconds / progress.budget, progress.rounds / progress.max_rounds)
            bar.update(
                task,
                total=1.0,
                completed=min(used, 1.0),
                description=escape(_progress_text(progress)),
            )

        yield show


def _progress_text(progress: "RoundsProgress") -> str:
    rounds = f"{progress.rounds} of up to {progress.max_rounds} rounds"
    return f"{rounds}, {progress.seconds:.0f} s, {progress.estimator}"


def print_ranking(record: "ComparisonRecord") -> None:
    """Print what was asked, the ranking and the answer."""
    screen = console(soft_wrap=True)
    _print_question(screen, record)
    screen.print(ranking_table(record.metric, record.models, record.confidence_level))
    screen.print()
    screen.print(f"[bold]{escape(one_line(record.answer))}[/]")
    for other in record.other_metrics:
        screen.print(f"\nBy {metric_named(other.metric).words}: {escape(one_line(other.answer))}")
        models = other.ranking(record.models)
        screen.print(ranking_table(other.metric, models, record.confidence_level, costs=False))
    if record.decision is not None:
        _print_decisions(screen, record.decision, record.leaders)
    for rare in record.rare_classes[:1]:
        _print_rare_class(screen, rare)
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
            f"{grouped(hard.count)} of {grouped(hard.tested)} rows are wrong for every model; "
            "hard-rows.csv has them."
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


def _print_rare_class(screen: Console, rare: "RareClassRecord") -> None:
    """Print what it takes the best of the leaders to find a rare class."""
    if not rare.models:
        return
    first = rare.models[0]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for head in ("named", "from", "found", "right when named", "false alarms"):
        table.add_column(head, justify="right", no_wrap=True)
    for line in first.lines:
        shares = percent(line.recall), percent(line.precision)
        numbers = significant(line.named, 3), significant(line.threshold, 2)
        table.add_row(*numbers, *shares, fixed(line.alarms, 1))
    screen.print(
        f"\nTo find {escape(one_line(rare.name))} by {escape(first.model)}, if so many of 1 000 "
        "rows are named:"
    )
    screen.print(table)


def print_places(record: "ComparisonRecord", folder: Path, page: Path) -> None:
    """Print which columns count, where the results are, and how to fit the best model."""
    screen = console(soft_wrap=True)
    _print_importances(screen, record.importances)
    if record.map.method is None:
        print_notes(record.map.notes)
    screen.print(f"\nResults: {escape(one_line(str(folder)))}")
    if record.fit_command is not None:
        screen.print(f"To fit the best: {escape(one_line(record.fit_command))}")
    print(one_line(f"The page: {page}"))


def _print_importances(screen: Console, importances: "ImportancesRecord") -> None:
    """Print the columns that the best of the leaders goes by."""
    for one in importances.models[:1]:
        words = metric_named(importances.metric or "").words
        parts = []
        for column in one.columns[:_MOST_COLUMNS]:
            known = column.low is not None
            spread = f" ({interval(column.low, column.high, 3)})" if known else ""
            parts.append(f"{column.name} {score(column.loss)}{spread}")
        more = len(one.columns) - len(parts)
        parts += [f"{grouped(more)} more"] if more > 0 else []
        screen.print(
            f"\nColumns that count for {escape(one.model)}, by what shuffling each among held-out "
            f"rows costs of {words}:\n{escape(one_line(listed(parts)))}"
        )
        screen.print(escape(one_line(importances.caution)))
    print_notes(importances.notes)


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


def ranking_table(
    metric: str, models: "Sequence[ModelRecord]", level: float, *, costs: bool = True
) -> Table:
    """Return a ranking; the metric has its short name, so that all fits 80 columns."""
    # Where its name is long too, it stands on two lines.
    name = metric.replace("-", "-\n") if len(metric) > _LONGEST_METRIC else metric
    heads = [name, f"{confidence(level)} interval", "against the best"]
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("model", no_wrap=True)
    for column in (*heads, "fit", "size") if costs else heads:
        is_number = column in (name, "fit", "size")
        side: JustifyMethod = "right" if is_number else "left"
        # Where there is no room for all, the words of the verdict take two lines, never a number.
        table.add_column(column, justify=side, no_wrap=column != "against the best")
    for model in models:
        style = _STYLES.get(model.against_best or "", "dim")
        cells = [
            escape(model.name),
            score(model.score),
            interval(model.low, model.high, 3),
            f"[{style}]{_verdict(model)}[/]",
        ]
        table.add_row(*cells, *(duration(model.fit_seconds), size(model.bytes)) if costs else ())
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

"""What ``mercer compare`` prints: a ranked table, the answer, and where everything is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mercer._system.vocabulary import metric_named
from mercer._system.words import confidence, count_of, duration, grouped, p_remark, percent, size
from mercer.cli._output import console, one_line, print_notes

__all__ = ["print_comparison"]

_STYLES = {"best": "bold green", "worse": "red"}


def print_comparison(content: Mapping[str, Any], folder: Path) -> None:
    """Print the ranking and what follows from it."""
    screen = console(soft_wrap=True)
    _print_question(screen, content)
    screen.print(_ranking(content))
    screen.print()
    screen.print(f"[bold]{escape(one_line(content['answer']))}[/]")
    if content["longer_command"]:
        screen.print(f"To tell more: {escape(one_line(content['longer_command']))}")
    for line in content["models"]:
        reason = line["error"] or line["note"]
        if reason:
            first = reason.partition("\n")[0]
            screen.print(f"  {line['name']}: {escape(one_line(first))}")
    hard = content["hard_rows"]
    if hard["count"]:
        screen.print(
            f"{grouped(hard['count'])} of {grouped(hard['tested'])} rows are wrong for every model."
        )
    if content["map"]["method"] is None:
        print_notes(content["map"]["notes"])
    screen.print(f"\nResults: {escape(one_line(str(folder)))}")
    screen.print(f"To fit the best: {escape(one_line(content['fit_command']))}")


def _print_question(screen: Console, content: Mapping[str, Any]) -> None:
    question = content["question"]
    used = sum(column["used"] for column in question["columns"])
    if question["is_bundled"]:
        screen.print(
            "No table was given, so this is a data set that comes with scikit-learn; "
            "yours: mercer compare people.csv --target COLUMN"
        )
    classes = sorted(question["classes"], key=lambda one: -one["rows"])
    shown = [f"{one['name']} ({percent(one['rows'] / question['rows'])})" for one in classes[:5]]
    more = f" and {len(classes) - 5} more" if len(classes) > 5 else ""
    rows = f"{count_of(question['rows'], 'row')}, {count_of(used, 'column')} used"
    classes_of = f"{question['target']}: {', '.join(shown)}{more}"
    screen.print(
        f"[bold]{escape(one_line(question['table']))}[/]: {rows}; {escape(one_line(classes_of))}"
    )
    print_notes(question["notes"])
    screen.print(escape(content["metric_reason"]))


def _ranking(content: Mapping[str, Any]) -> Table:
    level = f"{confidence(content['confidence_level'])} interval"
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column, side in (("model", "left"), (metric_named(content["metric"]).words, "right"),
                         (level, "left"), ("against the best", "left"), ("fit", "right"),
                         ("size", "right")):  # fmt: skip
        table.add_column(column, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for line in content["models"]:
        style = _STYLES.get(line["against_best"] or "", "dim")
        table.add_row(
            escape(line["name"]),
            _number(line["score"]),
            _interval(line),
            f"[{style}]{_verdict(line)}[/]",
            duration(line["fit_seconds"]),
            size(line["bytes"]),
        )
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(line: Mapping[str, Any]) -> str:
    return "–" if line["low"] is None else f"{line['low']:.3f} to {line['high']:.3f}"


def _verdict(line: Mapping[str, Any]) -> str:
    if line["error"]:
        return "failed"
    if line["note"]:
        return "left out"
    word = line["against_best"] or "–"
    if line["sample"]:
        word = f"{word} ({line['sample']})"
    remark = p_remark(line["pvalue"])
    return f"{word}, {remark}" if remark else word

"""``mercer info``: what is in a model file, without running anything."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from mercer._system.words import count_of, grouped, listed, percent, size
from mercer.cli._deciding import decision_text
from mercer.cli._output import console, one_line, print_json

if TYPE_CHECKING:
    from mercer.models import ModelContents


def info(
    model: Annotated[str, typer.Argument(help="What mercer fit wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Say what is in a model file: target, columns, scores, types.

    Nothing in the file is built or run; its digests are checked.

    Example: [bold]mercer info income.skops[/bold]
    """
    from mercer.models import read_card

    found = read_card(model)
    if as_json:
        print_json(
            {
                "card": found.card.to_dict(),
                "types": list(found.types),
                "untrusted": list(found.untrusted),
                "n_bytes": found.n_bytes,
                "n_training_rows": found.n_training_rows,
            }
        )
    else:
        _print(found)


def _print(found: "ModelContents") -> None:
    from mercer.models import describe_model, list_models

    screen = console()
    card = found.card
    label = describe_model(card.model).label if card.model in list_models() else "not known here"
    facts = {
        "model": f"{card.model} ({label}{', balanced' if card.balanced else ''})",
        "predicts": f"{card.target}: {listed(card.classes, most=10)}",
        "trained": f"{card.trained} on {_rows(card.n_rows_fitted, card.n_rows)}",
        "with": f"mercer {card.mercer}, scikit-learn {card.sklearn}",
        "scored": _scores(dict(card.scores)),
        "keeps": _kept(found.n_training_rows),
        "decides": card.decision or "the most probable class",
        "size": f"{size(found.n_bytes)} unpacked, {count_of(len(found.types), 'type')}",
    }
    for what, text in facts.items():
        screen.print(f"[bold]{what:10}[/]{escape(one_line(text))}", soft_wrap=True)
    screen.print()
    columns = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("column", "kind", "used", "values"):
        columns.add_column(name, overflow="fold")
    for column in card.columns:
        shown = column.examples if column.used else (column.reason,)
        is_used = "yes" if column.used else "no"
        texts = (column.name, column.kind, is_used, ", ".join(shown))
        columns.add_row(*(escape(one_line(text)) for text in texts))
    screen.print(columns)
    screen.print()
    screen.print("[bold]types[/]")
    for name in found.types:
        mark = "  [red]not trusted[/]" if name in found.untrusted else ""
        screen.print(f"  {escape(one_line(name))}{mark}", soft_wrap=True)
    if found.untrusted:
        screen.print("mercer predict would refuse this file.", style="red")


def _kept(n_rows: int) -> str:
    if not n_rows:
        return "no row of its training table for comparison"
    return f"{count_of(n_rows, 'row')} of its training table, to say how familiar new rows are"


def _rows(fitted: int, given: int) -> str:
    rows = count_of(given, "row")
    return rows if fitted == given else f"{grouped(fitted)} of {rows}"


def _scores(scores: dict[str, Any]) -> str:
    try:
        rows, folds = count_of(scores["n_rows"], "row"), count_of(scores["n_splits"], "fold")
        decided = decision_text(scores)
        return (
            f"{decided}{'; ' if decided else ''}"
            f"accuracy {percent(scores['accuracy'])}, balanced accuracy "
            f"{percent(scores['balanced_accuracy'])} on {rows} left out, {folds}; "
            f"one class always: {percent(scores['floor'])}"
        )
    except (KeyError, TypeError, ValueError, OverflowError):
        return "not scored"

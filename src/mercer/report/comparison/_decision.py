"""What a rule comes to: a wish for a recall, or costs, beside the most probable class."""

from collections.abc import Sequence
from dataclasses import dataclass

from mercer._system.words import NOTHING, confidence, fixed, is_known, listed, percent, significant
from mercer.comparison import DecisionLineRecord, DecisionRecord

_IN_SMALL = "In small: what the most probable class would have come to."
_MOST_CLASSES = 12  # up to so many, costs are shown as a table


@dataclass(frozen=True)
class DecisionView:
    """The section of the page.

    `heads` are those of the columns; of `lines` each is a model, its cells by the rule and by the
    most probable class, in pairs, and the last cell, below `last_head`.
    """

    title: str
    said: str
    costs: Sequence[tuple[str, Sequence[str]]]
    classes: Sequence[str]
    heads: Sequence[str]
    last_head: str
    lines: Sequence[tuple[str, Sequence[tuple[str, str]], str]]
    notes: Sequence[str]


def view_decision(record: DecisionRecord, classes: Sequence[str]) -> DecisionView:
    """Arrange what is said of a rule."""
    if record.costs is not None:
        is_small = len(classes) <= _MOST_CLASSES
        rows = zip(classes, record.costs, strict=True) if is_small else ()
        return DecisionView(
            title="What mistakes cost",
            said="Every model answers the class of the least expected cost. How far its "
            "probabilities can be believed is learnt from training rows that were left out. "
            "Over the test rows of all rounds:",
            costs=[(name, [significant(one) for one in row]) for name, row in rows],
            classes=classes if is_small else (),
            heads=["Mean cost of a row"],
            last_head="Less by",
            lines=[_cost_line(line) for line in record.lines],
            notes=[_IN_SMALL],
        )
    wanted, name = record.wanted or 0.0, record.class_name
    level = confidence(record.confidence or 0.0)
    return DecisionView(
        title=f"What finding “{name}” costs",
        said=f"Every model names “{name}” from a lower probability on: the highest at which, by "
        f"training rows that were left out, at least {percent(wanted)} of its rows are found, with "
        f"{level} confidence. Over the test rows of all rounds:",
        costs=(),
        classes=(),
        heads=["Found", "Right when named", "False alarms in 1\N{NO-BREAK SPACE}000 rows"],
        last_head=f"At least {percent(wanted)}".replace(" %", "\N{NO-BREAK SPACE}%"),
        lines=[_recall_line(line, wanted) for line in record.lines],
        notes=[_IN_SMALL, *([record.note] if record.note else []), *_hindsight(record)],
    )


def _cost_line(line: DecisionLineRecord) -> tuple[str, list[tuple[str, str]], str]:
    cost, plain = line.mean_cost, line.plain_mean_cost
    less = NOTHING
    if is_known(cost) and is_known(plain) and plain > 0:
        less = percent(1.0 - cost / plain).replace("-", "−")
    return line.name, [(_number(cost), _number(plain))], less


def _number(value: float | None) -> str:
    return significant(value) if is_known(value) else NOTHING


def _recall_line(line: DecisionLineRecord, wanted: float) -> tuple[str, list[tuple[str, str]], str]:
    cells = [
        (percent(line.recall), percent(line.plain_recall)),
        (percent(line.precision), percent(line.plain_precision)),
        (fixed(line.alarms, 1), fixed(line.plain_alarms, 1)),
    ]
    is_kept = is_known(line.recall) and line.recall >= wanted
    return line.name, cells, "kept" if is_kept else "missed"


def _hindsight(record: DecisionRecord) -> list[str]:
    """Say what other wishes would have cost on the rows that were tested."""
    if not record.hindsight:
        return []
    said = [
        f"{percent(one.share) if one.share < 1 else 'all'} at {fixed(one.alarms, 1)}"
        for one in record.hindsight
    ]
    sentence = (
        f"With hindsight, by thresholds chosen on these very test rows, {record.hindsight_of} "
        f"finds {listed(said)} false alarms in 1\N{NO-BREAK SPACE}000 rows. A promise costs more "
        "than that, the more so the fewer rows the class has."
    )
    return [sentence]

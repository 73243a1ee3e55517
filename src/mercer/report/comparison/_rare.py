"""What it takes to find rare classes: recall, precision and false alarms at thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass

from mercer._system.words import fixed, grouped, percent, significant
from mercer.comparison import RareClassRecord


@dataclass(frozen=True)
class RareClassView:
    """A rare class: what is said of it, and for each model its lines of a table."""

    name: str
    said: str
    models: Sequence[tuple[str, Sequence[tuple[str, str, str, str, str]]]]


def view_rare_class(record: RareClassRecord) -> RareClassView:
    """Arrange what is said of a rare class."""
    share = percent(record.rows / record.tested) if record.tested else ""
    return RareClassView(
        name=record.name,
        said=f"{grouped(record.rows)} of the {grouped(record.tested)} test rows of all rounds "
        f"({share}) are “{record.name}”. If so many are named, those of the highest probability or "
        "score:",
        models=[
            (
                one.model,
                [
                    (
                        significant(line.named, 3),
                        significant(line.threshold, 2),
                        percent(line.recall),
                        percent(line.precision),
                        fixed(line.alarms, 1),
                    )
                    for line in one.lines
                ],
            )
            for one in record.models
        ],
    )

"""How a measured number stands to a published one: the words, their order and their groups."""

from dataclasses import dataclass

__all__ = ["MARKS", "MEASURED", "UNMEASURED", "Mark", "mark_named"]


@dataclass(frozen=True)
class Mark:
    """A mark: its name in ``cells.csv``, a slug for style and icon, and what it means."""

    name: str
    slug: str
    meaning: str


MARKS = {
    mark.name: mark
    for mark in (
        Mark(
            "reached",
            "reached",
            "within the published spread, or the measured one where none is printed",
        ),
        Mark("better", "better", "beyond the spread, on the better side"),
        Mark("short", "short", "beyond the spread, on the worse side"),
        Mark("differs", "differs", "beyond the spread, where neither side is better"),
        Mark("failed", "failed", "the job ended in an error"),
        Mark("not run", "not-run", "not part of this run"),
        Mark("no data", "no-data", "the data set was not found"),
        Mark("cannot be had", "not-had", "nobody can measure it: data or details are not public"),
        Mark("ours", "ours", "the paper prints no number here"),
        Mark("honest", "honest", "every choice was made on training rows alone"),
    )
}

# Of a published cell: measured here, or not.
MEASURED = ("reached", "better", "short", "differs")
UNMEASURED = ("failed", "not run", "no data", "cannot be had")


def mark_named(name: str) -> Mark:
    """Return a mark; an unknown one is shown as it is called."""
    return MARKS.get(name, Mark(name, "other", ""))

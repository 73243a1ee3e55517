"""How many published numbers were reached, how many were not, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mercer._system.vocabulary import (
    JUDGED,
    MARKS,
    MISSED,
    NOT_JUDGED,
    UNMEASURED,
    Mark,
    mark_named,
    said_of_one_reading,
)
from mercer._system.words import listed

_NO_REASON = "No reason is known."

# The marks of published numbers whose reason is shown, where there is one.
EXPLAINED = (*MISSED, "misprint", *UNMEASURED)


@dataclass(frozen=True)
class Reason:
    """One reason, and the published cells that it stands for."""

    mark: Mark
    text: str
    cells: tuple[Mapping[str, Any], ...]

    @property
    def count(self) -> int:
        """How many cells."""
        return len(self.cells)

    @property
    def names_cells(self) -> bool:
        """Whether it is about single numbers: it is shown with them, not with the mark's name."""
        return self.mark.name not in UNMEASURED

    def by_table(self) -> list[tuple[tuple[str, str], list[Mapping[str, Any]]]]:
        """Return the cells of each study and table, in their order."""
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell in self.cells:
            groups.setdefault((cell["study"], cell["table"]), []).append(cell)
        return list(groups.items())


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Published cells, by mark; and how many are reached with one reading for each column."""

    counts: Mapping[str, int]
    reached_by_one_reading: int | None  # None where the folder does not say

    @property
    def total(self) -> int:
        """How many published cells."""
        return sum(self.counts.values())

    def parts(self) -> list[tuple[Mark, int]]:
        """Return marks that occur, in order, with their counts."""
        return [(mark_named(name), count) for name, count in self.counts.items() if count]


@dataclass(frozen=True, kw_only=True)
class StudyCount(_Counts):
    """Published cells of a study, by mark."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Summary(_Counts):
    """Published cells of all studies, by mark, with the reasons behind those not reached."""

    studies: tuple[StudyCount, ...]
    missed: tuple[Reason, ...]
    misprints: tuple[Reason, ...]
    unmeasured: tuple[Reason, ...]

    @property
    def judged(self) -> int:
        """How many of them were measured and judged."""
        return sum(self.counts[name] for name in JUDGED)

    @property
    def not_judged(self) -> int:
        """How many of them no measured number can judge."""
        return sum(self.counts[name] for name in NOT_JUDGED)


def summarise(cells: pd.DataFrame, studies: Sequence[str]) -> Summary:
    """Count the published cells: each once, by the line that counts for it."""
    published = cells[cells["counts"]]
    knows_one_reading = bool(cells["one_reading"].any())
    one_reading = cells[cells["one_reading"] & (cells["mark"] == "reached")]

    def counted(name: str | None) -> dict[str, Any]:
        own, reached = (
            lines if name is None else lines[lines["study"] == name]
            for lines in (published, one_reading)
        )
        return {
            "counts": _counts(own["mark"]),
            "reached_by_one_reading": len(reached) if knows_one_reading else None,
        }

    return Summary(
        **counted(None),
        studies=tuple(StudyCount(name=name, **counted(name)) for name in studies),
        missed=group_reasons(published, MISSED),
        misprints=group_reasons(published, ("misprint",)),
        unmeasured=group_reasons(published, UNMEASURED),
    )


def _counts(marks: pd.Series) -> dict[str, int]:
    """Count every mark that a published cell may have, and any other that occurs."""
    found = marks.value_counts()
    names = dict.fromkeys([*JUDGED, *NOT_JUDGED, *UNMEASURED, *found.index])
    return {name: int(found.get(name, 0)) for name in names}


def group_reasons(cells: pd.DataFrame, marks: Sequence[str]) -> tuple[Reason, ...]:
    """Group cells of some marks by mark and reason, the largest group first."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in cells[cells["mark"].isin(marks)].to_dict("records"):
        none = _NO_REASON if record["mark"] in MISSED else ""
        key = (record["mark"], record["reason"].strip() or none)
        groups.setdefault(key, []).append({str(name): value for name, value in record.items()})
    order = sorted(groups, key=lambda key: (-len(groups[key]), marks.index(key[0])))
    return tuple(Reason(mark_named(key[0]), key[1], tuple(groups[key])) for key in order)


def count_sentences(summary: Summary) -> dict[str, str]:
    """Say how published numbers were judged, and what became of the others, if there are any.

    The keys are "judged", "not_judged", "others" and "one_reading".
    """
    count = summary.counts
    judged = [name for name in JUDGED if count[name] or name in ("reached", "short")]
    parts = (("judged", judged), ("not_judged", NOT_JUDGED), ("others", UNMEASURED))
    said = {
        part: listed(
            [f"{count[n]} {MARKS[n].in_counts}" for n in names if count[n] or part == "judged"]
        )
        for part, names in parts
    }
    reached = summary.reached_by_one_reading
    return {**said, "one_reading": "" if reached is None else said_of_one_reading(reached)}

"""How many published numbers were reached, how many were not, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mercer._system.vocabulary import MARKS, MEASURED, UNMEASURED, Mark, mark_named
from mercer._system.words import listed

_NO_REASON = "No reason is known."


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

    def by_table(self) -> list[tuple[tuple[str, str], list[Mapping[str, Any]]]]:
        """Return the cells of each study and table, in their order."""
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for cell in self.cells:
            groups.setdefault((cell["study"], cell["table"]), []).append(cell)
        return list(groups.items())


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """Published cells, by mark."""

    counts: Mapping[str, int]

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
    unmeasured: tuple[Reason, ...]

    @property
    def measured(self) -> int:
        """How many of them were measured."""
        return sum(self.counts[name] for name in MEASURED)


def summarise(cells: pd.DataFrame, studies: Sequence[str]) -> Summary:
    """Count the published cells: each once, by the line that counts for it."""
    published = cells[cells["counts"]]
    return Summary(
        counts=_counts(published["mark"]),
        studies=tuple(
            StudyCount(name=name, counts=_counts(published.loc[published["study"] == name, "mark"]))
            for name in studies
        ),
        missed=group_reasons(published, ("short", "differs")),
        unmeasured=group_reasons(published, UNMEASURED),
    )


def _counts(marks: pd.Series) -> dict[str, int]:
    """Count every mark that a published cell may have, and any other that occurs."""
    found = marks.value_counts()
    names = dict.fromkeys([*MEASURED, *UNMEASURED, *found.index])
    return {name: int(found.get(name, 0)) for name in names}


def group_reasons(cells: pd.DataFrame, marks: Sequence[str]) -> tuple[Reason, ...]:
    """Group cells of some marks by mark and reason, the largest group first."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in cells[cells["mark"].isin(marks)].to_dict("records"):
        none = _NO_REASON if record["mark"] in MEASURED else ""
        key = (record["mark"], record["reason"].strip() or none)
        groups.setdefault(key, []).append({str(name): value for name, value in record.items()})
    order = sorted(groups, key=lambda key: (-len(groups[key]), marks.index(key[0])))
    return tuple(Reason(mark_named(key[0]), key[1], tuple(groups[key])) for key in order)


def count_sentences(summary: Summary) -> dict[str, str]:
    """Say how many published numbers were measured, and what became of the others."""
    count = summary.counts
    measured = [name for name in MEASURED if count[name] or name in ("reached", "short")]
    others = [name for name in UNMEASURED if count[name]]
    return {
        part: listed([f"{count[name]} {MARKS[name].in_counts}" for name in names])
        for part, names in (("measured", measured), ("others", others))
    }

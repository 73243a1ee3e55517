"""Outcomes become tables: one line per replicate, one line per cell, published beside measured."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._system.files import make_folder, moved_in_whole
from mercer._system.formulas import neutralised
from mercer._system.vocabulary import JUDGED, MISSED, STUDY_TABLES
from mercer.studies._jobs import Job, Plan
from mercer.studies._model import Published, Row, Study, Table
from mercer.studies._other_studies import OtherStudies
from mercer.studies._store import Stored, read_outcome, write_atomically

# Neither a number, its spread nor its dimension; no replicates, and nothing that they tell.
_NOT_MEASURED = (None, None, None, 0, None, None)
_STANDARD_ERRORS = 3.0  # means of the same runs differ by more about once in 400 times


@dataclass(frozen=True, kw_only=True)
class Results:
    """What a run found, as it lies in its folder.

    Parameters
    ----------
    folder : Path
    cells : DataFrame
        A line per published cell and measured number: ``published``, ``measured``, their
        spreads and dimensions, the number ``n`` of replicates, the ``standard_error`` of their
        mean where they are independent, how many of them are ``at_or_below`` the published
        number, a ``mark`` and a ``reason``.  Of several readings of a published cell the nearest
        ``counts``; lines of the ``one_reading`` that fits a whole column best are marked too.
    scores : DataFrame
        A line per replicate, with its seed.
    timings, failures : DataFrame
        Seconds of every job; jobs that raised an error.
    run : mapping
        Versions, machine, times.
    """

    folder: Path
    cells: pd.DataFrame
    scores: pd.DataFrame
    timings: pd.DataFrame
    failures: pd.DataFrame
    run: Mapping[str, Any]


def collect(
    plan: Plan, output: Path, failures: Mapping[str, str], facts: Mapping[str, Any]
) -> Results:
    """Write the tables, figures and descriptions of a run and return them."""
    gathered = _Gathered(plan, output, failures)
    for source, study in plan.studies.items():
        for t, table in enumerate(study.tables):
            for r, row in enumerate(table.rows):
                gathered.add_row(source, study, t, table, r, row)
    tables = {
        name: pd.DataFrame(gathered.lines[name], columns=list(columns))
        for name, columns in STUDY_TABLES.items()
    }
    tables["cells"] = cells = _choose_one_reading(_choose_readings(tables["cells"]))
    described = [_describe(plan, source, gathered, cells, output) for source in plan.studies]
    done = sum(stored is not None for stored in gathered.stored.values())
    run = {
        "mercer": facts["versions"]["mercer"],
        "mode": "quick" if plan.quick else "full",
        "protocol": plan.protocol,
        "studies": [study.name for study in plan.studies.values()],
        "jobs": {
            "done": done,
            "of": len(plan.jobs),
            "failed": len(failures),
            "skipped": len(plan.skipped),
        },
        "seconds": sum(s.seconds for s in gathered.stored.values() if s is not None),
        **facts,
    }
    texts = {
        f"{name}.csv": neutralised(frame).to_csv(index=False, lineterminator="\n")
        for name, frame in tables.items()
    }
    others = OtherStudies.of(output, run)
    described = others.with_those(described)
    run |= {"studies": [one["name"] for one in described], "kept": sorted(others.names)}
    texts = {name: others.appended(name, text) for name, text in texts.items()}
    for name, content in (("studies", described), ("run", run)):
        texts[f"{name}.json"] = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    with moved_in_whole(output, "run.json") as place:
        for name, text in texts.items():
            write_atomically(place / name, text)
    return Results(folder=output, run=run, **tables)


class _Gathered:
    """The lines of the tables, as rows of studies are added."""

    def __init__(self, plan: Plan, output: Path, failures: Mapping[str, str]) -> None:
        self.plan, self.failures = plan, failures
        self.stored = {job.file: read_outcome(output / job.file) for job in plan.jobs}
        self.jobs: dict[tuple[Any, ...], list[Job]] = {}
        for job in plan.jobs:
            if job.kind == "table":
                key = (job.source, job.part, job.row, job.method, job.protocol)
                self.jobs.setdefault(key, []).append(job)
        self.lines: dict[str, list[tuple[Any, ...]]] = {name: [] for name in STUDY_TABLES}

    def add_row(self, source: str, study: Study, t: int, table: Table, r: int, row: Row) -> None:
        for column in table.columns:
            found = False
            for m, method in enumerate(table.methods):
                if column not in method.columns:
                    continue
                for protocol in method.protocols:
                    jobs = self.jobs.get((source, t, r, m, protocol), [])
                    for reading, variant in method.readings(protocol).items() if jobs else ():
                        key = (study.name, table.key, row.label, column, reading, protocol)
                        field = variant or column
                        self._add_cell(key, table, row, field, jobs, method.independent)
                        found = True
            if not found and (row.label, column) in table.published:
                self._add_unmeasured(study, table, row, column)

    def _add_unmeasured(self, study: Study, table: Table, row: Row, column: str) -> None:
        published = table.published[row.label, column]
        skipped = self.plan.skipped.get((study.name, table.key, row.label), "")
        if misprint := table.misprints.get((row.label, column), ""):
            mark, reason = "misprint", misprint
        elif row.missing:
            mark, reason = "not available", row.missing
        elif skipped:
            mark, reason = "no data", skipped
        else:
            mark, reason = "not run", _reason(table, row.label, column)
        key = (study.name, table.key, row.label, column, "", "paper")
        self.lines["cells"].append(
            (*key, *_as_printed(published), *_NOT_MEASURED, mark, True, False, reason, 0.0)
        )

    def _add_cell(
        self,
        key: tuple[str, ...],
        table: Table,
        row: Row,
        field: str,
        jobs: Sequence[Job],
        independent: bool,
    ) -> None:
        column, protocol = key[3], key[-1]
        misprint = table.misprints.get((row.label, column), "") if protocol != "honest" else ""
        outcomes = [(job, self.stored[job.file]) for job in jobs]
        done = [(job, stored) for job, stored in outcomes if stored is not None]
        for job, stored in outcomes:
            if stored is not None:
                self.lines["timings"].append((*key, job.replication, stored.seconds))
            elif job.file in self.failures:
                self.lines["failures"].append((*key, job.replication, self.failures[job.file]))
        published = table.published.get((row.label, column))
        numbers = (None,) * 4 if published is None else _as_printed(published)
        if not done:
            reason = next((self.failures[j.file] for j in jobs if j.file in self.failures), "")
            mark = "failed" if reason else "not run"
            if misprint:
                mark, reason = "misprint", misprint
            self.lines["cells"].append(
                (*key, *numbers, *_NOT_MEASURED, mark, False, False, reason, 0.0)
            )
            return
        values, dimension = _best_choice(done, field, table.better)
        for (job, stored), replicates in zip(done, values, strict=True):
            details = json.dumps(stored.details, ensure_ascii=False) if stored.details else ""
            for value in replicates:
                self.lines["scores"].append(
                    (*key, job.replication, job.seed, float(value), details)
                )
        every = np.concatenate(values)
        mean = float(every.mean())
        spread = float(every.std(ddof=1)) if every.size > 1 else None
        draws = every.size if independent else 1
        error = None if spread is None or draws == 1 else spread / draws**0.5
        mark = mark_of(published, mean, spread, table.better, protocol=protocol, draws=draws)
        reason = _reason(table, row.label, column) if mark in MISSED else ""
        if mark in JUDGED and misprint:
            mark, reason = "misprint", misprint
        elif mark in JUDGED and table.one_draw:
            mark, reason = "one draw", ""
        below = None if published is None else count_at_or_below(every, published)
        seconds = float(sum(stored.seconds for _, stored in done))
        found = (mean, spread, dimension, every.size, error, below)
        self.lines["cells"].append((*key, *numbers, *found, mark, False, False, reason, seconds))


def _as_printed(published: Published) -> tuple[float, float | None, int | None, int | None]:
    return published.value, published.spread, published.dimension, published.decimals


def _best_choice(
    done: Sequence[tuple[Job, Stored]], field: str, better: str | None
) -> tuple[list[NDArray[np.float64]], float | None]:
    """Return the replicates of each job, and the dimension.

    Where jobs return a value for each choice and dimension, those with the best mean over all jobs
    are taken.
    """
    arrays = [stored.values[field] for _, stored in done]
    if max(array[0].size for array in arrays) == 1:
        chosen = [stored.details.get("dimension") for _, stored in done]
        known = [float(value) for value in chosen if value is not None]
        return [array.ravel() for array in arrays], float(np.mean(known)) if known else None
    width = min(array.shape[-1] for array in arrays)
    means = np.concatenate([array[..., :width] for array in arrays]).mean(axis=0)
    best = np.unravel_index(means.argmin() if better == "lower" else means.argmax(), means.shape)
    return [array[(slice(None), *best)] for array in arrays], float(best[-1] + 1)


def _choose_readings(cells: pd.DataFrame) -> pd.DataFrame:
    """Let one line stand for each published cell.

    Of several readings it is one that reaches the number, or else is near it, and of these the
    nearest.
    """
    comparable = cells[cells["published"].notna() & (cells["protocol"] != "honest")]
    gap = (comparable["measured"].astype(float) - comparable["published"].astype(float)).abs()
    rank = comparable["mark"].map({"reached": 0, "near": 1}).fillna(2)
    ordered = pd.DataFrame({"rank": rank, "gap": gap.fillna(np.inf)})
    firsts = cells.loc[ordered.sort_values(["rank", "gap"], kind="stable").index]
    firsts = firsts.drop_duplicates(["study", "table", "row", "column"])
    return cells.assign(counts=cells.index.isin(firsts.index))


def _choose_one_reading(cells: pd.DataFrame) -> pd.DataFrame:
    """Let one reading stand for each column of a table, in all of its rows.

    It is the one judged in most rows, among these the one that reaches most published numbers,
    then the one with the least mean distance from them.
    """
    column = ["study", "table", "column"]
    judged = cells[cells["mark"].isin(JUDGED)].drop_duplicates([*column, "reading", "row"])
    gap = (judged["measured"].astype(float) - judged["published"].astype(float)).abs()
    scored = judged.assign(reached=judged["mark"] == "reached", gap=gap)
    readings = scored.groupby([*column, "reading"], sort=False, as_index=False).agg(
        rows=("row", "size"), reached=("reached", "sum"), gap=("gap", "mean")
    )
    best_first = readings.sort_values(["rows", "reached", "gap"], ascending=[False, False, True])
    chosen = pd.MultiIndex.from_frame(best_first.drop_duplicates(column)[[*column, "reading"]])
    lines = pd.MultiIndex.from_frame(judged[[*column, "reading"]])
    return cells.assign(one_reading=cells.index.isin(judged.index[lines.isin(chosen)]))


def _reason(table: Table, row: str, column: str) -> str:
    for key in ((row, column), (row, "*"), ("*", column), ("*", "*")):
        if key in table.reasons:
            return table.reasons[key]
    return ""


def _describe(
    plan: Plan, source: str, gathered: _Gathered, cells: pd.DataFrame, output: Path
) -> dict[str, Any]:
    """Return what the page needs to know of a study, and write the figures."""
    study = plan.studies[source]
    tables = [
        {
            **_fields(table, "key", "title", "unit", "better", "note", "columns"),
            "rows": [
                {
                    **_fields(row, "label", "dataset", "missing"),
                    "skipped": plan.skipped.get((study.name, table.key, row.label), ""),
                }
                for row in table.rows
            ],
        }
        for table in study.tables
    ]
    return {
        **_fields(study, "name", "title", "reference"),
        "protocol": dict(study.protocol),
        "missing": dict(study.missing),
        "tables": tables,
        "figures": list(_figures(plan, source, gathered, cells, output)),
        "claims": list(_judged_claims(study, cells[cells["study"] == study.name])),
    }


def _judged_claims(study: Study, cells: pd.DataFrame) -> Iterator[dict[str, str]]:
    """Judge what the paper says in words; claims of which too little was measured are left out.

    A judgement that fails is said: it must not cost the tables of a long run.
    """
    for claim in study.claims:
        try:
            judged = claim.judge(cells)
        except Exception as error:
            judged = f"Not judged, because its function failed: {type(error).__name__}: {error}"
        if judged.strip():
            yield {**_fields(claim, "said", "where"), "judged": judged}


def _figures(
    plan: Plan, source: str, gathered: _Gathered, cells: pd.DataFrame, output: Path
) -> Iterator[dict[str, Any]]:
    study = plan.studies[source]
    jobs = {job.part: job for job in plan.jobs if (job.source, job.kind) == (source, "figure")}
    for number, figure in enumerate(study.figures):
        panels: Sequence[Mapping[str, Any]] = []
        why = plan.skipped.get((study.name, figure.key, ""), "")
        if figure.draw is not None:
            part = cells[(cells["study"] == study.name) & (cells["table"] == figure.table)]
            part = part[part["measured"].notna()]
            panels = [panel.as_json() for panel in figure.draw(part)] if len(part) else []
            why = "" if panels else "its table was not measured"
        elif number in jobs:
            stored = gathered.stored[jobs[number].file]
            panels = [] if stored is None else stored.panels
            why = "" if panels else gathered.failures.get(jobs[number].file, "not run")
        file = None
        if panels:
            file = f"figures/{study.name}-{number + 1}.json"
            make_folder(output / "figures")
            text = json.dumps({"panels": panels}, ensure_ascii=False)
            write_atomically(output / file, text)
        yield {**_fields(figure, "key", "title", "caption"), "file": file, "skipped": why}


def _fields(thing: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def mark_of(
    published: Published | None,
    measured: float,
    spread: float | None,
    better: str | None,
    *,
    protocol: str,
    draws: int = 1,
) -> str:
    """Return how a measured number stands to the published one.

    `draws` is the number of independent replicates, 1 where they are not independent.

    A number is reached if it differs by no more than the published spread, or the measured one
    where the paper prints none, plus half of the last printed digit.  It is only near if the paper
    prints a spread, there are several draws, and the two means differ by more than three standard
    errors of their difference, plus that half digit; the paper is taken to have as many draws.
    The marks are those of ``mercer._system.vocabulary``.

    >>> from mercer.studies import Published
    >>> mark_of(Published(89.4, 0.5), 89.0, 0.6, "higher", protocol="paper")
    'reached'
    >>> mark_of(Published(89.4, 0.5), 89.0, 0.6, "higher", protocol="paper", draws=100)
    'near'
    >>> mark_of(Published(89.4, 0.5), 88.0, 0.6, "higher", protocol="paper")
    'short'
    """
    if protocol == "honest":
        return "honest"
    if published is None:
        return "ours"
    allowed = published.spread if published.spread is not None else (spread or 0.0)
    gap = measured - published.value
    if published.rounds(measured, allowed):
        if published.spread is None or spread is None or draws < 2:
            return "reached"
        error = math.hypot(spread, published.spread) / math.sqrt(draws)
        return "reached" if published.rounds(measured, _STANDARD_ERRORS * error) else "near"
    if better is None:
        return "differs"
    return "better" if (gap > 0) == (better == "higher") else "short"


def count_at_or_below(replicates: NDArray[np.float64], published: Published) -> int:
    """Return how many replicates, rounded as the paper rounds, do not exceed its number."""
    return int(np.sum(replicates <= published.value + published.half_digit + 1e-9))

"""``write_report``: the results folder of ``mercer reproduce`` → ``report.html``."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.results import only_from
from mercer._system.vocabulary import MARKS, mark_named
from mercer._system.words import fixed, is_known, signed
from mercer.report._document import anchor, render_template, write_whole
from mercer.report.charts._figures import draw_panel
from mercer.report.study._about import repeat_command, run_facts
from mercer.report.study._paper_tables import (
    TableView,
    decimals,
    make_table,
    printed_places,
    table_name,
    with_spread,
)
from mercer.report.study._results import Results, read_results
from mercer.report.study._summary import StudyCount, count_sentences, summarise
from mercer.report.study._verdicts import Verdict, audit_of, compare_columns


def write_report(
    folder: str | os.PathLike[str], path: str | os.PathLike[str] | None = None
) -> Path:
    """Write the page of a results folder: one HTML file that needs nothing else.

    Parameters
    ----------
    folder : path-like
        What :func:`mercer.studies.run_studies` or ``mercer reproduce`` wrote.
    path : path-like or None, default=None
        Where the page goes; None means ``report.html`` in the folder.

    Returns
    -------
    Path
        The page.  It appears whole or not at all.

    Raises
    ------
    FileNotFoundError, ValueError
        If the folder is not there, or a file in it is missing or not what it should be.

    Examples
    --------
    >>> from mercer.report import write_report
    >>> write_report("mercer-results")  # doctest: +SKIP
    PosixPath('mercer-results/report.html')
    """
    results = read_results(folder)
    path = Path(folder) / "report.html" if path is None else Path(path)
    with only_from(Path(folder), "mercer reproduce"):
        page = render(results)
    return write_whole(path, page)


@dataclass(frozen=True)
class TableSection:
    """A table, its place in the page and the verdict on it."""

    anchor: str
    view: TableView
    verdict: Verdict | None


def render(results: Results) -> str:
    """Return the text of the page."""
    summary = summarise(results.cells, [study["name"] for study in results.studies])
    sections = [
        _study(number, study, count, results)
        for number, (study, count) in enumerate(zip(results.studies, summary.studies, strict=True))
    ]
    places = {
        (study["name"], table["key"]): shown.anchor
        for section, study in zip(sections, results.studies, strict=True)
        for shown, table in zip(section["tables"], study["tables"], strict=True)
    }
    return render_template(
        "page.html",
        run=results.run,
        summary=summary,
        said=count_sentences(summary),
        studies=sections,
        places=places,
        table_name=table_name,
        cells=list_cells(results.cells),
        failures=results.failures.to_dict("records"),
        facts=run_facts(results.run),
        command=repeat_command(results.run),
        marks=[mark for mark in MARKS.values() if (results.cells["mark"] == mark.name).any()],
    )


def _study(
    number: int, study: Mapping[str, Any], count: StudyCount, results: Results
) -> dict[str, Any]:
    """Return what is known of a study, with what the page adds: anchors, views and drawings."""
    name = study["name"]
    place = f"study-{number + 1}-{anchor(name)}"
    cells = results.cells[results.cells["study"] == name]
    tables = []
    for k, table in enumerate(study["tables"]):
        part = cells[cells["table"] == table["key"]]
        view = make_table(table, part)
        verdict = compare_columns(table, part, view.name)
        tables.append(TableSection(f"{place}-table-{k + 1}", view, verdict))
    figures = [
        {
            **figure,
            "anchor": f"{place}-figure-{k + 1}",
            "title": _figure_title(figure["key"], figure["title"]),
            "panels": [draw_panel(panel) for panel in results.panels.get(figure["file"], ())],
        }
        for k, figure in enumerate(study["figures"])
    ]
    return {
        **study,
        "anchor": place,
        "count": count,
        "tables": tables,
        "figures": figures,
        "audit": audit_of(name),
        "seconds": _seconds(results.timings, name),
    }


def _figure_title(key: str, title: str) -> str:
    """Put the paper's number of a figure before its title; a word of our own is left out."""
    if key[:1].isdigit():
        key = f"Fig. {key}"
    return f"{key}. {title}" if key.startswith("Fig") else title


def _seconds(timings: pd.DataFrame, study: str) -> float:
    """Return the time of a study's jobs; a job that fills several columns counts once."""
    own = timings[timings["study"] == study].drop_duplicates(
        ["table", "row", "reading", "protocol", "replication", "seconds"]
    )
    return float(own["seconds"].sum())


def list_cells(cells: pd.DataFrame) -> list[dict[str, Any]]:
    """Return every line of the cells with its numbers written."""
    lines = []
    for record in cells.to_dict("records"):
        published, measured, seconds = record["published"], record["measured"], record["seconds"]
        spread = record["published_spread"]
        printed = max(printed_places(record, decimals([published])), decimals([spread]))
        places = min(max(printed, 1), 3)
        both = is_known(published) and is_known(measured)
        lines.append(
            {
                **{name: record[name] for name in ("study", "row", "column", "reading")},
                "protocol": record["protocol"],
                "table": table_name(record["table"]),
                "published": with_spread(published, spread, printed),
                "measured": with_spread(measured, record["spread"], places),
                "difference": signed(measured - published, places) if both else "",
                "mark": mark_named(record["mark"]),
                "n": f"{record['n']:.0f}" if is_known(record["n"]) and record["n"] else "",
                "seconds": fixed(seconds, 1) if is_known(seconds) and seconds else "",
            }
        )
    return lines

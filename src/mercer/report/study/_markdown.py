"""``write_markdown``: a results folder → a Markdown page and its figures as SVG files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.files import make_folder
from mercer._system.results import only_from
from mercer._system.vocabulary import mark_named
from mercer._system.words import is_known
from mercer.report._document import anchor, render_template, write_whole
from mercer.report.charts._figures import draw_figure
from mercer.report.study._about import repeat_command, run_facts
from mercer.report.study._paper_tables import decimals, table_name, with_spread
from mercer.report.study._results import Results, read_results
from mercer.report.study._summary import count_sentences, group_reasons, summarise


def write_markdown(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Write the summary of a results folder for documentation: tables, and figures beside it.

    Parameters
    ----------
    folder : path-like
        What :func:`mercer.studies.run_studies` or ``mercer reproduce`` wrote.
    path : path-like
        The Markdown file; its figures go into a folder of the same name without the ending.

    Returns
    -------
    Path
        The Markdown file.

    Examples
    --------
    >>> from mercer.report import write_markdown
    >>> write_markdown("mercer-results", "reproduction.md")  # doctest: +SKIP
    PosixPath('reproduction.md')
    """
    results, path = read_results(folder), Path(path)
    figures = path.with_suffix("")
    with only_from(Path(folder), "mercer reproduce"):
        text, drawings = _written(results, figures.name)
    make_folder(figures)
    for file, drawing in drawings.items():
        write_whole(figures / file, drawing)
    return write_whole(path, text)


def _written(results: Results, place: str) -> tuple[str, dict[str, str]]:
    """Return the text, and the figures by the names of their files."""
    summary = summarise(results.cells, [study["name"] for study in results.studies])
    studies, drawings = [], {}
    for study in results.studies:
        cells = results.cells[results.cells["study"] == study["name"]]
        tables = [_table(table, cells[cells["table"] == table["key"]]) for table in study["tables"]]
        figures = []
        for number, figure in enumerate(study["figures"], start=1):
            file = None
            if figure["file"] is not None:
                file = f"{anchor(study['name'])}-{number}.svg"
                drawings[file] = draw_figure(results.panels[figure["file"]], figure["title"])
            printed = figure["key"].removeprefix("Fig").lstrip("s. ")
            figures.append({**figure, "number": printed, "file": file})
        studies.append({**study, "tables": tables, "figures": figures})
    text = render_template(
        "reproduction.md",
        plain=_plain,
        run=results.run,
        command=repeat_command(results.run).replace("`", ""),
        summary=summary,
        said=count_sentences(summary),
        facts=run_facts(results.run),
        studies=studies,
        place=place,
    )
    return text, drawings


def _table(table: Mapping[str, Any], cells: pd.DataFrame) -> dict[str, Any]:
    """Return what is known of a table, with its cells written."""
    by_column = {name: cells[cells["column"] == name] for name in table["columns"]}
    digits = {name: max(1, min(2, decimals(own["published"]))) for name, own in by_column.items()}
    rows = [
        (label, [_cell(own[own["row"] == label], digits[name]) for name, own in by_column.items()])
        for label in (row["label"] for row in table["rows"])
    ]
    better = table["better"] and f"{table['better']} is better"
    return {
        **table,
        "name": table_name(table["key"]),
        "unit": ", ".join(filter(None, [table["unit"], better])),
        "columns": [_plain(name) for name in table["columns"]],
        "rows": rows,
        "reasons": group_reasons(cells[cells["counts"]], ("short", "differs", "failed", "not run")),
    }


def _cell(lines: pd.DataFrame, places: int) -> str:
    """Write the line that counts, or the first measured one; and the honest number beside it."""
    open_ones = lines[lines["protocol"] != "honest"]
    that_count = open_ones[open_ones["counts"]]
    chosen = that_count if len(that_count) else open_ones[open_ones["measured"].notna()]
    parts = []
    reading = None
    if len(chosen):
        line = chosen.iloc[0]
        reading = line["reading"]
        if is_known(line["published"]):
            parts.append(f"{line['published']:g} →")
        if is_known(line["measured"]):
            parts.append(with_spread(line["measured"], line["spread"], places))
            parts.append(mark_named(line["mark"]).sign)
        else:
            parts.append(_plain(line["mark"]))
    honest = lines[(lines["protocol"] == "honest") & lines["measured"].notna()]
    same = honest[honest["reading"] == reading]
    honest = same if len(same) else honest
    if len(honest):
        line = honest.iloc[0]
        parts.append(f"*{with_spread(line['measured'], line['spread'], places)}*")
    return " ".join(filter(None, parts))


def _plain(text: object) -> str:
    """Return text that Markdown shows unchanged, also inside a table: one line, signs escaped."""
    words = " ".join(str(text).split())
    for sign in "\\`*_[]<>|":
        words = words.replace(sign, "\\" + sign)
    return words

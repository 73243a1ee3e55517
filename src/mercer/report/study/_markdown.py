"""``write_markdown``: a results folder → a Markdown page and its figures as SVG files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.files import make_folder
from mercer._system.results import only_from
from mercer._system.vocabulary import mark_named
from mercer._system.words import is_known
from mercer.report._document import anchor, write_whole
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
        lines, drawings = _written(results, figures.name)
    make_folder(figures)
    for file, drawing in drawings.items():
        write_whole(figures / file, drawing)
    return write_whole(path, "\n".join(lines) + "\n")


def _written(results: Results, place: str) -> tuple[list[str], dict[str, str]]:
    """Return the lines, and the figures by the names of their files."""
    lines, drawings = [*_head(results)], {}
    for study in results.studies:
        cells = results.cells[results.cells["study"] == study["name"]]
        lines += _study(study, cells)
        for number, figure in enumerate(study["figures"], start=1):
            figure_number = figure["key"].removeprefix("Fig").lstrip("s. ")
            lines += ["", f"### Figure {_plain(figure_number)}: {_plain(figure['title'])}", ""]
            if figure["file"] is None:
                lines.append(f"Not drawn: {_plain(figure['skipped'])}.")
                continue
            file = f"{anchor(study['name'])}-{number}.svg"
            drawings[file] = draw_figure(results.panels[figure["file"]], figure["title"])
            lines.append(f"![{_plain(figure['title'])}]({place}/{file})")
            if figure["caption"]:
                lines += ["", _plain(figure["caption"])]
    return lines, drawings


def _head(results: Results) -> Iterator[str]:
    summary = summarise(results.cells, [study["name"] for study in results.studies])
    mode = results.run.get("mode", "full")
    yield f"# The papers, rerun: a {_plain(mode)} run"
    yield ""
    yield "Made by `mercer reproduce` (see [reproduce.md](reproduce.md)), not written by hand:"
    yield f"`{repeat_command(results.run).replace('`', '')}`."
    yield ""
    said = count_sentences(summary)
    yield f"Of {summary.total} published numbers {summary.measured} were measured: "
    yield f"{said['measured']}." + (f" The others: {said['others']}." if said["others"] else "")
    yield ""
    marks = [mark.name for mark, _ in summary.parts()]
    yield f"| study | {' | '.join(marks)} | all |"
    yield "|---" * (len(marks) + 2) + "|"
    for count in summary.studies:
        numbers = " | ".join(str(count.counts.get(mark, 0) or "") for mark in marks)
        yield f"| {_plain(count.name)} | {numbers} | {count.total} |"
    yield ""
    yield "A cell reads: published → measured ± deviation over replicates, and a mark: ✓ within the"
    yield "published spread (the measured one where none is printed), ▲ better, ▽ short of it, ≠"
    yield "different where neither way is better. Of several readings of the paper the nearest"
    yield "counts; that is lenient. *Italic*: the honest protocol, everything chosen on training"
    yield "rows alone."
    yield ""
    facts = [f"{name}: {value}" for name, value in run_facts(results.run)]
    yield _plain("; ".join(facts)) + "."


def _study(study: Mapping[str, Any], cells: pd.DataFrame) -> Iterator[str]:
    yield ""
    yield f"## {_plain(study['title'])}"
    yield ""
    yield _plain(study["reference"])
    for name, text in study["protocol"].items():
        yield ""
        yield f"**{_plain(name)}**: {_plain(text)}"
    for what, why in study["missing"].items():
        yield ""
        yield f"Not to be had: {_plain(what)}. {_plain(why)}"
    for table in study["tables"]:
        yield from _table(table, cells[cells["table"] == table["key"]])


def _table(table: Mapping[str, Any], cells: pd.DataFrame) -> Iterator[str]:
    columns: Sequence[str] = table["columns"]
    digits = {
        name: max(1, min(2, decimals(cells.loc[cells["column"] == name, "published"])))
        for name in columns
    }
    yield ""
    yield f"### {_plain(table_name(table['key']))}: {_plain(table['title'])}"
    yield ""
    better = table["better"] and f"{table['better']} is better"
    unit = ", ".join(filter(None, [table["unit"], better]))
    yield f"| {_plain(unit)} | {' | '.join(map(_plain, columns))} |"
    yield "|---" * (len(columns) + 1) + "|"
    for row in table["rows"]:
        own = cells[cells["row"] == row["label"]]
        texts = [_cell(own[own["column"] == name], digits[name]) for name in columns]
        yield f"| {_plain(row['label'])} | {' | '.join(texts)} |"
    if table["note"]:
        yield ""
        yield _plain(table["note"])
    reasons = group_reasons(cells[cells["counts"]], ("short", "differs", "failed", "not run"))
    for reason in reasons:
        yield ""
        where = _plain("; ".join(f"{cell['row']}, {cell['column']}" for cell in reason.cells))
        sign = reason.mark.sign or _plain(reason.mark.name)
        yield f"- {sign} {_plain(reason.text)} ({where})"


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

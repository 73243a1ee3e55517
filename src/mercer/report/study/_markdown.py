"""``write_markdown``: a results folder → a Markdown page and its figures as SVG files."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.files import make_folder
from mercer._system.results import only_from
from mercer._system.vocabulary import JUDGED, MISSED, NOT_JUDGED, mark_named
from mercer._system.words import fixed, is_known
from mercer.report._document import anchor, render_template, write_whole
from mercer.report.charts._figures import draw_figure
from mercer.report.study._about import repeat_command, run_facts
from mercer.report.study._paper_tables import (
    decimals,
    printed_places,
    reading_name,
    table_name,
    with_spread,
)
from mercer.report.study._results import Results, read_results, records_of
from mercer.report.study._summary import count_sentences, group_reasons, summarise
from mercer.report.study._verdicts import audit_of


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
        audit = audit_of(study["name"])
        studies.append({**study, "tables": tables, "figures": figures, "audit": audit})
    text = render_template(
        "reproduction.md",
        plain=_plain,
        run=results.run,
        command=repeat_command(results.run).replace("`", ""),
        summary=summary,
        said=count_sentences(summary),
        legend=[mark_named(name) for name in (*JUDGED, *NOT_JUDGED)],
        facts=run_facts(results.run),
        studies=studies,
        place=place,
    )
    return text, drawings


def _table(table: Mapping[str, Any], cells: pd.DataFrame) -> dict[str, Any]:
    """Return what is known of a table, with its cells written."""
    by_column = {name: cells[cells["column"] == name] for name in table["columns"]}
    labels = [row["label"] for row in table["rows"]]
    pairs = {
        (label, name): choose_lines(own[own["row"] == label])
        for label in labels
        for name, own in by_column.items()
    }
    several = {
        name: readings for name, own in by_column.items() if len(readings := _readings(own)) > 1
    }
    letters, unnamed = letter_readings(
        several, [line for (_, name), pair in pairs.items() if name in several for line in pair]
    )
    digits = {name: _digits(own, table["better"]) for name, own in by_column.items()}
    rows = [
        (
            label,
            [
                _cell(*pairs[label, name], digits[name], letters if name in several else {})
                for name, own in by_column.items()
            ],
        )
        for label in labels
    ]
    better = table["better"] and f"{table['better']} is better"
    return {
        **table,
        "name": table_name(table["key"]),
        "unit": ", ".join(filter(None, [table["unit"], better])),
        "columns": [_plain(name) for name in table["columns"]],
        "rows": rows,
        "readings": [(letter, reading_name(reading)) for reading, letter in letters.items()],
        "other_readings": [reading_name(reading) for reading in unnamed],
        "reasons": group_reasons(
            cells[cells["counts"]], (*MISSED, "misprint", "failed", "not run")
        ),
    }


_Line = Mapping[str, Any]


def _digits(cells: pd.DataFrame, better: str | None) -> tuple[int, int]:
    """Return how many decimals the means of a column have, and its whole numbers of one draw.

    A count, of which neither more nor less is better, has none where the paper prints none.
    """
    printed = max([decimals(cells["published"]), *cells["published_decimals"].dropna().astype(int)])
    means = max(1, min(2, decimals(cells["published"])))
    return means, means if better or printed else 0


def _readings(cells: pd.DataFrame) -> list[str]:
    """Return the measured readings of a column, in their order."""
    return list(dict.fromkeys(cells.loc[cells["measured"].notna(), "reading"]))


def choose_lines(lines: pd.DataFrame) -> tuple[_Line | None, _Line | None]:
    """Return the line that counts, or the first measured one, and the honest one beside it.

    Of several honest readings it is the same one, or the one whose name begins most like it.
    """
    open_ones = lines[lines["protocol"] != "honest"]
    that_count = open_ones[open_ones["counts"]]
    shown = records_of(that_count if len(that_count) else open_ones[open_ones["measured"].notna()])
    honest = records_of(lines[(lines["protocol"] == "honest") & lines["measured"].notna()])
    if not shown:
        return None, next(iter(honest), None)
    chosen = shown[0]

    def likeness(line: _Line) -> tuple[bool, int]:
        names = [line["reading"], chosen["reading"]]
        return names[0] == names[1], len(os.path.commonprefix(names))  # noqa: RUF071

    return chosen, max(honest, key=likeness, default=None)


def letter_readings(
    several: Mapping[str, Sequence[str]], lines: Sequence[_Line | None]
) -> tuple[dict[str, str], list[str]]:
    """Return letters for the readings of some lines, and the readings that none of them has.

    Letters go by the order of the readings in their columns, whatever line is the first.
    """
    shown = {line["reading"] for line in lines if line is not None and is_known(line["measured"])}
    every = list(dict.fromkeys(reading for readings in several.values() for reading in readings))
    named = [reading for reading in every if reading in shown]
    letters = {reading: _letter(number) for number, reading in enumerate(named)}
    return letters, [reading for reading in every if reading not in shown]


def _letter(number: int) -> str:
    """Return a letter for each number from 0 on: a, b, …, z, aa, ab."""
    more, last = divmod(number, 26)
    return (_letter(more - 1) if more else "") + "abcdefghijklmnopqrstuvwxyz"[last]


def _cell(
    line: _Line | None, honest: _Line | None, digits: tuple[int, int], letters: Mapping[str, str]
) -> str:
    """Write a number that counts with its mark and reading, and the honest one beside it."""
    parts = []
    if line is not None:
        if is_known(line["published"]):
            parts.append(f"{_published(line)} →")
        if is_known(line["measured"]):
            parts += [_measured(line, digits), mark_named(line["mark"]).sign, _draws(line)]
            parts.append(_in_brackets(line, letters))
        else:
            parts.append(_plain(line["mark"]))
    if honest is not None:
        parts.append(f"*{_measured(honest, digits)}*")
        if line is None or honest["reading"] != line["reading"]:
            parts.append(_in_brackets(honest, letters))
    return " ".join(filter(None, parts))


def _published(line: _Line) -> str:
    """Write a number as the paper prints it, with its spread: marks go by that."""
    places = printed_places(line, decimals([line["published"]]))
    text, spread = fixed(line["published"], places), line["published_spread"]
    if not is_known(spread):
        return text
    return f"{text} ± {fixed(spread, max(min(places, 1), decimals([spread])))}"


def _measured(line: _Line, digits: tuple[int, int]) -> str:
    """Write a mean, its spread and, in brackets, its standard error where it has one."""
    is_one_whole = not is_known(line["spread"]) and float(line["measured"]).is_integer()
    places = digits[is_one_whole]
    text = with_spread(line["measured"], line["spread"], places)
    error = line["standard_error"]
    return f"{text} ({fixed(error, places + 1)})" if is_known(error) else text


def _draws(line: _Line) -> str:
    """Say where a number that is one draw lies among the draws."""
    below = line["at_or_below"]
    if line["mark"] != "one draw" or not is_known(below):
        return ""
    return f"{below:.0f}/{line['n']:.0f}"


def _in_brackets(line: _Line, letters: Mapping[str, str]) -> str:
    letter = letters.get(line["reading"])
    return f"[{letter}]" if letter else ""


def _plain(text: object) -> str:
    """Return text that Markdown shows unchanged, also inside a table: one line, signs escaped."""
    words = " ".join(str(text).split())
    for sign in "\\`*_[]<>|":
        words = words.replace(sign, "\\" + sign)
    return words

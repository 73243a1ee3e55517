"""``write_comparison_report``: the results folder of ``mercer compare`` → ``report.html``."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from mercer._system.results import only_from
from mercer._system.vocabulary import metric_named
from mercer._system.words import confidence
from mercer.comparison import ComparisonFolder, ComparisonRecord, read_comparison
from mercer.report._document import render_template, write_whole
from mercer.report.charts._glyphs import COLOURS
from mercer.report.charts._scatter_figure import Scatter, make_scatter
from mercer.report.comparison._confusion import view_confusion
from mercer.report.comparison._curves import view_curves
from mercer.report.comparison._measured import machine_facts, measured_sentences
from mercer.report.comparison._question import class_bars, class_shares, sentences
from mercer.report.comparison._ranking import (
    ModelLine,
    draw_scores,
    model_line,
    other_measures,
    pair_lines,
    scores_by_split,
)

_FEW_CLASSES = 5  # up to so many, the confusion matrices of all leaders stand side by side
_METHODS = {"fisher": "kernel Fisher discriminants", "lda": "linear discriminants"}


def write_comparison_report(
    folder: str | os.PathLike[str], path: str | os.PathLike[str] | None = None
) -> Path:
    """Write the page of a comparison: one HTML file that needs nothing else.

    Parameters
    ----------
    folder : path-like
        What ``mercer compare`` wrote.
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
    >>> from mercer.report import write_comparison_report
    >>> write_comparison_report("mercer-comparison")  # doctest: +SKIP
    PosixPath('mercer-comparison/report.html')
    """
    comparison = read_comparison(folder)
    path = Path(folder) / "report.html" if path is None else Path(path)
    with only_from(Path(folder), "mercer compare"):
        page = render_comparison(comparison)
    return write_whole(path, page)


def render_comparison(comparison: ComparisonFolder) -> str:
    """Return the text of the page."""
    record, curves = comparison.record, comparison.curves
    question = record.question
    classes = class_shares(question)
    lines = [model_line(model) for model in record.models]
    leaders = [name for name in record.leaders if name in curves["confusion"]]
    ranked = [model.name for model in record.models if model.name in curves["confusion"]]
    confusions = {
        name: view_confusion(name, curves["classes"], curves["confusion"][name]) for name in ranked
    }
    shown = leaders if len(classes) <= _FEW_CLASSES else leaders[:1]
    colours = {one.name: one.colour for one in classes}
    return render_template(
        "comparison.html",
        record=record,
        question=question,
        said=sentences(question),
        classes=classes,
        class_bars=class_bars(classes) if len(classes) > COLOURS else None,
        columns=sorted(question.columns, key=lambda one: one.used),  # not used ones first
        metric=metric_named(record.metric).words,
        lower_is_better=record.lower_is_better,
        lines=lines,
        scored=[line.model for line in lines if line.is_scored],
        chart=_draw_scores(comparison, lines),
        pairs=pair_lines(record.pairs, record.confidence_level),
        level=confidence(record.confidence_level),
        warnings=_warnings(record, lines),
        leaders=[confusions[name] for name in shown],
        others=[confusions[name] for name in ranked if name not in shown],
        curves=view_curves(
            {name: curves["leaders"].get(name, _NO_CURVES) for name in leaders}, colours
        ),
        measures=other_measures(comparison),
        scatter=_scatter(comparison),
        method=_METHODS.get(record.map.method or "", record.map.method),
        measured=measured_sentences(record),
        facts=machine_facts(record),
    )


_NO_CURVES: Mapping[str, Any] = {"precision_recall": [], "calibration": None}


def _draw_scores(comparison: ComparisonFolder, lines: list[ModelLine]) -> Markup:
    scores = scores_by_split(comparison)
    record = comparison.record
    metric = metric_named(record.metric).words
    return draw_scores(
        [line for line in lines if line.is_scored],
        {name: part["score"].to_numpy(np.float64) for name, part in scores.groupby("model")},
        f"{metric[:1].upper()}{metric[1:]} by model",
        lower_is_better=record.lower_is_better,
    )


def _scatter(comparison: ComparisonFolder) -> Scatter | None:
    """Arrange the map; rows that every model gets wrong get a ring if all such rows are listed."""
    points, hard = comparison.points, comparison.record.hard_rows
    if points.empty:
        return None
    names = [one.name for one in comparison.record.question.classes]
    names += [name for name in dict.fromkeys(points["class"]) if name not in set(names)]
    is_whole = hard.count == len(hard.rows)
    marked = {one.row for one in hard.rows} if is_whole else set()
    return make_scatter(points, names, title="Map of the classes", marked=marked)


def _warnings(record: ComparisonRecord, lines: list[ModelLine]) -> list[str]:
    """Return what a reader must know before quoting a number."""
    found = []
    if record.interrupted:
        found.append("It was stopped before its time was up: the rounds that were finished count.")
    if record.too_few_rounds:
        found.append("Intervals of so few rounds are wide or missing.")
    failed = [line.model.name for line in lines if line.mark.name == "failed"]
    if failed:
        found.append(f"Failed: {', '.join(failed)}. The ranking says why.")
    return found

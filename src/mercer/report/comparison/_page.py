"""``write_comparison_report``: the results folder of ``mercer compare`` → ``report.html``."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mercer._system.results import only_from
from mercer._system.vocabulary import metric_named
from mercer._system.words import confidence, duration, is_known, listed, percent
from mercer.comparison import ComparisonFolder, ComparisonRecord, SetsRecord, read_comparison
from mercer.report._document import page_count, render_template, write_whole
from mercer.report.charts._glyphs import COLOURS
from mercer.report.charts._scatter_figure import Scatter, make_scatter
from mercer.report.comparison._confusion import view_confusion
from mercer.report.comparison._curves import view_curves
from mercer.report.comparison._decision import view_decision
from mercer.report.comparison._elsewhere import render_elsewhere
from mercer.report.comparison._hard import view_hard_cells
from mercer.report.comparison._importances import view_importances
from mercer.report.comparison._question import class_bars, class_shares, sentences
from mercer.report.comparison._ranking import (
    draw_scores,
    model_line,
    other_measures,
    other_metrics,
    pair_lines,
    splits_by_model,
)
from mercer.report.comparison._rare import view_rare_class

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
    if record.elsewhere is not None:
        return render_elsewhere(comparison, record.elsewhere)
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
        chart=draw_scores(
            lines,
            splits_by_model(comparison, record.metric),
            record.metric,
            lower_is_better=record.lower_is_better,
        ),
        other_metrics=other_metrics(comparison),
        pairs=pair_lines(record.pairs, record.confidence_level),
        level=confidence(record.confidence_level),
        decision=record.decision and view_decision(record.decision, [one.name for one in classes]),
        rare=[view_rare_class(one) for one in record.rare_classes],
        leaders=[confusions[name] for name in shown],
        others=[confusions[name] for name in ranked if name not in shown],
        curves=view_curves(
            {name: curves["leaders"].get(name, _NO_CURVES) for name in leaders}, colours
        ),
        measures=other_measures(comparison),
        about_sets=_sets_sentence(record.sets),
        hard_cells=view_hard_cells(record),
        importances=view_importances(record.importances),
        scatter=_scatter(comparison),
        method=_METHODS.get(record.map.method or "", record.map.method),
        families=_families(record),
        facts=_facts(record),
    )


def _sets_sentence(found: SetsRecord | None) -> str:
    """Say how many of the tested rows a model decides alone; nothing where no model has sets."""
    if found is None or not found.rows:
        return ""
    level, rows = confidence(found.coverage), page_count(found.rows)
    held = percent(found.held / found.rows)
    if found.alone == found.rows:
        return (
            f"Asked for sets of classes that hold the true one in {level} of rows, {found.model} "
            f"answers all {rows} tested rows with one class: that alone is right in {held}."
        )
    return (
        f"Asked for sets of classes that hold the true one in {level} of rows, {found.model} "
        f"decides {percent(found.alone / found.rows)} of the {rows} tested rows alone, and "
        f"{percent(1 - found.alone / found.rows)} are too close to call. The sets hold the true "
        f"class in {held} of rows; one class alone is right in "
        f"{percent(found.right / found.alone if found.alone else None)}."
    )


_NO_CURVES: Mapping[str, Any] = {"precision_recall": [], "roc": [], "calibration": None}


def _scatter(comparison: ComparisonFolder) -> Scatter | None:
    """Arrange the map; rows that every model gets wrong get a ring if all such rows are listed."""
    points, hard = comparison.points, comparison.record.hard_rows
    if points.empty:
        return None
    names = [one.name for one in comparison.record.question.classes]
    names += [name for name in dict.fromkeys(points["class"]) if name not in set(names)]
    # Rows of a test file are not on the map, which is of the table.
    is_whole = hard.count == len(hard.rows) and comparison.record.splits.kind != "a test file"
    marked = {one.row for one in hard.rows} if is_whole else set()
    return make_scatter(points, names, title="Map of the classes", marked=marked)


def _families(record: ComparisonRecord) -> list[str]:
    """Say how many pairs were tested: those of models, and those with the floor, each apart."""
    floors = sorted(one.name for one in record.models if one.kind == "floor")
    n_floor = sum(pair.a in floors or pair.b in floors for pair in record.pairs)
    n_pairs = len(record.pairs) - n_floor
    families = [f"{n_pairs} of models"] if n_pairs else []
    return families + ([f"{n_floor} with {listed(floors)}"] if n_floor else [])


def _facts(record: ComparisonRecord) -> list[tuple[str, str]]:
    """Return what the foot of the page says of the run."""
    budget, seconds, machine = record.budget_seconds, record.seconds, record.machine
    facts = [
        ("Seed", str(record.seed)),
        ("Rounds", str(record.rounds)),
        ("Budget", duration(budget) if is_known(budget) else ""),
        ("Time of the rounds", duration(seconds) if is_known(seconds) else ""),
        ("System", str(machine.get("system", ""))),
        ("Processor", str(machine.get("processor", ""))),
        ("Cores", str(machine.get("cores", "") or "")),
    ]
    return [(name, text) for name, text in facts if text]

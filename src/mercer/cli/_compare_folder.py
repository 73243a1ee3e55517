"""The results folder of ``mercer compare``: what is in it, and how it gets there whole."""

import json
import math
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._system.environment import machine, versions
from mercer._system.files import moved_in_whole, sweep
from mercer._system.vocabulary import METRICS
from mercer.cli._compare_question import Question
from mercer.comparison import confusion_counts, curves_of, hard_rows

if TYPE_CHECKING:
    import pandas as pd

    from mercer.comparison import RoundsComparison

__all__ = ["check_folder", "describe", "longer_command", "write_folder"]

_MOST_LEADERS = 4
_ROUNDS_TO_AIM_AT = 10  # every row is tested once
_MARK = "comparison.json"  # moved last: where it is, all else is
_PAGE = "report.html"  # of the results before: it goes with them


def check_folder(output: Path) -> None:
    """Refuse a place for results before hours are spent on them."""
    if output.exists() and not output.is_dir():
        raise NotADirectoryError(f"{output} is a file: choose another folder with -o.")
    there = output if output.exists() else next(p for p in output.absolute().parents if p.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file, not a folder: choose another with -o.")
    if not os.access(there, os.W_OK):
        raise PermissionError(f"Nothing can be written to {there}: choose another folder with -o.")


def describe(
    question: Question,
    comparison: "RoundsComparison",
    *,
    the_map: Mapping[str, Any],
    budget: float,
    seed: int,
    again: str | None = None,
) -> dict[str, Any]:
    """Return ``comparison.json``: the question, the ranking, the tests and the answer."""
    data = question.data
    classes, counts = np.unique(data.y, return_counts=True)
    leaders = _leaders(comparison)
    rows = np.asarray(data.X.index, dtype=np.intp) + 1
    rivals = [name for name in comparison.scores if _kind(name) != "floor"]
    return {
        "kind": "comparison",
        "question": {
            "table": question.table,
            "is_bundled": question.bundled is not None,
            "target": data.target,
            "rows": len(data.y),
            "columns": [asdict(column) for column in data.columns],
            "classes": [
                {"name": str(name), "rows": int(n)} for name, n in zip(classes, counts, strict=True)
            ],
            "notes": list(data.notes),
        },
        "metric": question.metric,
        "metric_reason": question.reason,
        "lower_is_better": METRICS[question.metric].lower_is_better,
        "positive_class": str(comparison.positive) if len(classes) == 2 else None,
        "confidence_level": comparison.confidence_level,
        "budget_seconds": budget,
        "seconds": round(comparison.seconds, 2),
        "interrupted": comparison.interrupted,
        "rounds": len(comparison.rounds),
        "splits": {
            "kind": "repeated stratified folds",
            "folds": comparison.n_folds,
            "train_rows": comparison.n_train,
            "test_rows": comparison.n_test,
        },
        "models": _models(comparison),
        "pairs": _records(
            comparison.pairs.drop(columns=["test", "statistic"]).rename(
                columns={"pvalue_holm": "corrected"}
            )
        ),
        "answer": comparison.answer,
        "too_few_rounds": comparison.has_few_rounds,
        "longer_command": again,
        "leader": comparison.leader,
        "leaders": leaders,
        "hard_rows": hard_rows(comparison, rivals or list(comparison.scores), rows),
        "map": dict(the_map),
        "fit_command": _fit_command(question, comparison.leader, seed),
        "python": _python(question, comparison.leader, seed),
        "versions": versions(),
        "machine": machine(),
        "seed": seed,
    }


def longer_command(
    options: Mapping[str, object], comparison: "RoundsComparison", budget: float
) -> str | None:
    """Return the command with time enough for ten rounds, where there were too few; else None."""
    if not comparison.has_few_rounds or comparison.interrupted:
        return None
    seconds = budget * _ROUNDS_TO_AIM_AT / len(comparison.rounds)
    time = f"{math.ceil(seconds / 60)}m" if seconds > 90 else f"{math.ceil(seconds)}s"
    given = {**options, "--budget": time}
    words = [[name, str(value)] for name, value in given.items() if value is not None]
    return shlex.join(["mercer", "compare", *(word for pair in words for word in pair if word)])


def _models(comparison: "RoundsComparison") -> list[dict[str, Any]]:
    """Return the ranking, those that failed or were left out at its end."""
    from mercer.models import describe_model

    table = comparison.summary.rename(columns={"n_bytes": "bytes"})
    lines = _records(table.rename_axis("name").reset_index())
    for line in lines:
        info = describe_model(line["name"])
        line |= {"label": info.label, "kind": info.kind}
        for count in ("bytes", "n_rows_fitted"):
            line[count] = None if line[count] is None else int(line[count])
    return lines


def _fit_command(question: Question, name: str, seed: int) -> str:
    """Return the command that fits the model on all rows."""
    parts = ["mercer", "fit", question.path, "--target", question.data.target, "--model", name]
    balanced = ["--balanced"] if question.is_balanced else []
    seeded = ["--seed", str(seed)] if seed else []
    rows = ["--max-rows", str(question.max_rows)] if _sees_more(question, name) else []
    placed = ["--device", question.device] if question.device and _kind(name) == "mercer" else []
    return shlex.join([*parts, *balanced, *seeded, *rows, *placed, "-o", f"{name}.skops"])


def _python(question: Question, name: str, seed: int) -> str:
    options = [", balanced=True"] if question.is_balanced else []
    options += [f", random_state={seed}"] if seed else []
    options += [f", max_rows={question.max_rows}"] if _sees_more(question, name) else []
    return "\n".join(
        [
            "from mercer.models import make_model",
            "from mercer.tables import read_table, split_target",
            "",
            f"data = split_target(read_table({question.path!r}), {question.data.target!r})",
            f"model = make_model({name!r}, data{''.join(options)}).fit(data.X, data.y)",
        ]
    )


def _sees_more(question: Question, name: str) -> bool:
    """Whether a model saw more rows of this table than it would see by default."""
    from mercer.models import describe_model

    usual = describe_model(name).max_rows
    return usual is not None and usual < min(question.max_rows, len(question.data.y))


def _kind(name: str) -> str:
    from mercer.models import describe_model

    return describe_model(name).kind


def _leaders(comparison: "RoundsComparison") -> list[str]:
    """Return the best model and those that cannot be told from it."""
    table = comparison.summary
    near = table.index[table["against_best"].isin(["best", "not told apart"])]
    return [str(name) for name in near if _kind(name) != "floor"][:_MOST_LEADERS]


def write_folder(
    output: Path,
    question: Question,
    comparison: "RoundsComparison",
    points: "pd.DataFrame",
    content: Mapping[str, Any],
) -> None:
    """Write everything, then move it to its place together: on failure what was there stays."""
    try:
        _write_beside(output.absolute(), question, comparison, points, content)
    except OSError as error:
        first = error.__cause__ if isinstance(error.__cause__, OSError) else error
        raise type(error)(
            f"The results cannot be written to {output} ({first.strerror or first}): free some "
            "space or choose another folder with -o."
        ) from error


def _write_beside(
    output: Path,
    question: Question,
    comparison: "RoundsComparison",
    points: "pd.DataFrame",
    content: Mapping[str, Any],
) -> None:
    from mercer.tables import write_table

    rows = np.asarray(question.data.X.index, dtype=np.intp) + 1
    leaders = content["leaders"]
    sweep(output)
    with moved_in_whole(output, _MARK, outdated=[_PAGE]) as place:
        write_table(_scores(comparison), place / "scores.csv")
        write_table(_predictions(comparison, leaders, rows), place / "predictions.csv")
        write_table(points, place / "map.csv")
        _write_json(place / "curves.json", _curves(comparison, leaders))
        if question.bundled is not None:
            write_table(question.bundled, place / "table.csv")
        _write_json(place / _MARK, content)


def _scores(comparison: "RoundsComparison") -> "pd.DataFrame":
    scores = comparison.metrics.rename_axis(["model", "split"]).reset_index()
    scores.insert(2, "score", scores[comparison.metric])
    return scores


def _predictions(comparison: "RoundsComparison", leaders: list[str], rows: Any) -> "pd.DataFrame":
    frame = comparison.predictions.reset_index()
    frame.insert(1, "row", rows[frame.pop("sample")])
    frame = frame.rename(columns={"y_true": "truth"})
    for name in leaders:
        if comparison.has_probabilities[name] and name in comparison.outputs:
            for c, label in enumerate(comparison.classes):
                values = comparison.outputs[name][:, c].astype(float)
                frame[f"p:{name}:{label}"] = values.round(6)
    return frame


def _curves(comparison: "RoundsComparison", leaders: list[str]) -> dict[str, Any]:
    return {
        "classes": [str(label) for label in comparison.classes],
        "confusion": {name: confusion_counts(comparison, name) for name in comparison.scores},
        "leaders": {name: curves_of(comparison, name) for name in leaders},
    }


def _records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return rows as JSON has them: no NaN."""
    lines: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return lines


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", errors="replace")  # a path may be no text

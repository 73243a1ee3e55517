"""The results folder of ``mercer compare``, read and checked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mercer.report._checked_files import check_folder, read_json, read_table

__all__ = ["Comparison", "read_comparison"]

_COMMAND = "mercer compare"
_MARK = "comparison.json"

# What the page cannot do without, by place in comparison.json.
_KEYS: Mapping[str, Sequence[str]] = {
    "": (
        "question", "metric", "confidence_level", "rounds", "splits", "models", "pairs", "answer",
        "leader", "leaders", "hard_rows", "map", "fit_command", "python", "versions", "seed",
    ),
    "question": ("table", "target", "rows", "columns", "classes", "notes"),
    "splits": ("folds", "train_rows", "test_rows"),
    "hard_rows": ("count", "tested", "rows"),
}  # fmt: skip
_LISTED: Mapping[str, Sequence[str]] = {
    "models": (
        "name", "label", "kind", "score", "low", "high", "difference", "pvalue", "against_best",
        "fit_seconds", "predict_seconds", "bytes", "n_rows_fitted", "error", "note",
    ),
    "pairs": ("a", "b", "difference", "low", "high", "pvalue", "corrected", "verdict"),
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What a results folder of ``mercer compare`` holds.

    Attributes
    ----------
    content : mapping
        ``comparison.json``: the question, the ranking, the tests and the answer.
    curves : mapping
        ``curves.json``: confusion matrices, and curves of the leaders.
    scores : DataFrame
        ``scores.csv``: a line per model and split, a column per measure.
    points : DataFrame
        ``map.csv``: row, x, y, class and held_out.
    """

    content: Mapping[str, Any]
    curves: Mapping[str, Any]
    scores: pd.DataFrame
    points: pd.DataFrame


def read_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Read a results folder, or say in a sentence what is wrong with it."""
    folder = Path(folder)
    check_folder(folder)
    if not (folder / _MARK).is_file():
        raise FileNotFoundError(
            f"{folder} is not a results folder of `{_COMMAND}`: {_MARK} is missing"
        )
    content = read_json(folder, _MARK, dict, _COMMAND)
    if content.get("kind") != "comparison":
        raise ValueError(f"{folder / _MARK} is not what `{_COMMAND}` writes")
    try:
        _check(folder / _MARK, content)
    except TypeError as error:
        raise ValueError(f"{folder / _MARK} is not what `{_COMMAND}` writes") from error
    curves = read_json(folder, "curves.json", dict, _COMMAND)
    for key in ("classes", "confusion", "leaders"):
        if key not in curves:
            raise ValueError(f"{folder / 'curves.json'} has no {key!r}")
    points = read_table(
        folder, "map.csv", ("row", "x", "y", "class", "held_out"), ("row", "x", "y")
    )
    points["held_out"] = points["held_out"].str.lower().isin(["true", "1"])
    return Comparison(content, curves, _read_scores(folder), points)


def _check(path: Path, content: Mapping[str, Any]) -> None:
    """Say what a description lacks."""
    for place, keys in _KEYS.items():
        part = content[place] if place else content
        if not isinstance(part, dict):
            raise ValueError(f"{path}: {place!r} is not what `{_COMMAND}` writes")
        for key in keys:
            if key not in part:
                raise ValueError(f"{path} has no {key!r}" + (f" in {place!r}" if place else ""))
    for place, keys in _LISTED.items():
        for line in content[place]:
            for key in keys:
                if key not in line:
                    raise ValueError(f"{path}: one of {place!r} has no {key!r}")


def _read_scores(folder: Path) -> pd.DataFrame:
    name, keys = "scores.csv", ("model", "split", "score")
    header = read_table(folder, name, keys, ())
    return read_table(folder, name, keys, [one for one in header.columns if one != "model"])

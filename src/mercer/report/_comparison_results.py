"""The results folder of ``mercer compare``, as the page shows it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

import mercer.comparison

__all__ = ["Comparison", "read_comparison"]


@dataclass(frozen=True)
class Comparison:
    """What the page shows: the record as ``comparison.json`` has it, curves, scores and points."""

    content: Mapping[str, Any]
    curves: Mapping[str, Any]
    scores: pd.DataFrame
    points: pd.DataFrame


def read_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Read a results folder, or say in a sentence what is wrong with it."""
    found = mercer.comparison.read_comparison(folder)
    return Comparison(found.record.to_json(), found.curves, found.scores, found.points)

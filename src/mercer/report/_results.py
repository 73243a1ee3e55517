"""A results folder, read and checked."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["Results", "read_results"]

_LINE = ("study", "table", "row", "column", "reading", "protocol")
_NUMBERS = (
    "published", "published_spread", "published_dimension",
    "measured", "spread", "dimension", "n", "seconds",
)  # fmt: skip
_CELLS = (*_LINE, *_NUMBERS, "mark", "counts", "reason")
_TIMINGS = (*_LINE, "replication", "seconds")
_FAILURES = (*_LINE, "replication", "error")


@dataclass(frozen=True)
class Results:
    """What a results folder holds.

    Attributes
    ----------
    run : mapping
        How it was run: mode, protocol, versions, machine, times.
    studies : sequence of mapping
        Titles, tables and figures of every study.
    cells : DataFrame
        A line per published cell and measured number.  ``counts`` marks the line that stands for
        a published cell in the summary.
    timings, failures : DataFrame
        Seconds of jobs, and errors; empty where the file is missing.
    panels : mapping from file to sequence of panels
        What the figures show.
    """

    run: Mapping[str, Any]
    studies: Sequence[Mapping[str, Any]]
    cells: pd.DataFrame
    timings: pd.DataFrame
    failures: pd.DataFrame
    panels: Mapping[str, Sequence[Mapping[str, Any]]]


def read_results(folder: str | os.PathLike[str]) -> Results:
    """Read a results folder, or say in a sentence what is wrong with it."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no results folder {folder}")
    run = _read_json(folder, "run.json", dict)
    studies = _read_json(folder, "studies.json", list)
    cells = _read_table(folder, "cells.csv", _CELLS, needed=True)
    _check_studies(folder, studies, cells)
    cells["counts"] = cells["counts"].str.lower().isin(["true", "1"])
    files = [
        figure["file"] for study in studies for figure in study["figures"] if figure.get("file")
    ]
    return Results(
        run=run,
        studies=studies,
        cells=cells,
        timings=_read_table(folder, "timings.csv", _TIMINGS, needed=False),
        failures=_read_table(folder, "failures.csv", _FAILURES, needed=False),
        panels={file: _read_json(folder, file, dict).get("panels", []) for file in files},
    )


_STUDY = ("name", "title", "reference", "protocol", "missing", "tables", "figures")


def _check_studies(folder: Path, studies: Sequence[Mapping[str, Any]], cells: pd.DataFrame) -> None:
    """Say what a description lacks, or which cells nothing describes."""
    for study in studies:
        for key in _STUDY:
            if key not in study:
                raise ValueError(f"{folder / 'studies.json'}: a study has no {key!r}")
    described = {(study["name"], table["key"]) for study in studies for table in study["tables"]}
    for name, key in cells[["study", "table"]].drop_duplicates().itertuples(index=False):
        if (name, key) not in described:
            raise ValueError(
                f"{folder / 'cells.csv'} has table {key!r} of study {name!r}, "
                "which studies.json does not describe"
            )


def _read_json(folder: Path, name: str, kind: type) -> Any:
    text = _read(folder, name)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{folder / name} is no valid JSON: {error}") from error
    if not isinstance(content, kind):
        raise ValueError(f"{folder / name} is not what `mercer reproduce` writes")
    return content


def _read(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is no complete results folder: {name} is missing")
    return path.read_text(encoding="utf-8")


def _read_table(folder: Path, name: str, columns: Sequence[str], *, needed: bool) -> pd.DataFrame:
    """Read texts as they stand and numbers as floats; an empty number is NaN."""
    path = folder / name
    if not needed and not path.is_file():
        return pd.DataFrame(columns=list(columns))
    _read(folder, name)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}")
    for column in set(columns) & {*_NUMBERS, "replication"}:
        try:
            table[column] = [float(text or "nan") for text in table[column]]
        except ValueError as error:
            raise ValueError(f"{path}: column {column!r} holds more than numbers") from error
    return table

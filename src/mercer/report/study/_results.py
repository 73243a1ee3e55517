"""The results folder of ``mercer reproduce``, read and checked."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.results import check_folder, only_from, read_json, read_table
from mercer._system.vocabulary import STUDY_TABLES

_COMMAND = "mercer reproduce"
_NUMBERS = {
    "published", "published_spread", "published_dimension", "published_decimals",
    "measured", "spread", "dimension", "n", "standard_error", "at_or_below", "seconds",
    "replication",
}  # fmt: skip

# What folders of before lack, or call by another name.
_NEW = {"published_decimals", "standard_error", "at_or_below", "one_reading"}
_RENAMED = {"cannot be had": "not available"}


@dataclass(frozen=True)
class Results:
    """What a results folder holds: what :mod:`mercer.studies` describes, and the figures' panels.

    In `cells`, ``counts`` marks the line that stands for a published cell in the summary, and
    ``one_reading`` those of the one reading that stands for a column; a folder of before has no
    such choice, nor standard errors, nor claims.
    """

    run: Mapping[str, Any]
    studies: Sequence[Mapping[str, Any]]
    cells: pd.DataFrame
    timings: pd.DataFrame  # empty where the file is missing, as the next one
    failures: pd.DataFrame
    panels: Mapping[str, Sequence[Mapping[str, Any]]]  # by the file of the figure


def read_results(folder: str | os.PathLike[str]) -> Results:
    """Read a results folder; an error says in a sentence what is wrong with it."""
    folder = Path(folder)
    check_folder(folder)
    run = read_json(folder, "run.json", dict, _COMMAND)
    for key in ("mercer", "mode", "protocol"):
        if key not in run:
            raise ValueError(f"{folder / 'run.json'} has no {key!r}: `{_COMMAND}` writes it.")
    studies = read_json(folder, "studies.json", list, _COMMAND)
    cells = _read_lines(folder, "cells")
    try:
        _check_studies(folder, studies, cells)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / 'studies.json'} is not what `{_COMMAND}` writes.") from error
    for choice in ("counts", "one_reading"):
        cells[choice] = cells[choice].str.lower().isin(["true", "1"])
    cells["mark"] = cells["mark"].replace(_RENAMED)
    with only_from(folder, _COMMAND):
        files = [
            str(figure["file"])
            for study in studies
            for figure in study["figures"]
            if figure.get("file")
        ]
    return Results(
        run=run,
        studies=[{"claims": [], **study} for study in studies],
        cells=cells,
        timings=_read_if_there(folder, "timings"),
        failures=_read_if_there(folder, "failures"),
        panels={file: read_json(folder, file, dict, _COMMAND).get("panels", []) for file in files},
    )


def records_of(lines: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each line of a table by the names of its columns."""
    return [{str(key): value for key, value in one.items()} for one in lines.to_dict("records")]


def _read_lines(folder: Path, name: str) -> pd.DataFrame:
    columns = STUDY_TABLES[name]
    return read_table(folder, f"{name}.csv", columns, _NUMBERS.intersection(columns), _NEW)


def _read_if_there(folder: Path, name: str) -> pd.DataFrame:
    if not (folder / f"{name}.csv").is_file():
        return pd.DataFrame(columns=list(STUDY_TABLES[name]))
    return _read_lines(folder, name)


_STUDY = ("name", "title", "reference", "protocol", "missing", "tables", "figures")


def _check_studies(folder: Path, studies: Sequence[Mapping[str, Any]], cells: pd.DataFrame) -> None:
    """Raise an error if a key is missing, or if cells belong to a table that is not described.

    Claims are newer than folders that somebody may have kept.
    """
    for study in studies:
        for key in _STUDY:
            if key not in study:
                raise ValueError(f"{folder / 'studies.json'}: a study has no {key!r}.")
        for claim in study.get("claims", ()):
            if not all(isinstance(claim[key], str) for key in ("said", "where", "judged")):
                raise TypeError(f"A claim of {study['name']} is not made of texts.")
    described = {(study["name"], table["key"]) for study in studies for table in study["tables"]}
    for name, key in cells[["study", "table"]].drop_duplicates().itertuples(index=False):
        if (name, key) not in described:
            raise ValueError(
                f"{folder / 'cells.csv'} has table {key!r} of study {name!r}, "
                "which studies.json does not describe."
            )

"""Files of a results folder, read and checked; what is wrong is said in a sentence."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["check_folder", "read_json", "read_table"]


def check_folder(folder: Path) -> None:
    """Refuse what is no folder."""
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no results folder {folder}")


def read_json(folder: Path, name: str, kind: type, command: str) -> Any:
    """Read a file of JSON; `command` is what should have written it."""
    text = _read(folder, name)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{folder / name} is no valid JSON: {error}") from error
    if not isinstance(content, kind):
        raise ValueError(f"{folder / name} is not what `{command}` writes")
    return content


def read_table(
    folder: Path, name: str, columns: Sequence[str], numbers: Collection[str]
) -> pd.DataFrame:
    """Read texts as they stand and `numbers` as floats; an empty number is NaN."""
    path = folder / name
    _read(folder, name)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    except pd.errors.ParserError as error:
        raise ValueError(f"{path} is no table: {error}") from error
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}")
    for column in numbers:
        try:
            table[column] = [float(text or "nan") for text in table[column]]
        except ValueError as error:
            raise ValueError(f"{path}: column {column!r} holds more than numbers") from error
    return table


def _read(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is no complete results folder: {name} is missing")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged: it is no text in UTF-8") from error

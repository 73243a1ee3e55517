"""Files of a results folder, read and checked; what is wrong is said in a sentence.

A folder may come from somebody else, so that nothing in it is taken for granted: not its size, not
that a file of figures is inside it, and not what a number is.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from mercer._system.files import read_at_most
from mercer._system.formulas import restored
from mercer._system.words import limit_of_bytes

_MAX_BYTES = 1 << 28


def check_folder(folder: Path) -> None:
    """Raise an error where there is no such folder."""
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no results folder {folder}.")


@contextmanager
def only_from(folder: Path, command: str) -> Iterator[None]:
    """Turn any error while a folder is shown into a sentence that names the folder."""
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception as error:  # what a made-up folder may raise is anything
        what = (str(error).splitlines() or [""])[0][:100]
        raise ValueError(
            f"{folder} holds something that `{command}` does not write "
            f"({type(error).__name__}: {what}): run it again."
        ) from error


def read_json(folder: Path, name: str, kind: type, command: str) -> Any:
    """Read a file of JSON; `command` is what should have written it."""
    text = _read(folder, name)
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError(f"{folder / name} is nested too deeply.") from error
    except ValueError as error:  # of JSON, or of a number with more digits than Python reads
        raise ValueError(f"{folder / name} is not valid JSON: {error}.") from error
    if not isinstance(content, kind):
        raise ValueError(f"{folder / name} is not what `{command}` writes.")
    return content


def read_table(
    folder: Path,
    name: str,
    columns: Sequence[str],
    numbers: Collection[str],
    optional: Collection[str] = (),
) -> pd.DataFrame:
    """Read texts as they stand and `numbers` as floats; an empty number is NaN.

    Columns that are `optional`, because folders of before lack them, are empty where missing.
    """
    path = folder / name
    _read(folder, name)
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
        table = restored(table.set_axis(map(str, table.columns), axis=1))
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    except ValueError as error:  # ragged, or a quotation mark that is never closed
        raise ValueError(f"{path} is not valid CSV: {error}.") from error
    missing = [column for column in columns if column not in table.columns]
    for column in missing:
        if column not in optional:
            raise ValueError(f"{path} has no column {column!r}.")
    table = table.assign(**dict.fromkeys(missing, ""))
    for column in numbers:
        try:
            table[column] = [float(text or "nan") for text in table[column]]
        except ValueError as error:
            raise ValueError(f"{path}: column {column!r} holds more than numbers.") from error
    return table


def _read(folder: Path, name: str) -> str:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{folder} refers to {str(name)!r}, which is not inside it.")
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is not a complete results folder: {name} is missing.")
    with path.open("rb") as stream:
        content = read_at_most(stream, _MAX_BYTES)
    if len(content) > _MAX_BYTES:
        raise ValueError(
            f"{path} is larger than {limit_of_bytes(_MAX_BYTES)}, the most that is read."
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text.") from error

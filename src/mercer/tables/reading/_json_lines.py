"""JSON lines: an object in each line, its keys the names of the columns."""

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from mercer._system.words import count_of, quoted
from mercer.tables._table import check_names
from mercer.tables.reading._binary import with_rows
from mercer.tables.reading._delimited import name_unnamed
from mercer.tables.reading._encoding import as_utf8
from mercer.tables.reading._source import Limits, check_size, check_width

_BYTES_PER_CELL = 8


def read_json_lines(content: bytes, name: str, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Return a row for each line; what a line lacks is missing, what is nested becomes text."""
    content, notes = as_utf8(content, name, max_line=limits.max_line)
    if content.lstrip().startswith(b"["):
        raise ValueError(
            f"{name} is one list of JSON: write an object in each line (JSON lines), or CSV."
        )
    columns, n_nested = parse_lines(content, name, limits)
    names, more = names_of_keys(columns, name)
    frame = pd.DataFrame(dict(zip(names, columns.values(), strict=True)))
    notes += [*note_on_nested(n_nested, name), *more]
    return with_rows(frame.infer_objects(), name), notes


def parse_lines(
    content: bytes, name: str, limits: Limits, first_line: int = 1
) -> tuple[dict[str, list[Any]], int]:
    """Return the cells of some lines by their keys, and how many were nested."""
    columns: dict[str, list[Any]] = {}
    n_rows = n_nested = 0
    for number, line in enumerate(content.splitlines(), start=first_line):
        if not line.strip():
            continue
        for key, value in _parsed(line, number, name).items():
            if key not in columns:
                columns[key] = [None] * n_rows
                check_width(len(columns), name, limits)
            if isinstance(value, dict | list):
                n_nested, value = n_nested + 1, json.dumps(value, ensure_ascii=False)
            columns[key].append(value)
        n_rows += 1
        check_size(
            n_rows * len(columns) * _BYTES_PER_CELL, f"{name}, as a table,", limits.max_bytes
        )
        for cells in columns.values():
            if len(cells) < n_rows:
                cells.append(None)
    return columns, n_nested


def names_of_keys(keys: Iterable[str], name: str) -> tuple[list[str], list[str]]:
    """Return the names of the columns, and notes on those that have none."""
    names, notes = name_unnamed(list(keys))
    check_names(names, name)
    return names, notes


def note_on_nested(n_nested: int, name: str) -> list[str]:
    """Say how many cells hold more than one value."""
    if not n_nested:
        return []
    are = "is" if n_nested == 1 else "are"
    return [f"{count_of(n_nested, 'nested value')} of {name} {are} taken as text."]


def _parsed(line: bytes, number: int, name: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name} has no JSON object in line {number}: write one in each line, or CSV."
        ) from error
    if not isinstance(found, dict):
        shown = quoted(line[:20].decode("utf-8", errors="replace"))
        raise ValueError(
            f"{name} holds {shown} in line {number}, which is not an object: write one in each "
            'line, such as {"age": 31}.'
        )
    return found

"""Two tables → the columns that both have, read alike, with the rows of both below each other."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.tables import Column, Table, describe_columns, match_columns, typed_frame

# Other kinds say how often values repeat, which may well differ between tables.
_HOLDING_VALUES = {"number", "category", "date"}


def pool_tables(
    first: Table, second: Table, kinds: Mapping[str, str] | None = None
) -> tuple[list[Column], pd.DataFrame, NDArray[np.bool_], list[str]]:
    """Return the columns of both, their typed rows, which are of the second table, and notes.

    `kinds` are those of columns that the caller knows better.
    """
    for table in (first, second):
        if len(table.frame) < 2:
            raise ValueError(f"{table.name} has fewer than two rows: there is nothing to compare.")
    shared = [name for name in first.frame if name in second.frame]
    if not shared:
        raise ValueError(
            f"{first.name} and {second.name} have no column in common: their names must agree."
        )
    notes = [*first.notes, *second.notes]
    for table, other in ((first, second), (second, first)):
        only = [str(name) for name in table.frame if name not in other.frame]
        if only:
            shown = ", ".join(map(repr, only[:5])) + (", …" if len(only) > 5 else "")
            notes.append(f"Only in {table.name}, and not compared: {shown}.")
    frames = _read_alike(first, second, shared, kinds or {}, notes)
    both = pd.concat(frames, ignore_index=True)
    pooled = Table(both, f"{first.name} and {second.name}")
    columns = describe_columns(pooled, kinds=kinds)
    for table, frame in zip((first, second), frames, strict=True):
        _type_with_notes(Table(frame, table.name), columns, notes)
    notes += [
        f"Column {column.name!r} is not compared ({column.kind}: {column.reason})."
        for column in columns
        if not column.used
    ]
    if not any(column.used for column in columns):
        raise ValueError(
            f"No column of {pooled.name} can be compared: all are identifiers, text or constant."
        )
    is_second = np.arange(len(both)) >= len(first.frame)
    return columns, match_columns(pooled, columns).frame, is_second, notes


def _type_with_notes(table: Table, columns: list[Column], notes: list[str]) -> pd.DataFrame:
    """Return the typed columns; a note names cells that are not of their column's kind."""
    kinds = {column.name: column.kind for column in columns}
    frame, unread = typed_frame(table.frame, columns)
    notes += [
        f"Column {name!r} of {table.name}: {found.sentence(kinds[name])}."
        for name, found in unread.items()
        if found
    ]
    return frame


def _read_alike(
    first: Table,
    second: Table,
    shared: list[str],
    known: Mapping[str, str],
    notes: list[str],
) -> list[pd.DataFrame]:
    """Return the shared columns; numbers and dates written in two styles are read by their own."""
    frames = [table.frame[shared].copy() for table in (first, second)]
    for name in shared:
        tables = [
            Table(frame[[name]], table.name)
            for table, frame in zip((first, second), frames, strict=True)
        ]
        own = {name: known[name]} if name in known else None
        described = [describe_columns(table, kinds=own) for table in tables]
        kinds, styles = zip(*((column.kind, column.style) for (column,) in described), strict=True)
        if kinds[0] != kinds[1] and set(kinds) <= _HOLDING_VALUES:
            notes.append(
                f"Column {name!r} is read as {kinds[0]} in {first.name} and as {kinds[1]} in "
                f"{second.name}: look whether it holds the same."
            )
        if styles[0] != styles[1] and kinds in (("number", "number"), ("date", "date")):
            for frame, table, columns in zip(frames, tables, described, strict=True):
                frame[name] = _type_with_notes(table, columns, notes)[name]
    return frames

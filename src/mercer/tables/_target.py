"""The column to predict: rows with a class, the classes by name, and columns to learn from."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from mercer._system.words import count_of, grouped, quoted
from mercer.tables._sentences import listed
from mercer.tables._table import Column, LabelledTable, as_table
from mercer.tables.typing._cells import as_numbers, as_text, is_number
from mercer.tables.typing._kinds import check_column, describe_columns
from mercer.tables.typing._match import typed_frame

_FEW_CLASSES = 20  # Up to this many different values are classes without doubt.
_ROWS_PER_CLASS = 5  # More numbers are a quantity if they have fewer rows on average.
_MOST_CLASSES = 1000
_MOST_NAMES = 20  # At most this many columns that are not used are named in a note.
_MOST_NOTES = 10  # At most this many notes tell of columns that are read in a particular way.


def split_target(
    table: Any,
    target: str,
    *,
    kinds: Mapping[str, str] | None = None,
    min_class_rows: int = 2,
) -> LabelledTable:
    """Divide a table into what is known of each row, X, and its class, y.

    Rows without a class are left out, and so are rows of a class that has fewer than
    ``min_class_rows``: nothing can be both learnt and checked on one row.  Both are counted in
    a note.

    Parameters
    ----------
    table : Table or DataFrame
        Rows.
    target : str
        Name of the column that holds the class.
    kinds : dict of name to kind, optional
        Columns whose kind you know better, as in :func:`describe_columns`.
    min_class_rows : int, default=2
        Classes with fewer rows are left out. A comparison by folds needs one row for each.

    Returns
    -------
    LabelledTable
        X, y, columns, and notes (those of the table first).

    Raises
    ------
    ColumnNotFoundError
        Where there is no such column.
    ValueError
        Where the target has fewer than two classes or holds a quantity, names or text, and
        where no column is left to learn from.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import split_target
    >>> fruit = ["fig", "fig", "kiwi", "kiwi", None]
    >>> frame = pd.DataFrame({"size": [1.5, 1.7, 4.2, 4.4, 3.0], "fruit": fruit})
    >>> data = split_target(frame, "fruit")
    >>> data.y.tolist(), data.X["size"].tolist()
    (['fig', 'fig', 'kiwi', 'kiwi'], [1.5, 1.7, 4.2, 4.4])
    >>> data.notes
    ("1 row without a value of 'fruit' is left out.",)
    """
    table = as_table(table)
    check_column(target, table)
    values = table.frame[target]
    classes = as_text(values)
    where = f"column {quoted(target)} of {table.name}"
    notes = list(table.notes)

    has_class = classes.codes >= 0
    n_without = int((~has_class).sum())
    if n_without == len(classes):
        raise ValueError(f"No row has a value in {where}: choose another target.")
    if n_without:
        notes.append(
            f"{count_of(n_without, 'row')} without a value of {quoted(target)} "
            f"{'is' if n_without == 1 else 'are'} left out."
        )
    counts = np.bincount(classes.codes[has_class], minlength=len(classes.categories))
    _check_classes(values, classes, counts, where)

    is_rare = counts < min_class_rows
    if is_rare.any():
        rare = [str(name) for name in classes.categories[is_rare]]
        if len(counts) - len(rare) < 2:
            raise ValueError(
                f"Fewer than two classes in {where} have {count_of(min_class_rows, 'row')} or more "
                f"(too small: {listed(rare)}): add rows or choose another target."
            )
        notes.append(
            f"{count_of(len(rare), 'class', 'classes')} of {quoted(target)} with fewer than "
            f"{count_of(min_class_rows, 'row')} ({listed(rare)}) "
            f"{'is' if len(rare) == 1 else 'are'} left out."
        )
    keep = np.append(~is_rare, False)[classes.codes]
    frame = table.frame[keep]
    columns = describe_columns(replace(table, frame=frame), target, kinds=kinds)
    if not any(column.used for column in columns):
        raise ValueError(
            f"No column of {table.name} is left to learn from{_why_unused(columns)}; add one."
        )
    notes += _column_notes(columns)
    names = np.asarray(classes.categories, dtype=object)[classes.codes[keep]]
    return LabelledTable(
        X=typed_frame(frame, columns)[0],
        y=names.astype(str),
        columns=tuple(columns),
        target=target,
        notes=tuple(notes),
    )


def _check_classes(values: pd.Series, classes: pd.Categorical, counts: Any, where: str) -> None:
    """Raise if a target has one class only, or holds a quantity, names or sentences."""
    n_classes, n_rows = len(counts), int(counts.sum())
    if n_classes == 1:
        raise ValueError(
            f"Every row has the same class {quoted(classes.categories[0])} in {where}, so there is "
            "nothing to tell apart: choose another target."
        )
    many = n_classes > _FEW_CLASSES
    if is_number(values):
        numbers = as_numbers(values)
        is_fraction = bool(np.any(numbers[np.isfinite(numbers)] % 1))
        if many and (
            is_fraction or n_rows < _ROWS_PER_CLASS * n_classes or n_classes > _MOST_CLASSES
        ):
            raise ValueError(
                f"{count_of(n_classes, 'different number')} in {where} look like a quantity "
                "(regression), not classes: choose another target, or make classes of it, such as "
                "low and high."
            )
    elif many and (2 * n_classes > n_rows or n_classes > _MOST_CLASSES):
        raise ValueError(
            f"{count_of(n_classes, 'different value')} in {count_of(n_rows, 'row')} of {where} "
            "look like names or text, not classes: choose another target."
        )


def _why_unused(columns: list[Column]) -> str:
    if not columns:
        return ": it has none but the target"
    reasons = [f"{quoted(column.name)} ({column.kind}: {column.reason})" for column in columns[:3]]
    return ": " + ", ".join(reasons) + (", …" if len(columns) > 3 else "")


def _column_notes(columns: list[Column]) -> list[str]:
    """Return a note on the columns that are not used, and notes on how others are read."""
    unused = [column for column in columns if not column.used]
    notes = []
    if unused:
        named = unused[:_MOST_NAMES]
        shown = ", ".join(f"{quoted(column.name)} ({column.kind})" for column in named)
        more = f" and {grouped(len(unused) - len(named))} more" if len(unused) > len(named) else ""
        are = "is" if len(unused) == 1 else "are"
        notes.append(f"{count_of(len(unused), 'column')} {are} not used: {shown}{more}.")
    by_reason: dict[str, list[str]] = {}
    for column in columns:
        if column.used and column.reason:
            by_reason.setdefault(column.reason, []).append(column.name)
    rest: list[str] = []
    for i, (reason, names) in enumerate(by_reason.items()):
        if i < _MOST_NOTES:
            what = "Column" if len(names) == 1 else "Columns"
            notes.append(f"{what} {listed(names)}: {reason}.")
        else:
            rest += names
    if rest:
        are = "is" if len(rest) == 1 else "are"
        notes.append(
            f"{count_of(len(rest), 'more column')} ({listed(rest)}) {are} read in a particular "
            "way; the list of columns says how."
        )
    return notes

"""A file of what mistakes cost → a table of numbers, in the order of the classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mercer._arrays import FloatArray
from mercer._system.words import did_you_mean, quoted
from mercer.tables._sentences import listed
from mercer.tables._table import as_table
from mercer.tables.typing._cells import as_numbers, as_text, is_number


def cost_table(table: Any, classes: Sequence[str]) -> FloatArray:
    """Return what it costs to answer one class where another is true.

    Parameters
    ----------
    table : Table or DataFrame
        The true class in the first column, and a column of costs for each answer::

            truth,benign,malignant
            benign,0,1
            malignant,20,0
    classes : sequence of str
        The classes, in the order in which the costs are wanted.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        The true class in rows, the answer in columns.

    Raises
    ------
    ValueError
        Where a class is missing, unknown or there twice, or a cell is not a number; one
        sentence says which.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import cost_table
    >>> truth = ["malignant", "benign"]
    >>> costs = pd.DataFrame({"truth": truth, "benign": [20, 0], "malignant": [0, 1]})
    >>> cost_table(costs, ["benign", "malignant"]).tolist()
    [[0.0, 1.0], [20.0, 0.0]]
    """
    table = as_table(table)
    frame, names = table.frame, [str(name) for name in classes]
    if frame.shape[1] < 2:
        raise ValueError(
            f"{table.name} is no table of costs: it needs the true class in its first column, and "
            "a column of costs for each answer."
        )
    rows = [None if pd.isna(name) else str(name) for name in as_text(frame.iloc[:, 0])]
    columns = [name.strip() for name in frame.columns[1:]]
    _check_names(rows, names, "row", table.name)
    _check_names(columns, names, "column", table.name)
    costs = np.empty((len(names), len(names)))
    for k, answer in enumerate(names):
        place = 1 + columns.index(answer)
        values = _numbers(frame.iloc[:, place], rows, answer, table.name)
        costs[:, k] = values[[rows.index(name) for name in names]]
    return costs


def _check_names(found: Sequence[str | None], names: Sequence[str], what: str, table: str) -> None:
    """Raise unless the names found are those of the classes, each once."""
    for name in names:
        if found.count(name) != 1:
            how = "no" if name not in found else "more than one"
            raise ValueError(
                f"{table} has {how} {what} for class {quoted(name)}: give one for each of "
                f"{listed(names)}."
            )
    others = [name for name in found if name not in names]
    if others and others[0] is None:
        raise ValueError(f"{table} has a row without a true class: name it or leave it out.")
    if others:
        advice = did_you_mean(str(others[0]), names, f"there are {listed(names)}.")
        raise ValueError(
            f"{table} has a {what} for {quoted(others[0])}, which is not among the classes: "
            f"{advice}"
        )


def _numbers(
    values: "pd.Series[Any]", rows: Sequence[str | None], answer: str, table: str
) -> FloatArray:
    """Return a column as finite numbers, or name the cell that is none."""
    if is_number(values):
        numbers = as_numbers(values)
    else:
        numbers = np.array([_number(cell) for cell in values])
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        cell, truth = values.iloc[int(bad[0])], rows[int(bad[0])]
        what = "empty" if pd.isna(cell) else f"{quoted(cell)}, which is not a finite number"
        raise ValueError(
            f"{table}: the cost of answering {quoted(answer)} where {quoted(truth)} is true is "
            f"{what}."
        )
    return numbers


def _number(cell: object) -> float:
    try:
        return float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")

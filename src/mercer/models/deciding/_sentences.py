"""What a rule does, in one sentence for people, and the mistakes of who asks for one."""

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._system.words import confidence as confidence_text
from mercer._system.words import (
    count_of,
    did_you_mean,
    grouped,
    listed,
    percent,
    quoted,
    significant,
)
from mercer.models.deciding._rules import PLAIN, RecallThreshold, regrets

# What the sentence on a class with too few rows ends with, wherever it is met.
TOO_FEW_ROWS = "the threshold finds all of them."

PLAIN_SENTENCE = "The answer is the most probable class."


def check_costs(costs: Any, classes: NDArray[Any]) -> FloatArray:
    """Return a cost table as numbers in the order of the classes, or say what is wrong with it."""
    names = [str(name) for name in classes.tolist()]
    if hasattr(costs, "loc") and hasattr(costs, "columns"):
        costs = _by_name(costs, names)
    try:
        table: FloatArray = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("costs must be numbers.") from None
    wanted = (len(names), len(names))
    if table.shape != wanted:
        raise ValueError(
            f"costs must have a row and a column for each of the {len(names)} classes, got shape "
            f"{table.shape}."
        )
    if not np.isfinite(table).all():
        true, said = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"costs must be finite: answering {quoted(names[said])} for {quoted(names[true])} "
            f"costs {table[true, said]}."
        )
    right = np.diagonal(table)[:, None]
    if (table < right).any():
        true, said = np.argwhere(table < right)[0]
        raise ValueError(
            f"costs say that answering {quoted(names[said])} for {quoted(names[true])} is cheaper "
            f"({significant(table[true, said])}) than being right "
            f"({significant(table[true, true])}): a row is the true class, a column the answer, "
            "and gains have a minus."
        )
    return table


def _by_name(frame: Any, names: Sequence[str]) -> Any:
    """Return the numbers of a DataFrame in the order of the classes."""
    rows, columns = ([str(name) for name in axis] for axis in (frame.index, frame.columns))
    for what, found in (("row", rows), ("column", columns)):
        for name in names:
            if name not in found:
                raise ValueError(f"costs have no {what} for class {quoted(name)}.")
        if len(found) > len(names):
            more = next((one for one in found if one not in names), found[0])
            raise ValueError(
                f"costs have a {what} for {quoted(more)}, which is not among the classes, or is "
                "there twice."
            )
    return frame.to_numpy()[
        np.ix_([rows.index(n) for n in names], [columns.index(n) for n in names])
    ]


def check_recall(recall: Mapping[Any, Any], classes: NDArray[Any]) -> tuple[int, float]:
    """Return the number of the class and the share of its rows that are to be found."""
    if len(recall) != 1:
        raise ValueError(
            f"recall takes one class and a number, such as {{'malignant': 0.98}}; got {recall!r}."
        )
    ((name, wanted),) = recall.items()
    is_number = isinstance(wanted, Real) and not isinstance(wanted, bool)
    if not (is_number and 0 < wanted < 1):
        raise ValueError(
            f"recall must be a number between 0 and 1 for class {quoted(name)}, got {wanted!r}."
        )
    found = np.flatnonzero(np.asarray(classes == name))
    if not found.size:
        names = [str(one) for one in classes.tolist()]
        there = f"there are {listed(names, most=10)}."
        raise ValueError(
            f"recall names {quoted(name)}, which is not among the classes: "
            + did_you_mean(str(name), names, there)
        )
    return int(found[0]), float(wanted)


def recall_sentence(
    names: Sequence[str], c: int, wanted: float, confidence: float, found: RecallThreshold
) -> str:
    """Say from where on a class is the answer, and what that promises."""
    threshold, promised = found.threshold, found.promised
    name, level = quoted(names[c]), confidence_text(confidence)
    if threshold >= PLAIN:
        first = "The answer is the most probable class"
    elif len(names) == 2:
        first = f"The answer is {name} from a probability of {_probability(threshold)} on"
    else:
        ratio = _probability(threshold / (1.0 - threshold))
        first = (
            f"The answer is {name} where it is at least {ratio} times as probable as any other "
            "class, else the most probable of the others"
        )
    if promised >= wanted:
        kept = f"at least {percent(wanted)} of {name} are found"
    else:
        kept = (
            f"all {name} that were left out are found, too few of them to promise "
            f"{percent(wanted)}: it is at least {percent(promised)}"
        )
    return f"{first}; {kept}, with {level} confidence."


def too_few_rows(name: str, n_rows: int, n_needed: int, wanted: float, confidence: float) -> str:
    """Say that a class has too few rows for a recall to be promised."""
    return (
        f"Class {quoted(name)} has {count_of(n_rows, 'row')} to choose a threshold by, and it "
        f"takes {grouped(n_needed)} to promise a recall of {wanted:g} with "
        f"{confidence_text(confidence)} confidence: {TOO_FEW_ROWS}"
    )


def costs_sentence(names: Sequence[str], costs: FloatArray, threshold: float | None) -> str:
    """Say what mistakes cost, and from where on the second of two classes is the answer."""
    first = "The answer is the class of the least expected cost"
    if not regrets(costs).any():
        return f"{first}, which all classes have: the first, {quoted(names[0])}."
    if len(names) > 2:
        wrong = costs[~np.eye(len(costs), dtype=bool)]
        least, most = significant(float(wrong.min())), significant(float(wrong.max()))
        what = f"{least} for every mistake" if least == most else f"{least} to {most} for a mistake"
        return f"{first}: {what}."
    said = [
        f"{quoted(names[1 - k])} for {quoted(names[k])} costs {significant(float(costs[k, 1 - k]))}"
        for k in (0, 1)
    ]
    if threshold is None:
        return f"{first}: {said[0]}, {said[1]}."
    return (
        f"{first}: {said[0]}, {said[1]}, so it is {quoted(names[1])} from a probability of "
        f"{_probability(threshold)} on."
    )


def _probability(value: float) -> str:
    """Write a probability with two digits that matter, and what is nearly 1 not as 1."""
    if 0.99 < value < 1:
        return f"{value:.{1 - math.floor(math.log10(1 - value))}f}"
    return f"{value:.2g}"

"""Whether there are rows enough for a comparison to tell two models apart."""

from typing import Any

import numpy as np

from mercer._system.words import count_of, fixed
from mercer.checks._finding import Finding
from mercer.checks._sample import Codes

_DISAGREE = 0.1  # of the rows: where one of two models is right and the other wrong
_POWER = 2.8  # standard errors that are found in four of five cases at the 5 % level
_LARGE = 0.1  # A difference of this size should be found.
_FEWEST_UNITS = 5  # groups or times; with fewer, hardly any difference can be told


def find_few_rows(y: Codes, metric: str, units: "tuple[str, Any] | None") -> list[Finding]:
    """Say so where only large differences can be told.

    Two models that disagree on a tenth of the rows differ in accuracy by a number whose standard
    error is √(0.1/n), and in balanced accuracy by one of √(Σ 0.1/nₖ)/K over the K classes.
    """
    if units is not None:
        n_units = len(np.unique(units[1]))
        if n_units < _FEWEST_UNITS:
            text = (
                f"There are {count_of(n_units, units[0])} only: differences between models can "
                "hardly be told from those between them."
            )
            return [Finding("few-rows", text)]
    counts = np.bincount(y)
    if metric == "balanced":
        error = np.sqrt(np.sum(_DISAGREE / counts)) / len(counts)
        of = f"{count_of(counts.min(), 'row')} of the rarest class"
    else:
        error, of = np.sqrt(_DISAGREE / len(y)), count_of(len(y), "row")
    least = float(_POWER * error)
    if least <= _LARGE:
        return []
    text = (
        f"With {of}, a difference below about {fixed(least, 2)} can hardly be told: more rows tell "
        "more, a longer budget does not."
    )
    return [Finding("few-rows", text)]

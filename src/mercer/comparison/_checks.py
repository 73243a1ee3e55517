"""Checks of scores, labels, names and levels that the tests share, and what counts as equal."""

from collections.abc import Sequence
from math import frexp

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils import column_or_1d

from mercer._arrays import FloatArray

# Scores that differ by less than this share of the largest one are equal: 0.9 - 0.8 and
# 0.2 - 0.1 are not the same number in floating point, but they are the same difference.
_ROUNDING = 1e-12
_LARGEST_EXPONENT = 1020  # differences of scores below 2**this, and intervals, are finite


def check_scores(
    scores_a: npt.ArrayLike, scores_b: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, int]:
    """Return both score arrays in units of 2**exponent, and the exponent, or say what is wrong.

    Scores are finite and of one shape; the largest is near 1 in these units, so that neither
    squares nor sums of scores of any size leave the range of floating point.
    """
    a, b = _as_floats(scores_a, "scores_a"), _as_floats(scores_b, "scores_b")
    if a.shape != b.shape:
        raise ValueError(
            f"The two score arrays must have one shape, score by score; got {a.shape} and "
            f"{b.shape}."
        )
    for name, scores in (("scores_a", a), ("scores_b", b)):
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            raise ValueError(
                f"{name} holds {scores.flat[bad[0]]} at position {bad[0]}: leave that score out "
                "of both arrays, or repair the run that made it."
            )
    exponent = frexp(largest(a, b))[1]
    if exponent > _LARGEST_EXPONENT:
        raise ValueError(
            f"scores_a and scores_b go up to {largest(a, b):.3g}: differences of such scores are "
            "beyond the range of floating point; divide both arrays by something."
        )
    return np.ldexp(a, -exponent), np.ldexp(b, -exponent), exponent


def in_scores(values: Sequence[float], exponent: int) -> list[float]:
    """Return numbers in units of 2**exponent as scores; infinite beyond the range."""
    with np.errstate(over="ignore", under="ignore"):
        scaled: list[float] = np.ldexp(np.asarray(values, dtype=np.float64), exponent).tolist()
    return scaled


def _as_floats(scores: npt.ArrayLike, name: str) -> FloatArray:
    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from error


def check_labels(labels: npt.ArrayLike, name: str) -> npt.NDArray[np.generic]:
    """Return labels as a one-dimensional array without gaps, or say where the first gap is."""
    checked = np.asarray(column_or_1d(labels))
    gaps = np.flatnonzero(pd.isna(checked))
    if gaps.size:
        raise ValueError(f"{name} has no label at position {gaps[0]}.")
    return checked


def check_confidence_level(confidence_level: float) -> None:
    """Refuse a level outside (0, 1)."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1; got {confidence_level}.")


def check_names(names: Sequence[str]) -> tuple[str, str]:
    """Return the two names as strings."""
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names must hold two names, of A and of B; got {names!r}.")
    return str(names[0]), str(names[1])


def has_no_spread(spread: float, a: FloatArray, b: FloatArray) -> bool:
    """Tell whether what a test takes its scale from is rounding alone, for scores of this size."""
    return spread <= _ROUNDING * largest(a, b)


def mean_difference(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Mean of a − b; 0 where rounding alone keeps differences that cancel from adding up to it."""
    mean = float(np.mean(np.subtract(a, b)))
    return 0.0 if abs(mean) <= 1e-15 * largest(np.asarray(a), np.asarray(b)) else mean


def without_rounding(values: FloatArray, *, scale: float) -> FloatArray:
    """Round away floating-point noise of scores of this size, so that what is equal ties."""
    if scale == 0:
        return values
    mantissa, exponent = frexp(scale)  # so that the step of a tiny scale is not 0
    step = _ROUNDING * mantissa
    rounded: FloatArray = np.ldexp(np.round(np.ldexp(values, -exponent) / step) * step, exponent)
    return rounded


def zero_if_noise(values: FloatArray, *, scale: float) -> FloatArray:
    """Put 0 for what rounding alone keeps from it, for differences of scores of this size."""
    return np.where(np.abs(values) <= _ROUNDING * scale, 0.0, values)


def largest(*arrays: FloatArray) -> float:
    """Size of the largest score."""
    return max(float(np.abs(array).max(initial=0.0)) for array in arrays)

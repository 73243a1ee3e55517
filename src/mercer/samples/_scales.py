"""A warning where one column drowns the others, as a kernel of one width knows no units."""

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import to_numpy

__all__ = ["warn_of_scales", "widest_against_half"]

# Times that the widest column may spread as far as half of the columns: beyond 34 scaling gains,
# below 16 it gains as often as it costs (benchmarks/study_scales.py, docs/classifiers.md).
_MOST = 25.0
_ROWS = 1000  # that are looked at, at equal steps: enough to tell orders of magnitude


def warn_of_scales(estimator: Any, X: Any) -> None:
    """Warn if a column of X spreads so much further than half of the columns that these are lost.

    Parameters
    ----------
    estimator : object
        Named in the warning; its ``feature_names_in_``, where there are any, name the columns.
    X : array or tensor of shape (n_samples, n_features)
        Training rows, finite.
    """
    step = -(-X.shape[0] // _ROWS)
    times, wide, middle = widest_against_half(to_numpy(X[::step, :]))
    if times < _MOST:
        return
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    shown = f"{times:.0f}" if times < 1e6 else f"{times:.1g}"
    warnings.warn(
        f"Column {names[wide]!r} spreads {shown} times as far as column {names[middle]!r}, and "
        "half of the columns no further than that, so that they hardly count: "
        f"{type(estimator).__name__} has one width for all columns; put a StandardScaler before "
        "it in a pipeline.",
        UserWarning,
        stacklevel=_levels_to_the_user(),
    )


def _levels_to_the_user() -> int:
    """Return how far up the line is that called fit, beyond all of Mercer and scikit-learn."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals["__name__"].partition(".")[0] in ("mercer", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level


def widest_against_half(X: NDArray[Any]) -> tuple[float, int, int]:
    """Return how many times as far the widest column spreads as half of them, and which two.

    The widest column counts by its standard deviation, which a far row hardly changes, the others
    by half their range, which does not shrink where a value is rare: 0/1 columns of rare
    categories are no narrower than those of frequent ones.  Constant columns do not count.
    """
    deviation, half_range = _spreads(np.asarray(X, dtype=np.float64))
    varied = np.flatnonzero(half_range > 0)
    if varied.size == 0:
        return 0.0, 0, 0
    wide = int(np.argmax(deviation))
    in_order = varied[np.argsort(half_range[varied], kind="stable")]
    middle = int(in_order[(varied.size - 1) // 2])
    with np.errstate(over="ignore"):
        return float(deviation[wide] / half_range[middle]), wide, middle


def _spreads(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the standard deviation and half the range of each column, however large it is."""
    largest = np.abs(X).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    half_range = (scaled.max(axis=0) / 2 - scaled.min(axis=0) / 2) * unit
    return scaled.std(axis=0) * unit, half_range

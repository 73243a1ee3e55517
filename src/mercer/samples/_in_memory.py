"""What can be asked of arrays in memory, and sums in logarithms.

`_in_blocks` has a function of the same name and meaning for each name of `__all__`.
"""

from collections.abc import Callable
from math import sqrt
from sys import float_info
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, detached, like, take_rows, to_numpy
from mercer.samples._weights import is_whole

__all__ = [
    "all_but_largest",
    "as_numbers",
    "at_classes",
    "beside",
    "class_maxima",
    "computed",
    "is_whole",
    "like",
    "log_total",
    "of_class",
    "ones",
    "over_rows",
    "side_by_side",
    "spread",
    "stacked",
    "take_rows",
]


def ones(X: Array) -> FloatArray:
    """Return 1 for each row of X."""
    return np.ones(X.shape[0])


def beside(values: FloatArray, A: Array) -> Array:
    """Return a number for each row of A where A is."""
    return like(values, A)


def computed(A: Array) -> Array:
    """Return the array, whose numbers are computed already."""
    return A


def all_but_largest(weights: FloatArray) -> float:
    """Return what all weights but the largest add up to."""
    return float(np.delete(weights, np.argmax(weights)).sum())


def as_numbers(A: Array) -> FloatArray:
    """Return values in float64, of NumPy."""
    return to_numpy(A).astype(np.float64)


def log_total(logs: Array, codes: Any = None, n_classes: int = 1) -> Array:
    """Return log Σ exp of (n,) or (n, c) numbers over all rows, or over those of each class.

    The shape is that of one row, with a leading axis of classes where codes are given; −inf
    where there is nothing to add.
    """
    if codes is None:
        return logsumexp(logs, axis=0)
    members = [np.flatnonzero(codes == c) for c in range(n_classes)]
    return array_namespace(logs).stack([logsumexp(take_rows(logs, m), axis=0) for m in members])


def safe_log(a: Array) -> Array:
    """Return log a, −inf where a ≤ 0, without a warning; NaN stays."""
    xp = array_namespace(a)
    nothing = a <= 0
    logs = xp.log(xp.where(nothing, xp.ones_like(a), a))
    return xp.where(nothing, xp.full_like(a, -float("inf")), logs)


def logsumexp(a: Array, axis: int = -1) -> Array:
    """Return log Σ exp(a) over an axis; −inf where there is nothing to add."""
    xp = array_namespace(a)
    top = _finite_top(a, axis)
    return safe_log(xp.sum(xp.exp(a - top), axis=axis)) + xp.squeeze(top, axis=axis)


def log_sum_of_others(a: Array) -> Array:
    """Return log Σ_{j ≠ c} exp(a_j) for every c along the last axis, without cancellation.

    The sum of all without term c loses no digits while the largest term stays in it; for the
    largest term itself the others are added up again.
    """
    xp = array_namespace(a)
    top = _finite_top(a)
    terms = xp.exp(a - top)
    others = safe_log(xp.sum(terms, axis=-1, keepdims=True) - terms) + top
    columns = xp.arange(a.shape[-1], device=getattr(a, "device", None))
    is_largest = columns == xp.expand_dims(xp.argmax(a, axis=-1), axis=-1)
    without = xp.where(is_largest, xp.full_like(a, -float("inf")), a)
    return xp.where(is_largest, xp.expand_dims(logsumexp(without), axis=-1), others)


def log_normalise(a: Array) -> Array:
    """Return a − log Σ exp(a): the logarithms of shares that add up to 1, however large a is."""
    a = a - _finite_top(a)
    return a - array_namespace(a).expand_dims(logsumexp(a), axis=-1)


def _finite_top(a: Array, axis: int = -1) -> Array:
    """Return the largest term, with its axis kept; 0 where all are −inf."""
    xp = array_namespace(a)
    top = xp.max(detached(a), axis=axis, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def class_maxima(codes: Any, values: Array, n_classes: int) -> FloatArray:
    """Return the largest of (n,) numbers in each class: (C,), of NumPy."""
    numbers = to_numpy(values)
    return np.array([numbers[codes == c].max() for c in range(n_classes)])


def at_classes(values: FloatArray, codes: NDArray[Any]) -> FloatArray:
    """Return values[…, code of the row] for each row: (…, n)."""
    return np.take(values, codes, axis=-1)


def of_class(codes: Array, c: int, X: Array, weights: Array) -> tuple[Array, Array, Any]:
    """Return the rows of a class, their weights, and one group for all of them."""
    rows = np.flatnonzero(to_numpy(codes) == c)
    return take_rows(X, rows), take_rows(weights, rows), rows * 0


def stacked(columns: list[Array]) -> Array:
    """Return vectors as the columns of one array."""
    return array_namespace(columns[0]).stack(columns, axis=1)


def side_by_side(parts: list[Array]) -> Array:
    """Return the columns of all matrices in one."""
    return array_namespace(*parts).concat(parts, axis=1)


def over_rows(
    function: Callable[..., Any], merge: Callable[[Any, Any], Any], sums: Array, weights: Array
) -> Any:
    """Return function((b, rows) sums, weights) of all rows."""
    return function(sums, weights)


def spread(X: Array, weights: FloatArray | None, N: float) -> tuple[float, float]:
    """Return (unit, σ_X/unit): the root of the mean variance of a column, however large or small.

    The unit is the largest deviation, so that neither squares nor differences leave the range of
    floating point.
    """
    xp = array_namespace(X)
    half = xp.astype(X, xp.float64) / 2  # so that differences are finite
    # Deviations from the heaviest row keep their digits even where the mean almost equals that row.
    heaviest = 0 if weights is None else int(np.argmax(weights))
    half = half - half[heaviest, :]
    unit = float(xp.max(xp.abs(half)))
    if unit == 0:
        return 1.0, 0.0
    deviations = half / unit
    w = xp.ones_like(half[:, 0]) if weights is None else like(weights, half)
    total = float(xp.sum(w))
    deviations = deviations - (w / total) @ deviations
    # Shares and squares of deviations may underflow, so that each deviation is multiplied by the
    # root of its share and divided by the largest before it is squared.
    deviations = deviations * (xp.sqrt(w) / sqrt(total))[:, None]
    largest = float(xp.max(xp.abs(deviations)))
    if largest == 0:
        return unit, 2 * float_info.min
    variances = xp.sum((deviations / largest) ** 2, axis=0) * (N / (N - 1))
    return unit, 2 * largest * sqrt(float(xp.mean(variances)))

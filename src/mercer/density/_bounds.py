"""Ends of columns, at which windows are reflected, so that no mass is lost beyond them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import hypot, inf, sqrt
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, to_numpy
from mercer.kernels import Kernel
from mercer.samples import first_true, home_of

Image = tuple[FloatArray, FloatArray]  # A mirrored point is sign·x + shift, in each column.

_MOST_IMAGES = 1000
# A window's value at a distance may be neglected against exp(−40) times one that is counted.
_NEGLECTED = 40.0


def check_bounds(bounds: Any, n_features: int, names: Any) -> FloatArray | None:
    """Return the least and largest number of each column, (d, 2), −∞ and ∞ where it has no end.

    Parameters
    ----------
    bounds : None, pair, sequence of pairs, or mapping
        As users write them.
    n_features : int
        d.
    names : array of str or None
        Names of the columns, which a mapping may use.
    """
    if bounds is None:
        return None
    out = np.tile([-inf, inf], (n_features, 1))
    if isinstance(bounds, Mapping):
        pairs = {_column(key, n_features, names): pair for key, pair in bounds.items()}
    elif n_features == 1 and _is_pair_of_numbers(bounds):
        pairs = {0: bounds}
    else:
        if isinstance(bounds, str) or not hasattr(bounds, "__len__") or len(bounds) != n_features:
            raise ValueError(
                f"bounds must have a pair (low, high) for each of the {n_features} columns of X, "
                f"or be a dictionary from columns to pairs; got {bounds!r}."
            )
        pairs = {k: pair for k, pair in enumerate(bounds) if pair is not None}
    for column, pair in pairs.items():
        if not _is_pair_of_numbers(pair):
            raise ValueError(
                f"bounds of column {column} must be a pair (low, high) of numbers or None; got "
                f"{pair!r}."
            )
        low, high = (default if end is None else float(end) for end, default in
                     zip(pair, (-inf, inf), strict=True))  # fmt: skip
        if not low < high:
            raise ValueError(
                f"bounds of column {column} must be in order, low below high; got {pair!r}."
            )
        out[column] = low, high
    return out


def _column(key: Any, n_features: int, names: Any) -> int:
    if names is not None and key in list(names):
        return list(names).index(key)
    if isinstance(key, (int, np.integer)) and 0 <= key < n_features:
        return int(key)
    raise ValueError(f"bounds names column {key!r}, which X does not have.")


def _is_pair_of_numbers(pair: Any) -> bool:
    try:
        ends = [0.0 if end is None else float(end) for end in pair]
    except (TypeError, ValueError):
        return False
    return len(ends) == 2 and not any(np.isnan(ends))


def refuse_rows_beyond(X: Array, bounds: FloatArray) -> None:
    """Raise ValueError if a training row is beyond an end, naming the first."""
    beyond = to_numpy(is_beyond(X, bounds))
    if beyond.any():
        (row,) = first_true(beyond)
        numbers = to_numpy(X[row, :]).astype(np.float64)
        column = int(np.flatnonzero((numbers < bounds[:, 0]) | (numbers > bounds[:, 1]))[0])
        raise ValueError(
            f"X contains {numbers[column]:g} in row {row}, column {column}, which is beyond its "
            f"bounds ({bounds[column, 0]:g}, {bounds[column, 1]:g})."
        )


def is_beyond(X: Array, bounds: FloatArray) -> Array:
    """Whether a row is beyond some end: (rows,)."""
    xp, like = array_namespace(X), home_of(X).like
    low, high = like(bounds[:, 0], X), like(bounds[:, 1], X)
    return xp.any((low > X) | (high < X), axis=1)


def mirrors_of(
    bounds: FloatArray, kernel: Kernel, widths: FloatArray
) -> list[list[tuple[float, float]]]:
    """Return for each column the mirrors of a number, as (sign, shift), itself first.

    Parameters
    ----------
    bounds : ndarray of shape (d, 2)
        Ends of the columns.
    kernel : Kernel
        The form of the windows.
    widths : ndarray of shape (d,)
        The widest window along each column.

    Notes
    -----
    Between two ends, 0 and R, there are infinitely many mirrors, ±x + 2kR.  Those whose windows
    can only be exp(−40) times as high as those of the number itself are left out.
    """
    return [
        _mirrors_of_column(low, high, kernel, width, column)
        for column, ((low, high), width) in enumerate(zip(bounds, widths, strict=True))
    ]


def images_in_reach(
    X: FloatArray,
    box: FloatArray,
    mirrors: list[list[tuple[float, float]]],
    log_bound: Callable[[Sequence[FloatArray]], FloatArray],
    logs: FloatArray,
) -> Iterator[tuple[NDArray[np.int64], Image]]:
    """Yield mirrors, and the rows of X at which they count, but for the rows themselves.

    A mirror counts where an upper bound of its sum is more than exp(−40) of the sum so far, whose
    logarithm is `logs`.  Columns are mirrored one after the other, so that what does not count
    after some columns is not mirrored in the others.

    Parameters
    ----------
    X : ndarray of shape (rows, d)
        Points.
    box : ndarray of shape (2, d)
        The least and the largest numbers of the rows that are summed over.
    mirrors : list
        From `mirrors_of`.
    log_bound : callable
        From distances to the box along some columns to an upper bound of the log of a sum.
    logs : ndarray of shape (rows,)
        Sums so far; the caller adds to them meanwhile.

    Raises
    ------
    ValueError
        If a point has more than a thousand mirrors that count, on average.
    """
    d, pairs = X.shape[1], 0

    def walk(
        column: int,
        rows: NDArray[np.int64],
        gaps: list[FloatArray],
        chosen: list[tuple[float, float]],
    ) -> Iterator[tuple[NDArray[np.int64], Image]]:
        if column == d:
            if any(one != (1.0, 0.0) for one in chosen):
                nonlocal pairs
                pairs += len(rows)
                if pairs > _MOST_IMAGES * len(X):
                    raise ValueError(
                        f"bounds would need more than {_MOST_IMAGES} mirrored copies of every "
                        "point; give bounds to fewer columns, or a smaller bandwidth."
                    )
                signs, shifts = np.array(chosen).T
                yield rows, (signs, shifts)
            return
        for sign, shift in mirrors[column]:
            x = X[rows, column] * sign + shift
            gap = np.maximum(np.maximum(box[0, column] - x, x - box[1, column]), 0.0)
            counts = log_bound([*gaps, gap]) > logs[rows] - _NEGLECTED
            if counts.any():
                near = [one[counts] for one in (*gaps, gap)]
                yield from walk(column + 1, rows[counts], near, [*chosen, (sign, shift)])

    yield from walk(0, np.arange(len(X)), [], [])


def _mirrors_of_column(
    low: float, high: float, kernel: Kernel, width: float, column: int
) -> list[tuple[float, float]]:
    """Return (sign, shift) of the mirrors along one column."""
    own = [(1.0, 0.0)]
    if low == -inf and high == inf:
        return own
    if low == -inf or high == inf:
        return [*own, (-1.0, 2 * (high if low == -inf else low))]
    R = high - low
    reach = {
        "gaussian": hypot(R, sqrt(2 * _NEGLECTED) * width),
        "laplacian": R + _NEGLECTED * width,
        "epanechnikov": width,
    }.get(kernel.name)
    if reach is None:
        raise ValueError(
            f"bounds at both ends of column {column} need kernel='gaussian', 'laplacian' or "
            f"'epanechnikov', got {kernel.name!r}, whose mirrored windows have no end."
        )
    last = int(min(reach / R, _MOST_IMAGES)) // 2 + 1
    found = []
    for k in range(-last, last + 1):
        if k != 0 and (2 * abs(k) - 1) * R < reach:
            found.append((1.0, 2 * k * R))
        # −x + 2kR: at least 2(k − 1)R from a point for k ≥ 1, at least 2|k|R for k ≤ 0
        if 2 * (k - 1 if k >= 1 else -k) * R < reach:
            found.append((-1.0, 2 * low + 2 * k * R))
    return own + found


def image(X: Array, mirror: Image) -> Array:
    """Return mirrored rows."""
    signs, shifts = mirror
    like = home_of(X).like
    return X * like(signs, X) + like(shifts, X)


def fold(X: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return points, some of them beyond an end, reflected into the bounds."""
    out = X.copy()
    for k, (low, high) in enumerate(bounds):
        if low > -inf and high < inf:
            R = high - low
            inside = np.abs((X[:, k] - low + R) % (2 * R) - R)
            out[:, k] = np.clip(low + inside, low, high)
        elif low > -inf:
            out[:, k] = np.maximum(low + np.abs(X[:, k] - low), low)
        elif high < inf:
            out[:, k] = np.minimum(high - np.abs(high - X[:, k]), high)
    return out

"""What can be asked of Dask arrays in blocks of rows; `_in_memory` answers the same in memory."""

from collections.abc import Callable
from functools import partial
from math import sqrt
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.samples._blocks import Blocks, compute
from mercer.samples._homes import is_in_blocks
from mercer.samples._weights import is_whole as _is_whole_block

_Moments = tuple[float, FloatArray, FloatArray]  # Σw, the means, Σw(x − mean)²


def ones(X: Any) -> Any:
    """Return 1 for each row of X."""
    import dask.array as da

    return da.ones(X.shape[0], chunks=(X.chunks[0],))


def row_numbers(X: Any) -> Any:
    """Return 0, 1, … for the rows of X."""
    import dask.array as da

    return da.arange(X.shape[0], chunks=(X.chunks[0],), dtype=np.int64)


def beside(values: NDArray[Any], A: Any) -> Any:
    """Return a number for each row of A, cut as A is."""
    import dask.array as da

    return da.from_array(values, chunks=(A.chunks[0],))


def computed(A: Any) -> Any:
    """Return an array whose blocks are computed once and stay on the cluster.

    It is for arrays that are used again and take a pass over all pairs to compute.
    """
    return A.persist()


def log_total(logs: Any, codes: Any = None, n_classes: int = 1) -> NDArray[np.float64]:
    """Return log Σ exp of (n,) or (n, c) numbers over all rows, or over those of each class.

    The shape is that of one row, with a leading axis of classes where codes are given; −inf
    where there is nothing to add.
    """
    others = () if codes is None else (Blocks.of(codes),)
    parts = Blocks.of(logs).map(partial(_log_total, n_classes), *others, name="log-total")
    total = compute(parts.merged(np.logaddexp, name="log-total"))[0]
    return np.asarray(total if codes is not None else total[0])


def gather_rows(A: Any, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return these rows, sorted, of a Dask array in memory."""
    return np.asarray(A[rows].compute())


def compute_arrays(*arrays: Any) -> tuple[NDArray[Any], ...]:
    """Return Dask arrays in memory, all computed at once."""
    import dask

    return tuple(np.asarray(A) for A in dask.compute(*arrays))


def like(values: Any, A: Any, dtype: Any = None) -> Any:
    """Return values in A's type or another; values in memory stay in memory."""
    if is_in_blocks(values):
        return values.astype(dtype or A.dtype)
    return np.asarray(values, dtype=dtype or A.dtype)


def take_rows(A: Any, rows: NDArray[np.int64]) -> Any:
    """Return these rows of A (or entries of a vector), in blocks of the size that A has."""
    return A[rows].rechunk({0: max(A.chunks[0])})


def is_whole(weights: Any) -> bool:
    """Tell whether all weights are numbers of copies."""
    parts = Blocks.of(weights).map(_is_whole, name="whole")
    return bool(compute(parts.merged(and_, name="whole"))[0])


def all_but_largest(weights: Any) -> float:
    """Return what all weights but the largest add up to."""
    return float(weights.sum() - weights.max())


def as_numbers(A: Any) -> Any:
    """Return values in float64."""
    return A.astype(np.float64)


def class_maxima(codes: Any, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Return the largest of (n,) numbers in each class: (C,), computed."""
    parts = Blocks.of(values).map(partial(_maxima, n_classes), Blocks.of(codes), name="largest")
    return np.asarray(compute(parts.merged(np.maximum, name="largest"))[0])


def class_totals(codes: Any, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Add up (…, n) numbers by class: (…, C), computed."""
    axis = values.ndim - 1
    parts = Blocks.of(values, axis).map(
        partial(_class_totals, n_classes), Blocks.of(codes), name="by-class"
    )
    return np.asarray(compute(parts.merged(np.add, name="by-class"))[0])


def class_sizes(codes: Any, n_classes: int) -> NDArray[np.int64]:
    """Return how many rows each class has."""
    return class_totals(codes, ones(codes), n_classes).astype(np.int64)


def at_classes(values: NDArray[Any], codes: Any) -> Any:
    """Return values[…, code of the row] for each row: (…, n)."""
    values = np.asarray(values)
    lead = tuple((size,) for size in values.shape[:-1])
    return codes.map_blocks(
        partial(np.take, values, axis=-1),
        dtype=values.dtype,
        chunks=(*lead, codes.chunks[0]),
        new_axis=list(range(values.ndim - 1)) or None,
        meta=np.empty((0,) * values.ndim, values.dtype),
    )


def _log_total(
    n_classes: int, _: int, logs: NDArray[Any], codes: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    out = np.full((n_classes, *logs.shape[1:]), -np.inf)
    for c in range(n_classes):
        part = logs if codes is None else logs[codes == c]
        if len(part):
            top = part.max(axis=0)
            top = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                out[c] = np.log(np.exp(part - top).sum(axis=0)) + top
    return out


def _is_whole(_: int, weights: NDArray[Any]) -> bool:
    return _is_whole_block(np.asarray(weights, dtype=np.float64))


def _class_totals(
    n_classes: int, _: int, values: NDArray[Any], codes: NDArray[Any]
) -> NDArray[np.float64]:
    flat = values.reshape(int(np.prod(values.shape[:-1])), len(codes))
    sums = [np.bincount(codes, row, n_classes) for row in flat]
    return np.array(sums, dtype=np.float64).reshape(*values.shape[:-1], n_classes)


def _maxima(
    n_classes: int, _: int, values: NDArray[Any], codes: NDArray[Any]
) -> NDArray[np.float64]:
    return np.array([values[codes == c].max(initial=-np.inf) for c in range(n_classes)])


def of_class(codes: Any, c: int, X: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return all rows, their weights, which are zero outside of a class, and one group for all."""
    return X, weights * (codes == c), codes * 0


def stacked(columns: list[Any]) -> Any:
    """Return vectors as the columns of one array."""
    import dask.array as da

    return da.stack(columns, axis=1).rechunk({1: -1})


def side_by_side(parts: list[Any]) -> Any:
    """Return the columns of all matrices, which are cut alike, in one."""
    import dask.array as da

    return da.concatenate(parts, axis=1).rechunk({1: -1})


def over_rows(
    function: Callable[..., Any], merge: Callable[[Any, Any], Any], sums: Any, weights: Any
) -> Any:
    """Return function((b, rows) sums, weights) of each block of rows, merged."""
    blocks = Blocks.of(sums, axis=1).map(
        partial(_without_start, function), Blocks.of(weights), name="criterion"
    )
    return compute(blocks.merged(merge, name="criterion"))[0]


def spread(X: Any, weights: Any | None, N: float) -> tuple[float, float]:
    """Return (unit, σ_X/unit) as `_in_memory` does, in one pass for each of the two."""
    first = np.asarray(X[:1].compute(), dtype=np.float64) / 2
    rows = Blocks.of(X)
    unit = float(
        compute(
            rows.map(partial(_largest_deviation, first), name="extent").merged(max, name="extent")
        )[0]
    )
    if unit == 0:
        return 1.0, 0.0
    others = () if weights is None else (Blocks.of(weights),)
    parts = rows.map(partial(_moments, first, unit), *others, name="spread")
    total, _, squares = compute(parts.merged(_merge_moments, name="spread"))[0]
    return unit, 2 * sqrt(float(np.mean(squares / total * (N / (N - 1)))))


def _without_start(function: Callable[..., Any], _: int, *blocks: NDArray[Any]) -> Any:
    return function(*blocks)


def _largest_deviation(first: FloatArray, _: int, X: NDArray[Any]) -> float:
    return float(np.abs(X.astype(np.float64) / 2 - first).max(initial=0.0))


def _moments(
    first: FloatArray, unit: float, _: int, X: NDArray[Any], weights: FloatArray | None = None
) -> _Moments:
    deviations = (X.astype(np.float64) / 2 - first) / unit
    w = np.ones(len(X)) if weights is None else weights
    total = float(w.sum())
    if total == 0:
        return 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    means = w @ deviations / total
    return total, means, w @ (deviations - means) ** 2


def _merge_moments(a: _Moments, b: _Moments) -> _Moments:
    total = a[0] + b[0]
    if total == 0:
        return a
    step = b[1] - a[1]
    means = a[1] + step * (b[0] / total)
    return total, means, a[2] + b[2] + step**2 * (a[0] * b[0] / total)

"""Dask arrays as users pass them: checked without being loaded, and their rows in blocks.

Shapes, types and chunks are checked at once.  NaN, infinity and negative weights are looked for in
the tasks that load a block, and the error names the row of the table.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import to_numpy
from mercer._memory import share_of_machine
from mercer.samples._blocks import Blocks, compute
from mercer.samples._checks import (
    check_matrix,
    check_rows,
    classes_of,
    describe_index,
    first_true,
)
from mercer.samples._homes import is_in_blocks
from mercer.samples._in_blocks import compute_arrays, is_whole, take_rows
from mercer.samples._weights import (
    KEY_FACTORS,
    MOST_WEIGHT,
    check_counts,
    check_entries,
    check_not_negative,
    check_weight_range,
    merge_places,
    places_of_keys,
    row_keys,
)

# An array in memory that meets a Dask array is cut into blocks of this many rows.
_ROWS_AT_ONCE = 100_000
# Copies are looked for among at most this many rows: their keys, 16 bytes each, come to one place.
_MOST_KEYS = 10_000_000


def check_dask_rows(A: Any, name: str) -> Any:
    """Return a Dask array as blocks of finite float32 or float64 rows, one block of columns.

    Blocks without rows are dropped.
    """
    check_matrix(A, name)
    _check_chunks(A, name)
    if A.shape[0] == 0:
        raise ValueError(f"{name} has no rows.")
    if A.shape[1] == 0:
        raise ValueError(f"{name} has no columns.")
    filled = tuple(size for size in A.chunks[0] if size)
    A = _check_numpy_blocks(A, name).rechunk({0: filled, 1: -1})
    return _with_checked_blocks(A, name, _float_type(A, name), _check_block_finite)


def check_dask_vector(
    values: Any,
    name: str,
    X: Any,
    *,
    check: Callable[[NDArray[Any], str, int], None] | None = None,
    dtype: Any = np.float64,
) -> Any:
    """Return a Dask array of a number, or a row of numbers, for each row of X, cut as X is."""
    _check_chunks(values, name)
    values = _check_numpy_blocks(values, name)
    check_entries(values.shape[:1], X.shape[0], name)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers.")
    return _with_checked_blocks(as_blocks(values, X), name, dtype, check or _check_block_finite)


def check_dask_weights(sample_weight: Any, name: str, X: Any) -> Any:
    """Return the weights of rows, none negative, cut as X is, whatever they came as."""
    if is_in_blocks(sample_weight):
        weights = check_dask_vector(sample_weight, name, X, check=_check_block_weights)
        check_entries(weights.shape, X.shape[0], name)
        return weights
    weights = check_counts(sample_weight, X.shape[0], name)
    check_weight_range(weights)
    return as_blocks(weights, X)


def _check_block_weights(values: NDArray[Any], name: str, start: int) -> None:
    """Raise ValueError for a weight of a block that is negative or out of range."""
    check_not_negative(values, name, start)
    check_weight_range(np.asarray(values, dtype=np.float64), start)


def as_blocks(A: Any, X: Any) -> Any:
    """Return A, which has a row or entry for each row of X, as a Dask array that is cut as X is."""
    import dask.array as da

    chunks = (X.chunks[0], *((size,) for size in A.shape[1:]))
    return A.rechunk(chunks) if is_in_blocks(A) else da.from_array(A, chunks=chunks)


def from_memory(A: NDArray[Any], rows: int = _ROWS_AT_ONCE) -> Any:
    """Return an array in memory as blocks of rows."""
    import dask.array as da

    return da.from_array(A, chunks=(max(1, min(rows, len(A))), *A.shape[1:]))


def as_given(result: Any, X: Any) -> Any:
    """Return a result for X as it came: lazily for a Dask array, else computed."""
    return result.compute() if is_in_blocks(result) and not is_in_blocks(X) else result


def drop_weightless_rows(weights: Any, *others: Any) -> tuple[Any, ...]:
    """Return weights and others without the rows of weight 0."""
    blocks = Blocks.of(weights).map(_count_positive, name="count")
    sizes = tuple(compute(blocks.merged(add, name="count"))[0])
    if sum(sizes) == weights.shape[0]:
        return weights, *others
    if not sum(sizes):
        return tuple(A[:0] for A in (weights, *others))
    mask = weights > 0
    kept = []
    for A in (weights, *others):
        part = A[mask]
        part._chunks = (sizes, *part.chunks[1:])
        kept.append(part.rechunk({0: tuple(size for size in sizes if size)}))
    return tuple(kept)


def settle_dask_weights(weights: Any) -> Any:
    """Return positive weights, scaled to a mean of 1 unless they are numbers of copies."""
    if is_whole(weights):
        return weights
    lightest, mean = (float(v) for v in compute_arrays(weights.min(), weights.mean()))
    if lightest < mean / MOST_WEIGHT:
        raise ValueError(
            f"sample_weight contains {lightest:.2g} beside a mean of {mean:.2g}: weights must "
            f"be 0, or lie within a factor of {MOST_WEIGHT:g} of their mean."
        )
    return weights / mean


def merge_dask_copies(X: Any, codes: Any, weights: Any, *others: Any) -> tuple[Any, ...]:
    """Merge copies of rows; return weights, what leaves with each row, rows, codes and others.

    Above ten million rows copies are not merged, and leave one at a time.
    """
    if X.shape[0] > _MOST_KEYS:
        whole = is_whole(weights)
        return weights, (weights.clip(max=1.0) if whole else weights), X, codes, *others
    keys = np.concatenate(compute(Blocks.of(X).map(_keys_of_block, name="keys")))
    if np.unique(keys[:, 0]).size == len(keys):
        return weights, weights, X, codes, *others
    places = places_of_keys(keys[:, 0], lambda a, b: keys[a, 1] == keys[b, 1])
    classes, counts = compute_arrays(codes, weights)
    merged = merge_places(places, classes.astype(np.int64), counts.astype(np.float64))
    if 2 * merged.rows.size < len(counts):  # It is cheaper to take the few that are left.
        X, *kept = (take_rows(A, merged.rows) for A in (X, codes, *others))
        return as_blocks(merged.weights, X), as_blocks(merged.leaving, X), X, *kept
    total, leaving = np.zeros(len(counts)), np.zeros(len(counts))
    total[merged.rows], leaving[merged.rows] = merged.weights, merged.leaving
    # Copies have weight zero now and are dropped.  Only changed weights are sent to the workers.
    changed = np.flatnonzero((total != counts) | (leaving != counts))
    new = (_with_values(weights, changed, v[changed]) for v in (total, leaving))
    return drop_weightless_rows(*new, X, codes, *others)


def find_classes(y: Any, X: Any) -> tuple[NDArray[Any], Any]:
    """Return the sorted classes, and y cut as X is."""
    is_lazy = is_in_blocks(y)
    y = y if is_lazy else to_numpy(y)
    if is_lazy:
        _check_chunks(y, "y")
        y = _check_numpy_blocks(y, "y")
    if y.shape != X.shape[:1]:
        raise ValueError(
            f"y must have one class for each of the {X.shape[0]} rows of X, got shape "
            f"{tuple(y.shape)}."
        )
    if not is_lazy:
        return classes_of(y)[0], as_blocks(y, X)
    y = as_blocks(y, X)
    parts = Blocks.of(y).map(_classes_of, name="classes")
    return np.asarray(compute(parts.merged(np.union1d, name="classes"))[0]), y


def class_codes(classes: NDArray[Any], y: Any) -> Any:
    """Return the number of each row's class, 0 … C − 1, in the smallest integers that hold it."""
    dtype = np.min_scalar_type(len(classes))
    return y.map_blocks(
        partial(_encode, classes, dtype),
        dtype=dtype,
        meta=np.empty(0, dtype),
    )


def by_blocks(
    function: Callable[[NDArray[Any]], NDArray[Any]], X: Any, *, n_columns: int | None, dtype: Any
) -> Any:
    """Return function(block) of all blocks of rows, lazily: (n,) or (n, n_columns)."""
    narrow = n_columns is None
    return X.map_blocks(
        partial(_answer_block, function, dtype, n_columns),
        dtype=dtype,
        chunks=(X.chunks[0],) if narrow else (X.chunks[0], (n_columns,)),
        drop_axis=1 if narrow else None,
        meta=np.empty((0,) if narrow else (0, 0), dtype=dtype),
    )


def rows_in_blocks(A: Any, name: str) -> Any:
    """Return checked rows in blocks, from a Dask array or from an array in memory."""
    return check_dask_rows(A, name) if is_in_blocks(A) else from_memory(check_rows(A, name))


def in_memory(A: Any) -> Any:
    """Return a Dask array in memory, and anything else as it is."""
    return A.compute() if is_in_blocks(A) else A


def refuse_dask(X: Any, who: str, why: str, instead: str) -> None:
    """Raise ValueError for a Dask array: why it is not taken, and what to do instead."""
    if is_in_blocks(X):
        raise ValueError(f"{who} takes no Dask array: {why}; {instead}.")


def _answer_block(
    function: Callable[[NDArray[Any]], NDArray[Any]],
    dtype: Any,
    n_columns: int | None,
    block: NDArray[Any],
) -> NDArray[Any]:
    if len(block) == 0:
        return np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
    with share_of_machine():
        return np.asarray(function(block), dtype=dtype)


def _check_chunks(A: Any, name: str) -> None:
    if np.isnan(A.shape[:1]).any():
        raise ValueError(
            f"{name} is a Dask array whose blocks have unknown sizes; call "
            f"{name}.compute_chunk_sizes() first."
        )


def _check_numpy_blocks(A: Any, name: str) -> Any:
    meta = getattr(A, "_meta", None)
    if meta is not None and not isinstance(meta, np.ndarray):
        raise TypeError(
            f"{name} is a Dask array with blocks of {type(meta).__module__}; its blocks must be "
            "NumPy arrays."
        )
    return A


def _float_type(A: Any, name: str) -> Any:
    if A.dtype in (np.float32, np.float64):
        return A.dtype.newbyteorder("=")
    if A.dtype == np.float16:
        return np.dtype(np.float32)
    if A.dtype.kind in "biuf":
        return np.dtype(np.float64)
    raise ValueError(f"{name} must hold real numbers, got {A.dtype}.")


def _with_checked_blocks(A: Any, name: str, dtype: Any, check: Callable[..., None]) -> Any:
    return A.map_blocks(
        _check_block,
        what=name,
        as_type=np.dtype(dtype),
        check=check,
        dtype=dtype,
        meta=np.empty((0,) * A.ndim, dtype),
    )


def _check_block(
    block: NDArray[Any],
    what: str,
    as_type: Any,
    check: Callable[..., None],
    block_info: Any = None,
) -> NDArray[Any]:
    start = block_info[0]["array-location"][0][0] if block_info else 0
    out = np.asarray(block).astype(as_type, copy=False)
    check(out, what, int(start))
    return out


def _check_block_finite(block: NDArray[Any], name: str, start: int) -> None:
    bad = ~np.isfinite(block)
    if bad.any():
        row, *column = first_true(bad)
        what = "NaN" if np.isnan(block[(row, *column)]) else "infinity"
        raise ValueError(f"{name} contains {what} {describe_index((row + start, *column))}.")


def _classes_of(_: int, labels: NDArray[Any]) -> NDArray[Any]:
    return classes_of(labels)[0]


def _encode(classes: NDArray[Any], dtype: Any, labels: NDArray[Any]) -> NDArray[Any]:
    return np.searchsorted(classes, labels).astype(dtype)


def _with_values(A: Any, rows: NDArray[np.int64], values: NDArray[np.float64]) -> Any:
    """Return a vector in blocks in which these rows, in ascending order, have new values."""
    import dask.array as da

    starts = np.concatenate([[0], np.cumsum(A.chunks[0])])
    bounds = np.searchsorted(rows, starts)
    blocks = [A.blocks[i] for i in range(len(A.chunks[0]))]
    for i, (low, high) in enumerate(pairwise(bounds.tolist())):
        if low < high:
            replaced = partial(_replace, rows[low:high] - starts[i], values[low:high])
            blocks[i] = blocks[i].map_blocks(replaced, dtype=np.float64)
    return da.concatenate(blocks)


def _replace(
    rows: NDArray[np.int64], values: NDArray[np.float64], block: NDArray[Any]
) -> NDArray[np.float64]:
    out = block.astype(np.float64)
    out[rows] = values
    return out


def _keys_of_block(_: int, X: NDArray[Any]) -> NDArray[np.int64]:
    """Return two keys for each row: rows that share both are taken to be the same."""
    return np.stack([row_keys(X, factor) for factor in KEY_FACTORS], axis=1)


def _count_positive(_: int, weights: NDArray[Any]) -> list[int]:
    return [int((weights > 0).sum())]

"""A sample: rows, and how often each one counts."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj, is_dask_array
from numpy.typing import NDArray

from mercer._arrays import Array, itemsize, take_rows, to_numpy
from mercer.samples import are_whole_blocks, check_rows, is_whole, row_total

_SINGLE = (2.0**-100, 2.0**100)  # weights for which float32 rows are computed with as such


def check_sample(
    X: Any, sample_weight: Any, *, names: tuple[str, str] = ("X", "sample_weight"), of: Any = None
) -> tuple[Array, Any]:
    """Return rows, as floats of their own library or that of `of`, and their weights.

    Rows of weight 0 are gone.  Weights are NumPy floats: they count rows, and are never
    differentiated through.  A Dask array has weights that are one, too.
    """
    if is_dask_array(X) or is_dask_array(of):
        from mercer.bandwidth._dask import check_dask_sample

        return check_dask_sample(X, sample_weight, names)
    X = check_rows(X, names[0], of=of)
    if X.shape[0] == 0:
        raise ValueError(f"{names[0]} has no rows.")
    if sample_weight is None:
        return X, None
    weights = check_counts(sample_weight, X.shape[0], names[1])
    counted = weights > 0
    if not counted.all():
        X, weights = take_rows(X, np.flatnonzero(counted)), weights[counted]
    return wide_enough(X, weights), weights


def wide_enough(X: Array, weights: NDArray[np.float64]) -> Array:
    """Return the rows in a precision that holds their weights: sums take both in one."""
    if itemsize(X) == 8 or (_SINGLE[0] < weights.min() and weights.max() < _SINGLE[1]):
        return X
    xp = array_namespace(X)
    return xp.astype(X, xp.float64)


def total_weight(X: Array, weights: Any) -> float:
    """Return what the weights add up to: the number of rows where there are none."""
    return float(X.shape[0]) if weights is None else float(weights.sum())


def count_rows(X: Array, weights: Any) -> float:
    """Return N: how many rows there are, copies counted."""
    if weights is None:
        return float(X.shape[0])
    if is_dask_array(weights):
        return total_weight(X, weights) if are_copies(weights) else float(X.shape[0])
    return row_total(weights)


def are_copies(weights: Any) -> bool:
    """Whether positive weights, in memory or in blocks, are numbers of copies."""
    return are_whole_blocks(weights) if is_dask_array(weights) else is_whole(weights)


def heaviest_left_out(weights: Any) -> float:
    """Return what all weights but the largest add up to."""
    if is_dask_array(weights):
        return float(weights.sum() - weights.max())
    return float(np.delete(weights, np.argmax(weights)).sum())


def check_counts(sample_weight: Any, n_rows: int, name: str) -> NDArray[np.float64]:
    """Return weights of rows, none negative and not all zero."""
    try:
        is_array = is_array_api_obj(sample_weight)
        weights = to_numpy(sample_weight) if is_array else np.asarray(sample_weight)
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers.") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one entry for each of the {n_rows} rows, got shape {weights.shape}."
        )
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name} must be finite and not negative, got {weights[row]:g} in row {row}."
        )
    if not weights.any():
        raise ValueError(f"{name} is zero everywhere.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise ValueError(f"{name} adds up to more than floating point holds; divide it.")
    return weights

"""Samples in Dask arrays: rows and weights, their spread, and sums over rows block by block."""

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.samples import (
    Blocks,
    check_dask_rows,
    check_dask_vector,
    check_rows,
    compute,
    counted,
    from_memory,
    is_dask_array,
    keep_counted,
)

__all__ = ["check_dask_sample", "over_rows", "spread"]

Vector = NDArray[np.float64]
_Moments = tuple[float, Vector, Vector]  # Σw, the means, Σw(x − mean)²


def check_dask_sample(
    X: Any, sample_weight: Any, names: tuple[str, str]
) -> tuple[Array, Array | None]:
    """Return rows and weights as Dask arrays that are cut alike; rows of weight 0 are gone."""
    X = check_dask_rows(X, names[0]) if is_dask_array(X) else from_memory(check_rows(X, names[0]))
    if sample_weight is None:
        return X, None
    weights = check_dask_vector(sample_weight, names[1], X, check=counted)
    weights, X = keep_counted(weights, X)
    if X.shape[0] == 0:
        raise ValueError(f"{names[1]} is zero everywhere.")
    return X, weights


def over_rows(
    function: Callable[..., Any], merge: Callable[[Any, Any], Any], sums: Array, weights: Array
) -> Any:
    """Return function((b, rows) sums, weights) of each block of rows, merged."""
    blocks = Blocks.of(sums, axis=1).map(
        partial(_without_start, function), Blocks.of(weights), name="criterion"
    )
    return compute(blocks.merged(merge, name="criterion"))[0]


def spread(X: Array, weights: Array | None, N: float) -> tuple[float, float]:
    """Return (unit, σ_X/unit), as of rows in memory: the largest deviation, then variances."""
    first = np.asarray(X[:1].compute(), dtype=np.float64) / 2
    rows = Blocks.of(X)
    unit = float(
        compute(rows.map(partial(_largest, first), name="extent").merged(max, name="extent"))[0]
    )
    if unit == 0:
        return 1.0, 0.0
    others = () if weights is None else (Blocks.of(weights),)
    parts = rows.map(partial(_moments, first, unit), *others, name="spread")
    total, _, squares = compute(parts.merged(_merge, name="spread"))[0]
    return unit, 2 * sqrt(float(np.mean(squares / total * (N / (N - 1)))))


def _without_start(function: Callable[..., Any], _: int, *blocks: NDArray[Any]) -> Any:
    return function(*blocks)


def _largest(first: Vector, _: int, X: NDArray[Any]) -> float:
    return float(np.abs(X.astype(np.float64) / 2 - first).max(initial=0.0))


def _moments(
    first: Vector, unit: float, _: int, X: NDArray[Any], weights: Vector | None = None
) -> _Moments:
    deviations = (X.astype(np.float64) / 2 - first) / unit
    w = np.ones(len(X)) if weights is None else weights
    total = float(w.sum())
    if total == 0:
        return 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    means = w @ deviations / total
    return total, means, w @ (deviations - means) ** 2


def _merge(a: _Moments, b: _Moments) -> _Moments:
    total = a[0] + b[0]
    if total == 0:
        return a
    step = b[1] - a[1]
    means = a[1] + step * (b[0] / total)
    return total, means, a[2] + b[2] + step**2 * (a[0] * b[0] / total)

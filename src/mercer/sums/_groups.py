"""Sums by group that Mercer's estimators ask for, of rows in memory or in blocks."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import Array, itemsize, like, take_rows, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.kernels import Kernel, get_kernel
from mercer.samples import home_of, is_in_blocks, safe_log
from mercer.sums._api import kernel_sum, left_out_log_sums, log_kernel_sum
from mercer.sums._in_memory import with_all_groups
from mercer.sums._problem import are_far, law
from mercer.sums._products import Products, merge_split, split_terms
from mercer.sums.dask._groups import group_sums_of_blocks, own_sums_of_blocks, products_of_blocks

_BATCH = 128  # Small groups are summed together until they have at least this many rows.
_ARRAYS = 12  # Left-out sums hold this many arrays of (rows, groups) at once, beside the sums.


def group_sums(
    X: Array,
    Y: Array,
    weights: Array,
    groups: Array,
    n_groups: int,
    *,
    log: bool,
    bandwidth: float | Sequence[float],
    kernel: str | Kernel = "gaussian",
    tol: float | None = None,
) -> Array:
    """Return Σ over the rows of Y of each group, or its logarithm, at the rows of X: (n, groups).

    The bandwidth is one for all groups, or one for each.  Results are float64, and lazy where X is
    in blocks.  Far from all rows, logarithms of float32 numbers are so large that their differences
    between groups drown in rounding: such points are summed in float64.  Weights are float64,
    whatever the rows are.
    """
    if isinstance(bandwidth, Sequence):
        columns, shared = [], {"log": log, "kernel": kernel, "tol": tol}
        for group, width in enumerate(bandwidth):
            one: Any = (*home_of(Y).of_class(groups, group, Y, weights), 1)
            how: Any = {"bandwidth": width, **shared}
            columns.append(group_sums(X, *one, **how)[:, 0])
        return home_of(X).stacked(columns)
    if is_in_blocks(X):
        return group_sums_of_blocks(
            X, Y, weights, groups, n_groups, log=log, bandwidth=bandwidth,
            kernel=get_kernel(kernel), tol=tol,
        )  # fmt: skip
    xp = array_namespace(X)
    function = log_kernel_sum if log else kernel_sum
    options: dict[str, Any] = {"kernel": kernel, "bandwidth": bandwidth, "tol": tol}
    if n_groups > 1:
        options["groups"] = to_numpy(groups)

    def sums(X: Array, Y: Array) -> Array:
        out = xp.astype(function(X, Y, weights=xp.astype(weights, Y.dtype), **options), xp.float64)
        if n_groups == 1:  # Without an order of rows by group, which takes longer than some sums.
            return out[:, None]
        return with_all_groups(out, n_groups, law(log).identity)

    found = sums(X, Y)
    if not log or itemsize(X) == 8:
        return found
    is_far = to_numpy(are_far(found))
    if not is_far.any():
        return found
    near, far = np.flatnonzero(~is_far), np.flatnonzero(is_far)
    again = sums(xp.astype(take_rows(X, far), xp.float64), xp.astype(Y, xp.float64))
    return take_rows(xp.concat([take_rows(found, near), again]), np.argsort(np.r_[near, far]))


def own_group_sums(
    X: Array,
    groups: Array,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    kernel: str | Kernel = "gaussian",
    tol: float | None = None,
) -> Array:
    """Return Σ_j w_j k(x_i, x_j) over the rows of i's own group, itself included: (b, n).

    Rows in memory are sorted by group; of rows in blocks the sums are lazy.

    Parameters
    ----------
    X : array of shape (n, d)
    groups : array of int of shape (n,)
    bandwidths : tuple of float
        Of the kernel, the widest first.
    weights : float64 array of shape (b, n)
    kernel : str or Kernel
    tol : float or None
        Relative error allowed to sums of rows in memory; None adds up every term.
    """
    if is_in_blocks(X):
        options: dict[str, Any] = {"weights": weights, "kernel": get_kernel(kernel)}
        return own_sums_of_blocks(X, groups, bandwidths=bandwidths, **options)
    xp, parts, bounds = array_namespace(weights), [], _bounds(groups)
    if tol is not None:
        return _own_sums_within(tol, X, bounds, bandwidths, weights, kernel)
    for low, high in _batches(bounds):
        codes, w = groups[low:high] - groups[low], weights[:, low:high]
        logs, _ = left_out_log_sums(
            X[low:high, :], codes, bandwidths=bandwidths, weights=w, kernel=kernel
        )
        codes = like(codes, w, dtype=xp.int64)
        is_own = codes[:, None] == xp.arange(logs.shape[2], device=device(logs))
        parts.append(xp.sum(xp.where(is_own, xp.exp(logs), 0.0), axis=2) + w)
    return xp.concat(parts, axis=1)


def group_products(
    X: Array,
    groups: Array,
    *,
    n_groups: int,
    bandwidths: tuple[float, ...],
    weights: Array,
    kernel: str | Kernel = "gaussian",
    sums: Callable[[slice], Array] | None = None,
) -> Products:
    """Return ⟨M_c, M_j⟩ of all groups, M_c = Σ_{i in c} w_i Φ(x_i): one pass, slab by slab.

    Rows in memory are sorted by group, and every group has some.  `sums` returns the
    left-out sums of a slab, for callers who have them already; rows in blocks are numbered as they
    were given.
    """
    given: dict[str, Any] = {"bandwidths": bandwidths, "weights": weights}
    given["kernel"] = get_kernel(kernel)
    if is_in_blocks(X):
        return products_of_blocks(X, groups, n_groups=n_groups, **given)
    xp = array_namespace(weights)
    parts: list[Any] = [None] * n_groups
    log_weights, bounds = safe_log(weights), _bounds(groups)
    for start, stop in group_slabs(X.shape[0], n_groups, len(bandwidths)):
        rows = slice(start, stop)
        if sums is None:
            logs, _ = left_out_log_sums(X, groups, rows=rows, **given)
        else:
            logs = sums(rows)
        for c, (low, high) in enumerate(pairwise(bounds)):
            first, last = max(low, start), min(high, stop)
            if first >= last:
                continue
            terms = logs[:, first - start : last - start, :] + log_weights[:, first:last, None]
            part = split_terms(xp.permute_dims(terms, (0, 2, 1)), first)
            parts[c] = part if parts[c] is None else merge_split(parts[c], part)
    tops, largest, rests = (xp.stack(list(p), axis=1) for p in zip(*parts, strict=True))
    return Products.of(tops, largest, rests)


def group_slabs(n_rows: int, n_groups: int, n_bandwidths: int) -> Iterator[tuple[int, int]]:
    """Cut n_rows into slabs whose left-out sums fit the memory budget."""
    bytes_per_row = 8 * n_groups * (3 * n_bandwidths + _ARRAYS)
    return row_slabs(n_rows, bytes_per_row, working_memory() // 2)


def _own_sums_within(
    tol: float,
    X: Array,
    bounds: list[int],
    bandwidths: tuple[float, ...],
    weights: Array,
    kernel: str | Kernel,
) -> Array:
    """Return sums over the own group within a tolerance, one group after the other."""
    xp = array_namespace(weights)
    rungs = []
    for width, of_rung in zip(bandwidths, weights, strict=True):
        parts = []
        for low, high in pairwise(bounds):
            rows = X[low:high, :]
            w = xp.astype(of_rung[low:high], rows.dtype)
            sums = kernel_sum(rows, weights=w, kernel=kernel, bandwidth=width, tol=tol)
            parts.append(xp.astype(sums, xp.float64))
        rungs.append(xp.concat(parts))
    return xp.stack(rungs)


def _bounds(groups: NDArray[np.int64]) -> list[int]:
    """Return where each of the sorted groups begins, and the end."""
    return [0, *np.cumsum(np.bincount(groups)).tolist()]


def _batches(bounds: list[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole groups: a large one, or several small ones together."""
    low = 0
    for high in bounds[1:]:
        if high - low >= _BATCH or high == bounds[-1]:
            yield low, high
            low = high

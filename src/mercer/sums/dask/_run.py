"""Sums over Dask arrays: pairs of blocks through the other backends, merged by the laws.

One task is one block of X against one block of Y; it returns float64 sums, which are merged
in a tree for each block of X.  With Y=None, the pairs of a block with itself are a sum over itself,
all others are sums over two arrays: a row's own term is left out in the former alone.

Cost: B_X · B_Y tasks for as many blocks, and as many blocks of Y that may have to travel.  The
saving of symmetric sums is made within blocks only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.kernels import Kernel
from mercer.samples import (
    Blocks,
    as_blocks,
    check_dask_rows,
    check_dask_vector,
    check_rows,
    compute,
    from_memory,
    is_dask_array,
    merge_pairs,
)
from mercer.sums._box import Box
from mercer.sums._reductions import law

__all__ = ["block_sums", "dask_kernel_sum"]


def dask_kernel_sum(
    X: Any,
    Y: Any,
    weights: Any,
    groups: Any,
    kernel: Kernel,
    bandwidths: tuple[float, ...],
    *,
    one_bandwidth: bool,
    options: dict[str, Any],
) -> Array:
    """Return `kernel_sum` or `log_kernel_sum` as a Dask array whose rows are cut as those of X."""
    options = {**options, "self_sum": Y is None}
    X = _rows(X, "X")
    Y = X if Y is None else _rows(Y, "Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}: they must agree.")
    dtype = X.dtype if X.dtype == Y.dtype else np.dtype(np.float64)
    if weights is not None:
        weights = _weights(weights, Y, dtype, options["log"])
    n_groups = None
    if groups is not None:
        if weights is not None and weights.ndim == 2:
            raise ValueError(
                "groups go with weights of one entry for each row, not with columns of weights."
            )
        groups, n_groups = _groups(groups, Y)
    out = block_sums(X, Y, weights, groups, n_groups, kernel, bandwidths, options, dtype=dtype)
    if n_groups is None and (weights is None or weights.ndim == 1):
        out = out[:, :, 0]
    return out[0] if one_bandwidth else out


def block_sums(
    X: Array,
    Y: Array,
    weights: Array | None,
    groups: Array | None,
    n_groups: int | None,
    kernel: Kernel,
    bandwidths: tuple[float, ...],
    options: dict[str, Any],
    *,
    dtype: Any = np.float64,
    again: Callable[[NDArray[np.float64]], NDArray[np.bool_]] | None = None,
) -> Array:
    """Return (bandwidths, rows of X, outputs) of Dask arrays that have been checked.

    Parameters
    ----------
    X, Y, weights, groups : Dask arrays
        Weights and groups are cut as Y is.
    n_groups : int or None
        How many groups there are, whether or not a block has all of them.
    options : dict
        Of `Problem`.
    dtype : dtype
        Of the result.
    again : callable or None
        Says which rows of a block's (rows, outputs) sums must be computed in float64 after all.
    """
    n_outputs = n_groups or (weights.shape[1] if weights is not None and weights.ndim == 2 else 1)
    pair = _Pair(
        kernel=kernel,
        bandwidths=bandwidths,
        options=options,
        n_outputs=n_outputs,
        has_weights=weights is not None,
        has_groups=groups is not None,
        again=again,
    )
    columns = [Blocks.of(A) for A in (Y, weights, groups) if A is not None]
    sums = merge_pairs(
        pair,
        [Blocks.of(X)],
        columns,
        law(options["log"]).merge,
        is_self=options["self_sum"],
        name="sum",
    )
    return sums.to_array(
        partial(np.asarray, dtype=dtype),
        ((len(bandwidths),), X.chunks[0], (n_outputs,)),
        dtype=dtype,
        axis=1,
        name="sums",
    )


@dataclass(frozen=True)
class _Pair:
    """The sums of one block of X over one block of Y."""

    kernel: Kernel
    bandwidths: tuple[float, ...]
    options: dict[str, Any]
    n_outputs: int
    has_weights: bool
    has_groups: bool
    again: Callable[[NDArray[np.float64]], NDArray[np.bool_]] | None

    def __call__(
        self, place: int | None, X: NDArray[Any], Y: NDArray[Any], *columns: NDArray[Any]
    ) -> NDArray[np.float64]:
        given = list(columns)
        weights = given.pop(0) if self.has_weights else None
        groups = given.pop(0).astype(np.int64) if self.has_groups else None
        options = {**self.options, "self_sum": place is not None}
        if place is None:
            options["exclude_self"] = False
        if X.dtype != Y.dtype:
            X, Y = X.astype(np.float64), Y.astype(np.float64)
        out = self._sums(X, Y, weights, groups, options)
        if self.again is None or X.dtype == np.float64 or place is not None:
            return out
        rows = np.flatnonzero(self.again(out[0]))
        if rows.size:
            X, Y = X[rows].astype(np.float64), Y.astype(np.float64)
            out[:, rows] = self._sums(X, Y, weights, groups, options)
        return out

    def _sums(
        self, X: NDArray[Any], Y: NDArray[Any], weights: Any, groups: Any, options: dict[str, Any]
    ) -> NDArray[np.float64]:
        from mercer.sums._api import _all_bandwidths

        out = np.full((len(self.bandwidths), len(X), self.n_outputs), law(options["log"]).identity)
        if len(X) and len(Y):
            if weights is not None:
                weights = weights.astype(X.dtype)
            box = Box.of(X) if options["self_sum"] else Box.of(X, Y)
            options = {**options, "box": box}
            with np.errstate(over="ignore", under="ignore"):
                sums = _all_bandwidths(X, Y, weights, groups, self.kernel, self.bandwidths, options)
            out[:, :, : sums.shape[2]] = sums
        return out


def _rows(A: Any, name: str) -> Array:
    return check_dask_rows(A, name) if is_dask_array(A) else from_memory(check_rows(A, name))


def _weights(weights: Any, Y: Array, dtype: Any, log: bool) -> Array:
    if not is_dask_array(weights):
        from mercer.sums._validation import check_weights

        in_memory = check_weights(weights, Y.shape[0], np.empty((0, 1), dtype), log)
        return as_blocks(in_memory, Y)
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise ValueError("weights has no columns.")
    if weights.ndim not in (1, 2) or weights.shape[:1] != Y.shape[:1]:
        raise ValueError(
            f"weights must have one entry or row for each of the {Y.shape[0]} rows that are summed "
            f"over, got shape {tuple(weights.shape)}."
        )
    check = _not_negative if log else None
    return check_dask_vector(weights, "weights", Y, check=check, dtype=dtype)


def _not_negative(weights: NDArray[Any], name: str, start: int) -> None:
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row, *column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"log_kernel_sum needs weights that are finite and not negative, got "
            f"{weights[(row, *column)]} in row {row + start}; use kernel_sum for negative ones."
        )


def _groups(groups: Any, Y: Array) -> tuple[Array, int]:
    """Return groups, cut as Y is, and how many there are, which takes a pass over them."""
    from mercer.sums._validation import check_groups

    if not is_dask_array(groups):
        numbers = check_groups(groups, Y.shape[0], None, np.empty((0, 1)))
        assert numbers is not None  # noqa: S101
        return as_blocks(numbers, Y), int(numbers.max(initial=-1)) + 1
    if groups.shape != Y.shape[:1]:
        raise ValueError(
            f"groups must have one entry for each of the {Y.shape[0]} rows that are summed over, "
            f"got shape {tuple(groups.shape)}."
        )
    if groups.dtype.kind not in "iu":
        raise ValueError(
            f"groups must be integers 0, 1, …, got {groups.dtype}; "
            "sklearn.preprocessing.LabelEncoder makes such numbers of labels."
        )
    groups = as_blocks(groups, Y)
    ends = Blocks.of(groups).map(_ends, name="groups")
    low, high = compute(ends.merged(_widest, name="groups"))[0]
    if not 0 <= low <= high < 2**31:
        raise ValueError(f"groups must be integers 0, 1, …, got {low if low < 0 else high}.")
    return groups, high + 1


def _ends(_: int, groups: NDArray[Any]) -> tuple[int, int]:
    return (int(groups.min()), int(groups.max())) if groups.size else (2**31, -1)


def _widest(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return min(a[0], b[0]), max(a[1], b[1])

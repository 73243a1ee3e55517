"""Checks of rows, weights and groups of which at least one is in blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.samples import (
    Blocks,
    as_blocks,
    check_dask_vector,
    check_same_library,
    compute,
    is_in_blocks,
    rows_in_blocks,
)
from mercer.sums._api import check_groups, check_weights


def check_blocks(X: Any, Y: Any, weights: Any, groups: Any, log: bool) -> dict[str, Any]:
    """Return what was passed as Dask arrays cut alike, by the names of `Problem`."""
    is_self, n_groups = Y is None, None
    if not is_self:
        check_same_library(Y, "Y", X)
    X = rows_in_blocks(X, "X")
    Y = X if is_self else rows_in_blocks(Y, "Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}: they must agree.")
    X, Y = in_one_precision(X, Y)
    if weights is not None:
        check_same_library(weights, "weights", X)
        weights = _weights_in_blocks(weights, Y, log)
    if groups is not None:
        if weights is not None and weights.ndim == 2:
            raise ValueError(
                "groups go with weights of one entry for each row, not with columns of weights."
            )
        groups, n_groups = _groups_in_blocks(groups, Y)
    return {"X": X, "Y": Y, "weights": weights, "groups": groups, "n_groups": n_groups}


def in_one_precision(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return both in float64, unless they have the same precision."""
    if X.dtype == Y.dtype:
        return X, Y
    return X.astype(np.float64), Y.astype(np.float64)


def count_groups(groups: Array) -> int:
    """Return how many groups there are, after a pass over them."""
    ends = Blocks.of(groups).map(_group_ends, name="groups")
    low, high = compute(ends.merged(_outer_ends, name="groups"))[0]
    if not 0 <= low <= high < 2**31:
        raise ValueError(f"groups must be integers 0, 1, …, got {low if low < 0 else high}.")
    return int(high) + 1


def _weights_in_blocks(weights: Any, Y: Array, log: bool) -> Array:
    if not is_in_blocks(weights):
        return as_blocks(check_weights(weights, Y.shape[0], np.empty((0, 1), Y.dtype), log), Y)
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise ValueError("weights has no columns.")
    if weights.ndim not in (1, 2) or weights.shape[:1] != Y.shape[:1]:
        raise ValueError(
            f"weights must have one entry or row for each of the {Y.shape[0]} rows that are summed "
            f"over, got shape {tuple(weights.shape)}."
        )
    check = _check_block_not_negative if log else None
    return check_dask_vector(weights, "weights", Y, check=check, dtype=Y.dtype)


def _check_block_not_negative(weights: NDArray[Any], name: str, start: int) -> None:
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row, *column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"log_kernel_sum needs weights that are finite and not negative, got "
            f"{weights[(row, *column)]} in row {row + start}; use kernel_sum for negative ones."
        )


def _groups_in_blocks(groups: Any, Y: Array) -> tuple[Array, int]:
    """Return groups, cut as Y is, and how many there are."""
    if not is_in_blocks(groups):
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
    return groups, count_groups(groups)


def _group_ends(_: int, groups: NDArray[Any]) -> tuple[int, int]:
    return (int(groups.min()), int(groups.max())) if groups.size else (2**31, -1)


def _outer_ends(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return min(a[0], b[0]), max(a[1], b[1])

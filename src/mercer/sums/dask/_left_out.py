"""`left_out_log_sums` over Dask arrays: pairs of blocks, merged as logarithms and drifts are.

Sums of b bandwidths and G groups take b·G numbers for each row, more than the row itself as a
rule: the rows for which they are wanted are cut into pieces for which this stays small.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.samples import Blocks, compute, from_memory, merge_pairs, row_numbers
from mercer.sums._left_out import Removal, left_out_log_sums

__all__ = ["left_out_blocks", "left_out_rows", "own_group_sums"]

LeftOutSums = tuple[NDArray[np.float64], NDArray[np.float64] | None]
_PIECE_BYTES = 2**24  # of the sums of one piece
_MANY_GROUPS = 128  # rows of a group in a block, below which groups are summed together


def left_out_rows(
    X: Array,
    groups: Array,
    n_groups: int,
    rows: NDArray[np.int64],
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
) -> LeftOutSums:
    """Return the logarithms and the drifts of some rows, in their order: (b, rows, groups).

    Arguments are those of `left_out_log_sums` as Dask arrays, cut alike along the rows.
    """
    order = np.argsort(rows, kind="stable")
    pieces = left_out_blocks(
        X, groups, n_groups, bandwidths=bandwidths, weights=weights, removal=removal,
        rows=rows[order],
    )  # fmt: skip
    logs, drifts = zip(
        *compute(*(replace(pieces, keys=(key,)) for key in pieces.keys)), strict=True
    )
    place = np.argsort(order)
    moved = None if removal is None else np.concatenate(drifts, axis=1)[:, place]
    return np.concatenate(logs, axis=1)[:, place], moved


def left_out_blocks(
    X: Array,
    groups: Array,
    n_groups: int,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
    rows: NDArray[np.int64] | None = None,
) -> Blocks:
    """Return one task for each piece of these rows, sorted, or of all: (logarithms, drifts)."""
    most = max(1, _PIECE_BYTES // (16 * n_groups * len(bandwidths)))
    numbers = row_numbers(X)

    def pieces(A: Array) -> Blocks:
        some = A if rows is None else A[rows]
        return Blocks.of(some.rechunk({0: most}))

    at = numbers.rechunk(most) if rows is None else from_memory(rows, most)
    sides = [pieces(X), Blocks.of(at)]
    columns = [Blocks.of(X), Blocks.of(numbers), Blocks.of(groups), Blocks.of(weights, axis=1)]
    if removal is not None:
        sides.append(pieces(removal.amount))
        columns += [
            Blocks.of(removal.densities, axis=1),
            Blocks.of(removal.least),
            Blocks.of(removal.drift_weights, axis=1),
        ]
    squared = None if removal is None else removal.squared
    pair = _LeftOutPair(bandwidths, n_groups, squared)
    return merge_pairs(pair, sides, columns, _merge, is_self=False, name="left-out")


def own_group_sums(
    X: Array, groups: Array, *, bandwidths: tuple[float, ...], weights: Array
) -> Array:
    """Return Σⱼ wⱼ k(xᵢ, xⱼ) over the rows of i's own group, without itself: (b, n)."""
    rows = [Blocks.of(X), Blocks.of(groups)]
    columns = [*rows, Blocks.of(weights, axis=1)]
    sums = merge_pairs(_OwnPair(bandwidths), rows, columns, np.add, is_self=True, name="own-group")
    chunks = ((len(bandwidths),), X.chunks[0])
    return sums.to_array(np.asarray, chunks, dtype=np.float64, axis=1, name="own-group")


@dataclass(frozen=True)
class _LeftOutPair:
    """Sums of a piece of rows over one block; `squared` is None where nothing is removed."""

    bandwidths: tuple[float, ...]
    n_groups: int
    squared: bool | None

    def __call__(
        self, _: int | None, X: NDArray[Any], at: NDArray[np.int64], *others: NDArray[Any]
    ) -> LeftOutSums:
        given = list(others)
        amount = None if self.squared is None else given.pop(0)
        Y, numbers, groups, weights = given[:4]
        shape = (len(self.bandwidths), len(X), self.n_groups)
        logs = np.full(shape, -np.inf)
        drifts = None if amount is None else np.zeros(shape)
        if not (len(X) and len(Y)):
            return logs, drifts
        is_here = (at >= numbers[0]) & (at <= numbers[-1])  # rows that meet themselves
        for some, among in ((np.flatnonzero(is_here), True), (np.flatnonzero(~is_here), False)):
            if not some.size:
                continue
            rows = at[some] - numbers[0] if among else None
            removal = None
            if amount is not None:
                densities, least, drift_weights = given[4:]
                gone = amount[some]
                if rows is not None:
                    gone = np.zeros(len(Y))
                    gone[rows] = amount[some]
                removal = Removal(gone, densities, least, bool(self.squared), drift_weights)
            sums, moved = left_out_log_sums(
                Y if among else X[some],
                groups.astype(np.int64),
                bandwidths=self.bandwidths,
                weights=weights,
                removal=removal,
                rows=rows,
                Y=None if among else Y,
            )
            logs[:, some, : sums.shape[2]] = sums
            if drifts is not None and moved is not None:
                drifts[:, some, : moved.shape[2]] = moved
        return logs, drifts


@dataclass(frozen=True)
class _OwnPair:
    """Sums of one block's rows over the rows of their own groups in another."""

    bandwidths: tuple[float, ...]

    def __call__(
        self,
        place: int | None,
        X: NDArray[Any],
        groups: NDArray[Any],
        Y: NDArray[Any],
        of_y: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        out = np.zeros((len(self.bandwidths), len(X)))
        shared = np.intersect1d(groups, of_y)
        if not shared.size:
            return out
        if len(X) < _MANY_GROUPS * shared.size:
            logs = self._sums(place, X, Y, of_y.astype(np.int64), weights)
            rows = np.flatnonzero(groups <= of_y.max())
            out[:, rows] = np.exp(logs[:, rows, groups[rows]])
            return out
        for group in shared:
            rows, columns = np.flatnonzero(groups == group), np.flatnonzero(of_y == group)
            one = np.zeros(columns.size, dtype=np.int64)
            logs = self._sums(place, X[rows], Y[columns], one, weights[:, columns])
            out[:, rows] = np.exp(logs[:, :, 0])
        return out

    def _sums(
        self, place: int | None, X: NDArray[Any], Y: NDArray[Any], groups: Any, weights: Any
    ) -> NDArray[np.float64]:
        sums, _ = left_out_log_sums(
            X,
            groups,
            bandwidths=self.bandwidths,
            weights=weights,
            Y=Y if place is None else None,
        )
        return np.asarray(sums)


def _merge(a: LeftOutSums, b: LeftOutSums) -> LeftOutSums:
    logs = np.logaddexp(a[0], b[0])
    return logs, None if a[1] is None or b[1] is None else a[1] + b[1]

"""`left_out_log_sums` over Dask arrays: pairs of blocks, merged as logarithms and drifts are.

Sums of b bandwidths and G groups take b·G numbers for each row, more than the row itself as a
rule: blocks of rows are cut into pieces for which this stays small.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer._blocks import Blocks, merge_pairs
from mercer.sums._left_out import Removal, left_out_log_sums

__all__ = ["left_out_blocks", "own_group_sums", "piece_chunks"]

LeftOutSums = tuple[NDArray[np.float64], NDArray[np.float64] | None]
_PIECE_BYTES = 2**24  # of the sums of one piece
_MANY_GROUPS = 128  # rows of a group in a block, below which groups are summed together


def piece_chunks(X: Array, n_groups: int, n_bandwidths: int) -> tuple[int, ...]:
    """Return sizes of pieces into which the blocks of X are cut for sums of many numbers a row."""
    most = max(1, _PIECE_BYTES // (16 * n_groups * n_bandwidths))
    pieces: list[int] = []
    for size in X.chunks[0]:
        count = max(1, -(-size // most))
        pieces += [size * (k + 1) // count - size * k // count for k in range(count)]
    return tuple(pieces)


def left_out_blocks(
    X: Array,
    groups: Array,
    n_groups: int,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
    pieces: tuple[int, ...],
) -> Blocks:
    """Return one task for each piece of rows: (logarithms, drifts), (b, rows, groups) each.

    Arguments are those of `left_out_log_sums` as Dask arrays, cut alike along the rows.
    """
    rows = [Blocks.of(X.rechunk({0: pieces}))]
    columns = [Blocks.of(X), Blocks.of(groups), Blocks.of(weights, axis=1)]
    if removal is not None:
        rows.append(Blocks.of(removal.amount.rechunk({0: pieces})))
        columns += [
            Blocks.of(removal.densities, axis=1),
            Blocks.of(removal.least),
            Blocks.of(removal.drift_weights, axis=1),
        ]
    squared = None if removal is None else removal.squared
    pair = _LeftOutPair(bandwidths, n_groups, squared)
    return merge_pairs(pair, rows, columns, _merge, is_self=True, name="left-out")


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

    def __call__(self, place: int | None, X: NDArray[Any], *others: NDArray[Any]) -> LeftOutSums:
        given = list(others)
        amount = None if self.squared is None else given.pop(0)
        Y, groups, weights = given[:3]
        shape = (len(self.bandwidths), len(X), self.n_groups)
        logs = np.full(shape, -np.inf)
        drifts = None if amount is None else np.zeros(shape)
        if not (len(X) and len(Y)):
            return logs, drifts
        rows = None if place is None else slice(place, place + len(X))
        if amount is not None and rows is not None:
            amount = np.zeros(len(Y))
            amount[rows] = others[0]
        removal = None
        if amount is not None:
            densities, least, drift_weights = given[3:]
            removal = Removal(amount, densities, least, bool(self.squared), drift_weights)
        sums, moved = left_out_log_sums(
            X if place is None else Y,
            groups.astype(np.int64),
            bandwidths=self.bandwidths,
            weights=weights,
            removal=removal,
            rows=rows,
            Y=Y if place is None else None,
        )
        logs[:, :, : sums.shape[2]] = sums
        if drifts is not None and moved is not None:
            drifts[:, :, : moved.shape[2]] = moved
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

"""Sums by group over Dask arrays, as estimators ask for them: pairs of blocks, merged."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.kernels import KERNELS, Kernel
from mercer.samples import (
    Blocks,
    as_blocks,
    compute,
    from_memory,
    is_in_blocks,
    merge_pairs,
    safe_log,
)
from mercer.sums._api import left_out_log_sums
from mercer.sums._devices import on_devices_in_use
from mercer.sums._problem import Problem, are_far
from mercer.sums._products import Products, merge_split, split_terms
from mercer.sums.dask._checks import in_one_precision
from mercer.sums.dask._left_out import left_out_pieces
from mercer.sums.dask._run import PairSums, merged_pairs

# If the groups of a block have fewer rows than this on average, they are summed together.
_FEW_ROWS = 128


def group_sums_of_blocks(
    X: Array,
    Y: Array,
    weights: Array,
    groups: Array,
    n_groups: int,
    *,
    log: bool,
    bandwidth: float,
    kernel: Kernel,
    tol: float | None,
) -> Array:
    """Return the sums over groups, or their logarithms, as a Dask array in float64: (n, groups)."""
    X, Y = in_one_precision(X, Y if is_in_blocks(Y) else from_memory(Y))
    problem = Problem(
        X, Y, None, as_blocks(weights, Y), (), kernel, (float(bandwidth),),
        log=log, self_sum=False, exclude_self=False, method="auto", tol=tol, precision="high",
        groups=as_blocks(groups, Y), n_groups=n_groups,
    )  # fmt: skip
    return merged_pairs(problem, _FarAgain if log and X.dtype != np.float64 else PairSums)[0]


def own_sums_of_blocks(
    X: Array, groups: Array, *, bandwidths: tuple[float, ...], weights: Array
) -> Array:
    """Return Σⱼ wⱼ k(xᵢ, xⱼ) over the rows of i's own group, itself included: (b, n)."""
    rows = [Blocks.of(X), Blocks.of(groups)]
    columns = [*rows, Blocks.of(weights, axis=1)]
    pair = on_devices_in_use(_OwnPair(bandwidths))
    sums = merge_pairs(pair, rows, columns, np.add, is_self=True, name="own-group")
    chunks = ((len(bandwidths),), X.chunks[0])
    others = sums.to_array(np.asarray, chunks, dtype=np.float64, axis=1, name="own-group")
    return others + weights


def products_of_blocks(
    X: Array, groups: Array, *, n_groups: int, bandwidths: tuple[float, ...], weights: Array
) -> Products:
    """Return ⟨M_c, M_j⟩ of all groups, from which one row of c can be removed without loss."""
    problem = Problem(
        X, X, None, None, (), KERNELS["gaussian"], bandwidths, log=True, self_sum=True,
        exclude_self=True, method="direct", tol=None, precision="high", groups=groups,
        n_groups=n_groups, rung_weights=weights,
    )  # fmt: skip
    sums = left_out_pieces(problem)
    sizes = tuple(np.diff(sums.starts).tolist())
    others = [
        Blocks.of(groups.rechunk({0: sizes})),
        Blocks.of(weights.rechunk({1: sizes}), axis=1),
    ]
    parts = sums.map(partial(_split_piece, n_groups), *others, name="products")
    return Products.of(*compute(parts.merged(merge_split, name="products"))[0])


class _FarAgain(PairSums):
    """The logarithms of a pair of float32 blocks; rows far from all are summed in float64."""

    def __call__(
        self, place: int | None, X: NDArray[Any], Y: NDArray[Any], *columns: NDArray[Any]
    ) -> NDArray[np.float64]:
        out = super().__call__(place, X, Y, *columns)
        rows = np.flatnonzero(are_far(out[0]))
        if rows.size:
            X, Y = X[rows].astype(np.float64), Y.astype(np.float64)
            out[:, rows] = super().__call__(place, X, Y, *columns)
        return out


@dataclass(frozen=True)
class _OwnPair:
    """Sums of one block's rows over the other rows of their own groups in another block."""

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
        if len(X) < _FEW_ROWS * shared.size:
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


def _split_piece(
    n_groups: int, start: int, sums: Any, groups: NDArray[Any], weights: NDArray[np.float64]
) -> tuple[Any, ...]:
    shape = (len(weights), n_groups, n_groups)
    tops, largest, rests = np.full(shape, -np.inf), np.zeros(shape, int), np.full(shape, -np.inf)
    terms = sums[0] + safe_log(weights)[:, :, None]
    for c in range(n_groups):
        members = np.flatnonzero(groups == c)
        if members.size:
            part = split_terms(np.moveaxis(terms[:, members], 1, 2), 0)
            tops[:, c], rests[:, c] = part[0], part[2]
            largest[:, c] = start + members[part[1]]
    return tops, largest, rests

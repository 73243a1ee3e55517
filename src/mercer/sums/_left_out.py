"""Sums over groups as if the window of the row at hand had left every density.

What leave-one-out of a density-weighted classifier needs: removing row i changes not only its own
term but the weight F_j^(−1/2) of every other row.  For each rung b of a ladder of bandwidths,

    out[b, i, g]   = log Σ_{j in group g, j ≠ i} w[b, j] k_b(i, j) ρ_b(i, j)
    drift[b, i, g] =     Σ_{j in group g, j ≠ i} q[b, j] (ρ_b(i, j) − 1)
    ρ_b(i, j)      = (1 − removed[i] k_b(i, j)^p / F[b, j])^(−1/2)

exactly, for all rungs in one pass over the pairs.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import Array, itemsize
from mercer._memory import working_memory
from mercer.kernels import KERNELS
from mercer.sums._api import exceeds_single
from mercer.sums._arrange import arrange
from mercer.sums._box import Box
from mercer.sums._geometry import choose_geometry
from mercer.sums._problem import Problem
from mercer.sums._reductions import law


@dataclass(frozen=True)
class Removal:
    """What leaves the densities with a row, and what is wanted to first order.

    Parameters
    ----------
    amount : array of shape (n,)
        Weight of row i's window in every density.
    densities : array of shape (b, n)
        F, in the units of `amount`, with the kernel's peak as 1.
    least : array of shape (n,)
        The part of F_j that can not leave it with another row: row j's own term.
    squared : bool
        Whether F sums the squared kernel (p = 2) or the kernel (p = 1).
    drift_weights : array of shape (b, n)
        q.
    """

    amount: Array
    densities: Array
    least: Array
    squared: bool
    drift_weights: Array


def left_out_log_sums(
    X: Array,
    groups: Array,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
    rows: slice | NDArray[np.int64] | None = None,
    Y: Array | None = None,
) -> tuple[Array, Array | None]:
    """Return the logarithms and the drifts, (b, rows, groups) each, in float64.

    Parameters
    ----------
    X : float32 or float64 array of shape (n, d)
        Rows.
    groups : NumPy array of int of shape (n,)
        The group of each row.
    bandwidths : tuple of float
        Of the Gaussian kernel that is summed, the widest first.
    weights : array of shape (b, n)
        Not negative, within some 100 orders of magnitude of each other.
    removal : Removal or None
        None leaves the densities as they are: ρ = 1, and there is no drift.
    rows : slice, NumPy array of int or None
        Rows of X for which the sums are wanted; all when None.
    Y : array of shape (m, d) or None
        Rows that are summed over, none of which is in X, with their groups, weights and
        densities; X itself when None.

    Returns
    -------
    logs : array of shape (b, rows, groups)
        Natural logarithms of the sums.
    drifts : array of shape (b, rows, groups) or None
        Sums of the drift weights times ρ − 1; None without a removal.
    """
    xp = array_namespace(X)
    is_self, Y = Y is None, X if Y is None else Y
    box = Box.of(X) if is_self else Box.of(X, Y)
    if itemsize(X) == 4 and exceeds_single(box.extent, bandwidths):
        X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
    rows = slice(None) if rows is None else rows
    arrangement = arrange(Y.shape[0], None, groups, log=True)
    problem = Problem(
        X, Y, arrangement.order, None, arrangement.bounds, KERNELS["gaussian"], bandwidths,
        log=True, self_sum=is_self, exclude_self=is_self, method="direct", tol=None,
        precision="high", box=box,
    )  # fmt: skip
    if not is_torch_array(X):
        return _run_compiled(problem, weights, removal, rows)
    from mercer.sums._torch import with_room
    from mercer.sums.cuda import _run as _triton
    from mercer.sums.cuda._left_out import fused_left_out_sums

    n_rows = len(range(X.shape[0])[rows]) if isinstance(rows, slice) else len(rows)
    is_fused = _triton.owns(X) and _triton.refuses(problem, n_rows) is None
    run = fused_left_out_sums if is_fused else _run_torch
    return with_room(problem, lambda: run(problem, weights, removal, rows))


def _run_compiled(
    problem: Problem, weights: Array, removal: Removal | None, rows: slice | NDArray[np.int64]
) -> tuple[Array, Array | None]:
    from mercer.sums.cpu._columns import Slab, arrange_columns, pack_slabs
    from mercer.sums.cpu._left_out_loops import absorb_left_out
    from mercer.sums.cpu._run import Recipe, log_totals, plain, row_tasks
    from mercer.sums.cpu._threads import run_all

    geometry = choose_geometry(problem)
    columns = arrange_columns(problem)
    recipe = Recipe.of(problem, geometry).arguments()
    X = plain(problem.X[rows])
    dtype = X.dtype
    n_rungs, n_segments = len(problem.bandwidths), len(problem.bounds) - 1
    shape = (X.shape[0], n_segments, n_rungs)
    nearest = np.full(shape[:2], np.inf)
    totals = np.zeros(shape)
    drifts = np.zeros(shape if removal else (0,))
    order = columns.order

    def by_column(values: Array, slab: Slab, fill: float = 0.0) -> Array:
        """Lay out (b, n) numbers as the loops take them, flat; `fill` where there is no row."""
        part = order[slab.start : slab.start + slab.n_columns]
        laid = np.where(part >= 0, np.asarray(values)[:, np.maximum(part, 0)], fill)
        return np.ascontiguousarray(laid, dtype).reshape(-1)

    for slab in pack_slabs(columns, problem.Y, geometry, working_memory() // 4):
        empty = np.empty(0, dtype)
        W, inverse, least, q = by_column(weights, slab), empty, empty, empty
        removed, squared, highest = np.zeros(X.shape[0]), False, np.zeros(n_rungs)
        if removal is not None:
            inverse = by_column(1 / removal.densities, slab)
            highest = (1 / removal.densities).max(axis=1)
            least = by_column(removal.least / removal.densities, slab, fill=1.0)
            q = by_column(removal.drift_weights, slab)
            removed = np.asarray(removal.amount, dtype=float)[rows]
            squared = removal.squared
        own = columns.own[rows] - slab.start

        def absorb(
            slab: Slab, own: Array, first: int, last: int, *, data: tuple[Array, ...]
        ) -> None:
            absorb_left_out(
                X, first, last, slab.panels, slab.n_columns, slab.bounds, own, *recipe,
                *data, nearest.reshape(-1), totals.reshape(-1), drifts.reshape(-1),
            )  # fmt: skip

        data = (W, removed, squared, inverse, highest, least, q)
        run_all(partial(absorb, slab, own, data=data), row_tasks(X.shape[0], slab.n_columns))

    log_totals(problem, geometry, nearest, totals)
    out = np.ascontiguousarray(np.moveaxis(totals, 2, 0))
    return out, np.ascontiguousarray(np.moveaxis(drifts, 2, 0)) if removal else None


def _run_torch(
    problem: Problem, weights: Array, removal: Removal | None, rows: slice | NDArray[np.int64]
) -> tuple[Array, Array | None]:
    import torch

    from mercer.sums._torch import Tiling

    tiling = Tiling.of(problem, choose_geometry(problem))
    merge = law(log=True).merge
    # Which rows they are, in any order: a row's own column is left out by its number.
    numbers = torch.arange(problem.X.shape[0], device=problem.X.device)
    numbers = numbers[rows if isinstance(rows, slice) else torch.as_tensor(rows).to(numbers)]
    X = problem.X[numbers]
    shape = (len(problem.bandwidths), X.shape[0], len(problem.bounds) - 1)
    like_out = {"dtype": torch.float64, "device": problem.X.device}
    out = torch.full(shape, -np.inf, **like_out)
    drifts = torch.zeros(shape, **like_out) if removal else None
    for tile in tiling.tiles(X.shape[0]):
        at, s = tile.rows, tile.outputs.start
        y = tiling.columns_of(problem.Y, tile)
        d2 = tiling.distances(X[at], y, tile, numbers[at])
        for b, bandwidth in enumerate(tiling.geometry.bandwidths):
            log_k = problem.kernel.log_profile(d2, bandwidth).to(torch.float64)
            terms = log_k + torch.log(tiling.columns_of(weights[b], tile))
            if removal is not None and drifts is not None:
                F = tiling.columns_of(removal.densities[b], tile)
                gone = removal.amount[numbers[at]][:, None]
                rest = 1 - gone * torch.exp(log_k * (2 if removal.squared else 1)) / F
                rest = torch.maximum(rest, tiling.columns_of(removal.least, tile) / F)
                rho = rest**-0.5
                terms = terms + torch.log(rho)
                q = tiling.columns_of(removal.drift_weights[b], tile)
                drifts[b, at, s] += (rho - 1) @ q
            partial_sum = torch.logsumexp(terms, dim=1)
            out[b, at, s] = merge(out[b, at, s], partial_sum)
    return out, drifts

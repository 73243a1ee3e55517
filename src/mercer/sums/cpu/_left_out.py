"""Left-out sums over NumPy arrays: weights of each rung, laid out for the compiled loops."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer._memory import working_memory
from mercer.sums._geometry import choose_geometry
from mercer.sums._problem import Problem
from mercer.sums.cpu._columns import Slab, lay_out_columns, pack_slabs
from mercer.sums.cpu._left_out_loops import absorb_left_out
from mercer.sums.cpu._recipe import Recipe, log_totals, plain, row_tasks
from mercer.sums.cpu._threads import run_all


def compiled_left_out_sums(
    problem: Problem,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the logarithms and the drifts, (b, rows, segments) each."""
    geometry = choose_geometry(problem)
    columns = lay_out_columns(problem)
    rows = slice(None) if problem.rows is None else problem.rows
    removal = problem.removal
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
        W, inverse, least, q = by_column(problem.rung_weights, slab), empty, empty, empty
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

"""Sums with the row at hand left out, on CUDA: four rungs of the ladder in one fused pass."""

from dataclasses import replace
from typing import Any

import numpy as np

from mercer._arrays import Array
from mercer.sums._geometry import climb
from mercer.sums._problem import Problem
from mercer.sums.cuda._launch import launch
from mercer.sums.cuda._layout import (
    APART,
    BESIDE,
    DIFFERENCES,
    RESIDENT,
    STREAMED,
    TOGETHER,
    Packer,
    Rows,
    RowSlab,
    TensorColumns,
    Tile,
    choose_tensor_geometry,
    count_pieces,
    left_out_kernels,
    log_of_pieces,
    tiles_on,
)

TILES = {
    DIFFERENCES: Tile(32, 64, fold=64, warps=4, stages=2),
    TOGETHER: Tile(64, 128, fold=8, warps=4, stages=2, registers=168),
    BESIDE: Tile(64, 128, fold=8, warps=4, stages=2, registers=168),
    APART: Tile(64, 128, fold=8, warps=4, stages=2, registers=168),
    RESIDENT: Tile(64, 64, fold=8, warps=4, stages=2, registers=168),
    STREAMED: Tile(128, 64, fold=8, warps=8, stages=3, blocks=16),
}


def fused_left_out_sums(problem: Problem) -> tuple[Array, Array | None]:
    """Return the logarithms and the drifts, (b, rows, segments) each, in float64."""
    import torch

    chosen, rows, removal = None, problem.rows, problem.removal
    if isinstance(rows, slice):
        rows = None if rows == slice(None) else np.arange(problem.X.shape[0])[rows]
    if rows is not None:
        chosen = torch.as_tensor(rows, device=problem.X.device)
    by_column: dict[str, Array] = {"weights": problem.rung_weights}
    if removal is not None:
        F = removal.densities
        by_column |= {"inverse": 1 / F, "least": removal.least / F, "q": removal.drift_weights}
    sums, drifts, start = [], [], 0
    for _, n_rungs in climb(problem.kernel, problem.bandwidths, 2.0**-23):
        rungs = slice(start, start + n_rungs)
        step = replace(problem, bandwidths=problem.bandwidths[rungs])
        of_step = {name: values[rungs].to(torch.float32) for name, values in by_column.items()}
        parts = _one_step(step, of_step, chosen)
        sums.append(parts[0])
        drifts.append(parts[1])
        start += n_rungs
    return torch.cat(sums), torch.cat(drifts) if removal is not None else None


def _one_step(
    problem: Problem, by_column: dict[str, Array], chosen: Array | None
) -> tuple[Array, Array]:
    """Return (rungs, rows, segments) logarithms and drifts of rungs that are powers of the first.

    Each step has its own geometry, so that a rung too narrow for products does not slow down the
    others.  All products are precise: beside this many rungs one more product costs little, and
    fewer variants have to be compiled.
    """
    import torch

    removal = problem.removal
    geometry = choose_tensor_geometry(problem, to_judge=True)
    packer = Packer.of(problem, geometry, precise=True)
    tile = TILES[packer.form]
    columns = TensorColumns.of(problem, tile.columns)
    rows = Rows.of(problem, columns, chosen)
    fills = {"least": 1.0}
    order = slice(None)
    if problem.order is not None:
        order = torch.as_tensor(problem.order, device=problem.X.device)
    laid = {
        name: columns.spread(values[:, order], fills.get(name, 0.0))
        for name, values in by_column.items()
    }
    n_rungs, n_segments = len(problem.bandwidths), len(problem.bounds) - 1
    parts = list(columns.slabs(packer.bytes_per_row + 16 * n_rungs))
    n_pieces = max(
        count_pieces(tiles, 2**20, tile.columns * packer.bytes_per_row) for _, tiles in parts
    )
    bytes_per_row = packer.bytes_per_row + 64 * n_rungs * n_segments * n_pieces

    def one_slab(slab: RowSlab) -> tuple[Array, Array]:
        X = packer.pack(problem.X, slab.order, slab.part.start, slab.n_filled, side=1)
        removed = X.high.new_zeros(slab.n_filled, dtype=torch.float32)
        n = slab.part.stop - slab.part.start
        if removal is not None:
            of_rows = slab.part if slab.order is None else slab.order[:n]
            removed[:n] = removal.amount[of_rows].to(torch.float32)
        logs: Array = None
        drifts: Array = 0.0
        for part, tiles in parts:
            of_columns = None if columns.order is None else columns.order[part]
            Y = packer.pack(problem.Y, of_columns, part.start, part.stop - part.start, side=2)
            data = {name: values[:, part].contiguous() for name, values in laid.items()}
            more, drift = _launch_left_out(
                problem, packer, tile, X, Y, data, removed, slab.own - part.start, tiles,
                removal is not None and removal.squared,
            )  # fmt: skip
            logs = more if logs is None else torch.logaddexp(logs, more)
            drifts = drifts + drift
        logs = logs[:, :, :n]
        return logs, drifts[:, :, :n] if removal is not None else logs[:0]

    slabs = [one_slab(slab) for slab in rows.slabs(bytes_per_row, tile.rows)]
    logs, drifts = (torch.cat(list(of_slabs), dim=2) for of_slabs in zip(*slabs, strict=True))
    return rows.restore(logs), rows.restore(drifts)


def _launch_left_out(
    problem: Problem,
    packer: Packer,
    tile: Tile,
    X: Any,
    Y: Any,
    data: dict[str, Array],
    removed: Array,
    own: Array,
    tiles: tuple[int, ...],
    squared: bool,
) -> tuple[Array, Array]:
    """Return (rungs, segments, rows) logarithms and drifts over packed rows and columns."""
    import torch

    ((coefficient, n_rungs),) = climb(problem.kernel, packer.geometry.bandwidths, 2.0**-23)
    n_blocks, n_segments = X.n_rows // tile.rows, len(tiles) - 1
    n_pieces = count_pieces(tiles, n_blocks, tile.columns * packer.bytes_per_row)
    shape = (n_segments, n_pieces, n_rungs, X.n_rows)
    whole: dict[str, Any] = {"dtype": torch.float64, "device": removed.device}
    has_removal = "q" in data
    totals = torch.empty(shape, **whole)
    drifts = torch.empty(shape if has_removal else (1,), **whole)
    tops = removed.new_empty((n_segments, n_pieces, X.n_rows))
    w = data["weights"]
    inverse: Array = data.get("inverse", w)
    highest = inverse.reshape(n_rungs, -1, tile.columns).amax(2)
    launch(
        left_out_kernels().left_out_sums, n_blocks * n_segments * n_pieces,
        X.high, X.middle, X.low, X.first, X.second, Y.high, Y.low, Y.first, Y.second,
        w, removed, inverse, data.get("least", w), data.get("q", w), highest, own,
        packer.radius, tiles_on(removed.device, tiles),
        totals, drifts, tops, X.n_rows, Y.n_rows, packer.width, n_pieces, coefficient, packer.units,
        WIDTH=min(packer.width, 64), FORM=packer.form, PRECISE=packer.precise,
        REMOVAL=has_removal, SQUARED=squared, RUNGS=n_rungs, ROWS=tile.rows,
        COLUMNS=tile.columns, FOLD=tile.fold, CHUNK=tile.chunk, STAGES=tile.stages,
        BLOCKS=tile.blocks, HELD=tile.held,
        num_warps=tile.warps, num_stages=tile.stages, maxnreg=tile.registers,
    )  # fmt: skip
    logs = log_of_pieces(totals, tops)
    return logs, drifts.sum(1).permute(1, 0, 2) if has_removal else totals

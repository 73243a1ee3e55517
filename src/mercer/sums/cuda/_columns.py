"""Sums with columns of weights, on CUDA: kernel values times weights on the matrix units.

Up to 64 columns share a pass over the pairs; the kernel values of more are computed again for the
next 64.  Every bandwidth has a pass of its own.  What `_column_kernels` leaves out and how it adds
up costs at most some 5e-7 of Σⱼ |wⱼ|·k beside the error of the distances, whatever the weights
of a column span: it is a promise about each term, not relative to the largest.
"""

from functools import cache
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
    Packed,
    Packer,
    Rows,
    TensorColumns,
    Tile,
    choose_tensor_geometry,
    count_pieces,
    tiles_on,
)

# By form, and whether it is precise.  Programs of two warps take the matrix instructions that all
# chips have.  Four warps take Hopper's own, a tenth quicker at 16 features; but with 64 resident
# features Triton 3.6 made wrong sums of them on an H200, so that only STREAMED, whose sums were
# right and half again as quick, takes them.
COLUMN_TILES = {
    (DIFFERENCES, False): Tile(64, 64, fold=0, warps=2, stages=1),
    (TOGETHER, False): Tile(64, 64, fold=0, warps=2, stages=2, registers=168),
    (BESIDE, False): Tile(64, 32, fold=0, warps=2, stages=2),
    (BESIDE, True): Tile(64, 32, fold=0, warps=2, stages=2),
    (APART, False): Tile(128, 32, fold=0, warps=2, stages=2),
    (APART, True): Tile(64, 32, fold=0, warps=2, stages=2),
    (RESIDENT, False): Tile(64, 32, fold=0, warps=2, stages=2),
    (RESIDENT, True): Tile(64, 32, fold=0, warps=2, stages=2),
    (STREAMED, False): Tile(128, 128, fold=0, warps=8, stages=3, blocks=16),
    (STREAMED, True): Tile(128, 64, fold=0, warps=8, stages=3, blocks=16),
}
# More outputs than 16 take the registers of larger tiles.
_TILE_OF_MANY_OUTPUTS = Tile(64, 32, fold=0, warps=2, stages=2)
_STREAMED_TILE_OF_MANY_OUTPUTS = Tile(128, 64, fold=0, warps=8, stages=3, blocks=16)
_WIDTHS = (16, 32, 64)  # Columns of weights are filled up to one of these.
_ROOT = 1  # the number of exponentials of the distance itself, as in _kernels
_PARTS = 3  # bfloat16 numbers for each weight


@cache
def column_kernels() -> Any:
    """Return the compiled code of sums with columns of weights."""
    from mercer.sums.cuda import _column_kernels

    return _column_kernels


def fused_column_sums(problem: Problem, kind: int | None) -> Array:
    """Return the sums, (bandwidths, rows, columns of weights), without gradient history."""
    import torch

    given: Array = problem.weights.detach()  # type: ignore[union-attr]
    most = _WIDTHS[-1]
    passes = [
        _one_pass(problem, kind, given[:, start : start + most])
        for start in range(0, given.shape[1], most)
    ]
    return passes[0] if len(passes) == 1 else torch.cat(passes, dim=2)


def _one_pass(problem: Problem, kind: int | None, weights: Array) -> Array:
    """Return the sums of at most 64 columns of weights."""
    import torch

    n_outputs = weights.shape[1]
    width = next(width for width in _WIDTHS if n_outputs <= width)
    geometry = choose_tensor_geometry(problem)
    # A square root makes small errors of small squares large ones.
    packer = Packer.of(problem, geometry, precise=kind == _ROOT)
    tile = _tile_of(packer, width)
    columns = TensorColumns.of(problem, tile.columns)
    rows = Rows.of(problem, columns)
    coefficients = [
        climb(problem.kernel, (bandwidth,), 2.0**-23)[0][0] for bandwidth in geometry.bandwidths
    ]
    # Parts of weights take 6 bytes for each number, and as much again while they are made.
    parts = list(columns.slabs(packer.bytes_per_row + 12 * width))
    bytes_per_tile = tile.columns * packer.bytes_per_row
    n_pieces = max(count_pieces(tiles, 2**20, bytes_per_tile) for _, tiles in parts)
    bytes_per_row = packer.bytes_per_row + 16 * width * (n_pieces + len(coefficients))
    sums = []
    Y = w = None
    for slab in rows.slabs(bytes_per_row, tile.rows):
        X = packer.pack(problem.X, slab.order, slab.part.start, slab.n_filled, side=1)
        total: Array = 0.0
        for part, tiles in parts:
            if Y is None or len(parts) > 1:
                Y = packer.pack(problem.Y, None, part.start, part.stop - part.start, side=2)
                w = _split_weights(weights[part], part.stop - part.start, width)
            own = None if slab.own is None else slab.own - part.start
            launches = [
                _launch_column_sums(problem, packer, tile, X, Y, w, own, tiles, coefficient, kind)
                for coefficient in coefficients
            ]
            total = total + torch.stack(launches)
        sums.append(total[:, : slab.part.stop - slab.part.start, :n_outputs])
    return sums[0] if len(sums) == 1 else torch.cat(sums, dim=1)


def _tile_of(packer: Packer, n_outputs: int) -> Tile:
    """Return the tile of a form, which is smaller for many outputs."""
    if n_outputs == _WIDTHS[0]:
        return COLUMN_TILES[packer.form, packer.precise]
    if packer.form == STREAMED:
        return _STREAMED_TILE_OF_MANY_OUTPUTS
    return _TILE_OF_MANY_OUTPUTS


def _split_weights(weights: Array, n_columns: int, width: int) -> Array:
    """Return three bfloat16 parts of weights, (3, n_columns, width), zero where there is none."""
    import torch

    shape = (_PARTS, n_columns, width)
    parts = torch.zeros(shape, dtype=torch.bfloat16, device=weights.device)
    rest = weights
    for part in parts:
        part = part[: weights.shape[0], : weights.shape[1]]
        part.copy_(rest)
        rest = rest - part
    return parts


def _launch_column_sums(
    problem: Problem,
    packer: Packer,
    tile: Tile,
    X: Packed,
    Y: Packed,
    weights: Array,
    own: Array | None,
    tiles: tuple[int, ...],
    coefficient: float,
    kind: int | None,
) -> Array:
    """Return (rows, outputs) sums over packed rows and columns."""
    import torch

    n_blocks = X.n_rows // tile.rows
    n_pieces = count_pieces(tiles, n_blocks, tile.columns * packer.bytes_per_row)
    device, n_outputs = X.high.device, weights.shape[2]
    whole: dict[str, Any] = {"dtype": torch.float64, "device": device}
    totals = torch.empty((n_pieces, X.n_rows, n_outputs), **whole)
    # Differences of a row to itself are exactly zero, so that only products need the own column.
    is_own = problem.exclude_self or (problem.self_sum and packer.form != DIFFERENCES)
    launch(
        column_kernels().column_sums, n_blocks * n_pieces,
        X.high, X.middle, X.low, X.first, X.second, Y.high, Y.low, Y.first, Y.second,
        weights, packer.radius if own is None else own, packer.radius,
        tiles_on(device, tiles), totals,
        X.n_rows, Y.n_rows, packer.width, n_pieces,
        coefficient**2 if kind == 1 else coefficient, packer.units,
        -np.inf if problem.exclude_self else 0.0,
        WIDTH=min(packer.width, 64), FORM=packer.form,
        KIND=kind, ABSOLUTE=problem.kernel.metric == "cityblock",
        FAST=packer.fast, PRECISE=packer.precise, OUTPUTS=n_outputs, OWN=is_own,
        ROWS=tile.rows, COLUMNS=tile.columns, CHUNK=tile.chunk, STAGES=tile.stages,
        BLOCKS=tile.blocks, HELD=tile.held,
        num_warps=tile.warps, num_stages=tile.stages, maxnreg=tile.registers,
    )  # fmt: skip
    return totals.sum(0) if n_pieces > 1 else totals[0]

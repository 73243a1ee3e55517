"""The backend of float32 tensors on CUDA devices: sums fused into one Triton kernel.

Blocks of rows stay on the chip while tiles of columns stream past; nothing of size n × m is
stored.  Distances come from three or four float16 products on the matrix units (see
`_kernels`), or from differences where these would cost digits.  Cost: n·m exponentials, and
as many float16 products of d numbers.  Memory: rows and columns packed for the matrix units (4
bytes a number) and the sums, in slabs within scikit-learn's ``working_memory``.
"""

from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from mercer._arrays import Array, itemsize
from mercer.kernels import KERNELS, Kernel
from mercer.sums._geometry import climb
from mercer.sums._problem import Problem, law
from mercer.sums.cuda import _columns, _left_out
from mercer.sums.cuda._launch import launch
from mercer.sums.cuda._layout import (
    APART,
    BESIDE,
    DIFFERENCES,
    FOLDED,
    LIFT,
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
    kernels,
    log_of_pieces,
    tiles_on,
)
from mercer.sums.torch._run import differentiable
from mercer.sums.torch._tiles import retry_in_smaller_parts

OWNS = ("cuda",)
TILES = {  # by form, and whether it is precise
    (DIFFERENCES, False): Tile(64, 64, fold=64, warps=4, stages=3),
    (TOGETHER, False): Tile(64, 128, fold=8, warps=4, stages=2, held=3),
    (BESIDE, False): Tile(64, 128, fold=8, warps=4, stages=2, held=1),
    (BESIDE, True): Tile(64, 128, fold=8, warps=4, stages=2),
    (APART, False): Tile(64, 128, fold=8, warps=4, stages=2),
    (APART, True): Tile(64, 128, fold=8, warps=4, stages=2),
    (RESIDENT, False): Tile(128, 128, fold=8, warps=8, stages=2, registers=128),
    (RESIDENT, True): Tile(128, 64, fold=8, warps=8, stages=2),
    (STREAMED, False): Tile(128, 256, fold=8, warps=8, stages=3, blocks=16),
    (STREAMED, True): Tile(128, 128, fold=8, warps=8, stages=3, blocks=16),
}
_LONG_DIFFERENCES = Tile(16, 256, fold=256, warps=4, stages=1)  # No product saves work there.
_FEW_FEATURES = 4  # The kernels write out the differences of so few: see `_kernels`.
# Numbers of the kernels in _kernels: exponentials by the distance and its power, others by name.
_EXPONENTIALS = {("euclidean", 2): 0, ("euclidean", 1): 1, ("cityblock", 1): 0}
_OTHERS = {"cauchy": 2, "epanechnikov": 3}
WORTH_COMPILING = 2**20  # torch has summed fewer pairs than this before Triton has compiled.
_OLDEST = (8, 0)  # Triton's matrix products need this compute capability.
_MOST_FILL = 4  # Filling up segments may make this many times as many columns as rows of Y.


def refuses(problem: Problem) -> str | None:
    """Return why this backend cannot compute the problem, or None if it can."""
    if problem.method == "fast":
        return ""  # The torch backend gives the reason.
    if _kind(problem.kernel) is None:
        return f"kernel {problem.kernel.name!r} is not compiled for CUDA"
    if problem.weights_are_columns and problem.log:
        return "logarithms of sums with columns of weights are taken by torch"
    if itemsize(problem.X) == 8:
        return "float64 is summed by torch"
    if problem.n_rows * problem.n_columns < WORTH_COMPILING:
        return "so few pairs are summed by torch"
    width = TILES[APART, False].columns
    filled = sum(-(-(stop - start) // width) * width for start, stop in pairwise(problem.bounds))
    if filled > _MOST_FILL * max(problem.n_columns, width):
        return "so many small groups are summed by torch"
    return device_refuses(problem.X.device)


def device_refuses(device: Any) -> str | None:
    """Return why Triton does not run there, or None if it does."""
    import torch

    if find_spec("triton") is None:
        return "Triton is not installed"
    if torch.cuda.get_device_capability(device) < _OLDEST:
        return "the device has no matrix units that Triton can use"
    return None


def _kind(kernel: Kernel) -> int | None:
    """Return the number of a kernel in _kernels, or None if it is not there."""
    if kernel.is_exponential:
        return _EXPONENTIALS.get((kernel.metric, kernel.bandwidth_power))
    return _OTHERS.get(kernel.name) if KERNELS.get(kernel.name) == kernel else None


def run(problem: Problem) -> Any:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs) in float64."""
    if problem.is_left_out:
        return retry_in_smaller_parts(problem, lambda: _left_out.fused_left_out_sums(problem))
    if problem.weights_are_columns:
        kind = _kind(problem.kernel)
        return differentiable(problem, lambda part: _columns.fused_column_sums(part, kind))
    return differentiable(problem, fused_sums)


def fused_sums(problem: Problem, precise: bool = False) -> Array:
    """Return the sums, without gradient history; `precise` asks for precise products."""
    import torch

    geometry = choose_tensor_geometry(problem)
    steps = climb(problem.kernel, geometry.bandwidths, 2.0**-23)
    packer = Packer.of(problem, geometry, precise)
    tile = TILES[packer.form, packer.precise]
    is_one_power = steps[0][1] == len(steps) == 1 and _kind(problem.kernel) == 0
    if is_one_power and not problem.self_sum:
        packer = packer.folded(steps[0][0], LIFT if problem.log else 0)
    if problem.kernel.metric == "cityblock" and packer.width > _FEW_FEATURES:
        tile = _LONG_DIFFERENCES
    columns = TensorColumns.of(problem, tile.columns)
    weights = None if problem.weights is None else columns.spread(problem.weights.detach())
    rows = Rows.of(problem, columns)
    reduction = law(problem.log)

    sums = []
    Y = None
    parts = list(columns.slabs(packer.bytes_per_row))
    # Memory for each row: its packed form, and four arrays of sums of all pieces.
    n_pieces = max(
        count_pieces(tiles, 2**20, tile.columns * packer.bytes_per_row) for _, tiles in parts
    )
    n_sums = problem.n_outputs * n_pieces * max(n_rungs for _, n_rungs in steps)
    bytes_per_row = packer.bytes_per_row + 32 * n_sums
    for slab in rows.slabs(bytes_per_row, tile.rows):
        X = packer.pack(problem.X, slab.order, slab.part.start, slab.n_filled, side=1)
        partial: Array = None
        for part, tiles in parts:
            if Y is None or len(parts) > 1:
                order = None if columns.order is None else columns.order[part]
                Y = packer.pack(problem.Y, order, part.start, part.stop - part.start, side=2)
            w = None if weights is None else weights[part]
            own = None if slab.own is None else slab.own - part.start
            launches = [
                _launch_sums(problem, packer, tile, X, Y, w, own, tiles, coefficient, n_rungs)
                for coefficient, n_rungs in steps
            ]
            more = launches[0] if len(launches) == 1 else torch.cat(launches)
            partial = more if partial is None else reduction.merge(partial, more)
        sums.append(partial[:, :, : slab.part.stop - slab.part.start])
    return rows.restore(sums[0] if len(sums) == 1 else torch.cat(sums, dim=2))


def _launch_sums(
    problem: Problem,
    packer: Packer,
    tile: Tile,
    X: Packed,
    Y: Packed,
    weights: Array | None,
    own: Array | None,
    tiles: tuple[int, ...],
    coefficient: float,
    n_rungs: int,
) -> Array:
    """Return (rungs, segments, rows) sums, or their logarithms, over packed rows and columns."""
    import torch

    n_blocks, n_segments = X.n_rows // tile.rows, len(tiles) - 1
    n_pieces = count_pieces(tiles, n_blocks, tile.columns * packer.bytes_per_row)
    relative, kind = problem.log and problem.kernel.is_exponential, _kind(problem.kernel)
    device = X.high.device
    if packer.form == FOLDED:
        relative = False
        weights = Y.second if weights is None else Y.second * weights
    totals = torch.empty(
        (n_segments, n_pieces, n_rungs, X.n_rows), dtype=torch.float64, device=device
    )
    tops = packer.radius.new_empty((n_segments, n_pieces, X.n_rows) if relative else (1,))
    # Differences of a row to itself are exactly zero, so that only products need the own column.
    is_own = problem.exclude_self or (problem.self_sum and packer.form != DIFFERENCES)
    launch(
        kernels().sums, n_blocks * n_segments * n_pieces,
        X.high, X.middle, X.low, X.first, X.second, Y.high, Y.low, Y.first, Y.second,
        packer.radius if weights is None else weights, packer.radius if own is None else own,
        packer.radius, tiles_on(device, tiles), totals, tops,
        X.n_rows, Y.n_rows, packer.width, n_pieces,
        coefficient**2 if kind == 1 else coefficient, packer.units,
        -np.inf if problem.exclude_self else 0.0,
        WIDTH=min(packer.width, 64), FORM=packer.form,
        KIND=kind, ABSOLUTE=problem.kernel.metric == "cityblock",
        FAST=packer.fast, PRECISE=packer.precise,
        WEIGHTED=weights is not None, LOG=relative, RUNGS=n_rungs, OWN=is_own,
        ROWS=tile.rows, COLUMNS=tile.columns, FOLD=tile.fold, CHUNK=tile.chunk,
        STAGES=tile.stages, BLOCKS=tile.blocks, HELD=tile.held,
        num_warps=tile.warps, num_stages=tile.stages,
        maxnreg=tile.registers,
    )  # fmt: skip
    if not relative:
        sums = (totals.sum(1) if n_pieces > 1 else totals[:, 0]).permute(1, 0, 2)
        if packer.form == FOLDED:
            sums = sums * X.second
        return sums.log() if problem.log else sums
    return log_of_pieces(totals, tops)

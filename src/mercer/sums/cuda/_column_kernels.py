"""Compiled for CUDA: sums with columns of weights, by a second product on the matrix units.

A tile of kernel values p is multiplied with a tile of weights w.  Three bfloat16 numbers hold a
float32 number exactly and have its range, so that light weights and far rows keep their digits:
p = p₁ + p₂ + p₃, where p₂ is less than 2⁻⁷ and p₃ less than 2⁻¹⁵ of p, and w likewise.  Of the nine
products six are computed,

    p·w = p₁w₁ + (p₁w₂ + p₂w₁) + (p₁w₃ + p₂w₂ + p₃w₁) + rest,     |rest| ≤ 2⁻²²·|p·w|,

the least first.  Matrix units cut off what float32 does not hold instead of rounding it.  That
would add up over many columns, so that each tile is summed from zero and added to the others by
plain additions, which round.
"""

import triton
import triton.language as tl

from mercer.sums.cuda._kernels import (
    CAUCHY,
    DIFFERENCES,
    EPANECHNIKOV,
    EXPONENTIAL,
    ROOT,
    block_and_piece,
    home_tiles,
    kappa_of,
    load_rows,
    scaled_distances,
    tiles_of,
)

# Exponentials are computed 2**LIFT times as large: the third part of the least kernel value that
# counts, 2**-126, is then still a normal number.
LIFT = tl.constexpr(24.0)


@triton.jit
def _lifted_values(e, KIND: tl.constexpr):
    """Return the kernel values of scaled distances, exponentials times 2**LIFT."""
    if KIND == ROOT:
        e = -tl.sqrt(tl.maximum(-e, 0.0, propagate_nan=tl.PropagateNan.ALL))
    if KIND == CAUCHY:
        p = 1.0 / (1.0 - e)
    elif KIND == EPANECHNIKOV:
        p = tl.maximum(1.0 + e, 0.0, propagate_nan=tl.PropagateNan.ALL)
    else:
        p = tl.exp2(e + LIFT)
    return p


@triton.jit
def _cut(x):
    """Return x without the digits that a bfloat16 number does not hold.

    A mask takes one instruction; a conversion to bfloat16 and back takes the units that compute
    exponentials, of which this code has none to spare.
    """
    return (x.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)


@triton.jit
def _weighed_tile(p, weights, columns, n_columns, OUTPUTS: tl.constexpr, FAST: tl.constexpr):
    """Return Σⱼ pⱼwⱼ of a tile, (ROWS, OUTPUTS); FAST takes two parts and three products."""
    at = columns.to(tl.int64)[:, None] * OUTPUTS + tl.arange(0, OUTPUTS)[None, :]
    to_next = (tl.zeros((), tl.int64) + n_columns) * OUTPUTS
    w1 = tl.load(weights + at)
    w2 = tl.load(weights + to_next + at)
    first = _cut(p)
    rest = p - first
    second = _cut(rest)
    p1 = first.to(tl.bfloat16)
    p2 = second.to(tl.bfloat16)
    if FAST:
        s = tl.dot(p2, w1)
    else:
        w3 = tl.load(weights + 2 * to_next + at)
        p3 = (rest - second).to(tl.bfloat16)
        s = tl.dot(p3, w1)
        s = tl.dot(p2, w2, s)
        s = tl.dot(p1, w3, s)
        s = tl.dot(p2, w1, s)
    s = tl.dot(p1, w2, s)
    return tl.dot(p1, w1, s)


@triton.jit
def _weighed_tiles(
    start, stop, mine, own_value, x_high, x_middle, x_low, x_first, x_second,
    rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second, weights,
    n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr, ABSOLUTE: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, OUTPUTS: tl.constexpr, HOME: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Return the sums of tiles start … stop."""
    s = tl.zeros((ROWS, OUTPUTS), tl.float32)
    for j in tl.range(start, stop, num_stages=STAGES):
        columns = j * COLUMNS + tl.arange(0, COLUMNS)
        e = scaled_distances(
            x_high, x_middle, x_low, x_first, x_second, X_high, X_middle, X_low, rows,
            Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
            WIDTH, FORM, ABSOLUTE, FAST, PRECISE, ROWS, COLUMNS,
        )  # fmt: skip
        if HOME:  # These tiles hold the columns that are the rows themselves.
            e = tl.where(mine[:, None] == columns[None, :], own_value, e)
        p = _lifted_values(e, KIND)
        s += _weighed_tile(p, weights, columns, n_columns, OUTPUTS, FAST)
    return s


@triton.jit(do_not_specialize=["n_pieces"])
def column_sums(
    X_high, X_middle, X_low, X_first, X_second, Y_high, Y_low, Y_first, Y_second, weights, own,
    radius, tiles, totals, n_rows, n_columns, width, n_pieces, coefficient, units, own_value,
    WIDTH: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr, ABSOLUTE: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, OUTPUTS: tl.constexpr, OWN: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, CHUNK: tl.constexpr, STAGES: tl.constexpr,
    BLOCKS: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    """Sum a block of rows over a piece of the columns, with OUTPUTS weights for each column.

    weights[k, j] are the OUTPUTS weights of column j, part k of three; totals[p, i] the sums of
    row i over piece p.  CHUNK tiles are added up in float32, and chunks in float64.
    """
    block, piece = block_and_piece(n_rows // ROWS, BLOCKS)
    rows = block * ROWS + tl.arange(0, ROWS)
    first, last = tiles_of(tiles, piece, n_pieces)
    kappa = coefficient
    if FORM != DIFFERENCES:
        kappa = kappa_of(coefficient, radius, units)
    x_high, x_middle, x_low, x_first, x_second = load_rows(
        X_high, X_middle, X_low, X_first, X_second, rows, WIDTH, FORM, HELD
    )
    home = last
    away = last
    mine = rows
    if OWN:
        mine, home, away = home_tiles(own, rows, first, last, n_columns, COLUMNS)
    total = tl.zeros((ROWS, OUTPUTS), tl.float64)
    start = first
    while start < last:
        if OWN and (start >= home) and (start < away):
            stop = tl.minimum(start + CHUNK, away)
            s = _weighed_tiles(
                start, stop, mine, own_value, x_high, x_middle, x_low, x_first, x_second,
                rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second, weights,
                n_rows, n_columns, width, kappa,
                WIDTH, FORM, KIND, ABSOLUTE, FAST, PRECISE, OUTPUTS, True, ROWS, COLUMNS, 1,
            )  # fmt: skip
        else:
            stop = tl.minimum(start + CHUNK, tl.where(start < home, home, last))
            s = _weighed_tiles(
                start, stop, mine, own_value, x_high, x_middle, x_low, x_first, x_second,
                rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second, weights,
                n_rows, n_columns, width, kappa,
                WIDTH, FORM, KIND, ABSOLUTE, FAST, PRECISE, OUTPUTS, False, ROWS, COLUMNS, STAGES,
            )  # fmt: skip
        total += s.to(tl.float64)
        start = stop
    if KIND == EXPONENTIAL or KIND == ROOT:  # noqa: SIM109
        total = total * (1.0 / 2.0**LIFT)
    at = (piece.to(tl.int64) * n_rows + rows)[:, None] * OUTPUTS + tl.arange(0, OUTPUTS)[None, :]
    tl.store(totals + at, total)

"""Compiled for CUDA: sums over groups as if the row at hand had left every density."""

import triton
import triton.language as tl

from mercer.sums.cuda._kernels import (
    DIFFERENCES,
    LOWEST,
    block_and_piece,
    fold,
    home_tiles,
    kappa_of,
    load_rows,
    scaled_distances,
    store_rungs,
    tiles_of,
)

_NOTHING = tl.constexpr(2.0**-25)  # Adding it to 1 does not change 1 in float32.


@triton.jit
def _absorb_rung(
    s, drift, p, shrink, gone, reach, columns, tile, n_columns,
    weights, inverse, least, drift_weights, highest,
    RUNG: tl.constexpr, REMOVAL: tl.constexpr, SQUARED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
):  # fmt: skip
    """Add w·k·ρ and q·(ρ − 1) of a tile, with ρ = (1 − removed·k**p / F)**(−1/2).

    `p` is the kernel relative to the largest value so far, and `gone` the removed weight times that
    value to the power; `reach` is the largest removed weight times kernel in this tile, `highest`
    the largest 1/F of each tile: in most tiles no pair is close enough to change ρ from 1.
    """
    columns += RUNG * n_columns
    w = tl.load(weights + columns)
    s = s * shrink[:, None]
    if REMOVAL:
        if reach * tl.load(highest + (RUNG * (n_columns // COLUMNS) + tile)) <= _NOTHING:
            s += fold(p * w[None, :], ROWS, COLUMNS, FOLD)
        else:
            power = p
            if SQUARED:
                power = p * p
            left = 1.0 - (power * gone[:, None]) * tl.load(inverse + columns)[None, :]
            floor = tl.load(least + columns)[None, :]
            rho = tl.rsqrt(tl.maximum(left, floor, propagate_nan=tl.PropagateNan.ALL))
            q = tl.load(drift_weights + columns)
            drift += fold((rho - 1.0) * q[None, :], ROWS, COLUMNS, FOLD)
            s += fold(p * rho * w[None, :], ROWS, COLUMNS, FOLD)
    else:
        s += fold(p * w[None, :], ROWS, COLUMNS, FOLD)
    return s, drift


@triton.jit
def _absorb_left_out_tiles(
    start, stop, home, away, top, mine, removed, x_high, x_middle, x_low, x_first, x_second,
    rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second,
    weights, inverse, least, drift_weights, highest, n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, FORM: tl.constexpr, PRECISE: tl.constexpr,
    REMOVAL: tl.constexpr, SQUARED: tl.constexpr, RUNGS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    s0 = tl.zeros((ROWS, FOLD), tl.float32)
    s1 = tl.zeros((ROWS, FOLD), tl.float32)
    s2 = tl.zeros((ROWS, FOLD), tl.float32)
    s3 = tl.zeros((ROWS, FOLD), tl.float32)
    d0 = tl.zeros((ROWS, FOLD), tl.float32)
    d1 = tl.zeros((ROWS, FOLD), tl.float32)
    d2 = tl.zeros((ROWS, FOLD), tl.float32)
    d3 = tl.zeros((ROWS, FOLD), tl.float32)
    most = tl.max(removed)
    for j in tl.range(start, stop, num_stages=STAGES):
        columns = j * COLUMNS + tl.arange(0, COLUMNS)
        e = scaled_distances(
            x_high, x_middle, x_low, x_first, x_second, X_high, X_middle, X_low, rows,
            Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
            WIDTH, FORM, False, False, PRECISE, ROWS, COLUMNS,
        )  # fmt: skip
        if (j >= home) & (j < away):  # The term of a row with itself is left out.
            e = tl.where(mine[:, None] == columns[None, :], -float("inf"), e)
        nearest = tl.max(e, 1)
        higher = tl.maximum(top, nearest)
        shrink = tl.exp2(top - higher)
        top = higher
        p = tl.exp2(e - top[:, None])
        peak = tl.exp2(top)
        reach = tl.exp2(tl.max(nearest))
        if SQUARED:
            peak = peak * peak
            reach = reach * reach
        s0, d0 = _absorb_rung(
            s0, d0, p, shrink, removed * peak, most * reach, columns, j, n_columns,
            weights, inverse, least, drift_weights, highest,
            0, REMOVAL, SQUARED, ROWS, COLUMNS, FOLD,
        )  # fmt: skip
        if RUNGS > 1:
            p = p * p
            shrink = shrink * shrink
            peak = peak * peak
            reach = reach * reach
            s1, d1 = _absorb_rung(
                s1, d1, p, shrink, removed * peak, most * reach, columns, j, n_columns,
                weights, inverse, least, drift_weights, highest,
                1, REMOVAL, SQUARED, ROWS, COLUMNS, FOLD,
            )  # fmt: skip
        if RUNGS > 2:
            p = p * p
            shrink = shrink * shrink
            peak = peak * peak
            reach = reach * reach
            s2, d2 = _absorb_rung(
                s2, d2, p, shrink, removed * peak, most * reach, columns, j, n_columns,
                weights, inverse, least, drift_weights, highest,
                2, REMOVAL, SQUARED, ROWS, COLUMNS, FOLD,
            )  # fmt: skip
        if RUNGS > 3:
            p = p * p
            shrink = shrink * shrink
            peak = peak * peak
            reach = reach * reach
            s3, d3 = _absorb_rung(
                s3, d3, p, shrink, removed * peak, most * reach, columns, j, n_columns,
                weights, inverse, least, drift_weights, highest,
                3, REMOVAL, SQUARED, ROWS, COLUMNS, FOLD,
            )  # fmt: skip
    return (
        tl.sum(s0, 1), tl.sum(s1, 1), tl.sum(s2, 1), tl.sum(s3, 1),
        tl.sum(d0, 1), tl.sum(d1, 1), tl.sum(d2, 1), tl.sum(d3, 1), top,
    )  # fmt: skip


@triton.jit(do_not_specialize=["n_pieces"])
def left_out_sums(
    X_high, X_middle, X_low, X_first, X_second, Y_high, Y_low, Y_first, Y_second,
    weights, removed_at, inverse, least, drift_weights, highest, own, radius, tiles,
    totals, drifts, tops,
    n_rows, n_columns, width, n_pieces, coefficient, units,
    WIDTH: tl.constexpr, FORM: tl.constexpr, PRECISE: tl.constexpr,
    REMOVAL: tl.constexpr, SQUARED: tl.constexpr, RUNGS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    FOLD: tl.constexpr, CHUNK: tl.constexpr, STAGES: tl.constexpr, BLOCKS: tl.constexpr,
    HELD: tl.constexpr,
):  # fmt: skip
    """Sum a block of rows over a piece of the columns, as `sums` does, for RUNGS of a ladder.

    Weights, 1/F, least/F and drift weights are (RUNGS, columns), one after the other, and
    `highest`, the largest 1/F of each tile, is (RUNGS, tiles).
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
    mine, home, away = home_tiles(own, rows, first, last, n_columns, COLUMNS)
    removed = tl.load(removed_at + rows)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    t0 = tl.zeros((ROWS,), tl.float64)
    t1 = tl.zeros((ROWS,), tl.float64)
    t2 = tl.zeros((ROWS,), tl.float64)
    t3 = tl.zeros((ROWS,), tl.float64)
    c0 = tl.zeros((ROWS,), tl.float64)
    c1 = tl.zeros((ROWS,), tl.float64)
    c2 = tl.zeros((ROWS,), tl.float64)
    c3 = tl.zeros((ROWS,), tl.float64)
    start = first
    while start < last:
        before = top
        stop = tl.minimum(start + CHUNK, last)
        s0, s1, s2, s3, d0, d1, d2, d3, top = _absorb_left_out_tiles(
            start, stop, home, away, top, mine, removed, x_high, x_middle, x_low, x_first,
            x_second, rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second,
            weights, inverse, least, drift_weights, highest,
            n_rows, n_columns, width, kappa,
            WIDTH, FORM, PRECISE, REMOVAL, SQUARED, RUNGS, ROWS, COLUMNS, FOLD, STAGES,
        )  # fmt: skip
        grown = (before - top).to(tl.float64)
        t0 = t0 * tl.exp2(grown) + s0.to(tl.float64)
        t1 = t1 * tl.exp2(2 * grown) + s1.to(tl.float64)
        t2 = t2 * tl.exp2(4 * grown) + s2.to(tl.float64)
        t3 = t3 * tl.exp2(8 * grown) + s3.to(tl.float64)
        c0 += d0.to(tl.float64)
        c1 += d1.to(tl.float64)
        c2 += d2.to(tl.float64)
        c3 += d3.to(tl.float64)
        start = stop
    at = piece.to(tl.int64) * RUNGS * n_rows + rows
    store_rungs(totals + at, n_rows, t0, t1, t2, t3, RUNGS)
    if REMOVAL:
        store_rungs(drifts + at, n_rows, c0, c1, c2, c3, RUNGS)
    tl.store(tops + piece.to(tl.int64) * n_rows + rows, top)

"""Compiled for CUDA: sums over tiles of distances.

Matrix units multiply float16 numbers and add in float32.  To lose no digit that counts, coordinates
are written in units of 1/2040 of the data's radius, as a whole number H and a rest L of at most
one half, both exact or nearly so in float16:

    −‖x − y‖² = [2 Hx·Hy − ‖Hx‖² − ‖Hy‖²] + [2 Hx·Ly + 2 Lx·Hy + 2 Lx·Ly − rest(x) − rest(y)]

with rest(x) = 2 Hx·Lx + ‖Lx‖².  The first bracket is a whole number below 2²⁴, exact in float32 in
whatever order it is added up; the second is a thousand times smaller, and so is its rounding.
Most coordinates are so much smaller than the radius that float16 holds much of a rest as well,
M = H + L: then 2 Mx·Ly stands for 2 Hx·Ly + 2 Lx·Ly, unless the windows are so narrow (PRECISE)
that this is not enough.
"""

import triton
import triton.language as tl

# How distances are computed: by differences; by products of rows that stay on the chip and have at
# most 4, 11 or 16 features (norms are part of these products: see `_pack_kernels`) or up to 64; by
# products of rows that are too long to stay there; or by products without norms, which are factors
# of the weights and of the sums.
DIFFERENCES = tl.constexpr(0)
TOGETHER = tl.constexpr(1)
BESIDE = tl.constexpr(2)
APART = tl.constexpr(3)
RESIDENT = tl.constexpr(4)
STREAMED = tl.constexpr(5)
FOLDED = tl.constexpr(6)

EXPONENTIAL = tl.constexpr(0)
ROOT = tl.constexpr(1)
CAUCHY = tl.constexpr(2)
EPANECHNIKOV = tl.constexpr(3)

_UNROLLED = tl.constexpr(4)  # Differences of up to this many features need no loop.
_STEP = tl.constexpr(64)  # Features are streamed this many at a time.
_WHOLE = tl.constexpr(1.5 * 2.0**23)  # Adding and subtracting it rounds to a whole number.
LOWEST = tl.constexpr(-1e30)  # Only columns that fill up a tile have a lower exponent.


@triton.jit
def kappa_of(coefficient, radius, units):
    """Return the factor of squared distances in units."""
    r2 = tl.load(radius)
    return coefficient * (tl.where(r2 == 0, 1.0, r2) / (units * units))


@triton.jit
def _part(x_at, WIDTH: tl.constexpr, HELD: tl.constexpr):
    """Load a part of rows.

    To hold it in registers, it is multiplied with the identity matrix: results of products stay in
    the registers from which the next products take rows, and shared memory is left to columns.
    """
    x = tl.load(x_at)
    if HELD:
        k = tl.arange(0, WIDTH)
        one = tl.where(k[:, None] == k[None, :], 1.0, 0.0).to(tl.float16)
        x = tl.dot(x, one).to(tl.float16)
    return x


@triton.jit
def load_rows(
    high, middle, low, first, second, rows,
    WIDTH: tl.constexpr, FORM: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    """Return the packed parts of a block of rows; HELD of them are kept in registers."""
    x_high = rows  # a placeholder where a part is not used
    x_middle = rows
    x_low = rows
    x_first = rows
    x_second = rows
    if FORM != DIFFERENCES and FORM != STREAMED:
        at = rows.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        x_high = _part(high + at, WIDTH, HELD >= 1)
        x_middle = _part(middle + at, WIDTH, HELD >= 3)
        if FORM != TOGETHER:
            x_low = _part(low + at, WIDTH, HELD >= 2)
    if FORM == APART:
        at = rows.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        x_first = _part(first + at, WIDTH, HELD >= 3)
        x_second = _part(second + at, WIDTH, HELD >= 3)
    elif FORM == RESIDENT or FORM == STREAMED:  # noqa: SIM109
        x_first = tl.load(first + rows)
        x_second = tl.load(second + rows)
    return x_high, x_middle, x_low, x_first, x_second


@triton.jit
def _streamed(
    X_high, X_middle, X_low, x_first, x_second, rows, Y_high, Y_low, Y_first, Y_second, columns,
    n_rows, n_columns, width,
    FAST: tl.constexpr, PRECISE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Return −‖x − y‖² in units, of rows that do not stay on the chip.

    Unless PRECISE, the terms of M and L are rounded to whole units, so that one sum holds all.
    """
    f = tl.arange(0, _STEP)[None, :]
    x_at = rows.to(tl.int64)[:, None] * width + f
    y_at = columns.to(tl.int64)[:, None] * width + f
    t = tl.zeros((ROWS, COLUMNS), tl.float32)
    if FAST:
        for k in range(0, width, _STEP):
            t = tl.dot(tl.load(X_high + x_at + k), tl.trans(tl.load(Y_high + y_at + k)), t)
        t += x_first[:, None] + tl.load(Y_first + columns)[None, :]
    elif PRECISE:
        cross = tl.zeros((ROWS, COLUMNS), tl.float32)
        for k in range(0, width, _STEP):
            x_high = tl.load(X_high + x_at + k)
            y_high = tl.trans(tl.load(Y_high + y_at + k))
            x_low = tl.load(X_low + x_at + k)
            y_low = tl.trans(tl.load(Y_low + y_at + k))
            cross = tl.dot(x_high, y_low, cross)
            t = tl.dot(x_high, y_high, t)  # placed between products that depend on each other
            cross = tl.dot(x_low, y_high, cross)
            cross = tl.dot(x_low, y_low, cross)
        t += x_first[:, None] + tl.load(Y_first + columns)[None, :]
        t += cross + (x_second[:, None] + tl.load(Y_second + columns)[None, :])
    else:
        # In memory, M and L of rows follow each other, and L and H of columns.
        to_low = (tl.zeros((), tl.int64) + n_rows - 1) * width
        to_high = (tl.zeros((), tl.int64) + n_columns - 1) * width
        for k in range(0, 2 * width, _STEP):
            second = k // width
            x = tl.load(X_middle + x_at + (second * to_low + k))
            y = tl.trans(tl.load(Y_low + y_at + (second * to_high + k)))
            t = tl.dot(x, y, t)
        t += x_second[:, None] + tl.load(Y_second + columns)[None, :]
        t = (t + _WHOLE) - _WHOLE
        t += x_first[:, None] + tl.load(Y_first + columns)[None, :]
        for k in range(0, width, _STEP):
            t = tl.dot(tl.load(X_high + x_at + k), tl.trans(tl.load(Y_high + y_at + k)), t)
    return t


@triton.jit
def _of_difference(difference, ABSOLUTE: tl.constexpr):
    return tl.abs(difference) if ABSOLUTE else difference * difference


@triton.jit
def scaled_distances(
    x_high, x_middle, x_low, x_first, x_second, X_high, X_middle, X_low, rows,
    Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, FORM: tl.constexpr, ABSOLUTE: tl.constexpr, FAST: tl.constexpr,
    PRECISE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Return −kappa·‖x − y‖² of a tile, or −kappa·Σ|xₖ − yₖ| if ABSOLUTE.

    FOLDED returns 2·kappa·x·y: weights and sums have the norms as factors.
    """
    if FORM == DIFFERENCES:
        t = tl.zeros((ROWS, COLUMNS), tl.float32)
        if WIDTH <= _UNROLLED:
            for f in tl.static_range(WIDTH):
                x = tl.load(X_high + f * n_rows + rows)
                y = tl.load(Y_high + f * n_columns + columns)
                t += _of_difference(x[:, None] - y[None, :], ABSOLUTE)
        else:
            x_at = X_high + rows
            y_at = Y_high + columns
            for _ in tl.range(0, width, loop_unroll_factor=8):
                x = tl.load(x_at)
                y = tl.load(y_at)
                t += _of_difference(x[:, None] - y[None, :], ABSOLUTE)
                x_at += n_rows
                y_at += n_columns
        t = t * (-kappa)
    elif FORM == RESIDENT:
        at = columns.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        y_high = tl.trans(tl.load(Y_high + at))
        x_norm = x_first * kappa
        y_norm = tl.load(Y_first + columns) * kappa
        if PRECISE:
            y_low = tl.trans(tl.load(Y_low + at))
            cross = tl.dot(x_high, y_low)
            cross = tl.dot(x_low, y_high, cross)
            cross = tl.dot(x_low, y_low, cross)
            t = x_first[:, None] + tl.load(Y_first + columns)[None, :]
            t = tl.dot(x_high, y_high, t) + cross
            x_norm = x_second * kappa
            y_norm = tl.load(Y_second + columns) * kappa
        elif FAST:
            t = tl.dot(x_high, y_high)
        else:  # All products go to one sum and norms follow, which rounds to half a unit.
            y_low = tl.trans(tl.load(Y_low + at))
            t = tl.dot(x_middle, y_low)
            t = tl.dot(x_low, y_high, t)
            t = tl.dot(x_high, y_high, t)
        t = t * kappa + (x_norm[:, None] + y_norm[None, :])
    elif FORM == FOLDED:
        at = columns.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        y_high = tl.trans(tl.load(Y_high + at))
        t = tl.dot(x_middle, tl.trans(tl.load(Y_low + at)))
        t = tl.dot(x_low, y_high, t)
        t = tl.dot(x_high, y_high, t) * kappa
    elif FORM == STREAMED:
        t = kappa * _streamed(
            X_high, X_middle, X_low, x_first, x_second, rows, Y_high, Y_low, Y_first, Y_second,
            columns, n_rows, n_columns, width, FAST, PRECISE, ROWS, COLUMNS,
        )  # fmt: skip
    else:
        at = columns.to(tl.int64)[:, None] * 16 + tl.arange(0, 16)[None, :]
        y_high = tl.trans(tl.load(Y_high + at))
        if FORM == APART:
            y_norm = tl.trans(tl.load(Y_first + at))
            t = tl.dot(x_first, y_norm)
            t = tl.dot(x_high, y_high, t)
        else:
            t = tl.dot(x_high, y_high)
        # Up to here t is an exact whole number.
        if not (FAST and FORM == APART):
            y_low = tl.trans(tl.load(Y_low + at))
            t = tl.dot(x_middle, y_low, t)
            if FORM != TOGETHER and not FAST:
                t = tl.dot(x_low, y_high, t)
                if PRECISE:
                    t = tl.dot(x_low, y_low, t)
        if FORM == APART:
            t = tl.dot(x_second, y_norm, t)
        t = t * kappa
    return t


@triton.jit
def fold(p, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr):
    """Add up a tile to FOLD columns: those that one thread holds anyway."""
    return tl.sum(tl.reshape(p, (ROWS, COLUMNS // FOLD, FOLD)), 1)


@triton.jit
def _absorb(
    s, p, w, shrink,
    LOG: tl.constexpr, WEIGHTED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    FOLD: tl.constexpr,
):  # fmt: skip
    if LOG:
        s = s * shrink[:, None]
    if WEIGHTED:
        p = p * w[None, :]
    return s + fold(p, ROWS, COLUMNS, FOLD)


@triton.jit
def _absorb_tile(
    e, s0, s1, s2, s3, top, mine, own_value, columns, weights,
    is_home,
    KIND: tl.constexpr, WEIGHTED: tl.constexpr, LOG: tl.constexpr, RUNGS: tl.constexpr,
    OWN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
):  # fmt: skip
    """Add the kernel values of a tile, relative to the largest so far for LOG."""
    if OWN:  # noqa: SIM102  (known when it is compiled; the other is not)
        if is_home:  # This tile holds columns that are the rows themselves.
            e = tl.where(mine[:, None] == columns[None, :], own_value, e)
    if KIND == ROOT:
        e = -tl.sqrt(tl.maximum(-e, 0.0, propagate_nan=tl.PropagateNan.ALL))
    shrink = top
    if LOG:
        higher = tl.maximum(top, tl.max(e, 1))
        shrink = tl.exp2(top - higher)
        top = higher
        e = e - top[:, None]
    if KIND == CAUCHY:
        p = 1.0 / (1.0 - e)
    elif KIND == EPANECHNIKOV:
        p = tl.maximum(1.0 + e, 0.0, propagate_nan=tl.PropagateNan.ALL)
    else:
        p = tl.exp2(e)
    w = columns.to(tl.float32)
    if WEIGHTED:
        w = tl.load(weights + columns)
    s0 = _absorb(s0, p, w, shrink, LOG, WEIGHTED, ROWS, COLUMNS, FOLD)
    if RUNGS > 1:
        p = p * p
        shrink = shrink * shrink
        s1 = _absorb(s1, p, w, shrink, LOG, WEIGHTED, ROWS, COLUMNS, FOLD)
    if RUNGS > 2:
        p = p * p
        shrink = shrink * shrink
        s2 = _absorb(s2, p, w, shrink, LOG, WEIGHTED, ROWS, COLUMNS, FOLD)
    if RUNGS > 3:
        p = p * p
        shrink = shrink * shrink
        s3 = _absorb(s3, p, w, shrink, LOG, WEIGHTED, ROWS, COLUMNS, FOLD)
    return s0, s1, s2, s3, top


@triton.jit
def _absorb_tiles(
    start, stop, home, away, top, mine, own_value, x_high, x_middle, x_low, x_first, x_second,
    rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second, weights,
    n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr, ABSOLUTE: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, WEIGHTED: tl.constexpr, LOG: tl.constexpr,
    RUNGS: tl.constexpr,
    OWN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """Return the sums of tiles start … stop, relative to the largest kernel value for LOG."""
    s0 = tl.zeros((ROWS, FOLD), tl.float32)
    s1 = tl.zeros((ROWS, FOLD), tl.float32)
    s2 = tl.zeros((ROWS, FOLD), tl.float32)
    s3 = tl.zeros((ROWS, FOLD), tl.float32)
    for j in tl.range(start, stop, num_stages=STAGES):
        columns = j * COLUMNS + tl.arange(0, COLUMNS)
        e = scaled_distances(
            x_high, x_middle, x_low, x_first, x_second, X_high, X_middle, X_low, rows,
            Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
            WIDTH, FORM, ABSOLUTE, FAST, PRECISE, ROWS, COLUMNS,
        )  # fmt: skip
        s0, s1, s2, s3, top = _absorb_tile(
            e, s0, s1, s2, s3, top, mine, own_value, columns, weights,
            (j >= home) & (j < away),
            KIND, WEIGHTED, LOG, RUNGS, OWN, ROWS, COLUMNS, FOLD,
        )  # fmt: skip
    return tl.sum(s0, 1), tl.sum(s1, 1), tl.sum(s2, 1), tl.sum(s3, 1), top


@triton.jit
def block_and_piece(n_blocks, BLOCKS: tl.constexpr):
    """Return the block of rows and the piece of the columns that this program sums.

    BLOCKS blocks of rows go over all pieces before the next BLOCKS blocks do.
    """
    n_pieces = tl.num_programs(0) // n_blocks
    first = tl.program_id(0) // (BLOCKS * n_pieces) * BLOCKS
    at = tl.program_id(0) - first * n_pieces
    n_here = tl.minimum(BLOCKS, n_blocks - first)
    return first + at % n_here, at // n_here


@triton.jit
def tiles_of(tiles, piece, n_pieces):
    """Return the first tile of a piece, and the one after its last."""
    begin = tl.load(tiles + piece // n_pieces)
    length = tl.load(tiles + piece // n_pieces + 1) - begin
    part = piece % n_pieces
    return begin + length * part // n_pieces, begin + length * (part + 1) // n_pieces


@triton.jit
def home_tiles(own, rows, first, last, n_columns, COLUMNS: tl.constexpr):
    """Return the column that is each row itself, and the range of tiles of these columns.

    Rows are in the order of the columns, so that these tiles are few.
    """
    mine = tl.load(own + rows)
    near = tl.min(tl.where(mine < 0, n_columns, mine))
    begin = tl.minimum(tl.maximum(near // COLUMNS, first), last)
    end = tl.minimum(tl.maximum(tl.max(mine) // COLUMNS + 1, begin), last)
    return mine, begin, end


@triton.jit
def store_rungs(at, n_rows, r0, r1, r2, r3, RUNGS: tl.constexpr):
    """Write the numbers of each rung, n_rows apart."""
    tl.store(at, r0)
    if RUNGS > 1:
        tl.store(at + n_rows, r1)
    if RUNGS > 2:
        tl.store(at + 2 * n_rows, r2)
    if RUNGS > 3:
        tl.store(at + 3 * n_rows, r3)


@triton.jit(do_not_specialize=["n_pieces"])
def sums(
    X_high, X_middle, X_low, X_first, X_second, Y_high, Y_low, Y_first, Y_second, weights, own,
    radius, tiles, totals, tops, n_rows, n_columns, width, n_pieces, coefficient, units, own_value,
    WIDTH: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr, ABSOLUTE: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, WEIGHTED: tl.constexpr, LOG: tl.constexpr,
    RUNGS: tl.constexpr,
    OWN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
    CHUNK: tl.constexpr, STAGES: tl.constexpr, BLOCKS: tl.constexpr, HELD: tl.constexpr,
):  # fmt: skip
    """Sum a block of rows over a piece of the columns.

    Segment s is tiles tiles[s] … tiles[s + 1], in n_pieces pieces; pieces are numbered
    through all segments.  Rung r is the 2**r-th power of the kernel.
    totals[p, r, i] are sums; for LOG relative to 2**(2**r · tops[p, i]), the largest kernel value.
    CHUNK tiles are added up in float32, and chunks in float64.
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
    top = tl.full((ROWS,), LOWEST, tl.float32)
    t0 = tl.zeros((ROWS,), tl.float64)
    t1 = tl.zeros((ROWS,), tl.float64)
    t2 = tl.zeros((ROWS,), tl.float64)
    t3 = tl.zeros((ROWS,), tl.float64)
    start = first
    while start < last:
        before = top
        stop = tl.minimum(start + CHUNK, last)
        s0, s1, s2, s3, top = _absorb_tiles(
            start, stop, home, away, top, mine, own_value, x_high, x_middle, x_low, x_first,
            x_second, rows, X_high, X_middle, X_low, Y_high, Y_low, Y_first, Y_second, weights,
            n_rows, n_columns, width, kappa,
            WIDTH, FORM, KIND, ABSOLUTE, FAST, PRECISE, WEIGHTED, LOG, RUNGS, OWN,
            ROWS, COLUMNS, FOLD, STAGES,
        )  # fmt: skip
        grown = (before - top).to(tl.float64)
        t0 = t0 * tl.exp2(grown) + s0.to(tl.float64)
        t1 = t1 * tl.exp2(2 * grown) + s1.to(tl.float64)
        t2 = t2 * tl.exp2(4 * grown) + s2.to(tl.float64)
        t3 = t3 * tl.exp2(8 * grown) + s3.to(tl.float64)
        start = stop
    at = piece.to(tl.int64) * RUNGS * n_rows + rows
    store_rungs(totals + at, n_rows, t0, t1, t2, t3, RUNGS)
    if LOG:
        tl.store(tops + piece.to(tl.int64) * n_rows + rows, top)

"""Compiled for CUDA: rows packed for the matrix units, and sums over tiles of distances.

Matrix units multiply float16 numbers and add in float32.  To lose no digit that counts, coordinates
are written in units of 1/2040 of the data's radius, as a whole number H and a rest L of at most
one half, both exact or nearly so in float16:

    −‖x − y‖² = [2 Hx·Hy − ‖Hx‖² − ‖Hy‖²] + [2 Hx·Ly + 2 Lx·Hy + 2 Lx·Ly − rest(x) − rest(y)]

with rest(x) = 2 Hx·Lx + ‖Lx‖².  The first bracket is a whole number below 2²⁴, exact in float32 in
whatever order it is added up; the second is a thousand times smaller, and so is its rounding.
With 17 to 64 features, coordinates are so much smaller than the radius that float16 holds much of
a rest as well, M = H + L: then 2 Mx·Ly stands for 2 Hx·Ly + 2 Lx·Ly, unless the windows are so
narrow (PRECISE) that this is not enough.
"""

import triton
import triton.language as tl

# How distances come about: by differences; or by products of rows that stay on the chip, of at most
# 16 features (norms are multiplied out too) or more; or of rows that are too long for that.
DIFFERENCES = tl.constexpr(0)
NARROW = tl.constexpr(1)
RESIDENT = tl.constexpr(2)
STREAMED = tl.constexpr(3)

GAUSSIAN = tl.constexpr(0)
LAPLACE = tl.constexpr(1)
CAUCHY = tl.constexpr(2)
EPANECHNIKOV = tl.constexpr(3)

_UNROLLED = tl.constexpr(4)  # features of differences that need no loop
_PART = tl.constexpr(2048.0)  # norms are written as whole numbers of this, and of 1, and a rest
LOWEST = tl.constexpr(-1e30)  # below every exponent but that of a column that only fills up


@triton.jit(do_not_specialize=["n_x", "n_y"])
def largest_norm(
    X, Y, centre, radius, n_x, n_y, d, x_row, x_column, y_row, y_column, scale,
    ROWS: tl.constexpr, FEATURES: tl.constexpr,
):  # fmt: skip
    """Raise `radius` to the largest ‖a·scale − centre‖² of the rows of X and Y."""
    n_blocks = tl.cdiv(n_x, ROWS)
    block = tl.program_id(0)
    A, n, row_stride, column_stride = X, n_x, x_row, x_column
    if block >= n_blocks:
        A, n, row_stride, column_stride = Y, n_y, y_row, y_column
        block -= n_blocks
    rows = block.to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, d, FEATURES):
        f = start + tl.arange(0, FEATURES)
        inside = (rows < n)[:, None] & (f < d)[None, :]
        at = rows[:, None] * row_stride + f[None, :] * column_stride
        z = tl.load(A + at, mask=inside, other=0.0) * scale
        z = tl.where(inside, z - tl.load(centre + f, mask=f < d, other=0.0)[None, :], 0.0)
        total += tl.sum(z * z, 1)
    tl.atomic_max(radius, tl.max(total))


@triton.jit(do_not_specialize=["n", "n_rows"])
def pack_products(
    A, order, centre, radius, high, low, first, second,
    n, n_rows, d, width, row_stride, column_stride, scale, units, factor,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, NATURAL: tl.constexpr, NORMS: tl.constexpr,
    FAST: tl.constexpr,
):  # fmt: skip
    """Write H and L of rows in an order, times `factor`, and what their norms come from.

    `radius` is the largest squared norm and is written as `units`.  What is no row (−1 in the
    order, or beyond the last one of a NATURAL order) is infinitely far from all.  NORMS is 0 for
    −‖H‖² and −rest as numbers; else ‖H + L‖² = 2048a + b + c is written in 16 columns, those of
    rows (1) such that their products with those of columns (2) add up to the norms:

        first of rows    −a    −b  2048   1   0   0  1
        second of rows    0     0     0   0  −c   1  1
        of columns     2048     1    −a  −b   1  −c  0 (−∞ for what is no row)
    """
    places = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = places < n
    if NATURAL:
        rows = tl.where(places < n_rows, places, -1)
    else:
        rows = tl.load(order + places, mask=inside, other=-1)
    is_row = rows >= 0
    r2 = tl.load(radius).to(tl.float64)
    per_unit = tl.where(r2 > 0, units / tl.sqrt(r2), 1.0)
    squares = tl.zeros((ROWS,), tl.float64)
    rest = tl.zeros((ROWS,), tl.float64)
    for start in range(0, width, FEATURES):
        f = start + tl.arange(0, FEATURES)
        is_number = is_row[:, None] & (f < d)[None, :]
        at = rows[:, None] * row_stride + f[None, :] * column_stride
        z = tl.load(A + at, mask=is_number, other=0.0) * scale
        z = tl.where(is_number, z - tl.load(centre + f, mask=f < d, other=0.0)[None, :], 0.0)
        z = z.to(tl.float64) * per_unit
        out = places[:, None] * width + f[None, :]
        written = inside[:, None] & (f < width)[None, :]
        if FAST:
            H = z.to(tl.float32).to(tl.float16).to(tl.float64)
        else:
            H = tl.floor(z + 0.5)
            L = (z - H).to(tl.float32).to(tl.float16)
            tl.store(low + out, (L.to(tl.float32) * factor).to(tl.float16), mask=written)
            L = L.to(tl.float64)
            rest += tl.sum(2 * H * L + L * L, 1)
        tl.store(high + out, (H * factor).to(tl.float32).to(tl.float16), mask=written)
        squares += tl.sum(H * H, 1)
    if NORMS == 0:
        far = tl.where(is_row, -squares, -float("inf"))
        tl.store(first + places, far.to(tl.float32), mask=inside)
        tl.store(second + places, (-rest).to(tl.float32), mask=inside)
    else:
        norm = (squares + rest)[:, None]
        a = tl.floor(norm / _PART)
        b = tl.floor(norm - a * _PART)
        c = norm - a * _PART - b
        k = tl.arange(0, 16)[None, :]
        out = places[:, None] * 16 + k
        if NORMS == 1:
            x = tl.where(k == 0, -a, tl.where(k == 1, -b, tl.where(k == 2, _PART, 0.0)))
            x = tl.where((k == 3) | (k == 6), 1.0, x)
            tl.store(first + out, x.to(tl.float32).to(tl.float16), mask=inside[:, None])
            x = tl.where(k == 4, -c, tl.where((k == 5) | (k == 6), 1.0, 0.0))
            tl.store(second + out, x.to(tl.float32).to(tl.float16), mask=inside[:, None])
        else:
            y = tl.where(k == 0, _PART, tl.where((k == 1) | (k == 4), 1.0, 0.0))
            y = tl.where(k == 2, -a, tl.where(k == 3, -b, tl.where(k == 5, -c, y)))
            y = tl.where((k == 6) & (rows < 0)[:, None], -float("inf"), y)
            tl.store(first + out, y.to(tl.float32).to(tl.float16), mask=inside[:, None])


@triton.jit
def kappa_of(coefficient, radius, units):
    """Return what squared distances in units are multiplied by."""
    r2 = tl.load(radius)
    return coefficient * (tl.where(r2 > 0, r2, 1.0) / (units * units))


@triton.jit
def load_rows(high, low, first, second, rows, WIDTH: tl.constexpr, FORM: tl.constexpr):
    """Return H, L and what norms come from, of a block of rows, where they stay on the chip."""
    x_high = rows  # not used
    x_low = rows
    x_first = rows
    x_second = rows
    if FORM == NARROW or FORM == RESIDENT:  # noqa: SIM109
        at = rows.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        x_high = tl.load(high + at)
        x_low = tl.load(low + at)
    if FORM == NARROW:
        at = rows.to(tl.int64)[:, None] * 16 + tl.arange(0, 16)[None, :]
        x_first = tl.load(first + at)
        x_second = tl.load(second + at)
    elif FORM != DIFFERENCES:
        x_first = tl.load(first + rows)
        x_second = tl.load(second + rows)
    return x_high, x_low, x_first, x_second


@triton.jit
def scaled_distances(
    x_high, x_low, x_first, x_second, X_high, X_low, rows,
    Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, STEP: tl.constexpr, FORM: tl.constexpr, FAST: tl.constexpr,
    PRECISE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Return −kappa·‖x − y‖² of a tile."""
    if FORM == DIFFERENCES:
        t = tl.zeros((ROWS, COLUMNS), tl.float32)
        if WIDTH <= _UNROLLED:
            for f in tl.static_range(WIDTH):
                x = tl.load(X_high + f * n_rows + rows)
                y = tl.load(Y_high + f * n_columns + columns)
                t += (x[:, None] - y[None, :]) * (x[:, None] - y[None, :])
        else:
            x_at = X_high + rows
            y_at = Y_high + columns
            for _ in range(width):
                x = tl.load(x_at)
                y = tl.load(y_at)
                t += (x[:, None] - y[None, :]) * (x[:, None] - y[None, :])
                x_at += n_rows
                y_at += n_columns
        t = t * (-kappa)
    elif FORM == NARROW:
        at = columns.to(tl.int64)[:, None] * 16 + tl.arange(0, 16)[None, :]
        y_norm = tl.trans(tl.load(Y_first + at))
        y_high = tl.trans(tl.load(Y_high + at))
        t = tl.dot(x_first, y_norm)
        t = tl.dot(x_high, y_high, t)  # whole numbers up to here
        if not FAST:
            y_low = tl.trans(tl.load(Y_low + at))
            t = tl.dot(x_high, y_low, t)
            t = tl.dot(x_low, y_high, t)
            t = tl.dot(x_low, y_low, t)
        t = tl.dot(x_second, y_norm, t)
        t = t * kappa
    elif FORM == RESIDENT:
        at = columns.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
        y_high = tl.trans(tl.load(Y_high + at))
        t = x_first[:, None] + tl.load(Y_first + columns)[None, :]
        if FAST:
            t = tl.dot(x_high, y_high, t) * kappa
        else:
            y_low = tl.trans(tl.load(Y_low + at))
            if PRECISE:  # noqa: SIM108
                cross = tl.dot(x_high, y_low)
            else:
                cross = tl.dot(x_high + x_low, y_low)
            cross = tl.dot(x_low, y_high, cross)
            if PRECISE:
                cross = tl.dot(x_low, y_low, cross)
                t = tl.dot(x_high, y_high, t) + cross
            else:  # in fewer registers; it rounds to half a unit
                t = tl.dot(x_high, y_high, t + cross)
            x_rest = x_second * kappa
            y_rest = tl.load(Y_second + columns) * kappa
            t = t * kappa + (x_rest[:, None] + y_rest[None, :])
    else:
        x_at = rows.to(tl.int64)[:, None] * width + tl.arange(0, STEP)[None, :]
        y_at = columns.to(tl.int64)[:, None] * width + tl.arange(0, STEP)[None, :]
        t = x_first[:, None] + tl.load(Y_first + columns)[None, :]
        cross = tl.zeros((ROWS, COLUMNS), tl.float32)
        for k in range(0, width, STEP):
            x_part = tl.load(X_high + x_at + k)
            y_part = tl.trans(tl.load(Y_high + y_at + k))
            if not FAST:
                # No sum of x_part and x_rest here: what is read into registers as well gets fewer
                # buffers than what products still read while the next parts are copied.
                x_rest = tl.load(X_low + x_at + k)
                y_rest = tl.trans(tl.load(Y_low + y_at + k))
                cross = tl.dot(x_part, y_rest, cross)
            t = tl.dot(x_part, y_part, t)  # between the others, which wait for each other
            if not FAST:
                cross = tl.dot(x_rest, y_part, cross)
                cross = tl.dot(x_rest, y_rest, cross)
        t = t + cross
        x_rests = x_second * kappa
        y_rests = tl.load(Y_second + columns) * kappa
        t = t * kappa + (x_rests[:, None] + y_rests[None, :])
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
def _absorb_tiles(
    start, stop, top, mine, own_value, x_high, x_low, x_first, x_second, rows,
    X_high, X_low, Y_high, Y_low, Y_first, Y_second, weights,
    n_rows, n_columns, width, kappa,
    WIDTH: tl.constexpr, STEP: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, WEIGHTED: tl.constexpr, LOG: tl.constexpr,
    RUNGS: tl.constexpr,
    HOME: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
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
            x_high, x_low, x_first, x_second, X_high, X_low, rows,
            Y_high, Y_low, Y_first, Y_second, columns, n_rows, n_columns, width, kappa,
            WIDTH, STEP, FORM, FAST, PRECISE, ROWS, COLUMNS,
        )  # fmt: skip
        if HOME:  # rows meet themselves
            e = tl.where(mine[:, None] == columns[None, :], own_value, e)
        if KIND == LAPLACE:
            e = -tl.sqrt(tl.maximum(-e, 0.0))
        shrink = top
        if LOG:
            higher = tl.maximum(top, tl.max(e, 1))
            shrink = tl.exp2(top - higher)
            top = higher
            e = e - top[:, None]
        if KIND == CAUCHY:
            p = 1.0 / (1.0 - e)
        elif KIND == EPANECHNIKOV:
            p = tl.maximum(1.0 + e, 0.0)
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
    return tl.sum(s0, 1), tl.sum(s1, 1), tl.sum(s2, 1), tl.sum(s3, 1), top


@triton.jit
def tiles_of(tiles, piece, n_pieces):
    """Return the first tile of a piece, and the one after its last."""
    begin = tl.load(tiles + piece // n_pieces)
    length = tl.load(tiles + piece // n_pieces + 1) - begin
    part = piece % n_pieces
    return begin + length * part // n_pieces, begin + length * (part + 1) // n_pieces


@triton.jit
def home_tiles(own, rows, first, last, n_columns, COLUMNS: tl.constexpr):
    """Return where rows meet themselves, and the range of tiles in which they do.

    Rows stand in the order of the columns, so that these tiles are few.
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
    X_high, X_low, X_first, X_second, Y_high, Y_low, Y_first, Y_second, weights, own,
    radius, tiles, totals, tops, n_rows, n_columns, width, n_pieces, coefficient, units, own_value,
    WIDTH: tl.constexpr, STEP: tl.constexpr, FORM: tl.constexpr, KIND: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr, WEIGHTED: tl.constexpr, LOG: tl.constexpr,
    RUNGS: tl.constexpr,
    OWN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FOLD: tl.constexpr,
    CHUNK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Sum a block of rows over a piece of the columns.

    Segment s is tiles tiles[s] … tiles[s + 1], in n_pieces pieces; pieces are numbered
    through all segments.  Rung r is the 2**r-th power of the kernel.
    totals[p, r, i] are sums; for LOG relative to 2**(2**r · tops[p, i]), the largest kernel value.
    CHUNK tiles are added up in float32, and chunks in float64.
    """
    n_blocks = n_rows // ROWS
    piece = tl.program_id(0) // n_blocks
    rows = (tl.program_id(0) % n_blocks) * ROWS + tl.arange(0, ROWS)
    first, last = tiles_of(tiles, piece, n_pieces)
    kappa = coefficient
    if FORM != DIFFERENCES:
        kappa = kappa_of(coefficient, radius, units)
    x_high, x_low, x_first, x_second = load_rows(
        X_high, X_low, X_first, X_second, rows, WIDTH, FORM
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
        if OWN and (start >= home) and (start < away):
            stop = tl.minimum(start + CHUNK, away)
            s0, s1, s2, s3, top = _absorb_tiles(
                start, stop, top, mine, own_value, x_high, x_low, x_first, x_second,
                rows, X_high, X_low, Y_high, Y_low, Y_first, Y_second, weights,
                n_rows, n_columns, width, kappa,
                WIDTH, STEP, FORM, KIND, FAST, PRECISE, WEIGHTED, LOG, RUNGS, True, ROWS, COLUMNS,
                FOLD, 1,
            )  # fmt: skip
        else:
            stop = tl.minimum(start + CHUNK, tl.where(start < home, home, last))
            s0, s1, s2, s3, top = _absorb_tiles(
                start, stop, top, mine, own_value, x_high, x_low, x_first, x_second,
                rows, X_high, X_low, Y_high, Y_low, Y_first, Y_second, weights,
                n_rows, n_columns, width, kappa,
                WIDTH, STEP, FORM, KIND, FAST, PRECISE, WEIGHTED, LOG, RUNGS, False, ROWS, COLUMNS,
                FOLD, STAGES,
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

"""Compiled for CUDA: rows packed for the matrix units, as `_kernels` takes them."""

import triton
import triton.language as tl

from mercer.sums.cuda._kernels import APART, BESIDE, FOLDED, RESIDENT, TOGETHER, kappa_of

_PART = tl.constexpr(2048.0)  # Norms are written as a multiple of this, a whole number and a rest.


@triton.jit(
    do_not_specialize=[
        "n_x", "n_y", "n_weights", "d", "x_row", "x_column", "y_row", "y_column", "weight_stride",
    ]
)  # fmt: skip
def raise_ends(
    X, Y, weights, ends, n_x, n_y, n_weights, d, x_row, x_column, y_row, y_column, weight_stride,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, PASSES: tl.constexpr,
):  # fmt: skip
    """Raise `ends`, which begin with −∞, to the ends of columns and of weights.

    First come the largest −x of each column, of X and Y together, then the largest x, the largest
    −w and w, and two numbers that become 0 if X or Y, and if weights hold NaN.
    """
    per_program = ROWS * PASSES
    x_blocks = tl.cdiv(n_x, per_program)
    y_blocks = tl.cdiv(n_y, per_program)
    block = tl.program_id(0)
    A, n, row_stride, column_stride, width = X, n_x, x_row, x_column, d
    to_low = ends
    to_high = ends + d
    to_nan = ends + 2 * d + 2
    if block >= x_blocks:
        A, n, row_stride, column_stride = Y, n_y, y_row, y_column
        block -= x_blocks
        if block >= y_blocks:
            A, n, row_stride, column_stride, width = weights, n_weights, weight_stride, d, d * 0 + 1
            block -= y_blocks
            to_low = ends + 2 * d
            to_high = ends + 2 * d + 1
            to_nan = ends + 2 * d + 3
    for start in range(0, width, FEATURES):
        f = start + tl.arange(0, FEATURES)
        low = tl.full((ROWS, FEATURES), -float("inf"), tl.float32)
        high = tl.full((ROWS, FEATURES), -float("inf"), tl.float32)
        is_nan = tl.zeros((ROWS, FEATURES), tl.int32)
        for k in range(PASSES):
            rows = block.to(tl.int64) * per_program + k * ROWS + tl.arange(0, ROWS)
            inside = (rows < n)[:, None] & (f < width)[None, :]
            at = rows[:, None] * row_stride + f[None, :] * column_stride
            z = tl.load(A + at, mask=inside, other=0.0)
            low = tl.maximum(low, tl.where(inside, -z, -float("inf")))
            high = tl.maximum(high, tl.where(inside, z, -float("inf")))
            is_nan = is_nan | (z != z).to(tl.int32)
        least = tl.max(low, 0)
        most = tl.max(high, 0)
        # An atomic maximum takes −0 for less than −∞.
        tl.atomic_max(to_low + f, tl.where(least == 0, 0.0, least), mask=f < width)
        tl.atomic_max(to_high + f, tl.where(most == 0, 0.0, most), mask=f < width)
        if tl.max(tl.max(is_nan, 1), 0) > 0:
            tl.atomic_max(to_nan, 0.0)


@triton.jit(do_not_specialize=["n_x", "n_y"])
def largest_norm(
    X, Y, ends, centre, radius, n_x, n_y, d, x_row, x_column, y_row, y_column, scale,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, FROM_ENDS: tl.constexpr,
):  # fmt: skip
    """Raise `radius` to the largest ‖a·scale − centre‖² of the rows of X and Y.

    FROM_ENDS takes the middle of the box that `raise_ends` found, and writes it to `centre`.
    """
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
        if FROM_ENDS:
            negative_low = tl.load(ends + f, mask=f < d, other=0.0)
            middle = 0.5 * tl.load(ends + d + f, mask=f < d, other=0.0) - 0.5 * negative_low
            if tl.program_id(0) == 0:
                tl.store(centre + f, middle, mask=f < d)
        else:
            middle = tl.load(centre + f, mask=f < d, other=0.0)
        inside = (rows < n)[:, None] & (f < d)[None, :]
        at = rows[:, None] * row_stride + f[None, :] * column_stride
        z = tl.load(A + at, mask=inside, other=0.0) * scale
        z = tl.where(inside, z - middle[None, :], 0.0)
        total += tl.sum(z * z, 1)
    tl.atomic_max(radius, tl.max(total))


@triton.jit
def _rows_at(order, places, n, n_rows, NATURAL: tl.constexpr):
    """Return the rows at these places, −1 where there is none."""
    if NATURAL:
        rows = tl.where(places < n_rows, places, -1)
    else:
        rows = tl.load(order + places, mask=places < n, other=-1)
    return rows


@triton.jit
def _split(
    A, rows, f, is_number, centre, radius, row_stride, column_stride, scale, units,
    FAST: tl.constexpr,
):  # fmt: skip
    """Return H and L of features f, in float64; `radius`, a squared norm, is written as `units`."""
    r2 = tl.load(radius).to(tl.float64)
    per_unit = tl.where(r2 == 0, 1.0, units / tl.sqrt(r2))
    at = rows.to(tl.int64)[:, None] * row_stride + f[None, :] * column_stride
    z = tl.load(A + at, mask=is_number, other=0.0) * scale
    middle = tl.load(centre + f[None, :] + 0 * rows[:, None], mask=is_number, other=0.0)
    z = tl.where(is_number, z - middle, 0.0).to(tl.float64) * per_unit
    if FAST:
        H = z.to(tl.float32).to(tl.float16).to(tl.float64)
        L = z - H
    else:
        H = tl.floor(z + 0.5)
        L = (z - H).to(tl.float32).to(tl.float16).to(tl.float64)
    return H, L


@triton.jit
def _store_half(to, values, mask):
    tl.store(to, values.to(tl.float32).to(tl.float16), mask=mask)


@triton.jit(do_not_specialize=["n", "n_rows"])
def pack_products(
    A, order, centre, radius, high, middle, low, first, second,
    n, n_rows, d, width, row_stride, column_stride, scale, units, factor, exact_norms,
    coefficient, lift,
    ROWS: tl.constexpr, FEATURES: tl.constexpr, NATURAL: tl.constexpr, SIDE: tl.constexpr,
    FORM: tl.constexpr, FAST: tl.constexpr, PRECISE: tl.constexpr,
):  # fmt: skip
    """Write H, L and M of rows in an order, times `factor`, and −‖H‖² and −rest as numbers.

    A place without a row (−1 in the order, or beyond the last row of a NATURAL order) is infinitely
    far from all.  M is written of rows (SIDE 1) only.  RESIDENT rows that need not be PRECISE get
    the sum of both numbers as the first, and FOLDED ones 2**(lift − kappa·‖a‖²) as the second.
    FAST rows get their norm before rounding to H as the first number if `exact_norms` is 1, and
    that of H if it is 0.
    """
    places = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = places < n
    rows = _rows_at(order, places, n, n_rows, NATURAL)
    is_row = rows >= 0
    squares = tl.zeros((ROWS,), tl.float64)
    rest = tl.zeros((ROWS,), tl.float64)
    for start in range(0, width, FEATURES):
        f = start + tl.arange(0, FEATURES)
        is_number = is_row[:, None] & (f < d)[None, :]
        H, L = _split(
            A, rows, f, is_number, centre, radius, row_stride, column_stride, scale, units, FAST
        )
        out = places[:, None] * width + f[None, :]
        written = inside[:, None] & (f < width)[None, :]
        _store_half(high + out, H * factor, written)
        squares += tl.sum(H * H, 1)
        if FAST:
            squares += exact_norms * tl.sum(2 * H * L + L * L, 1)
        else:
            _store_half(low + out, L * factor, written)
            if SIDE == 1 and not PRECISE:
                _store_half(middle + out, (H + L) * factor, written)
            rest += tl.sum(2 * H * L + L * L, 1)
    if (FORM == RESIDENT or FORM == FOLDED) and not PRECISE:  # noqa: SIM109
        squares += rest
    far = tl.where(is_row, -squares, -float("inf"))
    tl.store(first + places, far.to(tl.float32), mask=inside)
    if FORM == FOLDED:
        kappa = kappa_of(coefficient, radius, units).to(tl.float64)
        rest = -tl.exp2(lift + kappa * far)
    tl.store(second + places, (-rest).to(tl.float32), mask=inside)


@triton.jit(do_not_specialize=["n", "n_rows"])
def pack_narrow(
    A, order, centre, radius, high, middle, low, first, second,
    n, n_rows, d, row_stride, column_stride, scale, units,
    ROWS: tl.constexpr, NATURAL: tl.constexpr, SIDE: tl.constexpr, FORM: tl.constexpr,
    FAST: tl.constexpr, PRECISE: tl.constexpr,
):  # fmt: skip
    """Write rows of at most 16 features such that products of 16 columns add up to −‖x − y‖².

    Norms are multiplied out too: ‖H + L‖² = 2048a + b + c with whole numbers a and b.

        whole, of rows    −a    −b  2048   1   1         rest, of rows     −c   1
        of columns      2048     1    −a  −b   0 or −∞   of columns         1  −c

    −∞ puts a place without a row infinitely far away; it is never multiplied by 0.  Columns
    of H, L, M, whole and rest by FORM; those of rows are multiplied with those of columns below:

        TOGETHER   high: 2H whole   middle: 2H 2L 2L rest
                         H  whole           L  H  L  rest
        BESIDE     high: 2H whole   middle: 2M rest   low: 2L ∞    PRECISE: low: 2L ∞
                         H  whole           L  rest        H whole          L  rest
        APART      first: whole     high: 2H   middle: 2M  low: 2L  PRECISE: low: 2L  second: rest ∞
                          all             H            L        H            L         all

    PRECISE has H in place of M.  Columns' `low` is what stands under `middle`; their `first` has
    whole and rest, all.
    """
    places = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = (places < n)[:, None]
    rows = _rows_at(order, places, n, n_rows, NATURAL)
    is_row = (rows >= 0)[:, None]
    k = tl.arange(0, 16)
    H, L = _split(
        A, rows, k, is_row & (k < d)[None, :], centre, radius, row_stride, column_stride, scale,
        units, FAST,
    )  # fmt: skip
    if FAST:
        L = L * 0.0
    norm = tl.sum(H * H + (2 * H * L + L * L), 1)[:, None]
    a = tl.floor(norm / _PART)
    b = tl.floor(norm - a * _PART)
    c = norm - a * _PART - b
    far = tl.where(is_row, 0.0, -float("inf"))
    k = k[None, :]
    out = places[:, None] * 16 + k
    w = k  # places counted from where the whole parts begin, and r from the rest
    r = k
    if FORM == APART:
        r = k - 5
    else:
        w = k - d
        r = k - d
    if SIDE == 1:
        H = 2 * H
        L = 2 * L
        whole = tl.where(w == 0, -a, tl.where(w == 1, -b, tl.where(w == 2, _PART, 0.0)))
        whole = tl.where((w == 3) | (w == 4), 1.0, whole)
        infinite = tl.where(w == 4, 1.0, 0.0)
    else:
        whole = tl.where(w == 0, _PART, tl.where(w == 1, 1.0, tl.where(w == 2, -a, 0.0)))
        whole = tl.where(w == 3, -b, tl.where(w == 4, far, whole))
    if FORM == TOGETHER:
        part = k // d
        r = k - 3 * d
        H3, L3 = _split(
            A, rows, tl.arange(0, 16) % d, is_row & (part < 3), centre, radius, row_stride,
            column_stride, scale, units, FAST,
        )  # fmt: skip
        if FAST:
            L3 = L3 * 0.0
        middle_part = tl.where(part == SIDE - 1, H3, L3) * (3 - SIDE)
    elif SIDE == 1:
        middle_part = H
        if not PRECISE:
            middle_part = H + L
    else:
        middle_part = L
    if SIDE == 1:
        rest = tl.where(r == 0, -c, tl.where(r == 1, 1.0, 0.0))
    else:
        rest = tl.where(r == 0, 1.0, tl.where(r == 1, -c, 0.0))
    if FORM == APART:
        _store_half(high + out, H, inside)
        _store_half(middle + out, middle_part, inside)
        if SIDE == 1:
            _store_half(first + out, whole, inside)
            _store_half(second + out, rest + infinite, inside)
            _store_half(low + out, L, inside)
        else:
            _store_half(first + out, whole + rest, inside)
    else:
        _store_half(high + out, H + whole, inside)
        _store_half(middle + out, middle_part + rest, inside)
        if SIDE == 1 and FORM == BESIDE:
            _store_half(low + out, L + infinite, inside)

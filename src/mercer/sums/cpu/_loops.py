"""Compiled: packed rows and columns, tiles of distances between them, and sums of kernel values.

Rows of X go in blocks of ROWS, columns (rows of Y) in panels as wide as the vectors that the
register-blocked loops hold; both are scaled and centred on the way.  `own[i]` is the column that is
row i itself, or a number outside of the columns.

A tile is added up while it is in the cache, so nothing of size n × m exists.  The order of
additions depends on the shape of the data alone: neither on threads nor on what ran before.

Names used throughout: `u` is a run of a tile's row (squared distances, or distances for
kernels of r); `c` the kernel's coefficient, for an exponential kernel in base 2, so that
k = 2**(−c·u); a *rung* is one bandwidth; `base` the distance relative to whose kernel value
sums are kept.
"""

import numpy as np

from mercer.sums.cpu._compile import compiled
from mercer.sums.cpu._exp2 import exp2
from mercer.sums.cpu._simd import (
    PANEL_BYTES,
    ROWS,
    lesser,
    panel_absolutes,
    panel_products,
    panel_squares,
    window,
)

# More features are added up in runs of this length, because longer ones would lose digits.
_FEATURES_AT_ONCE = 64
# A tile takes up to this many bytes: the longer its runs of columns, the less each costs per term.
_TILE_BYTES = 1 << 16
# Packed columns of this many bytes stay in the second-level cache,
_CHUNK_BYTES = 1 << 19
# while groups of packed rows of at most this many bytes and rows pass over them.
_GROUP_BYTES = 1 << 18
_GROUP_ROWS = 96

_exact = compiled("contract")


@_exact
def _add_square(total, lost, value):
    """Add a square to a compensated sum, as all pairs of a row share the error of its norm."""
    square = value * value
    larger = total + square
    return larger, lost + ((total - larger) + square)


@_exact
def pack_columns(Y, is_row, scale, centre, product, panels):
    """Write the rows of Y as panels of (features, panel width).

    In product form ‖y‖² follows the features.  Columns that only fill up a panel are
    put infinitely far away.
    """
    d = Y.shape[1]
    width = PANEL_BYTES // Y.itemsize
    k = d + 1 if product else d
    for j in range(is_row.size):
        at = (j // width) * width * k + j % width
        norm = lost = 0.0
        for f in range(d):
            y = Y[j, f] * scale - centre[f]
            norm, lost = _add_square(norm, lost, float(y))
            if not is_row[j]:
                y = Y.dtype.type(0 if product else np.inf)
            panels[at + f * width] = y
        if product:
            panels[at + d * width] = norm + lost if is_row[j] else np.inf


@_exact
def pack_rows(X, start, stop, scale, centre, product, out):
    """Write rows start…stop of X as blocks of (features, ROWS); the last one fills its block.

    In product form the features are −2x, and ‖x‖² follows: with the columns' they add up to
    ‖x‖² + ‖y‖² − 2x·y.
    """
    d = X.shape[1]
    k = d + 1 if product else d
    for i in range(out.size // k):
        row = min(start + i, stop - 1)
        at = (i // ROWS) * ROWS * k + i % ROWS
        norm = lost = 0.0
        for f in range(d):
            x = X[row, f] * scale - centre[f]
            out[at + f * ROWS] = -2 * x if product else x
            norm, lost = _add_square(norm, lost, float(x))
        if product:
            out[at + d * ROWS] = norm + lost


@_exact
def tile_sizes(k, itemsize):
    """Return the columns of a chunk and the rows of a group, for k packed features."""
    width = PANEL_BYTES // itemsize
    columns = min(_TILE_BYTES // (ROWS * itemsize), _CHUNK_BYTES // (k * itemsize))
    rows = min(_GROUP_ROWS, _GROUP_BYTES // (k * itemsize))
    return max(width, columns // width * width), max(ROWS, rows // ROWS * ROWS)


@_exact
def fill_tile(
    rows, rows_at, panels, k, first, last, product, absolute, root, own, i, n_rows, own_value,
    tile, ld,
):  # fmt: skip
    """Fill the tile with distances of ROWS packed rows to columns first…last.

    Squared ones, unless `absolute` asks for sums of absolute differences, or `root` for the root.
    """
    width = PANEL_BYTES // tile.itemsize
    d = k - 1 if product else k
    for column in range(first, last, width):
        for f in range(0, d, _FEATURES_AT_ONCE):
            count = min(_FEATURES_AT_ONCE, d - f)
            x_at, y_at, at = rows_at + f * ROWS, column * k + f * width, column - first
            add, finish = f > 0, product and f + count == d
            if product:
                panel_products(rows, x_at, panels, y_at, count, tile, at, ld, add, finish)
            elif absolute:
                panel_absolutes(rows, x_at, panels, y_at, count, tile, at, ld, add, finish)
            else:
                panel_squares(rows, x_at, panels, y_at, count, tile, at, ld, add, finish)
    for r in range(n_rows):
        if first <= own[i + r] < last:
            tile[r * ld + own[i + r] - first] = own_value
    if root:
        for j in range(tile.size):
            tile[j] = np.sqrt(tile[j])


EXPONENTIAL, CAUCHY, EPANECHNIKOV = 0, 1, 2  # how a kernel value comes from c·u

_reordering = compiled("contract", "reassoc", "nsz")


@_exact
def add_differences(M, X, first, last, totals):
    """Add Σ (Mᵢⱼ + Mⱼᵢ)|xᵢₖ − xⱼₖ| over rows i in first…last and all j < i to totalsₖ."""
    for i in range(first, last):
        for j in range(i):
            weight = M[i, j] + M[j, i]
            for k in range(X.shape[1]):
                totals[k] += weight * abs(X[i, k] - X[j, k])


@_reordering
def _sum(kind, u, w, c, base):
    """Return Σⱼ wⱼ k(uⱼ); of an exponential kernel Σⱼ wⱼ 2**(−c·(uⱼ − base))."""
    zero = u.dtype.type(0)
    total = zero
    if kind == EXPONENTIAL and base == 0:
        for j in range(u.size):
            total += w[j] * exp2(-c * u[j])
    elif kind == EXPONENTIAL:
        for j in range(u.size):
            total += w[j] * exp2(c * (base - u[j]))
    elif kind == CAUCHY:
        for j in range(u.size):
            total += w[j] / (1 + c * u[j])
    else:
        for j in range(u.size):
            v = 1 - c * u[j]
            total += w[j] * (zero if v < 0 else v)
    return total


@_reordering
def _sum_mirrored(kind, u, w, c, weight, mirror):
    """Return Σⱼ wⱼ k(uⱼ), and add weight·k(uⱼ) to the columns' sums."""
    zero = u.dtype.type(0)
    total = zero
    if kind == EXPONENTIAL:
        for j in range(u.size):
            e = exp2(-c * u[j])
            total += w[j] * e
            mirror[j] += weight * e
    elif kind == CAUCHY:
        for j in range(u.size):
            v = 1 / (1 + c * u[j])
            total += w[j] * v
            mirror[j] += weight * v
    else:
        for j in range(u.size):
            v = 1 - c * u[j]
            v = zero if v < 0 else v
            total += w[j] * v
            mirror[j] += weight * v
    return total


@_reordering
def _sum_powers(u, w, c, base):
    """Return the sums of an exponential kernel, its square, fourth and eighth power."""
    s1 = s2 = s4 = s8 = u.dtype.type(0)
    for j in range(u.size):
        e = exp2(c * (base - u[j]))
        s1 += w[j] * e
        e *= e
        s2 += w[j] * e
        e *= e
        s4 += w[j] * e
        e *= e
        s8 += w[j] * e
    return s1, s2, s4, s8


@_exact
def _values(kind, u, c, base, power, k):
    """Write kernel values to k, or square what is there for the next power."""
    if power:
        for j in range(u.size):
            k[j] *= k[j]
    elif kind == EXPONENTIAL:
        for j in range(u.size):
            k[j] = exp2(c * (base - u[j]))
    elif kind == CAUCHY:
        for j in range(u.size):
            k[j] = 1 / (1 + c * u[j])
    else:
        for j in range(u.size):
            v = 1 - c * u[j]
            k[j] = 0 if v < 0 else v


@_reordering
def _dot(a, b):
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@_exact
def _least(u):
    least = u.dtype.type(np.inf)
    for j in range(u.size):
        least = lesser(u[j], least)
    return least


@_exact
def _approach(u, coefficients, rungs, nearest, totals, at, n_outputs, n_rungs):
    """Return the least distance so far, to whose kernel value the totals become relative.

    Sums of an exponential kernel are kept relative to their largest term, 2**(−c·nearest).
    """
    least = float(_least(u))
    if least >= nearest:
        return nearest
    rung = 0
    for g in range(coefficients.size):
        c = float(coefficients[g])
        for _ in range(rungs[g]):
            factor = exp2(c * (least - nearest))
            for s in range(n_outputs):
                totals[at + s * n_rungs + rung] *= factor
            c *= 2
            rung += 1
    return least


@_exact
def _absorb_segment(kind, u, w, coefficients, rungs, base, totals, at):
    """Add one run of distances to the sums of its segment, totals[at:], one for each rung."""
    for g in range(coefficients.size):
        c = coefficients[g]
        if rungs[g] == 1:
            totals[at] += _sum(kind, u, w, c, u.dtype.type(base))
        else:
            sums = _sum_powers(u, w, c, u.dtype.type(base))
            for r in range(rungs[g]):
                totals[at + r] += sums[r]
        at += rungs[g]


@_exact
def _absorb_columns(
    kind, tile, ld, n_rows, W, w_at, size, n_columns, coefficients, rungs, bases, values, totals, at
):
    """Add rows of a tile to the sums of every column of weights, totals[at:], for every rung.

    A run of weights is used for all rows before the next is fetched.
    """
    n_outputs, n_rungs = W.size // n_columns, rungs.sum()
    for g in range(coefficients.size):
        for power in range(rungs[g]):
            for r in range(n_rows):
                u, k = window(tile, r * ld, size), window(values, r * ld, size)
                _values(kind, u, coefficients[g], tile.dtype.type(bases[r]), power, k)
            for s in range(n_outputs):
                w = window(W, s * n_columns + w_at, size)
                for r in range(n_rows):
                    k = window(values, r * ld, size)
                    totals[at + (r * n_outputs + s) * n_rungs + power] += _dot(k, w)
        at += rungs[g]


@_exact
def absorb(
    X, start, stop, panels, W, n_columns, bounds, own,
    scale, centre, product, kind, absolute, root, coefficients, rungs, own_value,
    relative, nearest, totals,
):  # fmt: skip
    """Add all packed columns to the sums of rows start…stop of X.

    X is (n, d) and `bounds` (segments + 1,).  Flat are W (c, n_columns), with c = 1 where there
    are segments, `nearest` (n, segments) and `totals` (n, segments or c, rungs).  With
    `relative`, sums are kept relative to their largest term.
    """
    k = X.shape[1] + 1 if product else X.shape[1]
    chunk, group = tile_sizes(k, X.itemsize)
    n_segments, n_rungs = bounds.size - 1, rungs.sum()
    n_weights = W.size // n_columns
    tile = np.empty(ROWS * chunk, X.dtype)
    values = np.empty(ROWS * chunk if n_weights > 1 else 0, X.dtype)
    rows = np.empty(group * k, X.dtype)
    bases = np.zeros(ROWS)
    for top in range(start, stop, group):
        bottom = min(top + group, stop)
        pack_rows(X, top, bottom, scale, centre, product, rows)
        segment = 0
        for first in range(0, n_columns, chunk):
            last = min(first + chunk, n_columns)
            while bounds[segment + 1] <= first:
                segment += 1
            for block in range(top, bottom, ROWS):
                n_rows = min(ROWS, bottom - block)
                fill_tile(
                    rows, (block - top) * k, panels, k, first, last, product, absolute, root,
                    own, block, n_rows, own_value, tile, chunk,
                )  # fmt: skip
                for r in range(n_rows):
                    i = block + r
                    s = segment
                    lo = first
                    while lo < last:
                        hi = min(last, bounds[s + 1])
                        u = window(tile, r * chunk + lo - first, hi - lo)
                        at = (i * n_segments + s) * n_weights * n_rungs
                        if relative and hi > lo:
                            nearest[i * n_segments + s] = _approach(
                                u, coefficients, rungs, nearest[i * n_segments + s],
                                totals, at, n_weights, n_rungs,
                            )  # fmt: skip
                        base = nearest[i * n_segments + s]
                        # The nearest distance is infinite while there is no term.
                        bases[r] = base if relative and base < np.inf else 0.0
                        if n_weights == 1:
                            w = window(W, lo, hi - lo)
                            _absorb_segment(kind, u, w, coefficients, rungs, bases[r], totals, at)
                        lo = hi
                        s += 1
                if n_weights > 1:
                    _absorb_columns(
                        kind, tile, chunk, n_rows, W, first, last - first, n_columns, coefficients,
                        rungs, bases, values, totals, block * n_weights * n_rungs,
                    )  # fmt: skip


@_exact
def absorb_blocks(
    X, pairs, start, stop, panels, w, own,
    scale, centre, product, kind, absolute, root, coefficients, rungs, own_value,
    totals,
):  # fmt: skip
    """Add blocks of a sum of X with itself to the totals of their rows and of their columns.

    The columns are X in its own order; pairs[start:stop] are (first row, last row, first column,
    last column) of the blocks, w is (columns,), `totals` (n,); there is one rung.  Each kernel
    value serves twice, unless the block lies on the diagonal.
    """
    c = coefficients[0]
    k = X.shape[1] + 1 if product else X.shape[1]
    chunk, group = tile_sizes(k, X.itemsize)
    tile = np.empty(ROWS * chunk, X.dtype)
    mirror = np.zeros(chunk, X.dtype)
    rows = np.empty(group * k, X.dtype)
    for p in range(start, stop):
        i_start, i_stop, j_start, j_stop = pairs[p]
        for top in range(i_start, i_stop, group):
            bottom = min(top + group, i_stop)
            pack_rows(X, top, bottom, scale, centre, product, rows)
            for first in range(j_start, j_stop, chunk):
                size = min(first + chunk, j_stop) - first
                w_run, mirror_run = window(w, first, size), window(mirror, 0, size)
                for block in range(top, bottom, ROWS):
                    n_rows = min(ROWS, bottom - block)
                    fill_tile(
                        rows, (block - top) * k, panels, k, first, first + size, product,
                        absolute, root, own, block, n_rows, own_value, tile, chunk,
                    )  # fmt: skip
                    for r in range(n_rows):
                        u = window(tile, r * chunk, size)
                        totals[block + r] += _sum_mirrored(
                            kind, u, w_run, c, w[block + r], mirror_run
                        )
                if i_start != j_start:
                    for j in range(min(size, X.shape[0] - first)):
                        totals[first + j] += mirror[j]
                mirror[:] = 0

"""Compiled: rows and columns packed for vectors, and tiles of distances between them.

Rows of X go in blocks of ROWS, columns (rows of Y) in panels as wide as the vectors that the
register-blocked loops hold; both are scaled and centred on the way.

`own[i]` is the column at which row i meets itself.
"""

import numpy as np

from mercer.sums.cpu._compile import compiled
from mercer.sums.cpu._simd import PANEL_BYTES, ROWS, panel_products, panel_squares

_FEATURES_AT_ONCE = 64  # a longer run of additions would lose digits
_TILE_BYTES = 1 << 16  # long runs of columns: what a run costs beside its terms counts less
_CHUNK_BYTES = 1 << 19  # packed columns that stay in the second-level cache ...
_GROUP_BYTES = 1 << 18  # ... while packed rows pass over them
_GROUP_ROWS = 96

_exact = compiled("contract")


@_exact
def _add_square(total, lost, value):
    """Add a square to a compensated sum: an error of a norm would be shared by all its pairs."""
    square = value * value
    larger = total + square
    return larger, lost + ((total - larger) + square)


@_exact
def pack_columns(Y, is_row, scale, centre, product, panels):
    """Write the rows of Y as panels of (features, panel width).

    In product form ‖y‖² follows the features.  What is no row is put infinitely far away.
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
    """Columns in a chunk and rows in a group, for k packed features."""
    width = PANEL_BYTES // itemsize
    columns = min(_TILE_BYTES // (ROWS * itemsize), _CHUNK_BYTES // (k * itemsize))
    rows = min(_GROUP_ROWS, _GROUP_BYTES // (k * itemsize))
    return max(width, columns // width * width), max(ROWS, rows // ROWS * ROWS)


@_exact
def fill_tile(
    rows, rows_at, panels, k, first, last, product, root, own, i, n_rows, own_value, tile, ld
):
    """Fill the tile with (squared) distances of ROWS packed rows to columns first…last."""
    width = PANEL_BYTES // tile.itemsize
    d = k - 1 if product else k
    for column in range(first, last, width):
        for f in range(0, d, _FEATURES_AT_ONCE):
            count = min(_FEATURES_AT_ONCE, d - f)
            x_at, y_at, at = rows_at + f * ROWS, column * k + f * width, column - first
            add, finish = f > 0, product and f + count == d
            if product:
                panel_products(rows, x_at, panels, y_at, count, tile, at, ld, add, finish)
            else:
                panel_squares(rows, x_at, panels, y_at, count, tile, at, ld, add, finish)
    for r in range(n_rows):
        if first <= own[i + r] < last:
            tile[r * ld + own[i + r] - first] = own_value
    if root:
        for j in range(tile.size):
            tile[j] = np.sqrt(tile[j])

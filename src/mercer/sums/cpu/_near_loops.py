"""Compiled: the nearest columns of each row, and the pairs that are within a reach.

Columns are packed in cells of CELL, neighbours in space beside each other, and each cell has a box.
A group of rows leaves out the cells whose boxes are too far away from its own, and of the others
it computes tiles of squared distances, by differences, as the sums do.
"""

import numpy as np

from mercer.sums.cpu._compile import compiled
from mercer.sums.cpu._loops import _FEATURES_AT_ONCE, _least, pack_rows, tile_sizes
from mercer.sums.cpu._simd import PANEL_BYTES, ROWS, lesser, panel_squares, window

CELL = 256  # columns; whole panels on every machine
_RUN = 32  # So many distances are compared at once before they are looked at one by one.
_ROUNDING = 1e-12  # Bounds are smaller by this share, so that rounding leaves no cell out.

_exact = compiled("contract")


@_exact
def _measure_cells(X, top, bottom, low, high, bounds):
    """Write the least squared distance from rows top…bottom of X to the box of each cell.

    The corners of the boxes are (cells, d).
    """
    d = X.shape[1]
    bounds[:] = 0.0
    for f in range(d):
        least = most = float(X[top, f])
        for i in range(top + 1, bottom):
            x = float(X[i, f])
            least, most = min(least, x), max(most, x)
        for c in range(bounds.size):
            gap = max(0.0, low[c, f] - most, least - high[c, f])
            bounds[c] += gap * gap
    bounds *= 1 - _ROUNDING


@_exact
def _fill_squares(rows, rows_at, panels, d, first, last, tile):
    """Fill the tile with squared distances of ROWS packed rows to columns first…last."""
    width = PANEL_BYTES // tile.itemsize
    for column in range(first, last, width):
        for f in range(0, d, _FEATURES_AT_ONCE):
            panel_squares(
                rows, rows_at + f * ROWS, panels, column * d + f * width,
                min(_FEATURES_AT_ONCE, d - f), tile, column - first, CELL, f > 0, False,
            )  # fmt: skip


@_exact
def _is_before(square, number, other_square, other_number):
    """Say which of two columns is nearer; of those as near, the one of the smaller number."""
    return square < other_square or (square == other_square and number < other_number)


@_exact
def _replace_farthest(squares, numbers, at, k, square, number):
    """Put a column in the place of the farthest of a heap, squares[at : at + k]."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= k:
            break
        other = child + 1
        if other < k and _is_before(
            squares[at + child], numbers[at + child], squares[at + other], numbers[at + other]
        ):
            child = other
        if _is_before(squares[at + child], numbers[at + child], square, number):
            break
        squares[at + place] = squares[at + child]
        numbers[at + place] = numbers[at + child]
        place = child
    squares[at + place] = square
    numbers[at + place] = number


@_exact
def keep_nearest(X, start, stop, panels, n_columns, order, low, high, own, k, squares, numbers):
    """Keep the k nearest columns of rows start…stop of X: a heap in squares and numbers (n, k).

    Both are flat.  `order` is the number of each column, and own[i] the column that row i may
    not have, or −1.
    """
    d = X.shape[1]
    _, group = tile_sizes(d, X.itemsize)
    tile = np.empty(ROWS * CELL, X.dtype)
    rows = np.empty(group * d, X.dtype)
    bounds = np.empty(low.shape[0])
    centre = np.zeros(d, X.dtype)
    one = X.dtype.type(1)
    for top in range(start, stop, group):
        bottom = min(top + group, stop)
        pack_rows(X, top, bottom, one, centre, False, rows)
        _measure_cells(X, top, bottom, low, high, bounds)
        for cell in np.argsort(bounds):
            farthest = 0.0
            for i in range(top, bottom):
                farthest = max(farthest, squares[i * k])
            if bounds[cell] > farthest:
                break
            first = cell * CELL
            last = min(first + CELL, n_columns)
            for block in range(top, bottom, ROWS):
                n_rows = min(ROWS, bottom - block)
                _fill_squares(rows, (block - top) * d, panels, d, first, last, tile)
                for r in range(n_rows):
                    at = (block + r) * k
                    if first <= own[block + r] < last:
                        tile[r * CELL + own[block + r] - first] = np.inf
                    for run in range(0, last - first, _RUN):
                        size = min(_RUN, last - first - run)
                        u = window(tile, r * CELL + run, size)
                        if _least(u) > squares[at]:
                            continue
                        for j in range(size):
                            number = order[first + run + j]
                            if number >= 0 and _is_before(u[j], number, squares[at], numbers[at]):
                                _replace_farthest(squares, numbers, at, k, u[j], number)


@_exact
def _least_beyond(u, reach):
    """Return the least of uⱼ − reachⱼ: not above zero where a column reaches the row."""
    least = u.dtype.type(np.inf)
    for j in range(u.size):
        least = lesser(u[j] - reach[j], least)
    return least


@_exact
def collect_pairs(
    X, start, stop, panels, n_columns, order, low, high,
    reach_of_rows, reach_of_columns, reach_of_cells, i_found, j_found,
):  # fmt: skip
    """Write pairs of which either is within the squared reach of the other; return their number.

    Pairs beyond the length of `i_found` are counted only.
    """
    d = X.shape[1]
    _, group = tile_sizes(d, X.itemsize)
    tile = np.empty(ROWS * CELL, X.dtype)
    rows = np.empty(group * d, X.dtype)
    bounds = np.empty(low.shape[0])
    centre = np.zeros(d, X.dtype)
    one = X.dtype.type(1)
    count = 0
    for top in range(start, stop, group):
        bottom = min(top + group, stop)
        pack_rows(X, top, bottom, one, centre, False, rows)
        _measure_cells(X, top, bottom, low, high, bounds)
        farthest = 0.0
        for i in range(top, bottom):
            farthest = max(farthest, reach_of_rows[i])
        for cell in range(bounds.size):
            if bounds[cell] > farthest and bounds[cell] > reach_of_cells[cell]:
                continue
            first = cell * CELL
            last = min(first + CELL, n_columns)
            for block in range(top, bottom, ROWS):
                n_rows = min(ROWS, bottom - block)
                _fill_squares(rows, (block - top) * d, panels, d, first, last, tile)
                for r in range(n_rows):
                    reach = reach_of_rows[block + r]
                    for run in range(0, last - first, _RUN):
                        size = min(_RUN, last - first - run)
                        u = window(tile, r * CELL + run, size)
                        columns = window(reach_of_columns, first + run, size)
                        if _least(u) > reach and _least_beyond(u, columns) > 0:
                            continue
                        for j in range(size):
                            number = order[first + run + j]
                            if number >= 0 and (u[j] <= reach or u[j] <= columns[j]):
                                if count < i_found.size:
                                    i_found[count] = block + r
                                    j_found[count] = number
                                count += 1
    return count

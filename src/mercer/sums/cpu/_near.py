"""The nearest rows, and pairs of rows within reach, by the tiles of the compiled sums.

Exact, by differences.  Rows are put in an order in which neighbours lie beside each other and cut
into cells, so that cells that are too far away are never looked at; where the features are many
and independent none is, and all n·m pairs are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.sums.cpu._loops import pack_columns
from mercer.sums.cpu._near_loops import CELL, collect_pairs, keep_nearest
from mercer.sums.cpu._run import row_tasks
from mercer.sums.cpu._simd import PANEL_BYTES
from mercer.sums.cpu._threads import run_all

Indices = NDArray[np.intp]
FloatArray = NDArray[np.float64]

_ROUNDING = 1e-9  # Reaches are larger by this share, so that rounding leaves no pair out.


def search_nearest(X: FloatArray, Y: FloatArray | None, k: int) -> Indices:
    """Return (n, k) numbers of the nearest rows of Y, or of the other rows of X.

    They come in no order; of rows as near as each other, those of smaller numbers are taken.
    Squares of differences must be in the range of floating point.
    """
    n = len(X)
    columns = _Columns.of(X if Y is None else Y)
    order = columns.order[: len(columns.Y)] if Y is None else _spatial_order(X)
    own = np.arange(n) if Y is None else np.full(n, -1)
    rows = np.ascontiguousarray(X[order])
    squares, numbers = np.full(n * k, np.inf), np.full(n * k, np.iinfo(np.int64).max)

    def search(first: int, last: int) -> None:
        keep_nearest(rows, first, last, *columns.arguments(), own, k, squares, numbers)

    run_all(search, row_tasks(n, len(columns.Y)))
    found = np.empty((n, k), np.intp)
    found[order] = numbers.reshape(n, k)
    return found


def search_in_reach(
    X: FloatArray, Y: FloatArray, reach_X: FloatArray, reach_Y: FloatArray
) -> tuple[Indices, Indices]:
    """Return the pairs (row of X, row of Y) of which either is in the other's squared reach.

    They are sorted, and a pair that is beyond by rounding may be among them.
    """
    columns, order = _Columns.of(Y), _spatial_order(X)
    rows = np.ascontiguousarray(X[order])
    of_rows = reach_X[order] * (1 + _ROUNDING)
    of_columns = np.full(len(columns.order), -np.inf)
    of_columns[: len(Y)] = reach_Y[columns.order[: len(Y)]] * (1 + _ROUNDING)
    of_cells = np.maximum.reduceat(of_columns, np.arange(0, len(of_columns), CELL))
    parts: dict[int, tuple[Indices, Indices]] = {}

    def search(first: int, last: int) -> None:
        room = 32 * (last - first)
        while True:
            i, j = np.empty(room, np.intp), np.empty(room, np.intp)
            count = collect_pairs(
                rows, first, last, *columns.arguments(), of_rows, of_columns, of_cells, i, j
            )
            if count <= room:
                break
            room = count  # There were more pairs than room, and now their number is known.
        parts[first] = order[i[:count]], j[:count].copy()

    run_all(search, row_tasks(len(X), len(Y)))
    i, j = (np.concatenate(part) for part in zip(*parts.values(), strict=True))
    sorted_pairs = np.lexsort((j, i))
    return i[sorted_pairs], j[sorted_pairs]


@dataclass(frozen=True)
class _Columns:
    """Rows of Y in spatial order, packed for the compiled loops, and the boxes of their cells.

    `order` is −1 where a column only fills up a panel.
    """

    Y: FloatArray
    order: Indices
    panels: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, Y: FloatArray) -> "_Columns":
        order = _spatial_order(Y)
        rows = Y[order]
        starts = np.arange(0, len(Y), CELL)
        low, high = (side.reduceat(rows, starts, axis=0) for side in (np.minimum, np.maximum))
        fill = -len(Y) % (PANEL_BYTES // Y.itemsize)
        order = np.concatenate([order, np.full(fill, -1)])
        rows = np.ascontiguousarray(Y[np.maximum(order, 0)])
        panels = np.empty(rows.size)
        pack_columns(rows, order >= 0, 1.0, np.zeros(Y.shape[1]), False, panels)
        return cls(Y, order, panels, low, high)

    def arguments(self) -> tuple[Any, ...]:
        """Return what the compiled loops must know of the columns, in their order."""
        return self.panels, len(self.order), self.order, self.low, self.high


def _spatial_order(X: FloatArray) -> Indices:
    """Return an order in which every CELL rows are neighbours: halves along the widest column."""
    order = np.arange(len(X))
    ranges = [(0, len(X))]
    while ranges:
        start, stop = ranges.pop()
        n_cells = -(-(stop - start) // CELL)
        if n_cells < 2:
            continue
        inside = X[order[start:stop]]
        widest = int(np.ptp(inside, axis=0).argmax())
        half = n_cells // 2 * CELL
        order[start:stop] = order[start:stop][np.argpartition(inside[:, widest], half)]
        ranges += [(start, start + half), (start + half, stop)]
    return order

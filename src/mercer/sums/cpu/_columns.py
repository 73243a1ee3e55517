"""The columns of a sum on the CPU: the order of summation, filled up and packed for vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._memory import row_slabs
from mercer.sums._geometry import Geometry
from mercer.sums._problem import Problem
from mercer.sums.cpu._simd import PANEL_BYTES
from mercer.sums.cpu._tiles import pack_columns


@dataclass(frozen=True)
class Columns:
    """Where each row of Y stands in the sum.

    Parameters
    ----------
    order : array of shape (columns,)
        Rows of Y; −1 where a column only fills up.
    bounds : array of shape (segments + 1,)
        The segments, filled up.
    weights : array of shape (1 or c, columns)
    own : array of shape (n,)
        The column at which row i of X meets itself, or −1.
    """

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]
    weights: NDArray[Any]
    own: NDArray[np.int64]


def lay_out_columns(problem: Problem) -> Columns:
    """Lay out the columns so that runs are whole vectors.

    Every segment is filled up, unless there are so many small ones that this would cost more
    than it saves; then only the last one is.
    """
    dtype = problem.X.dtype
    width = PANEL_BYTES // dtype.itemsize
    bounds = np.array(problem.bounds)
    lengths = np.diff(bounds)
    filled = lengths.copy()
    if problem.n_columns >= 8 * width * lengths.size:
        filled = -(-lengths // width) * width
    filled[-1] += -filled.sum() % width
    starts = np.concatenate([[0], np.cumsum(filled)])

    place = np.arange(problem.n_columns) + np.repeat(starts[:-1] - bounds[:-1], lengths)
    order = np.full(starts[-1], -1)
    order[place] = np.arange(problem.n_columns) if problem.order is None else problem.order
    n_weights = problem.n_outputs if problem.weights_are_columns else 1
    weights = np.zeros((n_weights, order.size), dtype)
    weights[:, place] = 1 if problem.weights is None else problem.weights.T
    own = np.full(problem.X.shape[0], -1)
    if problem.self_sum:
        own[order[place]] = place
    return Columns(order, starts, weights, own)


@dataclass(frozen=True)
class Slab:
    """A packed range of columns, counted from `start`."""

    start: int
    n_columns: int
    panels: NDArray[Any]
    weights: NDArray[Any]  # (1 or c, n_columns), flat
    bounds: NDArray[np.int64]


def pack_slabs(
    columns: Columns, Y: NDArray[Any], geometry: Geometry, budget: int
) -> Iterator[Slab]:
    """Pack the columns, as many at a time as the budget holds."""
    width = PANEL_BYTES // Y.itemsize
    product = geometry.centre is not None
    centre = np.zeros(Y.shape[1], Y.dtype) if geometry.centre is None else geometry.centre
    k = Y.shape[1] + product
    bytes_per_panel = (Y.shape[1] + k) * width * Y.itemsize  # gathered and packed
    for first, last in row_slabs(columns.order.size // width, bytes_per_panel, budget):
        start, stop = first * width, last * width
        order = columns.order[start:stop]
        panels = np.empty(order.size * k, Y.dtype)
        rows = np.ascontiguousarray(Y[np.maximum(order, 0)])
        pack_columns(rows, order >= 0, Y.dtype.type(geometry.scale), centre, product, panels)
        bounds = np.clip(columns.bounds - start, 0, order.size)
        weights = np.ascontiguousarray(columns.weights[:, start:stop]).reshape(-1)
        yield Slab(start, order.size, panels, weights, bounds)

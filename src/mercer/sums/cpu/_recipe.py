"""What the compiled loops are called with: the recipe of a sum, its columns, and tasks of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._memory import row_slabs
from mercer.kernels import KERNELS, Kernel
from mercer.sums._geometry import Geometry, climb
from mercer.sums._problem import Problem
from mercer.sums.cpu._loops import CAUCHY, EPANECHNIKOV, EXPONENTIAL
from mercer.sums.cpu._simd import PANEL_BYTES
from mercer.sums.cpu._threads import thread_count
from mercer.sums.cpu._tiles import pack_columns

PAIRS_PER_TASK = 10**8  # some tenths of a second: Ctrl-C is heard between tasks
_PAIRS_WORTH_A_TASK = 10**6
_FORMS = {"cauchy": CAUCHY, "epanechnikov": EPANECHNIKOV}  # of kernels that are no exponentials


def compiled_form(kernel: Kernel) -> int | None:
    """Return how the loops compute a kernel, or None where they do not know it.

    An exponential is told by its coefficient and power alone, whoever wrote it.
    """
    if kernel.is_exponential:
        return EXPONENTIAL
    return _FORMS.get(kernel.name) if KERNELS.get(kernel.name) == kernel else None


@dataclass(frozen=True)
class Recipe:
    """What the compiled loops must know besides arrays, in the order in which they take it."""

    scale: Any
    centre: NDArray[Any]
    product: bool
    kind: int | None
    root: bool
    coefficients: NDArray[Any]
    rungs: NDArray[np.int64]
    own_value: Any

    @classmethod
    def of(cls, problem: Problem, geometry: Geometry) -> "Recipe":
        """Write down the problem's geometry and ladder."""
        dtype = problem.X.dtype
        finfo = np.finfo(dtype)
        steps = climb(problem.kernel, geometry.bandwidths, float(finfo.eps))
        centre = geometry.centre
        return cls(
            scale=dtype.type(geometry.scale),
            centre=np.zeros(problem.X.shape[1], dtype) if centre is None else centre,
            product=centre is not None,
            kind=compiled_form(problem.kernel),
            root=problem.kernel.bandwidth_power == 1,
            coefficients=np.array([min(c, finfo.max / 2**10) for c, _ in steps], dtype),
            rungs=np.array([rungs for _, rungs in steps]),
            own_value=dtype.type(np.inf if problem.exclude_self else 0),
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return the fields in their order."""
        return tuple(vars(self).values())


def log_totals(
    problem: Problem,
    geometry: Geometry,
    nearest: NDArray[np.float64] | None,
    totals: NDArray[np.float64],
) -> None:
    """Take logarithms of (rows, outputs, rungs), in place, adding that of the common factor."""
    with np.errstate(divide="ignore"):  # log 0 = −inf is the answer
        np.log(totals, out=totals)
    if nearest is not None:
        coefficients = np.array([problem.kernel.coefficient(b) for b in geometry.bandwidths])
        totals -= nearest[:, :, None] * coefficients


def row_tasks(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Cut the rows into tasks: enough for all threads, none too small or too long."""
    shared = -(-n_rows // (4 * thread_count()))
    least, most = (pairs // max(1, n_columns) for pairs in (_PAIRS_WORTH_A_TASK, PAIRS_PER_TASK))
    step = max(96, least, min(shared, most))
    return row_slabs(n_rows, 1, step)


def plain(X: NDArray[Any]) -> NDArray[Any]:
    """Return X as the loops are compiled for: in rows, writeable; a copy only if it is not."""
    return np.require(X, requirements=["C", "A", "W"])


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

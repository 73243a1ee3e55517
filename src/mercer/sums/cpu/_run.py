"""The backend of NumPy arrays: compiled tiles on all cores.

Cost: n·m·(d + about 12) multiply-adds, half of that for a sum of X with itself.  Memory:
packed columns and the sums of the rows at work, within scikit-learn's ``working_memory``.

A problem becomes a recipe (what the compiled loops must know besides arrays), columns that are laid
out and packed in slabs, and tasks of rows for a pool of threads.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer._memory import row_slabs, thread_count, working_memory
from mercer.kernels import KERNELS, Kernel
from mercer.sums._geometry import Geometry, choose_geometry, climb
from mercer.sums._problem import Problem
from mercer.sums.cpu import _loops
from mercer.sums.cpu._left_out_loops import absorb_left_out
from mercer.sums.cpu._loops import CAUCHY, EPANECHNIKOV, EXPONENTIAL, pack_columns
from mercer.sums.cpu._simd import PANEL_BYTES
from mercer.sums.cpu._threads import run_all

# A task of this many pairs takes some tenths of a second; Ctrl-C takes effect between tasks.
PAIRS_PER_TASK = 10**8
# A task of fewer pairs would cost more than it saves.
_PAIRS_WORTH_A_TASK = 10**6
# The compiled forms of kernels that are not exponentials.
_FORMS = {"cauchy": CAUCHY, "epanechnikov": EPANECHNIKOV}


def compiled_form(kernel: Kernel) -> int | None:
    """Return the form by which the loops compute a kernel, or None if they do not know it.

    Any exponential is known, also a user's: its coefficient and power say all.
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
    absolute: bool
    root: bool
    coefficients: NDArray[Any]
    rungs: NDArray[np.int64]
    own_value: Any

    @classmethod
    def of(cls, problem: Problem, geometry: Geometry) -> "Recipe":
        """Return the recipe of a problem in this geometry."""
        dtype = problem.X.dtype
        finfo = np.finfo(dtype)
        steps = climb(problem.kernel, geometry.bandwidths, float(finfo.eps))
        centre = geometry.centre
        return cls(
            scale=dtype.type(geometry.scale),
            centre=np.zeros(problem.X.shape[1], dtype) if centre is None else centre,
            product=centre is not None,
            kind=compiled_form(problem.kernel),
            absolute=problem.kernel.metric == "cityblock",
            root=problem.kernel.metric == "euclidean" and problem.kernel.bandwidth_power == 1,
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
    with np.errstate(divide="ignore"):  # log 0 is −inf.
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
    """Return X in rows and writeable, as the loops are compiled for; a copy only if it is not."""
    return np.require(X, requirements=["C", "A", "W"])


@dataclass(frozen=True)
class Columns:
    """The columns of a sum: which row of Y each of them is.

    Parameters
    ----------
    order : array of shape (columns,)
        Rows of Y; −1 where a column only fills up a vector.
    bounds : array of shape (segments + 1,)
        The segments, filled up.
    weights : array of shape (1 or c, columns)
    own : array of shape (n,)
        The column that is row i of X itself, or −1.
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


OWNS = ("numpy",)
_BLOCK = 512  # The smallest block of a symmetric sum has this many rows, a multiple of panels.
_BLOCKS = 48  # A large symmetric sum is cut into this many blocks of rows.


def refuses(problem: Problem) -> str | None:
    """Return why this backend cannot compute the problem, or None if it can."""
    if problem.method == "fast":
        return "use method='direct'"
    if compiled_form(problem.kernel) is None:
        return (
            f"kernel {problem.kernel.name!r} is not compiled for NumPy arrays; use one of "
            f"{', '.join(map(repr, KERNELS))}, or torch tensors"
        )
    return None


def run(problem: Problem) -> Any:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs)."""
    if problem.is_left_out:
        return compiled_left_out_sums(problem)
    geometry = choose_geometry(problem)
    out = np.empty((len(problem.bandwidths), problem.X.shape[0], problem.n_outputs))
    if _is_symmetric(problem):
        _symmetric_sums(problem, geometry, out)
    else:
        _sums(problem, geometry, lay_out_columns(problem), out)
    return out


def run_some(problem: Problem, own: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of a problem with one segment at rows that need not be those of Y.

    `own` is the column of each row of X in the order of summation, or −1.
    """
    out = np.empty((len(problem.bandwidths), problem.X.shape[0], problem.n_outputs))
    columns = replace(lay_out_columns(problem), own=own)
    _sums(problem, choose_geometry(problem), columns, out)
    return out


def _sums(problem: Problem, geometry: Geometry, columns: Columns, out: NDArray[np.float64]) -> None:
    relative = problem.log and problem.kernel.is_exponential
    n_rungs, n_rows, n_outputs = out.shape
    bytes_per_row = 8 * n_outputs * (n_rungs + 1) + problem.X[:1].nbytes
    for start, stop in row_slabs(n_rows, bytes_per_row, working_memory() // 4):
        nearest, totals = _absorb_rows(problem, geometry, columns, start, stop, relative)
        if problem.log:
            log_totals(problem, geometry, nearest if relative else None, totals)
        out[:, start:stop] = np.moveaxis(totals, 2, 0)


def _absorb_rows(
    problem: Problem, geometry: Geometry, columns: Columns, start: int, stop: int, relative: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (rows, segments) nearest distances and (rows, outputs, rungs) sums of a slab."""
    X = plain(problem.X[start:stop])
    recipe = Recipe.of(problem, geometry).arguments()
    nearest = np.full((stop - start, len(problem.bounds) - 1), np.inf)
    totals = np.zeros((stop - start, problem.n_outputs, len(problem.bandwidths)))

    def absorb(slab: Slab, own: NDArray[np.int64], first: int, last: int) -> None:
        _loops.absorb(
            X, first, last, slab.panels, slab.weights, slab.n_columns, slab.bounds, own,
            *recipe, relative, nearest.reshape(-1), totals.reshape(-1),
        )  # fmt: skip

    for slab in pack_slabs(columns, problem.Y, geometry, working_memory() // 4):
        own = columns.own[start:stop] - slab.start
        run_all(partial(absorb, slab, own), row_tasks(stop - start, slab.n_columns))
    return nearest, totals


def _is_symmetric(problem: Problem) -> bool:
    """Tell whether each pair can serve both its rows: one sum over X itself, in its own order.

    A logarithm can be taken afterwards if the row's own term keeps its sum from underflowing.
    """
    return (
        problem.self_sum
        and problem.order is None
        and problem.n_outputs == len(problem.bandwidths) == 1
        and problem.X.shape[0] >= 2 * _BLOCK
        and not (problem.log and problem.exclude_self)
        and 2 * problem.X.nbytes <= working_memory() // 4
    )


def _symmetric_sums(problem: Problem, geometry: Geometry, out: NDArray[np.float64]) -> None:
    """Sum each pair of blocks once, in rounds in which no two tasks share a block.

    In round p block I meets block J = p − I (modulo their number): every pair meets once, tasks
    of a round write to different rows, and the order of additions does not depend on threads.
    """
    n = problem.X.shape[0]
    X = plain(problem.X)
    recipe = Recipe.of(problem, geometry).arguments()
    columns = lay_out_columns(problem)
    (slab,) = pack_slabs(columns, X, geometry, working_memory())
    totals = np.zeros(n)

    def absorb(pairs: NDArray[np.int64], first: int, last: int) -> None:
        _loops.absorb_blocks(
            X, pairs, first, last, slab.panels, slab.weights, columns.own, *recipe, totals
        )

    block = _BLOCK * max(1, round(n / (_BLOCK * _BLOCKS)))
    starts = np.arange(0, n, block)
    row_stops = np.minimum(starts + block, n)
    column_stops = np.minimum(starts + block, slab.n_columns)
    for p in range(starts.size):
        i = np.arange(starts.size)
        j = (p - i) % starts.size
        i, j = i[i <= j], j[i <= j]
        pairs = np.stack([starts[i], row_stops[i], starts[j], column_stops[j]], axis=1)
        share = max(1, min(-(-len(pairs) // thread_count()), PAIRS_PER_TASK // block**2))
        run_all(partial(absorb, pairs), row_slabs(len(pairs), 1, share))
    out[0, :, 0] = np.log(totals) if problem.log else totals


def compiled_left_out_sums(
    problem: Problem,
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the logarithms and the drifts, (b, rows, segments) each."""
    geometry = choose_geometry(problem)
    columns = lay_out_columns(problem)
    rows = slice(None) if problem.rows is None else problem.rows
    removal = problem.removal
    recipe = Recipe.of(problem, geometry).arguments()
    relative = problem.kernel.is_exponential
    X = plain(problem.X[rows])
    dtype = X.dtype
    n_rungs, n_segments = len(problem.bandwidths), len(problem.bounds) - 1
    shape = (X.shape[0], n_segments, n_rungs)
    nearest = np.full(shape[:2], np.inf)
    totals = np.zeros(shape)
    drifts = np.zeros(shape if removal else (0,))
    order = columns.order

    def by_column(values: Array, slab: Slab, fill: float = 0.0) -> Array:
        """Lay out (b, n) numbers as the loops take them, flat; `fill` in columns without a row."""
        part = order[slab.start : slab.start + slab.n_columns]
        laid = np.where(part >= 0, np.asarray(values)[:, np.maximum(part, 0)], fill)
        return np.ascontiguousarray(laid, dtype).reshape(-1)

    for slab in pack_slabs(columns, problem.Y, geometry, working_memory() // 4):
        empty = np.empty(0, dtype)
        W, inverse, least, q = by_column(problem.rung_weights, slab), empty, empty, empty
        removed, squared, highest = np.zeros(X.shape[0]), False, np.zeros(n_rungs)
        if removal is not None:
            inverse = by_column(1 / removal.densities, slab)
            highest = (1 / removal.densities).max(axis=1)
            least = by_column(removal.least / removal.densities, slab, fill=1.0)
            q = by_column(removal.drift_weights, slab)
            removed = np.asarray(removal.amount, dtype=float)[rows]
            squared = removal.squared
        own = columns.own[rows] - slab.start

        def absorb(
            slab: Slab, own: Array, first: int, last: int, *, data: tuple[Array, ...]
        ) -> None:
            absorb_left_out(
                X, first, last, slab.panels, slab.n_columns, slab.bounds, own, *recipe,
                relative, *data, nearest.reshape(-1), totals.reshape(-1), drifts.reshape(-1),
            )  # fmt: skip

        data = (W, removed, squared, inverse, highest, least, q)
        run_all(partial(absorb, slab, own, data=data), row_tasks(X.shape[0], slab.n_columns))

    log_totals(problem, geometry, nearest if relative else None, totals)
    out = np.ascontiguousarray(np.moveaxis(totals, 2, 0))
    return out, np.ascontiguousarray(np.moveaxis(drifts, 2, 0)) if removal else None

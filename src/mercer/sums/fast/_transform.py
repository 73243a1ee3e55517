"""Gaussian sums by finufft: weights to frequencies (type 1), the spectrum, to points (type 2).

A transform is complex and a sum is real, so that each transform carries two sums: two groups
or columns, or a signed sum and that of its absolute terms, which its error is relative to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._memory import row_slabs, thread_count, working_memory
from mercer.sums._problem import Problem
from mercer.sums.fast._grid import Grid, GridBox

_OVERSAMPLING = 2  # finufft's own grid is this many times as fine along each axis.
_WORTH_A_THREAD = 2**15  # A thread is worth starting for this many points and frequencies.
# At least this many rows are transformed at once, as each time the whole grid is transformed too.
_LEAST_ROWS = 2**16


@dataclass(frozen=True)
class Pair:
    """The sums that one complex transform carries.

    Parameters
    ----------
    first, second : int or None
        Outputs.  The second is None if there is no other output, or if `signed`.
    signed : bool
        Whether the second sum is that of the absolute terms of the first.
    """

    first: int
    second: int | None
    signed: bool


def pair_up(problem: Problem) -> list[Pair]:
    """Put the outputs that have terms into pairs."""
    lengths = np.diff(problem.bounds)
    filled = [o for o in range(problem.n_outputs) if problem.weights_are_columns or lengths[o] > 0]
    if problem.weights is not None and not problem.log and bool((problem.weights < 0).any()):
        return [Pair(o, None, True) for o in filled]
    seconds = [*filled[1::2], None] if len(filled) % 2 else filled[1::2]
    return [Pair(a, b, False) for a, b in zip(filled[::2], seconds, strict=True)]


def fits(grid: Grid, bandwidth: float) -> bool:
    """Tell whether the frequencies that Gaussians of this width need fit the memory budget."""
    return _grid_bytes(grid.n_modes(bandwidth), grid.period.size) <= working_memory()


def _grid_bytes(n_modes: float, n_features: int) -> float:
    """Return the bytes of three sets of frequencies and of finufft's own grid."""
    return float(16 * n_modes * (3 + _OVERSAMPLING**n_features))


def forward(
    problem: Problem,
    pair: Pair,
    box: GridBox,
    grid: Grid,
    bandwidths: tuple[float, ...],
    scales: Any,
    eps: float,
) -> NDArray[np.complex128]:
    """Return the frequencies of a pair of sums that Gaussians of these widths need.

    The widest comes first.  Weights are multiplied by `scales`, one for each output.
    """
    from finufft import Plan

    modes = grid.modes(bandwidths[-1])
    n_points = problem.n_columns
    plan = Plan(1, modes, eps=eps, isign=-1, nthreads=_threads(n_points + prod(modes)))
    total = np.zeros(modes, np.complex128)
    for rows, weights in sources(problem, pair, scales, rows_at_once(problem, total.size)):
        Y = problem.Y[rows]
        near = box.holds(Y, grid.reach * bandwidths[0])
        if weights[near].size:
            plan.setpts(*grid.phases(Y[near]))
            total += plan.execute(weights[near])
    return total


def backward(
    problem: Problem,
    frequencies: NDArray[np.complex128],
    box: GridBox,
    grid: Grid,
    bandwidth: float,
    eps: float,
) -> Iterator[tuple[slice, NDArray[np.complex128]]]:
    """Yield ranges of rows of X and their pairs of sums, which are NaN outside of the box."""
    from finufft import Plan

    modes = grid.modes(bandwidth)
    middle = tuple(
        slice(have // 2 - want // 2, have // 2 - want // 2 + want)
        for have, want in zip(frequencies.shape, modes, strict=True)
    )
    spectrum = reduce(np.multiply.outer, grid.spectrum(bandwidth))
    product = frequencies[middle] * spectrum
    n_points = problem.X.shape[0]
    plan = Plan(2, modes, eps=eps, isign=1, nthreads=_threads(n_points + prod(modes)))
    step = rows_at_once(problem, frequencies.size)
    for start, stop in row_slabs(problem.X.shape[0], 1, step):
        X = problem.X[start:stop]
        inside = box.holds(X)
        values = np.full(stop - start, complex(np.nan, np.nan))
        if values[inside].size:
            plan.setpts(*grid.phases(X[inside]))
            values[inside] = plan.execute(product)
        yield slice(start, stop), values


def _threads(size: int) -> int:
    """Return the number of threads for this many points and frequencies."""
    return max(1, min(thread_count(), size // _WORTH_A_THREAD))


def rows_at_once(problem: Problem, n_modes: int) -> int:
    d = problem.X.shape[1]
    free = working_memory() - _grid_bytes(n_modes, d)
    # A row takes these bytes: its phases, its values and finufft's order.
    return max(_LEAST_ROWS, int(free // (8 * d + 48)))


def sources(
    problem: Problem, pair: Pair, scales: Any, step: int
) -> Iterator[tuple[Any, NDArray[np.complex128]]]:
    """Yield rows of Y and their complex weights."""
    W = problem.weights
    outputs = (pair.first,) if pair.second is None else (pair.first, pair.second)
    if W is not None and W.ndim == 2:
        for start, stop in row_slabs(problem.n_columns, 1, step):
            c = np.zeros(stop - start, np.complex128)
            c.real = W[start:stop, pair.first] * scales[pair.first]
            if pair.second is not None:
                c.imag = W[start:stop, pair.second] * scales[pair.second]
            elif pair.signed:
                c.imag = np.abs(c.real)
            yield _rows(problem, start, stop), c
        return
    for part, output in zip(("real", "imag"), outputs, strict=False):
        low, high = problem.bounds[output], problem.bounds[output + 1]
        for start, stop in row_slabs(high - low, 1, step):
            first, last = low + start, low + stop
            c = np.zeros(last - first, np.complex128)
            w = scales[output] * (np.ones(last - first) if W is None else W[first:last])
            setattr(c, part, w)
            if pair.signed:
                c.imag = np.abs(w)
            yield _rows(problem, first, last), c


def _rows(problem: Problem, start: int, stop: int) -> Any:
    return slice(start, stop) if problem.order is None else problem.order[start:stop]

"""Gaussian sums of one feature on a lattice, to 12 digits of the largest: binning, done exactly.

Eight neighbours share the weight of a point by polynomials of degree 7, sums on the lattice are a
convolution, and the same polynomials read them off.  With 32 points to a width the error of a
polynomial, 43/40320 · |f⁽⁸⁾| · 32⁻⁸ at most, is 1e-13 of the peak of a Gaussian.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from mercer._memory import row_slabs, thread_count, working_memory
from mercer.sums._problem import Problem
from mercer.sums.cpu._lattice_loops import gather, spread
from mercer.sums.cpu._threads import run_all
from mercer.sums.fast._grid import Grid, GridBox
from mercer.sums.fast._transform import Pair, rows_at_once, sources

EPS = 1e-12  # The error, relative to the largest sum, that the tests hold it to.
_TO_A_WIDTH = 32
_PAD = 8  # Points of the lattice beyond the ends.
_MOST_POINTS = 2**22
_WORTH_A_THREAD = 2**14


class Lattice:
    """Points at even distances over a box and what reaches into it.

    Parameters
    ----------
    box : GridBox
    grid : Grid
        Whose reach says where a Gaussian has fallen to nothing.
    bandwidths : tuple of float
        The widest and the narrowest Gaussian.
    """

    def __init__(self, box: GridBox, grid: Grid, bandwidths: tuple[float, float]) -> None:
        widest, narrowest = bandwidths
        self.box, self.reach, self.margin = box, grid.reach, grid.reach * widest
        self.per_unit = _TO_A_WIDTH / narrowest
        room = 0.0 if box.holds_all else self.margin
        self.low = float(box.low[0]) - room - _PAD / self.per_unit
        self.size = n_points(float(grid.period[0]), narrowest)

    def masses(
        self, problem: Problem, pair: Pair, scales: NDArray[np.float64]
    ) -> NDArray[np.complex128]:
        """Return the weights of a pair of sums, carried to the lattice."""
        total = np.zeros(self.size, np.complex128)
        for rows, weights in sources(problem, pair, scales, rows_at_once(problem, self.size)):
            Y = problem.Y[rows]
            near = self.box.holds(Y, self.margin)
            points, weights = np.ascontiguousarray(Y[near][:, 0]), weights[near]
            for part in ("real", "imag"):
                values = np.ascontiguousarray(getattr(weights, part))
                if values.any():
                    target = getattr(total, part)
                    target += self._spread(points, values)
        return total

    def sums(
        self, problem: Problem, masses: NDArray[np.complex128], bandwidth: float
    ) -> Iterator[tuple[slice, NDArray[np.complex128]]]:
        """Yield ranges of rows of X and their pairs of sums, which are NaN outside of the box."""
        parts = [self._convolved(part, bandwidth) for part in (masses.real, masses.imag)]
        for start, stop in row_slabs(problem.X.shape[0], 1, rows_at_once(problem, self.size)):
            X = problem.X[start:stop]
            inside = self.box.holds(X)
            points = np.ascontiguousarray(X[inside][:, 0])
            values = np.full(stop - start, complex(np.nan, np.nan))
            some = np.zeros(points.size, np.complex128)
            for name, part in zip(("real", "imag"), parts, strict=True):
                if part is not None:
                    setattr(some, name, self._gathered(points, part))
            values[inside] = some
            yield slice(start, stop), values

    def _spread(
        self, points: NDArray[np.floating], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        runs = _shares_of_threads(points.size)
        parts = np.zeros((len(runs), self.size))

        def task(k: int, first: int, last: int) -> None:
            spread(points, weights, first, last, self.low, self.per_unit, parts[k])

        run_all(task, [(k, *run) for k, run in enumerate(runs)])
        total: NDArray[np.float64] = parts.sum(axis=0)
        return total

    def _convolved(
        self, masses: NDArray[np.float64], bandwidth: float
    ) -> NDArray[np.float64] | None:
        """Return Σ mₐ k(g, gₐ) at the points of the lattice; None where all masses are 0."""
        if not masses.any():
            return None
        width = bandwidth * self.per_unit
        tail = min(ceil(self.reach * width), self.size - 1)
        size = next_fast_len(self.size + tail, real=True)
        kernel = np.zeros(size)
        kernel[: tail + 1] = np.exp(-0.5 * (np.arange(tail + 1) / width) ** 2)
        kernel[size - tail :] = kernel[tail:0:-1]
        found: NDArray[np.float64] = irfft(rfft(masses, size) * rfft(kernel), size)[: self.size]
        return found

    def _gathered(
        self, points: NDArray[np.floating], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty(points.size)

        def task(first: int, last: int) -> None:
            gather(points, first, last, self.low, self.per_unit, values, out)

        run_all(task, _shares_of_threads(points.size))
        return out


def n_points(period: float, narrowest: float) -> int:
    """Return how many points a lattice has over a period; the room of `_PAD` included."""
    return ceil(min(period / narrowest * _TO_A_WIDTH, 2.0**62)) + 2 * _PAD


def lattice_fits(period: float, narrowest: float) -> bool:
    """Tell whether a lattice is small enough, and fits the memory budget."""
    size = n_points(period, narrowest)
    return size <= _MOST_POINTS and 8 * size * (10 + thread_count()) <= working_memory()


def _shares_of_threads(n: int) -> list[tuple[int, int]]:
    """Cut points into a run for each thread that is worth starting."""
    count = max(1, min(thread_count(), n // _WORTH_A_THREAD))
    ends = [n * k // count for k in range(count + 1)]
    return list(pairwise(ends))

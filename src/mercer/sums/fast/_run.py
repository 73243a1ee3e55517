"""The backend of Gaussian sums within a tolerance: transforms, and direct sums where they fail.

The error of a transform is absolute, some eps of the largest sums.  It is measured at a sample of
rows, and all sums that are less than 1/tol times as large are added up directly, over the columns
that count there (`_near`).  So every sum is within its relative tolerance, however small it is.

Time grows with n + m and the number of frequencies, (extent/bandwidth)^d.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from array_api_compat import is_numpy_array
from numpy.typing import NDArray

from mercer._system.extras import how_to_install
from mercer.kernels import KERNELS
from mercer.sums._explain import SumPlan
from mercer.sums._problem import Problem
from mercer.sums.cpu import _run as _cpu
from mercer.sums.fast._grid import Grid, GridBox
from mercer.sums.fast._lattice import Lattice
from mercer.sums.fast._near import Output
from mercer.sums.fast._plan import (
    ROUNDING,
    SAFETY,
    Route,
    Sample,
    bundles,
    direct_seconds,
    is_by_lattice,
    outputs_of,
    plan_route,
)
from mercer.sums.fast._transform import Pair, backward, forward, pair_up

OWNS = ("numpy",)
_LOG = logging.getLogger("mercer.sums")
_MOST_FEATURES = 3
_LEAST_TOL = 1e-13
_SMALLEST = {1: 16, 2: 64, 3: 64}  # So many of the smallest sums are always added up directly.


def refuses(problem: Problem) -> str | None:
    """Return why this backend cannot compute the problem, or None if it can."""
    if problem.method == "direct" or (problem.method == "auto" and problem.tol is None):
        return ""  # The user asked for every term.
    if problem.tol is None:
        return "method='fast' needs tol, the relative error that is allowed"
    if problem.kernel != KERNELS["gaussian"]:
        return f"method='fast' is for the Gaussian kernel, not for {problem.kernel.name!r}"
    if problem.X.shape[1] > _MOST_FEATURES:
        return (
            f"method='fast' is for at most {_MOST_FEATURES} features, got {problem.X.shape[1]}; "
            "landmark_kernel_sum takes any number"
        )
    if problem.tol < _LEAST_TOL:
        return f"method='fast' is for tol of {_LEAST_TOL:g} and more, got {problem.tol:g}"
    if find_spec("finufft") is None:
        return f"method='fast' needs finufft: {how_to_install('fast')}"
    return None


def explain(problem: Problem) -> SumPlan:
    """Return how a problem would be computed."""
    is_numpy = is_numpy_array(problem.X)
    reason = refuses(problem) if is_numpy else "there are no transforms of such arrays"
    if reason is None:
        plan = plan_route(problem, outputs_of(problem)).plan
        if not (problem.method == "fast" and plan.method == "direct"):
            return plan
        reason = plan.reason
    if problem.method == "fast":
        if not reason.startswith("method="):
            reason = f"method='fast' cannot compute this sum: {reason}"
        raise ValueError(f"{reason}; use method='direct'.")
    seconds = direct_seconds(problem, len(problem.bandwidths)) if is_numpy else np.nan
    return SumPlan("direct", seconds, seconds, 0, 0.0, reason or "every term was asked for")


def run(problem: Problem) -> Any:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs)."""
    outputs = outputs_of(problem)
    route = plan_route(problem, outputs)
    _LOG.info("%d × %d pairs: %s", problem.X.shape[0], problem.n_columns, route.plan)
    if route.plan.method == "direct":
        if problem.method == "fast":
            raise ValueError(f"method='fast' cannot compute this sum: {route.plan.reason}.")
        return _cpu.run(replace(problem, method="direct"))
    identity = -np.inf if problem.log else 0.0
    out = np.full((len(problem.bandwidths), problem.X.shape[0], problem.n_outputs), identity)
    rungs = {way: [r for r, w in enumerate(route.ways) if w == way] for way in set(route.ways)}
    if directly := rungs.get("direct"):
        widths = tuple(problem.bandwidths[r] for r in directly)
        out[directly] = _cpu.run(replace(problem, bandwidths=widths, method="direct"))
    everywhere = np.arange(problem.X.shape[0])
    for rung in rungs.get("near", []):
        for output in outputs:
            if output.n_columns:
                tol = float(problem.tol or 0)
                out[rung, :, output.output] = output.near_sums(
                    everywhere, rung, tol, log=problem.log
                )
    if transformed := rungs.get("transform"):
        _Transforms(problem, outputs, route, out).run(transformed)
    return out


class _Transforms:
    """The transforms of some rungs of a problem; sums that are too small are added up directly."""

    def __init__(
        self, problem: Problem, outputs: list[Output], route: Route, out: NDArray[np.float64]
    ) -> None:
        assert route.sample is not None  # noqa: S101
        assert route.box is not None  # noqa: S101
        self.problem, self.outputs, self.route, self.out = problem, outputs, route, out
        self.box: GridBox = route.box
        self.sample: Sample = route.sample

    def run(self, rungs: list[int]) -> None:
        """Fill `out` at these rungs."""
        widths = self.problem.bandwidths
        for bundle in bundles(rungs, widths, self.box, self.route.reach):
            grid = Grid.around(self.box, widths[bundle[0]], self.route.reach)
            peaks = self.sample.peaks[:, bundle[-1]]
            scales = np.where(peaks > 0, 1 / np.where(peaks > 0, peaks, 1), 1.0)
            ends = widths[bundle[0]], widths[bundle[-1]]
            if is_by_lattice(self.problem.X.shape[1], self.route.eps):
                self._run_on_lattice(bundle, Lattice(self.box, grid, ends), scales)
                continue
            for pair in pair_up(self.problem):
                frequencies = forward(
                    self.problem, pair, self.box, grid, ends, scales, self.route.eps
                )
                for rung in bundle:
                    args = self.problem, frequencies, self.box, grid, widths[rung], self.route.eps
                    self._fill(pair, rung, backward(*args), scales)

    def _run_on_lattice(
        self, bundle: list[int], lattice: Lattice, scales: NDArray[np.float64]
    ) -> None:
        for pair in pair_up(self.problem):
            masses = lattice.masses(self.problem, pair, scales)
            for rung in bundle:
                sums = lattice.sums(self.problem, masses, self.problem.bandwidths[rung])
                self._fill(pair, rung, sums, scales)

    def _fill(
        self,
        pair: Pair,
        rung: int,
        sums: Iterator[tuple[slice, NDArray[np.complex128]]],
        scales: NDArray[np.float64],
    ) -> None:
        """Compute a pair of sums at one bandwidth, and redo those that are too small."""
        problem, first, second = self.problem, pair.first, pair.second
        sizes = np.empty(problem.X.shape[0]) if pair.signed else None
        for rows, values in sums:
            self.out[rung, rows, first] = values.real / scales[first]
            if second is not None:
                self.out[rung, rows, second] = values.imag / scales[second]
            if sizes is not None:
                sizes[rows] = values.imag / scales[first]
        for output in (first, second):
            if output is not None:
                self._redo_small_sums(rung, self.outputs[output], sizes)

    def _redo_small_sums(
        self, rung: int, output: Output, sizes: NDArray[np.float64] | None
    ) -> None:
        """Add up directly the sums that are not large against the error of the transform."""
        problem, o = self.problem, output.output
        tol = float(problem.tol or 0)
        values = self.out[rung, :, o]
        sizes = values if sizes is None else sizes
        if problem.exclude_self:
            terms = output.self_terms()
            values -= terms
            if sizes is not values:
                sizes -= np.abs(terms)
        truth, rows = self.sample.sums[o, rung], self.sample.rows
        least = ROUNDING / SAFETY * float(self.sample.peaks[o, rung])
        error = max(least, _largest(values[rows] - truth))
        todo = np.flatnonzero(~(sizes >= SAFETY * error / tol))
        smallest = _SMALLEST[problem.X.shape[1]]
        if todo.size < smallest:  # They tell whether the sample has underestimated the error.
            last = min(smallest, sizes.size) - 1
            todo = np.union1d(todo, np.argpartition(sizes, last)[:smallest])
        redone, results = [np.empty(0, np.int64)], [np.empty(0)]
        while todo.size:
            exact = output.near_sums(todo, rung, tol / 8, log=problem.log)
            redone.append(todo)
            results.append(exact)
            seen = _largest(values[todo] - (np.exp(exact) if problem.log else exact))
            if seen <= SAFETY / 2 * error:
                break
            above = sizes >= SAFETY * error / tol
            error = seen  # The sample had underestimated it, so that larger sums are redone too.
            todo = np.flatnonzero(above & ~(sizes >= SAFETY * error / tol))
        if problem.log:
            with np.errstate(divide="ignore", invalid="ignore"):  # These are replaced below.
                np.log(values, out=values)
        values[np.concatenate(redone)] = np.concatenate(results)


def _largest(errors: NDArray[np.float64]) -> float:
    """Return the largest error where a transform gave a number."""
    return float(np.nanmax(np.abs(errors), initial=0.0))

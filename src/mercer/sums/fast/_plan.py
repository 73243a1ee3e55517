"""Predict what each way to compute a sum within a tolerance will cost.

The constants are core-seconds, from `python benchmarks/bench_fast.py calibrate`.  They need to be
right within a factor of two only: where two ways cost about the same, either will do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf, log, log10

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import itemsize
from mercer._memory import thread_count
from mercer.sums._explain import SumPlan
from mercer.sums._problem import Problem
from mercer.sums.fast._grid import Grid, GridBox, reach_of
from mercer.sums.fast._lattice import EPS, lattice_fits, n_points
from mercer.sums.fast._near import ROW_LEAF, Output, worth_a_tree
from mercer.sums.fast._transform import fits, pair_up

# By bytes of a number: seconds for one term of a direct sum of up to three features.
_PAIR = {4: 2.7e-10, 8: 6.5e-10}
# A further rung of a ladder takes this share of the time of the first.
_RUNG = 0.25
# Seconds for a point of a transform, and for each of the w^d grid points on which it is spread.
_POINT, _SPREAD = 1e-7, 5e-10
# Seconds for one point of finufft's grid, and for one of a lattice's.
_GRID, _LATTICE_GRID = 6e-8, 1e-7
# Seconds for a point that is carried to a lattice, or read off it, with what is arranged for that.
_LATTICE_POINT = 2e-8
# Seconds for a column in a tree, and for a leaf of rows.
_TREE, _LEAF = 7e-7, 1e-3
# The error of a transform may be this many times as large as at the rows of the sample.
SAFETY = 8
# A transform has at least this error, as a share of the largest sum.
ROUNDING = 5e-15
# Precisions of transforms, by the number of features; of one, the second is that of the lattice.
# Below three they all cost about the same, and the best leaves the fewest sums to add up directly.
_PRECISIONS = {1: (1e-14, EPS), 2: (1e-14,), 3: (1e-14, 1e-12, 1e-10, 1e-8, 1e-6)}
# Smaller boxes leave out these shares of the rows at either end of an axis.
_TRIMS = (0.001, 0.01, 0.05)
# Rows whose sums are computed for planning, and rows that tell quantiles.
# Of one feature the sample would take longer than the sums.
_SAMPLE, _LARGE_SAMPLE = {1: 32, 2: 256, 3: 256}, 2**14
# Sums that take fewer seconds than this are computed directly, without a plan.
_WORTH_PLANNING = 0.01


@dataclass(frozen=True)
class Sample:
    """Direct sums at a few rows of X: they tell the size of sums before, and errors after.

    Parameters
    ----------
    rows : array of int of shape (k,)
    sums, sizes : arrays of shape (outputs, bandwidths, k)
        Σ w k and Σ |w| k; the same where no weight is negative.
    """

    rows: NDArray[np.int64]
    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, problem: Problem, outputs: list[Output], signed: bool) -> "Sample":
        """Draw the same rows at every call, and compute their sums."""
        n, d = problem.X.shape
        rows = np.sort(np.random.default_rng(0).choice(n, min(n, _SAMPLE[d]), replace=False))
        every = slice(None)
        sums = np.stack([output.sums(rows, every, log=False) for output in outputs])
        if not signed:
            return cls(rows, sums, sums)
        sizes = [output.sums(rows, every, log=False, absolute=True) for output in outputs]
        return cls(rows, sums, np.stack(sizes))

    @property
    def peaks(self) -> NDArray[np.float64]:
        """The largest sizes: (outputs, bandwidths)."""
        peaks: NDArray[np.float64] = self.sizes.max(axis=2)
        return peaks


@dataclass(frozen=True)
class Route:
    """What is done at each bandwidth, and what was found out on the way.

    Parameters
    ----------
    plan : SumPlan
    ways : tuple of {"transform", "near", "direct"}
        One for each bandwidth.
    eps : float
        Precision of the transforms.
    reach : float
    box : GridBox or None
    sample : Sample or None
    """

    plan: SumPlan
    ways: tuple[str, ...] = ()
    eps: float = 0.0
    reach: float = 0.0
    box: GridBox | None = None
    sample: Sample | None = None


def is_by_lattice(n_features: int, eps: float) -> bool:
    """Tell whether transforms of this precision are convolutions on a lattice."""
    return n_features == 1 and eps == EPS


def outputs_of(problem: Problem) -> list[Output]:
    """Return the outputs of a problem; each keeps its tree and weights once they are made."""
    return [Output(problem, o) for o in range(problem.n_outputs)]


def plan_route(problem: Problem, outputs: list[Output]) -> Route:
    """Choose a way for each bandwidth: the quickest, or the quickest that is not direct."""
    direct = direct_seconds(problem, len(problem.bandwidths))
    may_be_direct = problem.method == "auto"
    if may_be_direct and direct < _WORTH_PLANNING:
        return _direct(direct, "the sum is small")
    assert problem.tol is not None  # noqa: S101
    pairs = pair_up(problem)
    signed = bool(pairs) and pairs[0].signed
    sample = Sample.of(problem, outputs, signed)
    box = _box(problem)
    if not np.isfinite(box.high - box.low).all():
        return _direct(direct, "coordinates are too large to take their range")
    near = _NearShares(problem, outputs, sample)
    choices = [
        _Costs(problem, outputs, sample, near, box, outside, eps, len(pairs))
        for box, outside in [(box, 0.0), *_trimmed(problem, box)]
        for eps in _PRECISIONS[problem.X.shape[1]]
        if eps == _PRECISIONS[1][0] or eps <= problem.tol / 100
    ]
    routes = [costs.route(direct, may_be_direct) for costs in choices]
    return min(routes, key=lambda route: route.plan.seconds)


def direct_seconds(problem: Problem, n_rungs: int) -> float:
    """Predict the time of adding up every term."""
    if n_rungs == 0:
        return 0.0
    pairs = float(problem.X.shape[0] * problem.n_columns)
    if problem.weights_are_columns:
        pairs *= 1 + 0.2 * (problem.n_outputs - 1)
    if problem.self_sum and problem.order is None and problem.n_outputs == n_rungs == 1:
        pairs *= 0.6
    return pairs * _PAIR[itemsize(problem.X)] * (1 + _RUNG * (n_rungs - 1)) / thread_count()


def bundles(
    rungs: list[int], bandwidths: tuple[float, ...], box: GridBox, reach: float
) -> list[list[int]]:
    """Cut rungs, widest first, into runs that share their forward transforms.

    A run has the period of its widest rung, which may at most double the modes of the others along
    an axis, and its modes must fit the memory budget.
    """
    runs: list[list[int]] = []
    for rung in rungs:
        if runs:
            shared, alone = (Grid.around(box, bandwidths[r], reach) for r in (runs[-1][0], rung))
            if (shared.period <= 2 * alone.period).all() and fits(shared, bandwidths[rung]):
                runs[-1].append(rung)
                continue
        runs.append([rung])
    return runs


def _direct(seconds: float, reason: str) -> Route:
    return Route(SumPlan("direct", seconds, seconds, 0, 0.0, reason))


def _box(problem: Problem) -> GridBox:
    arrays = [problem.X] if problem.self_sum else [problem.X, problem.Y]
    low = np.min([A.min(axis=0) for A in arrays], axis=0).astype(np.float64)
    high = np.max([A.max(axis=0) for A in arrays], axis=0).astype(np.float64)
    return GridBox(low, high)


def _trimmed(problem: Problem, box: GridBox) -> Iterator[tuple[GridBox, float]]:
    """Yield smaller boxes, and what share of rows of X is outside: for data with heavy tails."""
    step = max(1, problem.X.shape[0] // _LARGE_SAMPLE)
    rows = problem.X[::step].astype(np.float64)
    for trim in _TRIMS:
        low, high = np.quantile(rows, [trim, 1 - trim], axis=0)
        if (2 * (high - low) < box.high - box.low).any():
            smaller = GridBox(low, high, holds_all=False)
            yield smaller, 1 - float(np.mean(smaller.holds(rows)))


class _Costs:
    """Predicted seconds of every way at every bandwidth, for one precision of the transforms."""

    def __init__(
        self,
        problem: Problem,
        outputs: list[Output],
        sample: Sample,
        near: "_NearShares",
        box: GridBox,
        outside: float,
        eps: float,
        n_transforms: int,
    ) -> None:
        self.problem, self.outputs, self.sample, self.box = problem, outputs, sample, box
        self.near_shares, self.outside, self.eps = near, outside, eps
        # Terms that are left out may add up to an eighth of eps times the largest sum.
        totals = np.array([output.total or 1.0 for output in outputs])
        shares = sample.peaks / totals[:, None]
        self.reach = reach_of(eps / 8 * max(float(shares.min(initial=1.0)), 1e-8))
        self.threads, self.n_transforms = thread_count(), n_transforms
        self.redone = self._redone()
        self.transform = [self._transform(rung) for rung in range(len(problem.bandwidths))]
        self.near = [
            self._direct_seconds(np.ones(len(outputs)), rung)
            for rung in range(len(problem.bandwidths))
        ]

    def route(self, direct: float, may_be_direct: bool) -> Route:
        """Return the quickest way for each rung; rungs added up directly share one pass."""
        rungs = range(len(self.problem.bandwidths))
        best = [min(self.transform[r], self.near[r]) for r in rungs]
        by_cost = sorted(rungs, key=lambda r: best[r])
        totals = [
            sum(best[r] for r in by_cost[:k]) + direct_seconds(self.problem, len(rungs) - k)
            for k in range(len(rungs) + 1)
        ]
        k = int(np.argmin(totals)) if may_be_direct else len(rungs)
        ways = ["direct"] * len(rungs)
        for r in by_cost[:k]:
            ways[r] = "transform" if self.transform[r] <= self.near[r] else "near"
        if k == 0:
            return _direct(direct, "nothing within the tolerance would be quicker")
        transformed = [r for r in rungs if ways[r] == "transform"]
        modes = [self._n_modes(r) for r in transformed]
        redone = [
            1.0 if ways[r] == "near" else float(self.redone[:, r].mean()) for r in by_cost[:k]
        ]
        reason = "by transform" if transformed else "by neighbours, as the bandwidth is small"
        if k < len(rungs):
            reason += f", {len(rungs) - k} of {len(rungs)} bandwidths directly"
        n_modes = int(max(modes, default=0))
        plan = SumPlan("fast", float(totals[k]), direct, n_modes, float(np.mean(redone)), reason)
        return Route(plan, tuple(ways), self.eps, self.reach, self.box, self.sample)

    def _grid_of(self, rung: int) -> Grid:
        return Grid.around(self.box, self.problem.bandwidths[rung], self.reach)

    def _n_modes(self, rung: int) -> float:
        grid, bandwidth = self._grid_of(rung), self.problem.bandwidths[rung]
        if is_by_lattice(self.problem.X.shape[1], self.eps):
            return float(n_points(float(grid.period[0]), bandwidth))
        return grid.n_modes(bandwidth)

    def _redone(self) -> NDArray[np.float64]:
        """Return the share of rows with sums too small for a transform: (outputs, bandwidths)."""
        assert self.problem.tol is not None  # noqa: S101
        sizes, peaks = self.sample.sizes, self.sample.peaks
        floors = SAFETY * max(self.eps, ROUNDING) / self.problem.tol * peaks
        under = (sizes < floors[:, :, None]) | (peaks[:, :, None] == 0)
        # Where no row of the sample is under the floor, the share is taken to fall as the floor
        # lies below the smallest sum of the sample.
        smallest = np.maximum(sizes.min(axis=2), np.finfo(float).tiny)
        unseen = 0.5 / sizes.shape[2] * np.minimum(1, floors / smallest)
        shares: NDArray[np.float64] = np.maximum(under.mean(axis=2), unseen)
        shares = np.minimum(1, shares + self.outside)
        shares[[output.n_columns == 0 for output in self.outputs]] = 0
        return shares

    def _transform(self, rung: int) -> float:
        d, bandwidth = self.problem.X.shape[1], self.problem.bandwidths[rung]
        if is_by_lattice(d, self.eps):
            return self._lattice(rung)
        if not fits(self._grid_of(rung), bandwidth):
            return inf
        n_modes = self._grid_of(rung).n_modes(bandwidth)
        support = ceil(-log10(self.eps)) + 1
        point = _POINT + _SPREAD * support**d
        points = self.n_transforms * self.problem.X.shape[0]
        sources = self.problem.n_columns
        if self.problem.weights_are_columns:
            sources *= self.n_transforms
        grid = _GRID * 2**d * n_modes * 2 * self.n_transforms
        cost: float = (
            (points + sources / len(self.problem.bandwidths)) * point + grid
        ) / self.threads
        return cost + self._direct_seconds(self.redone[:, rung], rung)

    def _lattice(self, rung: int) -> float:
        grid, bandwidth = self._grid_of(rung), self.problem.bandwidths[rung]
        if not lattice_fits(float(grid.period[0]), bandwidth):
            return inf
        points = self.problem.X.shape[0] + self.problem.n_columns / len(self.problem.bandwidths)
        size = n_points(float(grid.period[0]), bandwidth)
        cost: float = _LATTICE_POINT * points / self.threads + _LATTICE_GRID * size
        return self.n_transforms * cost + self._direct_seconds(self.redone[:, rung], rung)

    def _direct_seconds(self, shares: NDArray[np.float64], rung: int) -> float:
        """Predict the time of direct sums at some share of rows of each output."""
        pair, seconds = _PAIR[8] / self.threads, 0.0
        for o, (output, share) in enumerate(zip(self.outputs, shares, strict=True)):
            rows = share * self.problem.X.shape[0]
            everything = rows * output.n_columns * pair
            if not worth_a_tree(rows, output.n_columns):
                seconds += everything
                continue
            near = 3 * self.near_shares(o, rung, share) * output.n_columns
            by_tree = _TREE * output.n_columns + rows * (near * pair + _LEAF / ROW_LEAF)
            seconds += min(everything + _TREE * output.n_columns, by_tree)
        return seconds


class _NearShares:
    """Estimates of the share of columns that count at the rows with the smallest sums."""

    def __init__(self, problem: Problem, outputs: list[Output], sample: Sample) -> None:
        self.problem, self.outputs, self.sample = problem, outputs, sample
        self.known: dict[tuple[int, int, int], float] = {}

    def __call__(self, o: int, rung: int, share: float) -> float:
        """Return the estimate for this share of the rows, from a few of them."""
        count = max(1, int(share * self.sample.rows.size))
        key = o, rung, count
        if key not in self.known:
            smallest = np.argsort(self.sample.sizes[o, rung])[:count]
            self.known[key] = self._estimate(
                o, rung, self.sample.rows[smallest[:: -(-count // 16)]]
            )
        return self.known[key]

    def _estimate(self, o: int, rung: int, rows: NDArray[np.int64]) -> float:
        assert self.problem.tol is not None  # noqa: S101
        output, bandwidth = self.outputs[o], self.problem.bandwidths[rung]
        step = max(1, output.n_columns // 4096)
        Y = self.problem.Y[output.rows_of_Y[::step]].astype(np.float64) / bandwidth
        X = self.problem.X[rows].astype(np.float64) / bandwidth
        d2 = ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2)
        if self.problem.exclude_self:
            d2[d2 == 0] = inf
        reach = d2.min(axis=1) + 2 * log(output.n_columns / self.problem.tol)
        return float((d2 <= reach[:, None]).mean())

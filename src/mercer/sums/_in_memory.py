"""Rows in memory: weights and groups become segments, and every pass is a problem of its own.

One pass serves all bandwidths within a range, and all groups; columns of weights that cannot
share a pass go one by one.  float32 rows too far apart for their bandwidths become float64.

Rows are sorted by group once, so that ten classes cost what one does.  Weights are divided by a
power of two for each segment (exact), and a group whose weights span more than the range in which
they can safely be multiplied with kernel values is cut into bands, each a segment of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import (
    Array,
    detached,
    itemsize,
    take_rows,
    times_powers_of_two,
    to_numpy,
)
from mercer.sums._problem import LOG_SUM, SUM, Box, ByGroup, Law, Middle, Problem, compute, law

OWNS = ("numpy", "torch", "cuda")
# By bytes of a number: the weights of a segment may span this many powers of two.
BAND = {4: 60, 8: 480}
# This number stands for the exponent of a zero weight.
ZERO = -(10**6)
# By bytes of a number: the largest ratio of bandwidths that one pass can serve.
_WIDEST_LADDER = {4: 2.0**20, 8: 2.0**200}
# float32 is enough while the coordinates are at most this many times the bandwidths,
_WIDEST_SPREAD = 2.0**40
# and while the bandwidths lie between these two.
_SINGLE_RANGE = (2.0**-100, 2.0**100)


@dataclass(frozen=True)
class Arrangement:
    """Order, scaled weights and bounds of a problem, and how its outputs become groups."""

    order: Array | None
    weights: Array | None
    bounds: tuple[int, ...]
    # The power of two that the weights of each output were divided by.
    exponents: NDArray[np.int64] | None = None
    # The group of each output, if a group has several outputs.
    groups: NDArray[np.int64] | None = None

    def restore(self, out: Array, law: Law) -> Array:
        """Multiply by the powers of two and merge bands: (b, n, outputs) to (b, n, groups)."""
        if self.exponents is not None and self.exponents.any():
            out = law.scale(out, self.exponents)
        if self.groups is None:
            return out
        merged: list[Array] = []
        for s, g in enumerate(self.groups):
            if g < len(merged):
                merged[g] = law.merge(merged[g], out[:, :, s])
            else:
                merged.append(out[:, :, s])
        return array_namespace(out).stack(merged, axis=2)


def arrange(
    n_rows: int,
    weights: Array | None,
    groups: Array | None,
    log: bool,
    weight_ends: tuple[float, float] | None = None,
    by_group: ByGroup | None = None,
) -> Arrangement:
    """Sort the rows by group and by band of weight.

    Zero weights have no logarithm: for logs their rows are left out.  The ends of the weights and
    the rows by group spare tensors a wait for their device, where they are known.
    """
    if weights is None and groups is None:
        return Arrangement(None, None, (0, n_rows))
    if is_torch_array(groups if weights is None else weights):
        from mercer.sums.torch._arrange import arrange_tensors

        return arrange_tensors(n_rows, weights, groups, log, weight_ends, by_group)
    exponent = np.zeros(n_rows, np.int64) if weights is None else _exponents(weights)
    band = 1 if weights is None else BAND[itemsize(weights)]
    least, most = (exponent.min(), exponent.max()) if n_rows else (ZERO, ZERO)
    if groups is None and least != ZERO and most - least < band:
        highest = np.array([most])  # All rows are one band, in their own order.
        return Arrangement(None, times_powers_of_two(weights, -highest), (0, n_rows), highest)
    group = np.zeros(n_rows, np.int64) if groups is None else groups
    n_groups = int(group.max()) + 1
    top = np.full(n_groups, ZERO)
    np.maximum.at(top, group, exponent)
    bands = np.where(exponent == ZERO, 0, (top[group] - exponent) // band)
    n_bands = int(bands.max()) + 1

    key = group * n_bands + bands
    order = np.argsort(key, kind="stable")
    if log:
        order = order[exponent[order] != ZERO]
    counts = np.bincount(key[order], minlength=n_groups * n_bands)
    # Every group has a segment for its heaviest rows, which may be empty; other bands only have a
    # segment if they have rows.
    segments = np.flatnonzero((np.arange(counts.size) % n_bands == 0) | (counts > 0))
    counts = counts[segments]
    segment_group, segment_band = np.divmod(segments, n_bands)
    is_natural = order.size == n_rows and bool((np.diff(order) == 1).all())

    exponents = None
    if weights is not None:
        highest = top[segment_group]
        exponents = np.where(highest == ZERO, 0, highest - segment_band * band)
        weights = weights if is_natural else take_rows(weights, order)
        weights = times_powers_of_two(weights, -np.repeat(exponents, counts))
    return Arrangement(
        order=None if is_natural else order,
        weights=weights,
        bounds=(0, *np.cumsum(counts).tolist()),
        exponents=exponents,
        groups=segment_group if n_bands > 1 else None,
    )


def scale_columns(weights: Array) -> Arrangement:
    """Scale each column of an (m, c) matrix of weights; all of them share the one segment."""
    top, _ = _column_exponents(weights)
    exponents = np.where(top == ZERO, 0, top)
    scaled = times_powers_of_two(weights, -exponents)
    return Arrangement(None, scaled, (0, weights.shape[0]), exponents)


def must_go_by_column(weights: Array, log: bool) -> bool:
    """Tell whether the columns of an (m, c) matrix of weights cannot share one pass.

    A column may span no more than a band; and for logs, which are taken relative to the
    nearest row, that row must count in every column.
    """
    if log and bool((weights == 0).any()):
        return True
    top, lowest = _column_exponents(weights)
    return bool((top - lowest > BAND[itemsize(weights)]).any())


def _column_exponents(weights: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the largest and the least binary exponent of each column's weights that are not zero.

    Tensors stay on their device: only these two numbers for each column come to the host.
    """
    xp = array_namespace(weights)
    sizes = xp.abs(detached(weights))
    least = xp.min(xp.where(sizes == 0, xp.inf, sizes), axis=0)
    top, lowest = _exponents(xp.stack([xp.max(sizes, axis=0), least]))
    return top, np.where(top == ZERO, ZERO, lowest)


def _exponents(weights: Array) -> NDArray[np.int64]:
    """Return the binary exponents of weights."""
    w = to_numpy(weights)
    return np.where(w == 0, ZERO, np.frexp(w)[1])


def refuses(problem: Problem) -> str | None:
    """Return "" for a problem in segments, which is for the backends that follow, else None."""
    return "" if problem.bounds else None


def run(problem: Problem) -> Any:
    """Return the sums as (bandwidths, rows of X, groups or columns), in float64."""
    if problem.is_left_out:
        return _left_out_sums(problem)
    xp, reduction = array_namespace(problem.X), law(problem.log)
    if problem.X.shape[0] == 0 or problem.Y.shape[0] == 0:
        shape = (len(problem.bandwidths), problem.X.shape[0], _count_outputs(problem))
        return xp.full(shape, reduction.identity, dtype=xp.float64, device=device(problem.X))
    results: list[Array] = [None] * len(problem.bandwidths)
    for rungs, parts in passes(problem):
        outputs = [arrangement.restore(compute(part), reduction) for arrangement, part in parts]
        sums = outputs[0] if len(outputs) == 1 else xp.concat(outputs, axis=2)
        for rung, i in enumerate(rungs):
            results[i] = sums[rung]
    out = results[0][None, ...] if len(results) == 1 else xp.stack(results)
    return with_all_groups(out, problem.n_groups, reduction.identity)


def passes(problem: Problem) -> Iterator[tuple[list[int], list[tuple[Arrangement, Problem]]]]:
    """Yield the bandwidths that one pass can serve, widest first, and the problems of that pass."""
    problem = _wide_enough(problem)
    arrangements = _arrangements(problem)
    bandwidths = problem.bandwidths
    widest_first = sorted(range(len(bandwidths)), key=lambda i: -bandwidths[i])
    while widest_first:
        narrowest = bandwidths[widest_first[0]] / _WIDEST_LADDER[itemsize(problem.X)]
        rungs = [i for i in widest_first if bandwidths[i] >= narrowest]
        widest_first = widest_first[len(rungs) :]
        widths = tuple(bandwidths[i] for i in rungs)
        yield rungs, [(a, _in_segments(problem, a, widths)) for a in arrangements]


def with_all_groups(out: Array, n_groups: int | None, identity: float) -> Array:
    """Return (…, n_groups) results: groups after the last one with rows get the identity."""
    xp = array_namespace(out)
    absent = 0 if n_groups is None else n_groups - out.shape[-1]
    if absent <= 0:
        return out
    shape = (*out.shape[:-1], absent)
    empty = xp.full(shape, identity, dtype=out.dtype, device=device(out))
    return xp.concat([out, empty], axis=-1)


def _left_out_sums(problem: Problem) -> tuple[Array, Array | None]:
    """Return the logarithms and the drifts, (b, rows, groups) each: one pass for all rungs."""
    problem = _wide_enough(problem)
    segments = arrange(problem.Y.shape[0], None, problem.groups, log=True)
    logs, drifts = compute(_in_segments(problem, segments, problem.bandwidths))
    if drifts is not None:
        drifts = with_all_groups(drifts, problem.n_groups, SUM.identity)
    return with_all_groups(logs, problem.n_groups, LOG_SUM.identity), drifts


def _in_segments(problem: Problem, segments: Arrangement, bandwidths: tuple[float, ...]) -> Problem:
    return replace(
        problem, order=segments.order, weights=segments.weights, bounds=segments.bounds,
        bandwidths=bandwidths, groups=None, n_groups=None, weight_ends=None, by_group=None,
    )  # fmt: skip


def _wide_enough(problem: Problem) -> Problem:
    """Return the problem with its box, in float64 where float32 is not enough."""
    X, Y, weights = problem.X, problem.Y, problem.weights
    box = problem.box
    if box is None:
        box, middle = _box_and_middle(problem)
        problem = replace(problem, box=box, middle=middle)
    # Left-out sums of other kernels are not taken relative to their largest term.
    is_bare = problem.is_left_out and not problem.kernel.is_exponential
    if itemsize(X) == 8 or not (is_bare or _exceeds_single(box.extent, problem.bandwidths)):
        return problem
    xp = array_namespace(X)
    X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
    weights = None if weights is None else xp.astype(weights, xp.float64)
    return replace(problem, X=X, Y=Y, weights=weights, middle=None)


def _box_and_middle(problem: Problem) -> tuple[Box, Middle | None]:
    """Return the box of all rows, and its middle where a CUDA device computes that."""
    rows = (problem.X,) if problem.self_sum else (problem.X, problem.Y)
    if not is_torch_array(problem.X):
        return Box.of(*rows), None
    from mercer.sums.torch._survey import survey

    seen = survey(rows, None, None)
    return seen.box, seen.middle


def _exceeds_single(farthest: float, bandwidths: tuple[float, ...]) -> bool:
    """Tell whether float32 numbers must be summed as float64."""
    least, most = min(bandwidths), max(bandwidths)
    in_range = _SINGLE_RANGE[0] < least and most < _SINGLE_RANGE[1]
    return not in_range or farthest > _WIDEST_SPREAD * least


def _arrangements(problem: Problem) -> list[Arrangement]:
    """Bring weights and groups to segments; columns that cannot share a pass, one by one."""
    n_rows, weights, log = problem.Y.shape[0], problem.weights, problem.log
    if weights is None or weights.ndim == 1:
        known = problem.weight_ends, problem.by_group
        arrangements = [arrange(n_rows, weights, problem.groups, log, *known)]
    elif not must_go_by_column(weights, log):
        arrangements = [scale_columns(weights)]
    else:
        arrangements = [arrange(n_rows, weights[:, c], None, log) for c in range(weights.shape[1])]
    if log and problem.kernel.is_exponential:  # Terms are relative to the largest kernel value.
        return arrangements
    return [_without_light_weights(arrangement, log) for arrangement in arrangements]


def _without_light_weights(arrangement: Arrangement, log: bool) -> Arrangement:
    """Scale weights, exactly, so that no term is smaller than its kernel value.

    Else a light row's term would vanish where it is all that a sum has: heavier rows may be too
    far away to count.
    """
    weights, exponents = arrangement.weights, arrangement.exponents
    if weights is None or exponents is None:
        return arrangement
    lift = BAND[itemsize(weights)]
    if log:  # The logarithm of the factor is rounded: it should be no larger than it must be.
        each = _exponents(weights)
        lift = -int(np.where(each == ZERO, 0, each).min(initial=0))
    heavier = times_powers_of_two(weights, np.array(lift))
    return replace(arrangement, weights=heavier, exponents=exponents - lift)


def _count_outputs(problem: Problem) -> int:
    """Return how many sums each row of X has, where there are no pairs."""
    if problem.n_groups is not None:
        return problem.n_groups
    if problem.groups is not None:
        return int(to_numpy(problem.groups).max(initial=-1)) + 1
    return int(problem.weights.shape[1]) if problem.weights_are_columns else 1  # type: ignore[union-attr]

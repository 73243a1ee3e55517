"""Rows in memory: weights and groups become segments, and every pass is a problem of its own.

One pass serves all bandwidths within a range, and all groups; columns of weights that can not share
a pass go one by one.  float32 rows that are too far apart for their bandwidths become float64.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace, device, is_numpy_array, is_torch_array

from mercer._arrays import Array, itemsize, to_numpy
from mercer.sums._arrange import Arrangement, arrange, must_go_by_column, scale_columns
from mercer.sums._box import Box
from mercer.sums._dispatch import compute
from mercer.sums._problem import Problem
from mercer.sums._reductions import LOG_SUM, SUM, law

_WIDEST_LADDER = {4: 2.0**20, 8: 2.0**200}  # ratio of bandwidths that one pass can serve
_WIDEST_SPREAD = 2.0**40  # of coordinates to bandwidths, above which float32 is not enough
_SINGLE_RANGE = (2.0**-100, 2.0**100)  # of bandwidths for which float32 is enough


def owns(X: Array) -> bool:
    """Whether these are rows in memory."""
    return bool(is_numpy_array(X) or is_torch_array(X))


def refuses(problem: Problem) -> str | None:
    """Refuse, without a word, what is in segments already: the backends that follow take it."""
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
    """Yield which bandwidths, widest first, one pass can serve, and the problems that they pose."""
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
    """Return (…, groups) results with the last groups, if there are more, that have no rows."""
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
        bandwidths=bandwidths, groups=None, n_groups=None,
    )  # fmt: skip


def _wide_enough(problem: Problem) -> Problem:
    """Return the problem with its box, in float64 where float32 is not enough."""
    X, Y, weights = problem.X, problem.Y, problem.weights
    box = problem.box or (Box.of(X) if problem.self_sum else Box.of(X, Y))
    if itemsize(X) == 4 and _exceeds_single(box.extent, problem.bandwidths):
        xp = array_namespace(X)
        X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
        weights = None if weights is None else xp.astype(weights, xp.float64)
    return replace(problem, X=X, Y=Y, weights=weights, box=box)


def _exceeds_single(farthest: float, bandwidths: tuple[float, ...]) -> bool:
    """Whether float32 numbers must be summed as float64."""
    least, most = min(bandwidths), max(bandwidths)
    in_range = _SINGLE_RANGE[0] < least and most < _SINGLE_RANGE[1]
    return not in_range or farthest > _WIDEST_SPREAD * least


def _arrangements(problem: Problem) -> list[Arrangement]:
    """Bring weights and groups to segments; columns that can not share a pass, one by one."""
    n_rows, weights, log = problem.Y.shape[0], problem.weights, problem.log
    if weights is None or weights.ndim == 1:
        return [arrange(n_rows, weights, problem.groups, log)]
    if not must_go_by_column(weights, log):
        return [scale_columns(weights)]
    return [arrange(n_rows, weights[:, c], None, log) for c in range(weights.shape[1])]


def _count_outputs(problem: Problem) -> int:
    """Return how many sums each row of X has, where there are no pairs."""
    if problem.n_groups is not None:
        return problem.n_groups
    if problem.groups is not None:
        return int(to_numpy(problem.groups).max(initial=-1)) + 1
    return int(problem.weights.shape[1]) if problem.weights_are_columns else 1  # type: ignore[union-attr]

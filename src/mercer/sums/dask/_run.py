"""The backend of Dask arrays: every pair of blocks is a problem in memory.

One task is one block of X against one block of Y; it returns float64 sums, which are merged
in a tree for each block of X.  With Y=None, the pairs of a block with itself are a sum over itself,
all others are sums over two arrays: a row's own term is left out in the former alone.

Cost: B_X · B_Y tasks for as many blocks, and as many blocks of Y that may have to travel.  The
saving of symmetric sums is made within blocks only.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.samples import Blocks, merge_pairs
from mercer.sums._devices import on_devices_in_use
from mercer.sums._problem import Problem, compute, law
from mercer.sums.dask._left_out import left_out_rows

OWNS = ("blocks",)


def refuses(problem: Problem) -> str | None:
    """Return why this backend cannot compute the problem, or None if it can."""
    if problem.is_left_out and not problem.self_sum:
        return "Left-out sums over a Dask array are those of its own rows"
    return None


def run(problem: Problem) -> Any:
    """Return the sums as a lazy array, (bandwidths, rows of X, outputs), in float64.

    Left-out sums are computed at once, and in memory.
    """
    return left_out_rows(problem) if problem.is_left_out else merged_pairs(problem, PairSums)


@dataclass(frozen=True)
class PairSums:
    """The sums of one block of X over one block of Y, of a problem stated without arrays."""

    problem: Problem
    has_weights: bool
    has_groups: bool

    def __call__(
        self, place: int | None, X: NDArray[Any], Y: NDArray[Any], *columns: NDArray[Any]
    ) -> NDArray[np.float64]:
        given = list(columns)
        is_self = place is not None
        problem = replace(
            self.problem,
            X=X,
            Y=Y,
            weights=given.pop(0).astype(X.dtype) if self.has_weights else None,
            groups=given.pop(0).astype(np.int64) if self.has_groups else None,
            self_sum=is_self,
            exclude_self=is_self and self.problem.exclude_self,
        )
        with np.errstate(over="ignore", under="ignore"):
            sums: NDArray[np.float64] = compute(problem)
        return sums


def merged_pairs(problem: Problem, pair_of: Callable[[Problem, bool, bool], Any]) -> Array:
    """Return the sums of all pairs of blocks, merged."""
    weights, groups = problem.weights, problem.groups
    stated = replace(problem, X=None, Y=None, weights=None, groups=None)
    sums = merge_pairs(
        on_devices_in_use(pair_of(stated, weights is not None, groups is not None)),
        [Blocks.of(problem.X)],
        [Blocks.of(A) for A in (problem.Y, weights, groups) if A is not None],
        law(problem.log).merge,
        is_self=problem.self_sum,
        name="sum",
    )
    n_columns = int(weights.shape[1]) if problem.weights_are_columns else 1  # type: ignore[union-attr]
    n_outputs = n_columns if problem.n_groups is None else problem.n_groups
    chunks = ((len(problem.bandwidths),), problem.X.chunks[0], (n_outputs,))
    return sums.to_array(np.asarray, chunks, dtype=np.float64, axis=1, name="sums")

"""Left-out sums over Dask arrays: pairs of blocks, merged as logarithms and drifts are.

Sums of b bandwidths and G groups take b·G numbers for each row, usually more than the row itself.
So the rows for which they are wanted are cut into pieces whose sums stay small.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import Array
from mercer.samples import Blocks, compute, from_memory, merge_pairs, row_numbers
from mercer.sums._api import left_out_log_sums
from mercer.sums._devices import on_devices_in_use
from mercer.sums._problem import Problem, Removal
from mercer.sums.dask._checks import count_groups

LeftOutSums = tuple[NDArray[np.float64], NDArray[np.float64] | None]
_PIECE_BYTES = 2**24  # The sums of one piece take at most this many bytes.


def left_out_rows(problem: Problem) -> LeftOutSums:
    """Return the logarithms and the drifts of the rows that are wanted, in their order."""
    rows = np.arange(problem.X.shape[0])[slice(None) if problem.rows is None else problem.rows]
    order = np.argsort(rows, kind="stable")
    pieces = left_out_pieces(replace(problem, rows=rows[order]))
    logs, drifts = zip(
        *compute(*(replace(pieces, keys=(key,)) for key in pieces.keys)), strict=True
    )
    place = np.argsort(order)
    moved = None if problem.removal is None else np.concatenate(drifts, axis=1)[:, place]
    return np.concatenate(logs, axis=1)[:, place], moved


def left_out_pieces(problem: Problem) -> Blocks:
    """Return one task for each piece of the rows, sorted, or of all: (logarithms, drifts)."""
    X, rows, removal = problem.X, problem.rows, problem.removal
    n_groups = problem.n_groups or count_groups(problem.groups)
    most = max(1, _PIECE_BYTES // (16 * n_groups * len(problem.bandwidths)))
    numbers = row_numbers(X)

    def pieces(A: Array) -> Blocks:
        some = A if rows is None else A[rows]
        return Blocks.of(some.rechunk({0: most}))

    at = from_memory(rows, most) if isinstance(rows, np.ndarray) else numbers.rechunk(most)
    sides = [pieces(X), Blocks.of(at)]
    columns = [
        Blocks.of(X),
        Blocks.of(numbers),
        Blocks.of(problem.groups),
        Blocks.of(problem.rung_weights, axis=1),
    ]
    if removal is not None:
        sides.append(pieces(removal.amount))
        columns += [
            Blocks.of(removal.densities, axis=1),
            Blocks.of(removal.least),
            Blocks.of(removal.drift_weights, axis=1),
        ]
    squared = None if removal is None else removal.squared
    pair = on_devices_in_use(_LeftOutPair(problem.bandwidths, n_groups, squared))
    return merge_pairs(pair, sides, columns, _merge_left_out, is_self=False, name="left-out")


@dataclass(frozen=True)
class _LeftOutPair:
    """Sums of a piece of rows over one block; `squared` is None where nothing is removed."""

    bandwidths: tuple[float, ...]
    n_groups: int
    squared: bool | None

    def __call__(
        self, _: int | None, X: NDArray[Any], at: NDArray[np.int64], *others: NDArray[Any]
    ) -> LeftOutSums:
        given = list(others)
        amount = None if self.squared is None else given.pop(0)
        Y, numbers, groups, weights = given[:4]
        shape = (len(self.bandwidths), len(X), self.n_groups)
        logs = np.full(shape, -np.inf)
        drifts = None if amount is None else np.zeros(shape)
        if not (len(X) and len(Y)):
            return logs, drifts
        is_here = (at >= numbers[0]) & (at <= numbers[-1])  # rows that are in this block
        for some, is_in_block in (
            (np.flatnonzero(is_here), True),
            (np.flatnonzero(~is_here), False),
        ):
            if not some.size:
                continue
            rows = at[some] - numbers[0] if is_in_block else None
            removal = None
            if amount is not None:
                densities, least, drift_weights = given[4:]
                gone = amount[some]
                if rows is not None:
                    gone = np.zeros(len(Y))
                    gone[rows] = amount[some]
                removal = Removal(gone, densities, least, bool(self.squared), drift_weights)
            logs[:, some], moved = left_out_log_sums(
                Y if is_in_block else X[some],
                groups.astype(np.int64),
                bandwidths=self.bandwidths,
                weights=weights,
                removal=removal,
                rows=rows,
                Y=None if is_in_block else Y,
                n_groups=self.n_groups,
            )
            if drifts is not None:
                drifts[:, some] = moved
        return logs, drifts


def _merge_left_out(a: LeftOutSums, b: LeftOutSums) -> LeftOutSums:
    logs = np.logaddexp(a[0], b[0])
    return logs, None if a[1] is None or b[1] is None else a[1] + b[1]

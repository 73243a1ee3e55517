"""Direct sums at chosen rows, over the columns that count there and no others.

Row i has a column at distance r_i with weight v_i, so that its sum is at least v_i k(r_i).  All
columns farther than R_i, where W k(R_i) = tol · v_i k(r_i) and W = Σ|w|, add less than tol of that:

    R_i² = r_i² + 2b² log(W / (tol · v_i))

Rows and columns are cut into the leaves of trees, and a leaf of rows is summed over the leaves of
columns that come that near.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import frexp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._memory import row_slabs, thread_count, working_memory
from mercer.sums._problem import Problem, law
from mercer.sums.cpu import _run as _cpu

ROW_LEAF, COLUMN_LEAF = 256, 256  # the most rows and columns in a leaf of a tree
# For fewer rows than this, a tree of the columns takes longer than adding all of them up.
_WORTH_A_TREE = 2000
# Fewer pairs than this are added up in a fraction of a second.
_WORTH_PRUNING = 5e8


def worth_a_tree(n_rows: float, n_columns: int) -> bool:
    """Tell whether it pays to look for the columns that count."""
    return (
        n_rows > _WORTH_A_TREE and n_columns > COLUMN_LEAF and n_rows * n_columns > _WORTH_PRUNING
    )


@dataclass(frozen=True)
class Output:
    """One output of a problem: a segment, or a column of weights."""

    problem: Problem
    output: int

    @property
    def places(self) -> slice:
        """The range of its columns in the order of summation."""
        if self.problem.weights_are_columns:
            return slice(0, self.problem.n_columns)
        return slice(*self.problem.bounds[self.output : self.output + 2])

    @property
    def n_columns(self) -> int:
        """Number of its columns."""
        return int(self.places.stop - self.places.start)

    @cached_property
    def rows_of_Y(self) -> NDArray[np.int64]:  # noqa: N802
        """The rows of Y that are its columns."""
        if self.problem.order is None:
            return np.arange(self.places.start, self.places.stop)
        return np.asarray(self.problem.order[self.places])

    @cached_property
    def weights(self) -> NDArray[np.floating] | None:
        W = self.problem.weights
        if W is None:
            return None
        W = W[self.places]
        return np.ascontiguousarray(W[:, self.output]) if W.ndim == 2 else W

    @cached_property
    def total(self) -> float:
        """Σ|w|."""
        if self.weights is None:
            return float(self.n_columns)
        return float(np.abs(self.weights).sum(dtype=float))

    def self_terms(self) -> NDArray[np.float64]:
        """Return what each row of X adds to its own sum: its weight, as k(x, x) is 1."""
        terms = np.zeros(self.problem.X.shape[0])
        terms[self.rows_of_Y] = 1.0 if self.weights is None else self.weights
        return terms

    def sums(
        self,
        rows: NDArray[np.int64],
        rungs: slice,
        columns: NDArray[np.int64] | None = None,
        *,
        log: bool,
        absolute: bool = False,
    ) -> NDArray[np.float64]:
        """Add up all columns, or some, in float64: (rungs, rows)."""
        X = self.problem.X[rows].astype(np.float64)
        reduction = law(log)
        out = np.full((len(self.problem.bandwidths[rungs]), rows.size), reduction.identity)
        n_columns = self.n_columns if columns is None else columns.size
        bytes_per_column = 8 * (2 * X.shape[1] + 4)
        for first, last in row_slabs(n_columns, bytes_per_column, working_memory() // 4):
            part = slice(first, last) if columns is None else columns[first:last]
            Y_rows, W = self.rows_of_Y[part], self.weights
            W = None if W is None else W[part].astype(np.float64)
            if W is not None and absolute:
                W = np.abs(W)
            problem = replace(
                self.problem, X=X, Y=self.problem.Y[Y_rows].astype(np.float64), order=None,
                weights=W, bounds=(0, last - first), bandwidths=self.problem.bandwidths[rungs],
                log=log, self_sum=False, method="direct", tol=None,
            )  # fmt: skip
            own = (
                _own_columns(rows, Y_rows) if self.problem.exclude_self else np.full(rows.size, -1)
            )
            out = reduction.merge(out, _cpu.run_some(problem, own)[:, :, 0])
        return out

    def near_sums(
        self, rows: NDArray[np.int64], rung: int, tol: float, *, log: bool
    ) -> NDArray[np.float64]:
        """Add up the columns that count at these rows within tol: (rows,)."""
        one = slice(rung, rung + 1)
        if not worth_a_tree(rows.size, self.n_columns) or self.total == 0:
            everything: NDArray[np.float64] = self.sums(rows, one, log=log)[0]
            return everything
        bandwidth = self.problem.bandwidths[rung]
        tree, X = self._tree, self._scaled(self.problem.X[rows])
        squares = self._reach_squared(rows, X, bandwidth * self._scale, tol)
        out = np.empty(rows.size)
        leaves = _Leaves.of(X, ROW_LEAF)
        for leaf in range(leaves.starts.size):
            at = leaves.members(np.array([leaf]))
            gap = np.maximum(
                tree.low - leaves.high[leaf], np.maximum(leaves.low[leaf] - tree.high, 0)
            )
            near = np.flatnonzero((gap * gap).sum(axis=1) <= squares[at].max())
            columns = np.sort(tree.members(near))
            out[at] = self.sums(rows[at], one, columns, log=log)[0]
        return out

    @cached_property
    def _scale(self) -> float:
        """A power of two that brings the widest bandwidth near 1, so that squares are finite."""
        return float(2.0 ** -frexp(self.problem.bandwidths[0])[1])

    def _scaled(self, A: NDArray[np.floating]) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = A.astype(np.float64) * self._scale
        return scaled

    @cached_property
    def _tree(self) -> "_Leaves":
        Y = self._scaled(self.problem.Y[self.rows_of_Y])
        return _Leaves.of(Y, COLUMN_LEAF)

    def _reach_squared(
        self, rows: NDArray[np.int64], X: NDArray[np.float64], bandwidth: float, tol: float
    ) -> NDArray[np.float64]:
        """Return R², a little larger to allow for rounding."""
        k = 2 if self.problem.exclude_self else 1
        distance, nearest = self._tree.tree.query(X, k=k, workers=thread_count())
        if k == 2:
            is_own = self.rows_of_Y[nearest[:, 0]] == rows
            pick = is_own.astype(int)[:, None]
            distance, nearest = (
                np.take_along_axis(a, pick, axis=1)[:, 0] for a in (distance, nearest)
            )
        weight = np.ones(rows.size)
        if self.weights is not None:
            weight = np.abs(self.weights[nearest]).astype(np.float64)
        with np.errstate(divide="ignore"):  # R is infinite for a weight of 0.
            excess = 2 * bandwidth**2 * np.log(self.total / (tol * weight))
        squares: NDArray[np.float64] = (distance**2 + excess) * (1 + 1e-9)
        return squares


def _own_columns(rows: NDArray[np.int64], Y_rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each row in Y_rows, or −1 if it is not there."""
    order = np.argsort(rows)
    at = np.searchsorted(rows, Y_rows, sorter=order)
    found = np.flatnonzero(rows[order[np.minimum(at, rows.size - 1)]] == Y_rows)
    own = np.full(rows.size, -1)
    own[order[at[found]]] = found
    return own


@dataclass(frozen=True)
class _Leaves:
    """The leaves of a tree: their points as runs of one order, and their boxes."""

    tree: Any
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64], leafsize: int) -> "_Leaves":
        from scipy.spatial import cKDTree

        # Splitting at midpoints, not medians, takes half the time and avoids long thin leaves.
        tree = cKDTree(points, leafsize=leafsize, compact_nodes=False, balanced_tree=False)
        runs = np.array(sorted(_runs(tree.tree)))
        points = points[tree.indices]
        return cls(
            tree,
            runs[:, 0],
            runs[:, 1] - runs[:, 0],
            np.minimum.reduceat(points, runs[:, 0]),
            np.maximum.reduceat(points, runs[:, 0]),
        )

    def members(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the points that these leaves hold."""
        starts, sizes = self.starts[leaves], self.sizes[leaves]
        ends = np.cumsum(sizes)
        places = np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if ends.size else 0)
        members: NDArray[np.int64] = self.tree.indices[places]
        return members


def _runs(root: Any) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of the points of each leaf that has some."""
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.split_dim == -1:
            if node.end_idx > node.start_idx:
                yield node.start_idx, node.end_idx
        else:
            nodes += [node.lesser, node.greater]

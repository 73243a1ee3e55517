"""Blocks of rows on a cluster: functions of blocks, functions of pairs of blocks, and merging.

A block is one piece of a Dask array that is cut by rows.  A `Blocks` has one task for each; what a
task returns may be anything.  Three steps make every computation: map over blocks, or over all
pairs of them, then merge by a law in a tree.  No task sees more than one block of either side and
`FAN_IN` partial results.

Nothing here imports Dask before a Dask array has come.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from mercer._memory import share_of_machine

FAN_IN = 8  # One task merges at most this many partial results.


@dataclass(frozen=True)
class Blocks:
    """One task for each block of rows; a Dask collection as far as graphs are concerned.

    Parameters
    ----------
    keys : tuple
        The keys of the tasks, in the order of the blocks.
    graph : HighLevelGraph
        All tasks that they need.
    layers : tuple of str
        The last layers of the graph.
    starts : NumPy array of int of shape (blocks + 1,)
        First row of each block, and the number of rows.
    """

    keys: tuple[Any, ...]
    graph: Any
    layers: tuple[str, ...]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, A: Any, axis: int = 0) -> "Blocks":
        """Return the blocks of a Dask array that is cut along one axis only."""
        from dask.core import flatten

        starts = np.concatenate([[0], np.cumsum(A.chunks[axis], dtype=np.int64)])
        keys = tuple(flatten(A.__dask_keys__()))
        return cls(keys, A.__dask_graph__(), A.__dask_layers__(), starts)

    def __len__(self) -> int:
        return len(self.keys)

    def __dask_graph__(self) -> Any:
        return self.graph

    def __dask_keys__(self) -> list[Any]:
        return list(self.keys)

    def __dask_layers__(self) -> tuple[str, ...]:
        return self.layers

    def map(self, function: Callable[..., Any], *others: "Blocks", name: str) -> "Blocks":
        """Return one task for each block: function(first row, block, blocks of the others)."""
        name = _unique(name)
        sides = (self, *others)
        tasks = {
            (name, i): (_call, function, int(self.starts[i]), *(side.keys[i] for side in sides))
            for i in range(len(self))
        }
        return _layer(name, tasks, tuple(tasks), sides, self.starts)

    def merged(self, merge: Callable[[Any, Any], Any], *, name: str) -> "Blocks":
        """Return one task: all blocks, merged in a tree."""
        name = _unique(name)
        tasks: dict[Any, Any] = {}
        key = _tree(tasks, name, (), list(self.keys), merge)
        return _layer(name, tasks, (key,), (self,), self.starts[[0, -1]])

    def to_array(
        self,
        finish: Callable[[Any], NDArray[Any]],
        chunks: tuple[tuple[int, ...], ...],
        *,
        dtype: Any,
        axis: int,
        name: str,
    ) -> Any:
        """Return finish(block) of all blocks as a Dask array, the blocks being along one axis."""
        import dask.array as da

        name = _unique(name)
        before, after = (0,) * axis, (0,) * (len(chunks) - axis - 1)
        tasks = {
            (name, *before, i, *after): (_call, finish, key) for i, key in enumerate(self.keys)
        }
        layer = _layer(name, tasks, tuple(tasks), (self,), self.starts)
        meta = np.empty((0,) * len(chunks), dtype=dtype)
        return da.Array(layer.graph, name, chunks=chunks, dtype=dtype, meta=meta)


def merge_pairs(
    function: Callable[..., Any],
    rows: Sequence[Blocks],
    columns: Sequence[Blocks],
    merge: Callable[[Any, Any], Any],
    *,
    is_self: bool,
    name: str,
) -> Blocks:
    """Return one task for each block of rows: function of all its pairs with columns, merged.

    Parameters
    ----------
    function : callable
        Called with (place, blocks of rows …, blocks of columns …).  The place is where
        the first of these rows stands among these columns, if rows are columns; else None.
    rows, columns : sequences of Blocks
        Each of them cut alike; where rows are columns, blocks of rows are blocks of columns or
        parts of them.
    merge : callable
        The law by which two results become one.
    is_self : bool
        Whether rows are columns.
    """
    name = _unique(name)
    tasks: dict[Any, Any] = {}
    keys = []
    tops, lefts = rows[0].starts, columns[0].starts
    for i in range(len(rows[0])):
        parts = []
        for j in range(len(columns[0])):
            inside = is_self and lefts[j] <= tops[i] and tops[i + 1] <= lefts[j + 1]
            place = int(tops[i] - lefts[j]) if inside and tops[i + 1] > tops[i] else None
            sides = (*(side.keys[i] for side in rows), *(side.keys[j] for side in columns))
            tasks[name, i, j] = (_call, function, place, *sides)
            parts.append((name, i, j))
        keys.append(_tree(tasks, f"{name}-merge", (i,), parts, merge))
    return _layer(name, tasks, tuple(keys), (*rows, *columns), tops)


def compute(*parts: Blocks) -> list[Any]:
    """Return the values of all tasks, computed at once: of merged parts, one for each."""
    import dask
    from dask.array.optimization import optimize
    from dask.delayed import Delayed
    from dask.highlevelgraph import HighLevelGraph

    keys = [key for part in parts for key in part.keys]
    graph = optimize(HighLevelGraph.merge(*(part.graph for part in parts)), keys)
    return list(dask.compute(*(Delayed(key, graph) for key in keys)))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    with share_of_machine():
        return function(*arguments)


def _tree(
    tasks: dict[Any, Any],
    name: str,
    place: tuple[int, ...],
    keys: list[Any],
    merge: Callable[[Any, Any], Any],
) -> Any:
    """Add tasks that merge these keys, a few at a time; return the key of the whole."""
    level = 0
    while len(keys) > 1:
        groups = [keys[k : k + FAN_IN] for k in range(0, len(keys), FAN_IN)]
        keys = [(name, *place, level, k) for k in range(len(groups))]
        tasks.update({key: (_merge, merge, group) for key, group in zip(keys, groups, strict=True)})
        level += 1
    return keys[0]


def _merge(merge: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    whole = parts[0]
    for part in parts[1:]:
        whole = merge(whole, part)
    return whole


def _layer(
    name: str,
    tasks: dict[Any, Any],
    keys: tuple[Any, ...],
    sources: Sequence[Blocks],
    starts: NDArray[np.int64],
) -> Blocks:
    from dask.highlevelgraph import HighLevelGraph

    if not tasks:  # Merging a single block needs no task.
        return Blocks(keys, sources[0].graph, sources[0].layers, starts)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=list(sources))
    return Blocks(keys, graph, (name,), starts)


def _unique(name: str) -> str:
    return f"mercer-{name}-{uuid4().hex}"

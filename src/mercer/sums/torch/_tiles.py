"""A problem over tensors in tiles that fit the memory budget, with their distances."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from sklearn import config_context

from mercer._arrays import Array, itemsize
from mercer._memory import is_out_of_memory, room_on_device, row_slabs, working_memory
from mercer.sums._geometry import Geometry, choose_geometry
from mercer.sums._problem import Problem

_Result = TypeVar("_Result")
_TILE = {"cpu": 2**18, "cuda": 2**26}  # numbers in a tile that keep such a device busy
_TEMPORARIES = 12  # arrays of the size of a tile that the backward pass holds at once
_COLUMNS = 2**13  # a float32 sum over more would lose digits


def with_room(problem: Problem, work: Callable[[], _Result]) -> _Result:
    """Return what the work gives; where the device is full, that of work in smaller parts."""
    import torch

    with torch.cuda.device_of(problem.X):  # of several, the one that the rows are on
        try:
            return work()
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        torch.cuda.empty_cache()
        what = f"a kernel sum of {problem.X.shape[0]} rows over {problem.n_columns}"
        with config_context(working_memory=working_memory() / 2**24), room_on_device(what):
            return work()


@dataclass(frozen=True)
class _Tile:
    """Rows of X, columns of the order of summation, and where their sums go."""

    rows: slice
    columns: slice
    outputs: slice


@dataclass(frozen=True)
class Tiling:
    """A problem cut into tiles, each with its distances."""

    problem: Problem
    geometry: Geometry
    order: Array | None

    @classmethod
    def of(cls, problem: Problem) -> "Tiling":
        """Choose the geometry, and put the order of summation where the data are."""
        import torch

        order = problem.order
        if order is not None:
            order = torch.as_tensor(order, device=problem.X.device)
        return cls(problem, choose_geometry(problem), order)

    def tiles(self, n_rows: int | None = None) -> Iterator[_Tile]:
        """All pairs of rows, of X or of so many, in tiles that lie in one segment each."""
        X, bounds = self.problem.X, self.problem.bounds
        n_rows = X.shape[0] if n_rows is None else n_rows
        budget = working_memory() // (_TEMPORARIES * itemsize(X))
        area = max(1, min(budget, _TILE.get(X.device.type, _TILE["cuda"])))
        width = min(_COLUMNS, max(1, int(area**0.5) * 2), max(1, self.problem.n_columns))
        for top, bottom in row_slabs(n_rows, width, area):
            rows = slice(top, bottom)
            for s, (low, high) in enumerate(pairwise(bounds)):
                outputs = slice(None) if self.problem.weights_are_columns else slice(s, s + 1)
                for first, last in row_slabs(high - low, 1, width):
                    yield _Tile(rows, slice(low + first, low + last), outputs)

    def distances(self, x: Array, y: Array, tile: _Tile, own: Array | None = None) -> Array:
        """Squared distances of rows to columns, in the geometry's scale.

        `own` says which rows of X these are, where they are not the tile's.
        """
        import torch

        scale, centre = self.geometry.scale, self.geometry.centre
        x, y = x * scale, y * scale
        if centre is not None:
            # (−2x, 1, ‖x‖²)·(y, ‖y‖², 1) = ‖x − y‖²: one product, no further pass over the tile.
            x, y = x - centre, y - centre
            one_x, one_y = torch.ones_like(x[:, :1]), torch.ones_like(y[:, :1])
            x = torch.cat([-2 * x, one_x, (x * x).sum(1, keepdim=True)], dim=1)
            y = torch.cat([y, (y * y).sum(1, keepdim=True), one_y], dim=1)
            with matmul_precision(self.problem.precision):
                d2 = x @ y.T
        else:
            d2 = self.problem.kernel.squared_distances(
                x[:, f, None] - y[None, :, f] for f in range(x.shape[1])
            )
        if self.problem.self_sum:
            if own is None:
                own = torch.arange(tile.rows.start, tile.rows.stop, device=x.device)
            is_own = own[:, None] == self._column_rows(tile)[None, :]
            d2 = torch.where(is_own, np.inf if self.problem.exclude_self else 0.0, d2)
        return d2

    def columns_of(self, Y: Array, tile: _Tile) -> Array:
        """Return the rows of Y that are the columns of the tile."""
        return Y[tile.columns] if self.order is None else Y[self.order[tile.columns]]

    def _column_rows(self, tile: _Tile) -> Array:
        import torch

        if self.order is not None:
            return self.order[tile.columns]
        device = self.problem.X.device
        return torch.arange(tile.columns.start, tile.columns.stop, device=device)


@contextmanager
def matmul_precision(precision: str) -> Iterator[None]:
    """Compute float32 products in full, whatever the program chose, or in TF32 if asked to."""
    from torch import backends, get_float32_matmul_precision, set_float32_matmul_precision

    if hasattr(backends.cuda.matmul, "fp32_precision"):  # torch ≥ 2.9
        switches = (backends.cuda.matmul, backends.mkldnn.matmul)
        before = [switch.fp32_precision for switch in switches]
        try:
            for switch in switches:
                switch.fp32_precision = "ieee" if precision == "high" else "tf32"
            yield
        finally:
            for switch, value in zip(switches, before, strict=True):
                switch.fp32_precision = value
    else:
        setting = get_float32_matmul_precision()
        try:
            set_float32_matmul_precision("highest" if precision == "high" else "high")
            yield
        finally:
            set_float32_matmul_precision(setting)

"""Rows, the classes they belong to, and how much each one counts.

A sample in memory comes in the order of the rows that were given (`Sample`), and sorted by class
where a class is to be a slice (`SortedSample`).  A sample in blocks (`BlockSample`) answers all
that a sorted one does, and leaves its rows where they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, like, take_rows, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.samples._blocks import Blocks, compute
from mercer.samples._dask_arrays import drop_weightless_rows
from mercer.samples._in_blocks import (
    at_classes,
    class_sizes,
    class_totals,
    compute_arrays,
    gather_rows,
)
from mercer.samples._weights import leaving_weights

Rows = slice | NDArray[np.int64]  # a choice of rows of a sample


@dataclass(frozen=True)
class Sample:
    """Rows in memory of positive weight, without copies within a class, in the order as given.

    Parameters
    ----------
    X : array of shape (n, d)
    codes : NumPy array of int of shape (n,)
        Class 0 … C − 1 of each row.
    weights : NumPy array of shape (n,)
        How often each row counts, ω.
    unit : NumPy array of shape (n,)
        What leaves when a row is left out, u: all of its weight, or one of its copies.
    n_classes : int
        C.
    rows : NumPy array of int of shape (n,)
        Which of the rows that were given they are: of copies, the first.
    index : NumPy array of int
        For each row that was given with a positive weight, which of the n stands for it.
    given : NumPy array of int
        Which of the rows that were given have a positive weight.
    """

    X: Array
    codes: NDArray[np.int64]
    weights: FloatArray
    unit: FloatArray
    n_classes: int
    rows: NDArray[np.int64]
    index: NDArray[np.int64]
    given: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each class has: (C,)."""
        return np.bincount(self.codes, minlength=self.n_classes)

    def take(self, rows: NDArray[np.int64], *arrays: Array) -> tuple[Array, ...]:
        """Return these rows of arrays that have an entry for each row."""
        return tuple(take_rows(A, rows) for A in arrays)

    def sorted(self) -> "SortedSample":
        """Return the rows in the order of their classes, with all numbers on their device."""
        xp = array_namespace(self.X)
        numbers = (like(v, self.X, dtype=xp.float64) for v in (self.weights, self.unit))
        return SortedSample.of(self.X, self.codes, *numbers)

    def spread_out(self, values: Array) -> Array:
        """Return values of the merged rows for every row that was given with a positive weight."""
        return take_rows(values, self.index)


@dataclass(frozen=True)
class SortedSample:
    """Rows in the order of their classes.

    Parameters
    ----------
    X : array of shape (n, d)
    codes : NumPy array of int of shape (n,)
        Class 0…C−1 of each row, in order.
    weights : float64 array of shape (n,)
        How often each row counts, ω.
    unit : float64 array of shape (n,)
        What leaves when a row is left out, u: all of its weight, or one of its copies.
    bounds : tuple of int
        Class c is rows bounds[c] … bounds[c + 1].
    order : NumPy array of int of shape (n,)
        Which of the rows that were given they are.
    """

    X: Array
    codes: Array
    weights: Array
    unit: Array
    bounds: tuple[int, ...]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, X: Array, codes: Array, weights: Array, unit: Array = None) -> "SortedSample":
        """Sort rows by class; without a unit, no two rows of a class are the same."""
        if unit is None:
            unit = like(leaving_weights(to_numpy(weights)), weights)
        order = np.argsort(codes, kind="stable")
        bounds = (0, *np.cumsum(np.bincount(codes)).tolist())
        X, weights, unit = (take_rows(A, order) for A in (X, weights, unit))
        return cls(X, codes[order], weights, unit, bounds, order)

    def as_given(self, values: Array) -> Array:
        """Return (n,) numbers in the order in which the rows were given."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(place.size)
        return take_rows(values, place)

    @property
    def in_memory(self) -> "SortedSample":
        """The classes and weights in memory, of which leave-one-out draws rows."""
        return self

    def places(self, rows: Rows) -> Rows:
        """Return where rows of `in_memory` are in the arrays of the sample."""
        return rows

    def numbers(self, rows: Rows) -> Array:
        """Return `places` as row numbers, on the device of the data."""
        every = array_namespace(self.weights).arange(self.X.shape[0], device=device(self.weights))
        return every[self.index(rows)]

    def gather(self, rows: Rows, *arrays: Array) -> tuple[Array, ...]:
        """Return the entries of rows of `in_memory` in (…, n) arrays, in memory."""
        at = self.index(rows)
        return tuple(A[..., at] for A in arrays)

    def thinned(self, step: int, *arrays: Array) -> tuple[NDArray[Any], ...]:
        """Return every `step`-th row of arrays, as NumPy arrays."""
        return tuple(to_numpy(A[::step]) for A in arrays)

    def slabs(self, bytes_per_row: int) -> Iterator[slice]:
        """Cut all rows into ranges that take half of the memory budget at most."""
        for start, stop in row_slabs(self.X.shape[0], bytes_per_row, working_memory() // 2):
            yield slice(start, stop)

    def copies(self, count: int) -> Array:
        """Return the weights `count` times: (count, n)."""
        return array_namespace(self.weights).stack([self.weights] * count)

    @property
    def n_classes(self) -> int:
        """Number of classes, C."""
        return len(self.bounds) - 1

    @cached_property
    def counts(self) -> Array:
        """N_c, repetitions counted: (C,)."""
        return self.class_sums(self.weights)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each class has, (C,), in memory."""
        return np.diff(self.bounds)

    @cached_property
    def classes(self) -> Array:
        """`codes` on the device of the data."""
        return like(self.codes, self.weights, dtype=array_namespace(self.weights).int64)

    def per_class(self, values: Any) -> Array:
        """Return one number for each class, on the device of the data."""
        return like(values, self.weights)

    def class_sums(self, values: Array) -> Array:
        """Add up (…, n) numbers by class: (…, C)."""
        xp = array_namespace(values)
        if is_numpy_array(values):
            sums: Array = np.add.reduceat(values, self.bounds[:-1], axis=-1)
            return sums
        parts = [xp.sum(values[..., low:high], axis=-1) for low, high in pairwise(self.bounds)]
        return xp.stack(parts, axis=-1)

    def of_own_class(self, values: Array) -> Array:
        """Return the number of each row's class: (C,) to (n,)."""
        return take_rows(values, self.codes)

    def of_class(self, c: int) -> tuple[Array, Array]:
        """Return the rows of a class and their weights."""
        low, high = self.bounds[c], self.bounds[c + 1]
        return self.X[low:high, :], self.weights[low:high]

    def index(self, rows: Rows) -> Any:
        """Return an index for these rows, on the device of the data."""
        if isinstance(rows, slice):
            return rows
        return like(rows, self.weights, dtype=array_namespace(self.weights).int64)

    def is_of_class(self, rows: Rows) -> Array:
        """Whether a row is of a class: (rows, C) of bool."""
        classes = self.classes[self.index(rows)]
        every = array_namespace(classes).arange(self.n_classes, device=device(classes))
        return classes[:, None] == every

    def counts_without(self, rows: Rows) -> Array:
        """N_c when the row is left out: (rows, C); exactly 0 where nothing is left."""
        return array_namespace(self.weights).where(
            self.is_of_class(rows),
            self._class_weight_without[self.index(rows)][:, None],
            self.counts,
        )

    @cached_property
    def _class_weight_without(self) -> Array:
        """N_c of each row's own class when the row is left out: (n,).

        At most one row of a class has more than half of its weight; of such a row, what is left
        is added up again, because the difference would have lost its digits.
        """
        left = take_rows(self.counts, self.codes) - self.unit
        is_heavy = 2 * self.unit > take_rows(self.counts, self.codes)
        for row in np.flatnonzero(to_numpy(is_heavy)).tolist():
            low, high = self.bounds[self.codes[row]], self.bounds[self.codes[row] + 1]
            xp = array_namespace(left)
            others = xp.sum(self.weights[low:row]) + xp.sum(self.weights[row + 1 : high])
            left[row] = others + (self.weights[row] - self.unit[row])
        return left


@dataclass(frozen=True)
class BlockSample(SortedSample):
    """Rows in blocks, in the order in which they came: codes and weights are cut as X is.

    Parameters
    ----------
    X, codes, weights, unit : Dask arrays
    bounds : tuple of zeros
        C + 1 of them: a class is not a slice here.
    order : empty
        Rows are as they were given.
    rows : Dask array of int of shape (n,)
        Which of the rows that were given they are: of copies, the first.
    """

    rows: Array = None

    def sorted(self) -> "BlockSample":
        """Return itself: it answers what a sorted sample does."""
        return self

    def spread_out(self, values: Array) -> Array:
        """Return values of the rows as they are: copies stay merged."""
        return values

    def as_given(self, values: Array) -> Array:
        """Return (n,) numbers as they are."""
        return values

    @cached_property
    def in_memory(self) -> SortedSample:
        """Classes and weights in memory, sorted by class as rows in memory are; no columns."""
        codes, weights, unit = compute_arrays(self.codes, self.weights, self.unit)
        return SortedSample.of(np.empty((codes.size, 0)), codes.astype(np.int64), weights, unit)

    def places(self, rows: Rows) -> NDArray[np.int64]:
        """Return where rows of `in_memory` are in the arrays of the sample."""
        return self.in_memory.order[rows]

    def gather(self, rows: Rows, *arrays: Array) -> tuple[Array, ...]:
        """Return the entries of rows of `in_memory` in (…, n) arrays, in memory."""
        numbers = self.places(rows)
        order = np.argsort(numbers)
        parts = compute_arrays(*(A[..., numbers[order]] for A in arrays))
        return tuple(part[..., np.argsort(order)] for part in parts)

    def numbers(self, rows: Rows) -> NDArray[np.int64]:
        """Return `places`."""
        return self.places(rows)

    def thinned(self, step: int, *arrays: Array) -> tuple[NDArray[Any], ...]:
        """Return every `step`-th row of arrays, as NumPy arrays."""
        rows = np.sort(self.in_memory.order[::step])
        return tuple(gather_rows(A, rows) for A in arrays)

    def slabs(self, bytes_per_row: int) -> Iterator[slice]:
        """Yield one range of all rows: results are in blocks, as the rows are."""
        yield slice(0, self.X.shape[0])

    def copies(self, count: int) -> Array:
        """Return the weights `count` times: (count, n)."""
        return super().copies(count).rechunk({0: -1})

    def loaded(self) -> SortedSample:
        """Return all rows in memory."""
        X, codes, weights, unit = compute_arrays(*self.columns)
        return SortedSample.of(X, codes.astype(np.int64), weights, unit)

    @property
    def columns(self) -> tuple[Array, ...]:
        """Rows, classes, weights, and what leaves when a row is left out."""
        return self.X, self.codes, self.weights, self.unit

    def reduce(self, function: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Return function(first row, block of each of `columns`) of all blocks, merged."""
        first, *others = (Blocks.of(A) for A in self.columns)
        parts = first.map(function, *others, name="reduce")
        return compute(parts.merged(merge, name="reduce"))[0]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each class has, (C,), in memory."""
        return class_sizes(self.codes, self.n_classes)

    @cached_property
    def classes(self) -> Array:
        """`codes`, of one type whatever the number of classes."""
        return self.codes.astype(np.int64)

    def per_class(self, values: Any) -> NDArray[Any]:
        """Return one number for each class, in memory."""
        return np.asarray(values, dtype=np.float64)

    def class_sums(self, values: Array) -> FloatArray:
        """Add up (…, n) numbers by class: (…, C), computed."""
        return class_totals(self.codes, values, self.n_classes)

    def of_own_class(self, values: Array) -> Array:
        """Return the number of each row's class: (C,) to (n,)."""
        return at_classes(values, self.codes)

    def of_class(self, c: int) -> tuple[Array, Array]:
        """Return the rows of a class and their weights."""
        weights, X = drop_weightless_rows(self.weights * (self.codes == c), self.X)
        return X, weights

    def take(self, rows: NDArray[np.int64], *arrays: Array) -> tuple[NDArray[Any], ...]:
        """Return these rows, sorted, of arrays that are cut as X is, in memory."""
        return tuple(gather_rows(A, rows) for A in arrays)

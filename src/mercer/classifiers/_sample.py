"""Training rows sorted by class, so that a class is a slice."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_dask_array, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import like, take_rows

Array = Any
Rows = slice | NDArray[np.int64]  # some rows of a sample


@dataclass(frozen=True)
class Sample:
    """Rows in the order of their classes.

    Parameters
    ----------
    X : array of shape (n, d)
    codes : NumPy array of int of shape (n,)
        Class 0…C−1 of each row, in order.
    weights : float64 array of shape (n,)
        How often each row counts, ω.
    bounds : tuple of int
        Class c is rows bounds[c] … bounds[c + 1].
    order : NumPy array of int of shape (n,)
        Which of the rows that were given they are.
    """

    X: Array
    codes: Array
    weights: Array
    bounds: tuple[int, ...]
    order: NDArray[np.int64]

    @classmethod
    def sorted(cls, X: Array, codes: Array, weights: Array, n_classes: int = 0) -> "Sample":
        """Sort rows by class; those of a Dask array, with C classes, stay where they are."""
        if is_dask_array(X):
            from mercer.classifiers._dask_sample import BlockSample

            return BlockSample(X, codes, weights, (0,) * (n_classes + 1), np.empty(0, np.int64))
        order = np.argsort(codes, kind="stable")
        bounds = (0, *np.cumsum(np.bincount(codes)).tolist())
        return cls(take_rows(X, order), codes[order], take_rows(weights, order), bounds, order)

    def as_given(self, values: Array) -> Array:
        """Return (n,) numbers in the order in which the rows were given."""
        place = np.empty_like(self.order)
        place[self.order] = np.arange(place.size)
        return take_rows(values, place)

    @property
    def judged(self) -> "Sample":
        """The classes and weights in memory, of which leave-one-out draws rows."""
        return self

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.bounds) - 1

    @cached_property
    def counts(self) -> Array:
        """N_c, repetitions counted: (C,)."""
        return self.class_sums(self.weights)

    @cached_property
    def classes(self) -> Array:
        """`codes` where the data are."""
        return like(self.codes, self.weights, dtype=array_namespace(self.weights).int64)

    @cached_property
    def unit(self) -> Array:
        """What leaves with a row: one repetition, or all of a row that counts less; (n,)."""
        xp = array_namespace(self.weights)
        return xp.minimum(self.weights, xp.ones_like(self.weights))

    def class_sums(self, values: Array) -> Array:
        """Add up (…, n) numbers by class: (…, C)."""
        xp = array_namespace(values)
        if is_numpy_array(values):
            sums: Array = np.add.reduceat(values, self.bounds[:-1], axis=-1)
            return sums
        parts = [xp.sum(values[..., low:high], axis=-1) for low, high in pairwise(self.bounds)]
        return xp.stack(parts, axis=-1)

    def index(self, rows: Rows) -> Any:
        """Return what picks these rows where the data are."""
        if isinstance(rows, slice):
            return rows
        return like(rows, self.weights, dtype=array_namespace(self.weights).int64)

    def own(self, rows: Rows) -> Array:
        """Whether a row is of a class: (rows, C) of bool."""
        classes = self.classes[self.index(rows)]
        every = array_namespace(classes).arange(self.n_classes, device=device(classes))
        return classes[:, None] == every

    def counts_without(self, rows: Rows) -> Array:
        """N_c when the row is left out: (rows, C); exactly 0 where nothing is left."""
        return array_namespace(self.weights).where(
            self.own(rows), self.counts - self.unit[self.index(rows)][:, None], self.counts
        )

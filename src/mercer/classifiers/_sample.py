"""Training rows sorted by class, so that a class is a slice."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import like, take_rows, to_numpy
from mercer.bandwidth import resolve_bandwidth
from mercer.samples import leaving_weights

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
    def sorted(cls, X: Array, codes: Array, weights: Array, unit: Array = None) -> "Sample":
        """Sort rows by class; without a unit, no two rows of a class are the same."""
        if unit is None:
            unit = like(leaving_weights(to_numpy(weights)), weights)
        order = np.argsort(codes, kind="stable")
        bounds = (0, *np.cumsum(np.bincount(codes)).tolist())
        X, weights, unit = (take_rows(A, order) for A in (X, weights, unit))
        return cls(X, codes[order], weights, unit, bounds, order)

    def resolve_bandwidth(self, bandwidth: Any, **options: Any) -> float:
        """Return a bandwidth as a number; rules see as many rows as the weights add up to."""
        n_rows = float(self.weights.sum())
        return resolve_bandwidth(bandwidth, self.X, self.weights, n_rows=n_rows, **options)

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
            self.own(rows), self._class_weight_without[self.index(rows)][:, None], self.counts
        )

    @cached_property
    def _class_weight_without(self) -> Array:
        """N_c of each row's own class when the row is left out: (n,).

        At most one row of a class has more than half of its weight; of such a row, what is left
        is added up anew, because the difference would have lost its digits.
        """
        left = take_rows(self.counts, self.codes) - self.unit
        is_heavy = 2 * self.unit > take_rows(self.counts, self.codes)
        for row in np.flatnonzero(to_numpy(is_heavy)).tolist():
            low, high = self.bounds[self.codes[row]], self.bounds[self.codes[row] + 1]
            xp = array_namespace(left)
            others = xp.sum(self.weights[low:row]) + xp.sum(self.weights[row + 1 : high])
            left[row] = others + (self.weights[row] - self.unit[row])
        return left

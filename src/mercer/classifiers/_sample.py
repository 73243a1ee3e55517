"""Training rows sorted by class, so that a class is a slice."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_dask_array, is_numpy_array
from numpy.typing import NDArray

from mercer._arrays import like, take_rows, to_numpy
from mercer._dask import class_totals

Array = Any


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
    """

    X: Array
    codes: Array
    weights: Array
    bounds: tuple[int, ...]

    @classmethod
    def sorted(cls, X: Array, codes: Array, weights: Array, n_classes: int = 0) -> Any:
        """Sort rows by class; those of a Dask array, with C classes, stay where they are."""
        if is_dask_array(X):
            from mercer.classifiers._dask_sample import BlockSample

            return BlockSample(X, codes, weights, (), n_classes)
        order = np.argsort(codes, kind="stable")
        bounds = (0, *np.cumsum(np.bincount(codes)).tolist())
        return cls(take_rows(X, order), codes[order], take_rows(weights, order), bounds)

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.bounds) - 1

    @property
    def counts(self) -> Array:
        """N_c, repetitions counted: (C,)."""
        return self.class_sums(self.weights)

    @property
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

    def own(self, rows: slice) -> Array:
        """Whether a row is of a class: (rows, C) of bool."""
        one_hot = self.codes[rows, None] == np.arange(self.n_classes)
        return like(one_hot, self.weights, dtype=array_namespace(self.weights).bool)

    def counts_without(self, rows: slice) -> Array:
        """N_c when the row is left out: (rows, C); exactly 0 where nothing is left."""
        xp = array_namespace(self.weights)
        counts = self.counts + xp.zeros_like(self.weights[rows, None])
        return xp.where(self.own(rows), counts - self.unit[rows, None], counts)


def class_counts(codes: Array, weights: Array, n_classes: int) -> NDArray[np.float64]:
    """Return N_c, repetitions counted, in memory: (C,)."""
    if is_dask_array(weights):
        return class_totals(codes, weights, n_classes)
    return np.bincount(codes, to_numpy(weights), n_classes).astype(np.float64)

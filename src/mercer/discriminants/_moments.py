"""Moments of node kernels: all that a fit on nodes needs to know of any number of rows."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from mercer._sklearn import effective_n_threads

__all__ = ["Moments", "accumulate"]

Array = NDArray[np.float64]

# Entries of a block of node kernels: 16 MB in float64.
_BLOCK = 2**21


@dataclass
class Moments:
    """Sums over rows of kernels with nodes, relative to a fixed shift that is near their mean.

    Moments of two sets of rows add up, so that blocks, threads and calls of ``partial_fit`` merge
    by one law.

    Attributes
    ----------
    gram : ndarray of shape (n_nodes, n_nodes)
        Σᵢ vᵢ kᵢ kᵢᵀ.
    sums : ndarray of shape (C, n_nodes)
        Σᵢ vᵢ kᵢ over each class.
    weights : ndarray of shape (C,)
        Σᵢ vᵢ over each class.
    count : float
        Number of rows, a row of sample weight two counting as two.
    shift : ndarray of shape (n_nodes,)
        What was subtracted from k: sums about a distant origin would lose digits.
    """

    gram: Array
    sums: Array
    weights: Array
    count: float
    shift: Array

    @classmethod
    def empty(cls, n_classes: int, shift: Array) -> "Moments":
        """Return the moments of no rows."""
        n_nodes = len(shift)
        return cls(
            np.zeros((n_nodes, n_nodes)),
            np.zeros((n_classes, n_nodes)),
            np.zeros(n_classes),
            0.0,
            shift,
        )

    def absorb(
        self, K: NDArray[Any], labels: NDArray[np.intp], weights: Array, counts: Array
    ) -> None:
        """Add rows, whose kernels K (n_rows, n_nodes) may be float32; all sums are in float64."""
        centred = np.subtract(K, self.shift, dtype=np.float64)
        members = np.zeros((len(self.weights), len(labels)))
        members[labels, np.arange(len(labels))] = weights
        self.sums += members @ centred
        self.weights += members.sum(axis=1)
        self.count += float(counts.sum())
        centred *= np.sqrt(weights)[:, None]
        self.gram += centred.T @ centred

    def merge(self, other: "Moments") -> None:
        """Add the rows of moments with the same shift."""
        self.gram += other.gram
        self.sums += other.sums
        self.weights += other.weights
        self.count += other.count

    @property
    def shares(self) -> Array:
        """Share of each class in the weight."""
        return np.asarray(self.weights / self.weights.sum())

    @property
    def class_means(self) -> Array:
        """Mean kernels of each class relative to the overall mean, of shape (C, n_nodes)."""
        means = self.sums / np.maximum(self.weights, np.finfo(float).tiny)[:, None]
        return np.asarray(means - self.shares @ means)

    @property
    def mean(self) -> Array:
        """Overall mean of the kernels."""
        return np.asarray(self.shift + self.sums.sum(axis=0) / self.weights.sum())

    def total_scatter(self) -> Array:
        """Return the covariance of the kernels."""
        mean = self.sums.sum(axis=0) / self.weights.sum()
        return np.asarray(self.gram / self.weights.sum() - np.outer(mean, mean))

    def within_scatter(self) -> Array:
        """Return the covariance of the kernels within the classes."""
        means = self.class_means
        return np.asarray(self.total_scatter() - (means.T * self.shares) @ means)


def accumulate(
    moments: Moments,
    kernel_block: Callable[[slice], NDArray[Any]],
    labels: NDArray[np.intp],
    weights: Array,
    counts: Array,
) -> Moments:
    """Add all rows to the moments, block by block on all cores, and return them.

    Parameters
    ----------
    moments : Moments
        Where to add.
    kernel_block : callable
        Returns the kernels of a slice of rows with the nodes.
    labels, weights, counts : ndarray of shape (n_rows,)
        Classes, weights v and sample weights of the rows.

    Notes
    -----
    Each thread adds up its own share of the blocks, and the shares are merged in order: the
    result depends on the number of threads only by rounding.
    """
    n_nodes = len(moments.shift)
    blocks = list(gen_batches(len(labels), max(_BLOCK // max(n_nodes, 1), 256)))
    n_threads = max(1, min(effective_n_threads(), len(blocks)))

    def work(thread: int) -> Moments:
        part = Moments.empty(len(moments.weights), moments.shift)
        for rows in blocks[thread::n_threads]:
            part.absorb(kernel_block(rows), labels[rows], weights[rows], counts[rows])
        return part

    if n_threads == 1:
        moments.merge(work(0))
        return moments
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        for part in pool.map(work, range(n_threads)):
            moments.merge(part)
    return moments

"""Moments of node kernels: all that a fit on nodes needs to know of any number of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from mercer._arrays import like
from mercer._linalg import in_threads
from mercer._memory import in_blocks, thread_count, working_memory

Array = Any  # A float64 array of NumPy, or of torch on any device.

# A block of node kernels has this many entries, 16 MB in float64.
_BLOCK = 2**21
# A block of a tensor has this many entries, which keep a GPU busy.
_BLOCK_TENSORS = 2**25
_COPIES = 4  # Adding a block of a tensor needs this many copies of it at once.


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
        How many rows leave-one-out could leave out, which tells what share of itself a row fits.
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
        xp, n_nodes = array_namespace(shift), shift.shape[0]
        shapes = ((n_nodes, n_nodes), (n_classes, n_nodes), (n_classes,))
        gram, sums, weights = (
            xp.zeros(shape, dtype=xp.float64, device=device(shift)) for shape in shapes
        )
        return cls(gram, sums, weights, 0.0, shift)

    def absorb(self, K: Array, labels: Array, weights: Array, observations: Array) -> None:
        """Add rows, whose kernels K (n_rows, n_nodes) may be float32; all sums are in float64.

        Where a device runs out of memory, nothing is added.
        """
        xp = array_namespace(weights)
        n_rows, n_classes = weights.shape[0], self.weights.shape[0]
        centred = K - self.shift
        members = xp.zeros((n_classes, n_rows), dtype=xp.float64, device=device(weights))
        members[labels, xp.arange(n_rows, device=device(weights))] = weights
        sums, in_class = members @ centred, xp.sum(members, axis=1)
        centred *= xp.sqrt(weights)[:, None]
        self.gram += centred.T @ centred
        self.sums += sums
        self.weights += in_class
        self.count += float(xp.sum(observations))

    def merge(self, other: "Moments") -> None:
        """Add the rows of moments with the same shift."""
        self.gram += other.gram
        self.sums += other.sums
        self.weights += other.weights
        self.count += other.count

    @property
    def shares(self) -> Array:
        """Share of each class in the weight."""
        return self.weights / array_namespace(self.weights).sum(self.weights)

    @property
    def class_means(self) -> Array:
        """Mean kernels of each class relative to the overall mean, of shape (C, n_nodes)."""
        xp = array_namespace(self.weights)
        means = self.sums / xp.maximum(self.weights, np.finfo(float).tiny)[:, None]
        return means - self.shares @ means

    @property
    def mean(self) -> Array:
        """Overall mean of the kernels."""
        return self.shift + self._shifted_mean()

    def total_scatter(self) -> Array:
        """Return the covariance of the kernels."""
        mean = self._shifted_mean()
        return self.gram / array_namespace(mean).sum(self.weights) - mean[:, None] * mean

    def within_scatter(self) -> Array:
        """Return the covariance of the kernels within the classes."""
        means = self.class_means
        return self.total_scatter() - (means.T * self.shares) @ means

    def _shifted_mean(self) -> Array:
        """Return the mean of the kernels relative to the shift."""
        xp = array_namespace(self.sums)
        return xp.sum(self.sums, axis=0) / xp.sum(self.weights)


def near_mean(K: Array, weights: NDArray[np.float64]) -> Array:
    """Return the weighted mean of some rows' kernels: a shift near the mean of all rows."""
    share = weights / weights.max()
    return like(share / share.sum(), K) @ K


def accumulate(
    moments: Moments,
    kernel_block: Callable[[slice], Array],
    labels: Array,
    weights: Array,
    observations: Array,
) -> Moments:
    """Add all rows to the moments, block by block on all cores or a device, and return them.

    Parameters
    ----------
    moments : Moments
        Where to add.
    kernel_block : callable
        Returns the kernels of a slice of rows with the nodes.
    labels, weights, observations : array of shape (n_rows,)
        Classes, weights v, and how many rows each one is for leave-one-out, where the moments are.

    Notes
    -----
    Each thread adds up its own share of the blocks, and the shares are merged in order: the
    result depends on the number of threads only by rounding.
    """
    n_nodes = max(moments.shift.shape[0], 1)
    if not is_numpy_array(moments.gram):

        def absorb(rows: slice) -> None:
            moments.absorb(kernel_block(rows), labels[rows], weights[rows], observations[rows])

        most = min(_BLOCK_TENSORS, working_memory() // (8 * _COPIES))
        in_blocks(absorb, labels.shape[0], most // n_nodes)
        return moments
    blocks = list(gen_batches(len(labels), max(_BLOCK // n_nodes, 256)))
    n_threads = max(1, min(thread_count(), len(blocks)))

    def work(thread: int) -> Moments:
        part = Moments.empty(len(moments.weights), moments.shift)
        for rows in blocks[thread::n_threads]:
            part.absorb(kernel_block(rows), labels[rows], weights[rows], observations[rows])
        return part

    for part in in_threads(work, range(n_threads), moments.gram):
        moments.merge(part)
    return moments

"""Samples dealt into blocks of rows, and kernel sums between blocks: what permutations then need.

Where samples come from one distribution, their rows may be exchanged, and so may blocks of equally
many rows.  A permutation of some hundred blocks needs the sums between blocks only, whatever the
number of rows: with one row in a block it is the usual permutation, and with many it tests at the
same exact level, at next to the same power [1].

Up to `_ALL_PAIRS` rows every pair of rows is summed.  Beyond, rows are seen through landmarks drawn
from all samples alike: k(x, y) becomes k(x, L) K(L, L)⁻¹ k(L, y), in time that grows with the
number of rows [2].

.. [1] C. Domingo-Enrich, R. Dwivedi, L. Mackey (2025). Cheap permutation testing. arXiv:2502.07672.
.. [2] A. Chatalic, M. Letizia, N. Schreuder, L. Rosasco (2025). An efficient permutation-based
   kernel two-sample test. arXiv:2502.13570.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, take_rows, to_numpy
from mercer._linalg import cholesky, in_threads, solve_triangular
from mercer._memory import row_slabs, working_memory
from mercer.kernels import Kernel
from mercer.sums import kernel_sum

_BLOCKS = 512  # Samples are dealt into about this many blocks in all,
_MOST_BLOCKS = 1024  # and into no more than this many where one sample is small beside the others,
_LEAST_BLOCKS = 16  # because a sample of so many rows has this many blocks.
MOST_SAMPLES = _MOST_BLOCKS // 2  # The spread of a sample is seen between two blocks of it.
_ALL_PAIRS = 20_000  # Up to this many rows all pairs are summed.
_ONE_SLAB = 4096  # Fewer rows are summed in one call.
_LANDMARKS = 512
_RIDGE = 1e-6  # Eigenvalues of K(L, L) below this share of their sum are damped.


@dataclass(frozen=True)
class Blocks:
    """Blocks of equally many rows, and the sample that each is of.

    Parameters
    ----------
    rows : array of int of shape (blocks, rows of a block)
        Rows of the samples, numbered through.
    samples : array of int of shape (blocks,)
    """

    rows: NDArray[np.int64]
    samples: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many blocks each sample has."""
        return np.bincount(self.samples)


def deal_blocks(sizes: Sequence[int], random: np.random.RandomState) -> Blocks:
    """Deal the rows of samples of these sizes into blocks, at random.

    Up to 512 rows are a block each.  What is left of a sample after its last whole block, fewer
    rows than a block has, is left out, as are rows of a sample that is so much larger than the
    smallest that more than 1024 blocks would be needed.
    """
    n = sum(sizes)
    n_rows = max(1, min(-(-n // _BLOCKS), min(sizes) // _LEAST_BLOCKS))
    whole = [size // n_rows for size in sizes]
    most = _most_of_each(whole)
    rows, start = [], 0
    for size, count in zip(sizes, whole, strict=True):
        count = min(count, most)
        chosen = random.permutation(size)[: count * n_rows]
        rows.append(start + chosen.reshape(count, n_rows))
        start += size
    samples = np.repeat(np.arange(len(sizes)), [len(part) for part in rows])
    return Blocks(np.concatenate(rows), samples)


def _most_of_each(counts: Sequence[int]) -> int:
    """Return how many blocks a sample may have, so that all together have no more than allowed."""
    ordered, room = sorted(counts), _MOST_BLOCKS
    for i, count in enumerate(ordered):
        share = room // (len(ordered) - i)
        if count > share:
            return max(share, 1)
        room -= count
    return ordered[-1]


def label_blocks(
    blocks: Blocks, n_permutations: int, random: np.random.RandomState
) -> NDArray[np.int16]:
    """Return the sample of each block, as it is and then at random: (1 + permutations, blocks)."""
    labellings = np.empty((n_permutations + 1, blocks.samples.size), dtype=np.int16)
    labellings[0] = blocks.samples
    for row in labellings[1:]:
        row[:] = random.permutation(blocks.samples)
    return labellings


def block_sums(
    parts: Sequence[Array],
    blocks: Blocks,
    kernel: Kernel,
    widths: FloatArray,
    random: np.random.RandomState,
) -> FloatArray:
    """Return kernel sums over pairs of rows of two blocks, (widths, blocks, blocks).

    Parts are the samples, of one library, in the order in which their rows are numbered.  The sums
    of a block with itself are not computed: they are 0.
    """
    if blocks.rows.size <= _ALL_PAIRS:
        sums = sums_over_pairs(gather_rows(parts, blocks.rows), blocks, kernel, widths)
    else:
        sums = _sums_through_landmarks(parts, blocks, kernel, widths, random)
    diagonal = np.arange(sums.shape[1])
    sums[:, diagonal, diagonal] = 0
    return sums


def gather_rows(parts: Sequence[Array], rows: NDArray[np.int64]) -> Array:
    """Return these rows of the samples, one after the other, in float64."""
    rows = rows.ravel()
    xp = array_namespace(parts[0])
    ends = np.cumsum([part.shape[0] for part in parts])
    which = np.searchsorted(ends, rows, side="right")
    gathered, places = [], []
    for i, part in enumerate(parts):
        place = np.flatnonzero(which == i)
        if place.size:
            found = take_rows(part, rows[place] - (ends[i] - part.shape[0]))
            gathered.append(xp.astype(found, xp.float64))
            places.append(place)
    together = gathered[0] if len(gathered) == 1 else xp.concat(gathered)
    order = np.argsort(np.concatenate(places), kind="stable")
    if (np.diff(order) == 1).all():
        return together
    return take_rows(together, order)


def sums_over_pairs(
    Z: Array, blocks: Blocks, kernel: Kernel, widths: FloatArray, weights: Array | None = None
) -> FloatArray:
    """Return Σ wᵢ wⱼ k(zᵢ, zⱼ) over the rows of two blocks, (widths, blocks, blocks).

    Rows are in the order of the blocks.
    """
    n_blocks, n_rows = blocks.rows.shape
    sums = np.empty((len(widths), n_blocks, n_blocks))
    bytes_per_block = 3 * 8 * len(widths) * n_blocks * n_rows
    budget = working_memory() // 4
    if len(Z) > _ONE_SLAB:  # Eight slabs and more, because a slab meets only what follows it.
        budget = min(budget, bytes_per_block * -(-n_blocks // 8))
    for a, b in row_slabs(n_blocks, bytes_per_block, budget):
        first, stop = a * n_rows, b * n_rows
        found = kernel_sum(
            Z[first:stop, :], Z[first:, :],
            weights=None if weights is None else weights[first:],
            groups=np.repeat(np.arange(n_blocks - a), n_rows), kernel=kernel, bandwidth=widths,
        )  # fmt: skip
        if weights is not None:
            found = found * weights[first:stop, None]
        slab = to_numpy(found).reshape(len(widths), b - a, n_rows, -1).sum(axis=2)
        sums[:, a:b, a:] = slab
        sums[:, a:, a:b] = slab.transpose(0, 2, 1)
    return sums


def _sums_through_landmarks(
    parts: Sequence[Array],
    blocks: Blocks,
    kernel: Kernel,
    widths: FloatArray,
    random: np.random.RandomState,
) -> FloatArray:
    """Return sums of k(x, L) K(L, L)⁻¹ k(L, y).

    The landmarks L are drawn from the rows of all blocks alike, which exchanging blocks does not
    change: the test stays exact.
    """
    n_blocks, n_rows = blocks.rows.shape
    chosen = random.randint(blocks.rows.size, size=_LANDMARKS)
    L = gather_rows(parts, np.unique(blocks.rows.ravel()[chosen]))
    m, d = L.shape
    of_landmarks = np.empty((len(widths), m, n_blocks))
    bytes_per_block = 8 * (2 * len(widths) * m + 4 * d * n_rows)
    for a, b in row_slabs(n_blocks, bytes_per_block, working_memory() // 8):
        groups = np.repeat(np.arange(b - a), n_rows)
        rows = gather_rows(parts, blocks.rows[a:b])
        of_landmarks[:, :, a:b] = to_numpy(
            kernel_sum(L, rows, groups=groups, kernel=kernel, bandwidth=widths)
        )
    between = kernel_sum(L, L, groups=np.arange(m), kernel=kernel, bandwidth=widths)
    pairs = list(zip(to_numpy(between), of_landmarks, strict=True))
    return np.array(in_threads(lambda pair: _through(*pair), pairs, of_landmarks))


def _through(K: FloatArray, F: FloatArray) -> FloatArray:
    """Return Fᵀ(K + ridge)⁻¹F."""
    m = K.shape[0]
    factor = cholesky((K + K.T) / 2 + _RIDGE * m * np.eye(m), lower=True)
    half = solve_triangular(factor, F, lower=True)
    out: FloatArray = half.T @ half
    return out

r"""MMD-FUSE: discrepancies at many kernels in one statistic, for two samples or more [1].

.. math:: T = \frac1\lambda \log \frac1K \sum_{k=1}^K \exp\left(\lambda \, D_k / \sqrt{N_k}\right)

D_k is the unbiased discrepancy of the samples at kernel k.  N_k brings kernels to one scale and is
the same for all labellings, so that a permutation test of T has its exact level.  Here it is the
mean square of the kernel *centred* in the pooled sample, by which D_k has the same variance for
each k where samples do not differ.  The paper's N_k is the mean square of the kernel itself: wide
kernels, near 1 everywhere, are then divided by far too much, and shifts go unseen.

.. [1] F. Biggs, A. Schrab, A. Gretton (2023). MMD-FUSE: Learning and combining kernels for
   two-sample testing without data splitting. NeurIPS 36. arXiv:2306.08777. Eq. (6).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mercer._arrays import Array, FloatArray
from mercer._linalg import in_threads, one_thread
from mercer._memory import row_slabs, working_memory
from mercer.bandwidth import bandwidth_ladder
from mercer.information._blocks import Blocks, block_sums
from mercer.information._median import median_bandwidth
from mercer.kernels import Kernel, get_kernel, overlap_width

# λ in units of 1/D_k's standard deviation where samples do not differ, times √2.
_SHARPNESS = 4.0
# A kernel whose centred values are below this share of its values is constant but for rounding.
_CONSTANT = 1e-7
# Discrepancies this close, in standard deviations, are the same but for rounding.
_TIE = 1e-7
# Labellings of fewer blocks in all are added up before threads would have begun.
_WORTH_THREADS = 30_000
# Ten widths a factor √2 apart: from an eighth of the median distance to 2.8 times that.
_STEPS_DOWN, _STEPS_UP = 6, 3


@dataclass(frozen=True)
class Ladder:
    """A kernel and the Parzen bandwidths at which it is looked at."""

    kernel: Kernel
    bandwidths: tuple[float, ...]

    @property
    def widths(self) -> FloatArray:
        """The widths of the kernels that are summed."""
        return np.array([overlap_width(self.kernel, h, h) for h in self.bandwidths])


def make_ladders(
    parts: Sequence[Array], kernels: Sequence[Kernel], random: np.random.RandomState
) -> list[Ladder]:
    """Return ten widths of each kernel, around the median distance of two rows."""
    ladders = []
    for kernel in kernels:
        median = median_bandwidth(parts, kernel, random)
        rungs = bandwidth_ladder(median, steps_down=_STEPS_DOWN, steps_up=_STEPS_UP)
        ladders.append(Ladder(kernel, tuple(rungs.tolist())))
    return ladders


@dataclass(frozen=True)
class Fused:
    """T for each labelling, and what it is made of.

    Parameters
    ----------
    values : array of shape (labellings,)
        T, in the unit of what was fused.
    tie : float
        Values no further apart are the same but for rounding.
    best_bandwidth : float
        Parzen bandwidth of the rung, of the first kernel, that sees most in the first labelling.
    """

    values: FloatArray
    tie: float
    best_bandwidth: float


def fuse_discrepancies(
    parts: Sequence[Array],
    blocks: Blocks,
    labellings: NDArray[np.int16],
    ladders: Sequence[Ladder],
    random: np.random.RandomState,
) -> Fused:
    """Return T over all ladders, in units of D, for labellings of blocks, the true one first."""
    normalised = []
    for ladder in ladders:
        sums = block_sums(parts, blocks, ladder.kernel, ladder.widths, random)
        normalised.append(np.array(_discrepancies_of_all(sums, labellings, blocks.counts)))
    # D has about √(2 (samples − 1)) / blocks for its standard deviation.
    unit = sqrt(blocks.counts.size - 1) / blocks.samples.size
    return fuse(normalised, ladders, _SHARPNESS / unit)


def fuse(normalised: Sequence[FloatArray], ladders: Sequence[Ladder], sharpness: float) -> Fused:
    """Return the soft maximum T of statistics (widths, labellings) for each ladder; λ is sharpness.

    Statistics have one standard deviation where samples do not differ, √2 or so in units of
    4/λ.
    """
    together = np.concatenate(normalised)
    logs: FloatArray = logsumexp(sharpness * together, axis=0)
    values = (logs - log(len(together))) / sharpness  # [1] eq. (6)
    best = ladders[0].bandwidths[int(np.argmax(normalised[0][:, 0]))]
    return Fused(values, _TIE / sharpness, best)


def _discrepancies_of_all(
    sums: FloatArray, labellings: NDArray[np.int16], counts: NDArray[np.int64]
) -> list[FloatArray]:
    """Return the discrepancies at each width, (widths, labellings)."""

    def of_one(K: FloatArray) -> FloatArray:
        return discrepancies(centred(K), labellings, counts)

    if labellings.size < _WORTH_THREADS:
        with one_thread():
            return [of_one(K) for K in sums]
    return in_threads(of_one, list(sums), sums)


def two_kernels() -> tuple[Kernel, Kernel]:
    """Return the kernels of a test that is given none."""
    return get_kernel("gaussian"), get_kernel("laplacian")


def centred(sums: FloatArray) -> FloatArray:
    """Return sums between blocks, U-centred and divided by √N_k: (blocks, blocks).

    Off the diagonal, rows and columns then add up to 0 and the mean square is 1; the discrepancy
    is the same as that of the sums themselves, but for the scale.  All are 0 for a constant kernel.
    """
    s = sums.shape[0]
    K = sums - np.diag(np.diag(sums))
    rows = K.sum(axis=1)
    total = rows.sum()
    C = K - (rows[:, None] + rows) / (s - 2) + total / ((s - 1) * (s - 2))
    np.fill_diagonal(C, 0)
    norm = sqrt(float(np.sum(C * C)) / (s * (s - 3)))
    if norm <= _CONSTANT * sqrt(float(np.sum(K * K)) / (s * (s - 1))):
        return np.zeros_like(C)
    out: FloatArray = C / norm
    return out


def sums_within(K: FloatArray, labellings: NDArray[np.int16], sample: int) -> FloatArray:
    """Return Σ K_ab over blocks a, b of one sample, for each labelling (labellings, blocks)."""
    out = np.empty(len(labellings))
    for start, stop in row_slabs(len(labellings), 3 * 8 * K.shape[0], working_memory() // 4):
        members = (labellings[start:stop] == sample).astype(np.float64)
        out[start:stop] = np.vecdot(members, members @ K)
    return out


def discrepancies(
    C: FloatArray, labellings: NDArray[np.int16], counts: NDArray[np.int64]
) -> FloatArray:
    r"""Return D = Σ_{i<j} π_i π_j MMD²(i, j) of a centred kernel, for each labelling.

    It is also Σ_i π_i ‖m_i − m‖², the scatter of the means about their own; π_i is the share of
    sample i.  The U-statistics need only sums within samples: those across add up to minus these.
    """
    n = counts.sum()
    # With π_i (1 − π_i)/(n_i (n_i − 1)) of MMD²(i, ·), and 1/n² of the sums across.
    factors = (1 - counts / n) / (n * (counts - 1)) + 1 / n**2
    if len(counts) == 2:  # Both have the same sum within, because rows add up to 0.
        return sums_within(C, labellings, 0) * float(factors.sum())
    out = np.zeros(len(labellings))
    for sample, factor in enumerate(factors):
        out += factor * sums_within(C, labellings, sample)
    return out

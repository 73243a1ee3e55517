"""Do several samples come from one distribution?  Permutation tests of scatter and of the cut."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, detached, to_numpy
from mercer._linalg import one_thread
from mercer._memory import row_slabs, working_memory
from mercer.bandwidth import resolve_bandwidth
from mercer.information._blocks import (
    MOST_SAMPLES,
    Blocks,
    deal_blocks,
    gather_rows,
    label_blocks,
    sums_over_pairs,
)
from mercer.information._fuse import (
    Fused,
    Ladder,
    fuse,
    fuse_discrepancies,
    make_ladders,
    two_kernels,
)
from mercer.information._median import median_bandwidth
from mercer.information._test_result import (
    PermutationTestResult,
    check_test_options,
    compare_with_permutations,
)
from mercer.kernels import Kernel, get_kernel
from mercer.samples import check_labelled, refuse_dask
from mercer.sums import kernel_sum

_MOST_ROWS_OF_CUT = 10_000  # Its weights differ from width to width: a pass over pairs for each.
# λ for statistics of standard deviation 1: as for discrepancies, whose unit is √2 of theirs.
_SHARPNESS = 4 * sqrt(2)
_NAMES = {"mmd": "scatter of the means", "laplacian_cut": "Laplacian divergence"}


@dataclass(frozen=True, eq=False)
class KSampleTestResult(PermutationTestResult):
    """What :func:`k_sample_test` found; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        How much the samples differ.  For "mmd" the scatter D of the means of the samples, in
        standard deviations of the kernel; for "laplacian_cut" minus the logarithm of
        :func:`laplacian_information_cut`, 708 at most.  Without a bandwidth the soft maximum of
        many: of D, or of the cut's distance from its mean over all labellings, in standard
        deviations.
    pvalue : float
        (1 + number of permutations with a statistic as large) / (1 + number of permutations).
    null_distribution : ndarray of shape (n_permutations,)
        The statistics of the permuted samples, sorted.
    bandwidth : float
        The Parzen bandwidth h that was used; of many, the one at which the first kernel sees most
        of the difference.
    confidence_level : float
        ``significant`` asks for a p-value of at most one minus this.
    name : str
        What the statistic is.
    """

    _who: ClassVar[str] = "The samples"


def k_sample_test(
    X: Any,
    y: Any,
    *,
    statistic: str = "mmd",
    bandwidth: Any = None,
    kernel: str | Kernel | None = None,
    n_permutations: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> KSampleTestResult:
    r"""Test whether samples come from one distribution, two of them or more, by permuting rows.

    With "mmd" the statistic is how far the means of the samples lie from their common mean in the
    feature space of the kernel, which is also the sum over all pairs of samples of their squared
    maximum mean discrepancy:

    .. math:: D = \sum_i \pi_i \, \lVert m_i - m \rVert^2
       = \sum_{i<j} \pi_i \pi_j \, \mathrm{MMD}^2(i, j), \qquad \pi_i = n_i / n

    estimated without bias.  With "laplacian_cut" it is the mean cosine between these means, each
    row weighted by its rarity (:func:`laplacian_information_cut`), and small cuts count.
    Either is compared with that of samples of the same sizes drawn at random from all rows: the
    p-value is exact whatever the data, the bandwidth and the dimension.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows of all samples: a NumPy array or what becomes one, or a torch tensor.
    y : array-like of shape (n,)
        Which sample each row is of; two samples or more, of two rows or more each.
    statistic : {"mmd", "laplacian_cut"}, default="mmd"
        What is compared.
    bandwidth : float, str or None, default=None
        Parzen bandwidth h.  None fuses ten widths of each kernel into one statistic, as
        :func:`two_sample_test` does.  ``"median"`` makes the width of the kernel the median
        distance of two rows; or a rule of :func:`mercer.bandwidth.resolve_bandwidth`.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"}, Kernel or None, default=None
        A Mercer kernel.  None is "gaussian", and without a bandwidth both "gaussian" and
        "laplacian".
    n_permutations : int, default=999
        B; the least p-value is 1/(1 + B).
    confidence_level : float, default=0.95
        One minus the level of the test.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations, of the blocks, and of the rows for medians and as landmarks.

    Returns
    -------
    KSampleTestResult
        Statistic and p-value.

    See Also
    --------
    two_sample_test : The same for two samples; the p-value of "mmd" is that of its "fuse".
    laplacian_information_cut : The cut itself, with weights.

    Notes
    -----
    Rows must be independent, columns of one scale.  The test says that samples differ, not which:
    compare pairs by :func:`two_sample_test` and correct for their number.

    More than 512 rows are dealt at random into some 512 blocks that are permuted, and beyond 20 000
    rows "mmd" sees them through 512 landmarks, as for :func:`two_sample_test`: time and memory are
    those given there.  "laplacian_cut" needs weights that differ from width to width, and looks at
    10 000 rows at most, drawn at random from each sample in proportion.  There may be 512 samples.

    References
    ----------
    .. [1] F. Biggs, A. Schrab, A. Gretton (2023). MMD-FUSE: Learning and combining kernels for
       two-sample testing without data splitting. Advances in Neural Information Processing
       Systems 36.
    .. [2] R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft (2007). The Laplacian classifier.
       IEEE Transactions on Signal Processing 55, 3262-3271. Eqs. (8)-(15).
       :doi:`10.1109/TSP.2007.894391`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import k_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(150, 3)), np.repeat(["a", "b", "c"], 50)
    >>> k_sample_test(X, y, random_state=0).significant
    False
    >>> k_sample_test(X + 0.5 * (y == "c")[:, None], y, random_state=0).pvalue
    0.001
    """
    if not (isinstance(statistic, str) and statistic in _NAMES):
        names = " or ".join(map(repr, _NAMES))
        raise ValueError(f"statistic must be {names}, got {statistic!r}.")
    check_test_options(n_permutations, confidence_level)
    is_fused = bandwidth is None
    kernels = two_kernels() if is_fused and kernel is None else (get_kernel(kernel or "gaussian"),)
    for one in kernels:
        one.require_mercer("A test of samples")
    refuse_dask(
        X,
        "k_sample_test",
        "every permutation looks at all rows",
        "draw a sample of the rows and pass it in memory, X[rows].compute()",
    )
    X, codes, n_samples, _ = check_labelled(X, y, None)
    X, codes = detached(X), to_numpy(codes).astype(np.int64)
    _check_sizes(codes, n_samples)
    random = check_random_state(random_state)
    blocks = _deal_labelled(codes, random)
    labellings = label_blocks(blocks, int(n_permutations), random)
    if is_fused:
        ladders = make_ladders((X,), kernels, random)
    else:
        ladders = [Ladder(kernels[0], (_one_bandwidth(bandwidth, X, kernels[0], random),))]
    if statistic == "mmd":
        found = fuse_discrepancies((X,), blocks, labellings, ladders, random)
    else:
        found = _fuse_cuts(X, blocks, labellings, ladders)
    null, pvalue = compare_with_permutations(found.values, found.values, found.tie)
    return KSampleTestResult(
        statistic=float(found.values[0]),
        pvalue=pvalue,
        null_distribution=null,
        bandwidth=found.best_bandwidth,
        confidence_level=float(confidence_level),
        name=("fused " if is_fused else "") + _NAMES[statistic],
    )


def _check_sizes(codes: NDArray[np.int64], n_samples: int) -> None:
    """Raise unless there are two samples or more, of two rows or more."""
    if n_samples < 2:
        raise ValueError(f"y must hold two samples or more, got {n_samples}.")
    if n_samples > MOST_SAMPLES:
        raise ValueError(
            f"y holds {n_samples} samples; a test of samples takes {MOST_SAMPLES} at most."
        )
    least = int(np.bincount(codes).min())
    if least < 2:
        raise ValueError("y has a sample of one row, whose spread cannot be seen; leave it out.")


def _deal_labelled(codes: NDArray[np.int64], random: np.random.RandomState) -> Blocks:
    """Return blocks of the rows of each sample."""
    by_sample = np.argsort(codes, kind="stable")
    blocks = deal_blocks(np.bincount(codes).tolist(), random)
    return replace(blocks, rows=by_sample[blocks.rows])


def _one_bandwidth(
    bandwidth: Any, X: Array, kernel: Kernel, random: np.random.RandomState
) -> float:
    if isinstance(bandwidth, str) and bandwidth == "median":
        return median_bandwidth((X,), kernel, random)
    return resolve_bandwidth(bandwidth, X, kernel=kernel)


def _fuse_cuts(
    X: Array, blocks: Blocks, labellings: NDArray[np.int16], ladders: Sequence[Ladder]
) -> Fused:
    """Return how small the cuts are, fused, or minus the logarithm of the only one."""
    most = max(1, _MOST_ROWS_OF_CUT // len(blocks.rows))
    blocks = replace(blocks, rows=blocks.rows[:, :most])
    Z = gather_rows((X,), blocks.rows)
    cuts = [
        np.array([_cuts(Z, blocks, labellings, ladder.kernel, h, width)
                  for h, width in zip(ladder.bandwidths, ladder.widths.tolist(), strict=True)])
        for ladder in ladders
    ]  # fmt: skip
    if len(cuts) == len(cuts[0]) == 1:
        # LC eq. (14); a cut below the range of floats is as small as the least of them.
        divergences = -np.log(np.maximum(cuts[0][0], np.finfo(float).tiny))
        return Fused(divergences, 1e-9, ladders[0].bandwidths[0])
    return fuse([_standardised(-part) for part in cuts], ladders, _SHARPNESS)


def _standardised(values: FloatArray) -> FloatArray:
    """Return values (widths, labellings) minus their means, over their standard deviations.

    The true labelling is one of them, so that all labellings are treated alike: tests stay exact.
    """
    from_mean = values - values.mean(axis=1, keepdims=True)
    spread = from_mean.std(axis=1, keepdims=True)
    out: FloatArray = np.zeros_like(values)
    np.divide(from_mean, spread, out=out, where=spread > 1e-12)
    return out


def _cuts(
    Z: Array,
    blocks: Blocks,
    labellings: NDArray[np.int16],
    kernel: Kernel,
    bandwidth: float,
    width: float,
) -> FloatArray:
    """Return the Laplacian information cut of each labelling."""
    rarity = kernel_sum(Z, kernel=kernel, bandwidth=bandwidth) ** -0.5  # LC eq. (8)
    (M,) = sums_over_pairs(Z, blocks, kernel, np.array([width]), rarity)
    n_samples, cuts = blocks.counts.size, np.empty(len(labellings))
    bytes_per_labelling = 8 * (2 * n_samples + 1) * M.shape[0]
    with one_thread():
        for start, stop in row_slabs(len(labellings), bytes_per_labelling, working_memory() // 4):
            members = np.arange(n_samples)[:, None, None] == labellings[start:stop]
            members = members.astype(np.float64)
            sums = members @ M
            squares = np.vecdot(sums, members)  # N_i² ‖m_i‖²
            first, second = np.triu_indices(n_samples, k=1)
            cosines = [
                np.vecdot(sums[i], members[j]) / np.sqrt(squares[i] * squares[j])
                for i, j in zip(first, second, strict=True)
            ]
            cuts[start:stop] = np.mean(cosines, axis=0)  # LC eq. (15)
    return cuts

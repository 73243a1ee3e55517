"""Do two samples come from one distribution?  A permutation test of a divergence."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, detached, itemsize
from mercer.bandwidth import resolve_bandwidth
from mercer.information._blocks import deal_blocks, label_blocks
from mercer.information._fuse import fuse_discrepancies, make_ladders, two_kernels
from mercer.information._median import median_bandwidth
from mercer.information._permutations import PartSums, part_sums
from mercer.information._test_result import (
    PermutationTestResult,
    check_test_options,
    compare_with_permutations,
)
from mercer.kernels import Kernel, get_kernel, overlap_width
from mercer.samples import check_sample, match_rows, refuse_dask

_FEW_NEIGHBOURS = 1e-3  # Below this mean overlap the test rests on the few closest pairs.
_NAMES = {
    "fuse": "fused discrepancy",
    "ise": "integrated squared error",
    "cauchy_schwarz": "Cauchy–Schwarz divergence",
}


@dataclass(frozen=True, eq=False)
class TwoSampleTestResult(PermutationTestResult):
    """What :func:`two_sample_test` found; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        The divergence of the two samples: for "fuse" the fused discrepancy T, which is about 0 or
        less where samples do not differ; for "cauchy_schwarz" that of
        :func:`cauchy_schwarz_divergence`; for "ise" :func:`integrated_squared_error` in units of
        the kernel's peak, which is the squared maximum mean discrepancy of a kernel with k(0) = 1,
        the pairs of a row with itself included.
    pvalue : float
        (1 + number of permutations with a divergence as large) / (1 + number of permutations).
    null_distribution : ndarray of shape (n_permutations,)
        The divergences of the permuted samples, sorted.
    bandwidth : float
        The Parzen bandwidth h that was used; for "fuse" the one, of ten, at which the first kernel
        sees most of the difference.
    confidence_level : float
        ``significant`` asks for a p-value of at most one minus this.
    name : str
        What the statistic is.
    """

    _who: ClassVar[str] = "X and Y"


def two_sample_test(
    X: Any,
    Y: Any,
    *,
    statistic: str | None = None,
    bandwidth: Any = None,
    kernel: str | Kernel | None = None,
    n_permutations: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> TwoSampleTestResult:
    r"""Test whether two samples come from one distribution, by permuting their rows.

    The divergence of the samples is compared with that of samples of the same sizes, drawn at
    random from the rows of both.  If X and Y come from one distribution, all of these
    are alike, and the p-value is exact whatever the data, the bandwidth and the dimension:

    .. math:: p = \frac{1 + \#\{b : D_b \ge D\}}{1 + B}

    Without a bandwidth, twenty kernels are tried at once (MMD-FUSE [3]_): Gaussian and city-block
    ones of ten widths each.  Their discrepancies are brought to one scale and averaged so that the
    large ones count most,

    .. math:: T = \frac1\lambda \log \frac1{20} \sum_k
       \exp\left(\lambda \, \mathrm{MMD}^2_k / \sqrt{N_k}\right)

    and T is compared with that of the permutations: one test, and no rows set aside to choose.

    Parameters
    ----------
    X : array-like of shape (n, d)
        First sample: a NumPy array or what becomes one, or a torch tensor.
    Y : array-like of shape (m, d)
        Second sample, of the same library.
    statistic : {"fuse", "ise", "cauchy_schwarz"} or None, default=None
        "fuse" is T.  The others need one bandwidth:
        :func:`integrated_squared_error` (the test is then that of the maximum mean
        discrepancy) or :func:`cauchy_schwarz_divergence`.  None is "fuse", or "ise" where a
        bandwidth is given.
    bandwidth : float, str or None, default=None
        Parzen bandwidth h of both samples.  None leaves it to "fuse", and is ``"median"`` for the
        other statistics.  ``"median"`` makes the width of the kernel, √2·h for
        Gaussian windows and h for others, the median distance of two rows (of 1000 at random if
        there are more).  A rule of :func:`mercer.bandwidth.resolve_bandwidth` sees the rows of
        both samples.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"}, Kernel or None, default=None
        A Mercer kernel.  None is "gaussian", and for "fuse" both "gaussian" and "laplacian".
    n_permutations : int, default=999
        B; the least p-value is 1/(1 + B).
    confidence_level : float, default=0.95
        One minus the level of the test.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations, of the blocks, and of the rows for medians and as landmarks.

    Returns
    -------
    TwoSampleTestResult
        Statistic and p-value.

    Warns
    -----
    UserWarning
        Where a given bandwidth is so narrow that rows hardly see each other: the p-value remains
        exact, but rests on the few closest pairs.

    See Also
    --------
    integrated_squared_error, cauchy_schwarz_divergence : The divergences, with weights.
    k_sample_test : Three samples and more.

    Notes
    -----
    Rows must be independent; rows that belong together need another test.  Columns should be of
    one scale: one that is a thousand times as wide as the others is all that a distance sees.

    **Without a bandwidth.**  The widths of the kernels are √2 apart, from 1/8 of the median
    distance of two rows (city-block distance for "laplacian") to 2.8 times that.  MMD² is the
    unbiased estimate, and N_k the mean square of the kernel centred in the rows of both samples,
    by which each MMD²_k has the same variance if there is no difference; [3]_ does not centre,
    which all but hides wide kernels.  λ = 4·n·m/(n + m), where n and m count blocks.

    More than 512 rows are dealt at random into some 512 blocks of equally many rows, and blocks are
    permuted [4]_: exact all the same.  Less than one block of each sample is left over and not
    used; nor are rows of a sample that is so much larger than the other that they add nothing.
    With up to 20 000 rows in all every pair is summed: time (n + m)²/2 pairs for each of two
    kernels.  Beyond, each of the rows meets 512 landmarks [5]_: time and nothing else grows with
    n + m.  Memory stays within scikit-learn's ``working_memory``.

    **With a bandwidth.**  Every labelling is a column of a matrix product with blocks of the kernel
    matrix, each computed once: time is (n + m)²·(B + d)/2 multiply-adds at the speed of a matrix
    product; memory B·(n + m) bytes and a few blocks, within ``working_memory``.  float32
    rows take half the time.  The pairs of a row with itself are the same for every labelling and
    are left out of the comparison, and a common scale is taken out of the others, so that many
    columns, where those pairs would swamp or underflow the rest, need no care.

    A width that is right for the difference at hand has more power than twenty of them; who knows
    it should give it.  Choosing the bandwidth that gives the least p-value makes it invalid.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf, A. Smola (2012). A kernel
       two-sample test. Journal of Machine Learning Research 13, 723-773.
    .. [2] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. :doi:`10.1007/s11265-006-9771-8`
    .. [3] F. Biggs, A. Schrab, A. Gretton (2023). MMD-FUSE: Learning and combining kernels for
       two-sample testing without data splitting. Advances in Neural Information Processing
       Systems 36.
    .. [4] C. Domingo-Enrich, R. Dwivedi, L. Mackey (2025). Cheap permutation testing.
       arXiv:2502.07672.
    .. [5] A. Chatalic, M. Letizia, N. Schreuder, L. Rosasco (2025). An efficient permutation-based
       kernel two-sample test. arXiv:2502.13570.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import two_sample_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(100, 3)), rng.normal(size=(80, 3)) + 0.5
    >>> result = two_sample_test(X, Y, random_state=0)
    >>> result.pvalue, result.significant
    (0.001, True)
    """
    is_fused = _is_fused(statistic, bandwidth)
    statistic = statistic or ("fuse" if is_fused else "ise")
    kernels = two_kernels() if is_fused and kernel is None else (get_kernel(kernel or "gaussian"),)
    for one in kernels:
        one.require_mercer("A two-sample test")
    check_test_options(n_permutations, confidence_level)
    for A in (X, Y):
        refuse_dask(
            A,
            "two_sample_test",
            "every permutation looks at all rows",
            "draw a sample of the rows and pass it in memory, X[rows].compute()",
        )
    X, _ = check_sample(X, None)
    Y, _ = check_sample(Y, None, names=("Y", "sample_weight"), of=X)
    X, Y = (detached(A) for A in match_rows(X, Y))
    random = check_random_state(random_state)
    if is_fused:
        return _fused_test(X, Y, kernels, int(n_permutations), float(confidence_level), random)

    kernel = kernels[0]
    # Sums within the first sample are added up, those within the second are what is left of all
    # pairs: of a small one the rounding of all would be left.
    if X.shape[0] > Y.shape[0]:
        X, Y = Y, X
    Z, n_x, n_y = array_namespace(X).concat([X, Y]), X.shape[0], Y.shape[0]
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth == "median"):
        h = median_bandwidth((Z,), kernel, random)
    else:
        h = resolve_bandwidth(bandwidth, Z, kernel=kernel)

    width = overlap_width(kernel, h, h)
    sums = part_sums(Z, n_x, int(n_permutations), kernel, width, random)
    if sums.log_mean_neighbours < log(_FEW_NEIGHBOURS):
        warnings.warn(
            f"bandwidth={h:.3g} is so narrow that rows hardly see each other (over the other rows, "
            f"the kernel adds up to {exp(sums.log_mean_neighbours):.1g} on average): the test "
            "rests on the few closest pairs; a wider bandwidth has more power.",
            UserWarning,
            stacklevel=2,
        )
    compare = _squared_errors if statistic == "ise" else _divergences
    values, order, tolerance = compare(sums, n_x, n_y, itemsize(Z))
    null, pvalue = compare_with_permutations(values, order, tolerance)
    return TwoSampleTestResult(
        statistic=float(values[0]),
        pvalue=pvalue,
        null_distribution=null,
        bandwidth=h,
        confidence_level=float(confidence_level),
        name=_NAMES[statistic],
    )


def _fused_test(
    X: Array,
    Y: Array,
    kernels: Sequence[Kernel],
    n_permutations: int,
    confidence_level: float,
    random: np.random.RandomState,
) -> TwoSampleTestResult:
    for A, name in ((X, "X"), (Y, "Y")):
        if A.shape[0] < 2:
            raise ValueError(
                f"{name} has one row, whose spread cannot be seen; give a bandwidth to test it."
            )
    blocks = deal_blocks((X.shape[0], Y.shape[0]), random)
    labellings = label_blocks(blocks, n_permutations, random)
    ladders = make_ladders((X, Y), kernels, random)
    found = fuse_discrepancies((X, Y), blocks, labellings, ladders, random)
    # MMD² is the scatter of two means about their own, over the product of the shares.
    unit = float(blocks.samples.size**2 / np.prod(blocks.counts))
    null, pvalue = compare_with_permutations(unit * found.values, found.values, found.tie)
    return TwoSampleTestResult(
        statistic=float(unit * found.values[0]),
        pvalue=pvalue,
        null_distribution=null,
        bandwidth=found.best_bandwidth,
        confidence_level=confidence_level,
        name=_NAMES["fuse"],
    )


def _squared_errors(
    sums: PartSums, n_x: int, n_y: int, bytes_per_number: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return ‖m₁ − m₂‖², the same without the constant diagonal, and the rounding of the latter."""
    xx, yy = sums.within_x / n_x**2, sums.within_y / n_y**2
    xy = sums.across / (n_x * n_y)
    order = xx - 2 * xy + yy  # EQ eq. (28)
    values = 1 / n_x + 1 / n_y + np.exp(sums.log_scale) * order
    tolerance = _eps(bytes_per_number) * float(xx[0] + 2 * xy[0] + yy[0])
    return np.maximum(values, 0.0), order, tolerance


def _divergences(
    sums: PartSums, n_x: int, n_y: int, bytes_per_number: int
) -> tuple[FloatArray, FloatArray, float]:
    """Return D_CS, twice as it also gives the order, and its rounding for the given samples."""
    eps = _eps(bytes_per_number)
    of_x = sums.across + sums.within_x  # `across` came from it by subtraction
    floor = np.maximum(eps * of_x, np.finfo(float).tiny)
    across = np.maximum(sums.across, floor)
    with np.errstate(divide="ignore"):
        xx = np.logaddexp(log(n_x), sums.log_scale + np.log(np.maximum(sums.within_x, 0)))
        yy = np.logaddexp(log(n_y), sums.log_scale + np.log(np.maximum(sums.within_y, 0)))
    values = (xx + yy) / 2 - np.log(across) - sums.log_scale  # EQ eqs. (30), (31)
    return values, values, float(2 * eps * (1 + of_x[0] / across[0]))


def _eps(bytes_per_number: int) -> float:
    """Return the relative rounding of a sum of products over many blocks."""
    return 16 * float(np.finfo(np.float32 if bytes_per_number == 4 else np.float64).eps)


def _is_fused(statistic: Any, bandwidth: Any) -> bool:
    """Tell whether widths are to be fused; raise if statistic and bandwidth do not go together."""
    if statistic is not None and not (isinstance(statistic, str) and statistic in _NAMES):
        names = ", ".join(map(repr, _NAMES))
        raise ValueError(f"statistic must be one of {names} or None, got {statistic!r}.")
    if statistic == "fuse" and bandwidth is not None:
        raise ValueError(
            f"statistic='fuse' takes widths of its own, got bandwidth={bandwidth!r}; leave the "
            "bandwidth out, or use statistic='ise'."
        )
    return statistic == "fuse" or (statistic is None and bandwidth is None)

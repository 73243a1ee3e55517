"""Are X and Y independent?  A permutation test that has no width to set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammaln
from sklearn.utils import check_random_state

from mercer._arrays import FloatArray, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer._system.words import p_value
from mercer.information._joint import bandwidth_of_sides
from mercer.information._kernel_columns import MOST_COLUMNS, KernelColumns, kernel_columns
from mercer.information._pairings import (
    Pairings,
    draw_many_pairings,
    draw_pairings,
    squared_sizes,
)
from mercer.samples import check_sides, refuse_dask

_MEASURES = ("hsic", "cauchy_schwarz")
# Each rung down the ladder weighs 2^(−1/4) as much: most dependence has a linear part, which wide
# kernels see best (benchmarks/sim_independence.py, docs/information.md).
_NARROWER = 2**-0.25
_TINY = 1e-290  # Below this, a tail of the gamma distribution is taken from its expansion.
_ROUNDING = 1e-9  # Evidence that differs by less, in relation to 1 + its size, is the same.


@dataclass(frozen=True, eq=False)
class IndependenceTestResult:
    """What :func:`independence_test` found; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        The evidence of all widths together: −log of the least weighted p-value of their pairs.
    pvalue : float
        The share of pairings, the one as given among them, with as large a statistic.
    null_distribution : ndarray
        The statistics of the other pairings, sorted.
    dependence : float
        How well the kernels of both sides agree, beyond what they do by chance, at the pair of
        widths where they agree best: about 0 for independent sides, 1 where rows are as near to
        each other in Y as they are in X.
    bandwidth : tuple of float
        That pair: Parzen bandwidths of X and of Y.
    confidence_level : float
        ``significant`` asks for a p-value of at most one minus this.
    """

    statistic: float
    pvalue: float
    null_distribution: FloatArray
    dependence: float
    bandwidth: tuple[float, float]
    confidence_level: float

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most one minus the confidence level."""
        return self.pvalue + self.confidence_level <= 1  # 1 − 0.9 is less than 0.1

    def __str__(self) -> str:
        verdict = "is unlikely to be chance" if self.significant else "could be chance"
        return (
            f"X and Y depend on each other by {self.dependence:.3g}, where 0 is not at all and 1 "
            f"completely; that {verdict} ({p_value(self.pvalue)})"
        )


def independence_test(
    X: Any,
    Y: Any,
    *,
    measure: str = "hsic",
    bandwidth: Any = "ladder",
    n_permutations: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> IndependenceTestResult:
    r"""Test whether X and Y are independent, by permuting the rows of Y.

    The dependence of the sides is measured with Gaussian kernels of up to six widths on each, and
    compared with that under other pairings of their rows.  Each pair of widths gives a p-value of
    its own, from the gamma distribution with the mean and the variance of all pairings; the
    statistic is the least of them, where wide kernels weigh a little more:

    .. math:: T = \max_{a, b} \left(-\log \frac{p_{ab}}{w_{ab}}\right), \qquad
       p = \frac{\#\{\text{pairings with } T_\pi \ge T\}}{\#\{\text{pairings}\}}

    where the pairing as given is one of all.  What the widths are, and that there are several,
    does not touch the level: if X and Y are independent, p ≤ α happens with probability at
    most α, for any data.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        One side: a NumPy array or what becomes one, or a torch tensor.
    Y : array-like of shape (n, c) or (n,)
        The other side, of the same rows and library.
    measure : {"hsic", "cauchy_schwarz"}, default="hsic"
        :func:`hilbert_schmidt_independence`, of which :func:`euclidean_mutual_information` is a
        multiple, or :func:`cauchy_schwarz_mutual_information`.
    bandwidth : "ladder", float, str or pair of these, default="ladder"
        The ladder has kernels as wide as four times and twice the median distance of two rows, the
        median, and the distances within which 1/4, 1/8 and 1/16 of the pairs lie (of 500 rows at
        random if there are more).  A number, or a rule of
        :func:`mercer.bandwidth.resolve_bandwidth`, is the one Parzen bandwidth of a side; a pair
        has one for X and one for Y.
    n_permutations : int, default=999
        How many other pairings there are, at least; the least p-value is 1/(1 + n_permutations).
    confidence_level : float, default=0.95
        One minus the level of the test.
    random_state : int, RandomState instance or None, default=None
        Seed of pairings and landmarks.

    Returns
    -------
    IndependenceTestResult
        Statistic, p-value and how strong the dependence is.

    See Also
    --------
    hilbert_schmidt_independence, cauchy_schwarz_mutual_information : The measures themselves.
    two_sample_test : Whether two samples differ.

    Notes
    -----
    Rows must be independent, or at least exchangeable: rows that follow each other in time need
    another test.  Columns of one side share a width: standardise them where their units differ.
    A 0/1 column, or one 0/1 column for each category, is a side like any other.

    Each kernel is made from its values at 128 random rows, and at most 40 eigenvectors; up to 128
    rows it is the kernel but for 1 % of its variance.  The n × n matrix is never made.  From
    1 + n_permutations rows on, the pairings are the turns of rows that were dealt at random
    onto circles, a group of permutations whose sums are correlations: a Fourier transform gives
    those of all turns for the price of four.  Time is O(n·(d + c) + n·p²) for p columns, at most
    240 on either side; memory 8·n·p bytes on either side beside ``working_memory``.  Tensors are
    copied to NumPy.

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schölkopf, A. Smola (2008). A kernel
       statistical test of independence. Advances in Neural Information Processing Systems 20.
    .. [2] J. Hemerik, J. Goeman (2018). Exact testing with random permutations. TEST 27, 811-825.
       :doi:`10.1007/s11749-017-0571-1`
    .. [3] A. Schrab, I. Kim, B. Guedj, A. Gretton (2022). Efficient aggregated kernel tests using
       incomplete U-statistics. Advances in Neural Information Processing Systems 35.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import independence_test
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=200)
    >>> y = x**2 + 0.3 * rng.normal(size=200)
    >>> independence_test(x, y, random_state=0).pvalue
    0.001
    >>> independence_test(x, rng.normal(size=200), random_state=0).significant
    False
    """
    _check_options(measure, n_permutations, confidence_level)
    for A in (X, Y):
        refuse_dask(
            A,
            "independence_test",
            "every pairing looks at all rows",
            "draw a sample of the rows and pass it in memory, X[rows].compute()",
        )
    sides = [to_numpy(A).astype(np.float64) for A in check_sides(X, Y)]
    if len(sides[0]) < 2:
        raise ValueError("A test of independence needs two rows or more, got 1.")
    random = check_random_state(random_state)
    x, y = (
        kernel_columns(A, None if isinstance(h, str) and h == "ladder" else h, random)
        for A, h in zip(sides, bandwidth_of_sides(bandwidth), strict=True)
    )
    pairings = draw_pairings(len(sides[0]), int(n_permutations), random)
    return _test_sides(x, y, measure, pairings, confidence_level)


def pairwise_independence(
    sides: Sequence[FloatArray],
    *,
    n_permutations: int,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> Iterator[tuple[int, int, IndependenceTestResult]]:
    """Test each two of several sides of the same rows, as :func:`independence_test` does.

    Yields the numbers of both sides and what was found; the kernels of a side are made once.
    """
    random = check_random_state(random_state)
    n_tests = comb(len(sides), 2)
    pairings = draw_many_pairings(len(sides[0]), n_permutations, random, n_tests)
    columns = [kernel_columns(np.asarray(A, np.float64), None, random) for A in sides]
    for (i, x), (j, y) in combinations(enumerate(columns), 2):
        yield i, j, _test_sides(x, y, "hsic", pairings, confidence_level)


def _test_sides(
    x: KernelColumns,
    y: KernelColumns,
    measure: str,
    pairings: Pairings,
    confidence_level: float,
) -> IndependenceTestResult:
    """Return what all pairings of two sides say."""
    agreements, statistics = _of_all_pairings(x, y, measure, pairings)
    evidence = _log_weights(len(x), len(y))[:, None] - _log_tails(statistics)
    fused = evidence.max(axis=0)
    as_large = ~(fused < fused[0] - _ROUNDING * (1 + abs(fused[0])))  # NaN is no evidence
    dependence = _beyond_chance(agreements)
    best = int(np.argmax(dependence))
    null = np.sort(fused[1:])
    null.flags.writeable = False
    return IndependenceTestResult(
        statistic=float(fused[0]),
        pvalue=float(np.mean(as_large)),
        null_distribution=null,
        dependence=float(dependence[best]),
        bandwidth=(float(x.bandwidths[best // len(y)]), float(y.bandwidths[best % len(y)])),
        confidence_level=float(confidence_level),
    )


def _of_all_pairings(
    x: KernelColumns, y: KernelColumns, measure: str, pairings: Pairings
) -> tuple[FloatArray, FloatArray]:
    """Return how well kernels agree, and the measure: (pairs of widths, pairings) each."""
    n = len(x.columns)
    shape = (len(x), len(y), len(pairings))
    agreements, statistics = np.empty(shape), np.empty(shape)
    parts_x, bytes_of_part = x.parts(), 32 * len(pairings) * MOST_COLUMNS**2
    for b, of_y in enumerate(y.parts()):
        for start, stop in row_slabs(len(x), bytes_of_part, working_memory() // 4):
            first = parts_x[start].start
            A = x.columns[:, first : parts_x[stop - 1].stop]
            products = pairings.products(A, y.columns[:, of_y])
            for a in range(start, stop):
                of_x = parts_x[a]
                inside = slice(of_x.start - first, of_x.stop - first)
                parts = [part[:, inside, :] for part in products]
                agreements[a, b] = squared_sizes(parts)
                if measure == "cauchy_schwarz":
                    statistics[a, b] = _log_ratios(parts[0] / n, x.means[of_x], y.means[of_y])
                else:
                    statistics[a, b] = agreements[a, b]
    n_pairs = shape[0] * shape[1]
    return agreements.reshape(n_pairs, -1), statistics.reshape(n_pairs, -1)


def _log_ratios(covariances: FloatArray, mean_x: FloatArray, mean_y: FloatArray) -> FloatArray:
    """Return log V_J V_M / V_C² for each pairing, from covariances C of columns and their means.

    With V_M = ‖μ‖²‖ν‖², V_C = V_M·(1 + b) and V_J = V_M·(1 + 2b + a), this keeps the digits of
    small dependence.
    """
    marginal = max(float(mean_x @ mean_x) * float(mean_y @ mean_y), float(np.finfo(float).tiny))
    a = np.sum(covariances**2, axis=(1, 2)) / marginal
    b = covariances @ mean_y @ mean_x / marginal
    ratios: FloatArray = np.log1p((a - b**2) / (1 + b) ** 2)
    return ratios


def _log_weights(n_x: int, n_y: int) -> FloatArray:
    """Return log w for each pair of rungs, the widest first; the weights add up to 1."""
    weights = np.outer(_NARROWER ** np.arange(n_x), _NARROWER ** np.arange(n_y)).ravel()
    logs: FloatArray = np.log(weights / weights.sum())
    return logs


def _log_tails(statistics: FloatArray) -> FloatArray:
    """Return log p of each statistic, under a gamma distribution with the moments of its row."""
    mean = statistics.mean(axis=1, keepdims=True)
    variance = statistics.var(axis=1, keepdims=True)
    # Where all pairings agree but for rounding, none has evidence.
    is_flat = variance <= (_ROUNDING * mean) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        shape, x = mean**2 / variance, statistics * mean / variance
        tails = gammaincc(shape, x)
        far = (shape - 1) * np.log(x) - x - gammaln(shape) - np.log1p(-(shape - 1) / x)
        log_p: FloatArray = np.where(tails > _TINY, np.log(tails), far)
    return np.where(is_flat, 0.0, log_p)


def _beyond_chance(agreements: FloatArray) -> FloatArray:
    """Return the agreement as given for each pair of widths, where chance is 0 and 1 is 1."""
    by_chance = agreements.mean(axis=1)
    # With two values on either side, and few rows, chance may agree as well as can be.
    room = np.where(by_chance < 1, 1 - by_chance, 1.0)
    beyond: FloatArray = (agreements[:, 0] - by_chance) / room
    return beyond


def _check_options(measure: Any, n_permutations: Any, confidence_level: Any) -> None:
    if not (isinstance(measure, str) and measure in _MEASURES):
        names = " or ".join(map(repr, _MEASURES))
        raise ValueError(f"measure must be {names}, got {measure!r}.")
    if not (isinstance(n_permutations, Integral) and int(n_permutations) >= 1):
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}.")
    if not (isinstance(confidence_level, Real) and 0 < float(confidence_level) < 1):
        raise ValueError(f"confidence_level must lie between 0 and 1, got {confidence_level!r}.")

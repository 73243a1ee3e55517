"""Do two samples come from one distribution?  A permutation test of a divergence."""

import warnings
from dataclasses import dataclass
from math import exp, log
from numbers import Integral
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from mercer._arrays import Array, FloatArray, detached, itemsize, to_numpy
from mercer._system.words import p_value
from mercer.bandwidth import resolve_bandwidth
from mercer.information._permutations import PartSums, part_sums
from mercer.kernels import Kernel, get_kernel, overlap_width, parzen_bandwidth
from mercer.samples import check_sample, match_rows, refuse_dask

_MEDIAN_OF = 1000  # The median distance is taken from at most this many rows.
_FEW_NEIGHBOURS = 1e-3  # Below this mean overlap the test rests on the few closest pairs.
_LEVELS = (0.5, 0.9, 0.95, 0.99)
_NAMES = {"ise": "integrated squared error", "cauchy_schwarz": "Cauchy–Schwarz divergence"}


@dataclass(frozen=True, eq=False)
class TwoSampleTestResult:
    """What :func:`two_sample_test` found; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        The divergence of the two samples: for "cauchy_schwarz" that of
        :func:`cauchy_schwarz_divergence`; for "ise" :func:`integrated_squared_error` in units of
        the kernel's peak, which is the squared maximum mean discrepancy of a kernel with k(0) = 1,
        the pairs of a row with itself included.
    pvalue : float
        (1 + number of permutations with a divergence as large) / (1 + number of permutations).
    null_distribution : ndarray of shape (n_permutations,)
        The divergences of the permuted samples, sorted.
    bandwidth : float
        The Parzen bandwidth h that was used.
    confidence_level : float
        ``significant`` asks for a p-value below one minus this.
    name : str
        What the statistic is.
    """

    statistic: float
    pvalue: float
    null_distribution: FloatArray
    bandwidth: float
    confidence_level: float
    name: str

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most one minus the confidence level."""
        return self.pvalue <= 1 - self.confidence_level

    @property
    def null_quantiles(self) -> dict[float, float]:
        """What the divergence reaches by chance: its median, 90, 95 and 99 % quantiles."""
        values = np.quantile(self.null_distribution, _LEVELS)
        return dict(zip(_LEVELS, values.tolist(), strict=True))

    def __str__(self) -> str:
        verdict = "is unlikely to be chance" if self.significant else "could be chance"
        return (
            f"X and Y differ by {self.statistic:.3g} in {self.name}, where mixed samples differ by "
            f"{self.null_quantiles[0.5]:.3g} (median) and {self.null_quantiles[0.95]:.3g} (95 %); "
            f"that {verdict} ({p_value(self.pvalue)})"
        )


def two_sample_test(
    X: Any,
    Y: Any,
    *,
    statistic: str = "ise",
    bandwidth: Any = "median",
    kernel: str | Kernel = "gaussian",
    n_permutations: int = 999,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> TwoSampleTestResult:
    r"""Test whether two samples come from one distribution, by permuting their rows.

    The divergence of the samples is compared with that of samples of the same sizes, drawn at
    random from the rows of both.  If X and Y come from one distribution, all of these
    are alike, and the p-value is exact whatever the data, the bandwidth and the dimension:

    .. math:: p = \frac{1 + \#\{b : D_b \ge D\}}{1 + B}

    Parameters
    ----------
    X : array-like of shape (n, d)
        First sample: a NumPy array or what becomes one, or a torch tensor.
    Y : array-like of shape (m, d)
        Second sample, of the same library.
    statistic : {"ise", "cauchy_schwarz"}, default="ise"
        Divergence D: :func:`integrated_squared_error` (the test is then that of the maximum mean
        discrepancy) or :func:`cauchy_schwarz_divergence`.
    bandwidth : float or str, default="median"
        Parzen bandwidth h of both samples.  ``"median"`` makes the width of the kernel, √2·h for
        Gaussian windows and h for others, the median distance of two rows (of 1000 at random if
        there are more).  A rule of :func:`mercer.bandwidth.resolve_bandwidth` sees the rows of
        both samples.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        A Mercer kernel.
    n_permutations : int, default=999
        B; the least p-value is 1/(1 + B).
    confidence_level : float, default=0.95
        One minus the level of the test.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations (and of the rows for the median).

    Returns
    -------
    TwoSampleTestResult
        Statistic and p-value.

    Warns
    -----
    UserWarning
        Where windows are so narrow that rows hardly see each other: the p-value remains exact, but
        rests on the few closest pairs.

    See Also
    --------
    integrated_squared_error, cauchy_schwarz_divergence : The divergences, with weights.

    Notes
    -----
    Rows must be independent; rows that belong together need another test.

    Every labelling is a column of a matrix product with blocks of the kernel matrix, each
    computed once: time is (n + m)²·(B + d)/2 multiply-adds at the speed of a matrix product;
    memory B·(n + m) bytes and a few blocks, within scikit-learn's ``working_memory``.  float32
    rows take half the time.

    The pairs of a row with itself are the same for every labelling and are left out of the
    comparison, and a common scale is taken out of the others, so that many columns, where
    those pairs would swamp or underflow the rest, need no care.

    Which bandwidth?  Rules for densities are too narrow for a test in many columns; the median
    distance has more power for shifts, a narrower width for differences of shape.  Choosing the
    bandwidth that gives the least p-value makes it invalid.

    References
    ----------
    .. [1] A. Gretton, K. M. Borgwardt, M. J. Rasch, B. Schölkopf, A. Smola (2012). A kernel
       two-sample test. Journal of Machine Learning Research 13, 723-773.
    .. [2] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. :doi:`10.1007/s11265-006-9771-8`

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
    kernel = get_kernel(kernel)
    kernel.require_mercer("A two-sample test")
    _check_options(statistic, n_permutations, confidence_level)
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
    Z, n_x, n_y = array_namespace(X).concat([X, Y]), X.shape[0], Y.shape[0]
    random = check_random_state(random_state)
    if isinstance(bandwidth, str) and bandwidth == "median":
        h = _median_bandwidth(Z, kernel, random)
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
    as_large = int(np.sum(order[1:] >= order[0] - tolerance))
    null = np.sort(values[1:])
    null.flags.writeable = False
    return TwoSampleTestResult(
        statistic=float(values[0]),
        pvalue=(1 + as_large) / (1 + int(n_permutations)),
        null_distribution=null,
        bandwidth=h,
        confidence_level=float(confidence_level),
        name=_NAMES[statistic],
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


def _median_bandwidth(Z: Array, kernel: Kernel, random: np.random.RandomState) -> float:
    """Return the bandwidth whose kernel is as wide as the median distance of two rows."""
    rows = to_numpy(Z).astype(np.float64)
    if len(rows) > _MEDIAN_OF:
        rows = rows[random.choice(len(rows), _MEDIAN_OF, replace=False)]
    farthest = float(np.abs(rows).max())
    rows = rows / 2 - rows[:1] / 2
    unit = float(np.abs(rows).max())
    if unit == 0:  # Any width is as good as another, if its ratio to the coordinates has a square.
        return max(1.0, 1e-100 * farthest)
    distances = pdist(rows / unit, kernel.metric)
    # The median is 0 if half of the rows are equal.
    median = float(np.median(distances)) or float(distances.mean())
    width = 2 * unit * median
    return parzen_bandwidth(width) if kernel.name == "gaussian" else width


def _check_options(statistic: Any, n_permutations: Any, confidence_level: Any) -> None:
    if not (isinstance(statistic, str) and statistic in _NAMES):
        names = " or ".join(map(repr, _NAMES))
        raise ValueError(f"statistic must be {names}, got {statistic!r}.")
    if not (isinstance(n_permutations, Integral) and int(n_permutations) >= 1):
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}.")
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie between 0 and 1, got {confidence_level!r}.")

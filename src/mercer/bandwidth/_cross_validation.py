"""Cross-validation of a Parzen density: its two leave-one-out criteria, in logs."""

import warnings
from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
from scipy.special import logsumexp

from mercer._arrays import Array, FloatArray, detached, to_numpy
from mercer.bandwidth._rounding import rounding_step
from mercer.bandwidth._rules import silverman_bandwidth
from mercer.bandwidth._search import BandwidthSearch, search_ladder
from mercer.kernels import Kernel, get_kernel, mercer_width
from mercer.samples import check_sample, count_rows, home_of, in_memory
from mercer.sums import log_kernel_sum

_ROWS_OF_ROUNDING = 10_000  # So many rows tell whether all are rounded.


def likelihood_cross_validation(
    X: Any,
    *,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
    refine: bool = False,
) -> BandwidthSearch:
    r"""Choose the bandwidth at which the sample is most likely, each row left out in turn.

    .. math:: \max_h \; \frac1N \sum_i \log \hat f_{-i}(x_i), \qquad
       \hat f_{-i}(x) = \frac1{N-1} \sum_{j \ne i} W_h(x, x_j)

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample: a NumPy array or what becomes one, or a torch tensor.
    sample_weight : array-like of shape (n,), default=None
        Whole numbers say how often each row counts, and one copy is left out at a time.  Others
        are relative, and the row is left out as a whole.
    kernel : str or Kernel, default="gaussian"
        The window, by a name from :mod:`mercer.kernels`; "cauchy" is a density in one
        dimension only.
    refine : bool, default=False
        Search between the neighbours of the best rung, too: about a dozen passes more, and a
        gain that rarely matters.

    Returns
    -------
    BandwidthSearch
        Its ``scores`` are the mean log-likelihoods.

    Warns
    -----
    UserWarning
        Where the criterion has no maximum, because every row has a copy: the likelihood then
        grows without bound as h → 0.  The widest local maximum is taken, or else Silverman's.
        Where all columns are rounded, rows come again, and the best windows are narrower than half
        a step of the rounding: they show the rounding and not the density.

    See Also
    --------
    least_squares_cross_validation : Less afraid of outliers, more of ties.

    Notes
    -----
    The ladder has √2 steps from Silverman/16 to 16·Silverman; where the best lies on an edge,
    eight rungs more are tried, at most four times.  Equal scores go to the wider.  Time is one
    pass over all n² pairs for each ladder, much less than one for each rung; memory O(rungs·n).

    The criterion asks for windows that reach the loneliest row: with heavy tails it oversmooths.

    References
    ----------
    .. [1] B. W. Silverman (1986). Density Estimation for Statistics and Data Analysis. Section
       3.4.4. :doi:`10.1201/9781315140919`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import likelihood_cross_validation
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> print(likelihood_cross_validation(X))
    bandwidth 0.561 has the best likelihood-cv score, -2.9, of 17 from 0.0248 to 6.35
    """
    kernel = get_kernel(kernel)
    sample = _Sample(X, sample_weight, kernel)
    kernel.log_normaliser(1.0, sample.n_features)  # raises if it is not a density
    found = search_ladder("likelihood-cv", sample.log_likelihoods, sample.centre, refine)
    return sample.warn_of_rounding(found)


def least_squares_cross_validation(
    X: Any,
    *,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
    refine: bool = False,
) -> BandwidthSearch:
    r"""Choose the bandwidth with the least estimated integrated squared error.

    .. math:: \min_h \; \mathrm{LSCV}(h) = \int \hat f^2 - \frac2N \sum_i \hat f_{-i}(x_i)

    estimates :math:`\int (\hat f - f)^2` up to a constant.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample: a NumPy array or what becomes one, or a torch tensor.
    sample_weight : array-like of shape (n,), default=None
        Whole numbers say how often each row counts, and one copy is left out at a time.  Others
        are relative, and the row is left out as a whole.
    kernel : {"gaussian"} or Kernel, default="gaussian"
        The window; only of Gaussian ones is the integral known at every distance.
    refine : bool, default=False
        Search between the neighbours of the best rung, too: about a dozen passes more.

    Returns
    -------
    BandwidthSearch
        Its ``scores`` are log(−LSCV), and −inf where LSCV is not negative.  Its least value
        always is, and the logarithm neither overflows nor underflows in many dimensions.

    Warns
    -----
    UserWarning
        Where the criterion has no minimum: ties, as in rounded data, take it to −∞ as h → 0.
        The widest local minimum is taken, or else Silverman's bandwidth.
        Where all columns are rounded, rows come again, and the best windows are narrower than half
        a step of the rounding: they show the rounding and not the density.

    See Also
    --------
    likelihood_cross_validation : For windows of other forms.

    Notes
    -----
    :math:`\int \hat f^2` is the double sum of a Gaussian of width √2·h, which is the next rung
    of the ladder: both terms come from one pass.  Ladder and cost are those of
    :func:`likelihood_cross_validation`.  The criterion varies much from sample to sample.

    References
    ----------
    .. [1] A. W. Bowman (1984). An alternative method of cross-validation for the smoothing of
       density estimates. Biometrika 71, 353-360. :doi:`10.1093/biomet/71.2.353`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import least_squares_cross_validation
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(least_squares_cross_validation(X).bandwidth, 3)
    0.397
    """
    kernel = get_kernel(kernel)
    if kernel.name != "gaussian":
        raise ValueError(
            f"Least-squares cross-validation needs kernel='gaussian', got {kernel.name!r}: the "
            "integral of the squared density is known for Gaussian windows only; use "
            "likelihood cross-validation."
        )
    sample = _Sample(X, sample_weight, kernel)
    found = search_ladder("least-squares-cv", sample.log_gains, sample.centre, refine)
    return sample.warn_of_rounding(found)


class _Sample:
    """Rows, their weights, and the two criteria for bandwidths in ascending order."""

    def __init__(self, X: Any, sample_weight: Any, kernel: Kernel) -> None:
        self.centre = silverman_bandwidth(X, sample_weight=sample_weight)
        X, weights = check_sample(X, sample_weight)
        self._X: Array = detached(X)
        self.n_features = int(X.shape[1])
        self._kernel = kernel
        n_rows = count_rows(X, weights)
        if n_rows <= 1:
            raise ValueError(
                f"Cross-validation leaves rows out and needs more than one; got {n_rows:g}."
            )
        self._weights = weights
        self._w: Array = weights
        self._home = home_of(X)
        if weights is None:
            self._w = self._home.ones(X)
        self._N = float(self._w.sum())
        self._copies_leave = weights is None or self._home.is_whole(weights)
        # The weight of all rows but the heaviest: the difference could have lost its digits.
        self._rest = self._home.all_but_largest(self._w)

    def log_likelihoods(self, bandwidths: FloatArray) -> FloatArray:
        """Return the mean of log f̂₋ᵢ(xᵢ) for each bandwidth."""
        densities = self._densities(bandwidths)

        def add(sums: FloatArray, w: FloatArray) -> FloatArray:
            total: FloatArray = densities(sums, w) @ w
            return total

        means: FloatArray = self._over_rows(add, np.add, self._log_sums(bandwidths)) / self._N
        return means

    def log_gains(self, bandwidths: FloatArray) -> FloatArray:
        """Return log(−LSCV) for bandwidths of a ladder, where √2·h is the rung after h."""
        ladder = np.append(bandwidths, mercer_width(bandwidths[-1]))
        densities, log_N = self._densities(bandwidths), log(self._N)

        def add(sums: FloatArray, w: FloatArray) -> FloatArray:
            """Return the logarithms of both terms' sums over rows."""
            if w.size == 0:
                return np.full((2, len(sums) - 1), -np.inf)
            log_w = np.log(w)
            with_self = log_w + np.logaddexp(sums[1:], log_w)  # Σⱼ with the row itself
            left_out = log_w + densities(sums[:-1], w)
            return np.stack([logsumexp(with_self, axis=1), logsumexp(left_out, axis=1)])

        with_self, left_out = self._over_rows(add, np.logaddexp, self._log_sums(ladder))
        gains = np.full(len(bandwidths), -np.inf)
        for b in range(len(bandwidths)):
            square = with_self[b] - 2 * log_N - self._log_normaliser(ladder[b + 1])
            mean = log(2) + left_out[b] - log_N
            if not mean <= square:
                gains[b] = mean + np.log(-np.expm1(square - mean))
        return gains

    def warn_of_rounding(self, found: BandwidthSearch) -> BandwidthSearch:
        """Return what was found; warn where its windows are too narrow for rounded rows."""
        first = to_numpy(in_memory(self._X[:_ROWS_OF_ROUNDING]))
        steps = [rounding_step(column) for column in first.T]
        if all(steps) and found.bandwidth < min(steps) / 2:
            warnings.warn(
                f"{found.criterion} chose windows of {found.bandwidth:.3g}, narrower than half of "
                f"{min(steps):.3g}, to which the rows are rounded: they show the rounding. Spread "
                "the rows by uniform noise of as much as they were rounded, or take a rule.",
                UserWarning,
                stacklevel=3,
            )
        return found

    def _densities(self, bandwidths: FloatArray) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Return a function from sums over the other rows to log f̂₋ᵢ(xᵢ), (b, n)."""
        N, rest, copies_leave = self._N, self._rest, self._copies_leave
        normalisers = np.array([self._log_normaliser(h) for h in bandwidths])[:, None]

        def densities(log_sums: FloatArray, w: FloatArray) -> FloatArray:
            left_out = np.minimum(1.0, w) if copies_leave else w
            others = np.where(left_out > N / 2, rest + (w - left_out), N - left_out)
            with np.errstate(divide="ignore"):
                log_copies = np.log(w - left_out)  # of the copies that stay
            logs: FloatArray = np.logaddexp(log_sums, log_copies) - np.log(others) - normalisers
            return logs

        return densities

    def _over_rows(self, function: Any, merge: Any, sums: Any) -> Any:
        """Return function(sums, weights) of all rows, or of each block of them, merged."""
        return self._home.over_rows(function, merge, sums, self._w)

    def _log_normaliser(self, h: float) -> float:
        return self._kernel.log_normaliser(float(h), self.n_features)

    def _log_sums(self, bandwidths: FloatArray) -> Any:
        """Return log Σⱼ≠ᵢ wⱼ k(xᵢ, xⱼ), one row for each bandwidth."""
        weights = None if self._weights is None else self._home.like(self._weights, self._X)
        sums = log_kernel_sum(
            self._X,
            weights=weights,
            kernel=self._kernel,
            bandwidth=bandwidths,
            exclude_self=True,
        )
        return self._home.as_numbers(sums)

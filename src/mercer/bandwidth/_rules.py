"""Rules of thumb: a bandwidth from the spread of the data and the number of rows."""

from collections.abc import Callable
from math import frexp, ldexp
from sys import float_info
from typing import Any

from mercer._arrays import detached
from mercer.samples import check_sample, count_rows, home_of

FALLBACK = 1.0  # for rows that are all the same: any width is as good as another


def silverman_bandwidth(X: Any, *, sample_weight: Any = None) -> float:
    r"""Return Silverman's rule as the papers print it.

    .. math:: h = \sigma_X \left[\frac{4}{(2d+1)\,N}\right]^{1/(d+4)},
       \qquad \sigma_X^2 = \frac1d \sum_i \Sigma_{ii}

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample: a NumPy array or what becomes one, or a torch tensor.
    sample_weight : array-like of shape (n,), default=None
        Whole numbers say how often each row counts, and N is their sum.  Others are relative, and
        N is how many rows have one.

    Returns
    -------
    float
        The Parzen bandwidth h: the standard deviation of a Gaussian window.  It is
        1.0 where all rows are the same, so that what is built on it works there too.

    See Also
    --------
    silverman_amise_bandwidth : The same with d + 2, as the derivation gives it.
    resolve_bandwidth : Any rule by its name.

    Notes
    -----
    :math:`\Sigma` is the sample covariance (divided by N − 1), d the number of columns.  The rule
    minimises the asymptotic mean integrated squared error for a spherical Gaussian, except that
    its 2d + 1 is a misprint for d + 2 that has become customary; both agree at d = 1.
    One width for all columns only makes sense where these have similar scales: standardise first.

    Unlike scikit-learn's ``KernelDensity(bandwidth="silverman")``, which leaves
    :math:`\sigma_X` out, the rule follows the scale of the data.  Time is O(n·d).

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe, T. Eltoft (2007). The Laplacian classifier.
       IEEE Transactions on Signal Processing 55, 3262-3271. Eq. (21).
       :doi:`10.1109/TSP.2007.894391`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import silverman_bandwidth
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> round(silverman_bandwidth(X), 6)
    1.604568
    >>> round(silverman_bandwidth(100 * X), 4)
    160.4568
    """
    return rule_of_thumb("silverman", X, sample_weight)


def silverman_amise_bandwidth(X: Any, *, sample_weight: Any = None) -> float:
    r"""Return Silverman's rule as its derivation gives it, with d + 2.

    .. math:: h = \sigma_X \left[\frac{4}{(d+2)\,N}\right]^{1/(d+4)}

    Notes are those of :func:`silverman_bandwidth`.  The width is the larger of the two above one
    dimension.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts, as for :func:`silverman_bandwidth`.

    Returns
    -------
    float
        The Parzen bandwidth h, 1.0 where all rows are the same.

    References
    ----------
    .. [1] B. W. Silverman (1986). Density Estimation for Statistics and Data Analysis. Section
       4.3. :doi:`10.1201/9781315140919`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import silverman_amise_bandwidth
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> round(silverman_amise_bandwidth(X), 6)
    1.665366
    """
    return rule_of_thumb("silverman-amise", X, sample_weight)


def scott_bandwidth(X: Any, *, sample_weight: Any = None) -> float:
    r"""Return Scott's rule.

    .. math:: h = \sigma_X \, N^{-1/(d+4)}

    Notes are those of :func:`silverman_bandwidth`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts, as for :func:`silverman_bandwidth`.

    Returns
    -------
    float
        The Parzen bandwidth h, 1.0 where all rows are the same.

    References
    ----------
    .. [1] D. W. Scott (1992). Multivariate Density Estimation. Section 6.3.
       :doi:`10.1002/9780470316849`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import scott_bandwidth
    >>> X = np.array([[0.0, 1.0], [2.0, 5.0], [4.0, 3.0]])
    >>> round(scott_bandwidth(X), 6)
    1.665366
    """
    return rule_of_thumb("scott", X, sample_weight)


# h/σ_X to the power −(d + 4), for d columns and N rows.
RULES_OF_THUMB: dict[str, Callable[[int, float], float]] = {
    "silverman": lambda d, n: (2 * d + 1) * n / 4,
    "silverman-amise": lambda d, n: (d + 2) * n / 4,
    "scott": lambda d, n: n,
}


def rule_of_thumb(name: str, X: Any, sample_weight: Any, n_rows: float | None = None) -> float:
    """Return the bandwidth of a rule; N is what the weights say, unless it is given."""
    X, weights = check_sample(X, sample_weight)
    N, d = n_rows or count_rows(X, weights), X.shape[1]
    unit, spread = home_of(X).spread(detached(X), weights, N)
    if spread == 0:
        return FALLBACK
    # The product of three numbers that may be extreme stays positive and finite, and its digits
    # do not depend on powers of two.
    factors = (unit, spread, float(RULES_OF_THUMB[name](d, N) ** (-1 / (d + 4))))
    (a, i), (b, j), (c, k) = (frexp(factor) for factor in factors)
    return max(ldexp(a * b * c, min(i + j + k, 1024)), float_info.min)

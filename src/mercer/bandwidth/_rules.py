"""Bandwidths by name: rules of thumb, ladders around them, and what users write as a number.

Rules of thumb look at the spread of the data and at the number of rows.
"""

from collections.abc import Callable
from math import frexp, inf, ldexp
from numbers import Integral, Real
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import detached
from mercer.kernels import Kernel, get_kernel
from mercer.samples import check_sample, count_rows, home_of

FALLBACK = 1.0  # The bandwidth for rows that are all the same, where any is as good as another.
# Each rule gives (h/σ_X) to the power −(d + 4), for d columns and N rows.
RULES_OF_THUMB: dict[str, Callable[[int, float], float]] = {
    "silverman": lambda d, n: (2 * d + 1) * n / 4,
    "silverman-amise": lambda d, n: (d + 2) * n / 4,
    "scott": lambda d, n: n,
}


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


def rule_of_thumb(name: str, X: Any, sample_weight: Any, n_rows: float | None = None) -> float:
    """Return the bandwidth of a rule; N is what the weights say, unless it is given."""
    X, weights = check_sample(X, sample_weight)
    N, d = n_rows or count_rows(X, weights), X.shape[1]
    unit, spread = home_of(X).spread(detached(X), weights, N)
    if spread == 0:
        return FALLBACK
    # The factors may be extreme.  Multiplied without their exponents they give a product that is
    # positive and finite, and whose digits do not change if X is multiplied by a power of two.
    factors = (unit, spread, float(RULES_OF_THUMB[name](d, N) ** (-1 / (d + 4))))
    (a, i), (b, j), (c, k) = (frexp(factor) for factor in factors)
    return max(ldexp(a * b * c, min(i + j + k, 1024)), float_info.min)


def bandwidth_ladder(centre: Any, *, steps_down: Any = 8, steps_up: Any = 8) -> NDArray[np.float64]:
    r"""Return bandwidths a factor √2 apart, narrowest first, around a centre.

    exp(−r²/2h²) for h, h/√2, h/2, … are successive squares, so that
    :func:`mercer.sums.kernel_sum` needs one exponential for four of them.

    Parameters
    ----------
    centre : float
        The bandwidth that the ladder is built around and contains, such as a rule's.
    steps_down, steps_up : int, default=8
        How many narrower and wider ones follow; eight reach from centre/16 to 16·centre.

    Returns
    -------
    ndarray of shape (steps_down + 1 + steps_up,)
        The bandwidths, the narrowest first.

    Examples
    --------
    >>> from mercer.bandwidth import bandwidth_ladder
    >>> bandwidth_ladder(3.0, steps_down=2, steps_up=1).round(4)
    array([1.5   , 2.1213, 3.    , 4.2426])
    """
    if not (isinstance(centre, Real) and 0 < float(centre) < inf):
        raise ValueError(f"centre must be a positive number, got {centre!r}.")
    for name, steps in (("steps_down", steps_down), ("steps_up", steps_up)):
        if not (isinstance(steps, Integral) and int(steps) >= 0):
            raise ValueError(f"{name} must be an integer that is not negative, got {steps!r}.")
    with np.errstate(over="ignore", under="ignore"):
        ladder: NDArray[np.float64] = float(centre) * 2.0 ** (
            np.arange(-int(steps_down), int(steps_up) + 1) / 2
        )
    if not (ladder[0] >= float_info.min and ladder[-1] < inf):
        raise ValueError(
            f"centre={float(centre):g} is too extreme for {steps_down} steps down and {steps_up} "
            "steps up: the bandwidths would leave the range of floating point."
        )
    return ladder


RULES = (*RULES_OF_THUMB, "likelihood-cv", "least-squares-cv")


def resolve_bandwidth(
    bandwidth: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    kernel: str | Kernel = "gaussian",
    n_rows: float | None = None,
) -> float:
    """Return a bandwidth as a number, whether a number or the name of a rule was given.

    Parameters
    ----------
    bandwidth : float or str
        A positive number, which is returned, or one of ``"silverman"``, ``"silverman-amise"``,
        ``"scott"`` (rules of thumb), ``"likelihood-cv"`` and ``"least-squares-cv"``
        (the best rung of a ladder by cross-validation).
    X : array-like of shape (n, d)
        The sample that a rule looks at.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts, or relative weights: see :func:`silverman_bandwidth`.
    kernel : str or Kernel, default="gaussian"
        The window, for cross-validation; rules of thumb give the width of a Gaussian one.
    n_rows : float, default=None
        N in rules of thumb, where the weights do not say it: rows that have been merged, or
        thinned out.

    Returns
    -------
    float
        Always positive and finite.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import resolve_bandwidth
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> resolve_bandwidth(0.5, X), round(resolve_bandwidth("scott", X), 4)
    (0.5, 1.2262)
    """
    if isinstance(bandwidth, Real):
        if not 0 < float(bandwidth) < inf:
            raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}.")
        return float(bandwidth)
    if isinstance(bandwidth, str) and bandwidth in RULES_OF_THUMB:
        return rule_of_thumb(bandwidth, X, sample_weight, n_rows)
    if isinstance(bandwidth, str) and bandwidth in RULES:
        from mercer.bandwidth._cross_validation import (  # That module imports this one.
            least_squares_cross_validation,
            likelihood_cross_validation,
        )

        is_likelihood = bandwidth == "likelihood-cv"
        search = likelihood_cross_validation if is_likelihood else least_squares_cross_validation
        return search(X, sample_weight=sample_weight, kernel=get_kernel(kernel)).bandwidth
    names = ", ".join(map(repr, RULES))
    raise ValueError(f"bandwidth must be a positive number or one of {names}; got {bandwidth!r}.")

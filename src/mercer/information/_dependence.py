"""How much X and Y depend on each other: HSIC and the quadratic mutual informations.

All three compare the mean of the products of two kernels with the product of their means, in the
potentials V_J, V_M and V_C of Principe (2010), chapter 2.
"""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, detached
from mercer.information._estimates import as_scalar, exp, times_exp
from mercer.information._joint import Joint, Potentials
from mercer.kernels import Kernel

_LEAST_ROWS = 4  # The unbiased estimate compares pairs of rows with two other rows.


def hilbert_schmidt_independence(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    unbiased: bool = False,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Estimate the Hilbert–Schmidt independence criterion (HSIC) of two sets of columns.

    .. math:: \mathrm{HSIC} = \frac{1}{N^2} \operatorname{tr}(K H L H) = V_J - 2 V_C + V_M

    with K and L the kernel matrices of X and Y, with ones on the diagonal, and H = I − 11ᵀ/N: the
    squared distance between the mean of the joint sample, in the feature space of both kernels,
    and that of independent sides.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        One side: a NumPy array or what becomes one, a torch tensor or a Dask array.
    Y : array-like of shape (n, c) or (n,)
        The other side, of the same rows and library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows of both sides, or one for X and one for Y.  A rule of
        :func:`mercer.bandwidth.resolve_bandwidth`, by its name, is applied to each side alone.
        The Gaussian kernel has width √2·h, as everywhere in :mod:`mercer.information`.
    unbiased : bool, default=False
        Return the U-statistic, whose mean is the population's HSIC and which is negative about
        half of the time for independent sides; it takes no weights.  The default, a V-statistic,
        is never negative, is 0 only where one side is constant or the product of estimates is the
        joint one, and is the distance of two Parzen estimates.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : {"gaussian", "laplacian"} or Kernel, default="gaussian"
        The window of both sides, a product over columns.

    Returns
    -------
    float or torch scalar
        Between 0 and 1, or down to about −1/n with ``unbiased=True``.

    See Also
    --------
    euclidean_mutual_information : The same in units of a density.
    independence_test : Whether it is larger than chance; there is no width to set.

    Notes
    -----
    Time is that of three kernel sums, half of n² pairs each; memory O(n·(d + c)).  The terms
    cancel where sides are almost independent: the error is some 1e-13 of the largest.

    References
    ----------
    .. [1] A. Gretton, O. Bousquet, A. Smola, B. Schölkopf (2005). Measuring statistical dependence
       with Hilbert-Schmidt norms. Algorithmic Learning Theory, 63-77. :doi:`10.1007/11564089_7`
    .. [2] L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt (2012). Feature selection via
       dependence maximization. Journal of Machine Learning Research 13, 1393-1434.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import hilbert_schmidt_independence
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> noise = np.random.default_rng(1).normal(size=500)
    >>> round(hilbert_schmidt_independence(x, x**2, bandwidth=0.5), 4)
    0.0411
    >>> round(hilbert_schmidt_independence(x, noise, bandwidth=0.5), 4)
    0.0005
    """
    if unbiased and sample_weight is not None:
        raise ValueError(
            "sample_weight goes with unbiased=False: the U-statistic takes no weights."
        )
    joint = Joint.of(X, Y, sample_weight, bandwidth, kernel)
    if unbiased:
        if joint.n_rows < _LEAST_ROWS:
            raise ValueError(
                f"unbiased=True needs at least {_LEAST_ROWS} rows, got {joint.n_rows}."
            )
        log_scale, relative = _difference_of_pairs(joint.potentials_of_pairs(), joint.n_rows)
    else:
        log_scale, relative = _squared_distance(joint.potentials())
    return as_scalar(times_exp(relative, log_scale), joint.x.X)


def euclidean_mutual_information(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Estimate the quadratic mutual information of the Euclidean distance.

    .. math:: I_{ED} = \int\!\!\int (\hat p_{xy} - \hat p_x \hat p_y)^2 = V_J - 2 V_C + V_M

    the :func:`integrated_squared_error` between the joint estimate and the product of those of
    both sides: :func:`hilbert_schmidt_independence` over the integrals of both kernels.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        One side.
    Y : array-like of shape (n, c) or (n,)
        The other side, of the same rows and library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, as for :func:`hilbert_schmidt_independence`.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : {"gaussian", "laplacian"} or Kernel, default="gaussian"
        The window of both sides; integrals are exact for Gaussian ones.

    Returns
    -------
    float or torch scalar
        Never negative.

    Notes
    -----
    Cost is that of :func:`hilbert_schmidt_independence`.  A squared density in many columns
    leaves the range of floats; :func:`cauchy_schwarz_mutual_information` does not.

    References
    ----------
    .. [1] J. C. Principe (2010). Information Theoretic Learning. Springer. Chapter 2.
       :doi:`10.1007/978-1-4419-1570-2`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import euclidean_mutual_information
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> round(euclidean_mutual_information(x, x**2, bandwidth=0.5), 4)
    0.0131
    """
    joint = Joint.of(X, Y, sample_weight, bandwidth, kernel)
    log_scale, relative = _squared_distance(joint.potentials())
    return as_scalar(times_exp(relative, log_scale - joint.log_normaliser), joint.x.X)


def cauchy_schwarz_mutual_information(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Estimate the quadratic mutual information of the Cauchy–Schwarz inequality.

    .. math:: I_{CS} = \log \frac{\int\!\!\int \hat p_{xy}^2 \, \int\!\!\int (\hat p_x \hat p_y)^2}
       {\left(\int\!\!\int \hat p_{xy} \, \hat p_x \hat p_y\right)^2}
       = \log \frac{V_J V_M}{V_C^2}

    as Principe prints it: twice the :func:`cauchy_schwarz_divergence` between the joint estimate
    and the product of those of both sides.  It has no units.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        One side.
    Y : array-like of shape (n, c) or (n,)
        The other side, of the same rows and library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, as for :func:`hilbert_schmidt_independence`.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : {"gaussian", "laplacian"} or Kernel, default="gaussian"
        The window of both sides.

    Returns
    -------
    float or torch scalar
        Never negative.

    Notes
    -----
    Cost is that of :func:`hilbert_schmidt_independence`; logarithms keep it finite in any number
    of columns.

    References
    ----------
    .. [1] J. C. Principe (2010). Information Theoretic Learning. Springer. Chapter 2.
       :doi:`10.1007/978-1-4419-1570-2`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import cauchy_schwarz_mutual_information
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> round(cauchy_schwarz_mutual_information(x, x**2, bandwidth=0.5), 4)
    0.1261
    """
    joint = Joint.of(X, Y, sample_weight, bandwidth, kernel)
    return as_scalar(_log_ratio(joint.potentials()), joint.x.X)


def _squared_distance(v: Potentials) -> tuple[Array, Array]:
    """Return (log scale, (V_J − 2V_C + V_M)/scale), the scale being that of the largest term."""
    xp: Any = array_namespace(v.log_joint)
    scale = detached(xp.maximum(v.log_joint, v.log_marginal))  # V_C is at most their geometric mean
    relative = exp(v.log_joint - scale) - 2 * exp(v.log_cross - scale) + exp(v.log_marginal - scale)
    return scale, xp.where(relative < 0, xp.zeros_like(relative), relative)  # negative by rounding


def _difference_of_pairs(v: Potentials, n: int) -> tuple[Array, Array]:
    """Return (log scale, the U-statistic/scale) from sums over pairs of different rows."""
    xp: Any = array_namespace(v.log_joint)
    log_marginal = v.log_marginal - float(np.log((n - 1.0) * (n - 2.0)))
    log_cross = v.log_cross + float(np.log(2 / (n - 2)))
    scale = detached(xp.maximum(xp.maximum(v.log_joint, log_marginal), log_cross))
    scale = xp.where(xp.isfinite(scale), scale, xp.zeros_like(scale))  # rows that do not meet
    relative = exp(v.log_joint - scale) - exp(log_cross - scale) + exp(log_marginal - scale)
    return scale, relative / (n * (n - 3.0))


def _log_ratio(v: Potentials) -> Array:
    """Return log V_J V_M / V_C²."""
    xp: Any = array_namespace(v.log_joint)
    ratio = v.log_joint + v.log_marginal - 2 * v.log_cross
    return xp.where(ratio < 0, xp.zeros_like(ratio), ratio)  # negative by rounding

"""Two samples: cross-potential, integrated squared error, Cauchy–Schwarz, EQ eqs. (26)-(32)."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, detached
from mercer.information._estimates import Pair, as_scalar, exp, times_exp
from mercer.kernels import Kernel


def cross_information_potential(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Integrate the product of the Parzen estimates of two samples.

    .. math:: \int \hat p \, \hat q = \frac{1}{N_1 N_2} \sum_{i,j} W_{\sqrt2 h}(x_i, y_j)
       = m_1^\top m_2

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p: a NumPy array or what becomes one, or a torch tensor.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows (the paper's σ), or a rule of
        :func:`mercer.bandwidth.resolve_bandwidth` by its name, applied to the rows of both
        samples together.  A pair has one for X and one for Y, rules applied to each alone;
        Gaussian windows then overlap with width √(h₁² + h₂²), other kernels refuse.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : str or Kernel, default="gaussian"
        The window, by a name from :mod:`mercer.kernels`.  Integrals are exact for Gaussian
        windows.  For others the double sum of the window itself at width h approximates them by
        a sample mean, EQ eq. (62).

    Returns
    -------
    float or torch scalar
        A torch scalar for torch input, differentiable with respect to X and Y.

    See Also
    --------
    log_cross_information_potential : Its logarithm, for distant samples and many columns.

    Notes
    -----
    Time is that of one kernel sum over n·m pairs, memory O(n + m).

    References
    ----------
    .. [1] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. :doi:`10.1007/s11265-006-9771-8`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import cross_information_potential
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> round(cross_information_potential(X, Y, bandwidth=1.0), 6)
    0.14336
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    return as_scalar(exp(pair.log_cross_overlap() - pair.log_normaliser), pair.x.X)


def log_cross_information_potential(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    """Return the natural logarithm of :func:`cross_information_potential`.

    It is finite where samples are so far apart that every term underflows; −inf where windows of
    finite reach do not meet.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : str or Kernel, default="gaussian"
        The window, as for :func:`cross_information_potential`.

    Returns
    -------
    float or torch scalar
        The logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import log_cross_information_potential
    >>> X, Y = np.array([[0.0]]), np.array([[100.0]])
    >>> round(log_cross_information_potential(X, Y, bandwidth=1.0), 4)
    -2501.2655
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    return as_scalar(pair.log_cross_overlap() - pair.log_normaliser, pair.x.X)


def integrated_squared_error(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Integrate the squared difference of the Parzen estimates of two samples.

    .. math:: \int (\hat p - \hat q)^2 = \int \hat p^2 - 2 \int \hat p \, \hat q + \int \hat q^2
       = \lVert m_1 - m_2 \rVert^2

    with m₁, m₂ the means of the samples in the feature space of the kernel: up to a
    factor, the squared maximum mean discrepancy.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel; "cauchy" is a density in one dimension only.

    Returns
    -------
    float or torch scalar
        Never negative; 0 to rounding for equal samples.

    See Also
    --------
    log_integrated_squared_error : Its logarithm, for many columns.
    cauchy_schwarz_divergence : An angle instead of a distance, without units.
    two_sample_test : Whether it is larger than chance.

    Notes
    -----
    Time is that of three kernel sums, half of one over (n + m)² pairs together; memory O(n + m).
    The three terms are added at a common scale.  Where the samples agree closely they cancel: the
    error is some 1e-13 of the largest term.

    References
    ----------
    .. [1] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. Eqs. (26)-(28). :doi:`10.1007/s11265-006-9771-8`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import integrated_squared_error
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> round(integrated_squared_error(X, Y, bandwidth=1.0), 6)
    0.136696
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    log_scale, relative = _squared_error(pair)
    return as_scalar(times_exp(relative, log_scale), pair.x.X)


def log_integrated_squared_error(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    """Return the natural logarithm of :func:`integrated_squared_error`; −inf at 0.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, as for :func:`integrated_squared_error`.

    Returns
    -------
    float or torch scalar
        The logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import log_integrated_squared_error
    >>> X = np.random.default_rng(0).normal(size=(20, 784))
    >>> round(log_integrated_squared_error(X[:10], X[10:], bandwidth=4.0), 3)
    -2080.626
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    log_scale, relative = _squared_error(pair)
    xp: Any = array_namespace(relative)
    with np.errstate(divide="ignore"):
        return as_scalar(log_scale + xp.log(relative), pair.x.X)


def information_cut(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Cosine of the angle between the means of two samples in the feature space of the kernel.

    .. math:: \mathrm{IC} = \frac{\int \hat p \, \hat q}{\sqrt{\int \hat p^2 \int \hat q^2}}
       = \cos \angle(m_1, m_2)

    1 where the Parzen estimates are equal, 0 where they do not meet.  Normalisers cancel, so that
    "cauchy" serves in any dimension.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.

    Returns
    -------
    float or torch scalar
        Between 0 and 1.

    See Also
    --------
    log_information_cut : Its logarithm, for distant samples.
    laplacian_information_cut : Weighted by the density, and for several classes.

    Notes
    -----
    Time and memory are those of :func:`integrated_squared_error`.

    References
    ----------
    .. [1] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. Eqs. (31), (32). :doi:`10.1007/s11265-006-9771-8`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import information_cut
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> round(information_cut(X, Y, bandwidth=1.0), 6)
    0.689067
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    return as_scalar(exp(_log_cut(pair)), pair.x.X)


def log_information_cut(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    """Return the natural logarithm of :func:`information_cut`, never above 0.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.

    Returns
    -------
    float or torch scalar
        The logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import log_information_cut
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> round(log_information_cut(X, Y + 100, bandwidth=1.0), 3)
    -2501.487
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    return as_scalar(_log_cut(pair), pair.x.X)


def cauchy_schwarz_divergence(
    X: Any,
    Y: Any,
    *,
    bandwidth: Any,
    sample_weight: Any = None,
    sample_weight_y: Any = None,
    kernel: str | Kernel = "gaussian",
) -> Any:
    r"""Estimate the Cauchy–Schwarz divergence of two samples from their Parzen windows.

    .. math:: D_{CS} = -\log \frac{\int \hat p \, \hat q}{\sqrt{\int \hat p^2 \int \hat q^2}}
       \ge 0

    Minus the logarithm of :func:`information_cut`: symmetric, 0 for equal estimates, and finite
    for samples however far apart.  Cost and reference are the same; EQ eq. (30).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Sample of p.
    Y : array-like of shape (m, d)
        Sample of q, of the same library.
    bandwidth : float, str or pair of these
        Width h of the Parzen windows, a rule by its name, or one for X and one for Y, as for
        :func:`cross_information_potential`.
    sample_weight : array-like of shape (n,), default=None
        How often each row of X counts.
    sample_weight_y : array-like of shape (m,), default=None
        How often each row of Y counts.
    kernel : {"gaussian", "exponential", "laplacian", "cauchy"} or Kernel, default="gaussian"
        The window, a Mercer kernel.

    Returns
    -------
    float or torch scalar
        Never negative.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import cauchy_schwarz_divergence
    >>> X, Y = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0], [4.0]])
    >>> round(cauchy_schwarz_divergence(X, Y, bandwidth=1.0), 6)
    0.372417
    """
    pair = Pair.of(X, Y, sample_weight, sample_weight_y, bandwidth, kernel)
    return as_scalar(0.0 - _log_cut(pair), pair.x.X)


def _squared_error(pair: Pair) -> tuple[Array, Array]:
    """Return (log scale, ISE/scale), the scale being that of the largest term."""
    pair.kernel.require_mercer("The integrated squared error, a squared distance,")
    xx = pair.x.log_self_overlap() - pair.x.log_normaliser
    yy = pair.y.log_self_overlap() - pair.y.log_normaliser
    xy = pair.log_cross_overlap() - pair.log_normaliser
    xp: Any = array_namespace(xx)
    scale = detached(xp.maximum(xx, yy))  # the cross term is at most their geometric mean
    relative = exp(xx - scale) - 2 * exp(xy - scale) + exp(yy - scale)  # EQ eq. (28)
    return scale, xp.where(relative < 0, xp.zeros_like(relative), relative)  # negative by rounding


def _log_cut(pair: Pair) -> Array:
    """Return log cos ∠(m₁, m₂), EQ eq. (32)."""
    pair.kernel.require_mercer("The information cut, a cosine,")
    z_x, z_y = pair.relative_normalisers()
    xx, yy = pair.x.log_self_overlap() - z_x, pair.y.log_self_overlap() - z_y
    xp: Any = array_namespace(xx)
    log_cosine = pair.log_cross_overlap() - (xx + yy) / 2
    return xp.where(log_cosine > 0, xp.zeros_like(log_cosine), log_cosine)  # > 0 by rounding

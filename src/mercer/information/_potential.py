"""One sample: information potential and Renyi's quadratic entropy, EQ eqs. (19)-(25)."""

from typing import Any

from mercer.information._estimates import Estimate, as_scalar, exp
from mercer.kernels import Kernel


def information_potential(
    X: Any, *, bandwidth: Any, sample_weight: Any = None, kernel: str | Kernel = "gaussian"
) -> Any:
    r"""Integrate the square of the Parzen estimate of a sample.

    .. math:: V = \int \hat f^2 = \frac{1}{N^2} \sum_{t,t'} W_{\sqrt2 h}(x_t, x_{t'})
       = \lVert m \rVert^2

    with m the mean of the sample in the feature space of the kernel.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample: a NumPy array or what becomes one, or a torch tensor.
    bandwidth : float or str
        Width h of the Parzen window (the paper's σ), or a rule of
        :func:`mercer.bandwidth.resolve_bandwidth` by its name.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : str or Kernel, default="gaussian"
        The window, by a name from :mod:`mercer.kernels`.  The integral is exact for Gaussian
        windows.  For others it is the sample mean of the density, the double sum of the window
        itself at width h, EQ eq. (62); "cauchy" is a density in one dimension only.

    Returns
    -------
    float or torch scalar
        A torch scalar for torch input, differentiable with respect to X.

    See Also
    --------
    log_information_potential : Its logarithm, for many columns.

    Notes
    -----
    Time is half of a kernel sum over n² pairs, memory O(n).  Where the bandwidth is a rule,
    it is not differentiated through.

    References
    ----------
    .. [1] R. Jenssen, T. Eltoft, D. Erdogmus, J. C. Principe (2006). Some equivalences between
       kernel methods and information theoretic methods. Journal of VLSI Signal Processing 45,
       49-65. Eqs. (22), (24). :doi:`10.1007/s11265-006-9771-8`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import information_potential
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> round(information_potential(X, bandwidth=1.0), 6)
    0.172522
    """
    estimate = Estimate.of(X, sample_weight, bandwidth, kernel)
    return as_scalar(exp(_log_potential(estimate)), estimate.X)


def log_information_potential(
    X: Any, *, bandwidth: Any, sample_weight: Any = None, kernel: str | Kernel = "gaussian"
) -> Any:
    r"""Return the natural logarithm of :func:`information_potential`.

    It is finite where the potential, a density to the power of one, leaves the range of floats:
    from some hundred columns on.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample.
    bandwidth : float or str
        Width h of the Parzen window, or a rule by its name.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : str or Kernel, default="gaussian"
        The window, as for :func:`information_potential`.

    Returns
    -------
    float or torch scalar
        The logarithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import information_potential, log_information_potential
    >>> X = np.random.default_rng(0).normal(size=(10, 784))
    >>> information_potential(X, bandwidth=4.0)
    0.0
    >>> round(log_information_potential(X, bandwidth=4.0), 3)
    -2081.319
    """
    estimate = Estimate.of(X, sample_weight, bandwidth, kernel)
    return as_scalar(_log_potential(estimate), estimate.X)


def renyi_quadratic_entropy(
    X: Any, *, bandwidth: Any, sample_weight: Any = None, kernel: str | Kernel = "gaussian"
) -> Any:
    r"""Estimate Renyi's quadratic entropy of a sample, minus the log information potential.

    .. math:: H_2 = -\log \int \hat f^2

    The cost is that of :func:`information_potential`; EQ eq. (19).

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample.
    bandwidth : float or str
        Width h of the Parzen window, or a rule by its name.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts.
    kernel : str or Kernel, default="gaussian"
        The window, as for :func:`information_potential`.

    Returns
    -------
    float or torch scalar
        The entropy, in nats.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.information import renyi_quadratic_entropy
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> round(renyi_quadratic_entropy(X, bandwidth=1.0), 6)
    1.757233
    """
    estimate = Estimate.of(X, sample_weight, bandwidth, kernel)
    return as_scalar(-_log_potential(estimate), estimate.X)


def _log_potential(estimate: Estimate) -> Any:
    return estimate.log_self_overlap() - estimate.log_normaliser

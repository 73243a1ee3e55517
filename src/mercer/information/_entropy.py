"""Renyi's entropy of any order, by the mean of a power of the estimated density."""

from math import inf
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, detached
from mercer.information._estimates import Estimate, as_double, as_scalar
from mercer.kernels import Kernel
from mercer.samples import count_rows, home_of, safe_log, total_weight
from mercer.sums import log_kernel_sum


def renyi_entropy(
    X: Any,
    *,
    order: float,
    bandwidth: Any,
    sample_weight: Any = None,
    kernel: str | Kernel = "gaussian",
    leave_one_out: bool = True,
) -> Any:
    r"""Estimate Renyi's entropy of any order from a sample, in nats.

    .. math:: H_\alpha = \frac{1}{1 - \alpha} \log \int f^\alpha
       \approx \frac{1}{1 - \alpha} \log \frac1N \sum_i \hat f_{-i}(x_i)^{\alpha - 1}

    With :math:`\alpha \to 1` this is Shannon's entropy, :math:`-\frac1N \sum_i \log \hat
    f_{-i}(x_i)`, and at infinity :math:`-\log \max_i \hat f_{-i}(x_i)`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The sample: a NumPy array or what becomes one, a torch tensor or a Dask array.
    order : float
        α, positive; 1 and infinity are the limits.
    bandwidth : float or str
        Width h of the Parzen window, or a rule of :func:`mercer.bandwidth.resolve_bandwidth` by its
        name.
    sample_weight : array-like of shape (n,), default=None
        Whole numbers say how often each row counts, and one copy is left out at a time.  Others
        are relative, and the row is left out as a whole.
    kernel : str or Kernel, default="gaussian"
        The window; "cauchy" is a density in one dimension only.
    leave_one_out : bool, default=True
        Whether the density at a row is estimated from the others.  With False the row's own window
        counts (resubstitution): densities are overestimated, the more the more columns, but no row
        has a density near 0, which an order below 1 would magnify.

    Returns
    -------
    float or torch scalar
        The entropy; infinite where windows of finite reach leave a row alone and the order is at
        most 1.

    See Also
    --------
    renyi_quadratic_entropy : Order 2, where the integral of the squared estimate is exact.

    Notes
    -----
    Time is half of a kernel sum over n² pairs, memory O(n).

    At order 2 this is not :func:`renyi_quadratic_entropy`, which integrates the square of the
    estimate: that equals resubstitution with a Gaussian window of width √2·h.

    Orders below 1 ask for the density where there are few rows.  With heavy tails they need
    ``leave_one_out=False``, or far more rows.

    References
    ----------
    .. [1] J. C. Principe (2010). Information Theoretic Learning. Springer. Chapter 2.
       :doi:`10.1007/978-1-4419-1570-2`

    Examples
    --------
    The entropies of a normal distribution are 1.419 (order 1) and 1.266 (order 2).

    >>> import numpy as np
    >>> from mercer.information import renyi_entropy
    >>> X = np.random.default_rng(0).normal(size=(2000, 1))
    >>> [round(renyi_entropy(X, order=a, bandwidth="silverman"), 3) for a in (1, 2)]
    [1.422, 1.282]
    """
    order = _check_order(order)
    estimate = Estimate.of(X, sample_weight, bandwidth, kernel)
    logs = _log_densities(estimate, leave_one_out)
    return as_scalar(_entropy(logs, estimate.weights, order), estimate.X)


def _check_order(order: Any) -> float:
    if not (isinstance(order, Real) and float(order) > 0):
        raise ValueError(f"order must be a positive number, got {order!r}.")
    return float(order)


def _log_densities(estimate: Estimate, leave_one_out: bool) -> Array:
    """Return log f̂ at each row, from the other rows or from all."""
    X, w, home = estimate.X, estimate.weights, home_of(estimate.X)
    total = total_weight(X, w)
    sums = log_kernel_sum(
        X,
        weights=None if w is None else home.like(w, X),
        kernel=estimate.kernel,
        bandwidth=estimate.bandwidth,
        exclude_self=leave_one_out,
    )
    logs, others = as_double(sums), float(np.log(total))
    if leave_one_out:
        if count_rows(X, w) <= 1:
            raise ValueError("leave_one_out=True needs more than one row.")
        others, logs = _without_one(logs, w, total, home)
    return home.computed(
        logs - others - estimate.kernel.log_normaliser(estimate.bandwidth, X.shape[1])
    )


def _without_one(logs: Array, w: Any, total: float, home: Any) -> tuple[Any, Array]:
    """Return log of the weight of all but one row, and sums with the copies of a row that stay."""
    if w is None:
        return float(np.log(total - 1)), logs
    if not home.is_whole(w):
        return home.like(np.log(total - w), logs), logs
    xp: Any = array_namespace(logs)
    copies = safe_log(home.like(w - 1, logs))
    return float(np.log(total - 1)), xp.logaddexp(logs, copies)


def _entropy(logs: Array, w: Any, order: float) -> Array:
    """Return the entropy from log f̂ at each row."""
    home, xp = home_of(logs), array_namespace(logs)
    if order == inf:
        return -logs.max()
    total = total_weight(logs, w)
    counts = 1.0 if w is None else home.like(w, logs)
    middle = (logs * counts).sum() / total
    if order == 1:
        return -middle
    with np.errstate(invalid="ignore"):  # A row that windows leave alone makes them NaN.
        powers = (order - 1) * (logs - middle)
    if bool(abs(detached(powers)).max() < 1):  # so that no digits are lost near order 1
        return -middle - xp.log1p((xp.expm1(powers) * counts).sum() / total) / (order - 1)
    log_w = 0.0 if w is None else home.like(np.log(w), logs)
    log_mean = home.log_total((order - 1) * logs + log_w) - float(np.log(total))
    return log_mean / (1 - order)

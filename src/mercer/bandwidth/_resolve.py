"""The ``bandwidth`` that users write, as a number."""

from math import inf
from numbers import Real
from typing import Any

from mercer.bandwidth._cross_validation import (
    least_squares_cross_validation,
    likelihood_cross_validation,
)
from mercer.bandwidth._rules import RULES_OF_THUMB, rule_of_thumb
from mercer.kernels import Kernel, get_kernel

_BY_SEARCH = {
    "likelihood-cv": likelihood_cross_validation,
    "least-squares-cv": least_squares_cross_validation,
}

RULES = (*RULES_OF_THUMB, *_BY_SEARCH)


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
    if isinstance(bandwidth, str) and bandwidth in _BY_SEARCH:
        search = _BY_SEARCH[bandwidth]
        return search(X, sample_weight=sample_weight, kernel=get_kernel(kernel)).bandwidth
    names = ", ".join(map(repr, RULES))
    raise ValueError(f"bandwidth must be a positive number or one of {names}; got {bandwidth!r}.")

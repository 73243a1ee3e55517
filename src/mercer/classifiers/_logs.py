"""Sums in logarithms, over the last axis, for any array library."""

from typing import Any

from array_api_compat import array_namespace

from mercer.sums import finite_top, logsumexp, safe_log

__all__ = ["log_normalise", "log_sum_of_others", "logsumexp", "safe_log"]

Array = Any


def log_sum_of_others(a: Array) -> Array:
    """Return log Σ_{j ≠ c} exp(a_j) for every c along the last axis, without cancellation.

    The sum of all without term c loses no digits while the largest term stays in it; for the
    largest term itself the others are added up anew.
    """
    xp = array_namespace(a)
    top = finite_top(a)
    terms = xp.exp(a - top)
    others = safe_log(xp.sum(terms, axis=-1, keepdims=True) - terms) + top
    columns = xp.arange(a.shape[-1], device=getattr(a, "device", None))
    is_largest = columns == xp.expand_dims(xp.argmax(a, axis=-1), axis=-1)
    without = xp.where(is_largest, xp.full_like(a, -float("inf")), a)
    return xp.where(is_largest, xp.expand_dims(logsumexp(without), axis=-1), others)


def log_normalise(a: Array) -> Array:
    """Return a − log Σ exp(a): the logarithms of shares that add up to 1, however large a is."""
    a = a - finite_top(a)
    return a - array_namespace(a).expand_dims(logsumexp(a), axis=-1)

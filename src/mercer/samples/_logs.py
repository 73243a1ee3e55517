"""Sums in logarithms, over the last axis, for any array library."""

from typing import Any

from array_api_compat import array_namespace

Array = Any


def safe_log(a: Array) -> Array:
    """Return log a, −inf where a ≤ 0, without a warning; NaN stays."""
    xp = array_namespace(a)
    nothing = a <= 0
    logs = xp.log(xp.where(nothing, xp.ones_like(a), a))
    return xp.where(nothing, xp.full_like(a, -float("inf")), logs)


def logsumexp(a: Array) -> Array:
    """Return log Σ exp(a) over the last axis; −inf where there is nothing to add."""
    xp = array_namespace(a)
    top = _finite_top(a)
    return safe_log(xp.sum(xp.exp(a - top), axis=-1)) + top[..., 0]


def log_sum_of_others(a: Array) -> Array:
    """Return log Σ_{j ≠ c} exp(a_j) for every c along the last axis, without cancellation.

    The sum of all without term c loses no digits while the largest term stays in it; for the
    largest term itself the others are added up anew.
    """
    xp = array_namespace(a)
    top = _finite_top(a)
    terms = xp.exp(a - top)
    others = safe_log(xp.sum(terms, axis=-1, keepdims=True) - terms) + top
    columns = xp.arange(a.shape[-1], device=getattr(a, "device", None))
    is_largest = columns == xp.expand_dims(xp.argmax(a, axis=-1), axis=-1)
    without = xp.where(is_largest, xp.full_like(a, -float("inf")), a)
    return xp.where(is_largest, xp.expand_dims(logsumexp(without), axis=-1), others)


def log_normalise(a: Array) -> Array:
    """Return a − log Σ exp(a): the logarithms of shares that add up to 1, however large a is."""
    a = a - _finite_top(a)
    return a - array_namespace(a).expand_dims(logsumexp(a), axis=-1)


def _finite_top(a: Array) -> Array:
    """Return the largest term, with its axis kept; 0 where all are −inf."""
    xp = array_namespace(a)
    top = xp.max(a, axis=-1, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))

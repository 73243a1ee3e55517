"""Sums of numbers that are given as logarithms, over the last axis, for any array library."""

from array_api_compat import array_namespace

from mercer._arrays import Array

_FAR = -1e4  # logarithms below which groups may differ by less than float32 resolves


def safe_log(a: Array) -> Array:
    """Return log a, −inf where a ≤ 0, without a warning; NaN stays."""
    xp = array_namespace(a)
    nothing = a <= 0
    logs = xp.log(xp.where(nothing, xp.ones_like(a), a))
    return xp.where(nothing, xp.full_like(a, -float("inf")), logs)


def finite_top(a: Array) -> Array:
    """Return the largest term, with its axis kept; 0 where all are −inf."""
    xp = array_namespace(a)
    top = xp.max(a, axis=-1, keepdims=True)
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))


def logsumexp(a: Array) -> Array:
    """Return log Σ exp(a) over the last axis; −inf where there is nothing to add."""
    xp = array_namespace(a)
    top = finite_top(a)
    return safe_log(xp.sum(xp.exp(a - top), axis=-1)) + top[..., 0]


def are_far(logs: Array) -> Array:
    """Whether a row's largest logarithm is too large a number for float32 to tell groups apart."""
    return array_namespace(logs).max(logs, axis=1) < _FAR

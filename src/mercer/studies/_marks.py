"""How a measured number stands to the published one."""

from mercer.studies._model import Published


def mark_of(
    published: Published | None,
    measured: float,
    spread: float | None,
    better: str | None,
    *,
    protocol: str,
) -> str:
    """Return how a measured number stands to the published one.

    A number is reached if it differs by no more than the published spread, or the measured one
    where the paper prints none, plus half of the last printed digit.  The marks are those of
    ``mercer._system.vocabulary``.

    Examples
    --------
    >>> from mercer.studies import Published
    >>> from mercer.studies._marks import mark_of
    >>> mark_of(Published(89.4, 0.5), 89.0, 0.6, "higher", protocol="paper")
    'reached'
    >>> mark_of(Published(89.4, 0.5), 88.0, 0.6, "higher", protocol="paper")
    'short'
    """
    if protocol == "honest":
        return "honest"
    if published is None:
        return "ours"
    allowed = published.spread if published.spread is not None else (spread or 0.0)
    gap = measured - published.value
    if abs(gap) <= allowed + _half_digit(published.value) + 1e-9:
        return "reached"
    if better is None:
        return "differs"
    return "better" if (gap > 0) == (better == "higher") else "short"


def _half_digit(value: float) -> float:
    """Return half of the last digit of a number as it is printed."""
    _, _, decimals = f"{value}".partition(".")
    return 0.5 * 10.0 ** -len(decimals)

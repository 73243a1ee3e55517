"""Numbers as a reader wants them: the paper's digits, a true minus, times in words."""

from collections.abc import Iterable
from math import isfinite

import pandas as pd

__all__ = ["decimals", "duration", "fixed", "known", "signed"]


def known(value: object) -> bool:
    """Tell whether there is a number at all."""
    return value is not None and not pd.isna(value) and isfinite(float(value))  # type: ignore[arg-type]


def decimals(values: Iterable[float]) -> int:
    """Return how many decimals printed numbers have, six at most."""
    found = 0
    for value in values:
        if known(value):
            _, _, after = f"{value:.6f}".rstrip("0").partition(".")
            found = max(found, len(after))
    return found


def fixed(value: float, places: int) -> str:
    """Write a number with a fixed number of decimals and a true minus sign."""
    text = f"{value:.{places}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", "−")


def signed(value: float, places: int) -> str:
    """Write a difference with its sign."""
    text = fixed(value, places)
    return f"+{text}" if float(f"{value:.{places}f}") > 0 else text


def duration(seconds: float) -> str:
    """Write a time: ``0.3 s``, ``42 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if not known(seconds):
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(whole / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"

"""Numbers as a reader wants them: the paper's digits, a true minus, times in words."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TypeGuard

import pandas as pd

__all__ = [
    "counted",
    "decimals",
    "duration",
    "fixed",
    "known",
    "listed",
    "p_value",
    "seconds",
    "share",
    "signed",
    "size",
]


def known(value: object) -> TypeGuard[float]:
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


def counted(number: float) -> str:
    """Write a count with narrow spaces between thousands: ``45 222``."""
    return f"{round(number):,}".replace(",", "\u202f")


def share(part: float) -> str:
    """Write a share in percent; what is not nothing is not written as nothing."""
    if 0 < part < 0.001:
        return "< 0.1 %"
    if 0.999 < part < 1:
        return "> 99.9 %"
    return f"{100 * part:.1f} %"


def seconds(value: float | None) -> str:
    """Write a short time: ``38 ms``, ``10.4 s``."""
    if not known(value):
        return "–"
    if value >= 60:
        return duration(value)
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.0f} ms"


def size(n_bytes: float | None) -> str:
    """Write a size: ``7 kB``, ``4.4 MB``."""
    if not known(n_bytes):
        return "–"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(1, round(n_bytes / 1e3))} kB"


def p_value(p: float | None) -> str:
    """Write a p-value with the digits that matter, its sign before it; nothing where none is."""
    if not known(p):
        return ""
    if p < 0.001:
        return "< 0.001"
    return "= 1" if p == 1 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def listed(texts: Sequence[str]) -> str:
    """Join texts as a sentence does: ``a, b and c``."""
    *most, last = texts or [""]
    return f"{', '.join(most)} and {last}" if most else last

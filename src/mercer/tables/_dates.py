"""Text that stands for dates, in the ways in which they are usually written."""

from collections.abc import Sequence

import pandas as pd

__all__ = ["DATE_STYLES", "has_time", "infer_date_style", "parse_dates"]

# Styles in the order in which they are tried; an ambiguous column (05/06/2020) takes the first.
DATE_STYLES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "ISO8601",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
)
_SHORTEST, _LONGEST = 8, 40
_SAMPLE = 100


def infer_date_style(values: Sequence[str]) -> tuple[str | None, bool]:
    """Return the style in which all values are dates (or None), and whether days come in doubt.

    In doubt means that day/month and month/day both fit; the day is then taken to come first.
    """
    if not len(values) or not all(map(_may_be_date, values)):
        return None, False
    step = max(1, len(values) // _SAMPLE)
    fitting: list[str] = []
    for style in DATE_STYLES:
        # A few values tell most styles apart; only then are all of them parsed.
        if _fits(values[::step], style) and _fits(values, style):
            fitting.append(style)
            if "%m" not in style or not style.startswith(("%d/", "%d-")):
                break
    return (fitting[0], len(fitting) > 1) if fitting else (None, False)


def has_time(style: str) -> bool:
    """Tell whether a style has hours."""
    return style == "ISO8601" or "%H" in style


def parse_dates(values: Sequence[str], style: str) -> pd.Series:
    """Return dates without a time zone; what is no date in this style becomes NaT."""
    texts = pd.Series(list(values), dtype=object)
    parsed = pd.to_datetime(texts, format=style or "ISO8601", errors="coerce", utc=True)
    return parsed.dt.tz_localize(None)


def _fits(values: Sequence[str], style: str) -> bool:
    return not parse_dates(values, style).isna().any()


def _may_be_date(text: str) -> bool:
    """Tell whether text has the length and the signs of a date: plain numbers are no dates."""
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and any(sign in text for sign in "-/. ,")
        and sum(character.isdigit() for character in text) >= 5
    )

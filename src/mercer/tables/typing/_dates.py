"""The ways in which programs and people write dates."""

from collections.abc import Sequence
from itertools import compress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer.tables.typing._cells import LEAST_READ, Unread, unread_cells

# Styles in the order in which they are tried; an ambiguous column (05/06/2020) takes the first.
_DATE_STYLES = (
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
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d-%b-%y",
)
_SHORTEST, _LONGEST = 8, 40  # These are the bounds on the characters of a date.
_SAMPLE = 100  # Styles are tried on this many values before all are parsed.


def infer_date_style(values: Sequence[str], n_rows: NDArray[np.intp]) -> tuple[str | None, bool]:
    """Return the style in which most values are dates (or None), and whether days are in doubt.

    Of the rows, ``n_rows`` for each of the different values, 95 % must hold dates of this style.
    In doubt means that day/month and month/day fit equally; the day is then taken to come first.
    """
    may_be_date = np.fromiter(map(_may_be_date, values), dtype=bool, count=len(values))
    fewest = (1 - LEAST_READ) * n_rows.sum()
    if n_rows[~may_be_date].sum() > fewest or not may_be_date.any():
        return None, False
    step = max(1, len(values) // _SAMPLE)
    fitting: list[str] = []
    for style in _DATE_STYLES:
        # A few values tell most styles apart; only then are all of them parsed.
        if _is_not_date(values[::step], style).all():
            continue
        is_missed = _is_not_date(values, style)
        n_missed = n_rows[is_missed].sum()
        if n_missed > fewest or (n_missed and len(values) - is_missed.sum() < 2):
            continue
        fitting = [*(fitting if n_missed == fewest else []), style]
        fewest = n_missed
        if not n_missed and ("%m" not in style or not style.startswith(("%d/", "%d-"))):
            break
    is_doubtful = len(fitting) > 1 and fitting[1].startswith("%m")
    return fitting[0] if fitting else None, is_doubtful


def has_time(style: str) -> bool:
    """Tell whether a style has hours."""
    return style == "ISO8601" or "%H" in style


def _parse_dates(values: Sequence[str], style: str) -> NDArray[np.datetime64]:
    """Return dates without a time zone; text that is not a date in this style becomes NaT.

    Dates of ISO 8601 are read in every style: the cells of a workbook are dates as such, and where
    one of them is text all become text of this form.
    """
    parsed = _parse_in_style(values, style or "ISO8601")
    if (is_missing := np.isnat(parsed)).any():
        is_other = is_missing & np.array([_may_be_date(text) for text in values], dtype=bool)
        if is_other.any():
            others = _parse_in_style(list(compress(values, is_other)), "ISO8601")
            finer = np.result_type(parsed, others)  # The unit is that of the finest text.
            parsed = parsed.astype(finer)
            parsed[is_other] = others
    return parsed


def date_in_style(date: str, style: str) -> str:
    """Return a date of ISO 8601 as one of this style."""
    return date if style in ("", "ISO8601") else str(pd.Timestamp(date).strftime(style))


def read_dates(
    texts: pd.Categorical, style: str, index: pd.Index
) -> tuple[NDArray[np.datetime64], Unread]:
    """Return the date of each row, and the cells that are not dates in this style."""
    by_text = _parse_dates(texts.categories, style)
    dates = np.append(by_text, np.datetime64("NaT"))
    return dates[texts.codes], unread_cells(texts, by_text, index)


def _parse_in_style(values: Sequence[str], style: str) -> NDArray[np.datetime64]:
    """Return dates without a time zone; text that is not a date in this style becomes NaT."""
    texts = np.array(list(values), dtype=object)
    parsed = pd.to_datetime(texts, format=style, errors="coerce", utc=True)
    return np.array(parsed.tz_localize(None))


def _is_not_date(values: Sequence[str], style: str) -> NDArray[np.bool_]:
    """Tell which values are not dates in this style."""
    return np.isnat(_parse_in_style(values, style))


def _may_be_date(text: str) -> bool:
    """Tell whether text has the length and the signs of a date; plain numbers have not."""
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and any(sign in text for sign in "-/. ,")
        and sum(character.isdigit() for character in text) >= 5
    )

"""The ways in which programs and people write numbers and dates."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import compress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.tables.typing._cells import LEAST_READ, Unread, unread_cells

LARGEST = 1e100  # Larger numbers count as infinite: sums of their squares must be finite.

# A style is what its numbers look like.  Plain ones are checked last by float(), which also takes
# inf and nan; underscores, which float() takes as well, are not numbers in a table.
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)|nan", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d{1,3})(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
_GROUPED_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d{1,3})(,\d+)?")
_NUMBER_STYLES: dict[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "plain": (_PLAIN, lambda text: text),
    "1,234.5": (_THOUSANDS, lambda text: text.replace(",", "")),
    "1234,5": (_DECIMAL_COMMA, lambda text: text.replace(",", ".")),
    "1.234,5": (_GROUPED_COMMA, lambda text: text.replace(".", "").replace(",", ".")),
}


def infer_number_style(values: Sequence[str], n_rows: NDArray[np.intp]) -> str | None:
    """Return the style in which most of the values are numbers, or None.

    Of the rows, ``n_rows`` for each of the different values, 95 % must hold numbers of this style;
    of two that fit equally well the first counts.  A comma divides thousands where every comma can
    (``1,234``), else it is a decimal comma (``1,5``).  Codes such as 007 are not numbers, nor are
    those of which some have letters, as 536365 and C536379.
    """
    if not len(values):
        return None
    allowed = (1 - LEAST_READ) * n_rows.sum()
    best: str | None = None
    fewest = np.inf
    for style, (pattern, _) in _NUMBER_STYLES.items():
        n_missed = _rows_missed(values, n_rows, pattern, min(allowed, fewest))
        if n_missed < fewest and n_missed <= allowed:
            best, fewest = style, n_missed
        if fewest == 0:
            break
    if best is None:
        return None
    is_number = [_NUMBER_STYLES[best][0].fullmatch(text) is not None for text in values]
    numbers = list(compress(values, is_number))
    others = list(compress(values, np.logical_not(is_number)))
    if others and (len(numbers) < 2 or _have_codes_among(others, numbers)):
        return None  # Without the others one number is left, or these are codes.
    return None if are_codes(numbers) else best


def _rows_missed(
    values: Sequence[str], n_rows: NDArray[np.intp], pattern: re.Pattern[str], most: float
) -> float:
    """Count the rows whose value does not match; stop where there are more than ``most``."""
    n_missed = 0
    for text, n in zip(values, n_rows.tolist(), strict=True):
        if not pattern.fullmatch(text):
            n_missed += n
            if n_missed > most:
                break
    return n_missed


def _have_codes_among(others: Sequence[str], numbers: Sequence[str]) -> bool:
    """Tell whether some of the others are such numbers with letters added, as codes are.

    One may be a mistake (``536365 EUR``), several are codes.
    """
    lengths = {len(text) for text in numbers}
    if len(others) < 2 or len(lengths) > 1 or not all(text.isdigit() for text in numbers):
        return False
    (length,) = lengths
    longer = [
        text
        for text in others
        if sum(map(str.isdigit, text)) >= length < sum(map(str.isalnum, text))
    ]
    return length > 1 and len(longer) > 1


def parse_numbers(values: Iterable[str], style: str) -> FloatArray:
    """Return the numbers; text that is not a number in this style becomes NaN.

    Plain numbers are read in every style: a new file may lack the commas.
    """
    pattern, plain = _NUMBER_STYLES[style or "plain"]

    def number(text: str) -> float:
        if pattern.fullmatch(text):
            return float(plain(text))
        return float(text) if _PLAIN.fullmatch(text) else np.nan

    return np.array([number(text) for text in values], dtype=np.float64)


def read_numbers(
    texts: pd.Categorical, style: str, index: pd.Index
) -> tuple[FloatArray, Unread | None]:
    """Return the number of each row, and the cells that are not numbers in this style."""
    by_text = parse_numbers(texts.categories, style)
    return np.append(by_text, np.nan)[texts.codes], unread_cells(texts, by_text, index)


def are_codes(values: Iterable[str]) -> bool:
    """Tell whether all values are digits of one length, some with a leading zero: 007, 01234."""
    texts = [str(value).strip() for value in values]
    return (
        len({len(text) for text in texts}) == 1
        and len(texts[0]) > 1
        and any(text[0] == "0" for text in texts)
        and all(text.isascii() and text.isdigit() for text in texts)
    )


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


def _parse_dates(values: Sequence[str], style: str) -> pd.Series:
    """Return dates without a time zone; text that is not a date in this style becomes NaT.

    Dates of ISO 8601 are read in every style: the cells of a workbook are dates as such, and where
    one of them is text all become text of this form.
    """
    texts = pd.Series(list(values), dtype=object)
    parsed = _parse_in_style(texts, style or "ISO8601")
    others = texts[parsed.isna().to_numpy() & texts.map(_may_be_date).to_numpy(dtype=bool)]
    if len(others):
        parsed[others.index] = _parse_in_style(others, "ISO8601")
    return parsed


def read_dates(
    texts: pd.Categorical, style: str, index: pd.Index
) -> tuple[NDArray[np.datetime64], Unread | None]:
    """Return the date of each row, and the cells that are not dates in this style."""
    by_text = _parse_dates([*texts.categories, ""], style)
    return np.asarray(by_text)[texts.codes], unread_cells(texts, by_text[:-1], index)


def _parse_in_style(texts: pd.Series, style: str) -> pd.Series:
    parsed = pd.to_datetime(texts, format=style, errors="coerce", utc=True)
    return parsed.dt.tz_localize(None).copy()  # In pandas 2 it is a view that cannot be changed.


def _is_not_date(values: Sequence[str], style: str) -> NDArray[np.bool_]:
    """Tell which values are not dates in this style."""
    return np.asarray(_parse_in_style(pd.Series(list(values), dtype=object), style).isna())


def _may_be_date(text: str) -> bool:
    """Tell whether text has the length and the signs of a date; plain numbers have not."""
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and any(sign in text for sign in "-/. ,")
        and sum(character.isdigit() for character in text) >= 5
    )

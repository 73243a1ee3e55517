"""The ways in which programs and people write numbers: 1,234.5, $62.6k, 81.7 %, (27.41), 10:31.

A style is what the numbers of a column look like, written as an example: a base such as
``1,234.5`` and its dress, which is what stands before and behind it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import compress

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.tables.typing._cells import LEAST_READ, Unread, unread_cells
from mercer.tables.typing._dress import (
    FACTORS,
    Parts,
    Style,
    fits,
    parsed_style,
    taken_apart,
    whole_unit,
    with_plain_signs,
)

LARGEST = 1e100  # Larger numbers count as infinite: sums of their squares must be finite.

# Plain numbers are checked last by float(), which also takes inf and nan; underscores, which
# float() takes as well, are not numbers in a table.
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)|nan", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|[1-9]\d?(,\d{2})+,\d{3}|\d{1,3})(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
_GROUPED_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d{1,3})(,\d+)?")
_SPACED = re.compile(r"[+-]?([1-9]\d{0,2}( \d{3})+|\d+)(\.\d+)?")
_SPACED_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}( \d{3})+|\d+)(,\d+)?")
_APOSTROPHES = re.compile(r"[+-]?([1-9]\d{0,2}('\d{3})+|\d+)([.,]\d+)?")
_MINUTES = re.compile(r"[+-]?\d{1,3}:[0-5]\d")
_SECONDS = re.compile(r"[+-]?(\d{1,3}:)?[0-5]?\d:[0-5]\d([.,]\d+)?")
_HALF_DAYS = re.compile(r"(0?[1-9]|1[0-2])(:[0-5]\d){0,2} ?[ap]\.?m\.?", re.IGNORECASE)
_BASES: dict[str, tuple[re.Pattern[str], Callable[[str], float]]] = {
    "plain": (_PLAIN, float),
    "1,234.5": (_THOUSANDS, lambda text: float(text.replace(",", ""))),
    "1234,5": (_DECIMAL_COMMA, lambda text: float(text.replace(",", "."))),
    "1.234,5": (_GROUPED_COMMA, lambda text: float(text.replace(".", "").replace(",", "."))),
    "1 234.5": (_SPACED, lambda text: float(text.replace(" ", ""))),
    "1 234,5": (_SPACED_COMMA, lambda text: float(text.replace(" ", "").replace(",", "."))),
    "1'234.5": (_APOSTROPHES, lambda text: float(text.replace("'", "").replace(",", "."))),
}
_TIMES: dict[str, tuple[re.Pattern[str], Callable[[str], float]]] = {
    "10:31": (_MINUTES, lambda text: _sixtieths(text)),
    "10:31:59": (_SECONDS, lambda text: _sixtieths(text)),
    "10:31 PM": (_HALF_DAYS, lambda text: _seconds_of_half_days(text)),
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
    values = [with_plain_signs(text) for text in values]
    allowed = (1 - LEAST_READ) * n_rows.sum()
    best: str | None = None
    fewest = np.inf
    for style, (pattern, _) in {**_BASES, **_TIMES}.items():
        n_missed = _rows_missed(values, n_rows, pattern, min(allowed, fewest))
        if n_missed < fewest and n_missed <= allowed:
            best, fewest = style, n_missed
        if fewest == 0:
            break
    if fewest:
        dressed, n_missed = _infer_dressed(values, n_rows, min(allowed, fewest))
        best = dressed if n_missed < fewest and n_missed <= allowed else best
    if best is None:
        return None
    is_number = ~np.isnan(parse_numbers(values, best, plain_too=False))
    numbers = list(compress(values, is_number))
    others = list(compress(values, ~is_number))
    if others and (len(numbers) < 2 or _have_codes_among(others, numbers)):
        return None  # Without the others one number is left, or these are codes.
    return None if are_codes(map(_digits_of, numbers)) else best


def _infer_dressed(
    values: Sequence[str], n_rows: NDArray[np.intp], most: float
) -> tuple[str | None, float]:
    """Return the dressed style that fits best, and how many rows it misses."""
    found: list[tuple[Parts, int]] = []
    n_missed = 0
    for text, n in zip(values, n_rows.tolist(), strict=True):
        parts = taken_apart(text)
        if parts is None:
            n_missed += n
            if n_missed > most:
                return None, np.inf
        else:
            found.append((parts, n))
    n_bounds = sum(parts.is_bound for parts, _ in found)
    if 2 * n_bounds >= len(found) and n_bounds:
        return None, np.inf  # These are classes, as <3 and ≥3 are.
    befores, units = Counter[str](), Counter[str]()
    for parts, n in found:
        befores[parts.before] += n
        units[parts.unit] += n
    with_letters = {parts.letters for parts, _ in found if parts.letters}
    # One letter everywhere may be a unit (5 m, 5 T); two of them, or a k, are factors.
    has_factors = bool(with_letters & {"k", "K"}) or len({FACTORS[x] for x in with_letters}) > 1
    if not has_factors and with_letters:
        units = Counter[str]()
        for parts, n in found:
            units[whole_unit(parts)] += n
    style = Style(
        base="plain",
        before=befores.most_common(1)[0][0] if befores else "",
        unit=units.most_common(1)[0][0] if units else "",
        has_factors=has_factors,
        has_bounds=any(parts.is_bound for parts, _ in found),
        has_brackets=any(parts.in_brackets for parts, _ in found),
    )
    fitting = [(parts.body, n) for parts, n in found if fits(parts, style)]
    outside = float(n_rows.sum() - sum(n for _, n in fitting))
    bodies, rows = [body for body, _ in fitting], np.array([n for _, n in fitting], dtype=np.intp)
    best, fewest = None, np.inf
    for base, (pattern, _) in _BASES.items():
        missed = outside + _rows_missed(bodies, rows, pattern, min(most, fewest) - outside)
        if missed < fewest and missed <= most:
            best, fewest = base, missed
    if best is None:
        return None, np.inf
    return str(Style(**{**vars(style), "base": best})), fewest


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


def parse_numbers(values: Iterable[str], style: str, *, plain_too: bool = True) -> FloatArray:
    """Return the numbers; text that is not a number in this style becomes NaN.

    Plain numbers are read in every style but those of times: a new file may lack the commas, or
    the sign of the money.
    """
    number = _reader(style)
    plain_too = plain_too and style not in _TIMES

    def number_or_nan(text: str) -> float:
        text = with_plain_signs(text)
        found = number(text)
        if found is None and plain_too and _PLAIN.fullmatch(text):
            found = float(text)
        return np.nan if found is None else found

    return np.array([number_or_nan(text) for text in values], dtype=np.float64)


def read_numbers(texts: pd.Categorical, style: str, index: pd.Index) -> tuple[FloatArray, Unread]:
    """Return the number of each row, and the cells that are not numbers in this style."""
    by_text = parse_numbers(texts.categories, style)
    return np.append(by_text, np.nan)[texts.codes], unread_cells(texts, by_text, index)


def is_time(style: str) -> bool:
    """Tell whether numbers of this style are hours, minutes and seconds."""
    return style in _TIMES


def in_hundredths(style: str) -> str:
    """Return the sign that says what part of a whole a number is, % or ‰; or nothing."""
    unit = parsed_style(style).unit if style not in ("", *_BASES, *_TIMES) else ""
    return unit[:1] if unit[:1] in ("%", "‰") else ""


def count_without_sign(texts: pd.Categorical, style: str) -> int:
    """Return how many rows hold a number without the % of its style: 0.5 may be meant as a half."""
    sign = in_hundredths(style)
    if not sign:
        return 0
    lacks = np.array([sign not in text for text in texts.categories], dtype=bool)
    is_number = ~np.isnan(parse_numbers(texts.categories, style))
    return int(np.append(lacks & is_number, False)[texts.codes].sum())


def units_of(values: Sequence[str]) -> list[str]:
    """Return the units of numbers that have several of them; nothing if these are no numbers."""
    parts = [taken_apart(with_plain_signs(text)) for text in values]
    known = [whole_unit(one) for one in parts if one is not None]
    units = [unit for unit, _ in Counter(known).most_common() if unit]
    return units if len(known) == len(parts) and len(units) > 1 else []


def what_was_taken_off(style: str) -> str:
    """Say how numbers of this style became plain ones; nothing is said of plain ones."""
    if style in ("", "plain"):
        return ""
    said = f"read as numbers written like {style}"
    if style in _TIMES:
        return f"{said}, as {_reader(style)(style):g}"
    parts = parsed_style(style) if style not in _BASES else Style(style)
    off = [sign for sign in (parts.before, parts.unit) if sign]
    more = [f"without {' and '.join(off)}"] if off else []
    if parts.has_factors:
        more.append("k, M and so on multiplied out")
    if parts.has_brackets:
        more.append("brackets as minus")
    if parts.has_bounds:
        more.append("bounds such as <0.1 as the number itself")
    return ", ".join([said, *more])


def are_codes(values: Iterable[str]) -> bool:
    """Tell whether all values are digits of one length, some with a leading zero: 007, 01234."""
    texts = [str(value).strip() for value in values]
    return (
        len({len(text) for text in texts}) == 1
        and len(texts[0]) > 1
        and any(text[0] == "0" for text in texts)
        and all(text.isascii() and text.isdigit() for text in texts)
    )


@lru_cache(maxsize=64)
def _reader(style: str) -> Callable[[str], float | None]:
    """Return a function from text to the number that it is in a style, or None."""
    if (simple := {"": _BASES["plain"], **_BASES, **_TIMES}.get(style)) is not None:
        pattern, convert = simple
        return lambda text: convert(text) if pattern.fullmatch(text) else None
    wanted = parsed_style(style)
    pattern, convert = _BASES[wanted.base]

    def number(text: str) -> float | None:
        parts = taken_apart(text)
        if parts is None or not fits(parts, wanted) or not pattern.fullmatch(parts.body):
            return None
        factor = FACTORS[parts.letters] if wanted.has_factors and parts.letters else 1.0
        return convert(parts.body) * factor * (-1 if parts.is_negative else 1)

    return number


def _digits_of(text: str) -> str:
    """Return the number of a text without its dress."""
    parts = taken_apart(text)
    return text if parts is None else parts.body


def _sixtieths(text: str) -> float:
    """Return 10:31 as 631, and 1:10:31 as 4231: in the unit of the last part."""
    total = 0.0
    for part in text.lstrip("+-").replace(",", ".").split(":"):
        total = 60 * total + float(part)
    return -total if text.startswith("-") else total


def _seconds_of_half_days(text: str) -> float:
    """Return the seconds since midnight of 10:31 PM."""
    clock = text.lower().replace(".", "").rstrip("apm ")
    hours, *rest = (int(part) for part in clock.split(":"))
    minutes, seconds = (*rest, 0, 0)[:2]
    is_afternoon = "p" in text.lower()
    return 3600.0 * (hours % 12 + 12 * is_afternoon) + 60.0 * minutes + seconds

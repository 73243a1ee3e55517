"""Text that stands for numbers, in the ways in which programs and people write them."""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "NUMBER_STYLES", "are_codes", "infer_number_style", "parse_numbers"]

LARGEST = 1e100  # beyond it a number counts as infinite: its square must be finite, and sums of it

# A style is what its numbers look like.  Plain ones are checked last by float(), which also takes
# inf and nan; underscores, which float() takes as well, are not numbers in a table.
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)|nan", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?([1-9]\d{0,2}(,\d{3})+|\d{1,3})(\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?([eE][+-]?\d+)?")
_GROUPED_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d{1,3})(,\d+)?")
NUMBER_STYLES: dict[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "plain": (_PLAIN, lambda text: text),
    "1,234.5": (_THOUSANDS, lambda text: text.replace(",", "")),
    "1234,5": (_DECIMAL_COMMA, lambda text: text.replace(",", ".")),
    "1.234,5": (_GROUPED_COMMA, lambda text: text.replace(".", "").replace(",", ".")),
}


def infer_number_style(values: Sequence[str]) -> str | None:
    """Return the one style in which all values are numbers; None where there is none.

    A comma divides thousands where every comma can (``1,234``), else it is a decimal comma
    (``1,5``).  Codes such as 007 are not numbers.
    """
    if not len(values) or are_codes(values):
        return None
    for style, (pattern, _) in NUMBER_STYLES.items():
        if all(map(pattern.fullmatch, values)):
            return style
    return None


def parse_numbers(values: Iterable[str], style: str) -> NDArray[np.float64]:
    """Return the numbers; what is none in this style becomes NaN, and what is too large infinite.

    Plain numbers are read in every style: a new file may lack the commas.
    """
    pattern, plain = NUMBER_STYLES[style or "plain"]

    def number(text: str) -> float:
        if pattern.fullmatch(text):
            return float(plain(text))
        return float(text) if _PLAIN.fullmatch(text) else np.nan

    return np.array([number(text) for text in values], dtype=np.float64)


def are_codes(values: Iterable[str]) -> bool:
    """Tell whether all values are digits of one length, some with a leading zero: 007, 01234."""
    texts = [str(value).strip() for value in values]
    return (
        len({len(text) for text in texts}) == 1
        and len(texts[0]) > 1
        and any(text[0] == "0" for text in texts)
        and all(text.isascii() and text.isdigit() for text in texts)
    )

"""What stands before and behind a number of everyday life: money, units, brackets, bounds."""

import re
from dataclasses import dataclass

_MONEY = (
    "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "Fr.", "GBP", "HUF", "INR", "JPY",
    "KRW", "MXN", "NOK", "NZD", "PLN", "R$", "RMB", "RUB", "Rs", "Rs.", "SEK", "TRY", "US$", "USD",
    "ZAR", "kr", "kr.",
)  # fmt: skip
FACTORS = {
    "k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "mn": 1e6, "mio": 1e6, "Mio": 1e6, "b": 1e9, "B": 1e9,
    "bn": 1e9, "Bn": 1e9, "mrd": 1e9, "Mrd": 1e9, "t": 1e12, "T": 1e12,
}  # fmt: skip
# Letters before a number make a code of it (A12), but for money.  Behind it they are a unit, in
# which digits stand only as powers (m2); "k" and so on may stand between both.
_MONEY_SIGN = r"[$¢£¤¥֏؋৲৳฿៛₠-₿]"
_BEFORE = "|".join(sorted((re.escape(money) for money in _MONEY), key=len, reverse=True))
_DRESSED = re.compile(
    rf"""
    (?P<bound>[<>≤≥~≈]\s?|[<>]=\s?)?
    (?P<open>\()?
    (?P<sign>[+-]\s?)?
    (?P<before>{_BEFORE}|{_MONEY_SIGN})?\s?
    (?P<body>[+-]?(?:\d|[.,]\d)(?:[\d.,' ]*\d)?[.,]?(?:[eE][+-]?\d+)?)
    (?P<more>\+)?
    (?P<behind>\s?[^\W\d_][^\d()<>+]{{0,14}}[23]?|\s?[%‰°€$£¥₹″′"'][^\d()<>+]{{0,8}}[23]?)?
    (?P<close>\))?
    """,
    re.VERBOSE,
)
_ANY_SPACE = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f]")
# What a style is made of, longest bases first: "1 234.5" holds "234.5" too.
_STYLE = re.compile(
    rf"""
    (?P<bound><)?(?P<open>\()?(?P<before>{_BEFORE}|{_MONEY_SIGN})?
    (?P<base>1\ 234\.5|1\ 234,5|1'234\.5|1,234\.5|1\.234,5|1234\.5|1234,5)
    (?P<factor>k(?=$|\ |\)))?(?P<unit>\ ?[^\d()<>]{{1,16}}[23]?)?(?P<close>\))?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Parts:
    """A number of everyday life, taken apart."""

    body: str
    before: str
    unit: str
    letters: str  # that may stand for thousands or millions
    is_bound: bool
    is_negative: bool
    in_brackets: bool


@dataclass(frozen=True)
class Style:
    """A style, taken apart.

    ``unit`` is what stands behind the number in most rows, ``has_factors`` whether k, M and so on
    stand for thousands, millions and so on, and are no unit.
    """

    base: str
    before: str = ""
    unit: str = ""
    has_factors: bool = False
    has_bounds: bool = False
    has_brackets: bool = False

    def __str__(self) -> str:
        number = "1234.5" if self.base == "plain" else self.base
        is_word = self.unit[:1].isalpha()
        unit = f" {self.unit}" if self.unit and (is_word or self.has_factors) else self.unit
        text = f"{self.before}{number}{'k' * self.has_factors}{unit}"
        return "<" * self.has_bounds + (f"({text})" if self.has_brackets else text)


def parsed_style(style: str) -> Style:
    """Take the text of a style apart; raise ValueError if it is none."""
    found = _STYLE.fullmatch(style)
    if found is None or (found["open"] is None) != (found["close"] is None):
        raise ValueError(f"{style!r} is not a style of numbers.")
    base = found["base"]
    return Style(
        base="plain" if base == "1234.5" else base,
        before=found["before"] or "",
        unit=(found["unit"] or "").strip(),
        has_factors=found["factor"] is not None,
        has_bounds=found["bound"] is not None,
        has_brackets=found["open"] is not None,
    )


def taken_apart(text: str) -> Parts | None:
    """Return the parts of a dressed number; None where it is none."""
    found = _DRESSED.fullmatch(text)
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    sign, body = (found["sign"] or "").strip(), found["body"]
    if sign and body[0] in "+-":
        return None
    behind = (found["behind"] or "").strip()
    letters, _, rest = behind.partition(" ")
    if letters not in FACTORS:
        letters, rest = "", behind
    return Parts(
        body=body,
        before=found["before"] or "",
        unit=rest.strip(),
        letters=letters,
        is_bound=bool(found["bound"] or found["more"]),
        is_negative=(sign == "-") != (found["open"] is not None),
        in_brackets=found["open"] is not None,
    )


def whole_unit(parts: Parts) -> str:
    return " ".join(filter(None, (parts.letters, parts.unit)))


def fits(parts: Parts, style: Style) -> bool:
    """Tell whether a number has the dress of a style, or less of it."""
    unit = parts.unit if style.has_factors else whole_unit(parts)
    return parts.before in ("", style.before) and (
        not unit or _without_plural(unit) == _without_plural(style.unit)
    )


def _without_plural(unit: str) -> str:
    return unit[:-1] if len(unit) > 2 and unit.endswith("s") else unit


def with_plain_signs(text: str) -> str:
    """Return text with a plain space, minus and apostrophe for each of their typographic kinds."""
    if text.isascii():
        return text
    return _ANY_SPACE.sub(" ", text).replace("−", "-").replace("’", "'")

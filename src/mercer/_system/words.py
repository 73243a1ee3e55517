"""How Mercer writes numbers and names for people, in the terminal, on pages and in errors.

p-values, counts, shares, times, sizes and lists are written here and nowhere else, so that a number
looks the same wherever it is read. A text from here has no markup and no line break.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, TypeGuard

NOTHING = "–"  # stands where there is no number
_LONGEST = 40  # characters of a cell or name that are shown
_MOST_PLACES = 6  # decimals of a score that is next to 0 or 1
_ROUNDING = 1e-12  # A score as near as this to 0 or 1 is that: sums of shares are not exact.


def is_known(value: Any) -> TypeGuard[float]:
    """Tell whether a value is a finite number: neither None nor NaN."""
    return value is not None and isfinite(value)


def fixed(value: float | None, places: int) -> str:
    """Write a number with a fixed number of decimals and a true minus sign.

    >>> fixed(-0.126, 2), fixed(-0.001, 2), fixed(None, 2)
    ('−0.13', '0.00', '–')
    """
    if not is_known(value):
        return NOTHING
    text = f"{value:.{places}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return text.replace("-", "−")


def score(value: float | None, places: int = 3) -> str:
    """Write a score: what is not 0 or 1 has as many more decimals as it takes to see that.

    >>> score(0.9123), score(0.9996), score(1.0), score(-0.00004), score(0.9999999)
    ('0.912', '0.9996', '1.000', '−0.00004', '> 0.999999')
    """
    if not is_known(value):
        return NOTHING
    whole = round(value)
    if abs(whole) > 1 or abs(value - whole) < _ROUNDING:
        return fixed(value, places)
    for more in range(places, max(places, _MOST_PLACES) + 1):
        if float(f"{value:.{more}f}") != whole:
            return fixed(value, more)
    if value < whole:
        return f"> {fixed(whole - 10.0**-_MOST_PLACES, _MOST_PLACES)}"
    return f"< {fixed(whole + 10.0**-_MOST_PLACES, _MOST_PLACES)}"


def signed(value: float | None, places: int) -> str:
    """Write a difference with its sign: ``+0.12``, ``−0.12``, ``0.00``."""
    text = fixed(value, places)
    return f"+{text}" if is_known(value) and float(f"{value:.{places}f}") > 0 else text


def significant(value: float, digits: int = 4) -> str:
    """Write a number with so many digits that matter, and a minus that is as wide as a plus.

    >>> significant(-0.123456), significant(4000.0)
    ('−0.1235', '4000')
    """
    return f"{value:.{digits}g}".replace("-", "−")


def interval(low: float | None, high: float | None, places: int) -> str:
    """Write an interval of a score: ``0.93 to 0.96``."""
    if not (is_known(low) and is_known(high)):
        return NOTHING
    return f"{score(low, places)} to {score(high, places)}"


def p_number(p: float | None) -> str:
    """Write a p-value below a heading that says so; nothing where there is none.

    Three decimals below 0.1, two from there on: more would claim more than a test can tell.

    >>> [p_number(p) for p in (0.0002, 0.0312, 0.5, 1.0, None)]
    ['< 0.001', '0.031', '0.50', '1', '']
    """
    if not is_known(p):
        return ""
    if p < 0.001:
        return "< 0.001"
    return "1" if p == 1 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_value(p: float | None) -> str:
    """Write a p-value within a sentence; nothing where there is none.

    >>> p_value(0.0002), p_value(0.5)
    ('p < 0.001', 'p = 0.50')
    """
    number = p_number(p)
    if not number or number.startswith("<"):
        return number and f"p {number}"
    return f"p = {number}"


def p_remark(p: float | None) -> str:
    """Write a p-value beside a verdict; nothing where it rounds to 1, which tells nobody more.

    >>> p_remark(0.5), p_remark(0.999)
    ('p = 0.50', '')
    """
    return "" if is_known(p) and p >= 0.995 else p_value(p)


def confidence(level: float) -> str:
    """Write a confidence level: ``95 %``, ``99.9 %``."""
    return f"{100 * level:.4g} %"


def percent(share: float | None) -> str:
    """Write a share in percent; a small share is not rounded to none, nor a large one to all.

    >>> percent(0.8731), percent(0.0004), percent(0.0)
    ('87.3 %', '< 0.1 %', '0.0 %')
    """
    if not is_known(share):
        return NOTHING
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def grouped(number: float | None) -> str:
    """Write a whole number with a space between thousands: ``45 222``."""
    if not is_known(number):
        return NOTHING
    return f"{round(number):,}".replace(",", " ")


def count_of(number: float, one: str, many: str | None = None) -> str:
    """Write how many of a thing there are.

    >>> count_of(1, "row"), count_of(45222, "row"), count_of(2, "class", "classes")
    ('1 row', '45 222 rows', '2 classes')
    """
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def duration(seconds: float | None) -> str:
    """Write a time with two or three digits that matter.

    >>> [duration(t) for t in (0.038, 4.24, 42.3, 185, 7800)]
    ['38 ms', '4.2 s', '42 s', '3 min 5 s', '2 h 10 min']
    """
    if not is_known(seconds):
        return NOTHING
    if round(1000 * seconds) < 1000:
        return f"{1000 * seconds:.0f} ms"
    if round(seconds, 1) < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(whole / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def size(n_bytes: float | None) -> str:
    """Write how large something is, in powers of a thousand; at least 1 kB.

    >>> size(12), size(7_400), size(4_400_000), size(3_200_000_000)
    ('1 kB', '7 kB', '4.4 MB', '3.2 GB')
    """
    if not is_known(n_bytes):
        return NOTHING
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(1, round(n_bytes / 1e3))} kB"


def limit_of_bytes(n_bytes: int) -> str:
    """Write a limit on bytes: limits are powers of two, which other units would not write exactly.

    >>> limit_of_bytes(1 << 28), limit_of_bytes(100)
    ('256 MiB', '100 bytes')
    """
    for unit, one in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n_bytes >= one:
            return f"{n_bytes / one:.4g} {unit}"
    return count_of(n_bytes, "byte")


def listed(texts: Sequence[str], *, most: int | None = None, word: str = "and") -> str:
    """Join texts as a sentence does, the first few where `most` says so.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2), listed(["a", "b"], word="or")
    ('a, b and c', 'a, b and 2 more', 'a or b')
    """
    texts = [str(text) for text in texts]
    if most is not None and len(texts) > most:
        texts = [*texts[:most], f"{grouped(len(texts) - most)} more"]
    *first, last = texts or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def quoted(value: Any) -> str:
    """Write a cell or a name in quotes: shortened, with line breaks and escapes spelled out."""
    text = str(value)
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def did_you_mean(asked: str, names: Iterable[str], otherwise: str) -> str:
    """Suggest the names nearest to the one that was asked for; if none is near, say `otherwise`.

    Names in which what was asked for is a word, or a part of at least four letters, come first,
    the most alike before the others, then those spelled much like it; capitals do not matter.

    >>> did_you_mean("speceis", ["species", "width"], "see the list.")
    "did you mean 'species'?"
    """
    wanted = asked.casefold().strip()
    by_fold = {name.casefold().strip(): name for name in names if name}
    part = re.escape(wanted) if len(wanted) > 3 else rf"(?<![^\W_]){re.escape(wanted)}(?![^\W_])"
    near = [key for key in by_fold if len(wanted) > 1 and re.search(part, key)]
    near.sort(key=lambda key: -difflib.SequenceMatcher(None, wanted, key).ratio())
    near += [key for key in difflib.get_close_matches(wanted, by_fold) if key not in near]
    if not near:
        return otherwise
    return f"did you mean {' or '.join(quoted(by_fold[key]) for key in near[:3])}?"

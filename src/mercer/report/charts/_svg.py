"""Elements of SVG and HTML as text, with every attribute and every text escaped."""

import re
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray


def element(name: str, *children: str, **attributes: object) -> Markup:
    """Return ``<name attributes>children</name>``.

    Children that are not markup already are escaped.  ``class_`` is class, an underscore within a
    name is a dash, and attributes that are None are left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(
        child if isinstance(child, Markup) else escape(_plain(child)) for child in children
    )
    return Markup(f"<{name}{written}>{inside}</{name}>")  # noqa: S704 - all parts are escaped


# What XML has no way to write: a figure with one of these would be no figure.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _plain(value: object) -> str:
    if isinstance(value, float | np.floating):
        return coordinate(value)
    return _FORBIDDEN.sub("\ufffd", str(value))


def coordinate(value: float | np.floating) -> str:
    """Write a length with two decimals at most: enough for any screen."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def polyline(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    """Return the ``d`` of a path through points, broken where a coordinate is not finite."""
    parts: list[str] = []
    pen_down = False
    for a, b in zip(x, y, strict=True):
        if not (np.isfinite(a) and np.isfinite(b)):
            pen_down = False
            continue
        parts.append(f"{'L' if pen_down else 'M'}{coordinate(a)} {coordinate(b)}")
        pen_down = True
    return "".join(parts)


def polygon(points: Sequence[tuple[float, float]]) -> str:
    """Return the ``d`` of a closed path."""
    return "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points) + "Z"


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is at a font size, for fonts that run wide."""
    return size * sum(
        0.4 if letter in "ijlft.,:;'|() " else
        0.95 if letter in "MWmw@%" else
        0.76 if letter.isupper() else
        0.64
        for letter in text
    )  # fmt: skip

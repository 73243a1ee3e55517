"""The shapes that tell series apart without colour."""

from collections.abc import Callable
from functools import partial
from math import sqrt

from mercer.report.charts._svg import coordinate as c

# How many colours the style sheet has: .k0 … .k9.
COLOURS = 10

# One for each colour, so that neither alone has to be seen.
SHAPES = ("circle", "square", "triangle", "cross", "ring", "diamond", "plus", "box", "wedge", "bar")


def shape_of(colour: int) -> str:
    """Return the shape that goes with a colour."""
    return SHAPES[colour % len(SHAPES)]


def is_outline(shape: str) -> bool:
    """Tell whether a shape is drawn by its line alone."""
    return shape in ("cross", "ring", "plus", "box", "bar")


def glyph(shape: str, x: float, y: float, r: float) -> str:
    """Return the ``d`` of a path: a shape about (x, y) that looks as large as a circle of r."""
    return _DRAWN.get(shape, _circle)(x, y, r)


def _circle(x: float, y: float, r: float) -> str:
    arc = f"a{c(r)} {c(r)} 0 1 0"
    return f"M{c(x - r)} {c(y)}{arc} {c(2 * r)} 0{arc} {c(-2 * r)} 0Z"


def _square(x: float, y: float, r: float) -> str:
    half = 0.88 * r
    return f"M{c(x - half)} {c(y - half)}h{c(2 * half)}v{c(2 * half)}h{c(-2 * half)}Z"


def _triangle(x: float, y: float, r: float, up: int = 1) -> str:
    high, half = up * 1.25 * r, 1.25 * r * sqrt(3) / 2
    return f"M{c(x)} {c(y - high)}l{c(half)} {c(1.5 * high)}h{c(-2 * half)}Z"


def _diamond(x: float, y: float, r: float) -> str:
    a = 1.25 * r
    return f"M{c(x)} {c(y - a)}l{c(a)} {c(a)}l{c(-a)} {c(a)}l{c(-a)} {c(-a)}Z"


def _cross(x: float, y: float, r: float) -> str:
    a = 0.85 * r
    rise, fall = f"l{c(2 * a)} {c(-2 * a)}", f"l{c(2 * a)} {c(2 * a)}"
    return f"M{c(x - a)} {c(y - a)}{fall}M{c(x - a)} {c(y + a)}{rise}"


def _plus(x: float, y: float, r: float) -> str:
    a = 1.1 * r
    return f"M{c(x - a)} {c(y)}h{c(2 * a)}M{c(x)} {c(y - a)}v{c(2 * a)}"


def _bar(x: float, y: float, r: float) -> str:
    a = 1.1 * r
    return f"M{c(x - a)} {c(y)}h{c(2 * a)}"


_DRAWN: dict[str, Callable[[float, float, float], str]] = {
    "circle": _circle,
    "ring": _circle,
    "square": _square,
    "box": _square,
    "triangle": _triangle,
    "wedge": partial(_triangle, up=-1),
    "diamond": _diamond,
    "cross": _cross,
    "plus": _plus,
    "bar": _bar,
}

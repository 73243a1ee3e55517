"""Panels as one SVG file that stands by itself: styles inside, legends drawn."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from mercer.report._charts import draw_panel
from mercer.report._document import render_template
from mercer.report._svg import text_width

__all__ = ["draw_figure"]

_SVG = "http://www.w3.org/2000/svg"
_ACROSS = 3  # panels in a line
_WIDTH, _GAP, _TITLE, _ENTRY = 320.0, 24.0, 22.0, 16.0
_FONT, _MARGIN = 11.0, 8.0


def draw_figure(panels: Sequence[Mapping[str, Any]], title: str) -> str:
    """Return the panels of a figure side by side, each with its title above and legend below."""
    root = ElementTree.Element("svg", xmlns=_SVG, role="img")
    root.set("aria-label", title)
    style = ElementTree.SubElement(root, "style")
    style.text = render_template("figure.css")
    top = right = 0.0
    for start in range(0, len(panels), _ACROSS):
        heights = []
        for k, panel in enumerate(panels[start : start + _ACROSS]):
            heights.append(_add_panel(root, panel, k * (_WIDTH + _GAP), top))
            right = max(right, (k + 1) * _WIDTH + k * _GAP)
        top += max(heights) + _GAP
    width, height = right + 2 * _MARGIN, top - _GAP + 2 * _MARGIN
    root.set("viewBox", f"{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}")
    root.set("width", f"{width:.0f}")
    root.set("height", f"{height:.0f}")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_panel(
    root: ElementTree.Element, panel: Mapping[str, Any], left: float, top: float
) -> float:
    """Add a panel at a place and return its height."""
    figure = ElementTree.fromstring(str(draw_panel(panel)))  # noqa: S314 - our own markup
    caption, chart, legend = (figure.find(name) for name in ("figcaption", "svg", "ul"))
    y = top
    if caption is not None:
        for words in _wrapped(caption.text or "", _WIDTH):
            y += 15
            _text(root, words, left, y, "title")
        y += _TITLE - 15
    assert chart is not None  # noqa: S101 - draw_panel always draws one
    for parent in list(chart.iter()):  # nobody can point at what is in a picture
        for title in parent.findall("title"):
            parent.remove(title)
    _, _, width, height = map(float, chart.get("viewBox", "0 0 1 1").split())
    tall = height * _WIDTH / width
    _place(chart, left, y, _WIDTH, tall)
    root.append(chart)
    y += tall
    x = left
    for entry in [] if legend is None else list(legend):
        swatch, name = entry.find("svg"), entry.findtext("span") or ""
        wide = 26 + text_width(name, _FONT)
        if x > left and x + wide > left + _WIDTH:
            x, y = left, y + _ENTRY
        if swatch is not None:
            _place(swatch, x, y + 3, 22, 14)
            root.append(swatch)
        _text(root, name, x + 26, y + 14, "entry")
        x += wide + 10
    return y + (_ENTRY + 4 if legend is not None else 0) - top


def _place(svg: ElementTree.Element, x: float, y: float, width: float, height: float) -> None:
    for name, value in (("x", x), ("y", y), ("width", width), ("height", height)):
        svg.set(name, f"{value:.1f}")


def _text(root: ElementTree.Element, words: str, x: float, y: float, style: str) -> None:
    element = ElementTree.SubElement(root, "text", x=f"{x:.1f}", y=f"{y:.1f}")
    element.set("class", style)
    element.text = words


def _wrapped(text: str, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, 13) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines

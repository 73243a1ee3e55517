"""Panels become figures: each one of HTML for a page, or several one SVG file by itself."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any
from xml.etree import ElementTree

import numpy as np
from markupsafe import Markup

from mercer._system.words import fixed
from mercer.report._document import render_template
from mercer.report.charts._axes import Axes, Layer, draw_axes, make_axes, numbers
from mercer.report.charts._layers import draw_layer, point_shapes, swatch
from mercer.report.charts._svg import element, text_width


def draw_panel(panel: Mapping[str, Any]) -> Markup:
    """Draw a panel as a ``<figure>``: its title, axes, layers in their order and a legend.

    A panel is what ``Panel.as_json`` of :mod:`mercer.studies` returns; its ``domain``, left, right,
    bottom and top, says what the layers do not.  Colours come from the style sheet of charts.
    """
    layers: Sequence[Layer] = panel["layers"]
    title = panel.get("title", "")
    x_label, y_label = panel.get("x_label", ""), panel.get("y_label", "")
    axes = make_axes(panel)
    shapes = point_shapes(layers)
    inside = [
        draw_layer(layer, axes, shape, layers) for layer, shape in zip(layers, shapes, strict=True)
    ]
    width, height = axes.total
    drawing = element(
        "svg",
        element("desc", _described(layers, axes, x_label, y_label)),
        draw_axes(axes, x_label, y_label),
        # a nested svg cuts off what lies outside the plotting area
        element("svg", *inside, x=axes.left, y=axes.top, width=axes.width, height=axes.height),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_label=title or "chart",
        class_="chart",
    )
    parts = [drawing, _legend(layers, shapes)]
    if title:
        parts.insert(0, element("figcaption", title))
    return element("figure", *parts, class_="panel")


def _described(layers: Sequence[Layer], axes: Axes, x_label: str, y_label: str) -> str:
    """Describe in words what is drawn, for readers who do not see it."""
    kinds = {"points": "points", "line": "a line", "bars": "bars", "raster": "a map"}
    seen: dict[str, None] = {}
    for layer in layers:
        label = f" “{layer['label']}”" if layer.get("label") else ""
        seen[kinds[layer["kind"]] + label] = None
    spans = [
        f"{name or letter} from {scale.domain[0]:.4g} to {scale.domain[1]:.4g}"
        for name, letter, scale in ((x_label, "x", axes.x), (y_label, "y", axes.y))
    ]
    return f"{', '.join(seen)}; {', '.join(spans)}."


def _legend(layers: Sequence[Layer], shapes: Sequence[str]) -> Markup:
    """Return the legend: layers that have a label; those that look the same are listed once."""
    entries: dict[tuple[object, ...], Markup] = {}
    bars = 0
    for layer, shape in zip(layers, shapes, strict=True):
        order = bars
        bars += layer["kind"] == "bars"
        if not layer.get("label"):
            continue
        key = (layer["label"], layer["kind"], layer.get("colour"), shape)
        text = layer["label"] + _range(layer)
        entries.setdefault(key, element("li", swatch(layer, shape, order), element("span", text)))
    if not entries:
        return Markup()
    return element("ul", *entries.values(), class_="legend")


def _range(layer: Layer) -> str:
    """Return which values the clear and the full colour of a map stand for."""
    if layer["kind"] != "raster" or layer.get("scale", "shade") != "shade":
        return ""
    values = numbers(layer["z"])
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    digits = max(0, 2 - floor(log10(high - low))) if high > low else 2
    return f", {fixed(low, digits)} to {fixed(high, digits)}"


# A figure as one SVG file: styles inside, legends drawn. Lengths are in pixels.
_SVG = "http://www.w3.org/2000/svg"
_PANELS_IN_A_ROW = 3
_WIDTH, _GAP = 320.0, 24.0  # of a panel, and between panels
_TITLE_HEIGHT, _ENTRY_HEIGHT = 22.0, 16.0  # of a title, and of a line of the legend
_FONT, _MARGIN = 11.0, 8.0


def draw_figure(panels: Sequence[Mapping[str, Any]], title: str) -> str:
    """Return the panels of a figure side by side, each with its title above and legend below."""
    root = ElementTree.Element("svg", xmlns=_SVG, role="img")
    root.set("aria-label", title)
    style = ElementTree.SubElement(root, "style")
    style.text = render_template("figure.css")
    top = right = 0.0
    for start in range(0, len(panels), _PANELS_IN_A_ROW):
        heights = []
        for k, panel in enumerate(panels[start : start + _PANELS_IN_A_ROW]):
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
        y += _TITLE_HEIGHT - 15
    assert chart is not None  # noqa: S101 - draw_panel always draws one
    for parent in list(chart.iter()):  # a picture file shows no titles when it is pointed at
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
            x, y = left, y + _ENTRY_HEIGHT
        if swatch is not None:
            _place(swatch, x, y + 3, 22, 14)
            root.append(swatch)
        _text(root, name, x + 26, y + 14, "entry")
        x += wide + 10
    return y + (_ENTRY_HEIGHT + 4 if legend is not None else 0) - top


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

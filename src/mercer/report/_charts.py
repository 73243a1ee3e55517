"""Charts as figures of HTML: a panel of layers becomes a title, an SVG and a legend."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import numpy as np
from markupsafe import Markup

from mercer.report._axes import Axes, Layer, draw_axes, make_axes, numbers
from mercer.report._layers import draw_layer, point_shapes, swatch
from mercer.report._numbers import fixed
from mercer.report._svg import element

__all__ = ["draw_panel"]


def draw_panel(panel: Mapping[str, Any]) -> Markup:
    """Draw a panel: its title, axes, layers in their order and a legend.

    Parameters
    ----------
    panel : mapping
        ``title``, ``x_label``, ``y_label``, ``equal``, ``domain`` (left, right, bottom and top,
        where the layers do not say) and ``layers``: each with its ``kind`` ("points", "line",
        "bars" or "raster") and what that kind needs, as JSON values.

    Returns
    -------
    Markup
        A ``<figure>`` whose colours come from the style sheet of charts.
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
    """Say in words what is drawn, for those who do not see it."""
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
    """Return a list of what has a label; the same look under the same label once."""
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
    """Say what clear and full colour of a map stand for."""
    if layer["kind"] != "raster" or layer.get("scale", "shade") != "shade":
        return ""
    values = numbers(layer["z"])
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    low, high = float(values.min()), float(values.max())
    digits = max(0, 2 - floor(log10(high - low))) if high > low else 2
    return f", {fixed(low, digits)} to {fixed(high, digits)}"

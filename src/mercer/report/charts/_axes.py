"""The frame of a chart: how large it is, what it spans, its ticks and its labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from mercer.report.charts._scales import Linear, domain_of, padded, tick_labels, ticks
from mercer.report.charts._svg import element, text_width

# A layer of a panel, as JSON has it.
Layer = Mapping[str, Any]

# Lengths are in pixels of the drawing; a page scales it.
WIDTH = 380.0
_ASPECT = 0.66  # height of the plotting area over its width, unless both axes have one scale
_FLATTEST, _TALLEST = 0.45, 1.25  # bounds of the same where they do
_FONT = 11.0  # size of tick labels, as in the style sheet
_LINE_HEIGHT = 15.0
_WIDEST_NAME = 150.0  # below a slanted tick; longer names are shortened


@dataclass(frozen=True)
class Axes:
    """Scales within the plotting area, the room around it, and ticks with their labels.

    Axes are bare (no ticks, no grid) where a map without labels fills the area. Where there is a
    map, no grid is drawn over it.
    """

    x: Linear
    y: Linear
    left: float
    top: float
    width: float
    height: float
    total: tuple[float, float]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    slanted: bool
    is_bare: bool
    has_map: bool


def numbers(values: Any) -> NDArray[np.float64]:
    """Return JSON numbers as an array; null is NaN."""
    return np.asarray(values, dtype=np.float64)


def bar_places(layer: Layer) -> NDArray[np.float64]:
    """Return where the bars of a layer stand: at `x`, or at 0, 1, …."""
    if layer.get("x") is not None:
        return numbers(layer["x"])
    return np.arange(len(layer["y"]), dtype=np.float64)


def bar_width(layers: Sequence[Layer]) -> float:
    """Return the width of one bar: layers stand side by side between two places."""
    gaps = [np.diff(np.unique(bar_places(layer))) for layer in layers]
    least = min((float(gap.min()) for gap in gaps if len(gap)), default=1.0)
    return 0.8 * least / len(layers)


def make_axes(panel: Mapping[str, Any]) -> Axes:
    """Choose domains, ticks and room for a panel."""
    layers = panel["layers"]
    x_domain, y_domain = _domains(layers)
    if panel.get("domain"):
        x_domain, y_domain = (padded(panel["domain"][k : k + 2], 0.02) for k in (0, 2))
    named = {
        place: str(name)
        for layer in layers
        if layer["kind"] == "bars" and layer.get("names")
        for place, name in zip(bar_places(layer), layer["names"], strict=True)
    }
    is_bare = all(layer["kind"] == "raster" for layer in layers) and not (
        panel.get("x_label") or panel.get("y_label")
    )
    y_values = ticks(*y_domain)
    y_texts = tick_labels(y_values)
    left = 4.0 if is_bare else 10 + max(map(_width, y_texts), default=0.0)
    left += _LINE_HEIGHT + 2 if panel.get("y_label") else 0
    right = 4.0 if is_bare else 12.0
    width = WIDTH - left - right
    height = _ASPECT * width
    if panel.get("equal"):
        ratio = (y_domain[1] - y_domain[0]) / (x_domain[1] - x_domain[0])
        height = width * min(max(ratio, _FLATTEST), _TALLEST)
        if ratio > _TALLEST:
            x_domain = padded(x_domain, (ratio / _TALLEST - 1) / 2)
        elif ratio < _FLATTEST:
            y_domain = padded(y_domain, (_FLATTEST / ratio - 1) / 2)
        y_values = ticks(*y_domain)
        y_texts = tick_labels(y_values)
    x = Linear(x_domain, (0.0, width))
    if named:
        x_ticks = list(named.items())
        longest = max(map(_width, named.values()))
        slanted = longest > 0.95 * width / max(1, len(named))
        below = 0.62 * min(longest, _WIDEST_NAME) + _LINE_HEIGHT if slanted else _LINE_HEIGHT
    else:
        x_values = ticks(*x_domain)
        x_ticks = list(zip(x_values.tolist(), tick_labels(x_values), strict=True))
        slanted, below = False, _LINE_HEIGHT
    top = 4.0 if is_bare else 8.0
    below = 0.0 if is_bare else below + 6
    below += _LINE_HEIGHT + 4 if panel.get("x_label") else 2
    return Axes(
        x=x,
        y=Linear(y_domain, (height, 0.0)),
        left=left,
        top=top,
        width=width,
        height=height,
        total=(WIDTH, top + height + below),
        x_ticks=x_ticks,
        y_ticks=list(zip(y_values.tolist(), y_texts, strict=True)),
        slanted=slanted,
        is_bare=is_bare,
        has_map=any(layer["kind"] == "raster" for layer in layers),
    )


def _width(text: str) -> float:
    return text_width(text, _FONT)


def _shortened(text: str) -> str:
    """Shorten a name that is too long to stand below an axis."""
    if _width(text) <= _WIDEST_NAME:
        return text
    while _width(text) > _WIDEST_NAME - _FONT:
        text = text[:-1]
    return text + "…"


def _domains(layers: Sequence[Layer]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return what x and y span: the extent of a map, or else all that is drawn and a margin."""
    extents = [layer["extent"] for layer in layers if layer["kind"] == "raster"]
    if extents:
        return (
            domain_of([[extent[0], extent[1]] for extent in extents]),
            domain_of([[extent[2], extent[3]] for extent in extents]),
        )
    bars = [layer for layer in layers if layer["kind"] == "bars"]
    xs, ys = [], []
    for layer in layers:
        y = numbers(layer["y"])
        x = bar_places(layer) if layer["kind"] == "bars" else numbers(layer["x"])
        xs.append(x)
        ys.append(y)
        if layer.get("spread") is not None:
            spread = np.nan_to_num(numbers(layer["spread"]))
            ys += [y - spread, y + spread]
    x_domain, y_domain = domain_of(xs), domain_of(ys)
    if bars:
        room = 0.6 * bar_width(bars) * len(bars) / 0.8
        x_domain = domain_of([[part.min() - room, part.max() + room] for part in xs if len(part)])
        low, high = domain_of([*ys, [0.0]])
        return x_domain, (low - 0.05 * (high - low) * (low < 0), high + 0.05 * (high - low))
    return padded(x_domain, 0.04), padded(y_domain, 0.06)


def draw_axes(axes: Axes, x_label: str, y_label: str) -> Markup:
    """Draw grid, frame, ticks and labels; the layers come on top."""
    if axes.is_bare:
        return Markup()
    bottom = axes.top + axes.height
    parts = []
    for value, text in axes.y_ticks:
        y = axes.top + float(axes.y(value))
        length = -4.0 if axes.has_map else axes.width
        style = "grid short" if axes.has_map else "grid"
        parts.append(element("path", class_=style, d=f"M{axes.left:.1f} {y:.1f}h{length:.1f}"))
        parts.append(
            element("text", text, x=axes.left - 6, y=y + 3.5, text_anchor="end", class_="tick")
        )
    for value, text in axes.x_ticks:
        x = axes.left + float(axes.x(value))
        parts.append(element("path", class_="grid short", d=f"M{x:.1f} {bottom:.1f}v4"))
        if axes.slanted:
            place = f"translate({x:.1f} {bottom + 12:.1f}) rotate(-38)"
            text = _shortened(text)
            parts.append(element("text", text, transform=place, text_anchor="end", class_="tick"))
        else:
            parts.append(
                element("text", text, x=x, y=bottom + 16, text_anchor="middle", class_="tick")
            )
    parts.append(
        element("path", class_="base", d=f"M{axes.left:.1f} {bottom:.1f}h{axes.width:.1f}")
    )
    if x_label:
        middle = axes.left + axes.width / 2
        parts.append(
            element(
                "text", x_label, x=middle, y=axes.total[1] - 4, text_anchor="middle", class_="label"
            )
        )
    if y_label:
        place = f"translate(11 {axes.top + axes.height / 2:.1f}) rotate(-90)"
        parts.append(
            element("text", y_label, transform=place, text_anchor="middle", class_="label")
        )
    return Markup().join(parts)

"""What stands on the axes: points, lines, bars and maps as SVG."""

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from math import atan2, cos, hypot, pi, sin

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray

from mercer.report.charts._axes import Axes, Layer, bar_places, bar_width, numbers
from mercer.report.charts._glyphs import COLOURS, glyph, is_outline, shape_of
from mercer.report.charts._svg import element, polygon, polyline

_Array = NDArray[np.float64]

# Up to so many points each have an element of their own, which tells its numbers when it is pointed
# at; more are drawn as one path.
_MOST_POINTED_AT = 400


def colour_class(layer: Layer) -> str:
    """Return the class that gives a layer its colour."""
    return f"k{int(layer.get('colour', 0)) % COLOURS}"


def point_shapes(layers: Sequence[Layer]) -> list[str]:
    """Return a shape for every layer: as asked for, or by colour where all ask for the same."""
    asked = [layer.get("marker", "circle") for layer in layers if layer["kind"] == "points"]
    colours = {layer.get("colour", 0) for layer in layers if layer["kind"] == "points"}
    by_colour = len(set(asked)) <= 1 and len(colours) > 1
    return [
        layer.get("marker", "circle")
        if layer["kind"] == "points" and not by_colour
        else shape_of(int(layer.get("colour", 0)))
        for layer in layers
    ]


def draw_layer(layer: Layer, axes: Axes, shape: str, layers: Sequence[Layer]) -> Markup:
    """Draw one layer in the coordinates of the plotting area."""
    if layer["kind"] == "bars":
        return _bars(layer, axes, [other for other in layers if other["kind"] == "bars"])
    return _DRAWN[layer["kind"]](layer, axes, shape)


def _number(value: float) -> str:
    return f"{value:.5g}".replace("-", "−")


def _points(layer: Layer, axes: Axes, shape: str) -> Markup:
    x, y = numbers(layer["x"]), numbers(layer["y"])
    names = layer.get("names")
    keep = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    across, up = axes.x(x), axes.y(y)
    radius = 3.4 if len(keep) <= 150 else 2.6 if len(keep) <= 600 else 1.6
    drawn = [glyph(shape, across[i], up[i], radius) for i in keep]
    style = f"points {colour_class(layer)}{' outline' if is_outline(shape) else ''}"
    style += " faint" if layer.get("faint") else ""
    if names is None and len(keep) > _MOST_POINTED_AT:
        return element("path", class_=style, d="".join(drawn))
    marks = []
    for i, d in zip(keep, drawn, strict=True):
        what = names[i] if names is not None else layer.get("label", "")
        where = f"{_number(x[i])}, {_number(y[i])}"
        marks.append(element("path", element("title", f"{what}: {where}" if what else where), d=d))
    return element("g", *marks, class_=style)


def _line(layer: Layer, axes: Axes, shape: str) -> Markup:
    x, y = numbers(layer["x"]), numbers(layer["y"])
    spread = None if layer.get("spread") is None else numbers(layer["spread"])
    across, up = axes.x(x), axes.y(y)
    parts = []
    if spread is not None:
        low, high = axes.y(y - spread), axes.y(y + spread)
        for run in _runs(np.isfinite(across) & np.isfinite(low) & np.isfinite(high)):
            there = list(zip(across[run], high[run], strict=True))
            back = list(zip(across[run][::-1], low[run][::-1], strict=True))
            parts.append(element("path", class_="band", d=polygon(there + back)))
    style = "line dashed" if layer.get("dashed") else "line"
    parts.append(element("path", class_=style, d=polyline(across, up)))
    known = np.flatnonzero(np.isfinite(across) & np.isfinite(up))
    if layer.get("arrow") and len(known) >= 2:
        parts.append(_arrow_head(across[known], up[known]))
    elif len(known):
        parts += _vertices(layer, shape, known, across, up, spread)
    return element("g", *parts, class_=colour_class(layer))


def _vertices(
    layer: Layer, shape: str, known: NDArray[np.intp], across: _Array, up: _Array,
    spread: _Array | None,
) -> list[Markup]:  # fmt: skip
    """Mark some points of a line with its shape; where they are few, each tells its numbers."""
    few = len(known) <= 25
    marked = known if few else known[np.linspace(0, len(known) - 1, 8).astype(int)]
    style = "points outline" if is_outline(shape) else "points"
    d = "".join(glyph(shape, across[i], up[i], 2.8) for i in marked)
    shown = _is_marked(layer) and (layer.get("label") or few)
    parts = [element("path", class_=style, d=d)] if shown else []
    if len(known) <= _MOST_POINTED_AT / 4:
        x, y = numbers(layer["x"]), numbers(layer["y"])
        for i in known:
            more = f" ± {_number(spread[i])}" if spread is not None else ""
            text = f"{_number(x[i])}, {_number(y[i])}{more}"
            text = f"{layer['label']}: {text}" if layer.get("label") else text
            spot = element("title", text)
            parts.append(element("circle", spot, cx=across[i], cy=up[i], r=6, class_="spot"))
    return parts


def _runs(flags: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Return the runs of neighbouring indices whose flags are set."""
    indices = np.flatnonzero(flags)
    if not len(indices):
        return []
    return np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)


def _arrow_head(across: _Array, up: _Array) -> Markup:
    x, y = float(across[-1]), float(up[-1])
    back = 1
    while back < len(across) - 1 and hypot(x - across[-1 - back], y - up[-1 - back]) < 1:
        back += 1
    angle = atan2(y - up[-1 - back], x - across[-1 - back])
    sides = [(x - 9 * cos(angle + turn), y - 9 * sin(angle + turn)) for turn in (pi / 8, -pi / 8)]
    return element("path", class_="head", d=polygon([(x, y), *sides]))


def _bars(layer: Layer, axes: Axes, layers: Sequence[Layer]) -> Markup:
    width = bar_width(layers)
    order = next(k for k, other in enumerate(layers) if other is layer)
    shift = (order - (len(layers) - 1) / 2) * width
    places, y = bar_places(layer), numbers(layer["y"])
    names = layer.get("names")
    zero = float(axes.y(0.0))
    parts = []
    for i in np.flatnonzero(np.isfinite(places) & np.isfinite(y)):
        left, right = axes.x([places[i] + shift - width / 2, places[i] + shift + width / 2])
        top = float(axes.y(y[i]))
        what = ", ".join(filter(None, [layer.get("label", ""), names[i] if names else ""]))
        text = f"{what}: {_number(y[i])}" if what else f"{_number(places[i])}: {_number(y[i])}"
        parts.append(
            element(
                "rect",
                element("title", text),
                x=left + 0.5,
                y=min(top, zero),
                width=max(right - left - 1, 0.5),
                height=abs(zero - top),
            )
        )
    return element("g", *parts, class_=f"bars {colour_class(layer)} n{order % 3}")


def _map(layer: Layer, axes: Axes, shape: str) -> Markup:
    left, right, bottom, top = layer["extent"]
    x, y = axes.x([left, right]), axes.y([top, bottom])
    scale = layer.get("scale", "shade")
    return element(
        "image",
        href=picture(layer["z"], scale),
        x=x[0],
        y=y[0],
        width=x[1] - x[0],
        height=y[1] - y[0],
        preserveAspectRatio="none",
        class_=f"map {scale}",
    )


_DRAWN: dict[str, Callable[[Layer, Axes, str], Markup]] = {
    "points": _points,
    "line": _line,
    "raster": _map,
}


def _is_marked(layer: Layer) -> bool:
    """Tell whether points of a line are marked with a shape: not on arrows, nor on a segment."""
    return not layer.get("arrow") and len(layer["x"]) > 2


def swatch(layer: Layer, shape: str, order: int) -> Markup:
    """Draw the sample of a layer that stands in a legend; `order` counts layers of bars."""
    style = colour_class(layer)
    outline = " outline" if is_outline(shape) else ""
    if layer["kind"] == "points":
        inside = element("path", class_=f"points{outline}", d=glyph(shape, 11, 7, 4))
    elif layer["kind"] == "line":
        dashed = " dashed" if layer.get("dashed") else ""
        stroke = element("path", class_=f"line{dashed}", d="M1 7H21")
        dot = element("path", class_=f"points{outline}", d=glyph(shape, 11, 7, 3))
        inside = stroke + dot if _is_marked(layer) else stroke
    elif layer["kind"] == "bars":
        box = element("rect", x=3, y=2, width=16, height=10)
        inside = element("g", box, class_=f"bars n{order % 3}")
    elif layer.get("scale", "shade") == "classes":
        seen = np.unique(numbers(layer["z"]))[:3]
        boxes = (
            element("rect", x=1 + 7 * k, y=2, width=7, height=10, class_=f"k{int(c) % COLOURS}")
            for k, c in enumerate(seen[np.isfinite(seen)])
        )
        inside = element("g", *boxes, class_="classes")
    else:
        steps = (
            element("rect", x=1 + 4 * k, y=2, width=4, height=10, fill_opacity=0.23 * k)
            for k in range(5)
        )
        inside = element("g", *steps, class_="shade")
    return element("svg", inside, class_=f"swatch {style}", viewBox="0 0 22 14", aria_hidden="true")


# A map of values is a small picture inside the page: a PNG with a palette, written by hand.
# Its colours show on white and on black; the page behind shines through.
_SHADE = (42, 111, 176)
_CLASSES = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (170, 68, 153),
    (194, 142, 0),
    (63, 160, 216),
    (136, 34, 85),
    (120, 120, 120),
    (106, 61, 154),
    (166, 118, 29),
)
_CLASS_ALPHA = 76
_LEVELS = 255  # of shade
_CLEAR = 255  # the last entry of the palette: where a map has no value


def picture(z: ArrayLike, scale: str) -> str:
    """Return a data URI of a map, its first row lowest.

    "shade" goes from clear at the least value to full colour at the greatest; "classes" gives
    0, 1, … the colours of classes, paler.  Gaps are clear.
    """
    values = np.asarray(z, dtype=np.float64)[::-1]
    known = np.isfinite(values)
    indices = np.full(values.shape, _CLEAR, dtype=np.uint8)
    if scale == "classes":
        indices[known] = values[known].astype(np.int64) % len(_CLASSES)
        colours, alphas = np.array(_CLASSES), np.full(len(_CLASSES), _CLASS_ALPHA)
    else:
        low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 1.0)
        part = (values[known] - low) / (high - low) if high > low else np.zeros(known.sum())
        indices[known] = np.rint(part * (_LEVELS - 1))
        colours = np.tile(_SHADE, (_LEVELS, 1))
        alphas = np.rint(np.linspace(0, 235, _LEVELS))
    palette = np.zeros((256, 3), dtype=np.uint8)
    opacity = np.zeros(256, dtype=np.uint8)
    palette[: len(colours)], opacity[: len(alphas)] = colours, alphas
    return "data:image/png;base64," + b64encode(_png(indices, palette, opacity)).decode("ascii")


def _png(
    indices: NDArray[np.uint8], palette: NDArray[np.uint8], opacity: NDArray[np.uint8]
) -> bytes:
    """Return a PNG of palette indices: header, palette, transparency, rows and end."""
    height, width = indices.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), indices])  # each row: filter 0
    chunks = (
        (b"IHDR", header),
        (b"PLTE", palette.tobytes()),
        (b"tRNS", opacity.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

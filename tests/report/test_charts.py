"""Panels become SVG: numbers land where they must, gaps stay gaps, texts stay texts."""

import base64
import re
import struct
import zlib
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.report.charts._axes import make_axes
from mercer.report.charts._figures import draw_panel
from mercer.report.charts._glyphs import SHAPES, glyph
from mercer.report.charts._layers import picture, point_shapes

POINTS = {"kind": "points", "x": [0, 10], "y": [5, -5]}
LINE = {"kind": "line", "x": [0, 1, 2, 3], "y": [1.0, 2.0, None, 3.0]}


def _panel(*layers, **more):
    return {"title": "a title", "x_label": "", "y_label": "", "layers": list(layers), **more}


def _parse(panel):
    return ElementTree.fromstring(str(draw_panel(panel)))


def _starts(d):
    """Where the parts of a path begin."""
    return [tuple(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", d)]


def _plot(figure):
    """The nested svg: the plotting area."""
    return figure.find("svg").find("svg")


def test_points_land_where_the_scales_say():
    panel = _panel(POINTS)
    axes = make_axes(panel)
    plot = _plot(_parse(panel))
    width, height = float(plot.get("width")), float(plot.get("height"))
    assert_allclose([axes.width, axes.height], [width, height], atol=0.01)
    # 4 % and 6 % of room at the ends: (0, 5) is top left, (10, -5) bottom right
    first, second = (_starts(path.get("d"))[0] for path in plot.find("g"))
    radius = 3.4  # a circle's path begins at its left
    assert_allclose(first, [0.04 / 1.08 * width - radius, 0.06 / 1.12 * height], atol=0.02)
    assert_allclose(second, [1.04 / 1.08 * width - radius, 1.06 / 1.12 * height], atol=0.02)


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=30),
    st.booleans(),
)
def test_all_points_are_inside(points, equal):
    x, y = zip(*points, strict=True)
    panel = _panel({"kind": "points", "x": x, "y": y}, equal=equal)
    axes = make_axes(panel)
    for scale, values, length in ((axes.x, x, axes.width), (axes.y, y, axes.height)):
        placed = scale(values)
        assert (placed >= -1e-6).all()
        assert (placed <= length + 1e-6).all()
    if equal:
        across = axes.width / np.diff(axes.x.domain)
        up = axes.height / np.diff(axes.y.domain)
        assert_allclose(across, up, rtol=1e-6)


def test_lines_break_at_gaps():
    path = _plot(_parse(_panel(LINE))).find("g/path[@class='line']")
    assert re.sub(r"[^ML]", "", path.get("d")) == "MLM"


def test_band_is_as_wide_as_the_spread():
    line = {"kind": "line", "x": [0, 1], "y": [2.0, 4.0], "spread": [1.0, 0.5]}
    panel = _panel(line)
    axes = make_axes(panel)
    band = _plot(_parse(panel)).find("g/path[@class='band']")
    corners = _starts(band.get("d"))
    assert_allclose([y for _, y in corners], axes.y([3.0, 4.5, 3.5, 1.0]), atol=0.01)


def test_arrow_points_along_the_line():
    line = {"kind": "line", "x": [0, 1], "y": [0, 0], "arrow": True}
    panel = _panel(line)
    axes = make_axes(panel)
    tip, *sides = _starts(_plot(_parse(panel)).find("g/path[@class='head']").get("d"))
    assert_allclose(tip, [axes.x(1.0), axes.y(0.0)], atol=0.01)
    assert all(x < tip[0] for x, _ in sides)
    assert_allclose(np.mean([y for _, y in sides]), tip[1], atol=0.02)


def test_bars_stand_on_zero():
    panel = _panel({"kind": "bars", "y": [2.0, -1.0, None], "names": ["a", "b", "c"]})
    axes = make_axes(panel)
    rects = _plot(_parse(panel)).findall("g/rect")
    assert len(rects) == 2
    up, down = ((float(r.get("y")), float(r.get("height"))) for r in rects)
    assert_allclose(up, [axes.y(2.0), axes.y(0.0) - axes.y(2.0)], atol=0.02)
    assert_allclose(down, [axes.y(0.0), axes.y(-1.0) - axes.y(0.0)], atol=0.02)
    assert [text for _, text in axes.x_ticks] == ["a", "b", "c"]


def test_layers_of_bars_stand_side_by_side():
    one = {"kind": "bars", "y": [1.0, 1.0]}
    figure = _parse(_panel(one, dict(one, colour=1)))
    edges = sorted(
        (float(r.get("x")), float(r.get("x")) + float(r.get("width")))
        for r in _plot(figure).iter("rect")
    )
    assert len(edges) == 4
    assert all(right <= left for (_, right), (left, _) in pairwise(edges))


def _decode(uri):
    """The pixels of a data URI as RGBA, by the PNG standard: no filter, palette of 256."""
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(
            name + body
        )
        chunks[name], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    alpha = np.frombuffer(chunks[b"tRNS"], np.uint8)
    return np.dstack([palette[rows[:, 1:]], alpha[rows[:, 1:]]])


def test_shades_go_from_clear_to_full_and_the_first_row_is_lowest():
    pixels = _decode(picture([[0.0, 1.0], [2.0, np.nan]], "shade"))
    assert pixels.shape == (2, 2, 4)
    (top_left, top_right), (low_left, low_right) = pixels[..., 3]
    assert low_left == 0
    assert top_right == 0  # a gap
    assert 0 < low_right < top_left


def test_classes_have_colours_of_their_own():
    pixels = _decode(picture([[0, 1, 2, 0]], "classes"))[0]
    assert len({tuple(pixel) for pixel in pixels}) == 3
    assert tuple(pixels[0]) == tuple(pixels[3])


@pytest.mark.parametrize("z", [[[3.0, 3.0]], [[np.nan, np.nan]]])
def test_maps_without_range(z):
    assert not _decode(picture(z, "shade"))[..., 3].any()


def test_maps_fill_their_extent():
    panel = _panel({"kind": "raster", "z": [[0, 1]], "extent": [-1, 3, 2, 4]}, POINTS, x_label="x")
    axes = make_axes(panel)
    assert axes.x.domain == (-1, 3)
    assert axes.y.domain == (2, 4)
    image = _plot(_parse(panel)).find("image")
    place = [float(image.get(name)) for name in ("x", "y", "width", "height")]
    assert_allclose(place, [0, 0, axes.width, axes.height], atol=0.01)


def test_texts_are_escaped(nasty):
    layer = dict(POINTS, label=nasty, names=[nasty, "b & c"])
    bars = {"kind": "bars", "y": [1, 2], "names": [nasty, '"'], "label": nasty}
    panel = _panel(layer, bars, title=nasty, x_label=nasty, y_label=nasty)
    text = str(draw_panel(panel))
    assert "<script" not in text
    figure = ElementTree.fromstring(text)
    assert figure.find("figcaption").text == nasty
    assert figure.find("svg").get("aria-label") == nasty
    assert nasty in [node.text for node in figure.iter("text")]


def test_every_chart_says_what_it_is():
    svg = _parse(_panel(dict(POINTS, label="class one"), LINE, x_label="width")).find("svg")
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == "a title"
    said = svg.find("desc").text
    assert "class one" in said
    assert "width from" in said


def test_legend_names_what_has_a_label_once():
    layers = [dict(POINTS, label="a"), dict(POINTS, label="a"), dict(POINTS, label="b", colour=1)]
    figure = _parse(_panel(*layers, POINTS))
    assert [item.find("span").text for item in figure.iter("li")] == ["a", "b"]
    assert _parse(_panel(POINTS)).find("ul") is None


def test_shapes_differ_where_colours_do():
    same = [dict(POINTS, colour=k) for k in range(len(SHAPES))]
    assert len(set(point_shapes(same))) == len(SHAPES)
    drawn = {glyph(shape, 0, 0, 3) for shape in SHAPES}
    assert len(drawn) >= len(SHAPES) - 2  # ring and box are the outlines of circle and square
    asked = [dict(POINTS, marker="cross"), dict(POINTS, marker="square", colour=1)]
    assert point_shapes(asked) == ["cross", "square"]


def test_many_points_are_one_path():
    many = {"kind": "points", "x": list(range(1000)), "y": list(range(1000))}
    assert len(_plot(_parse(_panel(many))).findall("path")) == 1


def test_points_can_be_pointed_at():
    layer = dict(POINTS, names=["first", "second"])
    titles = [node.text for node in _plot(_parse(_panel(layer))).iter("title")]
    assert titles == ["first: 0, 5", "second: 10, −5"]


@pytest.mark.parametrize(
    "layer",
    [
        {"kind": "points", "x": [], "y": []},
        {"kind": "points", "x": [None], "y": [1]},
        {"kind": "line", "x": [1], "y": [1]},
        {"kind": "line", "x": [], "y": [], "spread": []},
        {"kind": "line", "x": [1, 1], "y": [2, 2], "arrow": True},
        {"kind": "bars", "y": []},
        {"kind": "bars", "y": [None]},
        {"kind": "bars", "y": [0.0]},
    ],
)
def test_hardly_anything_to_draw(layer):
    text = str(draw_panel(_panel(layer)))
    assert "nan" not in text
    ElementTree.fromstring(text)

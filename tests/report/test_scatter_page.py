"""The page of an embedding as text."""

import base64
import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from mercer.report import write_scatter_page
from mercer.report.charts._scatter_figure import make_scatter
from report.comparisons import NASTY, make_points
from report.parsed import Page


def _read(path):
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_is_whole_escaped_and_on_its_own(tmp_path):
    points = make_points(["a", NASTY])
    path = write_scatter_page(
        points, tmp_path / "map.html", title=f"A map of {NASTY}", text=NASTY, notes=[NASTY]
    )
    parsed = _read(path)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert all(address.startswith(("data:", "#")) for address in parsed.fetched)
    text = path.read_text(encoding="utf-8")
    assert text.count("<script>") == 1
    assert "alert(1)</script>" not in text
    assert parsed.words.count(NASTY) >= 4
    assert "40 rows, 2 classes" in parsed.words
    assert f"{NASTY} 20 50.0 % 0" in parsed.words  # every fourth row is held out: all of "a"
    assert "a 20 50.0 % 10" in parsed.words


def test_a_script_sorts_classes_by_numbers_whatever_stands_between_their_digits(tmp_path):
    points = make_points(["a", "b"], n=3000)
    text = write_scatter_page(points, tmp_path / "map.html", title="T").read_text(encoding="utf-8")
    assert '<td class="num" data-value="1500">1\u202f500</td>' in text
    assert ">3\u202f000 rows, 2 classes<" in text


def test_classes_keep_their_own_order(tmp_path):
    points = make_points([10, 9, 2.0, True])
    text = write_scatter_page(points, tmp_path / "a.html", title="t").read_text(encoding="utf-8")
    assert "[&#34;True&#34;, &#34;2.0&#34;, &#34;9&#34;, &#34;10&#34;]" in text
    points = make_points([1, "b"])
    text = write_scatter_page(points, tmp_path / "a.html", title="t").read_text(encoding="utf-8")
    assert "[&#34;1&#34;, &#34;b&#34;]" in text


def test_many_points_are_all_for_the_script_and_part_of_them_still():
    n = 45_000
    rng = np.random.default_rng(0)
    kinds = np.where(np.arange(n) < 9, "rare", np.where(np.arange(n) < 30_000, "a", "b"))
    frame = pd.DataFrame(
        {"row": np.arange(1, n + 1), "x": rng.normal(size=n), "y": rng.normal(size=n),
         "class": kinds, "held_out": rng.random(n) < 0.25}
    )  # fmt: skip
    scatter = make_scatter(frame, ["a", "b", "rare"], title="t")
    assert scatter.n == n
    assert len(base64.b64decode(scatter.points)) == 11 * n
    plot = ElementTree.fromstring(str(scatter.still)).find("svg").find("svg")
    drawn = sum(path.get("d").count("M") for path in plot.iter("path"))
    assert 2990 <= drawn <= 3020
    assert "rare" in scatter.still
    assert "3\u202f000 of these 45\u202f000 points" in scatter.notes[0]
    # rows held out come on top
    flags = np.frombuffer(base64.b64decode(scatter.points), "u1", n, 10 * n)
    assert (np.diff(flags.astype(int)) >= 0).all()
    assert flags.sum() == frame["held_out"].sum()


def test_points_without_a_place_are_counted():
    points = make_points(["a", "b"])
    points.loc[3, "x"] = np.nan
    points.loc[4, "y"] = np.inf
    scatter = make_scatter(points, ["a", "b"], title="t")
    assert scatter.n == 38
    assert scatter.notes == ["2 rows have no place on it."]


def test_one_far_row_does_not_ruin_the_map():
    points = make_points(["a", "b"])
    near = make_scatter(points, ["a", "b"], title="t")
    points.loc[7, ["x", "y"]] = [3e6, -5e5]
    scatter = make_scatter(points, ["a", "b"], title="t")
    assert scatter.n == 40
    left, right, bottom, top = json.loads(near.extent)
    far_left, far_right, far_bottom, far_top = json.loads(scatter.extent)
    assert far_right - far_left < 1.1 * (right - left)
    assert far_top - far_bottom < 1.1 * (top - bottom)
    assert scatter.notes == ["One row lies far outside and is drawn at the edge: row 8."]
    packed = base64.b64decode(scatter.points)
    rows, x = np.frombuffer(packed, "<u4", 40), np.frombuffer(packed, "<u2", 40, 160)
    assert rows[x.argmax()] == 8
    assert x.max() < 65535  # at the edge and whole, and found by its number
    flags = np.frombuffer(packed, "u1", 40, 400)
    assert rows[(flags & 4) > 0].tolist() == [8]  # so that the page does not tell a false place


def test_a_small_class_that_lies_apart_is_not_far_out():
    points = make_points(["a", "b"], n=1000)
    points.loc[:4, "class"] = "c"
    points.loc[:4, "x"] += 1000.0
    scatter = make_scatter(points, ["a", "b", "c"], title="t")
    assert scatter.notes == []
    assert json.loads(scatter.extent)[1] > 1000


def test_maps_without_far_rows_show_all_there_is():
    points = make_points(["a", "b", "c"], n=400)
    left, right, bottom, top = json.loads(make_scatter(points, ["a", "b", "c"], title="t").extent)
    for name, low, high in (("x", left, right), ("y", bottom, top)):
        span = points[name].max() - points[name].min()
        assert low == pytest.approx(points[name].min() - 0.04 * span)
        assert high == pytest.approx(points[name].max() + 0.04 * span)


def test_many_far_rows_are_counted_and_some_named():
    points = make_points(["a", "b"], n=1000)
    points.loc[:13, "y"] = 1e9
    scatter = make_scatter(points, ["a", "b"], title="t")
    assert scatter.notes == [
        "14 rows lie far outside and are drawn at the edge: among them rows 1, 2, 3, 4 and 5."
    ]


def test_points_that_are_nearly_all_in_one_place():
    points = make_points(["a"], n=30).assign(x=1.0, y=2.0)
    points.loc[3, "x"] = 9.0
    scatter = make_scatter(points, ["a"], title="t")
    assert scatter.notes == []
    assert json.loads(scatter.extent)[1] > 9


def test_nothing_held_out_is_all_in_full_colour():
    points = make_points(["a", "b"]).assign(held_out=False)
    scatter = make_scatter(points, ["a", "b"], title="t")
    assert not scatter.is_split
    assert "faint" not in scatter.still


def test_a_hundred_classes_look_different():
    names = [f"c{k}" for k in range(100)]
    scatter = make_scatter(make_points(names, n=300), names, title="t")
    assert (
        len({(one["d"], one["outline"], one["colour"]) for one in json.loads(scatter.glyphs)})
        == 100
    )


def test_one_point():
    scatter = make_scatter(make_points(["a"], n=1), ["a"], title="t")
    assert scatter.n == 1


@pytest.mark.parametrize("name", ["row", "x", "y", "class", "held_out"])
def test_a_missing_column_is_named(tmp_path, name):
    with pytest.raises(ValueError, match=f"no column '{name}'"):
        write_scatter_page(make_points(["a"]).drop(columns=name), tmp_path / "map.html", title="t")


def test_an_empty_frame_and_a_missing_folder_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no rows"):
        write_scatter_page(make_points(["a"]).iloc[:0], tmp_path / "map.html", title="t")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_scatter_page(make_points(["a"]), tmp_path / "no" / "map.html", title="t")
    assert list(tmp_path.iterdir()) == []

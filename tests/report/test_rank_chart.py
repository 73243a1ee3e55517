"""Brackets join what no test tells apart."""

from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mercer.report.charts._rank_chart import draw_ranks, groups_alike

NAMES = ["a", "b", "c", "d"]


def _pairs(*texts):
    return {frozenset(text) for text in texts}


def test_known_groups():
    assert groups_alike(NAMES, set()) == [(0, 3)]
    assert groups_alike(NAMES, _pairs("ad")) == [(0, 2), (1, 3)]
    assert groups_alike(NAMES, _pairs("ac", "ad", "bc", "bd")) == [(0, 1), (2, 3)]
    assert groups_alike(NAMES, _pairs("ab", "bc", "cd", "ac", "bd", "ad")) == []


@given(st.sets(st.sampled_from(["ab", "ac", "ad", "bc", "bd", "cd"])))
def test_groups_are_alike_and_as_long_as_can_be(texts):
    different = _pairs(*texts)

    def alike(first, last):
        return not any(set(pair) <= set(NAMES[first : last + 1]) for pair in different)

    stretches = [(i, j) for i in range(4) for j in range(i + 1, 4) if alike(i, j)]
    longest = [
        (i, j) for i, j in stretches
        if not any((k <= i and j <= m) and (k, m) != (i, j) for k, m in stretches)
    ]  # fmt: skip
    assert groups_alike(NAMES, different) == longest


def test_chart_shows_names_ranks_and_brackets(nasty):
    text = str(draw_ranks([(nasty, 1.25), ("b", 1.75)], [(0, 1)], "ranks"))
    assert "<script" not in text
    svg = ElementTree.fromstring(text)
    texts = [node.text for node in svg.iter("text")]
    assert {nasty, "b", "1.25", "1.75"} <= set(texts)
    assert len(svg.findall("path[@class='bracket']")) == 1
    dots = [node.get("d") for node in svg.findall("path[@class='points k0']")]
    left, right = (float(d[1:].split()[0]) for d in dots)
    ticks = {n.text: float(n.get("x")) for n in svg.iter("text") if n.get("class") == "tick"}
    share = (right - left) / (ticks["2"] - ticks["1"])
    assert np.isclose(share, 0.5, atol=0.01)

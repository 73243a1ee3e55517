"""The page of ``mercer measure`` as text: whole, escaped, on its own, and with every figure."""

import dataclasses
import re

import pytest

from mercer._system.vocabulary import DIFFERENCES
from mercer.report import write_difference_page
from mercer.report._difference_page import draw_effect
from mercer.views import ColumnDifference, TableDifference, TableEffect, TypicalRow
from report.comparisons import NASTY
from report.parsed import Page

FOUND = TableDifference(
    names=("old/january.csv", "new/february.csv"),
    n_rows=(1234, 99),
    pvalue=0.001,
    squared_error=0.0275,
    expected_squared_error=0.00122,
    divergence=0.0229,
    columns=(
        ColumnDifference("size", "number", 0.338, 1e-9, 1e-8, "median 1", "median 2", 0.25),
        ColumnDifference(NASTY, "category", 0.1, 0.2, 0.4, "36 % red", NASTY, 0.75),
    ),
    level=0.05,
    notes=(f"Only in {NASTY}.",),
    effect=TableEffect(0.72, 0.63, 0.8, 0.95, (1234, 99), 5),
    typical=(
        TypicalRow("old/january.csv", 17, 0.97, {"size": "0.5", NASTY: NASTY}),
        TypicalRow("new/february.csv", 1017, 0.91, {"size": "7.5", NASTY: "plain"}),
    ),
)


@pytest.fixture
def written(tmp_path):
    def write(**changes):
        found = dataclasses.replace(FOUND, **changes)
        path = write_difference_page(found, tmp_path / "difference.html")
        return path.read_text(encoding="utf-8")

    return write


def test_every_figure_is_there(written):
    words = Page(written()).words
    for text in (
        "Practically different", FOUND.test_sentence, FOUND.effect_sentence, "75.0 %", "25.0 %",
        "0.338", "< 0.001", "97.0 %", "Most typical of january.csv", "1 017", "bound 0.60",
        *FOUND.notes, *(mark.meaning for mark in DIFFERENCES.values()),
    ):  # fmt: skip
        assert text in words
    assert words.index("75.0 %") < words.index("25.0 %")  # the largest share comes first


def test_page_is_whole_and_on_its_own(written):
    text = written()
    parsed = Page(text)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert {link[1:] for link in parsed.links if link.startswith("#")} <= set(parsed.ids)
    assert all(address.startswith(("data:", "#")) for address in parsed.fetched)
    assert NASTY not in text
    assert not re.search(r"@import|url\(|fetch\(", text)


def test_what_is_not_known_is_left_out(written):
    columns = tuple(dataclasses.replace(one, share=None) for one in FOUND.columns)
    words = Page(written(effect=None, typical=(), columns=columns, pvalue=0.5)).words
    assert "AUC:" not in words
    assert "Share" not in words
    assert "Where: rows" not in words
    assert "Different, perhaps in practice" in words  # size differs by itself


@pytest.mark.parametrize("ends", [(0.0, 0.1), (0.4, 0.5), (0.6, 0.7), (0.9, 1.0)])
def test_the_scale_holds_the_interval(ends):
    drawn = str(draw_effect(TableEffect(sum(ends) / 2, *ends, 0.95, (9, 9), 5), 0.6))
    start, stop = map(
        float, re.search(r'class="interval" d="M([\d.]+) [\d.]+H([\d.]+)', drawn).groups()
    )
    assert 20 < start < stop < 440
    assert stop == pytest.approx(24 + 412 * (1 - (1 - ends[1]) / (1 - min(0.5, ends[0]))), abs=0.1)
    assert f"interval {ends[0]:.2f} to {ends[1]:.2f}" in drawn

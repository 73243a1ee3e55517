"""Marks that folders of before lack: on the page, in Markdown and in the counts."""

import html
import json
import re

import pandas as pd
import pytest

from mercer.report import write_markdown, write_report
from mercer.report.study._markdown import choose_lines, letter_readings
from mercer.report.study._results import read_results
from mercer.report.study._summary import count_sentences, summarise
from report.conftest import CELLS
from report.parsed import Page

NEW = ["published_decimals", "standard_error", "at_or_below", "one_reading"]


def line(row, column, published, measured, mark, **more):
    """A line of cells.csv in the paper's protocol that counts, unless told otherwise."""
    return {
        "study": "marks", "table": "I", "row": row, "column": column, "reading": "",
        "protocol": "paper", "published": published, "published_decimals": 1,
        "measured": measured, "n": 0 if measured is None else 100, "mark": mark, "counts": True,
        "one_reading": False, "reason": "", "seconds": 0.0, **more,
    }  # fmt: skip


LINES = [
    line("Wine", "LSVA", 97.0, 97.2, "reached", spread=1.4, published_spread=1.5,
         standard_error=0.14, reading="γ = 0.1, one λ"),
    line("Wine", "LSVA", 97.0, 95.2, "short", counts=False, one_reading=True,
         reading="γ = 0.5, one λ"),
    line("Wine", "LSVA", 97.0, 99.9, "better", counts=False, reading="γ = 0.9, one λ"),
    line("Wine", "LSVA", 97.0, 90.5, "honest", counts=False, protocol="honest",
         reading="γ = 0.5, λ for each fold"),
    line("Wine", "LSVA", 97.0, 96.5, "honest", counts=False, protocol="honest", spread=1.0,
         standard_error=0.1, reading="γ = 0.1, λ for each fold"),
    line("Iris", "LSVA", 90.0, 89.6, "near", spread=0.6, published_spread=0.5, one_reading=True,
         standard_error=0.06, reading="γ = 0.5, one λ", reason="Another <b>split</b>."),
    line("Wine", "χ²", 62.0, 61.5, "one draw", spread=9.0, standard_error=0.9, at_or_below=55,
         published_decimals=0),
    line("Iris", "χ²", 4.9, 2.6, "misprint", spread=1.9, at_or_below=90,
         reason="The counts give 2.5."),
    line("Lost", "χ²", 5.6, None, "misprint", reason="The counts give 4.9."),
    line("Lost", "LSVA", 80.0, None, "not available", reason="Nobody shows it."),
]  # fmt: skip
CLAIMS = [{"said": "LSVA is <best> | always", "where": "section *V*", "judged": "No: `97` & less."}]
STUDY = {
    "name": "marks", "title": "Marks", "reference": "Nobody.", "protocol": {}, "missing": {},
    "figures": [], "claims": CLAIMS,
    "tables": [{
        "key": "I", "title": "All marks", "unit": "", "better": None, "note": "",
        "columns": ["LSVA", "χ²"],
        "rows": [{"label": label, "dataset": None, "missing": missing, "skipped": ""}
                 for label, missing in (("Wine", ""), ("Iris", ""), ("Lost", "Nobody shows it."))],
    }],
}  # fmt: skip


@pytest.fixture
def marked(make_folder):
    """A folder with every mark that a measured number may have but failure."""
    return make_folder(studies=[STUDY], cells=pd.DataFrame(LINES, columns=[*CELLS, *NEW]))


@pytest.fixture
def markdown(marked, tmp_path):
    return write_markdown(marked, tmp_path / "marks.md").read_text("utf-8")


@pytest.fixture
def page(marked):
    return write_report(marked).read_text("utf-8")


def test_counts(marked):
    summary = summarise(read_results(marked).cells, ["marks"])
    assert {name: count for name, count in summary.counts.items() if count} == {
        "reached": 1, "near": 1, "one draw": 1, "misprint": 2, "not available": 1,
    }  # fmt: skip
    assert (summary.total, summary.judged, summary.not_judged) == (6, 2, 3)
    assert summary.reached_by_one_reading == 0  # its lines are short and near
    assert [reason.text for reason in summary.missed] == ["Another <b>split</b>."]
    assert {reason.text for reason in summary.misprints} == {
        "The counts give 2.5.", "The counts give 4.9.",
    }  # fmt: skip
    said = count_sentences(summary)
    assert said["judged"] == (
        "1 reached within their own spread, 1 within the spread of single runs but more than "
        "three standard errors away and 0 not reached"
    )
    assert said["not_judged"] == "1 of one random draw and 2 misprinted in the paper"
    assert said["others"] == "1 not available here"
    assert said["one_reading"].endswith("column of a table 0 are reached.")


def test_cells_in_markdown(markdown):
    assert (
        "| Wine | 97.0 ± 1.5 → 97.2 ± 1.4 (0.14) ✓ [a] *96.5 ± 1.0 (0.10)* [c] "
        "| 62 → 61.5 ± 9.0 (0.90) • 55/100 |" in markdown
    )
    assert "| Iris | 90.0 ± 0.5 → 89.6 ± 0.6 (0.06) ≈ [b] | 4.9 → 2.6 ± 1.9 † |" in markdown
    assert "| Lost | 80.0 → not available | 5.6 → misprint |" in markdown
    assert (
        "\nReadings: a: γ = 0.1, one λ; b: γ = 0.5, one λ; c: γ = 0.1, λ for each fold. "
        "Measured too: γ = 0.9, one λ; γ = 0.5, λ for each fold.\n" in markdown
    )


def test_misprints_and_the_second_count_in_markdown(markdown):
    assert "- † The counts give 2.5. (Iris, χ²)" in markdown
    assert "- † The counts give 4.9. (Lost, χ²)" in markdown
    assert "Of 6 published numbers 2 were measured and judged: " in markdown
    assert "With one reading for each column of a table 0 are reached." in markdown
    header, _, body = next(
        part for part in re.findall(r"(?:^\|.*\n)+", markdown, re.M) if "| study |" in part
    ).splitlines()
    assert header.endswith("| all | reached with one reading |")
    assert body.endswith("| 6 | 0 |")


def test_claims_are_text(markdown, page):
    assert "### What the paper says in words" in markdown
    assert r"- **LSVA is \<best\> \| always** (section \*V\*) No: \`97\` & less." in markdown
    assert "What the paper says in words" in page
    assert html.escape("LSVA is <best> | always") in page
    assert "<best>" not in page
    assert "No: `97` &amp; less." in page


def test_the_page_shows_every_mark_and_what_is_behind_it(page):
    words = Page(page).words
    assert "Of 6 published numbers, 2 were measured and judged here" in words
    assert "3 cannot be judged: 1 of one random draw and 2 misprinted in the paper." in words
    assert "With one reading for each column of a table 0 are reached." in words
    for mark, count in (("near", 1), ("one-draw", 1), ("misprint", 2), ("not-available", 1)):
        assert f'<li class="m-{mark}"><span class="count">{count}</span>' in page
        assert f'id="i-{mark}"' in page
        assert f".m-{mark}" in page
    shown = page[page.index("Misprints</h2>") :]
    shown = shown[: shown.index("</ul>")]
    assert "The counts give 2.5." in shown
    assert "The counts give 4.9." in shown
    assert "<details" not in shown
    assert "standard error of the mean 0.14" in page
    assert "55 of 100 draws lie at or below the paper" in page
    assert "not available: Nobody shows it." in words  # the row's message, beside its misprint
    assert html.escape("Another <b>split</b>.") in page


def test_numbers_are_shown_as_printed(page):
    published = re.findall(r'<tr class="published">.*?</tr>', page, re.S)
    assert [re.findall(r'class="n">([^<]*)<', one) for one in published] == [
        ["97.0", "62"], ["90.0", "4.9"], ["80.0", "5.6"],
    ]  # fmt: skip


def test_an_older_folder_is_read(marked):
    cells = pd.read_csv(marked / "cells.csv").drop(columns=NEW)
    cells["mark"] = cells["mark"].replace("not available", "cannot be had")
    cells.to_csv(marked / "cells.csv", index=False)
    older = {key: value for key, value in STUDY.items() if key != "claims"}
    (marked / "studies.json").write_text(json.dumps([older]), "utf-8")
    words = Page(write_report(marked).read_text("utf-8")).words
    assert "1 not available here" in words
    assert "With one reading" not in words
    assert "What the paper says in words" not in words
    written = write_markdown(marked, marked / "older.md").read_text("utf-8")
    assert "| 97 ± 1.5 → 97.2 ± 1.4 ✓ [" in written
    assert "reached with one reading" not in written


@pytest.mark.parametrize("claims", [[{"said": "x"}], ["x"], [{**CLAIMS[0], "judged": 1}], 3])
def test_claims_that_are_none_are_refused(marked, claims):
    (marked / "studies.json").write_text(json.dumps([{**STUDY, "claims": claims}]), "utf-8")
    with pytest.raises(ValueError, match=r"studies\.json is not what"):
        write_report(marked)


def lines_of(*readings, protocol="paper"):
    return [
        {**dict.fromkeys([*CELLS, *NEW]), "reading": reading, "protocol": protocol,
         "measured": 1.0, "counts": protocol == "paper"}
        for reading in readings
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "honest", "beside"),
    [
        ("γ = 0.1, one λ", ["λ for each fold", "γ = 0.5, x", "γ = 0.1, x"], "γ = 0.1, x"),
        ("same class", ["same class, edges", "same class", "same"], "same class"),
        ("one λ", ["λ for each fold", "squared hinge"], "λ for each fold"),
        ("", ["a", "b"], "a"),
    ],
)
def test_the_honest_number_is_that_of_the_reading_most_like_it(chosen, honest, beside):
    cells = pd.DataFrame(lines_of(chosen) + lines_of(*honest, protocol="honest"))
    line, other = choose_lines(cells)
    assert (line["reading"], other["reading"]) == (chosen, beside)


def test_letters_go_on_after_z():
    readings = [f"{number}" for number in range(30)]
    letters, others = letter_readings({"a": readings}, [*lines_of(*readings[:28]), None])
    assert list(letters.values())[:3] == ["a", "b", "c"]
    assert list(letters.values())[25:] == ["z", "aa", "ab"]
    assert others == ["28", "29"]

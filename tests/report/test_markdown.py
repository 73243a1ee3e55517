"""The summary as Markdown: every table and figure of the folder, nothing that Markdown eats."""

import json
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from mercer.report import write_markdown, write_report
from mercer.report.charts._figures import draw_figure
from mercer.report.study._markdown import _plain

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def markdown(folder, tmp_path):
    path = write_markdown(folder, tmp_path / "summary.md")
    return path.read_text("utf-8")


def test_every_published_number_is_there(folder, markdown):
    cells = pd.read_csv(folder / "cells.csv", keep_default_na=False)
    counted = cells[cells["counts"].astype(str) == "True"]
    assert markdown.count(" →") - markdown.count("published →") == len(counted)


def test_all_cells_of_a_row_are_in_one_line_of_the_right_length(markdown):
    tables = re.findall(r"(?:^\|.*\|\n)+", markdown, re.M)
    assert len(tables) >= 3
    for table in tables:
        widths = {len(re.split(r"(?<!\\)\|", line)) for line in table.strip().splitlines()}
        assert len(widths) == 1


def _rows(markdown, label):
    return [line for line in markdown.splitlines() if line.startswith(f"| {label} |")]


def test_counts_have_no_decimals_and_means_of_counts_have(make_folder):
    """A whole number of one draw, in a table where neither more nor less is better."""
    folder = make_folder()
    cells = pd.read_csv(folder / "cells.csv")
    node = cells["column"] == "nodes"
    for measured, spread, written in (
        (15.0, None, "12 → 15 ≠"),
        (15.0, 2.0, "12 → 15.0 ± 2.0 ≠"),
        (15.2, None, "12 → 15.2 ≠"),
    ):
        cells.loc[node, ["measured", "spread"]] = [measured, spread]
        folder = make_folder(cells=cells)
        text = write_markdown(folder, folder / "summary.md").read_text("utf-8")
        assert f"| Banana | {written} |" in text
    better = cells["table"] == "VI"
    cells.loc[better, ["measured", "spread"]] = [80.0, None]
    folder = make_folder(cells=cells)
    text = write_markdown(folder, folder / "summary.md").read_text("utf-8")
    assert "80.4 ± 0.5 → 80.0" in _rows(text, "Banana")[0]


def test_a_run_that_went_on_says_what_was_there_before(make_folder, markdown):
    assert "earlier runs" not in markdown
    folder = make_folder()
    run = json.loads((folder / "run.json").read_text("utf-8"))
    run["earlier"] = {"jobs": 1200, "since": "2026-01-01T22:30:00+00:00"}
    folder = make_folder(run=run)
    text = write_markdown(folder, folder / "summary.md").read_text("utf-8")
    said = "Done by earlier runs: 1 200 jobs, the first at 2026-01-01 22:30 UTC"
    assert said in text
    assert said.partition(": ")[2] in write_report(folder).read_text("utf-8")


def test_text_from_data_stays_text(markdown, nasty):
    assert nasty not in markdown
    assert nasty.replace("<", "\\<").replace(">", "\\>") in markdown


def _with(text, content):
    """Append a text to every title, note, reason and other sentence of a run's description."""
    kept = ("key", "file", "name", "columns", "label")  # These name columns, rows and files.
    if isinstance(content, dict):
        return {k: v if k in kept else _with(text, v) for k, v in content.items()}
    if isinstance(content, list):
        return [_with(text, one) for one in content]
    return content + text if isinstance(content, str) else content


def test_every_text_of_a_folder_stays_text(folder, tmp_path):
    odd = " <script>x</script> | y\n# z"
    path = folder / "studies.json"
    studies = _with(odd, json.loads(path.read_text("utf-8")))
    path.write_text(json.dumps(studies), "utf-8")
    cells = pd.read_csv(folder / "cells.csv", keep_default_na=False)
    cells["reason"] = [reason and reason + odd for reason in cells["reason"]]
    cells.to_csv(folder / "cells.csv", index=False)
    written = write_markdown(folder, tmp_path / "odd.md").read_text("utf-8")
    assert written.count(r"\<script\>x\</script\> \| y") > 20
    assert not re.search(r" \| y\b", written)
    assert "<script>" not in written.replace(r"\<script\>", "")
    assert not re.search(r"^# z", written, re.M)


def test_no_sign_of_markdown_or_of_its_tables_is_left_bare():
    name = r"a|b \\| `c` *d* _e_ [f](g) <h>"
    written = _plain(name)
    assert re.sub(r"\\(.)", r"\1", written) == name  # what a reader sees
    assert re.search(r"(?<!\\)(\\\\)*[|`*_\[\]<>]", written) is None


def test_figures_lie_beside_it_and_stand_by_themselves(folder, tmp_path):
    write_markdown(folder, tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text("utf-8")
    studies = json.loads((folder / "studies.json").read_text("utf-8"))
    drawn = [figure for study in studies for figure in study["figures"] if figure["file"]]
    files = re.findall(r"!\[[^]]*\]\((summary/[^)]+\.svg)\)", text)
    assert len(files) == len(drawn) > 0
    for name in files:
        root = ElementTree.parse(tmp_path / name).getroot()
        assert root.tag == f"{SVG}svg"
        assert "--c0" in root.find(f"{SVG}style").text
        assert not list(root.iter(f"{SVG}script"))


def test_panels_stand_side_by_side_without_overlap():
    panel = {
        "title": "A title that is far too long for one line of a panel of this width, surely",
        "layers": [
            {"kind": "points", "x": [0, 1], "y": [0, 1], "label": name, "colour": k}
            for k, name in enumerate(["one", "another class with a long name", "a third of them"])
        ],
    }
    root = ElementTree.fromstring(draw_figure([panel] * 4, "t"))
    charts = [svg for svg in root.findall(f"{SVG}svg") if "chart" in svg.get("class", "")]
    boxes = [tuple(float(svg.get(k)) for k in ("x", "y", "width", "height")) for svg in charts]
    assert len(boxes) == 4
    for i, (x, y, width, height) in enumerate(boxes):
        for x2, y2, _, _ in boxes[i + 1 :]:
            assert x2 >= x + width or y2 >= y + height
    left, top, width, height = map(float, root.get("viewBox").split())
    for text in root.findall(f"{SVG}text"):
        assert left <= float(text.get("x")) <= left + width
        assert top <= float(text.get("y")) <= top + height
    names = [text.text for text in root.findall(f"{SVG}text") if text.get("class") == "entry"]
    assert names == ["one", "another class with a long name", "a third of them"] * 4

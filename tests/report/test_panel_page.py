"""A page with one figure and a table, as text."""

from mercer.report import write_panel_page
from report.comparisons import NASTY
from report.parsed import Page


def test_the_page_is_whole_escaped_and_on_its_own(tmp_path):
    panel = {"x_label": NASTY, "layers": [{"kind": "line", "x": [0, 1, 2], "y": [0, 1, 0]}]}
    path = write_panel_page(
        panel, tmp_path / "p.html", title=NASTY, text=[NASTY, "Second."], table_title="Rows",
        head=["row", NASTY], lines=[["7", "−1.5"]], notes=[NASTY],
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    parsed = Page(text)
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert all(address.startswith(("data:", "#")) for address in parsed.fetched)
    assert text.count("<script>") == 1
    assert "alert(1)</script>" not in text
    assert parsed.words.count(NASTY) >= 5
    assert f"row {NASTY} 7 −1.5" in parsed.words


def test_without_lines_there_is_no_table(tmp_path):
    panel = {"layers": [{"kind": "line", "x": [0, 1, 2], "y": [0, 1, 0]}]}
    path = write_panel_page(panel, tmp_path / "p.html", title="A peak")
    assert "<table" not in path.read_text(encoding="utf-8")

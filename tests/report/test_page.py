"""The page as text: whole, escaped, on its own, and clear about what is missing."""

import html
import json
import re

import pandas as pd
import pytest

from mercer.report import write_report
from mercer.studies import audit_roweis_saul
from report.parsed import Page


def _read(path):
    return Page(path.read_text(encoding="utf-8"))


def test_elements_nest_and_ids_are_unique(page):
    parsed = _read(page)
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_links_within_the_page_lead_somewhere(page):
    parsed = _read(page)
    inside = {link[1:] for link in parsed.links if link.startswith("#")}
    assert inside <= set(parsed.ids)
    assert "https://doi.org/10.1109/TSP.2007.894391" in parsed.links


def test_nothing_is_fetched(page):
    parsed = _read(page)
    assert all(address.startswith(("data:", "#")) for address in parsed.fetched)
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|localStorage", text)


def test_every_line_of_the_cells_is_there(page):
    parsed = _read(page)
    cells = pd.read_csv(page.parent / "cells.csv")
    assert f"{len(cells)} lines, as in" in parsed.words
    text = page.read_text(encoding="utf-8")
    flat = text[text.index('id="all"') :]
    assert flat[: flat.index("</table>")].count("<tr data-mark") == len(cells)
    for one in cells[cells["published"].notna()].to_dict("records"):
        assert html.escape(str(one["row"])) in flat


def test_the_long_list_keeps_the_papers_digits(make_folder):
    folder = make_folder()
    cells = pd.read_csv(folder / "cells.csv")
    cells.loc[0, ["published", "published_spread", "measured"]] = [9.0, 0.5, 8.25]
    words = _read(write_report(make_folder(cells=cells))).words
    assert "9.0 ± 0.5 8.2 ± 0.6 −0.8" in words


def test_counts_are_in_the_sentence_and_on_the_tiles(page):
    cells = pd.read_csv(page.parent / "cells.csv")
    counts = cells.loc[cells["counts"], "mark"].value_counts()
    words = _read(page).words
    judged = counts[["reached", "better", "short", "differs"]].sum()
    assert f"Of {counts.sum()} published numbers, {judged} were measured and judged here" in words
    assert f"{counts['reached']} reached within their own spread" in words
    assert f"{counts['short']} not reached" in words
    text = page.read_text(encoding="utf-8")
    for mark, slug in [
        ("reached", "reached"),
        ("not available", "not-available"),
        ("failed", "failed"),
    ]:
        assert f'<li class="m-{slug}"><span class="count">{counts[mark]}</span>' in text


def test_texts_never_become_markup(page, nasty):
    text = page.read_text(encoding="utf-8")
    assert nasty not in text
    assert html.escape(nasty) in text
    assert text.count("<script>") == 1


def test_figures_are_drawn_or_say_why_not(page):
    parsed = _read(page)
    assert parsed.tags["image"] == 2
    assert "Not drawn: the data set faces was not found." in parsed.words
    assert "NaN" not in parsed.words
    assert "None" not in parsed.words
    assert " nan" not in parsed.words


def test_a_quick_run_says_so_and_a_full_one_does_not(make_folder):
    folder = make_folder()
    assert "This is a quick run." in _read(write_report(folder)).words
    run = json.loads((folder / "run.json").read_text())
    page = write_report(make_folder(run={**run, "mode": "full"}))
    words = _read(page).words
    assert "This is a quick run." not in words
    assert "full run" in words
    assert "mercer reproduce laplacian faces" in words


def test_the_audit_comes_with_its_study(page):
    words = _read(page).words
    for remark in filter(None, audit_roweis_saul()["remark"]):
        assert remark in words


def test_protocols_what_is_missing_and_seeds_are_told(page):
    words = _read(page).words
    assert "One width for all splits." in words
    assert "A width for every split." in words
    assert "its data were never public" in words
    assert "Seeds are hashed from the names" in words
    assert "mercer reproduce laplacian faces --quick" in words
    assert "numpy 2.4.0" in words
    assert "18 min 20 s" in words


def test_path_and_return_value(folder, tmp_path):
    assert write_report(folder) == folder / "report.html"
    other = tmp_path / "other.html"
    assert write_report(str(folder), str(other)) == other
    assert other.read_text(encoding="utf-8") == (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_appears_whole_or_not_at_all(folder, monkeypatch):
    write_report(folder)
    before = (folder / "report.html").read_bytes()

    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**run, "mode": "full"}))

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_report(folder)
    assert (folder / "report.html").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".report")]


def test_missing_parts_are_no_trouble(make_folder):
    folder = make_folder(failures=False)
    (folder / "timings.csv").unlink()
    parsed = _read(write_report(folder))
    assert "failures" not in parsed.ids


def test_honest_numbers_alone(make_folder):
    folder = make_folder()
    cells = pd.read_csv(folder / "cells.csv")
    honest = cells[cells["protocol"] == "honest"]
    run = json.loads((folder / "run.json").read_text())
    page = write_report(make_folder(cells=honest, run={**run, "protocol": "honest"}))
    assert "No published number was compared" in _read(page).words


def test_no_cells_at_all(make_folder):
    folder = make_folder()
    cells = pd.read_csv(folder / "cells.csv").iloc[:0]
    _read(write_report(make_folder(cells=cells)))


def test_no_studies(make_folder):
    folder = make_folder()
    cells = pd.read_csv(folder / "cells.csv").iloc[:0]
    _read(write_report(make_folder(cells=cells, studies=[])))


@pytest.mark.parametrize("name", ["run.json", "studies.json", "cells.csv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=rf"{name} is missing"):
        write_report(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no results folder .*nowhere"):
        write_report(tmp_path / "nowhere")


def test_a_missing_figure_is_named(folder):
    (folder / "figures" / "laplacian-1.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"figures/laplacian-1\.json is missing"):
        write_report(folder)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run.json", "{", r"run\.json is not valid JSON"),
        ("studies.json", "{}", r"studies\.json is not what `mercer reproduce` writes"),
        ("cells.csv", "study,table\n", r"cells\.csv has no column 'row'"),
        ("cells.csv", "", r"cells\.csv has no column 'study'"),
    ],
)
def test_a_broken_file_is_named(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        write_report(folder)


def test_cells_that_nothing_describes_are_named(folder):
    studies = json.loads((folder / "studies.json").read_text())
    (folder / "studies.json").write_text(json.dumps(studies[:1]))
    with pytest.raises(ValueError, match=r"table '2' of study 'faces-roweis-saul'"):
        write_report(folder)
    (folder / "studies.json").write_text(json.dumps([{"name": "laplacian"}]))
    with pytest.raises(ValueError, match=r"studies\.json: a study has no 'title'"):
        write_report(folder)


def test_a_word_among_numbers_is_named(folder):
    cells = pd.read_csv(folder / "cells.csv")
    cells["measured"] = cells["measured"].astype(object)
    cells.loc[0, "measured"] = "many"
    cells.to_csv(folder / "cells.csv", index=False)
    with pytest.raises(ValueError, match="column 'measured' holds more than numbers"):
        write_report(folder)

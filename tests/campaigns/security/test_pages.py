"""No name becomes markup in any page or figure; pages let no script run but their own."""

import base64
import hashlib
import re
from xml.etree import ElementTree

import pandas as pd
import pytest

from mercer.report import (
    write_comparison_report,
    write_markdown,
    write_report,
    write_scatter_page,
)
from mercer.report._document import linked
from report.comparisons import make_content, make_points, write_folder
from report.conftest import CELLS, _cell, _laplacian_cells, _panels, _studies
from report.conftest import write_folder as write_study
from report.parsed import Page
from security.hostile import ADDRESS, MARKS, NAMES


def comparison(folder):
    """A folder of ``mercer compare`` with such names wherever a name can be."""
    content = make_content(classes=list(NAMES))
    everything = " ".join(NAMES)
    question = content["question"]
    question["table"] = question["target"] = question["columns"][0]["name"] = everything
    question["columns"][1]["examples"] = list(NAMES)
    question["notes"] = list(NAMES)
    content["answer"] = content["fit_command"] = content["python"] = everything
    content["map"]["notes"] = list(NAMES)
    content["metric_reason"] = everything
    content["versions"] = content["machine"] = dict.fromkeys(NAMES, everything)
    for model in content["models"]:
        model["label"], model["note"] = everything, ""
    return write_comparison_report(write_folder(folder, content=content))


def study(folder):
    """A folder of ``mercer reproduce`` with such names wherever a name can be."""
    everything = " ".join(NAMES)
    studies = _studies()[:1]
    one = studies[0]
    one["title"] = one["reference"] = everything
    one["protocol"] = one["missing"] = dict.fromkeys(NAMES, everything)
    table = one["tables"][0]
    table["title"] = table["unit"] = table["note"] = everything
    table["rows"] += [
        {"label": name, "dataset": name, "missing": "", "skipped": ""} for name in NAMES
    ]
    for figure in one["figures"]:
        figure["title"] = figure["caption"] = everything
    cells = _laplacian_cells()
    key = ("laplacian", "VI")
    cells += [
        _cell((*key, name, "SVM", "", "paper"), (80.0, 0.5, None), (70.0, 0.6, None), "short",
              reason=everything)
        for name in NAMES
    ]  # fmt: skip
    panels = _panels()
    for panel in panels:
        panel["title"] = panel["x_label"] = everything
        for layer in panel["layers"]:
            layer["label"] = everything
    run = {"mode": "full", "protocol": everything, "studies": list(NAMES), "mercer": everything,
           "versions": dict.fromkeys(NAMES, everything), "machine": {"system": everything},
           "started": "", "finished": "", "jobs": {}}  # fmt: skip
    folder.mkdir(exist_ok=True)
    frame = pd.DataFrame(cells, columns=CELLS)
    return write_study(folder, run=run, studies=studies, cells=frame, panels=panels)


def scatter(path):
    everything = " ".join(NAMES)
    points = make_points(list(NAMES), n=60)
    return write_scatter_page(points, path, title=everything, text=everything, notes=NAMES)


class Handlers(Page):
    """A page, and the attributes in it that would run something."""

    def handle_starttag(self, tag, attributes):
        self.handlers = getattr(self, "handlers", [])
        self.handlers += [(tag, name) for name, _ in attributes if name.startswith("on")]
        super().handle_starttag(tag, attributes)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {
        "comparison": comparison(folder / "c"),
        "study": write_report(study(folder / "s")),
        "scatter": scatter(folder / "map <b>&.html"),
    }


@pytest.mark.parametrize("name", ["comparison", "study", "scatter"])
def test_names_stay_text(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    parsed = Handlers(text)  # elements nest, as they would not if one were added
    assert not any(mark in text for mark in MARKS)
    assert text.count("<script") == text.count("</script") == 1
    for tag in ("iframe", "img", "base", "object", "embed", "form" if name != "study" else "x"):
        assert tag not in parsed.tags
    assert all(address.startswith(("#", "data:")) for address in parsed.fetched)
    assert all(link.startswith(("#", "https://doi.org/", "http")) for link in parsed.links)
    assert "{{ 7*7 }}" in parsed.words
    assert parsed.handlers == []


@pytest.mark.parametrize("name", ["comparison", "study", "scatter"])
def test_a_policy_names_the_only_script(pages, name):
    text = pages[name].read_text(encoding="utf-8")
    script = text[text.index("<script>") + 8 : text.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digest}'"
    assert rules["img-src"] == "data:"
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_markdown_and_figures_keep_names_as_text(tmp_path):
    path = write_markdown(study(tmp_path / "s"), tmp_path / "page.md")
    text = path.read_text(encoding="utf-8")
    body = re.sub(r"`[^`\n]*`", "", text)  # code shows what it holds
    assert not re.search(r"(?<!\\)<(script|img|iframe|base|svg|a)\b", body)
    assert not re.search(r"(?<!\\)\]\((?!page/|reproduce\.md)", body)
    figures = list((tmp_path / "page").iterdir())
    assert figures
    for figure in figures:
        drawn = ElementTree.fromstring(figure.read_text(encoding="utf-8"))
        tags = {element.tag.rpartition("}")[2] for element in drawn.iter()}
        assert not tags & {"script", "foreignObject", "a", "iframe", "img"}
        for element in drawn.iter():
            assert not any(name.lower().startswith("on") for name in element.attrib)


@pytest.mark.parametrize("name", ["../../escaped", "/escaped", "a/b", "..", ""])
def test_names_of_studies_lead_to_no_other_folder(tmp_path, name):
    """A figure was written to wherever the name of its study led."""
    folder = tmp_path / "deep" / "s"
    folder.mkdir(parents=True)
    studies = _studies()[:1]
    studies[0]["name"] = name
    cells = pd.DataFrame(_laplacian_cells(), columns=CELLS).assign(study=name)
    write_study(folder, studies=studies, cells=cells)
    out = tmp_path / "deep" / "out"
    out.mkdir()
    write_markdown(folder, out / "page.md")
    assert {path.name for path in tmp_path.iterdir()} == {"deep"}
    assert {path.name for path in out.iterdir()} == {"page.md", "page"}
    assert all(path.suffix == ".svg" for path in (out / "page").iterdir())


def test_characters_that_xml_has_not_are_replaced(tmp_path):
    """A class with a control character in its name made a figure that nothing could read."""
    panels = _panels()
    panels[0]["title"] = panels[0]["layers"][1]["label"] = "a\x00b\x0bc\x1b\ud800\uffff"
    folder = tmp_path / "s"
    folder.mkdir()
    path = write_markdown(write_study(folder, panels=panels), tmp_path / "page.md")
    assert path.exists()
    points = make_points(["a\x00\x0b", "b"])
    assert write_scatter_page(points, tmp_path / "m.html", title="\ud800").exists()


@pytest.mark.parametrize(
    "text",
    ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "doi:javascript", f"<{ADDRESS}>"],
)
def test_only_addresses_of_the_web_become_links(text):
    found = re.findall(r'href="([^"]*)"', linked(text))
    assert all(address.startswith(("http://", "https://")) for address in found)

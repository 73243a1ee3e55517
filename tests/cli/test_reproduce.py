"""``mercer reproduce`` as a person meets it."""

import json
import re
import shutil
from pathlib import Path

import pytest

from mercer.cli import main

DOCS = Path(__file__).parents[2] / "docs" / "reproduce.md"


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study(tmp_path):
    """Return the study of docs/reproduce.md as a file, fewer replications in it."""
    (code,) = re.findall(r"neighbours.py -->\n```python\n(.*?)```", DOCS.read_text("utf-8"), re.S)
    path = tmp_path / "neighbours.py"
    path.write_text(code.replace("replications=100", "replications=20"), encoding="utf-8")
    return str(path)


def run(capsys, *arguments):
    code = main(["reproduce", *arguments, "--jobs", "1"])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_prints_published_and_measured_and_writes_the_page(capsys, study, tmp_path):
    code, out, err = run(capsys, study)
    assert code == 0
    assert err == ""
    assert re.search(r"Iris +95\.2 +95\.5 *\n +95\.\d ✓ +9\d\.\d ✓", out)
    assert "2 reached within their own spread" in out
    page = tmp_path / "mercer-results" / "report.html"
    assert str(page) in out
    assert "Neighbours on iris" in page.read_text("utf-8")


def test_misprints_are_told_apart_and_one_reading_is_counted(capsys, study):
    path = Path(study)
    text = path.read_text("utf-8")
    misprint = 'misprints={("Iris", "5-NN"): "It says [96] elsewhere."},\n            rows='
    path.write_text(text.replace("rows=", misprint, 1), encoding="utf-8")
    code, out, _ = run(capsys, study, "--quick")
    assert code == 0
    assert "1 reached within their own spread" in out
    assert "1 misprinted in the paper" in out
    assert "† neighbours 1, Iris, 5-NN: It says [96] elsewhere." in out
    assert "With one reading for each column of a table 1 is reached." in " ".join(out.split())


def test_json_is_all_that_is_printed(capsys, study, tmp_path):
    code, out, _ = run(capsys, study, "--json", "-o", "elsewhere")
    content = json.loads(out)
    assert code == 0
    assert [cell["mark"] for cell in content["cells"]] == ["reached", "reached"]
    assert content["report"] == str(tmp_path / "elsewhere" / "report.html")


def test_a_quick_run_says_so(capsys, study):
    _, out, _ = run(capsys, study, "--quick")
    assert "A quick run" in out


def test_a_failed_job_is_exit_code_1_and_the_rest_is_there(capsys, study):
    path = Path(study)
    broken = path.read_text("utf-8").replace("data = task.load()", "data = task.load('nothing')")
    path.write_text(broken, encoding="utf-8")
    code, out, err = run(capsys, study, "--quick")
    assert code == 1
    assert "20 jobs failed" in err
    assert "failures.csv" in err
    assert "2 ended in an error" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing"], "No study is called 'nothing'"),
        (["gone.py"], "gone.py"),
        (["laplacian", "--data", "nowhere"], "nowhere"),
        (["laplacian", "--protocol", "kind"], "kind"),
        (["laplacian", "--output", "file"], "file"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(capsys, tmp_path, arguments, sentence):
    (tmp_path / "file").write_text("in the way")
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert sentence in err


def test_a_full_disk_is_a_sentence(capsys, study, monkeypatch):
    import numpy as np

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    code, _, err = run(capsys, study, "--quick")
    assert code == 2
    assert "No space left" in err
    shutil.rmtree("mercer-results")


def test_datasets_says_what_a_study_would_skip(capsys):
    assert main(["datasets"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "mercer reproduce fisher would skip Table 1: Banana" in out
    assert "mercer reproduce equivalences all data are here" in out
    assert "not available: FERET" in out


def test_one_study_again_leaves_the_others_on_the_page(capsys, study, tmp_path):
    other = tmp_path / "second.py"
    text = Path(study).read_text("utf-8")
    text = text.replace("Neighbours on iris", "Once more").replace('"neighbours"', '"second"')
    other.write_text(text, encoding="utf-8")
    page = tmp_path / "mercer-results" / "report.html"
    run(capsys, study)
    _, out, _ = run(capsys, str(other))
    assert "second" in out
    assert "neighbours 1" not in out
    html = page.read_text("utf-8")
    assert "Neighbours on iris" in html
    assert "Once more" in html
    cells = page.with_name("cells.csv").read_text("utf-8").splitlines()
    run(capsys, study)
    again = page.with_name("cells.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[:5] for line in sorted(again)] == [
        line.split(",")[:5] for line in sorted(cells)
    ]
    assert page.read_text("utf-8").count("Neighbours on iris") == html.count("Neighbours on iris")
    run(capsys, study, "--quick")  # Quick figures do not stand beside full ones.
    assert "Once more" not in page.read_text("utf-8")

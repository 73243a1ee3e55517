"""``mercer measure`` and ``mercer project`` as a person or a script meets them."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.tables import read_table
from mercer.views import measure_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    frame["kind"] = np.where(frame["a"] + 0.3 * rng.normal(size=300) > 0, "=cmd()", "<b>low</b>")
    frame[:150].to_csv(place / "old.csv", index=False)
    frame[150:].to_csv(place / "same.csv", index=False)
    frame[150:].assign(b=frame["b"] + 1).to_csv(place / "shifted.csv", index=False)
    return place


def test_measure_tells_equal_from_different(folder, capsys):
    assert main(["measure", str(folder / "old.csv"), str(folder / "same.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("No difference was found between ")
    verdict, _, _ = captured.out.splitlines()[1].partition(": the interval ")
    assert verdict in ("Not shown to differ", "Too few rows to tell")
    assert "share" not in captured.out
    assert captured.err == ""
    assert main(["measure", str(folder / "old.csv"), str(folder / "shifted.csv")]) == 0
    out = capsys.readouterr().out
    assert "shifted.csv differ (all columns together: p = 0.001)" in out
    assert "most of all 'b'" in out
    lines = out.splitlines()
    assert lines[1].startswith("Practically different: the interval lies above the bound of 0.60 (")
    first = lines[next(i for i, line in enumerate(lines) if line.startswith("column")) + 1]
    assert first.split()[:2] == ["b", "number"]
    assert first.split()[4].replace(".", "").isdigit()  # its share
    assert [line for line in lines if line.startswith("Most typical of ")] == [
        f"Most typical of {folder / name}:" for name in ("old.csv", "shifted.csv")
    ]


def test_measure_json(folder, capsys):
    arguments = ["measure", str(folder / "old.csv"), str(folder / "shifted.csv"), "--json"]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["differs"] is True
    assert found["verdict"] == "practically different"
    assert found["columns"][0]["name"] == "b"
    assert found["pvalue"] == 0.001
    assert found["divergence"] > 0
    assert found["bound"] == 0.6 < found["effect"]["low"] < found["effect"]["auc"]
    assert "most of all 'b'. Practically different: " in found["answer"]
    assert found["page"] is None
    known = measure_tables(*(read_table(path) for path in arguments[1:3]))
    n_rows = tuple(found["effect"]["n_rows"])
    assert asdict(known.effect) == {**found["effect"], "n_rows": n_rows}
    assert [one.row for one in known.typical] == [one["row"] for one in found["typical"]]


@pytest.mark.parametrize(
    ("other", "options", "code"),
    [
        ("same.csv", [], 0),
        ("shifted.csv", [], 3),
        ("shifted.csv", ["--bound", "0.9"], 0),  # different, but not by that much
        ("none.csv", [], 2),
    ],
)
def test_exit_code_on_request(folder, capsys, other, options, code):
    arguments = ["measure", str(folder / "old.csv"), str(folder / other), "--fail-on-difference"]
    assert main([*arguments, *options]) == code
    captured = capsys.readouterr()
    assert bool(captured.err) is (code == 2)
    assert bool(captured.out) is (code != 2)


def test_measure_writes_a_page(folder, capsys, tmp_path):
    page = tmp_path / "difference.html"
    arguments = ["measure", str(folder / "old.csv"), str(folder / "shifted.csv"), "-o", str(page)]
    assert main(arguments) == 0
    assert capsys.readouterr().out.endswith(f"The page: {page}\n")
    assert "Practically different" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", ["fisher", "pca"])
def test_project_writes_coordinates(folder, capsys, tmp_path, method):
    path = tmp_path / "map.csv"
    arguments = ["project", str(folder / "old.csv"), "-t", "kind", "--method", method]
    assert main([*arguments, "-o", str(path)]) == 0
    assert capsys.readouterr().out.startswith("150 rows written to ")
    found = pd.read_csv(path)
    assert list(found.columns) == ["row", "x", "y", "class", "held_out"]
    assert found["row"].tolist() == list(range(1, 151))
    assert set(found["class"]) == {"'=cmd()", "<b>low</b>"}
    assert main([*arguments, "-o", str(path), "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["n_rows"] == 150
    assert described["n_held_out"] == int(found["held_out"].sum())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["measure", "old.csv", "none.csv"], "There is no file"),
        (["measure", "old.csv", "same.csv", "--bound", "0.4"], "The bound must be an AUC"),
        (["measure", "old.csv", "same.csv", "-o", "page.csv"], "must end with .html"),
        (["project", "old.csv", "-t", "kind", "--method", "umap"], "There is no method 'umap'"),
        (["project", "old.csv", "-t", "kinds"], "no column 'kinds'"),
        (["project", "old.csv", "-t", "kind", "-o", "map.png"], "must end with .csv"),
        (["project", "old.csv", "-t", "a"], "look like a quantity"),
    ],
)
def test_wrong_input_is_one_sentence(folder, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1
    assert words in captured.err


@pytest.mark.parametrize("command", ["measure", "project"])
def test_help_shows_an_example(capsys, command):
    assert main([command, "--help"]) == 0
    assert f"Example: mercer {command}" in " ".join(capsys.readouterr().out.split())


def test_measure_leaves_out_what_it_is_told_and_reads_as_told(folder, tmp_path, capsys):
    old, shifted = (pd.read_csv(folder / name) for name in ("old.csv", "shifted.csv"))
    paths = [str(tmp_path / name) for name in ("old.txt", "shifted.txt")]
    for frame, path in zip((old, shifted), paths, strict=True):
        frame.to_csv(path, index=False, sep="^")
    options = ["--delimiter", "^", "--exclude", "b,kind", "--json"]
    assert main(["measure", *paths, *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(one["name"] for one in found["columns"]) == ["a", "c"]
    assert found["verdict"] in ("not shown to differ", "too few rows to tell")
    assert main(["measure", paths[0], "--pairs", *options]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["a", "c"]
    assert main(["measure", *paths, "--delimiter", "^", "--kind", "c=identifier", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(one["name"] for one in found["columns"]) == ["a", "b", "kind"]


def test_measure_says_what_does_not_go_with_pairs(folder, capsys):
    for option in (["--bound", "0.7"], ["--fail-on-difference"]):
        assert main(["measure", str(folder / "old.csv"), "--pairs", *option]) == 2
        error = " ".join(capsys.readouterr().err.split())
        assert f"{option[0]} goes with two tables, not with --pairs." in error

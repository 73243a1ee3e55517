"""``mercer density`` as a person or a script meets it."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from report.parsed import Page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "b, <b>x</b>": rng.normal(9, 2, 200)})
    frame["name"] = "=cmd()"
    frame.loc[4, "a"] = np.nan
    frame.loc[9, "a"] = 50.0
    frame.to_csv(place / "t.csv", index=False)
    return place


def test_one_column(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    assert main(["density", "t.csv", "--columns", "a"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith("The density of 'a' has one peak, at ")
    assert lines[1].startswith("199 rows; windows have a standard deviation of 0.")
    assert lines[2].startswith("The smallest regions hold 50 % of the mass in −0.")
    assert lines[3].startswith("The least likely rows: 10, ")
    assert lines[4] == "The page: density.html"
    assert captured.err.splitlines() == [
        "note: 1 row without a value is left out.",
        "note: 1 row lies far outside and is not in the picture.",
    ]
    page = Page((folder / "density.html").read_text(encoding="utf-8"))
    assert "t.csv: a" in page.words
    assert "The least likely rows, each by the density of all others" in page.words


def test_two_columns_one_of_them_with_a_comma(folder, capsys, tmp_path):
    path = tmp_path / "two.html"
    columns = ["--columns", '"b, <b>x</b>",a', "--bandwidth", "0.5,0.3"]
    assert main(["density", str(folder / "t.csv"), *columns, "-o", str(path)]) == 0
    out = capsys.readouterr().out
    assert "'b, <b>x</b>' and 'a' is highest at (" in out
    assert "a standard deviation of 0.5 and 0.3." in out
    assert "<b>x</b>" not in path.read_text(encoding="utf-8")


def test_json(folder, capsys, tmp_path):
    path = tmp_path / "a.html"
    assert main(["density", str(folder / "t.csv"), "-c", "a", "-o", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["n_rows"] == 199
    assert found["unlikely"][0]["row"] == 10
    assert found["unlikely"][0]["values"] == [50.0]
    ((low, high),) = found["regions"]["0.5"]
    assert -1 < low < high < 1
    assert found["page"] == str(path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv", "-c", "a"], "There is no file"),
        (["t.csv", "-c", "z"], "There is no column 'z' in t.csv"),
        (["t.csv", "-c", "name"], "cannot be read as numbers: row 1 holds '=cmd()'"),
        (["t.csv", "-c", "a", "-o", "d.png"], "must end with .html"),
        (["t.csv", "-c", "a", "--bandwidth", "wide"], "--bandwidth takes likelihood-cv"),
        (["t.csv", "-c", "a", "--bandwidth", "0.1,-1"], "--bandwidth takes likelihood-cv"),
        (["t.csv"], "--columns"),
    ],
)
def test_wrong_input_is_one_sentence(folder, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(folder)
    assert main(["density", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_help_shows_an_example(capsys):
    assert main(["density", "--help"]) == 0
    assert "Example: mercer density people.csv" in " ".join(capsys.readouterr().out.split())

"""Which columns of a table depend on each other, with its page and its command."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.information import _pairings
from mercer.report import write_pairs_page
from mercer.tables import Table
from mercer.views import _column_pairs, measure_pairs


def frame(n=250, seed=0):
    """Four columns: "b" and "kind" depend on "a", not along a line; "c" on nothing."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n))
    b = np.where(rng.random(n) < 0.1, np.nan, a**2 + 0.3 * rng.normal(size=n))
    kind = np.where(np.abs(a) + 0.2 * rng.normal(size=n) < 0.6, "near", "far <b>")
    return pd.DataFrame({"a": a, "b": b, "c": c, "kind": kind, "one": "same"})


@pytest.fixture(scope="module")
def found():
    return measure_pairs(Table(frame(), "folder/t.csv"))


def test_pairs_that_depend(found):
    assert found.columns == ("a", "b", "c", "kind")
    assert {(one.first, one.second) for one in found.depending} == {
        ("a", "b"),
        ("a", "kind"),
        ("b", "kind"),
    }
    for other in ("a", "b", "kind"):
        assert abs(found.pair("c", other).dependence) < 0.05
    values = [one.dependence for one in found.pairs]
    assert values == sorted(values, reverse=True)
    assert found.pair("b", "a") == found.pair("a", "b")
    assert "3 depend on each other, most of all" in str(found)
    assert "Column 'one' is not compared (constant: it is 'same' in every row)." in found.notes


def test_it_is_the_test_of_independence(found):
    from mercer.information import independence_test

    data = frame()
    alone = independence_test(data["a"].to_numpy(), data["c"].to_numpy(), random_state=1)
    pair = found.pair("a", "c")
    assert pair.dependence == pytest.approx(alone.dependence, abs=0.01)
    assert min(pair.pvalue, alone.pvalue) > 0.05


def test_independent_columns():
    rng = np.random.default_rng(1)
    found = measure_pairs(Table(pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd")), "t"))
    assert found.depending == ()
    assert str(found).startswith("No two columns of t were found to depend on each other: of 6")


def test_long_and_wide_tables_are_cut(monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.setattr(_column_pairs, "_MOST_COLUMNS", 3)
    wide = pd.DataFrame(rng.normal(size=(60, 5)), columns=[f"c{i}" for i in range(5)])
    found = measure_pairs(Table(wide, "t"))
    assert found.columns == ("c0", "c1", "c2")
    assert "Of 5 columns the first 3 are compared, up to 'c2'" in found.notes[-1]
    long = pd.DataFrame(rng.normal(size=(5200, 2)), columns=["a", "b"])
    found = measure_pairs(Table(long, "t"))
    assert (found.n_rows, found.n_tested) == (5200, 5000)


@pytest.mark.parametrize("columns", [["a"], ["one"], ["one", "a"]])
def test_too_little_to_compare(columns):
    with pytest.raises(ValueError, match=r"t has . columns? that can be compared and 250 rows"):
        measure_pairs(Table(frame()[columns], "t"))


def test_page(found, tmp_path):
    text = write_pairs_page(found, tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "3 of 6 pairs of columns depend on each other" in text
    assert len(re.findall(r"<td[^>]*--p:", text)) == 12
    assert len(re.findall(r'class="itself"', text)) == 4
    assert re.search("<title>[^<]*t.csv: dependence of columns", text)


def test_page_escapes_names(tmp_path):
    data = frame(60).rename(columns={"a": "<script>x", "c": "c&d"})
    found = measure_pairs(Table(data, "<i>.csv"))
    text = write_pairs_page(found, tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert "<script>x" not in text
    assert "&lt;script&gt;x" in text
    assert "<i>" not in text


def test_command(tmp_path, capsys):
    path, page = tmp_path / "t.csv", tmp_path / "pairs.html"
    frame().to_csv(path, index=False)
    assert main(["measure", str(path), "--pairs", "-o", str(page)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Of 6 pairs of columns of ")
    assert "note: Column 'one' is not compared" in captured.err
    assert f"The page: {page}" in captured.out
    assert page.exists()
    assert main(["measure", str(path), "--pairs", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert len(figures["pairs"]) == 6
    assert figures["answer"].startswith("Of 6 pairs")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Pass two tables, or one with --pairs"),
        (["t.csv", "--pairs"], "Pass two tables, or one with --pairs"),
        (["--pairs", "--fail-on-difference"], "--fail-on-difference goes with two tables"),
    ],
)
def test_refused(tmp_path, capsys, words, sentence):
    path = tmp_path / "t.csv"
    frame(20).to_csv(path, index=False)
    assert main(["measure", str(path), *words]) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_three_rows_have_six_orders():
    found = measure_pairs(
        Table(pd.DataFrame(np.random.default_rng(0).normal(size=(3, 3))).add_prefix("x"), "t")
    )
    assert any("3 rows are too few for 3 pairs" in note for note in found.notes)


def test_many_pairs_of_few_rows(monkeypatch):
    """Of ten pairs of 20 rows a copy stands out; of 10 rows nothing can, and a note says so."""
    monkeypatch.setattr(_column_pairs, "_LEAST_PERMUTATIONS", 999)
    monkeypatch.setattr(_pairings, "_FEW_ROWS_PERMUTATIONS", 99)
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[:, 1] = X[:, 0]
    many = pd.DataFrame(X, columns=list("abcde"))
    found = measure_pairs(Table(many, "t"))
    assert [(one.first, one.second) for one in found.depending] == [("a", "b")]
    assert not any("too few" in note for note in found.notes)
    found = measure_pairs(Table(many[:10], "t"))
    assert found.depending == ()
    assert any("10 rows are too few for 10 pairs" in note for note in found.notes)

"""Two tables: equal ones are seldom said to differ, and a shifted column is found first.

How well they can be told apart is in test_effect.py; it takes longer, and is left out here.
"""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, false_discovery_control, ks_2samp

from mercer.comparison import holm_correction
from mercer.tables import Table
from mercer.views import measure_tables
from mercer.views._column_difference import _contingency


@pytest.fixture(autouse=True)
def _without_effect(monkeypatch):
    monkeypatch.setattr("mercer.views._difference._find_witness", lambda *_: None)


def measured(a, b, **options):
    return measure_tables(
        Table(a, "a.csv"), Table(b, "b.csv"), **{"n_permutations": 199, **options}
    )


def test_equal_tables_are_seldom_said_to_differ(halves):
    found = [measured(*halves(seed=seed), random_state=seed) for seed in range(24)]
    assert sum(one.differs for one in found) <= 4  # 1.2 are expected; 5 or more in 0.6 %
    pvalues = np.array([one.pvalue for one in found])
    assert 0.3 < pvalues.mean() < 0.7
    assert "may well be from one distribution" in str(found[0])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("size", lambda values: values + 0.8),
        ("size", lambda values: values * 3),
        ("count", lambda values: values.where(np.arange(len(values)) % 2 == 0)),
        ("colour", lambda values: values.where(values != "blue", "red")),
        ("when", lambda v: (pd.to_datetime(v) + pd.Timedelta("50D")).dt.strftime("%Y-%m-%d")),
    ],
)
def test_changed_column_is_found_first(halves, name, change):
    a, b = halves(300)
    b[name] = change(b[name])
    found = measured(a, b)
    assert found.differs
    assert found.columns[0].name == name
    assert found.columns[0].corrected < 0.025
    assert [one.name for one in found.differing] == [name]
    assert f"most of all {name!r}" in str(found)


def test_difference_without_any_column_of_its_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 300))
    a = pd.DataFrame({"u": x[0], "v": x[0] + 0.1 * rng.normal(size=300)})
    b = pd.DataFrame({"u": x[1], "v": -x[1] + 0.1 * rng.normal(size=300)})
    found = measured(a, b)
    assert found.differs
    assert found.differing == ()
    assert "no column does so clearly by itself" in str(found)


def test_one_table_twice(halves):
    a, _ = halves()
    found = measured(a, a)
    assert found.pvalue == 1.0
    assert all(one.difference == 0 and one.pvalue == 1 for one in found.columns)


def test_figures_of_a_column():
    a = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "c": ["u", "u", "v", "v"]})
    b = pd.DataFrame({"x": [3.0, 4.0, 5.0, 6.0], "c": ["u", "v", "v", "v"]})
    by_name = {one.name: one for one in measured(a, b).columns}
    assert by_name["x"].difference == 0.5
    assert by_name["x"].pvalue == ks_2samp(a["x"], b["x"]).pvalue
    assert (by_name["x"].first, by_name["x"].second) == ("median 2.5", "median 4.5")
    assert by_name["c"].difference == 0.25
    assert (by_name["c"].first, by_name["c"].second) == ("50 % u", "25 % u")


@pytest.mark.parametrize(("together", "alone", "differs"),
                         [(0.03, 0.03, False), (0.02, 0.9, True), (0.9, 0.02, True)])  # fmt: skip
def test_two_ways_to_differ_share_one_level(halves, together, alone, differs):
    found = measured(*halves())
    column = dataclasses.replace(found.columns[0], corrected=alone)
    assert dataclasses.replace(found, pvalue=together, columns=(column,)).differs is differs


def test_a_column_with_gaps_pays_for_two_tests():
    """Its values and its gaps are tested; the smaller p-value alone would be too small."""
    rng = np.random.default_rng(1)
    a, b = (pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80)}) for _ in range(2))
    a.loc[:4, "x"], b.loc[:14, "x"] = np.nan, np.nan
    gaps = chi2_contingency([[75, 5], [65, 15]], correction=False).pvalue
    values = ks_2samp(a["x"].dropna(), b["x"].dropna()).pvalue
    (x,) = (one for one in measured(a, b).columns if one.name == "x")
    assert x.pvalue == pytest.approx(2 * min(gaps, values))


def test_columns_are_corrected_together(halves):
    a, b = halves(300)
    b["size"] += 0.2
    columns = measured(a, b).columns
    pvalues = [one.pvalue for one in columns]
    assert pvalues == sorted(pvalues)
    corrected = [one.corrected for one in columns]
    assert corrected == holm_correction(pvalues).tolist()
    assert np.all(corrected >= false_discovery_control(pvalues, method="bh") - 1e-12)


def test_contingency_counts_rare_categories_together():
    counts = np.array([[50, 1, 0, 1, 0, 49], [49, 0, 1, 0, 1, 50]])
    together = np.array([[50, 49, 2], [49, 50, 2]])
    assert _contingency(counts) == pytest.approx(_contingency(together))
    assert _contingency(np.array([[10, 0], [10, 0]])) == 1.0
    assert _contingency(np.array([[8, 2], [1, 9]])) == pytest.approx(0.00548, abs=1e-4)  # Fisher


def test_columns_of_one_table_only_and_columns_that_cannot_be_compared(halves):
    a, b = halves()
    a["only"], a["name"], b["name"] = (
        1.0,
        [f"n{i}" for i in range(100)],
        [f"m{i}" for i in range(100)],
    )
    found = measured(a, b)
    assert any("Only in a.csv" in note and "'only'" in note for note in found.notes)
    assert any("'name' is not compared" in note for note in found.notes)
    assert "only" not in {one.name for one in found.columns}


def test_a_column_of_two_kinds_is_named():
    rng = np.random.default_rng(0)
    a = pd.DataFrame({"code": rng.integers(0, 5, 60), "x": rng.normal(size=60)})
    b = pd.DataFrame({"code": rng.choice(["A", "B", "C"], 60), "x": rng.normal(size=60)})
    (note,) = (note for note in measured(a, b).notes if "read as" in note)
    assert note.startswith("Column 'code' is read as number in a.csv and as category in b.csv: ")


@pytest.mark.parametrize("junk", [("a.csv",), ("b.csv",), ("a.csv", "b.csv")])
def test_junk_cells_are_named_in_the_table_where_they_stand(halves, junk):
    tables = dict(zip(("a.csv", "b.csv"), halves(), strict=True))
    for name in junk:
        tables[name] = tables[name].astype({"size": object})
        tables[name].iloc[16, tables[name].columns.get_loc("size")] = "n.v."
    found = measured(*tables.values())
    assert [note for note in found.notes if "taken as missing" in note] == [
        f"Column 'size' of {name}: 1 cell is not a number and is taken as missing ('n.v.' in row "
        "17)."
        for name in junk
    ]
    assert "size" in {column.name for column in found.columns}


def test_long_tables_are_sampled_and_said_so():
    rng = np.random.default_rng(0)
    a, b = (pd.DataFrame({"x": rng.normal(size=n)}) for n in (12_000, 50))
    found = measured(a, b, n_permutations=19)
    assert any("10 000 rows at random" in note for note in found.notes)
    assert found.n_rows == (12_000, 50)


@pytest.mark.parametrize(
    ("a", "b", "match"),
    [
        ({"x": [1, 2]}, {"y": [1, 2]}, "no column in common"),
        ({"x": [1]}, {"x": [1, 2]}, "a.csv has fewer than two rows"),
        ({"x": [1, 1]}, {"x": [1, 1]}, "No column of a.csv and b.csv can be compared"),
    ],
)
def test_nothing_to_compare_is_one_sentence(a, b, match):
    with pytest.raises(ValueError, match=match) as caught:
        measured(pd.DataFrame(a), pd.DataFrame(b))
    assert "\n" not in str(caught.value)


def test_result_is_json(halves):
    found = measured(*halves())
    again = json.loads(json.dumps(dataclasses.asdict(found), allow_nan=False))
    assert again["columns"][0]["name"] == found.columns[0].name

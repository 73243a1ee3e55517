"""How well two tables are told apart: 0.5 where they are equal, the closed form where not."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from mercer._system.vocabulary import DIFFERENCES
from mercer.tables import Table
from mercer.views import TableEffect, measure_tables
from mercer.views._effect import find_witness


def witness_of(first, second, seed=0):
    Z = np.concatenate([first, second])
    names = [f"x{k}" for k in range(Z.shape[1])]
    return find_witness(Z, np.arange(len(Z)) >= len(first), names, seed)


def measured(a, b, **options):
    tables = Table(a, "a.csv"), Table(b, "b.csv")
    return measure_tables(*tables, **{"n_permutations": 99, **options})


def normal(rng, n, shift=0.0, d=2):
    rows = rng.normal(size=(n, d))
    rows[:, 0] += shift
    return rows


def test_equal_tables_cannot_be_told_apart():
    aucs, covered = [], 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        effect = witness_of(normal(rng, 20, d=1), normal(rng, 25, d=1), seed).effect
        aucs.append(effect.auc)
        covered += effect.low <= 0.5 <= effect.high
    assert np.mean(aucs) == pytest.approx(0.5, abs=3 * np.std(aucs) / np.sqrt(24))
    assert covered >= 20  # 22.8 expected; fewer than 20 in 0.1 % of runs


def test_two_normal_tables():
    """No score does better than Φ(shift/√2), in the long run."""
    best, aucs, covered = norm.cdf(1.5 / np.sqrt(2)), [], 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        effect = witness_of(normal(rng, 60), normal(rng, 60, 1.5), seed).effect
        assert effect.n_rows == (60, 60)
        aucs.append(effect.auc)
        covered += effect.low <= best <= effect.high
    assert covered >= 7
    assert np.mean(aucs) == pytest.approx(best, abs=0.04)


def test_two_longer_normal_tables():
    """Of 560 rows that are fitted, 500 are landmarks."""
    rng = np.random.default_rng(1)
    effect = witness_of(normal(rng, 350), normal(rng, 350, 0.5)).effect
    assert effect.low <= norm.cdf(0.5 / np.sqrt(2)) <= effect.high
    assert effect.auc == pytest.approx(norm.cdf(0.5 / np.sqrt(2)), abs=0.05)
    assert effect.high - effect.low < 0.14


def test_tables_that_lie_apart():
    rng = np.random.default_rng(0)
    effect = witness_of(normal(rng, 30), normal(rng, 40, 50.0)).effect
    assert (effect.auc, effect.high) == (1.0, 1.0)
    assert effect.low > 0.8


def test_rows_that_are_all_the_same():
    effect = witness_of(np.ones((10, 2)), np.ones((12, 2))).effect
    assert effect.auc == 0.5
    assert not effect.is_shown


def test_columns_that_differ_together_share_the_difference():
    """Neither u nor v has changed by itself: only the sign with which they go together has."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 150, 3))
    first[:, 1] = first[:, 0] + 0.1 * first[:, 1]
    second[:, 1] = -second[:, 0] + 0.1 * second[:, 1]
    shares = witness_of(first, second).shares
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["x0"] == pytest.approx(0.5, abs=0.1)
    assert shares["x1"] == pytest.approx(0.5, abs=0.1)
    assert shares["x2"] < 0.05


def test_no_shares_and_no_rows_where_nothing_tells_tables_apart():
    rng = np.random.default_rng(3)
    a, b = (pd.DataFrame(normal(rng, 40), columns=["u", "v"]) for _ in range(2))
    found = measured(a, b)
    assert not found.effect.is_shown
    assert found.typical == ()
    assert {one.share for one in found.columns} == {None}


def test_typical_rows_are_of_their_tables():
    """Half of each table is alike; what is typical are the rows that only one table has."""
    rng = np.random.default_rng(0)
    a = pd.DataFrame({"place": rng.normal(size=80), "kind": ["both", "old"] * 40})
    b = pd.DataFrame({"place": rng.normal(size=80), "kind": ["both"] * 60 + ["new"] * 20})
    a.loc[a["kind"] == "old", "place"] -= 9
    b.loc[b["kind"] == "new", "place"] += 9
    found = measured(a, b)
    assert [one.table for one in found.typical] == ["a.csv"] * 5 + ["b.csv"] * 5
    for one, frame, kind in zip(
        found.typical, [a] * 5 + [b] * 5, ["old"] * 5 + ["new"] * 5, strict=True
    ):
        assert one.cells["kind"] == kind == frame["kind"][one.row - 1]
        assert float(one.cells["place"]) == pytest.approx(frame["place"][one.row - 1], rel=1e-5)
        assert 0.9 < one.chance <= 1
    assert len({(one.table, one.row) for one in found.typical}) == 10


def test_missing_cells_and_categories_tell_tables_apart(halves):
    a, b = halves(200)
    b["count"] = np.nan
    b["count"] = b["count"].where(np.arange(100) > 10, 3.0)
    found = measured(a, b)
    assert found.is_practical
    assert max(found.columns, key=lambda one: one.share).name == "count"
    assert sum(one.share for one in found.columns) == pytest.approx(1)
    assert "(missing)" in {one.cells["count"] for one in found.typical if one.table == "b.csv"}


def test_a_few_rows_have_no_auc():
    rng = np.random.default_rng(0)
    a, b = (pd.DataFrame({"x": rng.normal(size=n)}) for n in (4, 30))
    found = measured(a, b)
    assert found.effect is None
    assert not found.is_practical
    assert "a.csv has fewer than 5 rows: there is no AUC." in found.notes
    assert str(found) == found.test_sentence


def test_one_table_twice_is_noted():
    """A row whose copy was fitted as one of the other table is taken for one of that."""
    a = pd.DataFrame({"x": np.random.default_rng(0).permutation(60.0 ** np.linspace(0, 1, 150))})
    found = measured(a, a)
    assert not found.is_practical
    assert found.effect.auc <= 0.5
    if found.effect.high < 0.5:
        assert any("in the other too" in note for note in found.notes)


@pytest.mark.parametrize("bound", [0.4, 1.0, float("nan")])
def test_a_bound_is_an_auc(bound):
    frame = pd.DataFrame({"x": range(10)})
    with pytest.raises(ValueError, match="The bound must be an AUC"):
        measured(frame, frame, bound=bound)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    return measured(*(pd.DataFrame(normal(rng, 50, shift), columns=["u", "v"]) for shift in (0, 2)))


@pytest.mark.parametrize(
    ("pvalue", "low", "high", "verdict", "side"),
    [
        (0.001, 0.61, 0.70, "practically different", "lies above"),
        (0.500, 0.61, 0.70, "practically different", "lies above"),
        (0.001, 0.60, 0.70, "different, perhaps in practice", "reaches above"),
        (0.001, 0.50, 0.61, "different, perhaps in practice", "reaches above"),
        (0.001, 0.51, 0.60, "different, but no practical difference", "lies under"),
        (0.500, 0.45, 0.59, "not shown to differ", "lies under"),
        (0.500, 0.40, 0.65, "too few rows to tell", "reaches above"),
    ],
)
def test_every_verdict(found, pvalue, low, high, verdict, side):
    effect = TableEffect((low + high) / 2, low, high, 0.95, (50, 50), 5)
    case = dataclasses.replace(found, pvalue=pvalue, effect=effect, columns=())
    assert case.verdict == verdict
    assert case.is_practical is (verdict == "practically different")
    assert case.effect_sentence == (
        f"{verdict.capitalize()}: the interval {side} the bound of 0.60 (AUC "
        f"{effect.auc:.2f}, 95 % interval {low:.2f} to {high:.2f}; 0.50 is what guessing has)."
    )


def test_a_difference_that_only_the_auc_sees_is_said_without_contradiction(found):
    effect = TableEffect(0.66, 0.61, 0.70, 0.95, (50, 50), 5)
    case = dataclasses.replace(found, pvalue=0.5, effect=effect, columns=())
    assert "they may well be from one distribution" not in str(case)
    assert "found no difference" in case.test_sentence
    assert "but rows that were held out can be told apart" in case.test_sentence
    case = dataclasses.replace(case, effect=TableEffect(0.5, 0.4, 0.59, 0.95, (50, 50), 5))
    assert "they may well be from one distribution" in case.test_sentence


@pytest.mark.parametrize(
    ("pvalue", "verdict"), [(0.01, "different, perhaps in practice"), (0.5, "too few rows to tell")]
)
def test_verdict_without_an_auc(found, pvalue, verdict):
    case = dataclasses.replace(found, pvalue=pvalue, effect=None, columns=())
    assert case.verdict == verdict


def test_verdicts_of_the_docstring_are_those_of_the_vocabulary():
    from mercer.views import TableDifference

    text = TableDifference.verdict.__doc__
    places = [text.index(f"\n{' ' * 8}{name}  ") for name in DIFFERENCES]
    assert places == sorted(places)


def test_result_with_an_effect_is_json(found):
    assert found.effect is not None
    again = json.loads(json.dumps(dataclasses.asdict(found), allow_nan=False))
    assert again["effect"]["auc"] == found.effect.auc
    assert again["typical"][0]["cells"].keys() == {"u", "v"}

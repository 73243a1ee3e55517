"""``check_table``: each check finds what it is for, and says nothing of a plain table."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from mercer.checks import CODES, Finding, check_rows, check_table
from mercer.checks._copies import add_up, count_pairs, pairs_but_for_one, row_hashes
from mercer.checks._nearest_rows import measure_help
from mercer.checks._one_column import score_alone
from mercer.tables import Table, split_target


def plain(n=600, seed=0):
    """Independent rows of four numbers and a colour, which tell the class in part."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["a"] += y
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["ill"] = np.where(y, "yes", "no")
    return frame


def codes(found):
    return [one.code for one in found]


def asked(frame, **options):
    return check_table(frame, "ill", **options)


@pytest.mark.parametrize("seed", range(5))
def test_a_plain_table_is_not_asked_about(seed):
    assert asked(plain(seed=seed)) == []


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_nor_are_the_data_that_everybody_knows(load):
    bunch = load(as_frame=True)
    frame = bunch.data.assign(kind=bunch.target_names[bunch.target])
    assert set(codes(check_table(frame, "kind"))) <= {"copied-rows"}


def test_a_column_that_gives_the_answer():
    frame = plain()
    frame["band"] = np.where(frame["ill"] == "yes", 7.5, 2.5) + np.random.default_rng(1).random(600)
    (found,) = asked(frame)
    assert (found.code, found.columns) == ("leak", ("band",))
    assert found.text.startswith("'band' alone finds 100.0 % of each class: is it known before")
    assert "--exclude band" in found.text
    assert found.link == "docs/checks.md#leak"
    assert asked(frame, kinds={"band": "number"}) == []  # the user knows of it


def test_a_column_whose_gaps_give_the_answer():
    frame = plain()
    frame["paid"] = np.random.default_rng(1).normal(size=600)
    frame.loc[frame["ill"] == "no", "paid"] = np.nan
    frame.loc[:12, "paid"] = 1.0
    (found,) = asked(frame)
    assert found.code == "leak"
    assert found.text.startswith("Whether 'paid' has a value finds 9")


def test_a_rare_class_is_not_given_away_by_always_saying_the_other():
    frame = plain(2000)
    frame["ill"] = np.where(np.arange(2000) % 100 == 0, "yes", "no")
    assert "leak" not in codes(asked(frame))


def test_an_identifier_that_tells_the_class():
    frame = plain()
    rng = np.random.default_rng(2)
    frame["case_id"] = rng.integers(10_000, 90_000, 600) + 40_000 * (frame["ill"] == "yes")
    frame.loc[1, "case_id"] = frame.loc[0, "case_id"]  # else it is not used at all
    (found,) = asked(frame)
    assert (found.code, found.columns) == ("id", ("case_id",))
    frame["case_id"] = rng.integers(10_000, 90_000, 600)
    frame.loc[1, "case_id"] = frame.loc[0, "case_id"]
    assert asked(frame) == []


def test_a_time_is_asked_about_but_not_a_birthday():
    frame = plain()
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(600), "D")
    frame["date"] = np.random.default_rng(0).permutation(days)
    (found,) = asked(frame)
    assert found.code == "time"
    assert "'date' looks like a time: random folds may flatter; --time date tests" in found.text
    assert asked(frame, time="date") == []
    assert asked(frame.rename(columns={"date": "date_of_birth"})) == []
    years = plain().assign(year=np.random.default_rng(9).integers(1990, 2020, 600))
    assert codes(asked(years)) == ["time"]
    assert asked(years.rename(columns={"year": "years_of_work"})) == []


def grouped(n_groups=30, n=600):
    """Rows of speakers whose class is mostly one, and who have a voice of their own."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, n_groups, n)
    y = (rng.random(n_groups) < 0.5)[groups] ^ (rng.random(n) < 0.1)
    voices = rng.normal(size=(n_groups, 4))
    frame = pd.DataFrame(voices[groups] + 0.2 * rng.normal(size=(n, 4)), columns=list("abcd"))
    return frame.assign(ill=np.where(y, "yes", "no")), groups


def test_groups_are_asked_about_where_they_help():
    frame, groups = grouped()
    frame["plate"] = [f"p{one}" for one in groups]
    (found,) = asked(frame)
    assert (found.code, found.columns) == ("groups", ("plate",))
    assert "--groups plate tests whole groups" in found.text
    assert asked(frame, groups="plate") == []
    frame["plate"] = np.random.default_rng(1).permutation(frame["plate"])
    assert "groups" not in codes(asked(frame))


def test_groups_of_beings_are_asked_about_by_name():
    frame = plain().assign(patient=[f"P{i // 4}" for i in range(600)])
    assert codes(asked(frame)) == ["groups"]
    assert asked(frame.rename(columns={"patient": "patience"})) == []


def test_neighbours_in_the_table_that_are_alike():
    frame, groups = grouped()
    inorder = frame.iloc[np.argsort(groups, kind="stable")].reset_index(drop=True)
    (found,) = asked(inorder)
    assert found.code == "row-order"
    assert asked(frame) == []  # the same rows in another order


def test_a_sorted_table_is_not_an_order_in_time():
    frame = plain(2000)
    assert asked(frame.sort_values("a", ignore_index=True)) == []
    assert asked(frame.sort_values("ill", ignore_index=True)) == []
    assert asked(frame.sort_values(["ill", "a"], ignore_index=True)) == []


def test_an_enumeration_of_cases_is_not_an_order_in_time():
    grid = pd.MultiIndex.from_product([list("abcd")] * 5, names=list("vwxyz")).to_frame(index=False)
    grid["ill"] = np.where((grid == "a").sum(axis=1) > 1, "yes", "no")
    assert asked(grid) == []


def test_copies_of_rows_are_told_from_rows_that_coincide():
    frame = plain()
    twice = pd.concat([frame, frame[:30]], ignore_index=True)
    (found,) = asked(twice)
    assert found.code == "copied-rows"
    assert found.text.startswith("30 rows (4.8 %) stand in the table before")
    rng = np.random.default_rng(0)
    few = pd.DataFrame(rng.integers(0, 3, (800, 5)).astype(str), columns=list("abcde"))
    few["ill"] = rng.choice(["yes", "no"], 800)
    assert few.duplicated().sum() > 100
    assert asked(few) == []


def test_columns_that_say_the_same():
    frame = plain()
    frame["euro"], frame["cent"] = frame["a"], 3 - 100 * frame["a"]
    frame["farbe"] = frame["colour"].map({"red": "rot", "green": "grün", "blue": "blau"})
    found = asked(frame)
    assert codes(found) == ["copied-columns"] * 2
    assert {one.columns for one in found} == {("a", "euro", "cent"), ("colour", "farbe")}
    assert "'euro' and 'cent' say the same as 'a'" in found[0].text


def test_too_few_rows_to_tell():
    (found,) = asked(plain(60))
    assert found.code == "few-rows"
    # 2.8 standard errors of a difference where a tenth of the rows disagree
    assert f"a difference below about {2.8 * np.sqrt(0.1 / 60):.2f}" in found.text
    frame = plain().assign(hospital=np.arange(600) % 3)
    assert codes(asked(frame, groups="hospital")) == ["few-rows"]


def test_few_rows_of_a_rare_class_are_too_few_however_many_others_there_are():
    frame = plain(2000)
    frame["ill"] = np.where(np.arange(2000) % 125 == 0, "yes", "no")
    (found,) = asked(frame)
    assert found.code == "few-rows"
    least = 2.8 * np.sqrt(0.1 / 16 + 0.1 / 1984) / 2
    assert found.text.startswith(
        f"With 16 rows of the rarest class, a difference below about {least:.2f}"
    )


def test_every_check_has_a_section_of_its_own():
    page = (Path(__file__).parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### ([\w-]+)\n\n\*(.+?)\*", page, re.MULTILINE)
    assert sections == list(CODES.items())


def of_test_file(frame, test):
    data = split_target(frame, "ill")
    return check_rows(
        data, Table(frame), test=split_target(test, "ill", min_class_rows=1), test_name="new.csv"
    )


def test_a_test_file_that_is_not_such_as_the_table():
    assert of_test_file(plain(), plain(seed=1)) == []
    moved = plain(seed=1).eval("b = b + 3")
    (found,) = of_test_file(plain(), moved)
    assert (found.code, found.columns) == ("drift", ("b",))
    assert "'b' alone tells 9" in found.text
    assert found.text.startswith("new.csv is not such as the table")
    other = plain(2000, seed=1)
    other = pd.concat([other[other["ill"] == "yes"], other[other["ill"] == "no"][:100]])
    assert any("of the rows of the table and" in one.text for one in of_test_file(plain(), other))


def test_rows_of_the_table_in_the_test_file():
    test = pd.concat([plain(seed=1), plain()[:50]], ignore_index=True)
    (found,) = of_test_file(plain(), test)
    assert found.code == "copied-rows"
    assert found.text.startswith("50 rows (7.7 %) of new.csv stand in the table too")


def test_findings_are_in_the_order_of_their_codes_and_say_them():
    frame = pd.concat([plain(), plain()[:30]], ignore_index=True).assign(
        date=pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(630) % 600, "D")
    )
    frame["tax"] = (frame["ill"] == "yes").astype(float)
    found = asked(frame)
    assert codes(found) == ["leak", "time", "copied-rows"]
    assert str(found[0]) == f"leak: {found[0].text}"
    assert set(codes(found)) <= set(CODES)
    assert Finding("leak", "x") == Finding("leak", "x", ())


def test_the_answer_depends_on_the_seed_alone():
    frame, groups = grouped()
    frame["plate"] = [f"p{one}" for one in groups]
    assert asked(frame, random_state=3) == asked(frame, random_state=3)


def test_a_number_alone_is_scored_on_rows_that_were_not_learnt_from():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3
    noise = pd.Series(rng.normal(size=3000))
    assert abs(score_alone(noise, y, rng) - 1 / 3) < 0.05
    assert score_alone(pd.Series(y + 0.1 * rng.random(3000)), y, rng) > 0.99
    labels = pd.Series(y % 2).astype(str).astype("category")
    assert abs(score_alone(labels, y % 2, rng) - 1.0) < 1e-12
    assert score_alone(pd.Series(["one"] * 3000, dtype="category"), y, rng) == pytest.approx(1 / 3)


@given(st.lists(st.tuples(*[st.integers(-1, 2)] * 3), min_size=2, max_size=40))
def test_pairs_are_counted_as_one_by_one(rows):
    columns = dict(zip("abc", np.array(rows).T, strict=True))
    hashes = row_hashes(columns)
    total = add_up(hashes)
    apart = [
        sum(x != y for x, y in zip(a, b, strict=True)) for i, a in enumerate(rows) for b in rows[:i]
    ]
    assert count_pairs(total) == apart.count(0)
    assert pairs_but_for_one(hashes, total, apart.count(0)) == apart.count(1)


def test_help_of_a_block_is_the_loss_of_the_nearest_row_outside():
    """Literally: the nearest row that is not of the own block."""
    rng = np.random.default_rng(0)
    frame, groups = grouped(8, 120)
    X, y = frame[list("abcd")], (frame["ill"] == "yes").to_numpy().astype(int)
    ranks = X.rank(pct=True).to_numpy()
    right = []
    for i in range(120):
        others = np.flatnonzero(groups != groups[i])
        nearest = others[((ranks[others] - ranks[i]) ** 2).sum(axis=1).argmin()]
        right.append(y[nearest] == y[i])
    literal = np.mean([np.mean(np.array(right)[y == c]) for c in (0, 1)])
    found = measure_help(X, y, groups, rng)
    assert found.outside == pytest.approx(literal)
    assert found.pvalue == 0.005
    assert found.random > 0.7


def test_blocks_of_one_class_are_no_help_by_that_alone():
    """Without its own half of its class a row finds fewer of its class: chance does the same."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(200, 3))), np.arange(200) // 100
    found = measure_help(X, y, np.arange(200) // 50, rng)
    assert found.outside == pytest.approx(1 / 3, abs=0.1)
    assert found.random == pytest.approx(1 / 3, abs=0.1)
    assert found.pvalue > 0.01


def test_rows_as_near_as_each_other_are_no_help_by_their_place():
    """Sorted by class, with few different rows: no neighbour is nearer than many others."""
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 2, (400, 2)).astype(float)), np.arange(400) // 200
    for blocks in (rng.integers(0, 40, 400), np.arange(400) // 20):
        found = measure_help(X, y, blocks, rng)
        assert abs(found.random - found.outside) < 0.05
        assert found.outside == pytest.approx(0.5, abs=0.07)
        assert found.pvalue > 0.01


def test_blocks_at_random_are_no_help_more_often_than_the_level_says():
    rng = np.random.default_rng(0)
    pvalues = []
    for _ in range(60):
        X = pd.DataFrame(rng.normal(size=(60, 3)))
        y = rng.integers(0, 2, 60)
        pvalues.append(measure_help(X + y[:, None], y, np.arange(60) // 6, rng).pvalue)
    assert np.mean(np.array(pvalues) <= 0.2) < 0.4
    assert np.mean(np.array(pvalues) <= 0.5) < 0.75

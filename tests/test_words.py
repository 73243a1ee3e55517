"""Numbers and names are written in one way, in the terminal, on pages and in errors."""

import ast
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer._system.vocabulary import (
    JUDGED,
    MARKS,
    METRICS,
    MODELS_QUICK_FIRST,
    NOT_JUDGED,
    UNMEASURED,
    mark_named,
    metric_named,
)
from mercer._system.words import (
    confidence,
    count_of,
    did_you_mean,
    duration,
    fixed,
    grouped,
    interval,
    is_known,
    limit_of_bytes,
    listed,
    p_number,
    p_remark,
    p_value,
    percent,
    quoted,
    score,
    signed,
    size,
)


def test_what_is_a_number():
    assert all(map(is_known, (0, 0.0, -1.5, np.float32(2), np.int64(3))))
    assert not any(map(is_known, (None, float("nan"), float("inf"), np.float64("nan"))))


def test_fixed_decimals_have_a_true_minus_and_no_negative_zero():
    assert fixed(-0.04, 1) == "0.0"
    assert fixed(-1.25, 1) == "−1.2"
    assert signed(0.31, 1) == "+0.3"
    assert signed(-0.31, 1) == "−0.3"
    assert signed(0.01, 1) == "0.0"


@pytest.mark.parametrize(
    ("p", "number", "words"),
    [
        (None, "", ""),
        (float("nan"), "", ""),
        (0.0, "< 0.001", "p < 0.001"),
        (0.000999, "< 0.001", "p < 0.001"),
        (0.001, "0.001", "p = 0.001"),
        (0.0123, "0.012", "p = 0.012"),
        (0.1, "0.10", "p = 0.10"),
        (0.5, "0.50", "p = 0.50"),
        (1.0, "1", "p = 1"),
    ],
)
def test_p_values(p, number, words):
    assert p_number(p) == number
    assert p_value(p) == words


def test_a_p_value_that_rounds_to_one_says_nothing_beside_a_verdict():
    assert [p_remark(p) for p in (0.994, 0.995, 1.0, None)] == ["p = 0.99", "", "", ""]


def test_shares_and_levels():
    assert [percent(p) for p in (0, 0.0004, 0.5, 0.9999, 1)] == [
        "0.0 %", "< 0.1 %", "50.0 %", "> 99.9 %", "100.0 %"
    ]  # fmt: skip
    assert [confidence(level) for level in (0.95, 0.999)] == ["95 %", "99.9 %"]


def test_counts():
    assert [grouped(n) for n in (0, 999, 45222.4, 1234567)] == ["0", "999", "45 222", "1 234 567"]
    assert [count_of(n, "row") for n in (0, 1, 2, 12345)] == [
        "0 rows", "1 row", "2 rows", "12 345 rows"
    ]  # fmt: skip
    assert count_of(2, "category", "categories") == "2 categories"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0, "0 ms"),
        (0.0384, "38 ms"),
        (0.31, "310 ms"),
        (0.9996, "1.0 s"),
        (4.24, "4.2 s"),
        (9.96, "10 s"),
        (42.4, "42 s"),
        (59.9, "1 min"),
        (185, "3 min 5 s"),
        (7200, "2 h"),
        (7800, "2 h 10 min"),
    ],
)
def test_times(seconds, text):
    assert duration(seconds) == text


def test_sizes():
    assert [size(n) for n in (None, 12, 6808, 4_407_070, 3.2e9)] == [
        "–", "1 kB", "7 kB", "4.4 MB", "3.2 GB"
    ]  # fmt: skip
    assert [limit_of_bytes(n) for n in (1, 100, 1 << 10, 1 << 28, 3 << 29)] == [
        "1 byte", "100 bytes", "1 KiB", "256 MiB", "1.5 GiB"
    ]  # fmt: skip


def test_lists():
    assert [listed(list("abcd")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(list("abcd"), most=2) == "a, b and 2 more"
    assert listed(list("ab"), most=2) == "a and b"


def test_quotes_shorten_and_escape():
    assert quoted("a\nb") == r"'a\nb'"
    assert quoted("x" * 40) == repr("x" * 40)
    assert quoted("x" * 41) == repr("x" * 39 + "…")


def test_near_names_are_suggested():
    names = ["Species", "sepal width", "sepal length"]
    assert did_you_mean("speceis", names, "no.") == "did you mean 'Species'?"
    assert did_you_mean("SEPAL", names, "no.") == "did you mean 'sepal width' or 'sepal length'?"
    assert did_you_mean("price", names, "no.") == "no."
    assert did_you_mean("", names, "no.") == "no."


def test_every_mark_of_a_published_number_has_words_and_every_measured_one_a_sign():
    measured = (*JUDGED, *NOT_JUDGED)
    assert all(MARKS[name].sign for name in measured)
    assert len({MARKS[name].sign for name in measured}) == len(measured)
    assert all(MARKS[name].in_counts for name in (*measured, *UNMEASURED))
    assert {mark.name for mark in MARKS.values()} == set(MARKS)
    assert mark_named("other").name == "other"


def test_metrics_of_the_option_are_those_of_the_vocabulary():
    from mercer.comparison import compare_in_rounds

    for name in METRICS:
        assert f'"{name}"' in compare_in_rounds.__doc__
    assert [name for name, metric in METRICS.items() if metric.lower_is_better] == [
        "log-loss",
        "cost",
    ]
    assert metric_named("balanced").words == "balanced accuracy"
    assert metric_named("other").words == "other"


def test_every_model_has_its_place():
    from mercer.models import list_models

    assert sorted(MODELS_QUICK_FIRST) == sorted(list_models())


def test_nobody_else_searches_for_near_names():
    for path in Path(mercer.__file__).parent.rglob("*.py"):
        imported = {
            name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (getattr(node, "module", None), *(alias.name for alias in node.names))
        }
        assert "difflib" not in imported or path.name == "words.py", path


@pytest.mark.parametrize(
    ("asked", "names", "said"),
    [
        ("ID", ["order_id", "user_id", "item_id", "id"], "'id' or "),
        ("Class", ["class_size", "subclass", "classes", "class"], "'class' or"),
        ("id", ["width", "kidney"], "no"),
        ("age", ["language"], "no"),
        ("age", ["language", "the age"], "'the age'"),
    ],
)
def test_the_name_that_is_most_alike_comes_first(asked, names, said):
    found = did_you_mean(asked, names, "no")
    assert found.removeprefix("did you mean ").startswith(said)


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_a_count_that_nobody_knows(number):
    assert count_of(number, "row") == "– rows"


@pytest.mark.parametrize("places", [2, 3])
@pytest.mark.parametrize("whole", [0, 1, -1])
@pytest.mark.parametrize("gap", [0.2, 4e-3, 4e-4, 5e-5, 4e-6, 3e-7, 1e-9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_score_beside_a_whole_number_is_not_written_as_that(places, whole, gap, sign):
    text = score(whole + sign * gap, places)
    if text[0] in "<>":
        assert gap < 1e-6
        told = float(text[2:].replace("−", "-"))
        assert (whole + sign * gap > told) == (text[0] == ">")
    else:
        assert float(text.replace("−", "-")) != whole


def test_a_score_that_is_a_whole_number_but_for_rounding_is_written_as_that():
    for whole in (0, 1):
        assert {score(whole), score(whole + 1e-15), score(whole - 1e-15)} == {f"{whole}.000"}
    assert score(None) == score(float("nan")) == "–"
    assert score(12.0) == "12.000"  # a loss: only 0 and 1 are the ends of a scale


def test_an_interval_of_scores_does_not_reach_one():
    assert interval(0.93, 0.9996, 3) == "0.930 to 0.9996"

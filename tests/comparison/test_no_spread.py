"""Differences that are the same on every split are judged by their signs."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from mercer.comparison import (
    compare,
    compare_in_rounds,
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    kfold_paired_t_test,
)
from mercer.comparison.tests._mcnemar import by_rows_where_without_spread
from mercer.comparison.tests._pairs import sign_test

X, Y = load_iris(return_X_y=True)
IS_SETOSA = (Y == 0).astype(int)
SIZES = {"n_train": 9, "n_test": 1}


def t_tests():
    return [kfold_paired_t_test, lambda a, b: corrected_t_test(a, b, **SIZES)]


@pytest.mark.parametrize("test", t_tests())
@pytest.mark.parametrize("n_splits", [2, 5, 10, 20])
def test_a_difference_that_never_varies_is_judged_by_its_sign(test, n_splits):
    """0.9 - 0.8 and 0.2 - 0.1 are the same difference but for rounding."""
    a, b = np.resize([0.9, 0.2], n_splits), np.resize([0.8, 0.1], n_splits)
    for result, better in ((test(a, b), "A"), (test(b, a), "B")):
        assert result.pvalue == pytest.approx(2 * 0.5**n_splits)
        assert result.favours == better
        assert result.effect == pytest.approx(0.1 if better == "A" else -0.1)
        assert result.test.startswith("sign test")
        assert result.df == ()
        assert np.isnan(result.interval).all()
        assert "never varies, so that its sign is tested" in str(result)
        assert ("unlikely to be chance" in str(result)) == (n_splits >= 10)


@pytest.mark.parametrize("test", [five_by_two_t_test, five_by_two_f_test])
def test_halves_that_never_differ_are_judged_by_ten_signs(test):
    a = np.full((5, 2), 0.9)
    steps = np.array([[0.1], [0.2], [0.1], [0.2], [0.1]])
    result = test(a, a - steps)
    assert result.pvalue == pytest.approx(2 * 0.5**10)
    assert result.favours == "A"
    steps[1] = -0.2
    result = test(a, a - steps)
    assert result.pvalue == pytest.approx(stats.binomtest(2, 10).pvalue)
    assert result.favours == ""  # not one way
    assert test(a, a - steps).pvalue == pytest.approx(test(a - steps, a).pvalue)


def test_signs_are_the_binomial_test():
    for differences in product((-1.0, 0.0, 1.0), repeat=5):
        n_a, n_b = differences.count(1.0), differences.count(-1.0)
        literal = stats.binomtest(n_a, n_a + n_b).pvalue if n_a + n_b else 1.0
        fewer, pvalue = sign_test(np.array(differences))
        assert fewer == min(n_a, n_b)
        assert pvalue == pytest.approx(literal)


def test_the_sign_test_keeps_its_level_where_all_differences_are_of_one_size():
    """The worst case: differences are c or -c, so that chance gives no spread most often."""
    for n_splits in range(2, 12):
        signs = np.array(list(product((-1.0, 1.0), repeat=n_splits)))
        without_spread = signs[np.ptp(signs, axis=1) == 0]
        rejected = [sign_test(0.1 * row)[1] < 0.05 for row in without_spread]
        assert sum(rejected) / len(signs) <= 0.05


@pytest.mark.parametrize("n_test", [1, 2, 5])
@pytest.mark.parametrize("n_rounds", [2, 3, 5, 8])
def test_rows_do_not_find_what_is_not_there(n_test, n_rounds):
    """Equally good predictions at random, on splits so small that differences often never vary."""
    rng = np.random.default_rng(n_test + 10 * n_rounds)
    n_draws, n = 4000, n_test * n_rounds
    right = rng.random((n_draws, 2, n)) < 0.7
    scores = right.reshape(n_draws, 2, n_rounds, n_test).mean(axis=3)
    gaps = scores[:, 0] - scores[:, 1]
    never_varies = (np.ptp(gaps, axis=1) < 1e-12) & (np.abs(gaps[:, 0]) > 1e-12)
    index = pd.MultiIndex.from_arrays(
        [np.repeat(np.arange(n_rounds), n_test), np.arange(n)], names=["split", "sample"]
    )
    rejected = 0
    # Small splits draw the same predictions again and again: each is judged once.
    drawn, times = np.unique(right[never_varies], axis=0, return_counts=True)
    for (a, b), n_times in zip(drawn, times, strict=True):
        a_scores, b_scores = (x.reshape(n_rounds, n_test).mean(axis=1) for x in (a, b))
        result = corrected_t_test(a_scores, b_scores, **SIZES)
        rows = pd.DataFrame({"y_true": 1, "A": a * 1, "B": b * 1}, index)
        rejected += n_times * (by_rows_where_without_spread(result, rows).pvalue < 0.05)
    # what this adds to the false positives of the t test, whose level is 5 %
    assert rejected / n_draws < 0.005


def perfect(rounds, **options):
    models = {"bayes": GaussianNB(), "knn": KNeighborsClassifier(1), "dummy": DummyClassifier()}
    return compare_in_rounds(
        models, X, IS_SETOSA, floor="dummy", max_rounds=rounds, random_state=0, **options
    )


@pytest.mark.parametrize("metric", ["accuracy", "balanced", "f1"])
def test_a_perfect_model_is_better_than_a_dummy(metric):
    found = perfect(5, metric=metric)
    assert (found.scores["bayes"] == 1).all()
    assert np.ptp(found.scores["dummy"]) < 1e-12
    assert found.answer.endswith("all are better than dummy (p < 0.001).")
    result = found.results["corrected_t", "bayes", "dummy"]
    if metric != "accuracy":  # which is judged by rows in any case
        assert result.pvalue == pytest.approx(2 * 0.5**25, abs=0)  # 25 of 75 test rows are setosa
        assert "bayes is right 25 times and dummy 0 times of 25" in str(result)
    assert found.summary.loc["dummy", "against_best"] == "worse"


def test_rows_that_come_again_are_counted_once():
    again = perfect(20, metric="balanced").results["corrected_t", "bayes", "dummy"]
    assert again.pvalue == pytest.approx(2 * 0.5**50, abs=0)


def test_where_rows_are_not_what_is_scored_splits_are():
    found = perfect(5, metric="auc")
    result = found.results["corrected_t", "bayes", "dummy"]
    assert result.pvalue == pytest.approx(2 * 0.5**5)
    assert found.answer.endswith(
        "; none is surely better than dummy, though better on every split."
    )
    assert perfect(10, metric="auc").answer.endswith("all are better than dummy (p ≤ 0.004).")


def test_models_that_are_always_alike_are_not_told_apart():
    found = perfect(10)
    assert found.summary.loc["knn", "against_best"] == "not told apart"
    assert found.summary.loc["knn", "pvalue"] == 1
    assert found.answer.startswith("bayes and knn are not told apart; ")


def test_rows_that_speak_for_both_sides_leave_it_to_the_splits():
    """A is two rows ahead on every split of five, but B alone is right on another."""
    n_rounds = 5
    a = np.tile([1, 1, 1, 0, 1], n_rounds)
    b = np.tile([0, 0, 0, 1, 1], n_rounds)
    index = pd.MultiIndex.from_arrays(
        [np.repeat(np.arange(n_rounds), 5), np.arange(25)], names=["split", "sample"]
    )
    rows = pd.DataFrame({"y_true": 1, "A": a, "B": b}, index)
    scores = a.reshape(5, 5).mean(axis=1), b.reshape(5, 5).mean(axis=1)
    result = corrected_t_test(*scores, **SIZES)
    assert by_rows_where_without_spread(result, rows) == result
    assert result.pvalue == pytest.approx(2 * 0.5**5)


@pytest.mark.parametrize("test", ["corrected_t", "kfold_t"])
def test_compare_judges_a_perfect_model_too(test):
    models = {"bayes": GaussianNB(), "dummy": DummyClassifier()}
    found = compare(models, X, IS_SETOSA, cv=5, tests=test, random_state=0)
    assert found.pairs.loc[0, "verdict"] == "bayes is better"
    assert found.pairs.loc[0, "pvalue"] == pytest.approx(2 * 0.5**50, abs=0)
    found = compare(models, X, IS_SETOSA, cv=5, tests=test, scoring="roc_auc", random_state=0)
    assert found.pairs.loc[0, "pvalue"] == pytest.approx(2 * 0.5**5)

"""The paired t tests against SciPy, mlxtend, Monte Carlo algebra and hand-computed examples."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

from mercer.comparison import corrected_t_test, kfold_paired_t_test

SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@settings(deadline=None)
@given(a=SCORES, b=SCORES, level=st.floats(0.5, 0.99))
def test_plain_matches_scipy(a, b, level):
    n = min(len(a), len(b))
    a, b = np.array(a[:n]), np.array(b[:n])
    assume(np.ptp(a - b) > 1e-5)
    expected = stats.ttest_rel(a, b)
    result = kfold_paired_t_test(a, b, confidence_level=level)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-8, abs=1e-9)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-8, abs=1e-12)
    assert result.df == (expected.df,)
    assert result.interval == pytest.approx(tuple(expected.confidence_interval(level)), abs=1e-9)


def test_agrees_with_mlxtend():
    evaluate = pytest.importorskip("mlxtend.evaluate", reason="mlxtend is the peer")
    X, y = load_breast_cancer(return_X_y=True)
    models = GaussianNB(), LinearDiscriminantAnalysis()
    folds = KFold(10, shuffle=True, random_state=3)
    t, p = evaluate.paired_ttest_kfold_cv(*models, X, y, cv=10, shuffle=True, random_seed=3)
    result = kfold_paired_t_test(*(cross_val_score(model, X, y, cv=folds) for model in models))
    assert result.statistic == pytest.approx(t, abs=1e-9)
    assert result.pvalue == pytest.approx(p, abs=1e-9)


def test_corrected_by_hand():
    # differences 0.1, 0, 0.2, 0.1: mean 0.1, variance 0.02/3; (1/4 + 25/75)·0.02/3 = 0.35/90
    a, b = [0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.7, 0.7]
    result = corrected_t_test(a, b, n_train=75, n_test=25)
    error = np.sqrt(0.35 / 90)
    assert result.statistic == pytest.approx(0.1 / error)
    assert result.pvalue == pytest.approx(2 * stats.t.sf(0.1 / error, 3))
    assert result.effect == pytest.approx(0.1)
    half = 3.182446305284263 * error  # t of 3 degrees of freedom at 97.5 %, from a table
    assert result.interval == pytest.approx((0.1 - half, 0.1 + half))


def test_corrected_tends_to_plain_as_the_test_part_vanishes():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(2, 10))
    plain = kfold_paired_t_test(a, b)
    corrected = corrected_t_test(a, b, n_train=1e12, n_test=1)
    assert corrected.pvalue == pytest.approx(plain.pvalue, rel=1e-9)


def test_correction_restores_the_variance_of_correlated_scores():
    """With correlation n_test/(n_train + n_test) between splits, as the method assumes, t is t."""
    rng = np.random.default_rng(0)
    shared, own = rng.normal(size=(4000, 1)), rng.normal(size=(4000, 10))
    differences = np.sqrt(0.1) * shared + np.sqrt(0.9) * own
    zeros = np.zeros(10)
    plain = [kfold_paired_t_test(row, zeros).significant for row in differences]
    corrected = [
        corrected_t_test(row, zeros, n_train=90, n_test=10).significant for row in differences
    ]
    low, high = stats.binom.interval(0.999, 4000, 0.05)
    assert low <= sum(corrected) <= high
    assert sum(plain) > 2 * high


@pytest.mark.parametrize("offset", [0.0, 1e-16])
def test_equal_scores_are_a_tie(offset):
    a = np.array([0.9, 0.8, 0.7])
    result = kfold_paired_t_test(a, a + offset)
    assert (result.statistic, result.pvalue, result.effect) == (0.0, 1.0, 0.0)
    assert np.isnan(result.interval).all()
    assert str(result) == (
        "A and B score the same on average over 3 splits (no 95 % interval; optimistic, the splits "
        "share training samples); nothing tells them apart (p = 1)"
    )


def test_the_sentence_names_the_better_one_first():
    scores = [0.5, 0.6, 0.5], [0.9, 0.8, 0.9]
    result = corrected_t_test(*scores, n_train=2, n_test=1)
    low, high = result.interval
    assert low < -1 / 3 < high
    as_b_sees_it = f"{-high:.3g} to {-low:.3g}".replace("-", "−")
    assert str(result).startswith(
        f"B scores 0.333 better than A on average over 3 splits (95 % interval {as_b_sees_it}); "
    )
    assert (result.favours, result.effect < 0) == ("B", True)
    assert corrected_t_test(*scores[::-1], n_train=2, n_test=1).favours == "A"


def test_significant_goes_by_the_level_asked_for():
    scores = [0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.7, 0.7]
    for level, significant in [(0.75, True), (0.95, False)]:
        result = corrected_t_test(*scores, n_train=75, n_test=25, confidence_level=level)
        assert result.pvalue == pytest.approx(0.207, abs=5e-4)
        assert result.significant == significant
        assert ("unlikely to be chance" in str(result)) == significant
        assert (result.interval[0] > 0) == significant


def test_results_are_frozen():
    result = kfold_paired_t_test([0.9, 0.8], [0.7, 0.8])
    with pytest.raises(FrozenInstanceError):
        result.pvalue = 0.0


def test_differences_that_cancel_are_no_difference_whatever_the_rounding():
    result = kfold_paired_t_test([0.8, 0.75, 0.6, 0.65], [0.7, 0.7, 0.7, 0.7])
    assert np.mean(np.subtract([0.8, 0.75, 0.6, 0.65], 0.7)) != 0  # but for rounding it is
    assert (result.effect, result.favours, result.pvalue) == (0.0, "", 1.0)
    assert str(result).endswith("nothing tells them apart (p = 1)")


SIZES = {"n_train": 9, "n_test": 1}


@pytest.mark.parametrize(
    ("a", "b", "options", "sentence"),
    [
        ([0.9], [0.8], SIZES, "at least two scores"),
        ([], [], SIZES, "at least two scores"),
        ([[0.9, 0.8]], [[0.8, 0.9]], SIZES, "one-dimensional"),
        ([0.9, 0.8], [0.9], SIZES, "one shape"),
        ([0.9, np.nan, 0.7], [0.9, 0.8, 0.7], SIZES, "scores_a holds nan at position 1"),
        ([0.9, 0.8], [0.9, np.inf], SIZES, "scores_b holds inf at position 1"),
        (["high", "low"], [0.9, 0.8], SIZES, "scores_a must be an array of numbers"),
        ([0.9, 0.8], [0.7, 0.8], {"n_train": 0, "n_test": 1}, "must be positive"),
        ([0.9, 0.8], [0.7, 0.8], {**SIZES, "confidence_level": 1.0}, "confidence_level must"),
    ],
)
def test_bad_input_gets_one_clear_sentence(a, b, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        corrected_t_test(a, b, **options)


@pytest.mark.parametrize("test", [kfold_paired_t_test, "corrected"])
@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**-600, 2.0**600, 2.0**1000])
def test_scores_of_any_size_are_judged_alike(test, scale):
    """Their squares are beyond floating point, their t is not."""
    if test == "corrected":

        def test(a, b):
            return corrected_t_test(a, b, n_train=75, n_test=25)

    a, b = np.array([9.0, 8.0, 9.0, 8.0]), np.array([8.0, 8.0, 7.0, 7.0])
    here, there = test(a, b), test(a * scale, b * scale)
    assert (there.statistic, there.pvalue) == (here.statistic, here.pvalue)
    assert there.effect == here.effect * scale
    assert there.interval == pytest.approx(np.multiply(here.interval, scale), rel=1e-3, abs=0)


def test_scores_whose_difference_is_beyond_floating_point_are_refused():
    with pytest.raises(ValueError, match="scores_a and scores_b go up to"):
        kfold_paired_t_test([1.7e308, 0.0, 1.0], [-1.7e308, 1.0, 0.0])


@pytest.mark.parametrize("sizes", [(np.inf, np.inf), (np.nan, 1.0), (1e-300, 1e300)])
def test_sizes_whose_ratio_is_no_number_are_refused(sizes):
    with pytest.raises(ValueError, match="n_train and n_test must be positive and finite"):
        corrected_t_test([0.1, 0.2], [0.2, 0.1], n_train=sizes[0], n_test=sizes[1])

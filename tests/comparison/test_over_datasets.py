"""Ranks, Friedman, Wilcoxon and the Bayesian test against SciPy, baycomp, papers and loops."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mercer.comparison import (
    average_ranks,
    bayesian_signed_rank_test,
    compare_over_datasets,
    friedman_test,
    wilcoxon_test,
)
from mercer.comparison.tests._ranks import nemenyi_critical_difference, nemenyi_pvalues

# J. Demšar (2006), Table 6: AUC of four C4.5 variants on 14 data sets. On "voting" the paper ranks
# the third before the fourth although both print 0.975; a digit more says so.
DEMSAR = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def test_ranks_of_the_paper():
    ranks = average_ranks(DEMSAR)
    assert ranks.index[0] == "C4.5+m+cf"
    assert ranks[DEMSAR.columns].tolist() == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_ranks_of_errors_run_the_other_way():
    errors = average_ranks(1 - DEMSAR, greater_is_better=False)
    pd.testing.assert_series_equal(errors, average_ranks(DEMSAR))


def test_rounding_noise_ties():
    assert average_ranks([[0.1 + 0.2, 0.3], [0.5, 0.4]]).tolist() == [1.25, 1.75]


def test_friedman_without_ties_is_the_formula_of_the_paper():
    table = DEMSAR.drop(index=[5, 7, 9, 10])  # the data sets without tied scores
    n, k = table.shape
    ranks = average_ranks(table)
    chi2 = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    result = friedman_test(table)
    assert result.chi2_statistic == pytest.approx(chi2)
    assert result.statistic == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
    assert result.df == (3, 27)
    assert result.pvalue == pytest.approx(stats.f.sf(result.statistic, 3, 27))


def test_friedman_with_ties_is_scipy_s_and_above_the_uncorrected_9_28_of_the_paper():
    result = friedman_test(DEMSAR)
    expected = stats.friedmanchisquare(*DEMSAR.to_numpy().T)
    assert result.chi2_statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert result.chi2_pvalue == pytest.approx(expected.pvalue, abs=1e-9)
    ranks = average_ranks(DEMSAR)
    uncorrected = 12 * 14 / 20 * ((ranks**2).sum() - 25)
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert 13 * uncorrected / (42 - uncorrected) == pytest.approx(3.69, abs=0.005)
    assert result.chi2_statistic > uncorrected
    f = 13 * expected.statistic / (42 - expected.statistic)
    assert result.pvalue == pytest.approx(stats.f.sf(f, 3, 39), abs=1e-9)
    assert str(result) == (
        "over 14 data sets the ranks of 4 estimators differ more than chance explains (p = 0.012)"
    )


def test_friedman_at_the_extremes():
    tied = friedman_test(np.ones((4, 3)))
    assert (tied.statistic, tied.pvalue, tied.chi2_pvalue) == (0.0, 1.0, 1.0)
    unanimous = friedman_test(np.tile([0.9, 0.8, 0.7], (4, 1)))
    assert unanimous.statistic == np.inf
    assert unanimous.pvalue == pytest.approx(6**-3)  # three data sets repeat one order of six
    with_ties = friedman_test(np.tile([0.9, 0.8, 0.8], (4, 1)))
    assert with_ties.pvalue == pytest.approx(3**-3)  # one of three orders
    assert unanimous.chi2_statistic == pytest.approx(8.0)


def test_nemenyi_critical_values_of_the_paper():
    for k, q in [(2, 1.960), (3, 2.343), (4, 2.569), (10, 3.164)]:  # Demšar (2006), Table 5a
        cd = nemenyi_critical_difference(k, 14, confidence_level=0.95)
        assert cd == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 14)), rel=3e-4)


def test_nemenyi_matches_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs", reason="extra plot")
    expected = posthocs.posthoc_nemenyi_friedman(DEMSAR)
    ours = nemenyi_pvalues(DEMSAR, greater_is_better=True)
    pd.testing.assert_frame_equal(
        ours.loc[DEMSAR.columns, DEMSAR.columns], expected, check_names=False, atol=1e-9
    )


def enumerated_wilcoxon(differences):
    """Two-sided p-value over all signs of the ranks that were seen."""
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    signs = np.sign(differences)[differences != 0]
    seen = abs((signs * ranks).sum())
    sums = [abs(np.dot(one, ranks)) for one in product([-1, 1], repeat=len(ranks))]
    return np.mean(np.array(sums) >= seen - 1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_wilcoxon_is_exact_with_ties_and_zeros(differences):
    differences = np.array(differences) / 100
    result = wilcoxon_test(0.5 + differences, np.full(len(differences), 0.5))
    assert result.pvalue == pytest.approx(enumerated_wilcoxon(np.round(differences, 6)), abs=1e-12)


@pytest.mark.parametrize("n", [1, 5, 12, 30, 50])
def test_wilcoxon_without_ties_is_scipy_s(n):
    a, b = np.random.default_rng(n).uniform(size=(2, n))
    expected = stats.wilcoxon(a, b, method="exact")
    result = wilcoxon_test(a, b)
    assert result.statistic == expected.statistic
    assert result.pvalue == pytest.approx(expected.pvalue, abs=1e-9)


def test_wilcoxon_rank_sum_of_the_paper():
    # Demšar (2006), Table 2: R+ = 93, R- = 12, zeros shared
    assert wilcoxon_test(DEMSAR["C4.5+m"], DEMSAR["C4.5"]).statistic == 12


@pytest.mark.parametrize("n", [6, 11, 20])
def test_hodges_lehmann_interval_holds_what_the_test_does_not_reject(n):
    a, b = np.random.default_rng(n).uniform(size=(2, n))
    result = wilcoxon_test(a, b)
    low, high = result.interval
    for shift, rejected in [
        (low - 1e-6, True),
        (low + 1e-6, False),
        (high - 1e-6, False),
        (high + 1e-6, True),
    ]:
        assert (stats.wilcoxon(a - b - shift, method="exact").pvalue < 0.05) == rejected
    walsh = [(x + y) / 2 for i, x in enumerate(a - b) for y in (a - b)[i:]]
    assert result.effect == pytest.approx(np.median(walsh), abs=1e-9)


def test_five_data_sets_are_too_few_for_a_finite_interval():
    result = wilcoxon_test([0.9, 0.8, 0.7, 0.6, 0.5], [0.8, 0.6, 0.4, 0.2, 0.0])
    assert result.interval == (-np.inf, np.inf)
    assert result.pvalue == 2 / 2**5
    assert not result.significant
    assert "(no finite 95 % interval)" in str(result)


def test_at_the_very_level_the_interval_agrees_with_the_test():
    scores = [0.9, 0.8, 0.7, 0.6, 0.5], [0.8, 0.6, 0.4, 0.2, 0.0]
    at_level = wilcoxon_test(*scores, confidence_level=1 - 2 / 2**5)  # p is 2/2⁵: not below
    assert not at_level.significant
    assert at_level.interval == (-np.inf, np.inf)
    below = wilcoxon_test(*scores, confidence_level=0.93)
    assert below.significant
    assert below.interval == pytest.approx((0.1, 0.5))


def test_wilcoxon_of_equal_scores_is_a_tie():
    result = wilcoxon_test([0.9, 0.8, 0.3], [0.9, 0.8, 0.1 + 0.2])
    assert (result.pvalue, result.effect) == (1.0, 0.0)
    assert str(result).endswith("nothing tells them apart (p = 1)")


def test_where_most_data_sets_tie_the_ranks_say_who_is_better():
    a = np.full(24, 0.8)
    b = a + np.r_[np.arange(1, 7) / 100, np.zeros(18)]
    result = wilcoxon_test(a, b)
    assert (result.effect, result.pvalue, result.favours) == (0.0, 2 / 2**6, "B")
    assert str(result) == (
        "B scores better 6 times and worse 0 times, yet the same in the median over 24 data sets "
        "(95 % interval 0 to 0.015); that is unlikely to be chance (p = 0.031)"
    )
    pairs = compare_over_datasets(pd.DataFrame({"a": a, "b": b}), random_state=0).pairs
    assert pairs["verdict"].tolist() == ["b is better"]


def literal_posterior(a, b, rope, weights):
    """The three shares of one draw of weights, pair by pair."""
    z = [0.0, *(np.asarray(a) - np.asarray(b))]
    shares = np.zeros(3)
    for i, j in product(range(len(z)), repeat=2):
        place = 0 if z[i] + z[j] > 2 * rope else 2 if z[i] + z[j] < -2 * rope else 1
        shares[place] += weights[i] * weights[j]
    return shares


@pytest.mark.parametrize("rope", [0.01, 0.05])
def test_bayes_matches_a_literal_loop(rope):
    a, b = np.random.default_rng(2).normal(0.8, 0.05, size=(2, 7))
    draws = np.random.RandomState(5).dirichlet([0.5] + [1.0] * 7, size=300)
    winners = [np.argmax(literal_posterior(a, b, rope, weights)) for weights in draws]
    expected = np.bincount(winners, minlength=3) / 300
    result = bayesian_signed_rank_test(a, b, rope=rope, n_draws=300, random_state=5)
    assert (result.p_a, result.p_rope, result.p_b) == pytest.approx(tuple(expected))


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_bayes_matches_baycomp(rope):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is the peer")
    a, b = np.random.default_rng(0).normal(0.8, 0.03, size=(2, 15))
    sample = baycomp.SignedRankTest(a, b, rope, nsamples=4000, random_state=1)
    p_a, p_rope, p_b = sample.probs()  # its left is the first of its arguments
    result = bayesian_signed_rank_test(a, b, rope=rope, n_draws=4000, random_state=1)
    assert (result.p_a, result.p_rope, result.p_b) == pytest.approx((p_a, p_rope, p_b), abs=1e-9)
    assert 0.05 < result.p_a < 0.95  # neither side is certain, so that a swap would show


def test_bayes_of_equal_scores():
    scores = [0.9, 0.8, 0.7]
    inside = bayesian_signed_rank_test(scores, scores, random_state=0)
    assert (inside.p_a, inside.p_rope, inside.p_b) == (0.0, 1.0, 0.0)
    without = bayesian_signed_rank_test(scores, scores, rope=0, random_state=0)
    assert (without.p_a, without.p_rope, without.p_b) == (0.5, 0.0, 0.5)


def test_bayes_of_equal_scores_is_shared_where_baycomp_lets_rounding_decide():
    baycomp = pytest.importorskip("baycomp", reason="baycomp is the peer")
    scores = np.full(50, 0.8)
    p_a, _, p_b = baycomp.SignedRankTest(scores, scores, 0, random_state=0).probs()
    assert abs(p_a - p_b) > 0.1
    ours = bayesian_signed_rank_test(scores, scores, rope=0, random_state=0)
    assert (ours.p_a, ours.p_b) == (0.5, 0.5)


def test_bayes_is_seeded():
    a, b = np.random.default_rng(0).normal(0.8, 0.03, size=(2, 8))
    first, again, other = (
        bayesian_signed_rank_test(a, b, n_draws=1000, random_state=seed) for seed in (3, 3, 4)
    )
    assert first == again
    assert first != other


def test_compare_over_datasets_puts_it_together():
    result = compare_over_datasets(DEMSAR, random_state=0)
    assert result.ranks.equals(average_ranks(DEMSAR))
    assert result.friedman == friedman_test(DEMSAR)
    assert len(result.pairs) == 6
    row = result.pairs.iloc[0]
    pair = wilcoxon_test(DEMSAR["C4.5"], DEMSAR["C4.5+m"], names=("C4.5", "C4.5+m"))
    assert result.results["wilcoxon", "C4.5", "C4.5+m"] == pair
    assert (row["pvalue"], row["difference"]) == (pair.pvalue, pair.effect)
    assert row["pvalue_holm"] >= row["pvalue"]
    assert result.pairs[["P(a better)", "P(same)", "P(b better)"]].sum(axis=1).tolist() == (
        pytest.approx([1.0] * 6)
    )


def test_errors_instead_of_scores_turn_the_verdicts():
    good = compare_over_datasets(DEMSAR, random_state=0)
    errors = compare_over_datasets(1 - DEMSAR, greater_is_better=False, random_state=0)
    assert errors.pairs["verdict"].tolist() == good.pairs["verdict"].tolist()
    assert errors.pairs["P(a better)"].tolist() == pytest.approx(good.pairs["P(a better)"].tolist())


def test_tables_of_other_kinds_keep_their_names():
    columns = {"svc": [0.9, 0.8], "knn": [0.7, 0.6]}
    expected = {"svc": 1.0, "knn": 2.0}
    assert average_ranks(columns).to_dict() == expected
    polars = pytest.importorskip("polars", reason="polars is another kind of table")
    assert average_ranks(polars.DataFrame(columns)).to_dict() == expected


def test_the_table_says_which_way_it_subtracts():
    title = "Wilcoxon: {}, p after Holm's correction"
    good = compare_over_datasets(DEMSAR, random_state=0)
    errors = compare_over_datasets(1 - DEMSAR, greater_is_better=False, random_state=0)
    assert title.format("a minus b") in str(good)
    assert title.format("b minus a") in str(errors)
    assert errors.pairs["difference"].tolist() == pytest.approx(good.pairs["difference"].tolist())


def test_two_estimators_have_no_friedman_test():
    result = compare_over_datasets(DEMSAR.iloc[:, :2], random_state=0)
    assert result.friedman is None
    assert "Friedman" not in str(result)


def test_the_callers_table_is_left_alone():
    scores = pd.DataFrame(np.random.default_rng(0).uniform(size=(8, 3)))
    before = scores.copy()
    compare_over_datasets(scores, random_state=0)
    pd.testing.assert_frame_equal(scores, before)


@pytest.mark.parametrize(
    ("function", "scores", "sentence"),
    [
        (friedman_test, DEMSAR.iloc[:, :2], "at least 3 estimators"),
        (compare_over_datasets, DEMSAR.iloc[:1], "2 data sets"),
        (compare_over_datasets, DEMSAR.where(DEMSAR < 1), "'C4.5' has no finite score on data"),
        (average_ranks, DEMSAR.assign(name="x"), "'name' does not hold numbers"),
        (average_ranks, DEMSAR.rename(columns={"C4.5+m": "C4.5"}), "a name of its own"),
    ],
)
def test_bad_tables_get_one_clear_sentence(function, scores, sentence):
    with pytest.raises(ValueError, match=sentence):
        function(scores)


def test_levels_are_checked():
    with pytest.raises(ValueError, match="confidence_level must lie between 0 and 1; got 95"):
        friedman_test(DEMSAR, confidence_level=95)
    assert friedman_test(DEMSAR, confidence_level=0.95).significant
    assert not friedman_test(DEMSAR, confidence_level=0.99).significant


def test_bad_arrays_get_one_clear_sentence():
    with pytest.raises(ValueError, match="one score per data set"):
        wilcoxon_test([], [])
    with pytest.raises(ValueError, match="one score per data set"):
        bayesian_signed_rank_test([[0.1]], [[0.2]])
    with pytest.raises(ValueError, match="rope must be 0 or more"):
        bayesian_signed_rank_test([0.1], [0.2], rope=-1)
    with pytest.raises(ValueError, match="rope must be 0 or more"):
        bayesian_signed_rank_test([0.1], [0.2], rope=np.nan)


@pytest.mark.parametrize("scale", [2.0**-1060, 2.0**1000])
def test_scores_of_any_size_rank_alike(scale):
    a, b = np.random.default_rng(0).integers(0, 20, size=(2, 8)).astype(float)
    for test in (wilcoxon_test, lambda a, b: bayesian_signed_rank_test(a, b, rope=0)):
        here, there = test(a, b), test(a * scale, b * scale)
        if test is wilcoxon_test:
            assert (there.statistic, there.pvalue) == (here.statistic, here.pvalue)
    table = np.column_stack([a, b, a[::-1]])
    assert friedman_test(table * scale).statistic == friedman_test(table).statistic
    assert average_ranks(table * scale).equals(average_ranks(table))


def test_a_median_difference_of_nought_is_nought():
    """Not 7e-16, as the means of differences in units of 1/1024 would have it."""
    k = np.random.default_rng(302834).integers(0, 4, size=(2, 4))
    result = wilcoxon_test(*(k / 1024))
    assert result.effect == 0
    assert "e-" not in str(result)

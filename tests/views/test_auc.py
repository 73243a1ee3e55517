"""The AUC of held-out rows against a literal count, and its interval against simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.views._auc import auc_interval, auc_variance, share_of_pairs

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_share_of_pairs_is_a_count(first, second):
    literal = np.mean([(b > a) + (b == a) / 2 for a in first for b in second])
    scores = np.array([*first, *second], dtype=float)
    is_second = np.arange(len(scores)) >= len(first)
    assert share_of_pairs(scores, is_second) == pytest.approx(literal)
    assert share_of_pairs(-scores, is_second) == pytest.approx(1 - literal)


@given(st.integers(1, 500), st.integers(1, 500))
def test_variance_at_one_half_is_that_of_wilcoxon(m, n):
    assert auc_variance(0.5, m, n) == pytest.approx((m + n + 1) / (12 * m * n))


@given(st.floats(0, 1), st.integers(1, 500), st.integers(1, 500))
def test_variance_does_not_care_which_table_is_first(auc, m, n):
    assert auc_variance(auc, m, n) == pytest.approx(auc_variance(1 - auc, n, m), abs=1e-15)


@pytest.mark.parametrize("auc", [0.6, 0.75, 0.9])
def test_variance_of_exponential_scores(auc):
    """Hanley and McNeil's variance is exact for them."""
    rng = np.random.default_rng(0)
    first = rng.exponential(size=(20_000, 8, 1))
    second = rng.exponential(auc / (1 - auc), size=(20_000, 1, 8))
    shares = (second > first).mean(axis=(1, 2))
    assert shares.mean() == pytest.approx(auc, abs=0.003)
    assert shares.var() == pytest.approx(auc_variance(auc, 8, 8), rel=0.04)


@given(
    st.floats(0, 1),
    st.lists(st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=1, max_size=6),
    st.floats(0.5, 0.999),
)
def test_interval_is_what_chance_explains(auc, sizes, confidence):
    from scipy.stats import norm

    low, high = auc_interval(auc, sizes, confidence)
    assert 0 <= low <= auc <= high <= 1
    pairs = [m * n for m, n in sizes]
    z = norm.ppf((1 + confidence) / 2)
    for end in (low, high):
        if 0 < end < 1:
            variances = [auc_variance(end, m, n) for m, n in sizes]
            variance = sum(w**2 * v for w, v in zip(pairs, variances, strict=True))
            spread = z * np.sqrt(2 * variance) / sum(pairs)
            assert_allclose(abs(auc - end), spread, rtol=1e-5, atol=1e-9)


def test_interval_of_a_perfect_separation_has_a_width():
    low, high = auc_interval(1.0, [(4, 4)] * 5, 0.95)
    assert high == 1.0
    assert 0.7 < low < 0.95


@pytest.mark.parametrize(("m", "n", "d"), [(30, 30, 1), (50, 50, 5), (20, 80, 2)])
def test_interval_covers_one_half_where_tables_are_equal(m, n, d):
    """Five folds, each scored along the means of the others: the simplest discriminant.

    If folds were taken to be independent, the intervals would cover 0.5 in 83 % only.
    """
    rng = np.random.default_rng(m + d)
    is_second = np.arange(m + n) >= m
    fold = np.concatenate([np.arange(m), np.arange(n)]) % 5
    sizes = [(int((fold[:m] == k).sum()), int((fold[m:] == k).sum())) for k in range(5)]
    pairs = np.array([a * b for a, b in sizes])
    aucs = []
    for _ in range(600):
        Z = rng.normal(size=(m + n, d))
        parts = []
        for k in range(5):
            fitted, held_out = fold != k, fold == k
            means = [Z[fitted & (is_second == which)].mean(axis=0) for which in (False, True)]
            scores = Z[held_out] @ (means[1] - means[0])
            parts.append(share_of_pairs(scores, is_second[held_out]))
        aucs.append(pairs @ parts / pairs.sum())
    assert np.mean(aucs) == pytest.approx(0.5, abs=3 * np.std(aucs) / np.sqrt(600))
    intervals = np.array([auc_interval(auc, sizes, 0.95) for auc in aucs])
    covered = np.mean((intervals[:, 0] <= 0.5) & (intervals[:, 1] >= 0.5))
    assert 0.93 <= covered <= 0.99  # a standard error is 0.009

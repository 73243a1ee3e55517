"""Sets from left-out scores: odds that are not rounded, ranks as counted, cautious ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.samples import LeftOutScores, log_odds_against
from oracles.sets import odds_against, plain_sets

SCORES = st.lists(
    st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0]), min_size=3, max_size=3),
    min_size=1,
    max_size=12,
)


@given(SCORES)
def test_odds_are_those_of_the_probabilities(rows):
    scores = np.array(rows)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    odds = log_odds_against(scores)
    is_answer = np.arange(3) == scores.argmax(axis=1)[:, None]
    np.testing.assert_array_equal(odds == -np.inf, is_answer)
    np.testing.assert_allclose(odds[~is_answer], np.log((1 - p) / p)[~is_answer], atol=1e-12)


def test_odds_do_not_end_where_probabilities_are_rounded_to_one():
    scores = np.array([[0.0, -800.0, -900.0], [0.0, -1e5, -np.inf]])
    odds = log_odds_against(scores)
    np.testing.assert_allclose(odds[0], [-np.inf, 800.0, 900.0])
    np.testing.assert_allclose(odds[1], [-np.inf, 1e5, np.inf])


@given(SCORES, st.data())
def test_sets_are_those_of_the_literal_count(rows, data):
    left_out = np.array(rows)
    labels = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    )
    counts = np.array(
        data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    )
    coverage = data.draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]))
    known = LeftOutScores.of(left_out, labels, counts.astype(float))
    new = np.array(data.draw(SCORES))
    found = log_odds_against(new) <= known.most_odds(coverage)
    np.testing.assert_array_equal(found, plain_sets(new, left_out, labels, counts, coverage))


@pytest.mark.parametrize(
    ("n_rows", "coverage", "rank"), [(9, 0.9, 9), (19, 0.9, 18), (19, 0.95, 19), (99, 0.07, 7)]
)
def test_of_n_rows_the_odds_of_one_rank_are_the_largest(n_rows, coverage, rank):
    odds = np.random.default_rng(0).permutation(np.arange(1.0, n_rows + 1))
    known = LeftOutScores(odds, np.ones(n_rows))
    assert known.most_odds(coverage) == rank
    # One row less cannot tell as much where the rank is that of the last.
    fewer = LeftOutScores(odds[odds < n_rows], np.ones(n_rows - 1))
    assert fewer.most_odds(coverage) == (np.inf if rank == n_rows else rank)


def test_a_random_rank_holds_the_coverage_exactly():
    # The chance that the last of n + 1 exchangeable numbers is among the first ⌈c(n + 1)⌉.
    n_rows, coverage, held, n_draws = 20, 0.8, 0, 4000
    rng = np.random.default_rng(0)
    for _ in range(n_draws):
        *odds, new = rng.normal(size=n_rows + 1)
        held += new <= LeftOutScores(np.array(odds), np.ones(n_rows)).most_odds(coverage)
    expected = np.ceil(coverage * (n_rows + 1)) / (n_rows + 1)
    assert held / n_draws == pytest.approx(expected, abs=4 * np.sqrt(expected * 0.2 / n_draws))


def test_own_odds_are_kept():
    scores = np.log(np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.5, 0.4]]))
    known = LeftOutScores.of(scores, np.array([0, 0, 2]), np.ones(3))
    expected = [odds_against(row, label) for row, label in zip(scores, [0, 0, 2], strict=True)]
    np.testing.assert_allclose(known.odds, expected)

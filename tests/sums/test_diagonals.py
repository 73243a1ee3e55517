"""``diagonal_shares``: Shapley values of sums of products, against their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.sums import diagonal_shares
from oracles.shapley import shapley_values


def literal(u, w, coef):
    """Shapley values of v(S) = Σⱼ aⱼ Π_{g∈S} u_gj Π_{g∉S} w_gj against one row."""

    def game(players):
        taken = np.isin(np.arange(len(u)), list(players))
        return float(coef @ np.where(taken[:, None], u, w).prod(axis=0))

    return shapley_values(game, len(u))


def random_factors(seed, n_groups, n_terms, n_background=1):
    rng = np.random.default_rng(seed)
    u, w = rng.random((n_groups, n_terms)), rng.random((n_background, n_groups, n_terms))
    return u, w, rng.normal(size=n_terms)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 9), st.integers(1, 3))
def test_shares_are_shapleys_values(seed, n_groups, n_terms, n_background):
    u, w, coef = random_factors(seed, n_groups, n_terms, n_background)
    found = diagonal_shares(u, w, coef)
    for b in range(n_background):
        np.testing.assert_allclose(found[b], literal(u, w[b], coef), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("n_groups", [1, 2, 7, 8, 33, 90])
def test_shares_add_up_to_the_difference_of_the_sums(n_groups):
    u, w, coef = random_factors(3, n_groups, 300, n_background=20)
    u, w = u ** (1 / n_groups), w ** (1 / n_groups)  # so that products are no specks
    whole = u.prod(axis=0) @ coef - w.prod(axis=1) @ coef
    np.testing.assert_allclose(diagonal_shares(u, w, coef).sum(axis=1), whole, rtol=1e-11)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_a_factor_that_does_not_change_has_no_share(seed, n_groups):
    u, w, coef = random_factors(seed, n_groups, 5)
    w[:, 1] = u[1]
    found = diagonal_shares(u, w, coef)[0]
    assert found[1] == 0
    # And the other factors have theirs from the game without it.
    rest = np.delete(np.arange(n_groups), 1)
    expected = diagonal_shares(u[rest], w[:, rest], coef * u[1])[0]
    np.testing.assert_allclose(found[rest], expected, rtol=1e-11, atol=1e-14)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_factors_that_are_alike_have_the_same_share(seed, n_groups):
    u, w, coef = random_factors(seed, n_groups, 5)
    u[1], w[:, 1] = u[0], w[:, 0]
    found = diagonal_shares(u, w, coef)[0]
    assert found[0] == pytest.approx(found[1], rel=1e-11, abs=1e-14)


def test_shares_of_a_sum_are_sums_of_shares():
    u, w, coef = random_factors(5, 5, 12, n_background=4)
    other = np.random.default_rng(6).normal(size=12)
    whole = diagonal_shares(u, w, coef + 2 * other)
    parts = diagonal_shares(u, w, coef) + 2 * diagonal_shares(u, w, other)
    np.testing.assert_allclose(whole, parts, rtol=1e-11)


def test_factors_of_zero_divide_nothing():
    u, w, coef = random_factors(7, 4, 6)
    u[0, :3], w[0, 0, :2], w[0, 2, 1], u[3] = 0.0, 0.0, 0.0, 1e-320
    found = diagonal_shares(u, w, coef)[0]
    np.testing.assert_allclose(found, literal(u, w[0], coef), rtol=1e-11)

"""Greedy selection against trying every candidate afresh; class-stratified samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.spectral import greedy_selection, stratified_rows


def _problem(seed, n_candidates=12, n_targets=2):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n_candidates, 20))
    return A @ A.T / 20 + 0.05 * np.eye(n_candidates), rng.normal(size=(n_candidates, n_targets))


def _value(G, U, taken):
    return np.trace(U[taken].T @ np.linalg.solve(G[np.ix_(taken, taken)], U[taken]))


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_every_step_is_the_best_one(seed, n_targets):
    G, U = _problem(seed, n_targets=n_targets)
    path = greedy_selection(lambda j: G[j], np.diag(G), U, 6)
    taken = []
    for step, (index, value) in enumerate(zip(path.order, path.criterion, strict=True)):
        values = {j: _value(G, U, [*taken, j]) for j in range(len(G)) if j not in taken}
        assert values[index] == pytest.approx(max(values.values()), rel=1e-9), step
        assert value == pytest.approx(values[index], rel=1e-9)
        taken.append(int(index))


def test_no_more_than_there_are():
    G, U = _problem(0, n_candidates=4)
    assert sorted(greedy_selection(lambda j: G[j], np.diag(G), U, 9).order) == [0, 1, 2, 3]


def test_copies_are_taken_once():
    G, U = _problem(1, n_candidates=5)
    twice = np.repeat(np.arange(5), 2)
    G, U = G[np.ix_(twice, twice)], U[twice]
    order = greedy_selection(lambda j: G[j], np.diag(G), U, 10).order
    assert sorted(order // 2) == [0, 1, 2, 3, 4]


def test_the_stop_rule_looks_at_ten_steps():
    # Gains of about one, and many whose mean is half the tolerance.
    gains = np.concatenate([np.full(4, 1.0), [0.001] * 2, np.full(4, 0.9), np.full(30, 5e-3)])
    G, U = np.eye(len(gains)), np.sqrt(gains)[:, None]
    path = greedy_selection(lambda j: G[j], np.diag(G), U, 40, tol=0.01)
    assert len(path.order) == 8  # the greatest gains; the ten small ones are taken back
    assert path.criterion[-1] == pytest.approx(4 + 3.6)
    assert len(greedy_selection(lambda j: G[j], np.diag(G), U, 40, tol=0.0).order) == 40


def test_the_printed_stop_rule_looks_at_one_step():
    gains = np.array([1.0, 0.9, 0.5, 0.02, 0.009, 0.008])
    G, U = np.eye(6), np.sqrt(gains)[:, None]
    path = greedy_selection(lambda j: G[j], np.diag(G), U, 6, tol=0.01, stop_rule="printed")
    np.testing.assert_allclose(np.diff(path.criterion, prepend=0), gains[:5])
    first = greedy_selection(lambda j: G[j], np.diag(G), U / 100, 6, tol=0.01, stop_rule="printed")
    assert len(first.order) == 2  # The first node has none before it.


def test_one_small_gain_does_not_stop():
    # Two candidates that help only together: the first gain is small, the second large.
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    noise = 10 * rng.normal(size=200)
    columns = np.column_stack([noise + 0.3 * x, noise, *rng.normal(size=(3, 200))])
    G = columns.T @ columns / 200 + 1e-6 * np.eye(5)
    U = columns.T @ x[:, None] / 200
    path = greedy_selection(lambda j: G[j], np.diag(G), U, 5, tol=1e-3)
    gains = np.diff(path.criterion, prepend=0)
    assert (np.diff(gains) > 0.1).any(), "gains are not monotone here"
    assert path.criterion[-1] > 0.95 * np.mean(x**2)


@given(st.integers(1, 60), st.floats(0, 1), st.integers(0, 100))
def test_samples_keep_every_class(size, power, seed):
    groups = np.repeat([0, 1, 2, 3], [1, 5, 20, 34])
    rows = stratified_rows(groups, size, power, np.random.RandomState(seed))
    assert len(np.unique(rows)) == len(rows)
    assert (np.diff(rows) > 0).all()
    assert len(rows) == max(size, 4)
    if size >= 4:
        assert len(np.unique(groups[rows])) == 4


def test_shares_follow_the_power():
    groups = np.repeat([0, 1], [10_000, 100])
    rng = np.random.RandomState(0)
    halves = np.bincount(groups[stratified_rows(groups, 110, 0.5, rng)])
    np.testing.assert_array_equal(halves, [100, 10])
    equal = np.bincount(groups[stratified_rows(groups, 400, 0.0, rng)])
    np.testing.assert_array_equal(equal, [300, 100])  # the small class has no more


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_small_groups_take_from_the_large_and_not_from_the_total(power):
    groups = np.array([0, 0, 0, 0, 1, 2])
    for size in (3, 4, 5):
        rows = stratified_rows(groups, size, power, np.random.RandomState(0))
        assert len(rows) == size
        assert set(groups[rows]) == {0, 1, 2}

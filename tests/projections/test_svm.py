"""The solvers: optimality conditions, and agreement with each other and with libsvm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.projections import _svm as module
from mercer.projections._interior import interior_point
from mercer.projections._svm import solve_each, solve_svm
from oracles import projections as oracle


def overlapping(seed, n=60, r=4, spread=1.0):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(n, r))
    signs = np.where(G[:, 0] + spread * rng.normal(size=n) > 0, 1.0, -1.0)
    signs[:2] = [-1, 1]
    return G, signs


def check_hinge_conditions(G, signs, C, c, b, tol):
    mu = signs * c
    margin = signs * (G @ (G.T @ c) + b)
    assert abs(c.sum()) < tol * np.max(C)
    assert (mu > -tol * C).all()
    assert (mu < C * (1 + tol)).all()
    assert (margin[mu < tol * C] > 1 - tol).all()
    assert (margin[mu > (1 - tol) * C] < 1 + tol).all()
    free = (mu > tol * C) & (mu < (1 - tol) * C)
    np.testing.assert_allclose(margin[free], 1, atol=tol)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([1, 4, 30]))
def test_hinge_meets_its_optimality_conditions(seed, C, r):
    G, signs = overlapping(seed, r=r)
    c, b = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-6)
    check_hinge_conditions(G, signs, C, c, b, 1e-6)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([1, 4, 30]))
def test_each_row_may_have_a_price_of_its_own(seed, C, r):
    G, signs = overlapping(seed, r=r)
    C = C * np.random.default_rng(seed).uniform(0.1, 3, len(G))
    c, b = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-6)
    check_hinge_conditions(G, signs, C, c, b, 1e-6)
    c, b = solve_svm(G, signs, C=C, loss="squared_hinge", M=None, tol=1e-6)
    slack = np.maximum(0, 1 - signs * (G @ (G.T @ c) + b))
    np.testing.assert_allclose(c, 2 * C * signs * slack, atol=1e-7 * C.max())
    np.testing.assert_allclose(c.sum(), 0, atol=1e-7 * C.max())


@pytest.mark.parametrize("libsvm", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared_error"])
def test_a_price_of_two_is_the_row_twice(monkeypatch, loss, libsvm):
    monkeypatch.setattr(module, "uses_libsvm", lambda n, r: libsvm)
    G, signs = overlapping(5)
    times = np.random.default_rng(0).integers(1, 4, len(G))
    options = {"loss": loss, "M": None, "tol": 1e-6}
    c, b = solve_svm(G, signs, C=0.5 * times, **options)
    every = np.repeat(np.arange(len(G)), times)
    copies, b_copies = solve_svm(G[every], signs[every], C=0.5, **options)
    np.testing.assert_allclose(G.T @ c, G[every].T @ copies, atol=1e-8)
    np.testing.assert_allclose(b, b_copies, atol=1e-8)


def gap(G, signs, C, c, b):
    """What is paid beyond the least price, as a share of it."""
    v = G.T @ c
    paid = 0.5 * v @ v + (C * np.maximum(0, 1 - signs * (G @ v + b))).sum()
    return (paid - (signs @ c - 0.5 * v @ v)) / paid


@pytest.mark.parametrize("C", [1.0, 1e4, 1e6])
def test_a_rare_class_within_another_one_has_no_direction(C):
    """Where v = 0 is best, rounding undid the last steps of the interior-point method."""
    for seed in range(12):
        G = np.random.default_rng(seed).normal(size=(100, 1 + seed % 3))
        signs = np.where(np.arange(100) < 12, 1.0, -1.0)
        c, b = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-5)
        assert gap(G, signs, C, c, b) < 1e-6


@pytest.mark.parametrize("spread", [3, 12, 30])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_prices_may_be_far_apart(C, spread):
    for seed in range(12):
        G, signs = overlapping(seed, r=(2, 4, 30)[seed % 3])
        prices = C * 10.0 ** np.random.default_rng(seed).uniform(-spread, 0, len(G))
        prices[:2] = C
        c, b = solve_svm(G, signs, C=prices, loss="hinge", M=None, tol=1e-5)
        assert gap(G, signs, prices, c, b) < 1e-5


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_interior_point_and_libsvm_agree(monkeypatch, C):
    G, signs = overlapping(0)
    directions = []
    for libsvm in (True, False):
        monkeypatch.setattr(module, "uses_libsvm", lambda n, r, use=libsvm: use)
        c, _ = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-5)
        directions.append(G.T @ c)
    np.testing.assert_allclose(*directions, atol=1e-9)
    np.testing.assert_allclose(
        directions[0], G.T @ oracle.hinge_duals(G @ G.T, signs, C), atol=1e-6
    )


@pytest.mark.parametrize("near", [0.5, 1.5])  # the first leaves rows out that must come back
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_leaving_out_far_rows_changes_nothing(monkeypatch, near, C):
    G, signs = overlapping(4, n=300, spread=0.3)
    whole, b = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-6)
    sizes = []
    monkeypatch.setattr(module, "_SCREENED", 10)
    monkeypatch.setattr(module, "_NEAR", near)
    monkeypatch.setattr(
        module, "interior_point", lambda G, *a: sizes.append(len(G)) or interior_point(G, *a)
    )
    some, b_some = solve_svm(G, signs, C=C, loss="hinge", M=None, tol=1e-6)
    assert sizes[0] < 300
    np.testing.assert_allclose(some, whole, atol=1e-8 * C)
    np.testing.assert_allclose(b_some, b, atol=1e-8)


def test_interior_point_says_which_bounds_hold():
    G, signs = overlapping(1)
    mu, _, side = interior_point(G, signs, np.ones(len(G)))
    np.testing.assert_allclose(mu[side < 0], 0, atol=1e-6)
    np.testing.assert_allclose(mu[side > 0], 1, atol=1e-6)
    assert ((mu[side == 0] > 1e-6) & (mu[side == 0] < 1 - 1e-6)).all()


def test_badly_scaled_rows_and_a_large_price_are_no_trouble():
    G, signs = overlapping(2)
    G = G * [1e3, 1, 1e-2, 1]
    c, b = solve_svm(G, signs, C=1e3, loss="hinge", M=None, tol=1e-6)
    check_hinge_conditions(G, signs, 1e3, c, b, 1e-5)


def test_polish_keeps_the_answer_where_the_bounds_are_wrong():
    G, signs = overlapping(3)
    mu, b, side = interior_point(G, signs, np.ones(len(G)))
    wrong = np.where(side == 0, 1, side).astype(np.int8)
    c, intercept = module._polish(G, signs, np.ones(len(G)), mu, b, wrong)
    np.testing.assert_array_equal(c, signs * mu)
    assert intercept == b


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([1, 4, 100]))
def test_squared_hinge_is_stationary(seed, C, r):
    G, signs = overlapping(seed, r=r)
    c, b = solve_svm(G, signs, C=C, loss="squared_hinge", M=None, tol=1e-6)
    v = G.T @ c
    slack = np.maximum(0, 1 - signs * (G @ v + b))
    np.testing.assert_allclose(c, 2 * C * signs * slack, atol=1e-7 * C)
    np.testing.assert_allclose(c.sum(), 0, atol=1e-7 * C)


def test_squared_hinge_is_the_least():
    G, signs = overlapping(0)
    c, b = solve_svm(G, signs, C=2.0, loss="squared_hinge", M=None, tol=1e-6)
    v = G.T @ c
    ours = 0.5 * v @ v + 2 * (np.maximum(0, 1 - signs * (G @ v + b)) ** 2).sum()
    np.testing.assert_allclose(ours, oracle.smallest_objective(G, signs, 2.0, 2), rtol=1e-7)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([1e-3, 1.0, 1e9]), st.sampled_from([1, 4, 100]))
def test_squared_error_is_stationary(seed, C, r):
    """Duals of rows that are met keep their digits: with r = 100 they are small at any C."""
    G, signs = overlapping(seed, r=r)
    C = C * np.random.default_rng(seed).uniform(0.1, 3, len(G))
    c, b = solve_svm(G, signs, C=C, loss="squared_error", M=None, tol=1e-6)
    room = 1e-13 * len(c) * max(1.0, np.abs(c).max())
    np.testing.assert_allclose(G @ (G.T @ c) + b + c / (2 * C), signs, atol=100 * room)
    np.testing.assert_allclose(c.sum(), 0, atol=room)


def test_squared_errors_of_several_problems_have_one_factor():
    G, one = overlapping(0)
    signs, prices = np.column_stack([one, np.roll(one, 7)]), np.linspace(0.5, 2, len(G))
    duals, intercepts = solve_each(G, signs, C=prices, loss="squared_error", tol=1e-6)
    for k in range(2):
        alone, b = solve_svm(G, signs[:, k], C=prices, loss="squared_error", M=None, tol=1e-6)
        np.testing.assert_allclose(duals[:, k], alone, atol=1e-10)
        np.testing.assert_allclose(intercepts[k], b, atol=1e-12)
        expected = oracle.squared_error_duals(G @ G.T, signs[:, k], prices)
        np.testing.assert_allclose(duals[:, k], expected, atol=1e-10)


def test_rows_without_any_coordinate_have_no_direction():
    signs = np.array([1.0, -1.0, -1.0])
    for loss in ("hinge", "squared_hinge", "squared_error"):
        c, _ = solve_svm(np.zeros((3, 2)), signs, C=1.0, loss=loss, M=None, tol=1e-6)
        np.testing.assert_allclose(c.sum(), 0, atol=1e-7)

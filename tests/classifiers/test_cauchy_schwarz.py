"""Weights learned by the Cauchy–Schwarz divergence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq, minimize

from classifiers.samples import SAMPLES, assert_close
from mercer import ISEClassifier
from mercer.classifiers._cauchy_schwarz import (
    _capped_simplex,
    cauchy_schwarz_weights,
    log_kernel_matrix,
)
from mercer.kernels import get_kernel
from oracles import classifiers as oracle

NAMES = ["gaussians", "moons", "ring", "breast cancer"]


def divergence(K, alpha):
    """EQ eq. (30) of weighted means."""
    p, q = np.maximum(alpha, 0), np.maximum(-alpha, 0)
    return -np.log(p @ K @ q) + 0.5 * np.log(p @ K @ p) + 0.5 * np.log(q @ K @ q)


def problem(name, h=0.6):
    X, y = SAMPLES[name]
    is_positive = y == np.unique(y)[1]
    log_k = log_kernel_matrix(X, get_kernel("gaussian"), np.sqrt(2) * h, "", "")
    expected = oracle.windows(X, X, np.sqrt(2) * h)
    assert_close(np.exp(log_k), (expected / expected[0, 0]).astype(float))
    return log_k, is_positive, np.ones(len(y))


@pytest.mark.parametrize("C", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("name", NAMES)
def test_stationary_point_of_the_divergence(name, C):
    log_k, side, ones = problem(name)
    alpha, (log_p, log_q) = cauchy_schwarz_weights(log_k, side, ones, C)
    K = np.exp(log_k)
    sizes = np.where(side, side.sum(), (~side).sum())
    cap = (1 + C) / sizes
    assert (alpha[side] >= 0).all()
    assert (alpha[~side] <= 0).all()
    assert (np.abs(alpha) <= cap * (1 + 1e-12)).all()
    assert_close(alpha[side].sum(), 1)
    assert_close(alpha[~side].sum(), -1)
    p, q = np.maximum(alpha, 0), np.maximum(-alpha, 0)
    assert_close([log_p, log_q], [0.5 * np.log(p @ K @ p), 0.5 * np.log(q @ K @ q)])
    uniform = np.where(side, 1, -1) / sizes
    assert divergence(K, alpha) < divergence(K, uniform)
    # KKT: moving weight from one row to another of its side does not help
    gradient = np.where(side, K @ p / (p @ K @ p) - K @ q / (p @ K @ q),
                        K @ q / (q @ K @ q) - K @ p / (p @ K @ q))  # fmt: skip
    size = np.abs(alpha)
    for rows in (side, ~side):
        can_fall, can_rise = size[rows] > 1e-9, size[rows] < cap[rows] - 1e-9
        g = gradient[rows]
        assert g[can_fall].max() - g[can_rise].min() < 1e-7
    # and no random feasible direction does
    rng = np.random.default_rng(0)
    for _ in range(20):
        target = np.empty_like(size)
        for rows in (side, ~side):
            target[rows] = _capped_simplex(rng.normal(size=rows.sum()), cap[rows])
        step = 1e-4 * (np.where(side, target, -target) - alpha)
        assert divergence(K, alpha + step) >= divergence(K, alpha) - 1e-12


def test_a_general_minimiser_finds_no_smaller_divergence():
    log_k, side, ones = problem("gaussians", h=0.8)
    rows = np.r_[np.flatnonzero(side)[:6], np.flatnonzero(~side)[:9]]
    log_k, side, ones = log_k[np.ix_(rows, rows)], side[rows], ones[rows]
    K, C = np.exp(log_k), 1.0
    alpha, _ = cauchy_schwarz_weights(log_k, side, ones, C)
    sizes = np.where(side, side.sum(), (~side).sum())
    signs = np.where(side, 1, -1)
    constraints = [
        {"type": "eq", "fun": lambda a, rows=rows: a[rows].sum() - 1} for rows in (side, ~side)
    ]
    best = minimize(
        lambda a: divergence(K, signs * np.maximum(a, 0)), 1 / sizes, method="SLSQP",
        bounds=[(0, (1 + C) / n) for n in sizes], constraints=constraints,
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    assert divergence(K, alpha) <= best.fun + 1e-8


@pytest.mark.parametrize("name", NAMES)
def test_small_c_gives_equal_weights(name):
    log_k, side, ones = problem(name)
    alpha, _ = cauchy_schwarz_weights(log_k, side, ones, 1e-9)
    sizes = np.where(side, side.sum(), (~side).sum())
    assert_close(np.abs(alpha) * sizes, np.ones(len(side)), 1e-6)


def test_equal_weights_are_the_cosine_rule():
    X, y = SAMPLES["gaussians"]
    model = ISEClassifier(bandwidth=0.6, weighting="cauchy_schwarz", C=1e-9).fit(X, y)
    gamma = oracle.Sample.of(X, y, 0.6, None).gamma(
        oracle.windows(X, X, np.sqrt(oracle.LONG(2)) * 0.6)
    )
    expected = oracle.log(gamma[:, 1]) - oracle.log(gamma[:, 0])
    assert_close(model.decision_function(X), expected, 1e-7)


def test_learned_weights_decide_by_angles():
    X, y = SAMPLES["three gaussians"]
    h = 0.5
    model = ISEClassifier(bandwidth=h, weighting="cauchy_schwarz").fit(X, y)
    K = oracle.windows(X, model.X_fit_, np.sqrt(2) * h)
    nodes = oracle.windows(model.X_fit_, model.X_fit_, np.sqrt(2) * h)
    for c in range(3):
        p, q = np.maximum(model.dual_coef_[c], 0), np.maximum(-model.dual_coef_[c], 0)
        cosines = [K @ side / np.sqrt(side @ nodes @ side) for side in (p, q)]
        expected = oracle.log(cosines[0]) - oracle.log(cosines[1])
        assert_close(model.decision_function(X)[:, c], expected)


@pytest.mark.parametrize("gap", [10.0, 100.0, 1e4])
def test_sides_far_apart_do_not_underflow(gap):
    """Between the sides only ratios of kernel values count."""
    X, y = SAMPLES["gaussians"]
    X = X + gap * y[:, None]
    model = ISEClassifier(bandwidth=0.6, weighting="cauchy_schwarz").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.array_equal(model.predict(X), y)
    weights = np.abs(model.dual_coef_[0])
    assert weights.max() <= 2 / min(np.bincount(y)) * (1 + 1e-12)


@given(
    v=arrays(float, st.integers(1, 12), elements=st.floats(-1e3, 1e3)),
    room=st.sampled_from([1.0, 1 + 1e-9, 1.5, 10.0]),
    seed=st.integers(0, 99),
)
def test_projection_to_the_capped_simplex(v, room, seed):
    cap = np.random.default_rng(seed).random(v.size) + 0.01
    cap *= room / cap.sum()
    out = _capped_simplex(v, cap)
    assert (out >= 0).all()
    assert (out <= cap).all()
    assert abs(out.sum() - 1) < 1e-9
    if room > 1.1:
        low, high = (v - cap).min() - 1, v.max() + 1
        t = brentq(lambda t: np.clip(v - t, 0, cap).sum() - 1, low, high, xtol=1e-13)
        assert_close(out, np.clip(v - t, 0, cap), 1e-9)
    # Nearest: the way to any other feasible point makes an obtuse angle with v − out.
    other = _capped_simplex(np.random.default_rng(seed + 1).normal(size=v.size), cap)
    assert (v - out) @ (other - out) <= 1e-6 * (1 + np.abs(v).max())

"""Deflation: rank-one updates equal recomputation, one set-up serves every weight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from mercer.spectral import PenaltyPath, whiten
from oracles.projections import kernel_deflation


def problem(seed, n=12, r=5):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, r))
    W = np.abs(rng.normal(size=(n, n)))
    W = W + W.T
    L = np.diag(W.sum(axis=1)) - W
    return rng, F, L


def deflated_kernel(F, L, weight, W):
    """𝒦′ = K(I + λLK)⁻¹ of the deflated rows, from scratch."""
    P = np.eye(F.shape[1]) - W @ W.T
    K = F @ P @ F.T
    return K @ np.linalg.inv(np.eye(len(F)) + weight * L @ K)


@given(st.integers(0, 1000), st.floats(0, 100))
def test_rank_one_updates_are_recomputation(seed, weight):
    rng, F, L = problem(seed)
    space = whiten(F, F.T @ L @ F, weight)
    W = np.zeros((5, 0))
    for _ in range(4):
        M = space.G @ space.G.T
        np.testing.assert_allclose(M, deflated_kernel(F, L, weight, W), atol=1e-8 * np.trace(M))
        w, length = space.direction(space.G.T @ rng.normal(size=12), W)
        W = np.column_stack([W, w])
        assert length > 0
        lost = space.deflate(w)
        after = space.G @ space.G.T
        np.testing.assert_allclose(after, M - np.outer(lost, lost), atol=1e-10 * np.trace(M))
        np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)
        np.testing.assert_allclose(W.T @ space.R, 0, atol=1e-8)


@pytest.mark.parametrize("weight", [0.0, 0.3, 100.0])
def test_a_direction_solves_the_penalised_problem(weight):
    rng, F, L = problem(0)
    S = F.T @ L @ F
    c = rng.normal(size=12)
    space = whiten(F, S, weight)
    w = space.R @ (space.G.T @ c)  # [1] eq. (5)
    np.testing.assert_allclose(w, np.linalg.solve(np.eye(5) + weight * S, F.T @ c), atol=1e-10)


@given(st.integers(0, 1000), st.floats(0, 1000))
def test_path_equals_single_weights(seed, weight):
    _, F, L = problem(seed)
    S = F.T @ L @ F
    one, two = PenaltyPath(F, S).at(weight), whiten(F, S, weight)
    for a, b in ((one.G @ one.G.T, two.G @ two.G.T), (one.R @ one.R.T, two.R @ two.R.T)):
        np.testing.assert_allclose(a, b, atol=1e-10 * np.abs(b).max())


def test_kernel_recurrence_equals_factors():
    rng, F, L = problem(3)
    weight = 0.7
    space = whiten(F, F.T @ L @ F, weight)
    K, M = F @ F.T, space.G @ space.G.T
    W = np.zeros((5, 0))
    for _ in range(3):
        c = rng.normal(size=12)
        w, s = space.direction(space.G.T @ c, W)
        W = np.column_stack([W, w])
        z = space.G @ (space.G.T @ c) / s
        K, M, alpha, z_kernel = kernel_deflation(K, M, c, L, weight)
        np.testing.assert_allclose(z_kernel, z, atol=1e-8)
        np.testing.assert_allclose(z, F @ w, atol=1e-8)
        space.deflate(w)
        P = np.eye(5) - W @ W.T
        np.testing.assert_allclose(K, F @ P @ F.T, atol=1e-8)
        np.testing.assert_allclose(M, space.G @ space.G.T, atol=1e-8)
        assert np.isfinite(alpha).all()


def test_a_penalty_that_outweighs_the_norm():
    """Beside a large smoothness the identity was lost, and Cholesky's factor with it."""
    F = 1e10 * np.array([[1.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    S = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]]) * 1e20  # rounding made it indefinite
    with pytest.raises(linalg.LinAlgError):
        linalg.cholesky(np.eye(2) + S)
    assert np.isfinite(whiten(F, S, 1.0).G).all()

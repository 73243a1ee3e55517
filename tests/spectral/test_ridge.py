"""Ridge regression with an intercept: every ridge from one decomposition, leave-one-out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.spectral import (
    LandmarkMap,
    RidgeAnswer,
    decompose_features,
    decompose_kernel,
    factor_kernel,
)
from oracles.fisher import left_out_outputs, ridge_regression, row_deleted_outputs

ALPHAS = np.array([1e-6, 1e-3, 0.1, 10.0])


def _problem(seed, n_rows=25, n_targets=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    p = rng.uniform(0.2, 2, n_rows)
    p /= p.sum()
    T = rng.normal(size=(n_rows, n_targets))
    return K, p, T - p @ T


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_every_ridge_solves_the_normal_equations(seed):
    K, p, T = _problem(seed)
    basis = decompose_kernel(K, p)
    residuals, complements = basis.residuals(T, ALPHAS)
    for k, alpha in enumerate(ALPHAS):
        a, b = ridge_regression(K, T, p, alpha)
        np.testing.assert_allclose(residuals[k], T - K @ a - b, atol=1e-8)
        np.testing.assert_allclose(basis.coefficients(T, alpha), a, rtol=1e-5, atol=1e-7 / alpha)
        # Leverage: how the fit at a row answers to its own target.
        identity, level = ridge_regression(K, np.eye(len(K)), p, alpha)
        leverage = np.diag(K @ identity + level)
        np.testing.assert_allclose(complements[k], 1 - leverage, atol=1e-7)
        # One ridge by a Cholesky factor instead.
        factor = factor_kernel(K, p, alpha)
        alone = factor.residuals(T, ALPHAS[k : k + 1])
        np.testing.assert_allclose(alone[0][0], residuals[k], atol=1e-8)
        np.testing.assert_allclose(alone[1][0], complements[k], atol=1e-8)
        np.testing.assert_allclose(factor.coefficients(T, alpha), a, rtol=1e-5, atol=1e-7 / alpha)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_factor_holds_the_inverse_on_the_complement_of_the_intercept(request, library):
    K, p, T = _problem(1)
    root = np.sqrt(p)
    # Literally: an orthonormal basis of what is orthogonal to √p, and the inverse there.
    basis = np.linalg.svd(root[None])[2][1:].T
    A = root[:, None] * K * root + 0.01 * np.eye(len(K))
    P = basis @ np.linalg.inv(basis.T @ A @ basis) @ basis.T
    arrays = (K, p, T)
    if library == "torch":
        arrays = tuple(map(request.getfixturevalue("torch").as_tensor, arrays))
    K, p, T = arrays
    factor, whole = factor_kernel(K, p, 0.01), decompose_kernel(K, p)
    np.testing.assert_allclose(factor.matrix(), P, atol=1e-10)
    np.testing.assert_allclose(factor.diagonal(), np.diag(P), atol=1e-10)
    np.testing.assert_allclose(factor.matrix() @ factor.root, 0, atol=1e-10)
    np.testing.assert_allclose(factor.coefficients(T, 0.01), whole.coefficients(T, 0.01), atol=1e-9)
    alphas = np.array([0.01])
    for one, other in zip(factor.residuals(T, alphas), whole.residuals(T, alphas), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    with pytest.raises(ValueError, match=r"for the ridge 0\.01, not 0\.1"):
        factor.coefficients(T, 0.1)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_an_answer_found_elsewhere_solves_the_normal_equations(seed):
    """However the one solution was found: here by solving for targets and level by themselves."""
    K, p, T = _problem(seed)
    root, alpha = np.sqrt(p), 1e-3
    inverse = np.linalg.inv(root[:, None] * K * root + alpha * np.eye(len(K)))
    level = inverse @ root
    P = inverse - np.outer(level, level) / (root @ level)
    solution = P @ (root[:, None] * T)
    answer = RidgeAnswer(T, solution, alpha * np.diag(P), alpha, root)
    a, b = ridge_regression(K, T, p, alpha)
    np.testing.assert_allclose(answer.coefficients(T, alpha), a, rtol=1e-5, atol=1e-7 / alpha)
    residuals, complements = answer.residuals(T, np.array([alpha]))
    np.testing.assert_allclose(residuals[0], T - K @ a - b, atol=1e-8)
    left_out, fitted = answer.leave_one_out(T, np.array([alpha]), np.ones(len(K)))
    np.testing.assert_allclose(left_out[0], left_out_outputs(K, T, p, alpha), atol=1e-6)
    np.testing.assert_allclose(fitted[0], K @ a + b, atol=1e-8)
    assert complements.shape == (1, len(K))


def test_an_answer_answers_for_its_ridge_and_targets_only():
    _, p, T = _problem(0)
    answer = RidgeAnswer(T, T, p, 0.1, np.sqrt(p))
    for targets, alpha in ((T, 0.2), (T[:, :1], 0.1)):
        with pytest.raises(ValueError, match=r"for the ridge 0\.1 and other targets"):
            answer.coefficients(targets, alpha)
        with pytest.raises(ValueError, match=r"for the ridge 0\.1 and other targets"):
            answer.residuals(targets, np.array([alpha]))


def test_a_matrix_with_a_negative_eigenvalue_beyond_the_ridge_has_no_factor():
    K, p, _ = _problem(0)
    assert factor_kernel(-K, p, 1e-3) is None
    assert factor_kernel(-K, p, 10.0) is not None


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_leaving_out_equals_refitting(seed):
    K, p, T = _problem(seed, n_rows=15)
    basis = decompose_kernel(K, p)
    left_out, fitted = basis.leave_one_out(T, ALPHAS, np.ones(len(K)))
    for k, alpha in enumerate(ALPHAS):
        np.testing.assert_allclose(left_out[k], left_out_outputs(K, T, p, alpha), atol=1e-6)
    np.testing.assert_allclose(fitted, T - basis.residuals(T, ALPHAS)[0])


def test_features_are_a_kernel():
    K, p, T = _problem(1)
    Phi = np.random.default_rng(2).normal(size=(len(K), 40))  # more features than rows
    wide, dual = decompose_features(Phi, p), decompose_kernel(Phi @ Phi.T, p)
    for one, other in zip(
        wide.leave_one_out(T, ALPHAS, np.ones(len(K))),
        dual.leave_one_out(T, ALPHAS, np.ones(len(K))),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-7)
    np.testing.assert_allclose(
        wide.coefficients(T, 0.1), Phi.T @ dual.coefficients(T, 0.1), atol=1e-9
    )


def test_few_features_leave_something_over():
    K, p, T = _problem(3)
    Phi = np.random.default_rng(4).normal(size=(len(K), 3))
    left_out, _ = decompose_features(Phi, p).leave_one_out(T, np.array([0.1]), np.ones(len(K)))
    np.testing.assert_allclose(left_out[0], left_out_outputs(Phi @ Phi.T, T, p, 0.1), atol=1e-8)


def test_squared_kernel_is_the_penalty_on_coefficients():
    K, p, T = _problem(5, n_rows=12)
    basis = decompose_kernel(K @ K.T, p)
    left_out, _ = basis.leave_one_out(T, np.array([1e-2]), np.ones(len(K)))
    np.testing.assert_allclose(left_out[0], row_deleted_outputs(K, T, p, 1e-2), atol=1e-8)


def test_weights_equal_repetition():
    K, _, T = _problem(6, n_rows=10)
    counts = np.array([1, 2, 3, 1, 1, 2, 1, 4, 1, 1.0])
    repeat = np.repeat(np.arange(10), counts.astype(int))
    p = counts / counts.sum()
    T = T - p @ T
    weighted, _ = decompose_kernel(K, p).leave_one_out(T, ALPHAS, 1 / counts)
    K2 = K[np.ix_(repeat, repeat)]
    p2 = np.full(len(repeat), 1 / len(repeat))
    repeated, _ = decompose_kernel(K2, p2).leave_one_out(T[repeat], ALPHAS, np.ones(len(repeat)))
    np.testing.assert_allclose(weighted[:, repeat], repeated, atol=1e-7)


def test_indefinite_kernel_is_refused():
    K = np.array([[1.0, 2, 0], [2, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        decompose_kernel(K, np.full(3, 1 / 3))


def test_landmark_map_keeps_the_kernel_of_its_landmarks():
    K, _, _ = _problem(7)
    span = LandmarkMap(K[:8, :8])
    Phi = span.features(K[:, :8])
    np.testing.assert_allclose(Phi[:8] @ Phi[:8].T, K[:8, :8], atol=1e-7)
    beta = np.random.default_rng(0).normal(size=(8, 2))
    np.testing.assert_allclose(K[:, :8] @ span.dual(beta), Phi @ beta, atol=1e-6)


def test_landmark_map_of_repeated_landmarks():
    span = LandmarkMap(np.ones((4, 4)))
    assert np.isfinite(span.features(np.ones((2, 4)))).all()


def test_landmark_map_refuses_what_is_no_kernel():
    with pytest.raises(ValueError, match="landmarks is not positive"):
        LandmarkMap(-np.eye(3) + 2 * np.ones((3, 3)))


def test_a_constant_kernel_is_no_indefinite_one():
    """What centring leaves of it is rounding, of either sign."""
    rng = np.random.default_rng(0)
    for n in (4, 30, 200):
        p = rng.uniform(0.1, 1, size=n)
        basis = decompose_kernel(np.full((n, n), 7.3), p / p.sum())
        assert basis.values.max(initial=0) < 1e-12


def test_one_row_and_constant_features_have_nothing_to_fit():
    one = np.ones((1, 1))
    for basis in (decompose_kernel(one, np.ones(1)), decompose_features(one, np.ones(1))):
        assert not basis.coefficients(np.zeros((1, 2)), 1.0).any()
        residuals, complements = basis.residuals(np.zeros((1, 2)), np.ones(3))
        assert residuals.shape == (3, 1, 2)
        assert complements.shape == (3, 1)


def test_features_without_variance_have_an_empty_basis():
    basis = decompose_features(np.ones((5, 2)), np.full(5, 0.2))
    residuals, _ = basis.residuals(np.arange(5.0)[:, None] - 2, np.array([0.1, 1.0]))
    np.testing.assert_allclose(residuals[0, :, 0], np.arange(5.0) - 2)


def test_directions_that_a_kernel_does_not_have_get_no_coefficients():
    basis = decompose_kernel(np.ones((4, 4)), np.full(4, 0.25))
    assert (basis.coefficients(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 1e-300) == 0).all()

"""Linear algebra of tensors: the values of NumPy arrays, as tensors."""

import numpy as np
import pytest

from mercer._linalg import add_to_diagonal, cholesky, eigh, solve_triangular
from mercer.spectral import (
    LandmarkMap,
    decompose_features,
    decompose_kernel,
    fix_signs,
    generalized_eigh,
    greedy_selection,
)


@pytest.fixture
def matrices():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 12, 12))
    return A @ A.T, B @ B.T + np.eye(12), rng.normal(size=(12, 3))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_factors(torch, matrices, lower, transposed):
    _, B, targets = matrices
    factor = cholesky(B, lower=lower)
    np.testing.assert_allclose(factor @ factor.T if lower else factor.T @ factor, B)
    found = solve_triangular(factor, targets, lower=lower, transposed=transposed)
    np.testing.assert_allclose((factor.T if transposed else factor) @ found, targets)
    there = cholesky(torch.as_tensor(B), lower=lower)
    np.testing.assert_allclose(there.numpy(), factor)
    tensor = torch.as_tensor(targets)
    solved = solve_triangular(there, tensor, lower=lower, transposed=transposed)
    np.testing.assert_allclose(solved.numpy(), found)


def test_no_factor_of_an_indefinite_matrix(torch):
    A = np.diag([1.0, -1.0])
    assert cholesky(A, lower=True) is None
    assert cholesky(torch.as_tensor(A), lower=True) is None


def test_diagonals_are_added_to_copies(torch, matrices):
    A = matrices[0]
    for value in (2.0, np.arange(12.0)):
        expected = A + np.diag(np.broadcast_to(value, 12))
        for matrix in (A, np.asfortranarray(A)):
            np.testing.assert_array_equal(add_to_diagonal(matrix, value), expected)
        tensor = torch.as_tensor(A)
        found = add_to_diagonal(tensor, value if np.isscalar(value) else torch.as_tensor(value))
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(tensor.numpy(), matrices[0])


def test_eigenpairs(torch, matrices):
    A = matrices[0]
    values, vectors = eigh(A.copy())
    found = eigh(torch.as_tensor(A))
    np.testing.assert_allclose(found[0].numpy(), values, atol=1e-12)
    np.testing.assert_allclose(fix_signs(found[1]).numpy(), fix_signs(vectors), atol=1e-9)


@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("count", [3, None])
@pytest.mark.parametrize("constrained", [True, False])
def test_generalised_eigenproblems(torch, matrices, which, count, constrained):
    A, B, _ = matrices
    pair = (A, B if constrained else None)
    options = {"n_components": count, "which": which, "ridge": 0.1}
    expected = generalized_eigh(*pair, **options)
    tensors = [None if M is None else torch.as_tensor(M) for M in pair]
    for there, here in zip(generalized_eigh(*tensors, **options), expected, strict=True):
        np.testing.assert_allclose(there.numpy(), here, atol=1e-9)


def test_an_indefinite_constraint_is_refused(torch, matrices):
    with pytest.raises(ValueError, match="add a ridge"):
        generalized_eigh(torch.as_tensor(matrices[0]), -torch.eye(12, dtype=torch.float64))


def test_ridge_bases(torch, matrices):
    K, _, targets = matrices
    p = np.arange(1.0, 13) / 78
    targets = targets - p @ targets
    alphas, counts = np.array([1e-3, 1.0]), np.linspace(0.5, 3, 12)
    for decompose, matrix in ((decompose_kernel, K), (decompose_features, K[:, :5])):
        here = decompose(matrix, p)
        there = decompose(torch.as_tensor(matrix), torch.as_tensor(p))
        parts = [torch.as_tensor(A) for A in (targets, counts)]
        for found, expected in zip(
            there.leave_one_out(parts[0], alphas, parts[1]),
            here.leave_one_out(targets, alphas, counts),
            strict=True,
        ):
            np.testing.assert_allclose(found.numpy(), expected, atol=1e-9)
        np.testing.assert_allclose(
            there.coefficients(parts[0], 0.1).numpy(), here.coefficients(targets, 0.1), atol=1e-9
        )
    with pytest.raises(ValueError, match="not positive semi-definite"):
        decompose_kernel(-torch.as_tensor(K), torch.as_tensor(p))


def test_landmarks(torch, matrices):
    _, K, targets = matrices
    here, there = LandmarkMap(K[:6, :6]), LandmarkMap(torch.as_tensor(K[:6, :6]))
    np.testing.assert_allclose(
        there.features(torch.as_tensor(K[:, :6])).numpy(), here.features(K[:, :6]), atol=1e-12
    )
    np.testing.assert_allclose(
        there.dual(torch.as_tensor(targets[:6])).numpy(), here.dual(targets[:6])
    )
    with pytest.raises(ValueError, match="not positive"):
        LandmarkMap(torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64)))


@pytest.mark.parametrize("tol", [0.0, 0.05])
def test_greedy_selection(torch, tol):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 60))
    G, U = A @ A.T / 60 + 0.1 * np.eye(60), rng.normal(size=(60, 4))
    here = greedy_selection(lambda j: G[j], np.diag(G), U, 50, tol)
    T = torch.as_tensor(G)
    there = greedy_selection(lambda j: T[j, :], torch.diagonal(T), torch.as_tensor(U), 50, tol)
    np.testing.assert_array_equal(there.order, here.order)
    np.testing.assert_allclose(there.criterion, here.criterion)
    np.testing.assert_array_equal(T.numpy(), G)

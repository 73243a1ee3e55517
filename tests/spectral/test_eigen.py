"""Eigenproblems: equations hold, conventions hold."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array, random_array

from mercer.spectral import _eigen as module
from mercer.spectral import (
    fix_signs,
    generalized_eigh,
    gram_eigh,
    kernel_principal_axes,
    principal_axes,
    rotate_ties,
    sparse_eigh,
)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 9, 9))
    return A + A.T, B @ B.T + np.eye(9)


@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("count", [3, None])
def test_generalized_pairs(pair, which, ridge, count):
    A, B = pair
    values, V = generalized_eigh(A, B, n_components=count, which=which, ridge=ridge)
    C = B + ridge * np.trace(B) / 9 * np.eye(9)
    np.testing.assert_allclose(A @ V, C @ V * values, atol=1e-10)
    np.testing.assert_allclose(V.T @ C @ V, np.eye(V.shape[1]), atol=1e-10)
    assert (np.diff(values) * (1 if which == "smallest" else -1) > 0).all()
    everything = np.sort(np.linalg.eigvals(np.linalg.solve(C, A)).real)
    expected = everything if which == "smallest" else everything[::-1]
    np.testing.assert_allclose(values, expected[: len(values)], atol=1e-10)


def test_signs_do_not_depend_on_the_solver(pair):
    V = generalized_eigh(pair[0])[1]
    assert (V[np.abs(V).argmax(axis=0), np.arange(9)] > 0).all()
    flips = np.where(np.arange(9) % 2, -1.0, 1.0)
    np.testing.assert_array_equal(fix_signs(V * flips), V)


def test_singular_constraint_says_what_to_do():
    with pytest.raises(ValueError, match="add a ridge"):
        generalized_eigh(np.eye(2), np.zeros((2, 2)))


def _walk(n):
    W = random_array((n, n), density=0.05, rng=np.random.default_rng(0))
    W = W + W.T + diags_array(np.ones(n))
    degree = np.asarray(W.sum(axis=1)).ravel()
    S = diags_array(degree**-0.5) @ W @ diags_array(degree**-0.5)
    return csr_array(S), np.sqrt(degree / degree.sum())


def test_lanczos_finds_what_a_dense_decomposition_finds(monkeypatch):
    S, first = _walk(400)
    dense = sparse_eigh(S, 5, without=first)
    monkeypatch.setattr(module, "_DENSE_BELOW", 10)
    lanczos = sparse_eigh(S, 5, without=first)
    np.testing.assert_allclose(lanczos[0], dense[0], atol=1e-10)
    np.testing.assert_allclose(lanczos[1], dense[1], atol=1e-7)
    np.testing.assert_array_equal(sparse_eigh(S, 5, without=first)[1], lanczos[1])


@pytest.mark.parametrize("below", [10, 10_000])
def test_the_vector_left_out_is_left_out_also_in_a_tie(monkeypatch, below):
    monkeypatch.setattr(module, "_DENSE_BELOW", below)
    S = csr_array(np.kron(np.eye(3), np.full((5, 5), 0.2)))  # three parts: 1 is threefold
    first = np.full(15, 15**-0.5)
    values, V = sparse_eigh(S, 2, without=first)
    np.testing.assert_allclose(values, 1, atol=1e-10)
    np.testing.assert_allclose(first @ V, 0, atol=1e-8)


@pytest.mark.parametrize("below", [10, 10_000])
def test_the_vector_left_out_comes_last_also_where_all_others_are_negative(monkeypatch, below):
    monkeypatch.setattr(module, "_DENSE_BELOW", below)
    S = csr_array((np.ones((15, 15)) - np.eye(15)) / 14)  # all joined to all: 1, then −1/14
    first = np.full(15, 15**-0.5)
    values, V = sparse_eigh(S, 2, without=first)
    np.testing.assert_allclose(values, -1 / 14, atol=1e-10)
    np.testing.assert_allclose(first @ V, 0, atol=1e-8)


@pytest.mark.parametrize("count", [2, 4, 7])
def test_parts_of_a_graph_need_no_iterations(monkeypatch, count):
    monkeypatch.setattr(module, "_DENSE_BELOW", 10)
    blocks = [_walk(n) for n in (60, 90, 120, 50, 80)]
    S = csr_array(block_diag([S for S, _ in blocks]))
    first = np.concatenate([v * np.sqrt(len(v)) for _, v in blocks]) / np.sqrt(S.shape[0])
    values, V = sparse_eigh(S, count, without=first)
    np.testing.assert_allclose(values[:4], 1, atol=1e-12)
    assert (values[4:] < 1 - 1e-6).all()
    np.testing.assert_allclose(S @ V, V * values, atol=1e-10)
    np.testing.assert_allclose(
        V.T @ np.column_stack([V, first]), np.eye(count, count + 1), atol=1e-9
    )


def test_small_gaps():
    """The walk on a path has eigenvalues cos(πk/n), the first of them 3e-6 below 1."""
    n = 1200
    half = np.full(n - 1, 0.5)
    ends = np.zeros(n)
    ends[[0, -1]] = 0.5
    S = csr_array(diags_array([half, ends, half], offsets=[-1, 0, 1]))
    values, V = sparse_eigh(S, 3, without=np.full(n, n**-0.5))
    np.testing.assert_allclose(values, np.cos(np.pi * np.arange(1, 4) / n), atol=1e-12)
    np.testing.assert_allclose(S @ V, V * values, atol=1e-10)


@pytest.mark.parametrize("n", [300, 1500])
def test_smallest_pairs_of_a_gram_matrix(n):
    """Of differences along two paths: their ends give 0, known, and then 2 − 2·cos(πk/n)."""
    path = diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1]).tolil()
    path[-1, -1] = 0.0
    R = csr_array(block_diag([path, path]))
    first = np.full(2 * n, (2 * n) ** -0.5)
    values, V = gram_eigh(R, 5, without=first)
    twice = 2 - 2 * np.cos(np.pi * np.array([1, 1, 2, 2]) / n)
    np.testing.assert_allclose(values, [0, *twice], rtol=1e-9)
    np.testing.assert_allclose(R.T @ (R @ V), V * values, atol=1e-13)
    np.testing.assert_allclose(V.T @ np.column_stack([V, first]), np.eye(5, 6), atol=1e-10)


@pytest.mark.parametrize("n_components", [3, 0.8, None])
def test_principal_axes_by_a_kernel(n_components):
    X = np.random.default_rng(0).normal(size=(40, 5)) * [5, 4, 3, 2, 1]
    centred = X - X.mean(axis=0)
    U, lengths, _ = principal_axes(centred, n_components)
    ours = kernel_principal_axes(X @ X.T, n_components, least=1e-9)
    np.testing.assert_allclose(ours[1], lengths)
    np.testing.assert_allclose(np.abs(np.diag(ours[0].T @ U)), 1)


@pytest.mark.parametrize("shape", [(30, 6), (6, 30), (200, 8)])
def test_principal_axes(shape, monkeypatch):
    monkeypatch.setattr(module, "_QUICK_SVD", 10_000)  # the last shape goes by the covariance
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) @ np.diag(np.linspace(1, 3, shape[1]))
    X[:, 1] = X[:, 0]  # one dimension less
    X -= X.mean(axis=0)
    U, lengths, axes = principal_axes(X)
    rank = np.linalg.matrix_rank(X)
    assert U.shape == (shape[0], rank)
    np.testing.assert_allclose((U * lengths) @ axes, X, atol=1e-9)
    np.testing.assert_allclose(axes @ axes.T, np.eye(rank), atol=1e-10)
    np.testing.assert_allclose(U.T @ U, np.eye(rank), atol=1e-7)
    assert (np.diff(lengths) < 0).all()
    np.testing.assert_allclose(lengths, np.linalg.svd(X)[1][:rank], rtol=1e-7)


def test_share_of_variance_and_count():
    X = np.diag([3.0, 2.0, 1.0])  # shares 9/14, 13/14, 1
    assert [len(principal_axes(X, share)[1]) for share in (0.5, 0.65, 0.92, 0.95)] == [1, 2, 2, 3]
    assert len(principal_axes(X, np.float32(0.65))[1]) == 2
    assert [len(principal_axes(X, count)[1]) for count in (0, 1, np.int64(2), 9)] == [0, 1, 2, 3]


def test_ties_are_settled_by_the_second_matrix():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    values = np.array([0, 0, 0, 1.0, 2.0, 3.0])
    S = rng.normal(size=(6, 6))
    S = S @ S.T
    mixed = Q.copy()
    mixed[:, :3] = Q[:, :3] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one, two = (rotate_ties(values, V, S, tol=1e-9) for V in (Q, mixed))
    np.testing.assert_allclose(one, two, atol=1e-10)  # the mixture put in does not matter
    np.testing.assert_array_equal(one[:, 3:], Q[:, 3:])
    inner = one[:, :3].T @ S @ one[:, :3]
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-10)
    assert (np.diff(np.diag(inner)) < 0).all()


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e200])
def test_a_share_of_the_variance_has_no_scale(scale):
    X = np.random.default_rng(0).normal(size=(20, 4)) * [4, 3, 2, 1]
    U, lengths, axes = principal_axes((X - X.mean(axis=0)) * scale, 0.8)
    expected = len(principal_axes(X - X.mean(axis=0), 0.8)[1]) if scale else 0
    assert U.shape == (20, expected)
    assert len(lengths) == len(axes) == expected


def test_principal_axes_of_equal_rows_hold_no_share():
    assert principal_axes(np.zeros((3, 2)), 0.9)[1].size == 0


def test_eigenvalues_that_lapack_loses():
    """LAPACK returns fewer eigenvalues than were asked for."""
    A = np.eye(18) + 1e-40
    assert generalized_eigh(A, n_components=2, which="largest")[0].shape == (2,)

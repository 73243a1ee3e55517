"""Factors of kernel matrices."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.spectral import partial_cholesky, pivoted_cholesky


def test_factor_of_full_and_of_low_rank():
    rng = np.random.default_rng(0)
    for rank in (3, 20):
        A = rng.normal(size=(20, rank))
        F = pivoted_cholesky(A @ A.T)
        assert F.shape == (20, rank)
        np.testing.assert_allclose(F @ F.T, A @ A.T, atol=1e-12)


def test_a_smooth_kernel_has_a_thin_factor():
    X = np.random.default_rng(0).normal(size=(200, 2))
    K = rbf_kernel(X, gamma=0.05)
    F = pivoted_cholesky(K)
    assert F.shape[1] < 100
    np.testing.assert_allclose(F @ F.T, K, atol=1e-11)


@pytest.mark.parametrize("K", [np.diag([1.0, -1.0]), np.array([[1.0, 2.0], [2.0, 1.0]])])
def test_an_indefinite_matrix_is_refused(K):
    with pytest.raises(ValueError, match="not positive semidefinite"):
        pivoted_cholesky(K)


def test_nought_is_refused():
    with pytest.raises(ValueError, match="positive diagonal"):
        pivoted_cholesky(np.zeros((3, 3)))


def test_columns_are_explained_exactly():
    X = np.random.default_rng(0).normal(size=(150, 3))
    K = rbf_kernel(X, gamma=0.3)
    F, pivots = partial_cholesky(K.diagonal(), lambda i: K[:, i], 40, np.random.default_rng(1))
    assert F.shape == (150, 40)
    assert len(set(pivots)) == 40
    np.testing.assert_allclose(F @ F[pivots].T, K[:, pivots], atol=1e-10)
    np.testing.assert_array_equal(F[pivots], np.tril(F[pivots]))
    residual = np.diag(K - F @ F.T)
    assert residual.min() > -1e-12
    assert residual.sum() < 0.05 * 150


def test_it_stops_at_the_rank():
    A = np.random.default_rng(0).normal(size=(30, 4))
    K = A @ A.T
    F, pivots = partial_cholesky(K.diagonal(), lambda i: K[:, i], 30, np.random.default_rng(1))
    assert F.shape[1] == len(pivots) == 4
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)


def test_residual_is_what_draws_the_pivots():
    # One far row in a hundred copies: uniform draws of two would miss it nearly always.
    K = np.ones((101, 101))
    K[100, :], K[:, 100] = 0, 0
    K[100, 100] = 1
    for seed in range(20):
        _, pivots = partial_cholesky(
            K.diagonal(), lambda i: K[:, i], 2, np.random.default_rng(seed)
        )
        assert 100 in pivots


def test_a_kernel_that_is_nought_has_no_landmarks():
    with pytest.raises(ValueError, match="The kernel is 0 for all rows"):
        partial_cholesky(np.zeros(3), lambda i: np.zeros(3), 2, np.random.default_rng(0))

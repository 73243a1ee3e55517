"""Rows, kernels, weights and ridges at the ends of floating point, each found by torture."""

from itertools import product

import numpy as np
import pytest

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant

rng = np.random.default_rng(0)
X = np.r_[rng.normal(0, 1, (6, 2)), rng.normal(4, 1, (6, 2))]
y = np.repeat([0, 1], 6)


def test_equal_rows_have_a_kernel_that_is_positive():
    """A constant kernel matrix was refused as not positive semi-definite, for its rounding."""
    model = KernelFisherDiscriminant(penalty="coef", alpha=1e-3).fit(np.zeros((40, 3)), [0, 1] * 20)
    np.testing.assert_allclose(model.predict_proba([[0.0, 0, 0]]), 0.5)
    KernelFisherDiscriminant().fit(np.full((40, 3), 0.1), [0, 1] * 20)


def test_rows_that_are_close_keep_the_digits_of_their_distance():
    """Products lose 1e-8 beside 1e8: the kernel of the near pair was 1 or 0 by chance."""
    rows = np.array([[0.0], [1e-8], [1.0], [1e8]])
    model = KernelFisherDiscriminant(gamma=1e15, alpha=1e-3).fit(rows, [0, 1, 0, 1])
    K = model._kernel.matrix(rows, rows)
    assert K[0, 1] == pytest.approx(np.exp(-0.1))


@pytest.mark.parametrize("alpha", [1e-300, 1e300])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_a_ridge_beyond_all_proportion(alpha, penalty):
    for seed in range(1, 5):
        rows = np.random.default_rng(seed).normal(size=(4, 1))
        for kernel, n_landmarks in product(["rbf", "laplacian", "linear"], [None, 2]):
            model = KernelFisherDiscriminant(
                kernel=kernel, gamma=5.0, alpha=alpha, penalty=penalty,
                n_landmarks=n_landmarks, random_state=0,
            )  # fmt: skip
            assert np.isfinite(model.fit(rows, [0, 0, 1, 1]).decision_function(rows)).all()
    model = SparseKernelFisherDiscriminant(alpha=alpha, penalty=penalty, random_state=0)
    assert np.isfinite(model.fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_kernels_without_squares_are_refused_by_name(kernel):
    for model in (
        KernelFisherDiscriminant(kernel=kernel, gamma=1.0),
        SparseKernelFisherDiscriminant(kernel=kernel, gamma=1.0),
    ):
        with pytest.raises(ValueError, match=f"kernel='{kernel}' takes values of size"):
            model.fit(X * 1e80, y)


def test_new_rows_beyond_a_polynomial_are_refused():
    model = KernelFisherDiscriminant(kernel="poly", gamma=1.0, alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match="X has rows so large that kernel='poly'"):
        model.predict(X * 1e140)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly"])
@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_sparse_fisher_on_rows_that_are_all_the_same(kernel, penalty):
    """No node raised the criterion: none was taken, and the fit failed on empty arrays."""
    for alpha in ("gcv", "loo", 1e-3):
        model = SparseKernelFisherDiscriminant(kernel=kernel, penalty=penalty, alpha=alpha)
        model.fit(np.zeros((8, 2)), [0] * 5 + [1] * 3)
        assert model.n_nodes_ == 1
        np.testing.assert_array_equal(model.predict([[0.0, 0.0]]), [0])


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_sparse_fisher_where_one_row_has_all_the_weight(kernel):
    """The scatter about an unweighted mean was rounding, and the nodes' matrix indefinite."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows, weights = rng.normal(size=(5, 8)), 10.0 ** rng.uniform(-49, 49, 5)
        rows[seed % 5] *= 1e12
        model = SparseKernelFisherDiscriminant(
            kernel=kernel, gamma="scale", penalty="coef", alpha="gcv"
        )
        model.fit(rows, [0, 1, 0, 1, 0], sample_weight=weights)
        assert np.isfinite(model.decision_function(rows)).all()


def test_sparse_fisher_within_classes_that_have_no_scatter():
    """Scatter within classes, a difference, was indefinite by rounding, and gains overflowed."""
    rows = np.array([[-1.6, 0], [-0.16, -0.8], [0.2, 0.95], [2.4, 0], [0, 0], [0, 0.3]])
    weights = [2.7, 9e-6, 4e12, 3e-7, 5e26, 2e-30]
    model = SparseKernelFisherDiscriminant(
        kernel="poly", gamma=1e28, alpha=1e-3, penalty="coef", criterion="within", scatter="sum"
    )
    model.fit(rows, [2, 2, 0, 0, 1, 1], sample_weight=weights)
    assert np.isfinite(model.decision_function(rows)).all()


def test_numbers_without_squares_are_refused_by_column():
    large = X.copy()
    large[3, 1] = 1e160
    with pytest.raises(
        ValueError, match=r"X contains 1e\+160 in row 3, column 1: squares of numbers beyond"
    ):
        KernelFisherDiscriminant().fit(large, y)
    with pytest.raises(
        ValueError, match=r"X varies by .* at most: squares of differences below 1e-150"
    ):
        KernelFisherDiscriminant().fit(X * 1e-160, y)

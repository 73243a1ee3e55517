"""Locality preserving and Roweis–Saul projections in the feature space of a kernel."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from mercer.projections import LocalityPreservingProjection, RoweisSaulProjection
from oracles import projections as oracle

BOTH = [LocalityPreservingProjection, RoweisSaulProjection]
GAMMA = 0.1


def data(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return 2 * rng.normal(size=(3, d))[y] + rng.normal(size=(n, d)), y


def centred_kernel(X):
    H = np.eye(len(X)) - 1 / len(X)
    return H @ rbf_kernel(X, gamma=GAMMA) @ H


def assert_same(Z, expected, atol=1e-6):
    np.testing.assert_allclose(
        oracle.align_signs(Z, expected), expected, atol=atol * np.abs(expected).max()
    )


@pytest.mark.parametrize("seed", range(3))
def test_kernel_lpp_is_its_eigenproblem(seed):
    """K L K α = λ K D K α on the axes that hold any variance, with weights of the feature space."""
    X, _ = data(seed, n=25, d=6)
    K = centred_kernel(X)
    squares = np.diag(K)[:, np.newaxis] + np.diag(K) - 2 * K
    E = oracle.knn_edges(X, 8)  # The nearest rows are the nearest in the space of this kernel.
    W = np.where(E | E.T, np.exp(-0.5 * squares / 0.7**2), 0.0)
    D, L = np.diag(W.sum(axis=1)), oracle.laplacian(W)
    values, axes = eigh(K)
    axes = axes[:, values > 1e-8 * values[-1]]
    ratios, mix = eigh(axes.T @ K @ L @ K @ axes, axes.T @ K @ D @ K @ axes)
    alpha = axes @ mix[:, :3]

    lpp = LocalityPreservingProjection(
        n_components=3, kernel="rbf", gamma=GAMMA, affinity_width=0.7, n_neighbors=8
    ).fit(X)
    np.testing.assert_allclose(lpp.eigenvalues_, ratios[:3], atol=1e-9)
    assert_same(lpp.transform(X), K @ alpha)
    new, _ = data(seed + 9, n=7, d=6)
    with_new = rbf_kernel(new, X, gamma=GAMMA) - rbf_kernel(X, gamma=GAMMA).mean(axis=0)
    assert_same(lpp.transform(new), with_new @ (alpha - alpha.mean(axis=0)))


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("supervised", [False, True])
@pytest.mark.parametrize("unit_length", [False, True])
def test_they_are_kernel_pca_and_the_linear_projection(cls, supervised, unit_length):
    X, y = data()
    options = {
        "n_components": 3, "pca_components": 0.99, "unit_length": unit_length,
        "neighborhood": "class_knn" if supervised else "knn",
    }  # fmt: skip
    ours = cls(kernel="rbf", gamma=GAMMA, **options).fit(X, y)
    pipeline = make_pipeline(KernelPCA(kernel="rbf", gamma=GAMMA), cls(**options)).fit(X, y)
    np.testing.assert_allclose(ours.eigenvalues_, pipeline[-1].eigenvalues_, rtol=1e-6)
    new, _ = data(3)
    for rows in (X, new):
        assert_same(ours.transform(rows), pipeline.transform(rows))


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("kernel", ["poly", np.dot])
def test_a_kernel_of_inner_products_is_the_linear_method(cls, kernel):
    X, y = data()
    linear = cls(n_components=2).fit(X, y)
    ours = cls(n_components=2, kernel=kernel, gamma=1.0, degree=1, coef0=0.0).fit(X, y)
    np.testing.assert_allclose(ours.eigenvalues_, linear.eigenvalues_, rtol=1e-7)
    assert_same(ours.transform(X + 1), linear.transform(X + 1))


@pytest.mark.parametrize("cls", BOTH)
def test_attributes_and_faults(cls):
    X, y = data()
    ours = cls(n_components=2, kernel="rbf").fit(X, y)
    assert ours.dual_coef_.shape == (60, 2)
    assert ours.n_components_ == 2
    assert not hasattr(ours, "components_")
    with pytest.raises(ValueError, match="inverse_transform is for kernel='linear'"):
        ours.inverse_transform(ours.transform(X))
    longest = X[:1] * 1e200
    with pytest.raises(ValueError, match="X"):
        ours.transform(longest)
    with pytest.raises(ValueError, match="X has no variance"):
        ours.fit(np.ones((20, 2)), np.arange(20) % 2)

"""The map of the Laplacian matrix, against a dense eigendecomposition of the paper's matrix."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel

from classifiers.samples import SAMPLES, assert_close, ring
from mercer import LaplacianFeatureMap
from mercer.projections import _laplacian_feature_map as module
from oracles import classifiers as oracle

DENSITIES = ["parzen", "mercer", None]


def align(Z, target):
    """Signs of columns as the target's."""
    return Z * np.sign((Z * target).sum(axis=0))


def unit(d, density):
    """By how much K_f is larger than the paper's, as its docstring says: peaks are taken as 1."""
    return {"parzen": 2 ** (d / 2), "mercer": 1.0}[density]


@pytest.mark.parametrize("density", ["parzen", "mercer"])
@pytest.mark.parametrize("name", ["gaussians", "ring", "moons", "wine", "iris"])
def test_equation_22(name, density):
    X = SAMPLES[name][0]
    h, d = 0.5, X.shape[1]
    model = LaplacianFeatureMap(4, bandwidth=h, density=density)
    Z = model.fit_transform(X)
    expected, values, vectors = oracle.feature_map(X, h, 4, density)
    scale = unit(d, density)
    np.testing.assert_allclose(model.eigenvalues_, scale * values, rtol=1e-9)
    assert_close(align(Z, expected), np.sqrt(scale) * expected, 1e-7)
    assert_close(align(model.eigenvectors_, vectors), vectors, 1e-7)
    n = len(X)
    peak = (2 * np.pi * h**2 * (2 if density == "mercer" else 1)) ** (-d / 2)
    f = oracle.Sample.of(X, np.zeros(n), h, density).f / peak
    assert_close(model.weights_, f**-0.5)


@pytest.mark.parametrize("name", ["gaussians", "ring", "wine"])
def test_without_density_it_is_uncentred_kernel_pca(name):
    X = SAMPLES[name][0]
    h = 0.7
    model = LaplacianFeatureMap(3, bandwidth=h, density=None)
    Z = model.fit_transform(X)
    K = rbf_kernel(X, gamma=1 / (4 * h**2))
    values, vectors = np.linalg.eigh(K)
    expected = (np.sqrt(values) * vectors)[:, ::-1][:, :3]
    assert_close(align(Z, expected), expected, 1e-8)
    assert_close(model.weights_, np.ones(len(X)))
    # Kernel PCA itself centres: the same map of a centred matrix.
    n = len(X)
    H = np.eye(n) - 1 / n
    pca = KernelPCA(3, kernel="rbf", gamma=1 / (4 * h**2)).fit_transform(X)
    assert_close(np.abs(pca), np.abs(KernelPCA(3, kernel="precomputed").fit_transform(H @ K @ H)))


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("name", ["gaussians", "ring", "wine"])
def test_training_rows_map_alike_by_both_ways(name, density):
    X = SAMPLES[name][0]
    model = LaplacianFeatureMap(5, bandwidth=0.6, density=density)
    Z = model.fit_transform(X)
    assert_close(model.transform(X), Z, 1e-8)
    assert_close(
        LaplacianFeatureMap(5, bandwidth=0.6, density=density).fit(X).transform(X), Z, 1e-8
    )


@pytest.mark.parametrize("density", ["parzen", "mercer"])
def test_new_rows_by_nystroms_formula(density):
    X, new = SAMPLES["wine"][0][::2], SAMPLES["wine"][0][1::2]
    h = 1.0
    model = LaplacianFeatureMap(4, bandwidth=h, density=density).fit(X)
    expected = oracle.extended_map(X, new, h, 4, density) * np.sqrt(unit(X.shape[1], density))
    assert_close(align(model.transform(new), expected), expected, 1e-7)


@pytest.mark.parametrize("density", DENSITIES)
def test_the_matrix_free_path_is_the_dense_one(density, monkeypatch):
    X = ring(300)[0]
    dense = LaplacianFeatureMap(4, bandwidth=0.6, density=density).fit(X)
    monkeypatch.setattr(module, "_DENSE_BELOW", 100)
    monkeypatch.setattr(module, "generalized_eigh", None)  # not called
    free = LaplacianFeatureMap(4, bandwidth=0.6, density=density).fit(X)
    np.testing.assert_allclose(free.eigenvalues_, dense.eigenvalues_, rtol=1e-9)
    assert_close(free.transform(X), dense.transform(X), 1e-7)


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("distance", [10.0, 1e3, 1e6, 1e9])
def test_far_points_are_finite(density, distance):
    X = SAMPLES["gaussians"][0]
    model = LaplacianFeatureMap(3, bandwidth=0.5, density=density).fit(X)
    new = np.array([[distance, 0, 0], [0, -distance, distance]])
    Z = model.transform(new)
    assert np.isfinite(Z).all()
    if density == "parzen" and distance > 100:
        # The nearest row alone: K_f = k/√(f̂ f̂_l), with k² the window in f̂, so that k/√f̂(x) → √N.
        for x, z in zip(new, Z, strict=True):
            nearest = ((X - x) ** 2).sum(axis=1).argmin()
            a = model.weights_[nearest] * np.sqrt(len(X))
            expected = a * model.eigenvectors_[nearest] / np.sqrt(model.eigenvalues_)
            assert_close(z, expected, 1e-9 if distance > 1e4 else 1e-2)
    if density in ("mercer", None) and distance > 100:
        assert_close(Z, np.zeros_like(Z), 1e-9)


@pytest.mark.parametrize("density", ["parzen", "mercer"])
def test_far_sums_are_the_near_ones(density):
    X = SAMPLES["gaussians"][0]
    model = LaplacianFeatureMap(3, bandwidth=0.5, density=density).fit(X)
    new = X + 2.0
    expansion = model.weights_[:, None] * model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    assert_close(model._far_sums(new, expansion), model.transform(new))


@pytest.mark.parametrize("density", DENSITIES)
def test_more_components_than_directions(density):
    """Repeated rows leave eigenvalues of 0: no noise from them, in training or after."""
    X = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    model = LaplacianFeatureMap(12, bandwidth=1.0, density=density)
    Z = model.fit_transform(X)
    assert np.count_nonzero(model.eigenvalues_) == 4
    assert_close(model.transform(X), Z, 1e-7)
    assert (Z[:, 4:] == 0).all()
    assert (model.transform(X[:3] + 0.1)[:, 4:] == 0).all()


def test_groups_lie_along_their_own_directions():
    """LC Fig. 1 (b): far groups, one coordinate axis each."""
    X = np.r_[np.random.default_rng(0).normal(size=(30, 2)), [[100.0, 0]] * 30]
    X[30:] += np.random.default_rng(1).normal(size=(30, 2))
    Z = LaplacianFeatureMap(2, bandwidth=1.0).fit_transform(X)
    inner = Z[:30] @ Z[30:].T
    assert np.abs(inner).max() < 1e-9
    lengths = np.linalg.norm(Z, axis=1)
    cosines = (Z[:30] @ Z[:30].T) / np.outer(lengths[:30], lengths[:30])
    assert cosines.min() > 1 - 1e-9


def test_single_precision():
    X = SAMPLES["wine"][0]
    single, double = (
        LaplacianFeatureMap(3, bandwidth=1.0).fit_transform(X.astype(t)) for t in ("f4", "f8")
    )
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_too_many_components():
    with pytest.raises(
        ValueError, match="n_components=3 is more than the number of rows, n_samples=2"
    ):
        LaplacianFeatureMap(3).fit([[0.0], [1.0]])


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("dense", [True, False])
def test_tensors_map_as_arrays(torch, monkeypatch, density, dense):
    if not dense:
        monkeypatch.setattr(module, "_DENSE_BELOW", 10)
    X = SAMPLES["wine"][0]
    new = np.vstack([X[:5] + 0.1, X[:1] + 300.0])  # the last is far from all
    here = LaplacianFeatureMap(3, bandwidth=1.0, density=density)
    there = LaplacianFeatureMap(3, bandwidth=1.0, density=density)
    expected, found = here.fit_transform(X), there.fit_transform(torch.as_tensor(X))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-7)
    moved = there.transform(torch.as_tensor(new))
    np.testing.assert_allclose(moved.numpy(), here.transform(new), atol=1e-7)
    for name in ("X_fit_", "eigenvalues_", "eigenvectors_", "weights_"):
        assert torch.is_tensor(getattr(there, name)), name
    single = there.fit_transform(torch.as_tensor(X.astype(np.float32)))
    assert single.dtype == torch.float32
    with pytest.raises(ValueError, match="put both in one place"):
        there.transform(new)

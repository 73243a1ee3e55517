"""Laplacian eigenmaps and their extension to new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from sklearn.datasets import make_blobs, make_moons, make_swiss_roll
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import KNeighborsRegressor

from mercer.graphs import _search
from mercer.projections import LaplacianEigenmaps
from mercer.spectral import _eigen
from oracles import projections as oracle


@pytest.fixture
def X():  # noqa: N802
    return make_moons(150, noise=0.1, random_state=0)[0]


@pytest.mark.parametrize("k", [5, 20])
def test_training_rows_are_eigenvectors(X, k):
    maps = LaplacianEigenmaps(n_components=3, n_neighbors=k, affinity_width=0.3).fit(X)
    Y, values = oracle.eigenmaps(X, k, 0.3, 3)
    np.testing.assert_allclose(maps.eigenvalues_, values, atol=1e-10)
    np.testing.assert_allclose(oracle.align_signs(maps.embedding_, Y), Y, atol=1e-7)


@settings(max_examples=20)
@given(
    st.integers(0, 1000),
    st.sampled_from(["knn", "radius"]),
    st.sampled_from(["heat", "binary"]),
    st.booleans(),
)
def test_transform_of_training_rows_is_the_embedding(seed, neighborhood, affinity, copies):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    if copies:
        X[20:30] = X[:10]
        X = X.round(1)  # and ties
    maps = LaplacianEigenmaps(
        n_components=2, n_neighbors=7, neighborhood=neighborhood, affinity=affinity
    )
    Y = maps.fit_transform(X)
    np.testing.assert_allclose(maps.transform(X), Y, atol=1e-7 * np.abs(Y).max())
    np.testing.assert_allclose(maps.transform(X[13:14]), Y[13:14], atol=1e-7 * np.abs(Y).max())


def test_the_same_by_lanczos_iterations(X, monkeypatch):
    dense = LaplacianEigenmaps().fit_transform(X)
    monkeypatch.setattr(_eigen, "_DENSE_BELOW", 10)
    maps = LaplacianEigenmaps().fit(X)
    np.testing.assert_allclose(maps.embedding_, dense, atol=1e-6)
    np.testing.assert_allclose(maps.transform(X), maps.embedding_, atol=1e-7)


def test_large_tables_take_another_way_to_the_same_map(monkeypatch):
    """More rows than the search by products takes, and than a dense decomposition does."""
    monkeypatch.setattr(_search, "_MANY_PAIRS", 400**2)
    monkeypatch.setattr(_eigen, "_DENSE_BELOW", 200)
    rng = np.random.default_rng(0)
    X = np.tanh(rng.normal(size=(420, 3)) @ rng.normal(size=(3, 8)))
    maps = LaplacianEigenmaps(n_components=3, affinity_width=0.5).fit(X)
    Y, values = oracle.eigenmaps(X, 10, 0.5, 3)
    np.testing.assert_allclose(maps.eigenvalues_, values, atol=1e-10)
    assert subspace_angles(maps.embedding_, Y).max() < 1e-8
    np.testing.assert_allclose(maps.transform(X), maps.embedding_, atol=1e-9)
    np.testing.assert_array_equal(
        maps.embedding_, LaplacianEigenmaps(n_components=3, affinity_width=0.5).fit_transform(X)
    )


def test_new_rows_land_between_their_neighbours():
    X, t = make_swiss_roll(1200, noise=0.05, random_state=0)
    maps = LaplacianEigenmaps(n_components=2, n_neighbors=12).fit(X[:1000])
    along = KNeighborsRegressor(5).fit(maps.embedding_, t[:1000])
    assert along.score(maps.transform(X[1000:]), t[1000:]) > 0.99


def test_it_is_scikit_learns_embedding_up_to_scale_without_transform(X):
    W = oracle.heat_or_graph(X, 10, 0.3)
    np.fill_diagonal(W, 1.0)
    theirs = SpectralEmbedding(2, affinity="precomputed", random_state=0).fit_transform(W)
    ours = LaplacianEigenmaps(n_neighbors=10, affinity_width=0.3).fit_transform(X)
    for k in range(2):
        assert abs(np.corrcoef(theirs[:, k], ours[:, k])[0, 1]) > 0.999


def test_embedding_is_centred_and_of_unit_variance(X):
    maps = LaplacianEigenmaps(n_components=3, affinity="binary", n_neighbors=6).fit(X)
    E = oracle.knn_edges(X, 6)
    degree = (E | E.T | np.eye(150, dtype=bool)).sum(axis=1)
    Y = maps.embedding_
    np.testing.assert_allclose(degree @ Y, 0, atol=1e-8 * degree.sum())
    np.testing.assert_allclose(Y.T @ (degree[:, None] * Y) / degree.sum(), np.eye(3), atol=1e-8)


def test_parts_are_counted_and_told_apart():
    X, y = make_blobs(60, 2, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    maps = LaplacianEigenmaps(n_neighbors=5).fit(X)
    assert maps.n_connected_components_ == 3
    np.testing.assert_allclose(maps.eigenvalues_, 0, atol=1e-10)
    for c in range(3):
        np.testing.assert_allclose(np.ptp(maps.embedding_[y == c], axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(
        maps.transform([[50.0, 1.0]])[0], maps.embedding_[y == 1][0], atol=1e-6
    )


def test_a_far_row_follows_the_nearest_ones(X):
    for neighborhood in ("knn", "radius"):
        maps = LaplacianEigenmaps(neighborhood=neighborhood, radius=0.5).fit(X)
        far = maps.transform([[1e6, 1e6]])
        assert np.isfinite(far).all()
        nearest = maps.embedding_[(X @ [1, 1]).argmax()] / (1 - maps.eigenvalues_)
        np.testing.assert_allclose(far[0], nearest, rtol=1e-6)


def test_names(X):
    maps = LaplacianEigenmaps(n_components=2).fit(X)
    assert maps.get_feature_names_out().tolist() == ["laplacianeigenmaps0", "laplacianeigenmaps1"]

"""Locally linear embedding and its extension to new rows."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn import config_context, manifold
from sklearn.datasets import make_blobs, make_swiss_roll

from mercer.graphs import neighbor_graph, new_row_weights, reconstruction_weights
from mercer.projections import LocallyLinearEmbedding
from mercer.spectral import _eigen
from oracles import projections as oracle


def curved(n, seed=0):
    """Rows near a curved surface of three dimensions in eight columns."""
    rng = np.random.default_rng(seed)
    return np.tanh(rng.normal(size=(n, 3)) @ np.random.default_rng(9).normal(size=(3, 8)))


@pytest.fixture
def X():  # noqa: N802
    return curved(200)


def residual(X, k, reg=1e-3):
    return np.eye(len(X)) - oracle.reconstruction(X, oracle.knn_edges(X, k), reg)


@pytest.mark.parametrize(("k", "reg"), [(6, 1e-3), (15, 1e-2)])
def test_training_rows_are_eigenvectors(X, k, reg):
    maps = LocallyLinearEmbedding(n_components=3, n_neighbors=k, reg=reg).fit(X)
    R, Y = residual(X, k, reg), maps.embedding_
    M = R.T @ R
    np.testing.assert_allclose(maps.eigenvalues_, np.linalg.eigvalsh(M)[1:4], rtol=1e-6)
    np.testing.assert_allclose(M @ Y, Y * maps.eigenvalues_, atol=1e-11)
    np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize(("k", "reg"), [(6, 1e-3), (15, 1e-2)])
def test_it_is_scikit_learns_embedding(X, k, reg):
    theirs = manifold.LocallyLinearEmbedding(
        n_components=3, n_neighbors=k, reg=reg, eigen_solver="dense"
    ).fit(X)
    ours = LocallyLinearEmbedding(n_components=3, n_neighbors=k, reg=reg).fit(X)
    expected = oracle.align_signs(theirs.embedding_, ours.embedding_)
    np.testing.assert_allclose(ours.embedding_, expected, atol=1e-7)
    new = curved(50, seed=1)
    signs = np.sign((theirs.embedding_ * ours.embedding_).sum(axis=0))
    np.testing.assert_allclose(ours.transform(new), theirs.transform(new) * signs, atol=1e-6)


def test_large_tables_take_another_way_to_the_same_map(monkeypatch):
    X = curved(2100)
    maps = LocallyLinearEmbedding(n_components=3).fit(X)
    np.testing.assert_array_equal(
        maps.embedding_, LocallyLinearEmbedding(n_components=3).fit_transform(X)
    )
    R = np.eye(len(X)) - reconstruction_weights(X, neighbor_graph(X)).toarray()
    np.testing.assert_allclose(
        R.T @ (R @ maps.embedding_), maps.embedding_ * maps.eigenvalues_, atol=1e-13
    )
    monkeypatch.setattr(_eigen, "_DENSE_BELOW", 10_000)
    dense = LocallyLinearEmbedding(n_components=3).fit(X)
    np.testing.assert_allclose(maps.eigenvalues_, dense.eigenvalues_, rtol=1e-6)
    assert subspace_angles(maps.embedding_, dense.embedding_).max() < 1e-6


def test_a_swiss_roll_is_unrolled():
    X, t = make_swiss_roll(2000, random_state=0)
    maps = LocallyLinearEmbedding(n_neighbors=12).fit(X[:1500])
    for Z, along in ((maps.embedding_, t[:1500]), (maps.transform(X[1500:]), t[1500:])):
        assert np.abs(np.corrcoef(np.column_stack([Z, along]).T)[2, :2]).max() > 0.95


def test_training_rows_get_their_own_coordinates(X):
    maps = LocallyLinearEmbedding().fit(X)
    np.testing.assert_array_equal(maps.transform(X), maps.embedding_)
    with config_context(working_memory=0.01):
        np.testing.assert_array_equal(maps.transform(X), maps.embedding_)


def test_copies_get_the_mean_of_their_coordinates(X):
    X = np.vstack([X, X[:20], X[:10]])
    maps = LocallyLinearEmbedding(n_neighbors=8).fit(X)
    Y = maps.embedding_
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(
        maps.transform(X[:10]), (Y[:10] + Y[200:210] + Y[220:]) / 3, atol=1e-15
    )
    np.testing.assert_allclose(maps.transform(X[10:20]), (Y[10:20] + Y[210:220]) / 2, atol=1e-15)


def test_weights_of_new_rows_add_up_to_one_and_rebuild_them():
    rng = np.random.default_rng(0)
    Y, X = rng.normal(size=(90, 3)), 0.3 * rng.normal(size=(40, 3))
    W = new_row_weights(X, Y, 8, reg=1e-9)
    assert W.shape == (40, 90)
    assert W.nnz == 40 * 8
    np.testing.assert_allclose(W.sum(axis=1), 1)
    np.testing.assert_allclose(W @ Y, X, atol=1e-6)


def test_place_scale_and_rotation_say_nothing(X):
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(8, 8)))[0]
    new = curved(30, seed=2)
    maps = LocallyLinearEmbedding().fit(X)
    moved = LocallyLinearEmbedding().fit(3.7 * X @ rotation + 5.0)
    np.testing.assert_allclose(moved.embedding_, maps.embedding_, atol=1e-7)
    np.testing.assert_allclose(
        moved.transform(3.7 * new @ rotation + 5.0), maps.transform(new), atol=1e-7
    )


@pytest.mark.parametrize("below", [10, 10_000])
def test_parts_are_counted_and_told_apart(monkeypatch, below):
    monkeypatch.setattr(_eigen, "_DENSE_BELOW", below)
    X, y = make_blobs(90, 2, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    maps = LocallyLinearEmbedding(n_components=4, n_neighbors=8).fit(X)
    assert maps.n_connected_components_ == 3
    np.testing.assert_array_equal(maps.eigenvalues_[:2], 0)
    assert (maps.eigenvalues_[2:] > 1e-9).all()
    Y = maps.embedding_
    for c in range(3):
        np.testing.assert_allclose(np.ptp(Y[y == c, :2], axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(Y.T @ np.column_stack([Y, np.ones(90)]), np.eye(4, 5), atol=1e-10)
    np.testing.assert_allclose(maps.transform([[50.0, 1.0]])[0, :2], Y[y == 1][0, :2], atol=1e-12)
    alone = LocallyLinearEmbedding(n_components=1, n_neighbors=8).fit(X)
    assert alone.embedding_.shape == (90, 1)


@pytest.mark.parametrize("below", [10, 10_000])
def test_where_nobody_points_back_more_vectors_are_of_value_nought(monkeypatch, below):
    """Two rows between two groups are rebuilt from them and each other, the groups from neither."""
    monkeypatch.setattr(_eigen, "_DENSE_BELOW", below)
    rng = np.random.default_rng(0)
    groups = [rng.normal(size=(40, 2)) + np.array([20.0 * side, 0.0]) for side in (-1, 1)]
    X = np.vstack([*groups, [[-1.0, 0.0], [0.5, 1.0]]])
    maps = LocallyLinearEmbedding(n_components=2, n_neighbors=8).fit(X)
    assert maps.n_connected_components_ == 1
    R = residual(X, 8)
    Y = maps.embedding_
    np.testing.assert_allclose(R.T @ (R @ Y), Y * maps.eigenvalues_, atol=1e-12)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-12)
    assert maps.eigenvalues_[0] < 1e-20
    assert maps.eigenvalues_[1] > 1e-9


def test_single_precision(X):
    X = X.astype(np.float32)
    maps, double = (LocallyLinearEmbedding().fit(A) for A in (X, X.astype(np.float64)))
    assert maps.embedding_.dtype == np.float64
    np.testing.assert_array_equal(maps.embedding_, double.embedding_)
    np.testing.assert_array_equal(maps.transform(X), double.embedding_)


def test_rows_that_are_all_the_same_and_very_few_rows():
    maps = LocallyLinearEmbedding().fit(np.zeros((5, 2)))
    assert np.isfinite(maps.transform(np.ones((2, 2)))).all()
    assert LocallyLinearEmbedding().fit_transform([[0.0], [1.0]]).shape == (2, 1)


def test_bad_input_is_refused_in_one_sentence(X):
    maps = LocallyLinearEmbedding().fit(X)
    with pytest.raises(ValueError, match="X has 3 features, but LocallyLinearEmbedding is"):
        maps.transform(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        LocallyLinearEmbedding().fit(np.where(X[0, 0] == X, np.nan, X))
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        LocallyLinearEmbedding().fit(X[:1])
    for wrong in ({"reg": 0.0}, {"n_neighbors": 0}, {"algorithm": "tree"}, {"n_components": 0}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter"):
            LocallyLinearEmbedding(**wrong).fit(X)
    with pytest.raises(ValueError, match="reg=1e-300 is too small"):
        LocallyLinearEmbedding(reg=1e-300).fit(np.zeros((30, 2)) + np.arange(30)[:, np.newaxis])


def test_too_many_coordinates_of_value_nought_are_refused(X, monkeypatch):
    """As with reg=1e-8 where every row has copies, sometimes."""

    def fails(*args, **kwargs):
        raise ArpackNoConvergence("No convergence", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(_eigen, "_DENSE_BELOW", 10)
    monkeypatch.setattr(_eigen, "eigsh", fails)
    with pytest.raises(ValueError, match=r"reg=1e-08 is too small: .*; use 1e-3, or leave copies"):
        LocallyLinearEmbedding(reg=1e-8).fit(X)


def test_names(X):
    maps = LocallyLinearEmbedding().fit(X)
    assert maps.get_feature_names_out().tolist() == [
        "locallylinearembedding0",
        "locallylinearembedding1",
    ]

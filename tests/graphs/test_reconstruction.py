"""Rows that add up to one, and what section 3 of the Roweis-Saul paper says of uniform ones."""

import numpy as np
import pytest

from mercer.graphs import _reconstruction as module
from mercer.graphs import (
    binary_affinity,
    laplacian,
    neighbor_graph,
    reconstruction_weights,
    symmetrize,
    uniform_weights,
)
from oracles import projections as oracle


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(30, 4)), rng.integers(0, 3, 30)


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("reg", [1e-3, 1.0])
def test_weights_are_those_of_the_lagrange_conditions(data, k, reg):
    X, _ = data
    W = reconstruction_weights(X, neighbor_graph(X, n_neighbors=k), reg=reg)
    np.testing.assert_allclose(
        W.toarray(), oracle.reconstruction(X, oracle.knn_edges(X, k), reg), atol=1e-9
    )


def test_rows_with_different_numbers_of_neighbours(data):
    X, _ = data
    graph = neighbor_graph(X, neighborhood="radius", radius=1.5)
    counts = np.diff(graph.indptr)
    assert counts.min() == 0
    assert len(np.unique(counts)) > 3
    E = (oracle.squared_distances(X) <= 2.25) & ~np.eye(len(X), dtype=bool)
    W = reconstruction_weights(X, graph)
    np.testing.assert_allclose(W.toarray(), oracle.reconstruction(X, E, 1e-3), atol=1e-9)


def test_weights_do_not_depend_on_place_scale_and_rotation(data):
    X, _ = data
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    graph = neighbor_graph(X, n_neighbors=5)
    one = reconstruction_weights(X, graph)
    two = reconstruction_weights(100 * X @ rotation + 7, graph)
    np.testing.assert_allclose(one.data, two.data, atol=1e-9)
    np.testing.assert_allclose(one.sum(axis=1), 1, rtol=1e-12)


def test_copies_share_equally():
    X = np.zeros((4, 2))
    W = reconstruction_weights(X, neighbor_graph(X, n_neighbors=3))
    np.testing.assert_allclose(W.toarray()[0], [0, 1 / 3, 1 / 3, 1 / 3])


def test_blocks_do_not_change_weights(data, monkeypatch):
    X, _ = data
    graph = neighbor_graph(X, n_neighbors=5)
    whole = reconstruction_weights(X, graph)
    monkeypatch.setattr(module, "_CHUNK", 60)
    np.testing.assert_allclose(reconstruction_weights(X, graph).data, whole.data, rtol=1e-12)


def test_uniform_weights_of_all_pairs_leave_the_covariance(data):  # [1] eq. (11)
    X, _ = data
    W = uniform_weights(neighbor_graph(X, n_neighbors=len(X)))
    np.testing.assert_allclose(W.toarray(), 1 / len(X))
    R = X - W @ X
    np.testing.assert_allclose(R.T @ R / len(X), np.cov(X.T, bias=True), atol=1e-12)


def test_uniform_weights_of_classes_leave_the_within_class_scatter(data):  # [1] eq. (12)
    X, y = data
    W = uniform_weights(neighbor_graph(X, y, neighborhood="class"))
    R = X - W @ X
    np.testing.assert_allclose(R.T @ R, oracle.within_scatter(X, y), atol=1e-12)


@pytest.mark.parametrize("n", [5, 60])
def test_on_a_ring_the_squared_rest_is_the_square_of_the_laplacian(n):
    """(I − W)ᵀ(I − W) = ¼ (D − A)² = (I − D^(−½) A D^(−½))²; the paper has ≈ ½."""
    angle = 2 * np.pi * np.arange(n) / n
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    graph = neighbor_graph(X, n_neighbors=2)
    rest = np.eye(n) - reconstruction_weights(X, graph).toarray()
    A = symmetrize(binary_affinity(graph))
    for factor, normalized in ((0.25, False), (1.0, True)):
        L = laplacian(A, normalized=normalized).toarray()
        np.testing.assert_allclose(rest.T @ rest, factor * L @ L, atol=1e-12)


def test_neighbours_in_orthogonal_directions_weigh_the_same():
    """The condition of that remark: differences to neighbours are an orthonormal basis."""
    X = np.vstack([np.zeros((1, 7)), 3 * np.eye(7)[:5]])
    W = reconstruction_weights(X, neighbor_graph(X, n_neighbors=5)).toarray()
    np.testing.assert_allclose(W[0], [0, 0.2, 0.2, 0.2, 0.2, 0.2], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-130, 1e130])
def test_weights_have_no_scale(scale):
    """Squares of such differences, twice over, are beyond floating point."""
    X = np.random.default_rng(0).normal(size=(10, 3))
    graph = neighbor_graph(X, n_neighbors=4)
    here, there = (reconstruction_weights(Z, graph).toarray() for Z in (X, X * scale * 1e40 / 1e40))
    np.testing.assert_allclose(there, here, rtol=1e-9)
    tiny = reconstruction_weights(X * 1e-200, graph).toarray()
    np.testing.assert_allclose(tiny, here, rtol=1e-9)


def test_dependent_neighbours_without_a_ridge_are_refused():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="reg=0 is too small"):
        reconstruction_weights(X, neighbor_graph(X, n_neighbors=3), reg=0.0)


def test_reconstruction_of_rows_that_are_very_close():
    rows = np.array([[0.0], [1e-170], [3e-170]])
    graph = neighbor_graph(rows * 1e150, n_neighbors=2)
    W = reconstruction_weights(rows, graph, reg=1e-9).toarray()
    np.testing.assert_allclose(W, [[0, 1.5, -0.5], [2 / 3, 0, 1 / 3], [-2, 3, 0]], atol=1e-6)

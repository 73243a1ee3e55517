"""Affinities, symmetry, Laplacians and labels: closed forms and invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian as scipy_laplacian

from mercer.graphs import (
    binary_affinity,
    heat_affinity,
    heat_width,
    label_product,
    laplacian,
    neighbor_graph,
    perturb_edges,
    symmetrize,
)
from oracles import projections as oracle

weights = arrays(np.float64, (6, 6), elements=st.floats(0, 4).map(lambda w: w if w > 1 else 0.0))


@pytest.fixture
def X():  # noqa: N802
    return np.random.default_rng(0).normal(size=(30, 2))


def test_heat_weights_of_the_or_graph(X):
    W = symmetrize(heat_affinity(neighbor_graph(X, n_neighbors=4), width=0.7), "or")
    np.testing.assert_allclose(W.toarray(), oracle.heat_or_graph(X, 4, 0.7), rtol=1e-13)


def test_and_graph(X):
    W = symmetrize(binary_affinity(neighbor_graph(X, n_neighbors=4)), "and")
    E = oracle.knn_edges(X, 4)
    np.testing.assert_array_equal(W.toarray(), (E & E.T).astype(float))


def test_duplicates_are_joined_by_weight_one():
    X = np.array([[0.0], [0.0], [5.0]])
    W = symmetrize(heat_affinity(neighbor_graph(X, n_neighbors=1), width=1.0), "or")
    assert W[0, 1] == 1.0


def test_width_by_the_median_follows_the_scale(X):
    graph = neighbor_graph(X, n_neighbors=4)
    E = oracle.knn_edges(X, 4)
    median = np.sqrt(np.median(oracle.squared_distances(X)[E]))
    np.testing.assert_allclose(heat_width(graph.data), median)
    np.testing.assert_allclose(heat_width(neighbor_graph(8 * X, n_neighbors=4).data), 8 * median)


def test_width_where_most_rows_are_the_same():
    X = np.array([[0.0]] * 5 + [[3.0]])
    assert heat_width(neighbor_graph(X, n_neighbors=1).data) == 3.0
    assert heat_width(neighbor_graph(np.zeros((4, 1)), n_neighbors=1).data) == 1.0


@given(weights)
def test_symmetries(A):
    W = csr_array(A)
    np.testing.assert_array_equal(symmetrize(W, "or").toarray(), np.maximum(A, A.T))
    np.testing.assert_array_equal(symmetrize(W, "and").toarray(), np.minimum(A, A.T))
    np.testing.assert_array_equal(symmetrize(W, "mean").toarray(), (A + A.T) / 2)


@given(weights, arrays(np.float64, 6, elements=st.floats(-3, 3)))
def test_quadratic_form_of_the_laplacian(A, f):
    W = (A + A.T) / 2
    np.fill_diagonal(W, 0)
    L = laplacian(csr_array(W))
    expected = 0.5 * (W * (f[:, None] - f) ** 2).sum()
    np.testing.assert_allclose(f @ (L @ f), expected, atol=1e-10)
    np.testing.assert_allclose(L @ np.ones(6), 0, atol=1e-12)


@given(weights)
def test_normalized_laplacian_is_scipys(A):
    W = (A + A.T) / 2
    np.fill_diagonal(W, 0)
    ours = laplacian(csr_array(W), normalized=True).toarray()
    np.testing.assert_allclose(ours, scipy_laplacian(W, normed=True), atol=1e-12)
    assert np.linalg.eigvalsh(ours).min() > -1e-10
    assert np.linalg.eigvalsh(ours).max() < 2 + 1e-10


@given(weights, st.lists(st.integers(0, 2), min_size=6, max_size=6), st.floats(0, 1))
def test_labels_change_edges_that_are_there(A, y, alpha):
    y = np.array(y)
    changed = perturb_edges(csr_array(A), y, alpha).toarray()
    extra = np.where(y[:, None] == y, alpha, 1 - alpha)
    np.testing.assert_allclose(changed, np.where(A != 0, A + extra, 0))


@given(st.lists(st.sampled_from("abc"), min_size=5, max_size=5), st.floats(0, 1))
def test_label_product_is_the_printed_matrix(y, alpha):
    Z = np.arange(10.0).reshape(5, 2)
    W = np.array([[alpha if a == b else 1 - alpha for b in y] for a in y])
    np.testing.assert_allclose(label_product(y, alpha, Z), W @ Z, atol=1e-12)

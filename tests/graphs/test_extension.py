"""A graph by radii: the "or" graph, and how new rows join it."""

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.graphs import neighbor_graph, neighbor_radii, radius_edges
from oracles import projections as oracle


def stored(edges):
    mask = np.zeros(edges.shape, bool)
    mask[np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr)), edges.indices] = True
    return mask


@pytest.fixture
def X():  # noqa: N802
    return np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize("k", [1, 6, 49])
def test_it_is_the_or_graph_with_loops(X, k):
    radii = neighbor_radii(X, X, k + 1)
    E = oracle.knn_edges(X, k)
    edges = radius_edges(X, X, radii, radii)
    np.testing.assert_array_equal(stored(edges), E | E.T | np.eye(50, dtype=bool))
    D = oracle.squared_distances(X)
    np.testing.assert_allclose(edges.toarray(), np.where(stored(edges), D, 0), atol=1e-12)


@settings(max_examples=25)
@given(arrays(np.float64, (8, 2), elements=st.integers(-2, 2)), st.integers(1, 5))
def test_a_copy_is_joined_as_the_row_is(X, k):
    radii = neighbor_radii(X, X, k + 1)
    whole = radius_edges(X, X, radii, radii)
    for i in range(8):
        row = X[i : i + 1].copy()
        one = radius_edges(row, X, neighbor_radii(row, X, k + 1), radii)
        np.testing.assert_array_equal(stored(one)[0], stored(whole)[i])
        np.testing.assert_array_equal(one.data, whole[[i]].data)


def test_a_far_offset_and_small_blocks_change_nothing(X):
    radii = neighbor_radii(X, X, 6)
    near = stored(radius_edges(X, X, radii, radii))
    moved = X + 2.0**20
    radii = neighbor_radii(moved, moved, 6)
    with sklearn.config_context(working_memory=0.01):
        np.testing.assert_array_equal(stored(radius_edges(moved, moved, radii, radii)), near)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
@pytest.mark.parametrize("d", [2, 20])
def test_radii_have_no_scale(d, scale):
    X = np.random.default_rng(0).normal(size=(20, d))
    radii, scaled = neighbor_radii(X, X, 4), neighbor_radii(X * scale, X * scale, 4)
    near = stored(radius_edges(X, X, radii, radii))
    np.testing.assert_array_equal(stored(radius_edges(X * scale, X * scale, scaled, scaled)), near)


def test_a_far_row_leaves_the_radii_of_the_others():
    X = np.random.default_rng(0).normal(size=(3, 17))
    X[0] *= 1e12
    radii = neighbor_radii(X, X, 2)
    np.testing.assert_allclose(radii[1:], ((X[1] - X[2]) ** 2).sum(), rtol=1e-12)


def test_what_is_no_table_is_refused(torch):
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match=r"^X must be a matrix with one row for each point, got a"):
        neighbor_radii(X[0], X, 1)
    with pytest.raises(ValueError, match=r"^X has 1 columns and Y has 2: they must agree\.$"):
        neighbor_radii(X[:, :1], X, 1)
    with pytest.raises(ValueError, match=r"^n_neighbors must be 1 or more, got 0\.$"):
        neighbor_radii(X, X, 0)
    learnt = torch.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(neighbor_radii(learnt, X, 2), neighbor_radii(X, X, 2))
    assert (neighbor_graph(learnt, n_neighbors=1) != neighbor_graph(X, n_neighbors=1)).nnz == 0

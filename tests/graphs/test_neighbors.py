"""Neighbourhoods against loops."""

import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from mercer.graphs import _neighbors as module
from mercer.graphs import _search as search
from mercer.graphs import neighbor_graph
from oracles import projections as oracle


def stored(graph):
    """Where entries are stored, zeros included."""
    mask = np.zeros(graph.shape, bool)
    mask[np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices] = True
    return mask


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), rng.integers(0, 3, 40)


@pytest.mark.parametrize("k", [1, 4, 39, 100])
def test_k_nearest(data, k):
    X, _ = data
    graph = neighbor_graph(X, n_neighbors=k)
    expected = oracle.knn_edges(X, k)
    np.testing.assert_array_equal(stored(graph), expected)
    np.testing.assert_allclose(
        graph.toarray(), np.where(expected, oracle.squared_distances(X), 0), rtol=1e-13
    )


@pytest.mark.parametrize("k", [1, 5, 100])
def test_k_nearest_of_the_class(data, k):
    X, y = data
    graph = neighbor_graph(X, y, neighborhood="class_knn", n_neighbors=k)
    np.testing.assert_array_equal(stored(graph), oracle.knn_edges(X, k, y))


def test_same_class(data):
    X, y = data
    graph = neighbor_graph(X, y, neighborhood="class")
    expected = (y[:, None] == y) & ~np.eye(len(y), dtype=bool)
    np.testing.assert_array_equal(stored(graph), expected)


def test_radius(data):
    X, _ = data
    graph = neighbor_graph(X, neighborhood="radius", radius=1.2)
    D = oracle.squared_distances(X)
    np.testing.assert_array_equal(stored(graph), (D <= 1.44) & ~np.eye(len(X), dtype=bool))


def test_radius_that_reaches_nobody(data):
    assert neighbor_graph(data[0], neighborhood="radius", radius=1e-9).nnz == 0


@given(
    arrays(np.float64, (7, 2), elements=st.integers(-2, 2)),
    st.integers(1, 8),
)
def test_duplicates_are_neighbours_and_nobody_is_his_own(X, k):
    graph = neighbor_graph(X, n_neighbors=k)
    assert (np.diff(graph.indptr) == min(k, 6)).all()
    mask = stored(graph)
    assert not mask.diagonal().any()
    D = oracle.squared_distances(X)
    for i in range(7):
        others = np.delete(D[i], i)
        assert sorted(D[i][mask[i]]) == sorted(others)[: min(k, 6)]


def test_names_are_classes(data):
    X, y = data
    named = np.array(["a", "b", "c"], dtype=object)[y]
    one = neighbor_graph(X, y, neighborhood="class")
    two = neighbor_graph(X, named, neighborhood="class")
    np.testing.assert_array_equal(one.toarray(), two.toarray())


def test_a_large_offset_loses_no_distance(data):
    X, _ = data
    near = neighbor_graph(X, n_neighbors=3)
    far = neighbor_graph(X + 2.0**20, n_neighbors=3)  # exact in the last bits but few
    np.testing.assert_allclose(far.data, near.data, rtol=1e-8)


def test_classes_are_needed():
    with pytest.raises(ValueError, match="needs the classes y"):
        neighbor_graph(np.eye(3), neighborhood="class")


@pytest.mark.parametrize("neighborhood", ["knn", "radius"])
@pytest.mark.parametrize("n_columns", [3, 30])
def test_neighbours_keep_their_digits_far_from_the_origin(neighborhood, n_columns):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, n_columns)) * 2**10) / 2**10
    X[30:] += 2.0**36  # distances by products are all noise, about any centre
    options = {"neighborhood": neighborhood, "n_neighbors": 5, "radius": 1.3 * n_columns**0.5}
    near, far = (neighbor_graph(part, **options) for part in (X[:30], X[30:] - 2.0**36))
    both = neighbor_graph(X, **options)
    assert both.nnz == near.nnz + far.nnz > 100
    for part, found in ((near, both[:30, :30]), (far, both[30:, 30:])):
        np.testing.assert_array_equal(found.toarray(), part.toarray())


def test_copies_are_the_nearest_neighbours():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 30)), 4, axis=0) + 1e8
    graph = neighbor_graph(X, n_neighbors=3)
    assert graph.data.tolist() == [0.0] * 240
    assert not graph.diagonal().any()
    np.testing.assert_array_equal(graph.indices // 4, np.repeat(np.arange(20), 12))


def test_blocks_do_not_change_distances(data, monkeypatch):
    X, _ = data
    whole = neighbor_graph(X, n_neighbors=5)
    monkeypatch.setattr(search, "_CHUNK", 7)
    np.testing.assert_array_equal(neighbor_graph(X, n_neighbors=5).data, whole.data)


def test_approximate_neighbours_leave_the_row_itself_out(monkeypatch):
    # A stand-in: the real search compiles for a minute; benchmarks/bench_projections.py runs it.
    found = np.array([[0, 2, 1], [2, 1, 0], [2, 0, 1], [1, 2, 0]])  # row 3 misses itself

    class Descent:
        def __init__(self, X, n_neighbors, random_state):
            assert n_neighbors == 3
            self.neighbor_graph = (found, None)

    monkeypatch.setitem(sys.modules, "pynndescent", types.SimpleNamespace(NNDescent=Descent))
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: object())
    graph = neighbor_graph(np.eye(4), n_neighbors=2, algorithm="approximate", random_state=0)
    expected = [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 0]]
    np.testing.assert_array_equal(stored(graph), np.array(expected, bool))


def test_approximate_search_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="\\.\\[fast\\]"):
        neighbor_graph(np.eye(3), n_neighbors=1, algorithm="approximate")
    assert neighbor_graph(np.eye(3), n_neighbors=1).nnz == 3  # auto does without


def test_large_sets_are_searched_approximately(monkeypatch):
    asked = []
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(
        module, "_approximate_neighbors", lambda X, k, r: asked.append(k) or np.ones((4, k), int)
    )
    monkeypatch.setattr(module, "APPROXIMATE_ABOVE", 3)
    neighbor_graph(np.eye(4), n_neighbors=2)
    assert asked == [2]
    neighbor_graph(np.eye(4), n_neighbors=2, algorithm="exact")
    assert asked == [2]


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("k", [2, 15])
@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_rows_far_from_the_origin_have_their_nearest_neighbours(d, k, offset):
    """Products of coordinates, by which scikit-learn searches, have lost the differences."""
    X = np.rint(np.random.default_rng(0).normal(size=(25, d)) * 100) + offset
    D = oracle.squared_distances(X - offset)
    graph = stored(neighbor_graph(X, n_neighbors=k))
    others = ~np.eye(25, dtype=bool)
    farthest = np.where(graph, D, -1).max(axis=1)
    assert (graph.sum(axis=1) == k).all()
    assert (farthest <= np.where(others & ~graph, D, np.inf).min(axis=1)).all()


def test_one_far_row_does_not_change_the_neighbours_of_the_others():
    X = np.random.default_rng(0).normal(size=(30, 40))
    far = np.vstack([X, np.full((1, 40), 1e12)])
    near = stored(neighbor_graph(X, n_neighbors=3))
    np.testing.assert_array_equal(stored(neighbor_graph(far, n_neighbors=3))[:30, :30], near)
    within = stored(neighbor_graph(X, neighborhood="radius", radius=8.0))
    graph = stored(neighbor_graph(far, neighborhood="radius", radius=8.0))
    np.testing.assert_array_equal(graph[:30, :30], within)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
@pytest.mark.parametrize("d", [2, 20])
def test_neighbours_have_no_scale(d, scale):
    X = np.random.default_rng(0).normal(size=(25, d))
    expected = stored(neighbor_graph(X, n_neighbors=4))
    np.testing.assert_array_equal(stored(neighbor_graph(X * scale, n_neighbors=4)), expected)


@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_squares_beyond_floating_point_are_refused(scale):
    X = np.random.default_rng(0).normal(size=(5, 2)) * scale
    with pytest.raises(ValueError, match=r"X has rows that are .* apart: the square of that"):
        neighbor_graph(X, n_neighbors=2)


def test_numbers_of_neighbours_and_radii_are_checked():
    for options in ({"n_neighbors": 0}, {"radius": -1.0}, {"radius": np.nan}):
        with pytest.raises(ValueError, match="n_neighbors must be 1 or more and radius 0 or more"):
            neighbor_graph(np.ones((3, 2)), **options)


def test_a_matrix_of_ones_own_holds_numbers_alone():
    X = np.arange(4.0)[:, None]
    own = np.eye(4)[[1, 2, 3, 0]]
    expected = neighbor_graph(X, neighborhood=own).toarray()
    assert np.array_equal(neighbor_graph(X, neighborhood=own.astype(object)).toarray(), expected)
    own[2, 0] = np.nan
    for unknown in (own, csr_array(own)):
        with pytest.raises(ValueError, match="has NaN in row 2, column 0"):
            neighbor_graph(X, neighborhood=unknown)
    with pytest.raises(ValueError, match="must hold numbers"):
        neighbor_graph(X, neighborhood=np.full((4, 4), "no"))

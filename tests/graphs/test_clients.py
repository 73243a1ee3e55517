"""What other libraries ask of a sparse graph: small indices, and rows in order of distance."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.cluster import SpectralClustering
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from mercer import graphs


@pytest.fixture
def groups():
    """Three groups of rows far apart, some rows twice."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 20.0 * np.repeat(np.eye(3), 20, axis=0)
    X[5] = X[3]
    return X, np.repeat([0, 1, 2], 20)


def _affinities(X, y):
    """Every function of the package that returns a sparse matrix."""
    graph = graphs.neighbor_graph(X, n_neighbors=19)
    W = graphs.symmetrize(graphs.heat_affinity(graph, width=3.0))
    radii = graphs.neighbor_radii(X, X, 5)
    return {
        "neighbor_graph": graph,
        "radius": graphs.neighbor_graph(X, neighborhood="radius", radius=4.0),
        "class": graphs.neighbor_graph(X, y, neighborhood="class"),
        "heat_affinity": graphs.heat_affinity(graph, width=3.0),
        "binary_affinity": graphs.binary_affinity(graph),
        "or": W,
        "and": graphs.symmetrize(W, "and"),
        "mean": graphs.symmetrize(W, "mean"),
        "laplacian": graphs.laplacian(W),
        "normalized": graphs.laplacian(W, normalized=True),
        "perturb_edges": graphs.perturb_edges(W, y, 0.5),
        "radius_edges": graphs.radius_edges(X, X, radii, radii),
        "reconstruction_weights": graphs.reconstruction_weights(X, graph),
        "uniform_weights": graphs.uniform_weights(graph),
    }


def test_indices_have_32_bits_where_these_suffice(groups):
    for name, W in _affinities(*groups).items():
        assert W.indices.dtype == W.indptr.dtype == np.int32, name


def test_spectral_clustering_takes_our_affinities(groups):
    X, y = groups
    W = _affinities(X, y)["or"] + 1e-3 * graphs.binary_affinity(
        graphs.neighbor_graph(X, n_neighbors=59)
    )
    for affinity in (W, csr_matrix(W)):
        found = SpectralClustering(3, affinity="precomputed", random_state=0).fit(affinity)
        assert all(len(set(found.labels_[y == c])) == 1 for c in range(3))
        assert len(set(found.labels_)) == 3


def test_spectral_embedding_takes_our_affinities(groups):
    X, _ = groups
    W = graphs.symmetrize(
        graphs.heat_affinity(graphs.neighbor_graph(X, n_neighbors=59), width=20.0)
    )
    Z = spectral_embedding(W, n_components=2, random_state=0)
    dense = spectral_embedding(W.toarray(), n_components=2, random_state=0)
    np.testing.assert_allclose(np.abs(Z), np.abs(dense), atol=1e-4 * np.abs(dense).max())


@pytest.mark.parametrize("neighborhood", ["knn", "radius", "class", "class_knn"])
def test_rows_are_sorted_by_distance(groups, neighborhood):
    X, y = groups
    graph = graphs.neighbor_graph(X, y, neighborhood=neighborhood, n_neighbors=7, radius=3.0)
    for start, stop in zip(graph.indptr[:-1], graph.indptr[1:], strict=True):
        assert (np.diff(graph.data[start:stop]) >= 0).all()


def test_neighbors_are_in_the_order_of_scikit_learn(groups):
    X = np.delete(groups[0], 5, axis=0)  # no two distances are the same
    graph = graphs.neighbor_graph(X, n_neighbors=7)
    theirs = kneighbors_graph(X, 7, mode="distance")
    np.testing.assert_array_equal(graph.indices, theirs.indices)
    np.testing.assert_allclose(np.sqrt(graph.data), theirs.data, rtol=1e-12)


def test_a_search_in_a_graph_need_not_sort_it(groups):
    graph = graphs.neighbor_graph(groups[0], n_neighbors=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "... was not sorted by row values" is one
        NearestNeighbors(n_neighbors=5, metric="precomputed").fit(graph).kneighbors(graph)


def test_sorting_weights_leaves_their_graph_alone(groups):
    graph = graphs.neighbor_graph(groups[0], n_neighbors=7)
    before = graph.toarray()
    for W in (graphs.heat_affinity(graph, width=1.0), graphs.binary_affinity(graph)):
        W.sort_indices()
    np.testing.assert_array_equal(graph.toarray(), before)

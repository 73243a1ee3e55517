"""Fewer nodes: herding against random and largest weights."""

import numpy as np
import pytest
from scipy.optimize import nnls

from classifiers.samples import SAMPLES, assert_close, moons, ring, wine
from mercer import LaplacianClassifier
from oracles import classifiers as oracle

WAYS = ["herding", "largest", "random"]


def sets():
    yield "moons", moons(300), moons(300, seed=1)
    yield "ring", ring(300), ring(300, seed=1)
    for seed in range(2):
        X, y = wine()
        order = np.random.default_rng(seed).permutation(len(y))
        half = order[:90], order[90:]
        yield f"wine {seed}", *((X[rows], y[rows]) for rows in half)


def test_herding_beats_random_and_largest_on_average():
    """Share of decisions of the full classifier that a tenth of the rows keeps."""
    kept = {way: [] for way in WAYS}
    scores = {way: [] for way in WAYS}
    for _, (X, y), (new, labels) in sets():
        full = LaplacianClassifier(bandwidth="silverman").fit(X, y)
        for way in WAYS:
            model = LaplacianClassifier(
                bandwidth="silverman", n_nodes=len(y) // 10, node_selection=way, random_state=0
            ).fit(X, y)
            kept[way].append((model.predict(new) == full.predict(new)).mean())
            scores[way].append(model.score(new, labels))
    kept, scores = ({way: np.mean(v) for way, v in d.items()} for d in (kept, scores))
    assert kept["herding"] > kept["random"] + 0.03, kept
    assert kept["herding"] > kept["largest"] + 0.1, kept
    assert kept["herding"] > 0.93, kept
    assert scores["herding"] > max(scores["random"], scores["largest"]), scores


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", ["cosine", "append"])
def test_as_many_nodes_as_rows_is_the_full_classifier(way, rule):
    X, y = SAMPLES["wine"]
    options = {"bandwidth": 1.0, "rule": rule}
    full = LaplacianClassifier(**options).fit(X, y)
    for n_nodes in (len(y), 10 * len(y)):
        model = LaplacianClassifier(**options, n_nodes=n_nodes, node_selection=way).fit(X, y)
        assert_close(model.decision_function(X), full.decision_function(X))
        assert np.array_equal(model.support_, np.arange(len(y)))


@pytest.mark.parametrize("way", WAYS)
def test_nodes_are_an_expansion_of_their_own(way):
    """Norms and scores are those of the nodes, with their weights."""
    X, y = SAMPLES["wine"]
    h = 1.0
    model = LaplacianClassifier(bandwidth=h, n_nodes=20, node_selection=way, random_state=0)
    model.fit(X, y)
    assert len(model.support_) <= 20
    assert np.array_equal(model.X_fit_, X[model.support_])
    assert np.array_equal(model.classes_[model.node_classes_], y[model.support_])
    assert (np.diff(model.support_) > 0).all()
    K = np.exp(-oracle.squared_distances(X[model.support_], X[model.support_]) / (4 * h**2))
    k = np.exp(-oracle.squared_distances(X, X[model.support_]) / (4 * h**2))
    for c in range(3):
        b = np.where(model.node_classes_ == c, model.node_weights_, 0)
        V = np.sqrt(b @ K @ b)
        assert_close(model.norms_[c], float(V))
        expected = oracle.log(k @ b / V)
        assert_close(model.decision_function(X)[:, c], expected)
    assert model.weights_.shape == (len(y),)


def test_largest_takes_the_largest_weights_of_each_class():
    X, y = SAMPLES["three gaussians"]
    model = LaplacianClassifier(bandwidth=0.5, n_nodes=15, node_selection="largest").fit(X, y)
    full = LaplacianClassifier(bandwidth=0.5).fit(X, y)
    for c in range(3):
        chosen = model.support_[y[model.support_] == c]
        rest = np.setdiff1d(np.flatnonzero(y == c), chosen)
        assert full.node_weights_[chosen].min() >= full.node_weights_[rest].max()
        assert_close(
            np.sort(model.node_weights_[model.node_classes_ == c]),
            np.sort(full.node_weights_[chosen]),
        )


def test_herded_weights_are_the_best_that_are_not_negative():
    X, y = SAMPLES["moons"]
    h = 0.4
    model = LaplacianClassifier(bandwidth=h, n_nodes=12).fit(X, y)
    full = LaplacianClassifier(bandwidth=h).fit(X, y)
    for c in (0, 1):
        rows, nodes = np.flatnonzero(y == c), model.support_[y[model.support_] == c]
        beta = full.node_weights_[rows]
        K = np.exp(-oracle.squared_distances(X, X) / (4 * h**2)).astype(float)
        values, vectors = np.linalg.eigh(K[np.ix_(nodes, nodes)])
        root = vectors * np.sqrt(np.maximum(values, 0))
        wanted = K[np.ix_(nodes, rows)] @ beta
        best, _ = nnls(root.T, np.linalg.lstsq(root, wanted, rcond=None)[0])
        assert_close(model.node_weights_[model.node_classes_ == c], best, 1e-6)
        # What is missing of the class vector is little.
        b = model.node_weights_[model.node_classes_ == c]
        error = beta @ K[np.ix_(rows, rows)] @ beta - 2 * b @ wanted
        error += b @ K[np.ix_(nodes, nodes)] @ b
        assert 0 < error < 0.05 * (beta @ K[np.ix_(rows, rows)] @ beta)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_any_bandwidth_and_repeated_rows(factor):
    X, y = SAMPLES["three gaussians"]
    X, y = np.repeat(X, 4, axis=0), np.repeat(y, 4)
    model = LaplacianClassifier(bandwidth=factor * 0.5, n_nodes=30).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.node_classes_) == {0, 1, 2}


@pytest.mark.parametrize(
    ("counts", "n_nodes"), [([5, 5], 4), ([100, 1, 1], 10), ([3, 97], 50), ([1, 1, 1], 3)]
)
def test_shares_of_classes(counts, n_nodes):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    model = LaplacianClassifier(bandwidth=0.01, n_nodes=n_nodes, node_selection="largest").fit(X, y)
    shares = np.bincount(model.node_classes_, minlength=len(counts))
    assert shares.sum() == n_nodes
    assert (shares >= 1).all()
    assert (shares <= counts).all()
    exact = n_nodes * np.array(counts) / sum(counts)
    assert (np.abs(shares - exact) < 2).all()


@pytest.mark.parametrize("h", ["loo", 0.5, 2.0, 10.0, 1e3])
def test_float32_rows_with_copies(h):
    """Of wide windows the nodes' kernel is singular, and in float32 rounding made it indefinite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).astype(np.float32)
    y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
    copies, labels = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    model = LaplacianClassifier(bandwidth=h, n_nodes=20).fit(copies, labels)
    counted = LaplacianClassifier(bandwidth=h, n_nodes=20).fit(X, y, sample_weight=np.full(60, 2))
    assert np.array_equal(model.node_weights_, counted.node_weights_)
    assert np.array_equal(model.X_fit_, counted.X_fit_)
    wide = LaplacianClassifier(bandwidth=h, n_nodes=20).fit(copies.astype(np.float64), labels)
    scores, expected = (m.decision_function(X) for m in (model, wide))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5)
    # The weights are the best: the error has no slope at any that is used.
    full = LaplacianClassifier(bandwidth=model.bandwidth_).fit(copies, labels)
    nodes, own = model.X_fit_, full.X_fit_
    for c in (0, 1):
        b = np.where(model.node_classes_ == c, model.node_weights_, 0)
        beta = np.where(full.node_classes_ == c, full.node_weights_, 0)
        K, k = (
            np.exp(-oracle.squared_distances(nodes, Z) / (4 * model.bandwidth_**2)).astype(float)
            for Z in (nodes, own)
        )
        slopes = K @ b - k @ beta
        assert np.abs(slopes[b > 0]).max() < 1e-6 * beta.sum()

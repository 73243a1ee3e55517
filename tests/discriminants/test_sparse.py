"""``SparseKernelFisherDiscriminant``: the path, the ridge, blocks of rows, long tables."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from mercer.discriminants import (
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
    _blocks,
    _sparse,
)
from mercer.discriminants._moments import Moments, accumulate
from mercer.discriminants._nodes import NodeLimits, Nodes
from mercer.discriminants._path import gcv_path, solve_path
from mercer.kernels import KernelFunction


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order] / 16, y[order]


@pytest.fixture
def on_nodes(monkeypatch):
    """Return a function that fits a model on given rows as nodes, instead of chosen ones."""

    def fit(model, X, y, rows):
        with monkeypatch.context() as patch:
            nodes = Nodes(np.asarray(rows), np.zeros(len(rows)))
            patch.setattr(_sparse, "choose_nodes", lambda *_, **__: nodes)
            return clone(model).fit(X, y)

    return fit


def _moments(X, y, nodes, gamma=0.3, weights=None):
    K = rbf_kernel(X, nodes, gamma=gamma)
    weights = np.ones(len(y)) if weights is None else weights
    moments = Moments.empty(int(y.max()) + 1, K[:5].mean(axis=0))
    return accumulate(moments, lambda rows: K[rows], y, weights, np.ones(len(y))), K


def test_digits_are_learned_by_few_nodes(digits, on_nodes):
    X, y = digits
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=150, random_state=0)
    model.fit(X[:1200], y[:1200])
    assert model.n_nodes_ == 150
    assert model.score(X[1200:], y[1200:]) > 0.97
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(5):  # the same number of random nodes
        few = rng.choice(1200, 150, replace=False)
        random = on_nodes(clone(model).set_params(gamma=model.gamma_), X[:1200], y[:1200], few)
        scores.append(random.score(X[1200:], y[1200:]))
    assert model.score(X[1200:], y[1200:]) > np.mean(scores)


def test_all_nodes_are_the_exact_discriminant(blobs):
    X, y = blobs(1, n_rows=50, n_classes=3)
    options = {"gamma": 0.2, "alpha": 1e-2, "scatter": "total"}
    exact = KernelFisherDiscriminant(**options).fit(X, y)
    sparse = SparseKernelFisherDiscriminant(**options, tol=0.0, n_candidates=None).fit(X, y)
    np.testing.assert_allclose(sparse.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(sparse.transform(X), exact.transform(X), rtol=1e-4, atol=1e-5)


def test_moments_are_the_scatter_matrices(blobs):
    X, y = blobs(2, n_rows=80, n_classes=3)
    weights = np.random.default_rng(0).uniform(0.5, 2, 80)
    moments, K = _moments(X, y, X[:7], weights=weights)
    p = weights / weights.sum()
    C = K - p @ K
    np.testing.assert_allclose(moments.total_scatter(), (C.T * p) @ C, atol=1e-13)
    within = np.zeros((7, 7))
    for c in range(3):
        q = p * (y == c)
        D = K - q @ K / q.sum()
        within += (D.T * q) @ D
        np.testing.assert_allclose(moments.class_means[c], q @ K / q.sum() - p @ K, atol=1e-13)
    np.testing.assert_allclose(moments.within_scatter(), within, atol=1e-13)
    np.testing.assert_allclose(moments.mean, p @ K)


def test_the_path_is_a_fit_at_every_length(blobs):
    X, y = blobs(3, n_rows=90, n_classes=3)
    moments, K = _moments(X, y, X[:10])
    R = rbf_kernel(X[:10], gamma=0.3)
    path = solve_path(moments, R, 1e-3)
    T = path.scores[y]
    p = np.full(90, 1 / 90)
    for s in (1, 4, 10):
        C = K[:, :s] - K[:, :s].mean(axis=0)
        A = C.T @ C / 90 + 1e-3 * R[:s, :s]
        W = np.linalg.solve(A, C.T @ T / 90)
        np.testing.assert_allclose(path.coefficients(s), W, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(path.explained(s), T.T @ C @ W / 90, atol=1e-9)
        hat = C @ np.linalg.solve(A, C.T) / 90
        h = (np.trace(hat) + 1) / 90
        assert path.leverage(s) == pytest.approx(h)
        # Threshold: in-sample moments, moved by the mean leverage.
        F = C @ W
        kept = (path.explained(s) - h * np.eye(2)) / (1 - h)
        if np.linalg.eigvalsh(kept).min() > 0:
            means = path.scores @ kept
            spread = F - np.stack([F[y == c].mean(axis=0) for c in range(3)])[y]
            axes = np.linalg.eigh(path.explained(s))[1]  # the discriminants
            variances = ((spread @ axes) ** 2).sum(axis=0) / 90 / (1 - h) ** 2
            rule = path.rule(s, np.log([0.2, 0.3, 0.5]))
            expected = axes @ np.diag(1 / variances) @ axes.T @ means.T
            np.testing.assert_allclose(rule.coef, expected, rtol=1e-6)
        np.testing.assert_allclose(path.latent(K)[:, :s] @ path.q[:s], F, atol=1e-8)
    assert p.sum() == pytest.approx(1)


def test_gcv_is_what_it_is_called(blobs):
    X, y = blobs(4, n_rows=70, n_classes=3)
    moments, K = _moments(X, y, X[:9])
    R = rbf_kernel(X[:9], gamma=0.3)
    alphas = np.array([1e-5, 1e-3, 1e-1])
    found = gcv_path(moments, R, alphas)
    C = K - K.mean(axis=0)
    T = solve_path(moments, R, 1.0).scores[y]
    for alpha, value in zip(alphas, found, strict=True):
        hat = C @ np.linalg.solve(C.T @ C / 70 + alpha * R, C.T) / 70
        residual = ((T - hat @ T) ** 2).sum() / 70
        freedom = np.trace(hat) + 1
        assert value == pytest.approx(residual / (1 - freedom / 70) ** 2, rel=1e-6)


def test_stages_end_in_predict(digits, on_nodes):
    X, y = digits
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=30, random_state=0)
    model.fit(X[:600], y[:600])
    stages = list(model.staged_predict(X[600:900]))
    assert len(stages) == 30
    np.testing.assert_array_equal(stages[-1], model.predict(X[600:900]))
    accuracy = [np.mean(stage == y[600:900]) for stage in stages]
    assert accuracy[0] < 0.4 < 0.85 < accuracy[-1]
    # Ten nodes of the path are the fit on the first ten nodes at the same ridge.
    few = clone(model).set_params(gamma=model.gamma_, alpha=model.alpha_)
    few = on_nodes(few, X[:600], y[:600], model.support_[:10])
    np.testing.assert_array_equal(stages[9], few.predict(X[600:900]))


def test_stages_of_blocks_are_those_in_memory(digits):
    da = pytest.importorskip("dask.array")
    X, y = digits
    model = SparseKernelFisherDiscriminant(max_nodes=8, random_state=0).fit(X[:300], y[:300])
    rows = X[300:400].astype(np.float32)
    lazy = da.from_array(rows, chunks=(30, 40))
    np.testing.assert_array_equal(
        list(model.staged_predict(lazy)), list(model.staged_predict(rows))
    )


def test_stages_need_a_fit(digits):
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        next(SparseKernelFisherDiscriminant().staged_predict(digits[0]))


@pytest.mark.parametrize("choice", ["loo", "validation"])
def test_the_number_of_nodes_can_be_chosen(choice):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = rng.normal(size=(400, 2)) + 2.0 * y[:, None]  # few nodes are enough
    model = SparseKernelFisherDiscriminant(node_choice=choice, random_state=0, tol=0.0).fit(X, y)
    curve = model.node_results_
    assert model.n_nodes_ == curve["n_nodes"][np.argmax(curve["score"])] < 200
    assert len(model.support_) == len(model.criterion_path_) == len(model.X_fit_) == model.n_nodes_
    assert model.score(X, y) > 0.9


def test_left_out_scores_are_those_of_refitting(blobs):
    X, y = blobs(6, n_rows=40, shift=0.8)
    model = SparseKernelFisherDiscriminant(
        gamma=0.3, alpha=1e-2, max_nodes=6, tol=0.0, node_choice="loo"
    ).fit(X, y)
    path, nodes = model._path, model.X_fit_
    K, R = rbf_kernel(X, nodes, gamma=0.3), rbf_kernel(nodes, gamma=0.3)
    s = model.n_nodes_
    T = path.scores[y]
    outputs = []
    for i in range(40):
        rest = np.arange(40) != i
        C = K[rest] - K[rest].mean(axis=0)
        A = C.T @ C / 40 + 1e-2 * R  # the ridge stays relative to all rows
        W = np.linalg.solve(A, C.T @ (T[rest] - T[rest].mean(axis=0)) / 40)
        outputs.append((K[i] - K[rest].mean(axis=0)) @ W)
    scores = path.rule(s, np.log(model.priors_)).scores(np.array(outputs))
    at = list(model.node_results_["n_nodes"]).index(s)
    assert model.node_results_["score"][at] == pytest.approx(
        np.mean(np.argmax(scores, axis=1) == y)
    )


def test_single_precision_streams_agree(digits, monkeypatch):
    X, y = digits
    kernel = KernelFunction("rbf", 0.1)
    single = kernel.single_precision_matrix(X.astype(np.float32), X[:50].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, kernel.matrix(X, X[:50]), atol=2e-6)
    model = SparseKernelFisherDiscriminant(max_nodes=60, gamma=0.1, random_state=0)
    double = clone(model).fit(X + 100, y)
    monkeypatch.setattr(_sparse, "_LONG_TABLE", 100)
    single = clone(model).fit(X + 100, y)
    np.testing.assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-3)
    assert np.mean(single.predict(X + 100) == double.predict(X + 100)) > 0.998


def test_threads_and_blocks_do_not_matter(blobs, monkeypatch):
    X, y = blobs(7, n_rows=2000, n_classes=3)
    one, K = _moments(X, y, X[:20])
    for n_threads in (1, 2, 3):
        monkeypatch.setattr("mercer.discriminants._moments._BLOCK", 20 * 300)
        monkeypatch.setattr("mercer.discriminants._moments.thread_count", lambda n=n_threads: n)
        other, _ = _moments(X, y, X[:20])
        np.testing.assert_allclose(other.gram, one.gram, rtol=1e-12, atol=1e-10)
        np.testing.assert_allclose(other.sums, one.sums, rtol=1e-11, atol=1e-10)
        assert other.count == one.count == len(K)


def test_blocks_of_rows_are_all_rows(digits, on_nodes):
    X, y = digits
    blocks = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=40, random_state=0)
    blocks.partial_fit(X[:900], y[:900], classes=np.unique(y))
    first = blocks.support_.copy()
    blocks.partial_fit(X[900:], y[900:])  # not yet doubled: the nodes stay
    np.testing.assert_array_equal(blocks.support_, first)
    given = on_nodes(clone(blocks).set_params(gamma=blocks.gamma_), X, y, first)
    np.testing.assert_allclose(blocks.alpha_, given.alpha_)
    np.testing.assert_allclose(blocks.dual_coef_, given.dual_coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(blocks.predict(X), given.predict(X))


def test_nodes_are_chosen_anew_when_rows_double(digits, monkeypatch):
    X, y = digits
    monkeypatch.setattr(_blocks, "_MOST_KEPT", 1000)
    model = SparseKernelFisherDiscriminant(max_nodes=40, gamma=0.1, random_state=0)
    sizes = []
    for start in range(0, 1600, 200):
        rows = slice(start, start + 200)
        model.partial_fit(X[rows], y[rows], classes=range(10))
        sizes.append(model.support_.max() // 200)
    # Chosen at 200, 400 and 800 rows, and a last time at 1000.
    assert sizes == [0, 1, 1, 3, 4, 4, 4, 4]
    assert model._state.buffer is None, "no rows are kept after that"
    assert model.score(X[1600:], y[1600:]) > 0.9


def test_partial_fit_continues_a_fit(digits):
    X, y = digits
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=40, random_state=0)
    model.fit(X[:900], y[:900])
    nodes = model.support_.copy()
    model.partial_fit(X[900:], y[900:])
    np.testing.assert_array_equal(model.support_, nodes)
    assert model._moments.count == len(y)
    np.testing.assert_allclose(model.priors_, np.bincount(y) / len(y))


def test_a_fit_after_blocks_knows_nothing_of_the_blocks(digits):
    X, y = digits
    model = SparseKernelFisherDiscriminant(max_nodes=10, random_state=0)
    model.note = "mine"
    model.partial_fit(X[:300], y[:300], classes=range(10)).partial_fit(X[300:400], y[300:400])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((4, 64), np.nan), [0, 1, 0, 1])
    assert vars(model).keys() == {*model.get_params(), "note"}


def test_partial_fit_waits_for_a_second_class(blobs):
    X, y = blobs(8, n_rows=60, n_classes=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    model = SparseKernelFisherDiscriminant(max_nodes=10)
    model.partial_fit(X[:20], y[:20], classes=[0, 1, 2])
    assert not hasattr(model, "dual_coef_")
    model.partial_fit(X[20:40], y[20:40])
    assert set(model.predict(X)) <= {0, 1}
    assert (model.predict_proba(X)[:, 2] == 0).all()
    model.partial_fit(X[40:], y[40:])
    assert model.score(X, y) > 0.6
    assert set(model.predict(X)) == {0, 1, 2}


def test_a_class_that_comes_too_late_is_announced(blobs, monkeypatch):
    X, y = blobs(9, n_rows=90, n_classes=3)
    monkeypatch.setattr(_blocks, "_MOST_KEPT", 20)
    order = np.argsort(y == 2, kind="stable")
    X, y = X[order], y[order]
    model = SparseKernelFisherDiscriminant(max_nodes=10).partial_fit(X[:50], y[:50], [0, 1, 2])
    with pytest.warns(UserWarning, match="Class 2 comes for the first time"):
        model.partial_fit(X[50:], y[50:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_weight": "balanced"}, "class_weight='balanced'"),
        ({"scatter": "class"}, "scatter='class'"),
        ({"node_choice": "loo"}, "node_choice='loo'"),
        ({"alpha": "loo"}, "alpha='loo'"),
    ],
)
def test_partial_fit_refuses_what_needs_all_rows(blobs, options, message):
    X, y = blobs(0)
    with pytest.raises(ValueError, match=message):
        SparseKernelFisherDiscriminant(**options).partial_fit(X, y, classes=[0, 1])


def test_partial_fit_refuses_unknown_classes(blobs):
    X, y = blobs(0)
    model = SparseKernelFisherDiscriminant(max_nodes=5)
    with pytest.raises(ValueError, match="needs classes"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="not among the classes"):
        SparseKernelFisherDiscriminant().partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="at least two classes"):
        SparseKernelFisherDiscriminant().partial_fit(X, y, classes=[0])


@pytest.mark.parametrize("kernel", ["laplacian", "poly", "linear"])
def test_other_kernels(blobs, kernel):
    X, y = blobs(10, n_rows=120, n_classes=3, shift=6)
    model = SparseKernelFisherDiscriminant(kernel=kernel, max_nodes=20).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.8


def test_alpha_by_every_rule(blobs):
    X, y = blobs(11, n_rows=200, n_classes=3)
    for alpha in ("gcv", "loo", "auto", 1e-3):
        model = SparseKernelFisherDiscriminant(alpha=alpha, max_nodes=20).fit(X, y)
        assert 0 < model.alpha_ < 100
        assert model.score(X, y) > 0.6


def test_a_validation_part_of_no_rows_is_refused(blobs):
    X, y = blobs(0)
    model = SparseKernelFisherDiscriminant(node_choice="validation", validation_fraction=0.01)
    with pytest.raises(ValueError, match=r"validation_fraction=0\.01 of 40 rows"):
        model.fit(X, y)


def test_float32_rows_are_not_copied_and_agree(digits):
    X, y = digits
    options = {"max_nodes": 40, "random_state": 0, "gamma": 0.1}
    double = SparseKernelFisherDiscriminant(**options).fit(X, y)
    single = SparseKernelFisherDiscriminant(**options).fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(single.support_, double.support_)
    assert np.mean(single.predict(X) == double.predict(X)) > 0.99


def test_results_of_an_earlier_fit_do_not_stay(blobs):
    X, y = blobs(13)
    model = SparseKernelFisherDiscriminant(max_nodes=8, node_choice="loo").fit(X, y)
    assert hasattr(model, "loo_results_")
    assert hasattr(model, "node_results_")
    model.set_params(gamma=1.0, node_choice="all").fit(X, y)
    assert not hasattr(model, "loo_results_")
    assert not hasattr(model, "node_results_")


def test_limits_follow_the_classes_and_the_rows():
    auto = [NodeLimits.resolve("auto", "auto", c, 1000) for c in (2, 10, 26)]
    assert [limit.max_nodes for limit in auto] == [500, 1000, 2000]
    assert [limit.n_candidates for limit in auto] == [2000, 2000, 4000]
    assert NodeLimits.resolve(1500, "auto", 3, 10**9).n_candidates == 3000
    assert NodeLimits.resolve(5, None, 3, 10**9) == NodeLimits(5, None)
    # One for ten rows, at most 2 000, and at most as many products as 500 nodes of a million rows.
    sizes = (5000, 12_000, 20_000, 62_500, 250_000, 10**6, 10**8)
    found = [NodeLimits.resolve("auto", "auto", 2, n).max_nodes for n in sizes]
    assert found == [500, 1200, 2000, 2000, 1000, 500, 500]


@pytest.mark.parametrize("kernel", ["rbf", "exponential", "laplacian"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_nodes_are_as_sure_as_all_rows(blobs, kernel, n_classes):
    """Nodes of a kernel with a cusp have a leverage near one, and their residuals say nothing."""
    X, y = blobs(3, n_rows=150, n_classes=n_classes)
    new, _ = blobs(3, n_rows=60, n_classes=n_classes)
    every = KernelFisherDiscriminant(kernel=kernel, scatter="total").fit(X, y)
    model = SparseKernelFisherDiscriminant(kernel=kernel, random_state=0).fit(X, y)
    ratio = np.std(model.decision_function(new)) / np.std(every.decision_function(new))
    assert 0.6 < ratio < 1.6
    np.testing.assert_allclose(model.predict_proba(new), every.predict_proba(new), atol=0.25)

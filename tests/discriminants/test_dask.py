"""Discriminants fitted on Dask arrays choose the nodes that they choose in memory."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

from lazy import cut, cut_elsewhere, labelled
from mercer import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants import _sparse as _sparse_fit
from mercer.samples import _draws
from mercer.spectral import stratified_rows

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def _sparse(**options):
    return SparseKernelFisherDiscriminant(max_nodes=20, random_state=0, **options)


@pytest.mark.parametrize(
    ("model", "n_rows"),
    [
        (_sparse(), 300),
        (_sparse(gamma=0.3, scatter="class", class_weight="balanced"), 300),
        (_sparse(gamma=0.3, scatter="sum", alpha=1.0, node_choice="loo"), 300),
        (_sparse(gamma=0.3, alpha="loo", priors=[0.2, 0.3, 0.5]), 300),
        (_sparse(gamma=0.3, kernel="laplacian", penalty="coef", n_components=1), 300),
        (KernelFisherDiscriminant(gamma=0.3), 150),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_as_in_memory(model, n_rows, weighted):
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 2.0], n_rows) if weighted else None
    _check(model, n_rows, weights)


def test_long_tables_as_in_memory(monkeypatch):
    """By a sample of the rows, and kernels in single precision."""
    monkeypatch.setattr(_sparse_fit, "_LONG_TABLE", 500)
    monkeypatch.setattr(_sparse_fit, "_SAMPLE_ROWS", 500)
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 2.0], 1200)
    _check(_sparse(gamma=0.3), 1200, weights)


def _check(model, n_rows, weights):
    X, y = labelled(n_rows)
    new, _ = labelled(40, seed=1)
    lazy = None if weights is None else cut_elsewhere(weights)
    expected = clone(model).fit(X, y, sample_weight=weights)
    fitted = clone(model).fit(cut(X), cut_elsewhere(y), sample_weight=lazy)
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    assert fitted.gamma_ == expected.gamma_
    assert fitted.alpha_ == pytest.approx(expected.alpha_)
    for method in ("decision_function", "predict_proba", "predict_log_proba", "transform"):
        answer = getattr(expected, method)(new)
        found = getattr(fitted, method)(cut(new))
        assert isinstance(found, da.Array)
        assert found.dtype == answer.dtype
        np.testing.assert_allclose(found, answer, rtol=1e-5, atol=1e-6, err_msg=method)
    np.testing.assert_array_equal(fitted.predict(cut(new)), expected.predict(new))


def test_the_sample_of_a_long_table_does_not_depend_on_blocks(monkeypatch):
    monkeypatch.setattr(_draws, "_LABELS_TOGETHER", 100)
    codes = np.random.default_rng(0).choice(3, 2000, p=[0.8, 0.15, 0.05]).astype(np.uint8)
    draws = [
        _draws.draw_rows(cut(codes, sizes), 3, 200, 0.5, np.random.RandomState(5))
        for sizes in ((2000,), (700, 1, 1299), (100,) * 20)
    ]
    for draw in draws[1:]:
        np.testing.assert_array_equal(draw, draws[0])
    like = stratified_rows(codes.astype(int), 200, 0.5, np.random.RandomState(5))
    np.testing.assert_array_equal(np.bincount(codes[draws[0]]), np.bincount(codes[like]))
    other = _draws.draw_rows(cut(codes), 3, 200, 0.5, np.random.RandomState(6))
    assert len(np.intersect1d(other, draws[0])) < 120
    assert abs(draws[0].mean() - 1000) < 200


def test_a_block_goes_on_from_a_fit_on_blocks():
    X, y = labelled(300)
    model = _sparse(gamma=0.3, alpha=1e-3)
    expected = clone(model).fit(X, y).partial_fit(X[:50], y[:50]).transform(X)
    found = clone(model).fit(cut(X), y).partial_fit(X[:50], y[:50]).transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_sentences():
    X, y = labelled(60)
    budget = config_context(working_memory=60 * X.shape[1] * 8 / 2**20)
    with budget:
        KernelFisherDiscriminant(gamma=0.3, alpha=1e-3, n_landmarks=20).fit(cut(X), y)
    budget = config_context(working_memory=59 * X.shape[1] * 8 / 2**20)
    with budget, pytest.raises(ValueError, match=r"these 60 take 0 MiB, .*; use SparseKernelF"):
        KernelFisherDiscriminant().fit(cut(X), y)
    with pytest.raises(ValueError, match="node_choice='validation' takes no Dask array"):
        _sparse(node_choice="validation").fit(cut(X), y)
    with pytest.raises(ValueError, match="at least two classes"):
        _sparse().fit(cut(X), np.zeros(60))
    with pytest.raises(ValueError, match=r"compute_chunk_sizes"):
        _sparse().fit(cut(X)[cut(X)[:, 0] > 0], y)
    with pytest.raises(ValueError, match="partial_fit takes no Dask array"):
        _sparse().partial_fit(cut(X), y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"one entry for each of the 60 rows, got shape \(60, 1\)"):
        _sparse().fit(cut(X), y, sample_weight=np.ones((60, 1)))
    with pytest.raises(ValueError, match="'max_nodes' parameter"):
        SparseKernelFisherDiscriminant(max_nodes=-1).fit(cut(X), y)


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("model", [KernelFisherDiscriminant(), _sparse()], ids=str)
def test_blocks_beside_tensors(torch, model):
    """Labels and weights count by their values; rows of the other kind get no answer."""
    X, _ = labelled(60)
    y, weights = np.arange(60) % 3, np.linspace(1, 2, 60)
    expected = clone(model).fit(X, y, sample_weight=weights).transform(X)
    labels, history = torch.tensor(y), torch.tensor(weights, requires_grad=True)
    found = clone(model).fit(cut(X), labels, sample_weight=history).transform(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    on_tensors = clone(model).fit(torch.tensor(X), cut(y), sample_weight=cut(weights))
    np.testing.assert_allclose(on_tensors.transform(torch.tensor(X)), expected, 1e-6, 1e-8)
    for method in ("predict", "transform"):
        with pytest.raises(ValueError, match="X is a Dask array and what was fitted is a tensor"):
            getattr(on_tensors, method)(cut(X))


def test_ridge_by_leave_one_out_needs_room():
    X, y = labelled(3000, n_features=20)
    with config_context(working_memory=1), pytest.raises(ValueError, match="use alpha='gcv'"):
        SparseKernelFisherDiscriminant(max_nodes=50, gamma=0.3, alpha="loo").fit(cut(X), y)

"""Kernel Fisher discriminants on torch tensors: the answers of NumPy arrays, as tensors."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from discriminants.tensors import MODELS, assert_same, written
from mercer import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants import _base, _moments, _sparse
from mercer.discriminants._gaussian import score_rule
from mercer.discriminants._moments import Moments, accumulate
from mercer.discriminants._width import weighted_median
from mercer.kernels import KernelFunction
from mercer.sums import _combinations

pytestmark = pytest.mark.usefixtures("dispatch")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    return StandardScaler().fit_transform(X), y, times


@pytest.mark.parametrize("model", MODELS, ids=written)
def test_tensors_answer_as_arrays(torch, wine, model):
    assert_same(model, *wine, torch, "cpu", rtol=1e-7)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[7], MODELS[9]], ids=str)
def test_rows_in_single_precision(torch, wine, model):
    X, y, times = wine
    assert_same(model, X.astype(np.float32), y, times, torch, "cpu", rtol=1e-6)


@pytest.mark.parametrize("model", [KernelFisherDiscriminant(), MODELS[9]], ids=str)
def test_two_classes(torch, wine, model):
    X, y, times = wine
    here, there = assert_same(model, X, np.minimum(y, 1), times, torch, "cpu", rtol=1e-7)
    assert there.decision_function(torch.as_tensor(X)).shape == here.decision_function(X).shape


def test_precomputed_kernels(torch, wine):
    X, y, times = wine
    K = X @ X.T
    for options in ({}, {"n_landmarks": 50, "random_state": 0}):
        model = KernelFisherDiscriminant(kernel="precomputed", **options)
        here = clone(model).fit(K, y, sample_weight=times)
        there = clone(model).fit(torch.as_tensor(K), y, sample_weight=times.tolist())
        expected = here.decision_function(K)
        found = there.decision_function(torch.as_tensor(K)).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9]], ids=str)
def test_labels_may_be_words_or_arrays(torch, wine, model):
    X, y, _ = wine
    x, words = torch.as_tensor(X), np.array(["barolo", "grignolino", "barbera"])[y]
    for labels in (words, words.tolist()):
        found = clone(model).fit(x, labels)
        assert isinstance(found.classes_, np.ndarray)
        assert torch.is_tensor(found.dual_coef_)
        assert (found.predict(x) == clone(model).fit(X, words).predict(X)).all()
    assert isinstance(clone(model).fit(x, y).predict(x), np.ndarray)


def test_long_tables_go_in_blocks(torch, monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = (X[:800] / 16).astype(np.float32), y[:800]
    monkeypatch.setattr(_sparse, "_LONG_TABLE", 500)
    monkeypatch.setattr(_moments, "_BLOCK_TENSORS", 50 * 400)
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=50, random_state=0)
    here, there = clone(model).fit(X, y), clone(model).fit(torch.as_tensor(X), torch.as_tensor(y))
    # Arrays take float32 kernels here, tensors never do.
    expected, found = here.predict_proba(X), there.predict_proba(torch.as_tensor(X)).numpy()
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.998


@pytest.mark.parametrize("most", [200, 10_000])
def test_blocks_of_rows(torch, wine, monkeypatch, most):
    monkeypatch.setattr("mercer.discriminants._blocks._MOST_KEPT", most // 2)
    X, y, times = wine
    x, t = torch.as_tensor(X), torch.as_tensor(y)
    model = SparseKernelFisherDiscriminant(max_nodes=20, random_state=0, tol=0)
    here, there = clone(model), clone(model)
    for rows in (slice(0, None, 3), slice(1, None, 3), slice(2, None, 3)):
        here.partial_fit(X[rows], y[rows], [0, 1, 2], sample_weight=times[rows])
        there.partial_fit(x[rows], t[rows], torch.arange(3), sample_weight=times[rows])
    assert torch.is_tensor(there.classes_)
    np.testing.assert_array_equal(there.support_.numpy(), here.support_)
    np.testing.assert_allclose(there.predict_proba(x).numpy(), here.predict_proba(X), atol=1e-7)
    with pytest.raises(ValueError, match="NumPy array and what was fitted is a tensor"):
        there.partial_fit(X, y)


def test_stages(torch, wine):
    X, y, _ = wine
    model = SparseKernelFisherDiscriminant(max_nodes=8, random_state=0).fit(X, y)
    stages = [labels.copy() for labels in model.staged_predict(X)]
    found = list(model.fit(torch.as_tensor(X), y).staged_predict(torch.as_tensor(X)))
    assert len(found) == len(stages) == 8
    np.testing.assert_array_equal(found, stages)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9]], ids=str)
def test_no_history_is_kept(torch, wine, model):
    X, y, _ = wine
    x = torch.as_tensor(X).requires_grad_()
    fitted = clone(model).fit(x, y)
    answers = [fitted.X_fit_, fitted.dual_coef_, fitted.transform(x), fitted.predict_proba(x)]
    assert not any(answer.requires_grad for answer in answers)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9]], ids=str)
def test_rows_elsewhere_are_refused(torch, wine, model):
    X, y, _ = wine
    x = torch.as_tensor(X)
    on_tensors, on_arrays = clone(model).fit(x, y), clone(model).fit(X, y)
    for method in ("predict", "transform", "predict_proba"):
        with pytest.raises(ValueError, match=r"X is a NumPy array and .* a tensor on cpu: put"):
            getattr(on_tensors, method)(X)
        with pytest.raises(ValueError, match=r"X is a tensor on cpu and .* a NumPy array: put"):
            getattr(on_arrays, method)(x)


def test_sparse_tensors_are_refused(torch, wine):
    X, y, _ = wine
    with pytest.raises(TypeError, match=r"to_dense\(\)"):
        KernelFisherDiscriminant().fit(torch.as_tensor(X).to_sparse(), y)


def test_a_block_without_room_is_halved(torch):
    rng = np.random.default_rng(0)
    K, y = torch.as_tensor(rng.normal(size=(1000, 5))), torch.as_tensor(rng.integers(0, 3, 1000))
    one, sizes = torch.ones(1000, dtype=torch.float64), []

    def block(rows):
        sizes.append(rows.stop - rows.start)
        if sizes[-1] > 300:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return K[rows]

    found = accumulate(Moments.empty(3, torch.zeros(5, dtype=torch.float64)), block, y, one, one)
    assert max(sizes) == 1000
    assert sizes.count(max(s for s in sizes if s <= 300)) >= 2
    assert found.count == 1000
    torch.testing.assert_close(found.gram, K.T @ K)
    torch.testing.assert_close(found.sums, torch.stack([K[y == c].sum(0) for c in range(3)]))


@pytest.mark.parametrize("kernel", ["rbf", "exponential", "laplacian", "poly"])
def test_predictions_without_room_are_halved(torch, wine, monkeypatch, kernel):
    X, y, _ = wine
    x = torch.as_tensor(X)
    model = KernelFisherDiscriminant(kernel=kernel).fit(x, y)
    expected, sizes = model.decision_function(x), []

    def tight(work):
        def limited(*given):
            sizes.append(next(A.shape[0] for A in given if torch.is_tensor(A)))
            if sizes[-1] > 100:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return work(*given)

        return limited

    for owner, name in ((_combinations, "_engine_sums"), (KernelFunction, "matrix")):
        monkeypatch.setattr(owner, name, tight(getattr(owner, name)))
    torch.testing.assert_close(model.decision_function(x), expected)
    assert sizes == [178, 89, 89]


def test_moments_that_find_no_room_are_not_changed(torch):
    class Full:
        def __iadd__(self, other):
            raise torch.OutOfMemoryError("CUDA out of memory.")

    moments = Moments.empty(2, torch.zeros(4, dtype=torch.float64))
    moments.gram = Full()
    K, one = torch.ones(6, 4, dtype=torch.float64), torch.ones(6, dtype=torch.float64)
    with pytest.raises(torch.OutOfMemoryError):
        moments.absorb(K, torch.tensor([0, 1, 0, 1, 0, 1]), one, one)
    assert moments.count == 0
    assert not moments.sums.any()
    assert not moments.weights.any()


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9]], ids=str)
def test_a_device_without_room_is_one_sentence(torch, wine, monkeypatch, model):
    X, y, _ = wine
    full = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has …")

    def no_room(*_):
        raise full

    fitted = clone(model).fit(torch.as_tensor(X), y)
    monkeypatch.setattr(KernelFunction, "base", no_room)
    monkeypatch.setattr(_base, "combine_kernel", no_room)
    sentence = r"memory for {} 178 rows: 20.00 GiB more were wanted\. .*working_memory"
    with pytest.raises(MemoryError, match=sentence.format("a fit on")):
        clone(model).fit(torch.as_tensor(X), y)
    with pytest.raises(MemoryError, match=sentence.format("the scores of")):
        fitted.predict(torch.as_tensor(X))
    full = RuntimeError("another one")
    with pytest.raises(RuntimeError, match="another one"):
        fitted.predict(torch.as_tensor(X))


def test_balanced_scores_are_those_of_scikit_learn(torch):
    rng = np.random.default_rng(0)
    labels, weights = rng.choice(3, 60, p=[0.7, 0.2, 0.1]), rng.uniform(0.5, 2, 60)
    scores = rng.normal(size=(2, 60, 3))
    for name, metric in (
        ("accuracy", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
    ):
        expected = [metric(labels, s.argmax(axis=1), sample_weight=weights) for s in scores]
        normal = weights / weights.sum()
        np.testing.assert_allclose(score_rule(scores, labels, normal, name), expected)
        tensors = [torch.as_tensor(A) for A in (scores, labels, normal)]
        np.testing.assert_allclose(score_rule(*tensors, name).numpy(), expected)


def test_medians_of_tensors(torch):
    rng = np.random.default_rng(0)
    for n, m in ((4, 5), (3, 3)):
        values = rng.normal(size=(n, m))
        times = rng.integers(1, 4, n), rng.integers(1, 4, m)
        for r, c in ((np.ones(n), np.ones(m)), times):
            literal = np.sort(np.repeat(values.ravel(), np.outer(r, c).ravel().astype(int)))
            expected = literal[(len(literal) - 1) // 2]
            assert weighted_median(values, r, c) == expected
            assert weighted_median(torch.as_tensor(values), r, c) == expected

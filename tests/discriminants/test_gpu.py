"""Kernel Fisher discriminants on CUDA tensors: the answers of NumPy arrays, on the device."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from discriminants.tensors import MODELS, assert_same, written
from mercer import (
    KernelFisherDiscriminant,
    LaplacianFeatureMap,
    NearestAngleClassifier,
    SparseKernelFisherDiscriminant,
)
from mercer.models import OnDevice

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("dispatch")]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    return StandardScaler().fit_transform(X), y, times


@pytest.mark.parametrize("model", MODELS, ids=written)
def test_same_answers_on_the_device(torch, wine, model):
    assert_same(model, *wine, torch, "cuda", rtol=1e-6)


@pytest.mark.parametrize("model", [MODELS[0], MODELS[9]], ids=str)
def test_rows_in_single_precision(torch, wine, model):
    X, y, times = wine
    assert_same(model, X.astype(np.float32), y, times, torch, "cuda", rtol=1e-5)


def test_the_table_stays_on_the_device(torch, monkeypatch):
    rng = np.random.default_rng(0)
    n, d = 60_000, 16
    y = rng.integers(0, 4, n)
    X = (rng.normal(size=(n, d)) + y[:, None]).astype(np.float32)
    x, t = torch.as_tensor(X, device="cuda"), torch.as_tensor(y, device="cuda")
    fetched = []
    original = torch.Tensor.cpu

    def counted(tensor, *args, **kwargs):
        fetched.append(tensor.numel() if tensor.is_cuda else 0)
        return original(tensor, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    model = SparseKernelFisherDiscriminant(max_nodes=50, random_state=0).fit(x, t)
    labels = model.predict(x)
    assert labels.is_cuda
    assert max(fetched) <= n  # the labels, but never n·d numbers
    assert (labels == t).double().mean() > 0.5


def test_the_matrix_of_a_few_rows_at_a_time(torch):
    """The pass over a table takes no more memory than the budget says, beside the table."""
    rng = np.random.default_rng(0)
    n = 300_000
    y = rng.integers(0, 3, n)
    x = torch.as_tensor((rng.normal(size=(n, 8)) + y[:, None]).astype(np.float32), device="cuda")
    model = SparseKernelFisherDiscriminant(max_nodes=400, gamma=0.05, random_state=0)
    model.fit(x[:20_000], y[:20_000])
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model.fit(x, y)
    assert torch.cuda.max_memory_allocated() - before < 1.3 * 2**30  # all kernels: 0.96 GB


def test_labels_of_arrays_and_words(torch):
    X, y = load_digits(return_X_y=True)
    words = np.array([f"digit {i}" for i in range(10)])[y]
    x = torch.as_tensor(X, device="cuda")
    model = SparseKernelFisherDiscriminant(max_nodes=40, random_state=0)
    assert (clone(model).fit(x, words).predict(x) == clone(model).fit(X, words).predict(X)).all()


@pytest.mark.parametrize("model", [KernelFisherDiscriminant(), LaplacianFeatureMap()], ids=str)
def test_without_dispatch_the_sentence_says_how(torch, wine, model):
    x = torch.as_tensor(wine[0], device="cuda")
    sentence = r"tensor on cuda:0: switch on .*array_api_dispatch=True"
    with config_context(array_api_dispatch=False), pytest.raises(TypeError, match=sentence):
        model.fit(x, wine[1])


def test_wrong_places_are_one_sentence(torch, wine):
    X, y, _ = wine
    x = torch.as_tensor(X, device="cuda")
    model = KernelFisherDiscriminant().fit(x, y)
    with pytest.raises(ValueError, match="NumPy array and what was fitted is a tensor on cuda"):
        model.predict(X)
    with pytest.raises(ValueError, match="tensor on cpu and what was fitted is a tensor on cuda"):
        model.predict(x.cpu())


def test_no_room_is_one_sentence(torch):
    X = torch.rand(3000, 4, device="cuda")
    y = np.arange(3000) % 2
    torch.cuda.empty_cache()
    _, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction(
        min(1.0, (torch.cuda.memory_reserved() + 2**23) / total)
    )
    try:
        with pytest.raises(MemoryError, match="not have enough memory for a fit on 3000 rows"):
            KernelFisherDiscriminant(n_landmarks=None).fit(X, y)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_feature_map_and_angles(torch, wine):
    X, y, _ = wine
    x = torch.as_tensor(X, device="cuda")
    for options in ({}, {"density": "mercer"}, {"density": None}):
        here, there = LaplacianFeatureMap(3, **options), LaplacianFeatureMap(3, **options)
        expected, found = here.fit_transform(X), there.fit_transform(x)
        assert found.is_cuda
        np.testing.assert_allclose(found.cpu().numpy(), expected, atol=1e-8)
        np.testing.assert_allclose(there.transform(x).cpu().numpy(), here.transform(X), atol=1e-8)
    angles = NearestAngleClassifier().fit(found, torch.as_tensor(y, device="cuda"))
    assert angles.predict(found).is_cuda


def test_on_device_comes_back(torch, wine):
    X, y, _ = wine
    model = OnDevice(KernelFisherDiscriminant(), device="cuda").fit(X, y)
    assert isinstance(model.estimator_.dual_coef_, np.ndarray)
    assert (model.predict(X) == model.estimator_.predict(X)).all()

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
from mercer.discriminants import _choice, _exact, _expansion, _iterative
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
            KernelFisherDiscriminant(solver="exact").fit(X, y)
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


def overlapping(torch, n_rows, dtype=np.float64):
    """Return rows of three classes on the device, their classes, and rows to answer for."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    centres = 1.5 * rng.normal(size=(3, 6))
    X = rng.normal(size=(n_rows, 6)) + centres[y]
    new = rng.normal(size=(2000, 6)) + centres[np.arange(2000) % 3]
    there = (torch.as_tensor(A.astype(dtype), device="cuda") for A in (X, new))
    X, new = there
    return X, torch.as_tensor(y, device="cuda"), new


@pytest.fixture
def approximate(monkeypatch):
    """Half of the matrix never fits: sums in float32, columns and blocks of neighbours."""
    monkeypatch.setattr(_iterative, "most_panel_rows", lambda n_bytes, itemsize=4: 0)
    monkeypatch.setattr(_iterative, "_BLOCK_ROWS", 100)
    monkeypatch.setattr(_iterative, "_MOST_COLUMNS", 200)


def of_spread(found, expected):
    """Return the largest difference, as a share of how far the answers are spread."""
    assert found.is_cuda
    return float(abs(found - expected).max() / (expected.max() - expected.min()))


KERNELS = ["rbf", "exponential", "laplacian", "poly", "linear"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_steps_on_a_factor_lead_to_the_exact_answers(torch, kernel):
    x, t, new = overlapping(torch, 1500)
    options = {"kernel": kernel, "gamma": 0.1, "alpha": 1e-3, "degree": 2}
    found = KernelFisherDiscriminant(solver="iterative", tol=1e-9, **options).fit(x, t)
    expected = KernelFisherDiscriminant(solver="exact", **options).fit(x, t)
    assert (found.solver_, expected.solver_) == ("iterative", "exact")
    assert not found._is_single
    assert of_spread(found.transform(new), expected.transform(new)) < 1e-6
    assert of_spread(found.decision_function(new), expected.decision_function(new)) < 1e-4
    for name in ("dual_coef_", "eigenvalues_", "X_fit_", "support_", "priors_", "classes_"):
        assert getattr(found, name).is_cuda, name
    assert found.dual_coef_.dtype == torch.float64


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_steps_on_sums_in_single_precision_lead_near_the_exact_answers(torch, approximate, dtype):
    """1 500² pairs are more than 2²⁰: Triton's kernels sum them."""
    x, t, new = overlapping(torch, 1500, dtype)
    options = {"kernel": "rbf", "gamma": 0.1, "alpha": 1e-2}
    found = KernelFisherDiscriminant(solver="iterative", **options).fit(x, t)
    assert found._is_single
    expected = KernelFisherDiscriminant(solver="exact", **options).fit(x, t)
    assert of_spread(found.transform(new), expected.transform(new)) < 1e-2
    assert of_spread(found.decision_function(new), expected.decision_function(new)) < 1e-2
    differ = (found.predict(new) != expected.predict(new)).double().mean()
    assert float(differ) < 0.01
    for name in ("dual_coef_", "eigenvalues_", "X_fit_", "support_"):
        assert getattr(found, name).is_cuda, name
    assert found.dual_coef_.dtype == torch.float64


@pytest.mark.parametrize("kernel", ["exponential", "laplacian"])
def test_kernels_with_a_cusp_in_single_precision(torch, approximate, kernel):
    x, t, new = overlapping(torch, 1500)
    options = {"kernel": kernel, "gamma": 0.2, "alpha": 1e-2}
    found = KernelFisherDiscriminant(solver="iterative", **options).fit(x, t)
    expected = KernelFisherDiscriminant(solver="exact", **options).fit(x, t)
    assert of_spread(found.transform(new), expected.transform(new)) < 1e-2
    differ = (found.predict(new) != expected.predict(new)).double().mean()
    assert float(differ) < 0.01


def test_rows_far_from_the_origin_in_single_precision(torch, approximate):
    """Sums are about the mean of the rows; so are those of answers."""
    x, t, new = overlapping(torch, 1500)
    options = {"kernel": "rbf", "gamma": 0.1, "alpha": 1e-2}
    near = KernelFisherDiscriminant(solver="iterative", **options).fit(x, t)
    far = clone(near).fit(x + 1e4, t)
    assert of_spread(far.transform(new + 1e4), near.transform(new)) < 1e-2


def test_fits_in_single_precision_repeat(torch, approximate):
    x, t, new = overlapping(torch, 1500)
    options = {"kernel": "rbf", "gamma": 0.1, "alpha": 1e-2, "solver": "iterative"}
    one, two = (KernelFisherDiscriminant(**options).fit(x, t) for _ in range(2))
    assert one.n_iter_ == two.n_iter_
    assert of_spread(two.transform(new), one.transform(new)) < 1e-4


def test_rows_that_are_solved_in_full_follow_the_free_memory(torch, monkeypatch):
    """Five matrices in half of what is free, and at most as many rows as an index has room for."""
    x = torch.zeros((1, 1), device="cuda")
    torch.cuda.empty_cache()
    monkeypatch.setattr(_exact, "_MOST_INDEXED", 10**9)
    free, _ = torch.cuda.mem_get_info()
    before = _exact.most_exact_rows(x)
    assert before == pytest.approx(np.sqrt(free / 2 / 40), rel=0.02)
    held = torch.empty(free // 2, dtype=torch.uint8, device="cuda")
    assert _exact.most_exact_rows(x) == pytest.approx(before / np.sqrt(2), rel=0.02)
    del held  # Torch keeps it for the next tensor: it counts as free.
    assert _exact.most_exact_rows(x) == pytest.approx(before, rel=0.02)
    torch.cuda.empty_cache()
    monkeypatch.undo()
    assert _exact.most_exact_rows(x) <= 46_340


@pytest.mark.parametrize("regime", ["factored", "approximate"])
def test_auto_takes_steps_where_memory_has_no_room_for_a_matrix(
    torch, monkeypatch, request, regime
):
    monkeypatch.setattr(_exact, "most_exact_rows", lambda X: 1000)
    monkeypatch.setattr(_choice, "GPU_TRIAL_ROWS", 1000)
    monkeypatch.setattr(_expansion, "GPU_CLIMB_ROWS", 1200)
    if regime == "approximate":
        request.getfixturevalue("approximate")
    x, t, new = overlapping(torch, 1500)
    model = KernelFisherDiscriminant(kernel="rbf").fit(x, t)
    assert model.solver_ == "iterative"
    assert model.n_iter_ > 0
    labels = model.predict(new)
    assert labels.is_cuda
    truth = torch.arange(2000, device="cuda") % 3
    assert float((labels == truth).double().mean()) > 0.6


def test_no_matrix_of_all_pairs_is_held_on_the_device(torch, monkeypatch, approximate):
    """The search of kernel and width aside, which is on some rows only."""
    monkeypatch.setattr(_choice, "GPU_TRIAL_ROWS", 500)
    monkeypatch.setattr(_expansion, "CLIMB_ROWS", 500)
    monkeypatch.setattr(_expansion, "GPU_CLIMB_ROWS", 500)
    n_rows = 20_000
    x, t, _ = overlapping(torch, n_rows, np.float32)
    model = KernelFisherDiscriminant(kernel="rbf", gamma=0.1, alpha=1e-2, solver="iterative")
    model.fit(x[:2000], t[:2000])
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model.fit(x, t)
    peak = torch.cuda.max_memory_allocated() - before
    assert peak < 4 * n_rows**2 / 2  # in float32 even, that would be 1.6 GB

"""The classifiers on CUDA tensors: the same answers as on NumPy arrays, and on the device."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.classifiers import _race
from mercer.sums.cuda import _left_out as _triton_left_out
from mercer.sums.cuda import _run as _triton

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("dispatch")]

MODELS = [
    LaplacianClassifier(),
    LaplacianClassifier(rule="auto", density="mercer"),
    LaplacianClassifier(rule="append", density=None),
    LaplacianClassifier(loo="exact", rule="auto"),
    LaplacianClassifier(bandwidth="silverman", n_nodes=30),
    LaplacianClassifier(density_subset=0.5, random_state=0),
    ParzenClassifier(),
    ParzenClassifier(bandwidth="silverman", per_class=True, priors="uniform"),
    ISEClassifier(),
    ISEClassifier(rule="auto"),
    ISEClassifier(bandwidth=[1.0, 1.1, 1.2]),
    LaplacianClassifier(kernel="laplacian", rule="append"),
    LaplacianClassifier(bandwidth=1.0, density_subset=0.5, random_state=0),
    ISEClassifier(weighting="margin"),
    ISEClassifier(weighting="cauchy_schwarz"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_same_answers_on_the_device(torch, model):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    w = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    expected = model.fit(X[::2], y[::2], sample_weight=w[::2])
    scores, proba, labels = (
        getattr(expected, name)(X[1::2])
        for name in ("decision_function", "predict_proba", "predict")
    )
    bandwidth = expected.bandwidth_
    with config_context(array_api_dispatch=True):
        x, t, v = (torch.as_tensor(A, device="cuda") for A in (X, y, w))
        found = model.fit(x[::2], t[::2], sample_weight=v[::2])
        on_device = found.decision_function(x[1::2])
        assert on_device.is_cuda
        np.testing.assert_allclose(on_device.cpu().numpy(), scores, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.predict_proba(x[1::2]).cpu().numpy(), proba, atol=1e-7)
        answers = found.predict(x[1::2])
        assert answers.is_cuda
        assert (answers.cpu().numpy() == labels).all()
    there = found.bandwidth_
    there = there if isinstance(there, float) else there.cpu().numpy()
    np.testing.assert_allclose(there, bandwidth, rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [LaplacianClassifier(rule="auto"), ParzenClassifier(kernel="exponential"), ISEClassifier()],
    ids=str,
)
def test_same_race_on_the_device(torch, model, monkeypatch):
    """Rows of the stages, decisions and elimination."""
    monkeypatch.setattr(_race, "_ALL_UP_TO", 200)
    monkeypatch.setattr(_race, "_FIRST", 200)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 700)
    X = np.c_[(y + rng.random(700)) / 3 + rng.integers(0, 4, 700), rng.random(700)]
    expected = model.fit(X, y).loo_results_
    bandwidth = model.bandwidth_
    assert (expected["rows"] < 700).any()
    with config_context(array_api_dispatch=True):
        model.fit(*(torch.as_tensor(A, device="cuda") for A in (X, y)))
    assert model.bandwidth_ == pytest.approx(bandwidth, rel=1e-9)
    for column in ("rows", "bandwidth", "accuracy", "balanced_accuracy", "log_loss"):
        np.testing.assert_allclose(model.loo_results_[column], expected[column], rtol=1e-6)


LARGE = [
    LaplacianClassifier(),
    LaplacianClassifier(rule="append", density=None),
    ParzenClassifier(),
    ISEClassifier(),
    ISEClassifier(rule="append"),
]


@pytest.fixture
def fused(monkeypatch):
    """How often sums and left-out sums were fused."""
    calls = {}

    def count(module, name):
        function = getattr(module, name)
        calls[name] = 0

        def counted(*args):
            calls[name] += 1
            return function(*args)

        monkeypatch.setattr(module, name, counted)

    count(_triton, "fused_sums")
    count(_triton_left_out, "fused_left_out_sums")
    return calls


@pytest.mark.parametrize("model", LARGE, ids=str)
def test_large_samples_in_single_precision(torch, fused, model):
    """What fused float32 sums find is what float64 does, but for rows on the boundary.

    A score of a row differs by some 1e-6 of itself: of 5000 rows, few are as near to the boundary.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25_000, 10))
    # Shells: windows as wide as the table, which tell rows apart by their last digits, lose.
    size = np.linalg.norm(X[:, :3], axis=1) + 0.3 * rng.normal(size=25_000)
    y = np.digitize(size, np.quantile(size, [1 / 3, 2 / 3]))
    X = X.astype(np.float32)
    with config_context(array_api_dispatch=False):
        expected = model.fit(X[:20_000].astype(float), y[:20_000])
        labels = expected.predict(X[20_000:].astype(float))
    bandwidth = expected.bandwidth_
    with config_context(array_api_dispatch=True):
        x, t = (torch.as_tensor(A, device="cuda") for A in (X, y))
        model.fit(x[:20_000], t[:20_000])
        answers = model.predict(x[20_000:])
    assert fused["fused_left_out_sums"] > 0
    assert fused["fused_sums"] > 0
    assert answers.is_cuda
    assert model.bandwidth_ == pytest.approx(bandwidth, rel=1e-4)
    assert (answers.cpu().numpy() == labels).mean() >= 0.999

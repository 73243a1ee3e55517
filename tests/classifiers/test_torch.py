"""Torch tensors through scikit-learn's array API dispatch: the results of NumPy."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.classifiers import _race

MODELS = [
    ParzenClassifier(),
    ParzenClassifier(bandwidth=[0.5, 1.0, 2.0]),
    ParzenClassifier(bandwidth="silverman", per_class=True),
    ParzenClassifier(kernel="exponential"),
    LaplacianClassifier(),
    LaplacianClassifier(rule="append", priors="uniform"),
    LaplacianClassifier(rule="auto", loo="exact"),
    LaplacianClassifier(rule="auto", density=None),
    LaplacianClassifier(density="mercer", scoring="balanced_accuracy"),
    LaplacianClassifier(density_subset=60, random_state=0, rule="append"),
    LaplacianClassifier(n_nodes=25),
    LaplacianClassifier(n_nodes=25, node_selection="random", random_state=0),
    ISEClassifier(),
    ISEClassifier(weighting="margin"),
    ISEClassifier(weighting="cauchy_schwarz"),
    ISEClassifier(rule="append"),
    ISEClassifier(rule="auto", kernel="exponential"),
    ISEClassifier(bandwidth=[1.0, 1.1, 1.2]),
    LaplacianClassifier(bandwidth=[0.5, 1.0, 2.0]),
    LaplacianClassifier(kernel="laplacian"),
    LaplacianClassifier(bandwidth=1.0, rule="append", density_subset=60, random_state=0),
]
pytestmark = pytest.mark.usefixtures("dispatch")


def fits(torch, model, *given):
    """The model fitted to arrays, and to tensors of the same numbers."""
    return clone(model).fit(*given), clone(model).fit(*map(torch.as_tensor, given))


@pytest.mark.parametrize(
    ("model", "dtype", "tol"),
    [
        *((model, np.float64, 1e-7) for model in MODELS),
        *((model, np.float32, 1e-2) for model in MODELS[::3]),
    ],
    ids=str,
)
def test_torch_equals_numpy(torch, model, dtype, tol):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X).astype(dtype)
    times = np.random.default_rng(0).integers(0, 4, len(y)).astype(dtype)
    a, b = fits(torch, model, X, y, times)
    assert torch.is_tensor(b.X_fit_)
    assert torch.is_tensor(b.classes_)
    np.testing.assert_allclose(b.bandwidth_, a.bandwidth_, rtol=tol)
    assert getattr(a, "rule_", None) == getattr(b, "rule_", None)
    for name in ("decision_function", "predict_proba", "predict_log_proba"):
        expected, found = getattr(a, name)(X), getattr(b, name)(torch.as_tensor(X))
        assert torch.is_tensor(found), name
        assert str(found.dtype) == f"torch.{expected.dtype}", name
        scale = np.abs(expected).max() if name == "decision_function" else 1
        room = {"rtol": tol, "atol": tol * max(1, scale)}
        np.testing.assert_allclose(found.numpy(), expected, **room, err_msg=name)
    predicted = b.predict(torch.as_tensor(X)).numpy()
    assert (predicted != a.predict(X)).sum() <= (dtype == np.float32)
    if hasattr(a, "loo_results_"):
        for column in ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss"):
            found, expected = b.loo_results_[column], a.loo_results_[column]
            room = {"rtol": tol * 10, "atol": 1e-7 if dtype == np.float64 else 0.012}
            np.testing.assert_allclose(found, expected, **room, err_msg=column)


@pytest.mark.parametrize(
    "model",
    [
        LaplacianClassifier(rule="auto"),
        LaplacianClassifier(scoring="balanced_accuracy"),
        ParzenClassifier(),
        ParzenClassifier(kernel="exponential"),
        ISEClassifier(),
        LaplacianClassifier(kernel="cauchy"),
        ISEClassifier(rule="auto"),
    ],
    ids=str,
)
def test_stages_of_tensors_are_those_of_arrays(torch, model, monkeypatch):
    monkeypatch.setattr(_race, "_ALL_UP_TO", 200)
    monkeypatch.setattr(_race, "_FIRST", 200)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 700)
    X = np.c_[(y + rng.random(700)) / 3 + rng.integers(0, 4, 700), rng.random(700)]
    a, b = fits(torch, model, X, y, rng.integers(1, 3, 700))
    assert (a.loo_results_["rows"] < 700).any()
    for column, values in a.loo_results_.items():
        if column != "rule":
            found = b.loo_results_[column]
            np.testing.assert_allclose(found, values, rtol=1e-6, atol=1e-6, err_msg=column)
    assert abs(a.bandwidth_ / b.bandwidth_ - 1) < 1e-12

"""Torch tensors through scikit-learn's array API dispatch: the results of NumPy.

The dispatch must be switched on before SciPy is imported, so that each run is a process of its own.
"""

import os
import subprocess
import sys

PROGRAM = r"""
import sys
import numpy as np
import sklearn, torch
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier

sklearn.set_config(array_api_dispatch=True)
torch.set_num_threads(1)
data, target = load_wine(return_X_y=True)
data = StandardScaler().fit_transform(data)
MODELS = [
    ParzenClassifier(), ParzenClassifier(bandwidth=[0.5, 1.0, 2.0]),
    ParzenClassifier(bandwidth="silverman", per_class=True), ParzenClassifier(kernel="exponential"),
    LaplacianClassifier(), LaplacianClassifier(rule="append", priors="uniform"),
    LaplacianClassifier(rule="auto", loo="exact"), LaplacianClassifier(rule="auto", density=None),
    LaplacianClassifier(density="mercer", scoring="balanced_accuracy"),
    LaplacianClassifier(density_subset=60, random_state=0, rule="append"),
    LaplacianClassifier(n_nodes=25), LaplacianClassifier(n_nodes=25, node_selection="random",
                                                         random_state=0),
    ISEClassifier(), ISEClassifier(weighting="margin"), ISEClassifier(weighting="cauchy_schwarz"),
    ISEClassifier(rule="append"), ISEClassifier(rule="auto", kernel="exponential"),
    ISEClassifier(bandwidth=[1.0, 1.1, 1.2]), LaplacianClassifier(bandwidth=[0.5, 1.0, 2.0]),
    LaplacianClassifier(kernel="laplacian"),
    LaplacianClassifier(bandwidth=1.0, rule="append", density_subset=60, random_state=0),
]
n_checked = 0
for dtype, tol, models in ((np.float64, 1e-7, MODELS), (np.float32, 1e-2, MODELS[::3])):
    X, y = data.astype(dtype), target
    times = np.random.default_rng(0).integers(0, 4, len(y)).astype(dtype)
    for model in models:
        a = clone(model).fit(X, y, sample_weight=times)
        b = clone(model).fit(torch.as_tensor(X), torch.as_tensor(y), torch.as_tensor(times))
        assert torch.is_tensor(b.X_fit_) and torch.is_tensor(b.classes_), model
        np.testing.assert_allclose(b.bandwidth_, a.bandwidth_, rtol=tol, err_msg=str(model))
        assert getattr(a, "rule_", None) == getattr(b, "rule_", None), model
        for name in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
            expected, result = getattr(a, name)(X), getattr(b, name)(torch.as_tensor(X))
            assert torch.is_tensor(result), (model, name)
            assert str(result.dtype) == "torch." + str(expected.dtype), (model, name)
            if name == "predict":
                wrong = (result.numpy() != expected).sum()
                assert wrong <= (0 if tol < 1e-5 else 1), (model, wrong)
            else:
                scale = np.abs(expected).max() if name == "decision_function" else 1
                np.testing.assert_allclose(
                    result.numpy(), expected, rtol=tol, atol=tol * max(1, scale),
                    err_msg=f"{model} {name}",
                )
        if hasattr(a, "loo_results_"):
            for column in ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss"):
                np.testing.assert_allclose(
                    b.loo_results_[column], a.loo_results_[column], err_msg=f"{model} {column}",
                    rtol=tol * 10, atol=tol if tol < 1e-5 else 0.012,
                )
        n_checked += 1

from mercer.classifiers import _race
_race._ALL_UP_TO, _race._FIRST = 200, 200
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 700)
X = np.c_[(y + rng.random(700)) / 3 + rng.integers(0, 4, 700), rng.random(700)]
times = rng.integers(1, 3, 700)
for model in (
    LaplacianClassifier(rule="auto"), LaplacianClassifier(scoring="balanced_accuracy"),
    ParzenClassifier(), ParzenClassifier(kernel="exponential"), ISEClassifier(),
    LaplacianClassifier(kernel="cauchy"), ISEClassifier(rule="auto"),
):
    a = clone(model).fit(X, y, sample_weight=times)
    b = clone(model).fit(torch.as_tensor(X), torch.as_tensor(y), torch.as_tensor(times))
    assert (a.loo_results_["rows"] < 700).any(), model
    for column, values in a.loo_results_.items():
        if column != "rule":
            np.testing.assert_allclose(
                b.loo_results_[column], values, err_msg=f"{model} {column}", rtol=1e-6, atol=1e-6
            )
    assert abs(a.bandwidth_ / b.bandwidth_ - 1) < 1e-12, model
    n_checked += 1
print(n_checked)
"""


def test_torch_equals_numpy(torch):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True, text=True, timeout=240, check=False,
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert int(run.stdout) == 35  # models and precisions, and races

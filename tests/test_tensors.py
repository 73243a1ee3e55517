"""Every public estimator on torch tensors: it computes with them, or says what to pass instead."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from contract.subjects import public_estimators
from test_public_api import PACKAGES

# These compute where their rows are.
ON_TENSORS = {
    "DensityOutlierDetector",
    "ISEClassifier",
    "KernelDensity",
    "KernelFisherDiscriminant",
    "LaplacianClassifier",
    "LaplacianFeatureMap",
    "NearestAngleClassifier",
    "ParzenClassifier",
    "SparseKernelFisherDiscriminant",
}
METHODS = ("predict", "transform", "score_samples")  # the first that an estimator has
WRAPPED = {"param_grid": {"alpha": [1e-3]}}  # what meta-estimators need beside an estimator


def _make(cls):
    from inspect import signature

    from mercer import KernelFisherDiscriminant

    needed = signature(cls).parameters
    options = {name: value for name, value in WRAPPED.items() if name in needed}
    if "device" in needed:
        options["device"] = "cpu"
    if "estimator" in needed:
        return cls(KernelFisherDiscriminant(), **options)
    return cls(**options)


ESTIMATORS = {name: cls for name, cls in public_estimators(PACKAGES).items() if hasattr(cls, "fit")}


@pytest.mark.usefixtures("dispatch")
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_tensors_are_computed_with_or_refused(torch, name):
    X, y = load_iris(return_X_y=True)
    model, x = _make(ESTIMATORS[name]), torch.as_tensor(X)
    method = next(name for name in METHODS if hasattr(model, name))
    if name in ON_TENSORS:
        answer = getattr(model.fit(x, torch.as_tensor(y)), method)(x)
        expected = getattr(_make(ESTIMATORS[name]).fit(X, y), method)(X)
        assert torch.is_tensor(answer)
        np.testing.assert_allclose(answer.numpy(), expected, atol=1e-6)
        return
    sentence = rf"{name} computes with NumPy arrays only: pass X\.cpu\(\)\.numpy\(\)\."
    with pytest.raises(TypeError, match=sentence):
        model.fit(x, y)
    model.fit(x.numpy(), y)
    with pytest.raises(TypeError, match=sentence):
        getattr(model, method)(x)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_without_dispatch_a_tensor_is_its_values(torch, name):
    X, y = load_iris(return_X_y=True)
    x = torch.tensor(X, requires_grad=True)
    model = _make(ESTIMATORS[name])
    method = next(name for name in METHODS if hasattr(model, name))
    expected = getattr(_make(ESTIMATORS[name]).fit(X, y), method)(X)
    np.testing.assert_array_equal(getattr(model.fit(x, y), method)(x), expected)


def test_the_list_is_of_estimators_that_there_are():
    assert set(ESTIMATORS) > ON_TENSORS

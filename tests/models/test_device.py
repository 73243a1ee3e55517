"""OnDevice: NumPy in, tensors between, NumPy out; here on torch's CPU."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    ISEClassifier,
    KernelFisherDiscriminant,
    LaplacianClassifier,
    ParzenClassifier,
    SparseKernelFisherDiscriminant,
)
from mercer.models import (
    CappedClassifier,
    ModelCard,
    OnDevice,
    check_device,
    load_model,
    make_model,
    on_device,
    save_model,
    score_model,
)
from mercer.models._device import off_device
from mercer.tables import split_target

pytest.importorskip("torch", reason="torch is not installed")

FISHER = OnDevice(KernelFisherDiscriminant(kernel="rbf"), device="cpu", dtype="float64")
PARZEN = OnDevice(ParzenClassifier(), device="cpu", dtype="float64")
MODELS = [
    KernelFisherDiscriminant(),
    SparseKernelFisherDiscriminant(max_nodes=40, random_state=0),
    LaplacianClassifier(rule="auto"),
    LaplacianClassifier(n_nodes=40, rule="append"),
    ParzenClassifier(bandwidth="silverman", per_class=True),
    ISEClassifier(weighting="margin"),
]


@parametrize_with_checks([FISHER, PARZEN])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["a", "b", "c"])[y]


def _arrays(value):
    """All arrays in what was fitted, dataclasses looked into."""
    found = []
    for part in vars(value).values():
        if hasattr(part, "shape"):
            found.append(part)
        elif hasattr(part, "__dataclass_fields__"):
            found += _arrays(part)
    return found


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_answers_are_those_of_the_classifier(wine, model):
    X, y = wine
    times = np.random.default_rng(0).integers(1, 3, len(y))
    there = OnDevice(model, device="cpu", dtype="float64").fit(X, y, sample_weight=times)
    here = sklearn.clone(model).fit(X, y, sample_weight=times)
    assert (there.predict(X) == here.predict(X)).all()
    for method in ("predict_proba", "decision_function"):
        expected = getattr(here, method)(X)
        found = getattr(there, method)(X)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        # What came back is a model of its own.
        np.testing.assert_allclose(
            getattr(there.estimator_, method)(X), expected, rtol=1e-6, atol=1e-6
        )
    arrays = _arrays(there.estimator_)
    assert len(arrays) > 3
    assert all(isinstance(array, np.ndarray) for array in arrays)


def test_rows_are_float32_and_the_configuration_is_left_alone(wine):
    X, y = wine
    model = OnDevice(LaplacianClassifier(), device="cpu").fit(X, y)
    assert model.estimator_.X_fit_.dtype == np.float32
    assert model.predict_proba(X).dtype == np.float64
    assert not sklearn.get_config()["array_api_dispatch"]
    assert os.environ.get("SCIPY_ARRAY_API") is None


def test_the_environment_of_others_is_kept(wine, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "0")
    OnDevice(ParzenClassifier(), device="cpu").fit(*wine)
    assert os.environ["SCIPY_ARRAY_API"] == "0"


def test_threads_leave_each_other_the_environment(wine):
    X, y = wine

    def run(seed):
        fisher = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=5, random_state=seed)
        model = OnDevice(fisher)
        return model.set_params(device="cpu").fit(X, y).predict(X)

    with ThreadPoolExecutor(4) as pool:
        assert len(list(pool.map(run, range(12)))) == 12
    assert "SCIPY_ARRAY_API" not in os.environ


def test_names_of_columns(wine):
    X, y = pd.DataFrame(wine[0], columns=list("abcdefghijklm")), wine[1]
    model = OnDevice(ParzenClassifier(), device="cpu").fit(X, y)
    assert list(model.feature_names_in_) == list("abcdefghijklm")
    assert (model.predict(X) == model.estimator_.predict(X)).all()  # and neither warns


def test_a_classifier_made_from_one_of_ours(wine):
    class Mine(ParzenClassifier):
        pass

    assert OnDevice(Mine(), device="cpu").fit(*wine).score(*wine) > 0.9


def test_others_are_refused(wine):
    with pytest.raises(ValueError, match="LogisticRegression does not compute with tensors"):
        OnDevice(LogisticRegression(), device="cpu").fit(*wine)


@pytest.mark.parametrize("device", ["gpu", "cuda:first", "mps", "cuda:-1", ""])
def test_names_of_devices(device):
    with pytest.raises(ValueError, match=r"cpu, cuda or cuda:1, not"):
        check_device(device)


def test_a_device_that_is_not_there(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="'cuda' is not there: torch finds no CUDA device"):
        check_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    check_device("cuda:1")
    with pytest.raises(ValueError, match="'cuda:2' is not there: choose cuda:0, cuda:1"):
        check_device("cuda:2")


def test_torch_that_is_missing(monkeypatch, wine):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'needs torch: pip install "\.\[gpu\]"'):
        OnDevice(ParzenClassifier(), device="cpu").fit(*wine)


@pytest.fixture(scope="module")
def iris():
    return split_target(load_iris(as_frame=True).frame, "target")


@pytest.mark.parametrize("name", ["fisher", "laplacian", "parzen", "ise", "boosting"])
def test_pipelines_go_there_and_come_back(iris, name, tmp_path):
    pipeline = on_device(make_model(name, iris), "cpu")
    assert isinstance(pipeline[-1], OnDevice) == (name != "boosting")
    fitted = off_device(pipeline.fit(iris.X, iris.y))
    assert type(fitted[-1]) is type(make_model(name, iris)[-1])
    path = tmp_path / "model.skops"
    save_model(path, pipeline, ModelCard.describe(name, iris))
    loaded, _ = load_model(path)
    expected = pipeline.predict_proba(iris.X)
    np.testing.assert_allclose(loaded.predict_proba(iris.X), expected, atol=2e-3)
    again = on_device(loaded, "cpu")
    assert isinstance(again[-1], OnDevice) == (name != "boosting")
    np.testing.assert_allclose(again.predict_proba(iris.X), expected, atol=2e-3)
    assert (again.predict(iris.X) == loaded.predict(iris.X)).all()


def test_a_sample_of_the_rows_goes_there(iris, tmp_path):
    pipeline = on_device(make_model("parzen", iris, max_rows=60), "cpu").fit(iris.X, iris.y)
    assert isinstance(pipeline[-1], CappedClassifier)
    assert isinstance(pipeline[-1].estimator_, OnDevice)
    fitted = off_device(pipeline)
    assert type(fitted[-1].estimator_) is ParzenClassifier
    assert fitted[-1].n_rows_fitted_ == 60
    save_model(tmp_path / "m.skops", pipeline, ModelCard.describe("parzen", iris))
    loaded = on_device(load_model(tmp_path / "m.skops")[0], "cpu")
    assert isinstance(loaded[-1].estimator_, OnDevice)
    assert (loaded.predict(iris.X) == pipeline.predict(iris.X)).all()


def test_scores_on_a_device(iris):
    here, there = (score_model("fisher", iris, device=device) for device in (None, "cpu"))
    assert there.accuracy == pytest.approx(here.accuracy, abs=0.02)

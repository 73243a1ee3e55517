"""Models of packages that may be installed: by name only, with our classes, rows and threads."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer.models._packages as packages
from mercer.models import check_model, describe_model, list_models, make_model
from mercer.models._packages import PackagedClassifier
from mercer.tables import split_target

NAMES = ["lightgbm", "xgboost", "catboost", "tabpfn"]


class Peculiar(ClassifierMixin, BaseEstimator):
    """Takes numbers for classes only, and answers in a column, as some packages do."""

    def __init__(self, n_jobs=None):
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        if y.dtype.kind != "i":
            raise TypeError("numbers only")
        self.inner_ = LogisticRegression().fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X).reshape(-1, 1)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


@pytest.fixture
def blobs():
    rng = np.random.default_rng(0)
    is_rare = rng.random(400) < 0.1
    return rng.normal(size=(400, 2)) + 1.3 * is_rare[:, None], np.where(is_rare, "rare", "usual")


def test_they_are_run_by_name_only():
    assert not set(NAMES) & set(list_models())
    assert not any(describe_model(name).by_default for name in NAMES)
    assert {describe_model(name).package for name in NAMES} == set(NAMES)


def test_a_missing_package_is_one_sentence_that_says_what_to_install(monkeypatch, data):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(packages.importlib, "import_module", absent)
    for ask in (check_model, lambda name: make_model(name, data)):
        with pytest.raises(
            ValueError, match=r"^Model 'xgboost' needs xgboost: pip install xgboost\.$"
        ):
            ask("xgboost")


def test_classes_are_answered_by_their_names(blobs):
    X, y = blobs
    model = PackagedClassifier(Peculiar()).fit(X, y)
    theirs = LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X))
    assert model.classes_.tolist() == ["rare", "usual"]


def test_balanced_rows_weigh_the_classes_alike(blobs):
    X, y = blobs
    model = PackagedClassifier(Peculiar(), balanced=True).fit(X, y)
    theirs = LogisticRegression(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_threads_are_those_of_the_task(monkeypatch, blobs, in_pipeline):
    monkeypatch.setitem(packages._THREADS, Peculiar.__module__.partition(".")[0], "n_jobs")
    for given, used in ((None, 1), (-1, 1), (3, 3)):
        model = Peculiar(given)
        with parallel_config(backend="sequential"):
            fitted = PackagedClassifier(
                make_pipeline(StandardScaler(), model) if in_pipeline else model
            ).fit(*blobs)
        inner = fitted.estimator_[-1] if in_pipeline else fitted.estimator_
        assert inner.n_jobs == used


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.filterwarnings("ignore")
def test_the_real_packages_answer(name, data, blobs):
    pytest.importorskip(name)
    model = make_model(name, data).fit(data.X, data.y)
    assert set(model.predict(data.X)) <= set(data.y)
    np.testing.assert_allclose(model.predict_proba(data.X).sum(axis=1), 1, atol=1e-5)
    rare = split_target(pd.DataFrame(blobs[0], columns=["a", "b"]).assign(y=blobs[1]), "y")
    plain, balanced = (
        make_model(name, rare, balanced=balanced).fit(rare.X, rare.y).predict_proba(rare.X)
        for balanced in (False, True)
    )
    assert balanced[:, 0].mean() > plain[:, 0].mean()  # a rare class counts more

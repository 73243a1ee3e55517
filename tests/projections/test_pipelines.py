"""Pipelines: projections with a nearest neighbour."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

from mercer.projections import (
    _pipelines,
    eigenfaces,
    fisherfaces,
    laplacianfaces,
    roweis_saul_classifier,
)

ALL = [eigenfaces, fisherfaces, laplacianfaces, roweis_saul_classifier]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:800], y[400:800]


@pytest.mark.parametrize("make", ALL)
def test_they_recognise_digits(make, digits):
    X, y, X_new, y_new = digits
    model = clone(make()).fit(X, y)
    assert model.score(X_new, y_new) > 0.75
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("make", ALL)
def test_metric_is_open(make, digits):
    X, y, X_new, _ = digits
    cosine = make(metric="cosine").fit(X, y)
    assert cosine["classifier"].effective_metric_ == "cosine"
    assert (cosine.predict(X_new) != make().fit(X, y).predict(X_new)).any()


def test_they_are_searched_on_grids(digits):
    X, y, X_new, y_new = digits
    grid = {"projection__n_components": [2, 20], "classifier__n_neighbors": [1, 3]}
    search = GridSearchCV(roweis_saul_classifier(), grid, cv=3).fit(X, y)
    assert search.best_params_["projection__n_components"] == 20
    assert search.score(X_new, y_new) > 0.75


def test_directions_are_one_less_than_classes(digits):
    X, y, *_ = digits
    for make in (fisherfaces, laplacianfaces, roweis_saul_classifier):
        assert make().fit(X, y)[:-1].transform(X).shape == (400, 9)


def test_fisherfaces_start_with_rows_less_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 200)), np.arange(30) % 4
    model = fisherfaces().fit(X, y)
    assert model["pca"].transform(X).shape == (30, 26)
    np.testing.assert_allclose(np.linalg.norm(model["projection"].components_, axis=1), 1)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
        for estimator, check in estimator_checks_generator(_pipelines._WithinClassPCA())
    ],
)
def test_the_private_step_keeps_the_contract(estimator, check):
    check(estimator)

"""Pipelines: projections with a nearest neighbour."""

import warnings

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


def test_fisherfaces_leave_out_noise_where_rows_outnumber_columns():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.hstack([rng.normal(size=(3, 4))[y] + rng.normal(size=(300, 4)), np.zeros((300, 40))])
    X[:, 4:] = 1e-3 * rng.normal(size=(300, 40))
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    kept = fisherfaces().fit(X, y)["pca"]._n_features_out
    assert variances[:kept].sum() >= 0.95 * variances.sum() > variances[: kept - 1].sum()
    # Fisher's discriminant needs C − 1 components, whatever they hold.
    X[:, 0] *= 100
    assert fisherfaces().fit(X, y)["pca"]._n_features_out == 2
    assert fisherfaces(pca_components=7).fit(X, y)["pca"]._n_features_out == 7


def test_fisherfaces_keep_all_they_can_up_to_as_many_columns_as_that():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 27)) * np.geomspace(1, 1e-3, 27), np.arange(30) % 4
    assert fisherfaces().fit(X, y)["pca"]._n_features_out == 26
    assert fisherfaces().fit(X[:, :26], y)["pca"]._n_features_out < 20


def test_fisherfaces_of_one_place_have_a_sentence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"X has no variance: all rows are the same\."):
            fisherfaces().fit(np.full((6, 2), 0.3), list("aabbab"))


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
        for estimator, check in estimator_checks_generator(_pipelines._WithinClassPCA())
    ],
)
def test_the_private_step_keeps_the_contract(estimator, check):
    check(estimator)

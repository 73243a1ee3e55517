"""What the discriminant says of rows left out: held to refits, its own scores, and weights."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_iris

from mercer.discriminants import KernelFisherDiscriminant

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
FIXED = {"kernel": "rbf", "gamma": 0.3, "column_scales": None}


def exact(**options):
    return KernelFisherDiscriminant(**{**FIXED, "alpha": 0.05, "scatter": "total", **options})


def test_left_out_rows_have_probabilities_as_of_refits():
    model = exact(calibration=None).fit(X, Y)
    np.testing.assert_array_equal(model.loo_rows_, np.arange(len(X)))
    np.testing.assert_allclose(model.loo_proba_.sum(axis=1), 1.0)
    fitted = model.predict_proba(X)
    for row in range(0, len(X), 11):
        others = np.delete(np.arange(len(X)), row)
        refit = exact(calibration=None).fit(X[others], Y[others]).predict_proba(X[[row]])[0]
        # Class weights, and the threshold, stay those of all rows.
        assert np.abs(model.loo_proba_[row] - refit).max() < 0.05
    own = np.arange(len(X)), Y
    assert np.mean(np.log(model.loo_proba_[own])) < np.mean(np.log(fitted[own]))


def test_left_out_rows_have_the_score_of_the_surface():
    model = KernelFisherDiscriminant().fit(X, Y)
    right = model.classes_[model.loo_proba_.argmax(axis=1)] == Y
    best = model.loo_results_["score"][model.loo_results_["best_index"]]
    # Each row is judged by the threshold without it, the surface by that of all rows.
    assert right.mean() == pytest.approx(best, abs=0.02)


def test_no_temperature_makes_them_likelier():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(Y)) < 0.2, rng.integers(0, 3, len(Y)), Y)
    model = exact().fit(X, y)
    logs, own = np.log(model.loo_proba_), (np.arange(len(X)), y)

    def loss(temperature):
        return -log_softmax(logs / temperature, axis=1)[own].mean()

    assert loss(1.0) < min(loss(0.8), loss(1.25))


def test_rows_of_weight_zero_have_none_and_copies_share_theirs():
    weights = np.ones(len(X))
    weights[[3, 77]] = 0
    model = exact().fit(X, Y, weights)
    kept = np.flatnonzero(weights)
    np.testing.assert_array_equal(model.loo_rows_, kept)
    plain = exact().fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.loo_proba_, plain.loo_proba_, atol=1e-9)
    twice = exact().fit(np.r_[X, X[:5]], np.r_[Y, Y[:5]])
    np.testing.assert_array_equal(twice.loo_rows_, np.arange(len(X) + 5))
    np.testing.assert_array_equal(twice.loo_proba_[:5], twice.loo_proba_[-5:])

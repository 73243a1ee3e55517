"""Probabilities: their temperature comes from rows that are left out, and changes no prediction."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants._coding import encode_rows
from mercer.discriminants._gaussian import Rule
from mercer.samples import fit_temperature

MODELS = [
    KernelFisherDiscriminant(kernel="rbf"),
    KernelFisherDiscriminant(kernel="laplacian", n_landmarks=60, random_state=0),
    SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=60, random_state=0),
    SparseKernelFisherDiscriminant(kernel="laplacian", max_nodes=150, random_state=0),
    SparseKernelFisherDiscriminant(
        kernel="rbf", max_nodes=60, node_choice="validation", random_state=0
    ),
]


@pytest.fixture(scope="module")
def halves():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_new_rows_have_better_odds_and_the_same_predictions(model, halves):
    X, y, new, new_y = halves
    sure = clone(model).set_params(calibration=None).fit(X, y)
    calibrated = clone(model).fit(X, y)
    assert sure.temperature_ == 1.0
    assert calibrated.temperature_ != 1.0
    np.testing.assert_array_equal(calibrated.predict(new), sure.predict(new))
    cooled = log_softmax(sure.predict_log_proba(new) / calibrated.temperature_, axis=1)
    np.testing.assert_allclose(calibrated.predict_log_proba(new), cooled, rtol=1e-9, atol=1e-9)
    losses = [log_loss(new_y, one.predict_proba(new)) for one in (calibrated, sure)]
    assert losses[0] < losses[1]
    # No temperature that knew the new rows would be much better.
    known, rows = sure.predict_log_proba(new), np.arange(len(new_y))
    best = min(
        -log_softmax(known / t, axis=1)[rows, new_y].mean() for t in np.geomspace(0.1, 100, 200)
    )
    assert losses[0] < 1.1 * best + 0.01


def literal_outputs(model, X, y, row):
    """Scores of a row by a fit without it, at the same width, ridge and threshold."""
    kept = np.arange(len(y)) != row
    return model.fit(X[kept], y[kept]).predict_log_proba(X[row : row + 1])[0]


def test_it_is_nearly_that_of_refits_without_each_row(halves):
    X, y = halves[0][:120], halves[1][:120] % 3
    model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    given = KernelFisherDiscriminant(
        kernel="rbf", gamma=model.gamma_, alpha=model.alpha_, calibration=None
    )
    scores = np.array([literal_outputs(clone(given), X, y, row) for row in range(len(y))])

    def loss(temperature):
        return log_loss(y, np.exp(log_softmax(scores / temperature, axis=1)))

    grid = np.geomspace(0.2, 20, 400)
    assert loss(model.temperature_) < min(map(loss, grid)) + 0.02


def test_a_class_of_prior_zero_stays_impossible(halves):
    X, y, new, _ = halves
    y = y % 3
    model = KernelFisherDiscriminant(kernel="rbf", priors=[0.5, 0.5, 0.0]).fit(X, y)
    assert np.isfinite(model.temperature_)
    assert (model.predict_proba(new)[:, 2] == 0).all()
    assert np.isfinite(model.predict_proba(new)).all()


def test_blocks_that_follow_keep_the_temperature(halves):
    X, y = halves[:2]
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=40, random_state=0)
    model.partial_fit(X[:300], y[:300], classes=np.unique(y))
    first = model.temperature_
    assert first != 1.0
    model.partial_fit(X[300:350], y[300:350])  # The nodes stay, and so does the temperature.
    assert model.temperature_ == first
    assert np.isfinite(model.predict_proba(X)).all()
    model.set_params(calibration=None).partial_fit(X[350:], y[350:])
    assert model.temperature_ == 1.0


def test_the_budget_of_memory_does_not_matter(halves):
    X, y, new, _ = halves
    model = SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=60, random_state=0)
    expected = model.fit(X, y).decision_function(new)
    with config_context(working_memory=0.05):  # some 25 rows at a time
        found = model.fit(X, y).decision_function(new)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_classes_weigh_as_their_priors_do():
    rng = np.random.default_rng(0)
    labels, one = np.arange(90) % 3 // 2, np.ones(90)  # two thirds are of the first class
    coding = encode_rows(labels, one, one, np.ones(2), "total")
    outputs = rng.normal(size=(90, 1)) + labels[:, None]
    rule, priors = Rule(np.array([[-2.0, 3.0]]), np.array([0.5, -1.5])), np.array([0.1, 0.9])
    found = rule.calibrate(outputs, coding, np.log(priors))
    weights = priors[labels] / np.bincount(labels)[labels]
    same = fit_temperature(rule.scores(outputs), labels, weights)
    assert found == pytest.approx(same, rel=1e-8)
    assert found != pytest.approx(fit_temperature(rule.scores(outputs), labels, one), rel=0.01)


def test_nodes_that_are_interpolated_do_not_count(halves):
    X, y, new, new_y = halves
    model = SparseKernelFisherDiscriminant(
        kernel="laplacian", gamma=0.02, alpha=1e-8, max_nodes=200, random_state=0, tol=0.0
    ).fit(X, y)
    known = model.predict_log_proba(new)
    best = min(
        log_loss(new_y, np.exp(log_softmax(known * factor, axis=1)))
        for factor in np.geomspace(0.01, 100, 200)
    )
    assert log_loss(new_y, np.exp(known)) < 1.4 * best

"""Sets of the classifiers of Parzen windows: by the scores of the rows that calibrate them."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.classifiers import _calibration
from mercer.models import has_sets
from mercer.samples import log_odds_against
from oracles.sets import odds_against

MODELS = [
    ParzenClassifier(),
    ParzenClassifier(bandwidth=0.7, kernel="laplacian"),
    ParzenClassifier(calibration="loo-biases", priors="uniform"),
    LaplacianClassifier(),
    LaplacianClassifier(bandwidth=0.8, rule="append"),
    ISEClassifier(),
    ISEClassifier(rule="append", bandwidth=0.8),
]


def rows(seed, n_rows, shift=1.0, n_classes=2):
    rng = np.random.default_rng((seed, 5))
    y = rng.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    return rng.normal(size=(n_rows, 2)) + shift * y[:, None], y


@pytest.mark.parametrize("priors", [None, "uniform"])
def test_odds_of_left_out_rows_are_those_of_refits(priors):
    X, y = rows(0, 30, n_classes=3)
    model = ParzenClassifier(bandwidth=0.8, priors=priors).fit(X, y)
    for row in range(30):
        kept = np.arange(30) != row
        refit = ParzenClassifier(bandwidth=0.8, priors=priors, calibration=None)
        scores = refit.fit(X[kept], y[kept])._scores(X[[row]])[0] / model.temperature_
        at = np.flatnonzero(np.argsort(y, kind="stable") == row)[0]  # kept in order of the classes
        assert model._left_out.odds[at] == pytest.approx(odds_against(scores, y[row]), rel=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sets_hold_the_prediction_and_grow_with_the_coverage(model):
    X, y = rows(1, 190, n_classes=3)
    model = clone(model).fit(X[:120], y[:120])
    answers = model.predict(X[120:])[:, None] == model.classes_
    sets = [model.predict_set(X[120:], coverage) for coverage in (0.2, 0.6, 0.9, 0.95)]
    for smaller, larger in zip([answers, *sets], sets, strict=False):
        assert larger.dtype == bool
        assert (smaller <= larger).all()
    np.testing.assert_array_equal(sets[0], answers)
    assert 1 < sets[2].sum(axis=1).mean() < 3


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sets_are_classes_whose_odds_are_not_too_long(model):
    X, y = rows(2, 150, n_classes=3)
    model = clone(model).fit(X[:90], y[:90])
    found = model.predict_set(X[90:], 0.8)
    odds = log_odds_against(model.predict_log_proba(X[90:]))
    most = np.sort(model._left_out.odds)[int(np.ceil(0.8 * 91)) - 1]
    sure = np.abs(odds - most) > 1e-9  # rounding decides the others
    np.testing.assert_array_equal(found[sure], (odds <= most)[sure])


@pytest.mark.parametrize("model", [MODELS[1], MODELS[4], MODELS[6]], ids=str)
def test_exchangeable_rows_are_covered_as_often_as_asked(model):
    n_draws, held, right = 80, 0.0, 0.0
    for seed in range(n_draws):
        X, y = rows(seed, 65, shift=0.6)
        fitted = clone(model).fit(X[:40], y[:40])
        sets = fitted.predict_set(X[40:], 0.9)
        held += sets[np.arange(25), y[40:]].mean() / n_draws
        right += fitted.score(X[40:], y[40:]) / n_draws
    low, high = binom.ppf([1e-4, 1 - 1e-4], n_draws, 0.9) / n_draws
    assert right < 0.8
    assert low < held < high


def test_a_draw_of_the_rows_stands_for_the_shares_of_the_classes(monkeypatch):
    monkeypatch.setattr(_calibration, "MOST_ROWS", 40)
    X, y = rows(3, 300)
    known = ParzenClassifier(bandwidth=0.8, priors=[0.9, 0.1]).fit(X, y)._left_out
    assert len(known.odds) == 40
    assert known.weights.sum() == pytest.approx(40)


@pytest.mark.parametrize(
    "model", [ParzenClassifier(calibration=None), ISEClassifier(weighting="margin")], ids=str
)
def test_without_left_out_rows_there_are_no_sets(model):
    X, y = rows(4, 60)
    fitted = clone(model).fit(X, y)
    assert not has_sets(fitted)
    assert not hasattr(fitted, "predict_set")


def test_without_left_out_rows_of_each_width_there_are_no_sets():
    X, y = rows(4, 60)
    fitted = ISEClassifier(bandwidth=[0.5, 0.8]).fit(X, y)
    with pytest.raises(ValueError, match="fit it again, with one bandwidth where each class has"):
        fitted.predict_set(X)

"""Probabilities: their temperature comes from rows that are left out, and changes no prediction."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from mercer.classifiers import ISEClassifier, LaplacianClassifier, ParzenClassifier, _calibration
from mercer.samples import fit_biases, fit_temperature

MODELS = [
    ParzenClassifier(),
    ParzenClassifier(kernel="epanechnikov", bandwidth=30.0),
    ParzenClassifier(bandwidth="silverman", per_class=True, priors="uniform"),
    LaplacianClassifier(),
    LaplacianClassifier(rule="append", scoring="balanced_accuracy"),
    LaplacianClassifier(bandwidth=6.0, rule="append"),
    LaplacianClassifier(bandwidth="silverman", per_class=True),
    LaplacianClassifier(bandwidth=6.0, density_subset=80, random_state=0),
    LaplacianClassifier(bandwidth=6.0, density_subset=80, rule="append", random_state=0),
    LaplacianClassifier(n_nodes=150),
    ISEClassifier(),
    ISEClassifier(bandwidth=6.0, rule="append"),
    ISEClassifier(rule="append"),
]
PLAIN = [ParzenClassifier, LaplacianClassifier, ISEClassifier]


@pytest.fixture(scope="module")
def halves():
    X, y = load_digits(return_X_y=True)
    mixed = np.random.default_rng(0).permutation(len(y))  # Writers come one after the other.
    X, y = X[mixed], y[mixed]
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture
def calls(monkeypatch):
    """What temperatures are fitted to: scores, labels and weights of each fit."""
    kept = []

    def fit(*arguments):
        kept.append(arguments)
        return fit_temperature(*arguments)

    monkeypatch.setattr(_calibration, "fit_temperature", fit)
    return kept


def drawn(n_rows, seed=0, n_classes=3, n_features=2):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, n_classes, n_rows))
    y[:n_classes] = np.arange(n_classes)
    return rng.normal(size=(n_rows, n_features)) + y[:, None], y


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_new_rows_have_better_odds_and_the_same_predictions(model, halves):
    X, y, new, new_y = halves
    sure = clone(model).set_params(calibration=None).fit(X, y)
    calibrated = clone(model).fit(X, y)
    assert sure.temperature_ == 1.0
    assert calibrated.temperature_ != 1.0
    np.testing.assert_array_equal(calibrated.predict(new), sure.predict(new))
    np.testing.assert_array_equal(calibrated.decision_function(new), sure.decision_function(new))
    scores = np.maximum(sure.predict_log_proba(new), -1e300)
    cooled = log_softmax(scores / calibrated.temperature_, axis=1)
    found = np.maximum(calibrated.predict_log_proba(new), -1e300 / calibrated.temperature_)
    np.testing.assert_allclose(found, cooled, rtol=1e-9, atol=1e-9)
    losses = [log_loss(new_y, one.predict_proba(new)) for one in (calibrated, sure)]
    assert losses[0] < losses[1]
    if getattr(model, "rule", None) == "append" and model.bandwidth != "loo":
        return  # Under narrow windows these scores are in the thousands, and few rows decide.
    # No temperature that knew the new rows would be much better.
    grid = np.geomspace(0.01, 100, 200)
    rows = np.arange(len(new_y))
    best = min(-log_softmax(scores / t, axis=1)[rows, new_y].mean() for t in grid)
    assert losses[0] < 1.1 * best + 0.04


@pytest.mark.parametrize(
    ("model", "rel"),
    [
        (ParzenClassifier(bandwidth=0.4), 1e-6),
        (ParzenClassifier(bandwidth=[0.3, 0.5, 0.8]), 1e-6),
        (ParzenClassifier(bandwidth=0.7, kernel="laplacian", priors=[0.2, 0.2, 0.6]), 1e-6),
        (ISEClassifier(bandwidth=0.4), 1e-6),
        (LaplacianClassifier(bandwidth=0.4, density=None), 1e-6),
        (LaplacianClassifier(bandwidth=0.4), 0.01),
        (LaplacianClassifier(bandwidth=[0.3, 0.5, 0.8], density=None), 1e-6),
        (LaplacianClassifier(bandwidth=[0.3, 0.5, 0.8]), 0.05),
        (LaplacianClassifier(bandwidth=0.4, density_subset=1.0), 0.05),
        (LaplacianClassifier(bandwidth=0.4, rule="append"), 0.1),
        (ISEClassifier(bandwidth=0.4, rule="append"), 0.1),
    ],
    ids=str,
)
def test_it_is_that_of_refits_without_each_row(model, rel):
    X, y = drawn(60)
    refit = clone(model).set_params(calibration=None)
    scores = []
    for row in range(60):
        kept = np.arange(60) != row
        scores.append(refit.fit(X[kept], y[kept]).predict_log_proba(X[[row]])[0])
    weights = np.ones(60)
    if isinstance(model, ParzenClassifier) and model.priors is not None:
        weights = (model.priors / np.bincount(y))[y]
    expected = fit_temperature(np.array(scores), y, weights)
    assert clone(model).fit(X, y).temperature_ == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize("cls", PLAIN)
def test_a_bandwidth_that_is_given_has_the_temperature_of_one_that_was_chosen(cls):
    X, y = drawn(200)
    chosen = cls().fit(X, y)
    given = cls(bandwidth=chosen.bandwidth_).fit(X, y)
    assert given.temperature_ == pytest.approx(chosen.temperature_, rel=1e-6)


@pytest.mark.parametrize("cls", PLAIN)
@pytest.mark.parametrize("factor", [1e-120, 1e120])
def test_the_unit_of_the_columns_does_not_matter(cls, factor):
    X, y = drawn(80)
    expected = cls().fit(X, y).temperature_
    assert cls().fit(factor * X, y).temperature_ == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("cls", PLAIN)
def test_a_weight_of_two_is_the_row_twice(cls):
    X, y = drawn(90)
    weights = np.arange(90) % 3 + 1
    expected = cls().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).temperature_
    found = cls().fit(X, y, sample_weight=weights).temperature_
    assert found == pytest.approx(expected, rel=1e-6)
    assert found != pytest.approx(cls().fit(X, y).temperature_, rel=1e-3)


@pytest.mark.parametrize("model", [*(cls() for cls in PLAIN), ParzenClassifier(bandwidth=[1, 2])])
def test_one_row_in_each_class_says_nothing(model):
    model.fit([[0.0, 1.0], [3.0, 1.0]], [0, 1])
    assert model.temperature_ == 1.0
    assert np.isfinite(model.predict_proba([[0.5, 0.5]])).all()


@pytest.mark.parametrize("weighting", ["margin", "cauchy_schwarz"])
def test_learned_weights_leave_nothing_out(weighting):
    X, y = drawn(40, n_classes=2)
    assert ISEClassifier(weighting=weighting, bandwidth=1.0).fit(X, y).temperature_ == 1.0


@pytest.mark.parametrize("cls", PLAIN)
def test_few_rows_that_are_drawn_stand_for_the_others_of_their_class(cls, calls):
    X, y = drawn(300)
    y[y == 2] = np.arange((y == 2).sum()) % 40 // 39 + 1  # a rare class
    cls(bandwidth=0.5, loo_rows=50).fit(X, y)
    scores, labels, weights = calls[0]
    assert len(scores) == 50
    shares = np.bincount(labels, weights) / weights.sum()
    np.testing.assert_allclose(shares, np.bincount(y) / 300, rtol=1e-9)


def test_no_more_rows_are_drawn_than_one_number_needs(calls, monkeypatch):
    monkeypatch.setattr(_calibration, "MOST_ROWS", 64)
    X, y = drawn(300)
    few = ParzenClassifier(bandwidth=0.5).fit(X, y).temperature_
    assert len(calls[0][0]) == 64
    monkeypatch.setattr(_calibration, "MOST_ROWS", 1000)
    assert few == pytest.approx(ParzenClassifier(bandwidth=0.5).fit(X, y).temperature_, rel=0.5)
    assert len(calls[1][0]) == 300


def test_many_classes_are_calibrated_on_few_rows(calls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 2)), np.arange(4000) % 1000
    model = ParzenClassifier(bandwidth=0.3).fit(X, y)
    assert calls[0][0].shape == (262, 1000)
    assert model.temperature_ != 1.0
    ParzenClassifier(bandwidth=0.3, loo_rows=1).fit(X, y)
    assert len(calls[1][0]) == 1


@pytest.mark.parametrize("model", [ParzenClassifier, LaplacianClassifier])
def test_classes_weigh_as_their_priors_do(model, calls):
    X, y = drawn(90)
    model(bandwidth=0.5, priors=[0.7, 0.1, 0.2]).fit(X, y)
    _, labels, weights = calls[0]
    shares = np.bincount(labels, weights) / weights.sum()
    np.testing.assert_allclose(shares, [0.7, 0.1, 0.2], rtol=1e-9)


@pytest.mark.parametrize("model", MODELS[:9], ids=str)
def test_the_budget_of_memory_does_not_matter(model, halves):
    X, y = halves[:2]
    expected = clone(model).fit(X, y).temperature_
    with config_context(working_memory=0.2):
        found = clone(model).fit(X, y).temperature_
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_tensors_have_the_same_temperature(model, halves, torch, dispatch):
    X, y = halves[0][:200], halves[1][:200] % 3
    expected = clone(model).set_params(calibration="loo").fit(X, y).temperature_
    found = clone(model).fit(torch.as_tensor(X), torch.as_tensor(y)).temperature_
    assert isinstance(found, float)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        *(cls() for cls in PLAIN),
        ParzenClassifier(bandwidth=[0.4, 0.6, 0.8]),
        LaplacianClassifier(bandwidth=[0.4, 0.6, 0.8]),
        LaplacianClassifier(bandwidth=0.5, rule="append"),
        ISEClassifier(bandwidth=0.5, rule="append"),
    ],
    ids=str,
)
def test_dask_arrays_have_the_same_temperature(model):
    da = pytest.importorskip("dask.array")
    X, y = drawn(120)
    mixed = np.random.default_rng(1).permutation(120)
    X, y = X[mixed], y[mixed]
    expected = clone(model).fit(X, y).temperature_
    model.fit(da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50))
    assert model.temperature_ == pytest.approx(expected, rel=1e-6)


def test_wide_windows_of_float32_are_calibrated_where_classes_can_be_told_apart():
    X, y = drawn(200, n_classes=2)
    expected = ISEClassifier(bandwidth=500.0).fit(X, y).temperature_
    found = ISEClassifier(bandwidth=500.0).fit(X.astype(np.float32), y).temperature_
    assert found == pytest.approx(expected, rel=0.01)


def test_a_model_of_an_older_file_is_taken_at_its_word():
    X, y = drawn(60)
    model = ParzenClassifier(bandwidth=0.5).fit(X, y)
    expected = ParzenClassifier(bandwidth=0.5, calibration=None).fit(X, y).predict_proba(X)
    del model.temperature_, model.biases_
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_log_odds_stay_in_range_where_the_temperature_is_low():
    X, y = drawn(60)
    model = ParzenClassifier(bandwidth=0.5).fit(X, y)
    model.temperature_ = 0.01
    odds = model._log_odds(np.array([[0.0, -1e307, -np.inf], [1e306, 1e306, 1e306]]))
    assert odds[0, 0] == 0.0
    assert odds[0, 2] == -np.inf
    assert np.isfinite(odds[0, 1])
    assert (odds[1] == odds[1, 0]).all()


BIASED = [
    ParzenClassifier(calibration="loo-biases"),
    LaplacianClassifier(calibration="loo-biases"),
    LaplacianClassifier(bandwidth=[0.4, 0.5, 0.6], calibration="loo-biases"),
    ISEClassifier(calibration="loo-biases"),
]


@pytest.mark.parametrize("model", BIASED, ids=str)
def test_biases_are_added_to_scores_and_found_with_the_temperature(model, calls):
    X, y = drawn(200)
    new = drawn(100, seed=1)[0]
    plain = clone(model).set_params(calibration="loo").fit(X, y)
    biased = clone(model).fit(X, y)
    temperature, biases = fit_biases(*calls[0])
    assert biased.temperature_ == pytest.approx(temperature, rel=1e-9)
    np.testing.assert_allclose(biased.biases_, temperature * biases, rtol=1e-9)
    assert abs(biases).max() > 1e-3
    assert (plain.biases_ == 0).all()
    scores = plain.decision_function(new) + biased.biases_
    np.testing.assert_allclose(biased.decision_function(new), scores, rtol=1e-9)
    np.testing.assert_array_equal(biased.predict(new), scores.argmax(axis=1))
    logs = log_softmax(scores / temperature, axis=1)
    np.testing.assert_allclose(biased.predict_log_proba(new), logs, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cls", [LaplacianClassifier, ISEClassifier])
def test_biases_find_what_a_rule_without_priors_lacks(cls):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.1).astype(int)
    X = rng.normal(size=(3000, 2)) + y[:, None]
    (A, a), (B, b) = (X[:500], y[:500]), (X[500:], y[500:])
    plain, biased = (cls(bandwidth=1.0, calibration=c).fit(A, a) for c in ("loo", "loo-biases"))
    assert log_loss(b, biased.predict_proba(B)) < 0.9 * log_loss(b, plain.predict_proba(B))
    assert biased.score(B, b) > plain.score(B, b)


@pytest.mark.parametrize("model", BIASED, ids=str)
def test_biases_of_tensors_and_dask_arrays(model, torch, dispatch):
    da = pytest.importorskip("dask.array")
    X, y = drawn(120)
    expected = clone(model).fit(X, y).biases_
    tensor = clone(model).fit(torch.as_tensor(X), torch.as_tensor(y))
    np.testing.assert_allclose(tensor.biases_.numpy(), expected, rtol=1e-6, atol=1e-9)
    assert tensor.predict(torch.as_tensor(X)).shape == (120,)
    blocks = clone(model).fit(da.from_array(X, chunks=(50, 2)), da.from_array(y, chunks=50))
    np.testing.assert_allclose(blocks.biases_, expected, rtol=1e-6, atol=1e-9)
    proba = blocks.predict_proba(da.from_array(X, chunks=(50, 2))).compute()
    np.testing.assert_allclose(proba, clone(model).fit(X, y).predict_proba(X), rtol=1e-6)


def test_biases_from_a_fit_do_not_stay_for_the_next():
    X, y = drawn(120)
    model = LaplacianClassifier(calibration="loo-biases").fit(X, y)
    assert (model.biases_ != 0).any()
    model.set_params(calibration=None).fit(X, y)
    assert (model.biases_ == 0).all()
    assert model.temperature_ == 1.0

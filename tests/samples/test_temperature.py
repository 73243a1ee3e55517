"""The temperature of probabilities, against a literal log-loss and against what is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from mercer.samples import fit_biases, fit_temperature


def drawn(n_rows, n_classes, seed, spread=2.0):
    """Scores, and classes that are drawn with the probabilities that they say."""
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(n_rows, n_classes))
    shares = np.exp(log_softmax(scores, axis=1))
    labels = (rng.random(n_rows)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    return scores, np.minimum(labels, n_classes - 1)


def literal_loss(temperature, scores, labels, weights):
    """Log-loss, row by row: n rows count as n + 1 of their class and one of another."""
    total, n_rows = 0.0, np.sum(np.isfinite(scores[np.arange(len(labels)), labels]))
    for row, label, weight in zip(scores, labels, weights, strict=True):
        possible = np.flatnonzero(np.isfinite(row))
        if label not in possible:
            continue
        log_share = dict(zip(possible, log_softmax(row[possible] / temperature), strict=True))
        wrong = 1 / (n_rows + 2)
        total -= weight * (1 - wrong) * log_share[label]
        for other in possible[possible != label]:
            total -= weight * wrong / (len(possible) - 1) * log_share[other]
    return total


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 5),
    n_rows=st.integers(3, 40),
    is_missing=st.booleans(),
)
def test_it_has_the_least_log_loss(seed, n_classes, n_rows, is_missing):
    scores, labels = drawn(n_rows, n_classes, seed)
    weights = np.random.default_rng(seed + 1).uniform(0.1, 3, n_rows)
    if is_missing and n_classes > 2:
        scores[:, 0] = -np.inf
    found = fit_temperature(scores, labels, weights)

    def loss(log_temperature):
        return literal_loss(np.exp(log_temperature), scores, labels, weights)

    best = minimize_scalar(loss, bounds=np.log([1e-3, 1e3]), method="bounded").fun
    assert loss(np.log(found)) <= best + 1e-6 * abs(best)


@pytest.mark.parametrize("factor", [0.1, 1.0, 7.0])
def test_true_scores_times_a_number_have_that_temperature(factor):
    scores, labels = drawn(20_000, 3, 0)
    assert fit_temperature(factor * scores, labels, np.ones(20_000)) == pytest.approx(
        factor, rel=0.03
    )


def test_it_does_not_depend_on_the_level_or_on_the_unit_of_the_weights():
    scores, labels = drawn(200, 3, 1)
    one = np.ones(200)
    expected = fit_temperature(scores, labels, one)
    moved = scores + np.linspace(-1e3, 1e3, 200)[:, None]
    assert fit_temperature(moved, labels, 1e-9 * one) == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_all_right_do_not_make_it_certain():
    labels = np.arange(30) % 2
    scores = np.where(labels[:, None] == [0, 1], 5.0, -5.0)
    share = 1 / (1 + np.exp(-10 / fit_temperature(scores, labels, np.ones(30))))
    assert share == pytest.approx(31 / 32, rel=1e-6)


@pytest.mark.parametrize("scores", [np.zeros((6, 2)), np.full((6, 2), [0.0, -np.inf])])
def test_scores_that_say_nothing_stay(scores):
    assert fit_temperature(scores, np.arange(6) % 2, np.ones(6)) == 1.0
    none = np.full((6, 2), [-np.inf, 0.0])
    assert fit_temperature(none, np.zeros(6, dtype=int), np.ones(6)) == 1.0


def test_tensors(torch):
    scores, labels = drawn(100, 4, 2)
    expected = fit_temperature(scores, labels, np.ones(100))
    found = fit_temperature(*map(torch.as_tensor, (scores, labels, np.ones(100))))
    assert isinstance(found, float)
    assert found == pytest.approx(expected, rel=1e-9)


def test_rows_that_do_not_count_or_say_no_number_leave_it_at_one():
    scores, labels = drawn(20, 3, 3)
    assert fit_temperature(scores, labels, np.zeros(20)) == 1.0
    scores[3, 1] = np.nan
    assert fit_temperature(scores, labels, np.ones(20)) == 1.0


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    scores, labels = drawn(60, 3, 4)
    weights = np.append(np.ones(20), np.zeros(40))
    expected = fit_temperature(scores[:20], labels[:20], np.ones(20))
    assert fit_temperature(scores, labels, weights) == pytest.approx(expected, rel=1e-6)


def literal_loss_with_biases(inverse, biases, scores, labels, weights):
    """The sum of log-losses of as many rows as the weights are worth, and the biases' squares."""
    moved = [scores_ * inverse + biases for scores_ in scores]
    rows = weights.sum() ** 2 / np.sum(weights**2)
    loss = literal_loss(1.0, np.array(moved), labels, weights / weights.sum() * rows)
    return loss + np.sum(biases**2) / 2


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), n_rows=st.integers(4, 40))
def test_biases_have_the_least_penalised_log_loss(seed, n_classes, n_rows):
    scores, labels = drawn(n_rows, n_classes, seed)
    weights = np.random.default_rng(seed + 1).uniform(0.1, 3, n_rows)
    temperature, biases = fit_biases(scores, labels, weights)
    assert temperature > 0
    assert abs(biases.sum()) < 1e-6

    def loss(p):
        return literal_loss_with_biases(np.exp(p[0]), p[1:], scores, labels, weights)

    start = np.append(-np.log(fit_temperature(scores, labels, weights)), 0 * biases)
    best = minimize(loss, start, method="BFGS").fun
    assert loss(np.append(-np.log(temperature), biases)) <= best + 1e-5 * (1 + abs(best))


@pytest.mark.parametrize("factor", [0.01, 1.0, 100.0])
def test_many_rows_have_the_biases_that_are_true_whatever_the_unit(factor):
    rng = np.random.default_rng(0)
    scores, true = rng.normal(size=(20_000, 3)), np.array([1.0, -0.2, -0.8])
    shares = np.exp(log_softmax(scores + true, axis=1))
    labels = (rng.random(20_000)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    temperature, biases = fit_biases(factor * scores, labels, np.ones(20_000))
    np.testing.assert_allclose(biases, true, atol=0.06)
    assert temperature == pytest.approx(factor, rel=0.05)


def test_few_rows_have_small_biases():
    scores = np.full((3, 2), [0.0, 1e-3])
    assert 0 < fit_biases(scores, np.zeros(3, dtype=int), np.ones(3))[1][0] < 0.8


@pytest.mark.parametrize("weights", [np.zeros(6), np.full(6, np.inf)], ids=["no rows", "no number"])
def test_nothing_to_go_by_has_no_biases(weights):
    scores, labels = drawn(6, 2, 0)
    temperature, biases = fit_biases(scores, labels, weights)
    assert temperature == 1.0
    assert (biases == 0).all()
    scores[0, 0] = np.nan
    assert (fit_biases(scores, labels, np.ones(6))[1] == 0).all()


def test_a_class_that_cannot_be_has_no_bias():
    scores, labels = drawn(50, 3, 0)
    scores[:, 2], labels = -np.inf, labels % 2
    biases = fit_biases(scores, labels, np.ones(50))[1]
    assert biases[2] == 0
    assert abs(biases[0]) > 0

"""Leave-one-out: equal to refitting, equal under repetition, and no oracle in disguise."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.discriminants import KernelFisherDiscriminant, _choice, _trial
from mercer.discriminants._coding import contrasts, encode_rows
from mercer.discriminants._gaussian import fit_rule
from mercer.discriminants._tuning import best_entry, loo_rule
from mercer.spectral import decompose_kernel
from oracles.fisher import left_out_outputs


@pytest.mark.parametrize("scatter", ["class", "total"])
def test_outputs_equal_refitting_point_by_point(bundled, scatter):
    X, y = bundled
    K = rbf_kernel(X, gamma=0.5 / X.shape[1])
    coding = encode_rows(
        y.astype(np.intp), np.ones(len(y)), np.ones(len(y)), np.ones(y.max() + 1), scatter
    )
    basis = decompose_kernel(K, coding.weights)
    found, _ = basis.leave_one_out(coding.targets, np.array([1e-4]), coding.removed)
    expected = left_out_outputs(K, coding.targets, coding.weights, 1e-4)
    np.testing.assert_allclose(found[0], expected, atol=1e-7)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.1, 0.9], [0.2, 0.5, 0.3], [0.3, 0.0, 0.7]])
def test_targets_are_uncorrelated(shares):
    shares = np.array(shares)
    scores = contrasts(shares)
    np.testing.assert_allclose(shares @ scores, 0, atol=1e-12)
    variances = np.linalg.eigvalsh((scores.T * shares) @ scores)
    expected = np.ones(len(shares) - 1)
    expected[: np.count_nonzero(shares == 0)] = 0  # a class without rows has no contrast
    np.testing.assert_allclose(variances, expected, atol=1e-12)


def test_a_kernel_that_says_nothing_scores_no_better_than_chance():
    # Every row is the same: left-out outputs differ by class only because a row is missing.
    y = np.repeat([0, 1], [30, 20]).astype(np.intp)
    coding = encode_rows(y, np.ones(50), np.ones(50), np.ones(2), "class")
    basis = decompose_kernel(np.eye(50), coding.weights)
    rule, outputs, _ = loo_rule(basis, np.array([1e3]), coding, np.log([0.6, 0.4]))
    right = np.argmax(rule.scores(outputs)[0], axis=1) == y
    assert right.mean() <= 0.6
    np.testing.assert_allclose(outputs, 0, atol=1e-4)  # the level is taken out


def test_the_chosen_point_is_on_the_surface(bundled):
    X, y = bundled
    model = KernelFisherDiscriminant().fit(X, y)
    results = model.loo_results_
    row, column = results["best_index"]
    assert results["gamma"][row] == model.gamma_
    assert results["alpha"][row, column] == pytest.approx(model.alpha_)
    assert results["score"].shape == results["alpha"].shape == results["squared_error"].shape
    assert results["score"][row, column] > results["score"].max() - 0.02
    assert 0 < row < len(results["gamma"]) - 1, "the ladder was widened until this holds"


def chessboard(n_rows, n_fields, seed=0):
    """Return points on a board, and the colours of their fields."""
    X = np.random.default_rng(seed).uniform(0, n_fields, (n_rows, 2))
    return X, (X.astype(int).sum(axis=1) % 2).astype(int)


@pytest.mark.parametrize("penalty", ["rkhs", "coef"])
def test_on_many_rows_the_ladder_is_tried_on_a_sample_and_the_choice_on_all(penalty):
    X, y = chessboard(600, 4)
    model = KernelFisherDiscriminant(kernel="rbf", penalty=penalty)
    whole = model.fit(X[:500], y[:500]).loo_results_
    assert (whole["rows"] == 500).all()
    results = model.fit(X, y).loo_results_
    row, column = results["best_index"]
    judged = np.full(len(results["gamma"]), 500)
    judged[row] = 600
    np.testing.assert_array_equal(results["rows"], judged)
    assert results["gamma"][row] == model.gamma_
    assert results["alpha"][row, column] == pytest.approx(model.alpha_)
    # The line of the choice is that of all rows, whoever chose the width.
    given = KernelFisherDiscriminant(penalty=penalty, gamma=model.gamma_).fit(X, y)
    for name in ("alpha", "score", "squared_error"):
        np.testing.assert_array_equal(results[name][row], given.loo_results_[name][0])
    np.testing.assert_array_equal(given.predict(X), model.predict(X))


@pytest.mark.parametrize("seed", [0, 2])
def test_more_rows_mend_the_width_of_a_sample(monkeypatch, seed):
    X, y = chessboard(600, 5, seed)

    def fitted():
        model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
        return model.gamma_, model.loo_results_["score"][model.loo_results_["best_index"]]

    monkeypatch.setattr(_trial, "SURFACE_ROWS", 600)
    _, best = fitted()
    monkeypatch.setattr(_trial, "SURFACE_ROWS", 150)
    gamma, score = fitted()
    monkeypatch.setattr(_choice, "climb", lambda trial, *_: trial)
    own_gamma, own_score = fitted()
    assert gamma != pytest.approx(own_gamma)
    assert own_score < score
    assert score > best - 0.015


def test_the_ladder_widens_beyond_its_edge():
    # A chessboard of 8 × 8 fields needs a kernel far narrower than the distances between rows.
    X, y = chessboard(400, 8)
    model = KernelFisherDiscriminant().fit(X, y)
    assert len(model.loo_results_["gamma"]) > 7
    assert model.score(X, y) > 0.9


def test_a_score_within_half_an_error_is_a_tie():
    score, error = np.array([0.90, 0.905, 0.80]), np.array([0.3, 0.5, 0.1])
    assert best_entry(score, error, slack=0.5 / np.sqrt(100)) == 0
    assert best_entry(score, error, slack=0.0) == 1
    assert best_entry(score, error, slack=np.inf) == 2


def test_a_score_of_outputs_that_are_absurd_is_not_believed():
    score, error = np.array([0.97, 0.66, 0.65]), np.array([1431.0, 0.73, 0.75])
    assert best_entry(score, error, slack=0.0) == 1
    assert best_entry(score, 1e6 * error, slack=0.0) == 1  # all are: the least of them
    assert best_entry(score[:1], error[:1], slack=0.0) == 0


def test_balanced_scoring_counts_classes_alike():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [180, 20])
    X = rng.normal(size=(200, 2)) + 1.2 * y[:, None]
    plain = KernelFisherDiscriminant().fit(X, y)
    equal = KernelFisherDiscriminant(scoring="balanced_accuracy", priors=[0.5, 0.5]).fit(X, y)
    weighted = KernelFisherDiscriminant(class_weight="balanced").fit(X, y)
    found = [np.mean(model.predict(X)[y == 1] == 1) for model in (plain, equal, weighted)]
    assert found[0] < min(found[1:])
    np.testing.assert_allclose(weighted.priors_, 0.5)


def test_the_threshold_is_that_of_the_prior():
    # t = (f₁ + f₂)/2 + (s²/J)·ln(l₂/l₁)
    rng = np.random.default_rng(2)
    f = np.r_[rng.normal(0, 1, 300), rng.normal(2, 1, 100)][:, None]
    y = np.repeat([0, 1], [300, 100])
    rule = fit_rule(f, 2 * f, np.eye(1), y, np.full(400, 1 / 400), np.log([0.75, 0.25]))
    f1, f2 = f[y == 1].mean(), f[y == 0].mean()
    s2 = np.mean((f - np.where(y == 1, f1, f2)[:, None]) ** 2)
    t = (f1 + f2) / 2 + s2 / (f1 - f2) * np.log(300 / 100)
    scores = rule.scores(np.array([[t]]))
    assert scores[0, 0] == pytest.approx(scores[0, 1])


def test_class_means_stay_between_nought_and_those_of_the_fit():
    y = np.repeat([0, 1], 10)
    fitted = np.where(y == 1, 1.0, -1.0)[:, None]
    noise = np.random.default_rng(4).normal(0, 0.1, (20, 1))
    weights, priors = np.full(20, 1 / 20), np.log([0.6, 0.4])
    for factor, expected in [(-1.0, 0.0), (0.5, 0.5), (3.0, 1.0)]:
        outputs = factor * fitted + noise - noise.mean()
        rule = fit_rule(outputs, fitted, np.eye(1), y, weights, priors)
        variance = np.var(noise) if 0 <= factor <= 1 else None
        if variance is None:  # what the means do not explain is spread
            variance = np.mean((outputs - expected * fitted) ** 2)
        np.testing.assert_allclose(rule.coef[0, 1], expected / variance, rtol=0.2, atol=1e-9)


def test_probabilities_are_calibrated_on_new_rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 3000)
    X = rng.normal(size=(3000, 2)) + 1.5 * y[:, None]
    model = KernelFisherDiscriminant().fit(X[:300], y[:300])
    p = model.predict_proba(X[300:])[:, 1]
    for low, high in [(0.0, 0.2), (0.4, 0.6), (0.8, 1.0)]:
        inside = (p >= low) & (p < high)
        assert y[300:][inside].mean() == pytest.approx(p[inside].mean(), abs=0.12)

"""The threshold and the scores by themselves, against their definitions."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.metrics import balanced_accuracy_score

from mercer.discriminants._coding import class_sums, encode
from mercer.discriminants._gaussian import rule_from_moments, score_rule
from mercer.discriminants._tuning import best_entry


def test_scores_are_log_posteriors_of_gaussians_with_one_variance():
    rng = np.random.default_rng(0)
    means, outputs = rng.normal(size=(3, 2)), rng.normal(size=(20, 2))
    log_priors, variance = np.log([0.2, 0.5, 0.3]), 0.7
    densities = [multivariate_normal(m, variance * np.eye(2)).logpdf(outputs) for m in means]
    expected = np.stack(densities, axis=1) + log_priors
    scores = rule_from_moments(means, np.array(variance), log_priors).scores(outputs)
    # Up to what all classes share.
    np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1], rtol=1e-10)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
def test_a_balanced_score_is_the_mean_over_classes_that_have_rows():
    rng = np.random.default_rng(0)
    labels, scores = rng.choice([0, 2, 3], 50, p=[0.6, 0.3, 0.1]), rng.normal(size=(50, 4))
    found = score_rule(scores, labels, np.full(50, 1 / 50), "balanced_accuracy")
    assert found == pytest.approx(balanced_accuracy_score(labels, scores.argmax(axis=1)))


def test_of_equals_the_last_ridge_is_taken():
    score, error = np.array([0.5, 0.9, 0.9, 0.9, 0.2]), np.array([0.1, 0.4, 0.3, 0.3, 0.1])
    assert best_entry(score, error, 0.0) == 3


def test_classes_keep_their_weight_in_a_sample():
    rng = np.random.default_rng(0)
    labels = rng.choice(3, 300, p=[0.7, 0.2, 0.1])
    coding = encode(
        labels, rng.uniform(0.5, 2, 300), np.ones(300), np.array([1.0, 2.0, 3.0]), "total"
    )
    sample = coding.take(np.flatnonzero(rng.uniform(size=300) < 0.1 + labels / 3))
    for name in ("weights", "rule_weights"):
        before, after = (class_sums(c.labels, getattr(c, name), 3) for c in (coding, sample))
        np.testing.assert_allclose(after, before)

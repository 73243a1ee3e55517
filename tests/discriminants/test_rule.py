"""The threshold and the scores by themselves, against their definitions."""

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants._coding import class_sums, encode_rows
from mercer.discriminants._gaussian import fit_rule, rule_from_moments, score_rule
from mercer.discriminants._tuning import best_entry
from mercer.spectral import decompose_kernel


def test_scores_are_log_posteriors_of_gaussians_with_a_variance_along_each_axis():
    rng = np.random.default_rng(0)
    means, outputs = rng.normal(size=(3, 2)), rng.normal(size=(20, 2))
    log_priors, variances = np.log([0.2, 0.5, 0.3]), np.array([0.7, 0.1])
    axes = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    covariance = axes @ np.diag(variances) @ axes.T
    densities = [multivariate_normal(m, covariance).logpdf(outputs) for m in means]
    expected = np.stack(densities, axis=1) + log_priors
    scores = rule_from_moments(means, axes, variances, log_priors).scores(outputs)
    # Up to what all classes share.
    np.testing.assert_allclose(scores - scores[:, :1], expected - expected[:, :1], rtol=1e-10)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
def test_with_fitted_moments_and_no_ridge_the_linear_kernel_is_linear_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    X, y = X[:, X.std(axis=0) > 0][::2], y[::2].astype(np.intp)
    X = PCA(min(10, X.shape[1]), whiten=True).fit_transform(X)
    counts = np.bincount(y)
    one = np.ones(len(y))
    coding = encode_rows(y, one, one, np.ones(len(counts)), "total")
    log_priors = np.log(np.arange(1, len(counts) + 1) / np.arange(1, len(counts) + 1).sum())
    basis = decompose_kernel(X @ X.T, coding.weights)
    fitted = coding.targets - basis.residuals(coding.targets, np.array([1e-11]))[0]
    axes = np.linalg.eigh((coding.weights[:, None] * coding.targets).T @ fitted)[1]
    rule = fit_rule(fitted, fitted, axes, y, coding.rule_weights, log_priors)
    scores = rule.scores(fitted)[0]
    # With priors of its own, scikit-learn pools covariances by them; this is the textbook's.
    pooled = LinearDiscriminantAnalysis(solver="lsqr", priors=counts / len(y)).fit(X, y)
    expected = pooled.predict_log_proba(X) - np.log(counts / len(y)) + log_priors
    np.testing.assert_allclose(
        log_softmax(scores, axis=1), log_softmax(expected, axis=1), atol=1e-6, rtol=1e-6
    )


@pytest.mark.parametrize("scatter", ["class", "total"])
@pytest.mark.parametrize("options", [{}, {"alpha": 1e-9}], ids=["chosen ridge", "tiny ridge"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_linear_kernel_classifies_as_linear_discriminant_analysis_does(load, options, scatter):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    expected = LinearDiscriminantAnalysis().fit(X, y).predict(X)
    exact = KernelFisherDiscriminant(kernel="linear", scatter=scatter, **options).fit(X, y)
    assert np.mean(exact.predict(X) != expected) <= 0.01
    sparse = SparseKernelFisherDiscriminant(
        kernel="linear", scatter=scatter, random_state=0, **options
    )
    assert np.mean(sparse.fit(X, y).predict(X) != expected) <= 0.01


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
    weights = rng.uniform(0.5, 2, 300)
    coding = encode_rows(labels, weights, weights, np.array([1.0, 2.0, 3.0]), "total")
    sample = coding.take(np.flatnonzero(rng.uniform(size=300) < 0.1 + labels / 3))
    for name in ("weights", "rule_weights"):
        before, after = (class_sums(c.labels, getattr(c, name), 3) for c in (coding, sample))
        np.testing.assert_allclose(after, before)

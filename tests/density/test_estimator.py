"""KernelDensity against scikit-learn, SciPy and literal sums; its widths, mirrors and draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import gaussian_kde
from sklearn import neighbors

from mercer import KernelDensity
from mercer.bandwidth import least_squares_cross_validation, likelihood_cross_validation
from mercer.kernels import get_kernel

SHARED = ("gaussian", "exponential", "epanechnikov")  # scikit-learn has these too
ALL = (*SHARED, "laplacian")


def sample(n=60, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def literal(X, points, widths, weights=None, kernel="gaussian"):
    """Log of the mean of windows of a width for each row, pair by pair."""
    kernel, d = get_kernel(kernel), X.shape[1]
    metric = "cityblock" if kernel.metric == "cityblock" else "euclidean"
    r = cdist(points, X, metric)
    w = np.ones(len(X)) if weights is None else np.asarray(weights, float)
    terms = np.empty(r.shape)
    for j, h in enumerate(np.broadcast_to(widths, len(X))):
        terms[:, j] = kernel.log_profile(r[:, j] ** 2, h) - kernel.log_normaliser(h, d)
    with np.errstate(divide="ignore"):
        return logsumexp(terms + np.log(w / w.sum()), axis=1)


@pytest.mark.parametrize("kernel", SHARED)
@pytest.mark.parametrize("d", [1, 2, 7])
@pytest.mark.parametrize("bandwidth", [0.4, 2.0, "scott", "silverman"])
def test_is_scikit_learns(kernel, d, bandwidth):
    X, points = sample(60, d), 2 * sample(30, d, 1)
    weights = np.random.default_rng(2).uniform(size=60)
    for w in (None, weights):
        # Its tree is off in the tails, by more than 100 in log at d = 5; a single leaf is exact.
        peer = neighbors.KernelDensity(bandwidth=bandwidth, kernel=kernel, leaf_size=100)
        ours = KernelDensity(bandwidth=bandwidth, kernel=kernel)
        peer.fit(X, sample_weight=w)
        # N of the rules is the number of rows, as scikit-learn has it.
        ours.fit(X, sample_weight=w)
        assert ours.bandwidth_ == pytest.approx(peer.bandwidth_, rel=1e-14)
        with np.errstate(divide="ignore"):
            assert_allclose(ours.score_samples(points), peer.score_samples(points), atol=1e-10)
            assert ours.score(points) == pytest.approx(peer.score(points), abs=1e-8)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
@pytest.mark.parametrize("d", [1, 3])
def test_is_scipys_in_its_metric(rule, d):
    X = sample(80, d) @ np.random.default_rng(3).normal(size=(d, d)) + 100.0
    points = X[:20] + 1.0
    peer = gaussian_kde(X.T, bw_method=rule)
    ours = KernelDensity(bandwidth=rule, metric="mahalanobis").fit(X)
    assert_allclose(ours.score_samples(points), peer.logpdf(points.T), rtol=1e-9)
    matrix = KernelDensity(bandwidth=peer.covariance).fit(X)
    assert_allclose(matrix.score_samples(points), peer.logpdf(points.T), rtol=1e-9)
    assert_allclose(matrix.bandwidth_, peer.covariance)
    assert_allclose(matrix.widths_, np.sqrt(np.diag(peer.covariance)))


@pytest.mark.parametrize("kernel", ALL)
def test_a_width_for_each_column_is_a_change_of_units(kernel):
    X, points, widths = sample(40, 3), sample(10, 3, 1), np.array([0.5, 2.0, 300.0])
    ours = KernelDensity(bandwidth=widths, kernel=kernel).fit(X * widths)
    expected = literal(X, points, 1.0, kernel=kernel) - np.log(widths).sum()
    assert_allclose(ours.score_samples(points * widths), expected, rtol=1e-10)
    assert_allclose(ours.widths_, widths)


def test_the_default_follows_the_scale_of_each_column():
    X, unit = sample(50, 3), np.array([1e-3, 1.0, 1e5])
    plain, scaled = KernelDensity().fit(X), KernelDensity().fit(X * unit)
    deviations = X.std(axis=0, ddof=1)
    assert_allclose(plain.bandwidth_, deviations * (4 / (5 * 50)) ** (1 / 7))
    assert_allclose(scaled.bandwidth_, plain.bandwidth_ * unit)
    standard = KernelDensity(bandwidth="silverman", metric="seuclidean").fit(X)
    assert_allclose(standard.score_samples(X), plain.score_samples(X), rtol=1e-12)


def test_cross_validation_is_that_of_the_bandwidths():
    X = sample(70, 2)
    likelihood = likelihood_cross_validation(X)
    model = KernelDensity(bandwidth="likelihood-cv").fit(X)
    assert model.bandwidth_ == likelihood.bandwidth
    assert model.leave_one_out_scores().mean() == pytest.approx(likelihood.score, rel=1e-12)
    squares = KernelDensity(bandwidth="least-squares-cv").fit(X)
    assert squares.bandwidth_ == least_squares_cross_validation(X).bandwidth


@pytest.mark.parametrize("d", [1, 40, 784])
def test_tails_do_not_underflow(d):
    X, points = sample(30, d), 1e4 + sample(5, d, 1)
    found = KernelDensity(bandwidth=0.1).fit(X).score_samples(points)
    assert np.isfinite(found).all()
    assert_allclose(found, literal(X, points, 0.1), rtol=1e-12)


@pytest.mark.parametrize("kernel", ALL)
@pytest.mark.parametrize("options", [{}, {"adaptive": True}], ids=["one width", "adaptive"])
@pytest.mark.parametrize("bounds", [None, (-4.0, None), (-4.0, 3.5)], ids=str)
def test_the_integral_is_one(kernel, options, bounds):
    X = np.clip(sample(25, 1), -4, 3.5)
    if kernel == "exponential" and bounds == (-4.0, 3.5):
        with pytest.raises(ValueError, match=r"^bounds at both ends .*mirrored windows have no"):
            KernelDensity(kernel=kernel, bounds=bounds).fit(X)
        return
    model = KernelDensity(bandwidth=0.7, kernel=kernel, bounds=bounds, **options).fit(X)
    grid = np.linspace(-40, 40, 80_001)
    mass = np.exp(model.score_samples(grid[:, None])).sum() * (grid[1] - grid[0])
    assert mass == pytest.approx(1, abs=2e-3)
    if bounds is not None:
        assert model.score_samples([[-4.001]]) == -np.inf


@given(st.data())
def test_weights_are_copies(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 3))
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    if (times > 0).sum() < 2:
        times[:2] = 1, 2
    adaptive = data.draw(st.booleans())
    bandwidth = data.draw(st.sampled_from([0.5, "normal-reference", "scott"]))
    bounds = data.draw(st.sampled_from([None, [(-9.0, None)] * d]))
    X = sample(n, d, data.draw(st.integers(0, 99)))
    options = {"bandwidth": bandwidth, "adaptive": adaptive, "bounds": bounds}
    weighted = KernelDensity(**options).fit(X, sample_weight=times)
    copied = KernelDensity(**options).fit(np.repeat(X, times, axis=0))
    points = sample(5, d, 7)
    assert_allclose(weighted.score_samples(points), copied.score_samples(points), rtol=1e-9)
    kept = times[times > 0]
    left_out = np.repeat(weighted.leave_one_out_scores(), kept)
    assert_allclose(left_out, copied.leave_one_out_scores(), rtol=1e-9)


@pytest.mark.parametrize("kernel", ALL)
@pytest.mark.parametrize("weights", [None, "whole", "relative"])
@pytest.mark.parametrize("bounds", [None, {0: (-0.01, None)}, {0: (-0.01, 2.0), 1: (None, 3.0)}])
@pytest.mark.parametrize("adaptive", [False, True])
def test_leave_one_out_is_the_mean_of_the_others(kernel, weights, bounds, adaptive):
    if kernel == "exponential" and bounds is not None and 1 in bounds:
        pytest.skip("it has no mirrors at both ends")
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.beta(1, 3, 30) * 2, rng.normal(size=30)])
    w = {None: None, "whole": rng.integers(1, 4, 30) * 1.0, "relative": rng.uniform(0.1, 2, 30)}
    w = w[weights]
    model = KernelDensity(bandwidth=0.3, kernel=kernel, bounds=bounds, adaptive=adaptive)
    model.fit(X, sample_weight=w)
    widths = 0.3 * (model.factors_ if adaptive else np.ones(30))
    found = model.leave_one_out_scores()
    for i in range(30):
        rest = np.ones(30) if w is None else w.copy()
        rest[i] -= min(rest[i], 1.0) if weights != "relative" else rest[i]
        assert_allclose(found[i], mirrored(X, X[[i]], widths, rest, kernel, bounds), rtol=1e-9)


def mirrored(X, points, widths, weights, kernel, bounds):
    """The same with all rows mirrored often enough, pair by pair."""
    n = len(X)
    for column, (low, high) in (bounds or {}).items():
        parts = [X, flip(X, column, high if low is None else low)]
        if low is not None and high is not None:
            move = np.eye(X.shape[1])[column] * 2 * (high - low)
            parts = [part + k * move for part in parts for k in range(-6, 7)]
        widths, weights = np.tile(widths, len(parts)), np.tile(weights, len(parts))
        X = np.concatenate(parts)
    return literal(X, points, widths, weights, kernel) + np.log(len(X) / n)


def flip(X, column, end):
    out = X.copy()
    out[:, column] = 2 * end - X[:, column]
    return out

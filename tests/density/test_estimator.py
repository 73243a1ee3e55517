"""KernelDensity against scikit-learn, SciPy and literal sums; its widths, mirrors and draws."""

import re

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
from mercer.bandwidth import (
    improved_sheather_jones_bandwidth,
    least_squares_cross_validation,
    likelihood_cross_validation,
)
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
    ordered = np.sort(X, axis=0)
    quartiles = (ordered[37] - ordered[12]) / 1.3489795  # ranks 13 and 38 of 50
    scale = np.minimum(X.std(axis=0, ddof=1), quartiles)
    assert_allclose(plain.bandwidth_, scale * (4 / (5 * 50)) ** (1 / 7), rtol=1e-7)
    assert_allclose(scaled.bandwidth_, plain.bandwidth_ * unit)


def test_standard_deviations_are_a_metric():
    X, points = sample(50, 3) * [1e-3, 1.0, 1e5], sample(9, 3, 1) * [1e-3, 1.0, 1e5]
    deviations = X.std(axis=0, ddof=1)
    peer = neighbors.KernelDensity(bandwidth="scott", leaf_size=50).fit(X / deviations)
    expected = peer.score_samples(points / deviations) - np.log(deviations).sum()
    model = KernelDensity(bandwidth="scott", metric="seuclidean").fit(X)
    assert_allclose(model.score_samples(points), expected, rtol=1e-10)
    assert_allclose(model.widths_, deviations * model.bandwidth_)
    reference = KernelDensity(metric="seuclidean").fit(X)  # there is no scale left to look at
    silverman = KernelDensity(bandwidth="silverman", metric="seuclidean").fit(X)
    assert reference.bandwidth_ == silverman.bandwidth_


def test_names_are_those_of_the_bandwidths():
    X = sample(70, 2)
    likelihood = likelihood_cross_validation(X)
    model = KernelDensity(bandwidth="likelihood-cv").fit(X)
    assert model.bandwidth_ == likelihood.bandwidth
    assert model.leave_one_out_scores().mean() == pytest.approx(likelihood.score, rel=1e-12)
    column = X[:, :1]
    plug_in = improved_sheather_jones_bandwidth(column)
    assert KernelDensity(bandwidth="improved-sheather-jones").fit(column).bandwidth_ == plug_in
    squares = KernelDensity(bandwidth="least-squares-cv").fit(X)
    assert squares.bandwidth_ == least_squares_cross_validation(X).bandwidth


@pytest.mark.parametrize("unit", [1e-290, 1e290])
@pytest.mark.parametrize("metric", ["euclidean", "seuclidean", "mahalanobis"])
def test_units_at_the_ends_of_floating_point(metric, unit):
    X, points = sample(40, 2), sample(7, 2, 1)
    plain = KernelDensity(metric=metric).fit(X)
    scaled = KernelDensity(metric=metric).fit(X * unit)
    expected = plain.score_samples(points) - 2 * np.log(unit)
    assert_allclose(scaled.score_samples(points * unit), expected, rtol=1e-12)
    assert_allclose(scaled.widths_ / unit, plain.widths_)


def moved(X, h, weights):
    """Rows moved by h²/2 times the gradient of the log density, row by row."""
    out = np.empty_like(X)
    for i, x in enumerate(X):
        k = weights * np.exp(-((X - x) ** 2).sum(axis=1) / (2 * h**2))
        gradient = ((X - x) * (k / k.sum())[:, None]).sum(axis=0) / h**2
        out[i] = x + h**2 / 2 * gradient
    return out


@pytest.mark.parametrize("weights", [None, "whole", "relative"])
@pytest.mark.parametrize("d", [1, 3])
def test_rows_are_moved_uphill(weights, d):
    rng = np.random.default_rng(3)
    X, points = sample(40, d) + 1e3, sample(10, d, 1) + 1e3
    w = {None: None, "whole": rng.integers(1, 4, 40) * 1.0, "relative": rng.uniform(0.1, 2, 40)}
    w = w[weights]
    counts = np.ones(40) if w is None else w
    model = KernelDensity(bandwidth=0.5, debiased=True).fit(X, sample_weight=w)
    Z = moved(X, 0.5, counts)
    assert_allclose(model.score_samples(points), literal(Z, points, 0.5, counts), rtol=1e-9)
    found = model.leave_one_out_scores()
    for i in range(40):
        rest = counts.copy()
        rest[i] -= rest[i] if weights == "relative" else 1.0
        assert_allclose(found[i], literal(Z, X[[i]], 0.5, rest), rtol=1e-9)
    assert_allclose(  # the same draws, from windows elsewhere
        model.sample(9, 0), KernelDensity(bandwidth=0.5).fit(Z, sample_weight=w).sample(9, 0)
    )


def test_debiased_peaks_are_higher():
    X = sample(4000, 1)
    plain = KernelDensity(bandwidth=0.5).fit(X).score_samples([[0.0]])
    debiased = KernelDensity(bandwidth=0.5, debiased=True).fit(X).score_samples([[0.0]])
    truth = -0.5 * np.log(2 * np.pi)
    assert abs(debiased - truth) < 0.4 * abs(plain - truth)


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
    grid = np.linspace(-40, 40, 20_001)
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
    for i in range(0, 30, 6):
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
            parts = [part + k * move for part in parts for k in range(-4, 5)]
        widths, weights = np.tile(widths, len(parts)), np.tile(weights, len(parts))
        X = np.concatenate(parts)
    return literal(X, points, widths, weights, kernel) + np.log(len(X) / n)


def flip(X, column, end):
    out = X.copy()
    out[:, column] = 2 * end - X[:, column]
    return out


def test_many_mirrors_between_narrow_ends():
    """A wide window between two ends is nearly uniform; a literal sum of many mirrors agrees."""
    X, points = np.array([[0.1], [0.5], [0.93]]), np.linspace(0, 1, 7)[:, None]
    for h in (0.01, 0.3, 5.0):
        model = KernelDensity(bandwidth=h, bounds=(0, 1)).fit(X)
        images = np.concatenate([s * X + 2 * k for k in range(-40, 41) for s in (1, -1)])
        expected = literal(images, points, h) + np.log(len(images) / 3)
        assert_allclose(model.score_samples(points), expected, rtol=1e-10, atol=1e-13)


def test_mirrors_cost_where_they_count_only():
    X = sample(50, 9)
    ended = KernelDensity(bandwidth=0.5, bounds=[(-20, 20)] * 9).fit(X)  # 5⁹ mirrors
    free = KernelDensity(bandwidth=0.5).fit(X)
    assert_allclose(ended.score_samples(X), free.score_samples(X), rtol=1e-13)
    wide = KernelDensity(bandwidth=40.0, bounds=[(-20, 20)] * 9).fit(X)
    with pytest.raises(ValueError, match=r"^bounds would need more than 1000 mirrored copies"):
        wide.score_samples(X)


def test_mirrors_count_in_the_farthest_tails():
    """At an end far from all rows the mirror doubles the density, however low that is."""
    X = np.array([[10.0], [11.0]])
    free = KernelDensity(bandwidth=0.1).fit(X).score_samples([[0.0]])
    ended = KernelDensity(bandwidth=0.1, bounds=(0, None)).fit(X).score_samples([[0.0]])
    assert free < -4900
    assert_allclose(ended - free, np.log(2), atol=1e-9)


@pytest.mark.parametrize("weights", [None, [2.0, 1.0, 3.0], [0.4, 0.1, 7.0]], ids=str)
def test_a_lonely_row_at_an_end_is_not_vouched_for_by_its_mirror(weights):
    X = np.array([[0.0], [1e-3], [30.0]])
    model = KernelDensity(bandwidth=0.5, bounds=(0, None)).fit(X, sample_weight=weights)
    found = model.leave_one_out_scores()
    for i in range(3):
        rest = np.ones(3) if weights is None else np.array(weights)
        rest[i] -= 1.0 if weights is None or weights[0] == 2 else rest[i]
        expected = mirrored(X, X[[i]], np.full(3, 0.5), rest, "gaussian", {0: (0.0, None)})
        assert_allclose(found[i], expected, rtol=1e-12)


def test_abramsons_law():
    X = sample(80, 2)
    model = KernelDensity(bandwidth=0.4, adaptive=True).fit(X)
    log_pilot = literal(X, X, 0.4)
    wanted = np.exp(-0.5 * (log_pilot - log_pilot.mean()))
    assert np.abs(np.log2(model.factors_ / wanted)).max() <= 1 / 16 + 1e-12
    points = sample(20, 2, 1)
    assert_allclose(
        model.score_samples(points), literal(X, points, 0.4 * model.factors_), rtol=1e-11
    )


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "epanechnikov", "laplacian"])
@pytest.mark.parametrize("options", [{}, {"adaptive": True}, {"bounds": {0: (-0.4, 0.6)}}], ids=str)
def test_draws_follow_the_density(kernel, options):
    if kernel == "exponential" and "bounds" in options:
        pytest.skip("it has no mirrors at both ends")
    X, weights = np.array([[-0.3, 0.0], [0.5, 2.0], [0.2, 9.0]]), [1.0, 2.0, 3.5]
    model = KernelDensity(bandwidth=0.5, kernel=kernel, **options).fit(X, sample_weight=weights)
    points = model.sample(4000, random_state=0)
    edges = np.linspace(-3, 12, 31)
    masses = cell_masses(model, edges)
    counts = np.histogram(points[:, 1], edges)[0]
    deviations = np.sqrt(4000 * masses * (1 - masses))
    assert (np.abs(counts - 4000 * masses) < 4.5 * deviations + 20).all()


def cell_masses(model, edges):
    """The mass of the second column's cells, by sums over a grid in both columns."""
    x = np.linspace(-6, 6, 241)
    fine = np.linspace(edges[0], edges[-1], 30 * 20 + 1)
    fine = (fine[1:] + fine[:-1]) / 2
    grid = np.stack(np.meshgrid(x, fine, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(model.score_samples(grid)).reshape(len(x), 30, 20)
    return density.sum(axis=(0, 2)) * (x[1] - x[0]) * (fine[1] - fine[0])


def test_draws_are_those_of_scikit_learn():
    X, weights = sample(30, 3), np.random.default_rng(1).uniform(size=30)
    for w in (None, weights):
        peer = neighbors.KernelDensity(bandwidth=0.3).fit(X, sample_weight=w)
        ours = KernelDensity(bandwidth=0.3).fit(X, sample_weight=w)
        assert_allclose(ours.sample(9, 4), peer.sample(9, 4), rtol=1e-14)


def test_tolerance_holds_and_is_taken():
    X = sample(4000, 1)
    exact = KernelDensity(bandwidth=0.2).fit(X)
    quick = KernelDensity(bandwidth=0.2, tol=1e-6).fit(X)
    points = np.linspace(-9, 9, 4000)[:, None]
    assert_allclose(quick.score_samples(points), exact.score_samples(points), rtol=0, atol=2e-6)
    left_out = quick.leave_one_out_scores()
    assert_allclose(left_out, exact.leave_one_out_scores(), rtol=0, atol=2e-6)
    adaptive = KernelDensity(bandwidth=0.2, tol=1e-6, adaptive=True).fit(X)
    expected = literal(X, points[::50], 0.2 * adaptive.factors_)
    assert_allclose(adaptive.score_samples(points[::50]), expected, rtol=0, atol=2e-6)


BAD = [
    ({"bandwidth": [1.0, -1.0]}, r"^bandwidth must be positive, got -1 for column 1\.$"),
    ({"bandwidth": [1.0, 1.0, 1.0]}, r"^bandwidth must be a number, .* got shape \(3,\)\.$"),
    ({"bandwidth": [[1.0, 2.0], [0.0, 1.0]]}, r"^bandwidth must be a symmetric matrix"),
    ({"bandwidth": [[1.0, 2.0], [2.0, 1.0]]}, r"^bandwidth must be a positive definite matrix"),
    ({"bandwidth": [np.nan, 1.0]}, r"^bandwidth must be finite\.$"),
    ({"bandwidth": [1.0, 1.0], "metric": "seuclidean"}, r"^metric='seuclidean' goes with"),
    ({"bounds": [(0, 1)]}, r"^bounds must have a pair \(low, high\) for each of the 2 columns"),
    ({"bounds": [(1, 0), None]}, r"^bounds of column 0 must be in order"),
    ({"bounds": {"age": (0, 1)}}, r"^bounds names column 'age', which X does not have\.$"),
    ({"bounds": {1: (0, "b")}}, r"^bounds of column 1 must be a pair"),
    ({"bounds": {1: (0, None)}}, r"^X contains -0\.\d+ in row 0, column 1, which is beyond its"),
    ({"bounds": [(-9, 9), None], "metric": "mahalanobis"}, r"^bounds needs windows along"),
    ({"kernel": "laplacian", "metric": "mahalanobis"}, r"^kernel='laplacian' needs windows along"),
    ({"debiased": True, "adaptive": True}, r"^debiased=True needs kernel='gaussian', adaptive"),
    ({"kernel": "cauchy"}, r"^kernel 'cauchy' is not a density in two or more dimensions"),
    ({"kernel": "tophat"}, r"'kernel' parameter of KernelDensity must be a str among .*gaussian"),
    ({"bandwidth": "least-squares-cv", "kernel": "exponential"}, r"^Least-squares .* needs kernel"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD, ids=[str(one[0]) for one in BAD])
def test_what_cannot_be_is_said_in_a_sentence(options, sentence):
    X = np.array([[1.0, -0.5], [0.5, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=sentence):
        KernelDensity(**options).fit(X)


def test_a_singular_covariance_is_refused():
    X = sample(30, 2)
    with pytest.raises(ValueError, match=r"^metric='mahalanobis' needs a covariance of full rank"):
        KernelDensity(bandwidth="scott", metric="mahalanobis").fit(np.c_[X, X.sum(axis=1)])


def test_one_row_cannot_be_left_out():
    model = KernelDensity(bandwidth=1.0).fit([[0.0]])
    assert model.score_samples([[0.0]]) == pytest.approx(-0.5 * np.log(2 * np.pi))
    with pytest.raises(ValueError, match=r"^Leaving rows out needs more than one row"):
        model.leave_one_out_scores()


@pytest.mark.parametrize("kernel", ["tophat", "linear", "cosine"])
def test_kernels_of_scikit_learn_that_are_not_here_have_a_sentence(kernel):
    words = (
        "The 'kernel' parameter of KernelDensity must be a str among {'cauchy', 'epanechnikov', "
        "'exponential', 'gaussian', 'laplacian'} (scikit-learn's 'tophat', 'linear' and 'cosine' "
        f"are not here; 'epanechnikov' is nearest). Got {kernel!r} instead."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        KernelDensity(kernel=kernel).fit(np.zeros((3, 1)))

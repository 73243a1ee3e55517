"""Every measure against the printed formula, closed forms and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from information.samples import SAMPLES, two_classes
from mercer import information
from mercer.bandwidth import resolve_bandwidth
from mercer.information import (
    cauchy_schwarz_divergence,
    cross_information_potential,
    information_cut,
    information_potential,
    integrated_squared_error,
    laplacian_information_cut,
    log_cross_information_potential,
    log_information_cut,
    log_information_potential,
    log_integrated_squared_error,
    log_laplacian_information_cut,
    renyi_quadratic_entropy,
)
from oracles import information as oracle

ONE = [information_potential, log_information_potential, renyi_quadratic_entropy]
TWO = [
    cauchy_schwarz_divergence,
    cross_information_potential,
    information_cut,
    integrated_squared_error,
    log_cross_information_potential,
    log_information_cut,
    log_integrated_squared_error,
]
LABELLED = [laplacian_information_cut, log_laplacian_information_cut]
MERCER_ONLY = [
    cauchy_schwarz_divergence,
    information_cut,
    integrated_squared_error,
    log_information_cut,
    log_integrated_squared_error,
]


def test_every_measure_is_tested():
    elsewhere = {
        "IndependenceTestResult",
        "KSampleTestResult",
        "TwoSampleTestResult",
        "cauchy_schwarz_mutual_information",
        "euclidean_mutual_information",
        "hilbert_schmidt_independence",
        "independence_test",
        "k_sample_test",
        "renyi_entropy",
        "two_sample_test",
    }
    assert {f.__name__ for f in ONE + TWO + LABELLED} | elsewhere == set(information.__all__)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian", "epanechnikov"])
@pytest.mark.parametrize("name", SAMPLES)
def test_printed_formulas(name, kernel):
    X, Y = two_classes(name)
    h = 1.3
    options = {"bandwidth": h, "kernel": kernel}
    potential = oracle.overlap(X, X, h, h, kernel)
    cross = oracle.overlap(X, Y, h, h, kernel)
    assert information_potential(X, **options) == pytest.approx(potential, rel=1e-9)
    assert log_information_potential(X, **options) == pytest.approx(np.log(potential), rel=1e-9)
    assert renyi_quadratic_entropy(X, **options) == pytest.approx(-np.log(potential), rel=1e-9)
    assert cross_information_potential(X, Y, **options) == pytest.approx(cross, rel=1e-9)
    if kernel == "epanechnikov":
        return
    assert log_cross_information_potential(X, Y, **options) == pytest.approx(
        np.log(cross), rel=1e-9
    )
    error = oracle.integrated_squared_error(X, Y, h, h, kernel)
    assert integrated_squared_error(X, Y, **options) == pytest.approx(error, rel=1e-9)
    assert log_integrated_squared_error(X, Y, **options) == pytest.approx(np.log(error), rel=1e-9)
    cut = oracle.information_cut(X, Y, h, h, kernel)
    assert information_cut(X, Y, **options) == pytest.approx(cut, rel=1e-9)
    assert log_information_cut(X, Y, **options) == pytest.approx(np.log(cut), rel=1e-9)
    assert cauchy_schwarz_divergence(X, Y, **options) == pytest.approx(-np.log(cut), rel=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian"])
@pytest.mark.parametrize("density", ["parzen", "mercer", None])
@pytest.mark.parametrize("name", SAMPLES)
def test_printed_laplacian_cut(name, kernel, density):
    """Two classes and, with iris and wine, eq. (15) for three."""
    X, y = SAMPLES[name]
    options = {"bandwidth": 0.8, "kernel": kernel, "density": density}
    expected = oracle.laplacian_information_cut(X, y, 0.8, kernel, density)
    assert laplacian_information_cut(X, y, **options) == pytest.approx(expected, rel=1e-9)
    assert log_laplacian_information_cut(X, y, **options) == pytest.approx(
        np.log(expected), rel=1e-9
    )


def test_two_bandwidths():
    X, Y = two_classes("moons")
    pair = (0.3, 0.7)
    assert cross_information_potential(X, Y, bandwidth=pair) == pytest.approx(
        oracle.overlap(X, Y, *pair), rel=1e-9
    )
    assert integrated_squared_error(X, Y, bandwidth=pair) == pytest.approx(
        oracle.integrated_squared_error(X, Y, *pair), rel=1e-9
    )
    assert information_cut(X, Y, bandwidth=pair) == pytest.approx(
        oracle.information_cut(X, Y, *pair), rel=1e-9
    )


def test_integrals_by_quadrature():
    """Not sums over pairs but the integrals of the densities that these stand for."""
    X, Y = np.array([[-1.0], [0.2], [0.5]]), np.array([[0.0], [2.0]])
    grid = np.linspace(-12, 12, 20001)
    p = np.exp(-((grid - X) ** 2) / (2 * 0.5**2)).mean(0) / np.sqrt(2 * np.pi) / 0.5
    q = np.exp(-((grid - Y) ** 2) / (2 * 0.9**2)).mean(0) / np.sqrt(2 * np.pi) / 0.9
    step = grid[1] - grid[0]
    pair = {"bandwidth": (0.5, 0.9)}
    assert information_potential(X, bandwidth=0.5) == pytest.approx((p * p).sum() * step)
    assert cross_information_potential(X, Y, **pair) == pytest.approx((p * q).sum() * step)
    assert integrated_squared_error(X, Y, **pair) == pytest.approx(((p - q) ** 2).sum() * step)
    cosine = (p * q).sum() / np.sqrt((p * p).sum() * (q * q).sum())
    assert information_cut(X, Y, **pair) == pytest.approx(cosine)


def test_single_points_have_closed_forms():
    """d = 2, distance 3, h = 1.5: windows overlap as exp(−r²/4h²)/(4πh²)."""
    X, Y = np.zeros((1, 2)), np.array([[3.0, 0.0]])
    peak, decay = 1 / (4 * np.pi * 1.5**2), np.exp(-1.0)
    assert information_potential(X, bandwidth=1.5) == pytest.approx(peak)
    assert cross_information_potential(X, Y, bandwidth=1.5) == pytest.approx(peak * decay)
    assert integrated_squared_error(X, Y, bandwidth=1.5) == pytest.approx(2 * peak * (1 - decay))
    assert cauchy_schwarz_divergence(X, Y, bandwidth=1.5) == pytest.approx(1.0)
    assert laplacian_information_cut(
        np.concatenate([X, Y]), ["a", "b"], bandwidth=1.5
    ) == pytest.approx(decay)


def test_plain_cut_of_labels_is_the_cut_of_samples():
    X, y = SAMPLES["ring"]
    assert laplacian_information_cut(X, y, bandwidth=0.5, density=None) == pytest.approx(
        information_cut(*two_classes("ring"), bandwidth=0.5), rel=1e-12
    )


def test_multiway_cut_is_the_mean_over_pairs_of_one_density():
    """With f̂ of all rows, pairs of classes do not decouple; without it they do."""
    X, y = SAMPLES["iris"]
    pairs = [
        information_cut(X[y == a], X[y == b], bandwidth=0.5) for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    assert laplacian_information_cut(X, y, bandwidth=0.5, density=None) == pytest.approx(
        np.mean(pairs), rel=1e-12
    )


@pytest.mark.parametrize("rule", ["silverman", "silverman-amise", "scott", "likelihood-cv"])
def test_rules_see_both_samples(rule):
    X, Y = two_classes("moons")
    w_x, w_y = np.arange(len(X)) % 3, None
    weights = np.concatenate([w_x, np.ones(len(Y))])
    h = resolve_bandwidth(rule, np.concatenate([X, Y]), weights)
    named = information_cut(X, Y, bandwidth=rule, sample_weight=w_x, sample_weight_y=w_y)
    assert named == information_cut(X, Y, bandwidth=h, sample_weight=w_x)
    each = (resolve_bandwidth(rule, X, w_x), resolve_bandwidth(rule, Y))
    assert information_cut(X, Y, bandwidth=(rule, rule), sample_weight=w_x) == information_cut(
        X, Y, bandwidth=each, sample_weight=w_x
    )


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 3), min_size=7, max_size=7).filter(any),
    st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any),
)
def test_weights_are_repetitions(w_x, w_y):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(7, 2)), rng.normal(size=(5, 2)) + 1
    XX, YY = np.repeat(X, w_x, axis=0), np.repeat(Y, w_y, axis=0)
    for measure in ONE:
        weighted = measure(X, bandwidth=0.6, sample_weight=w_x)
        assert weighted == pytest.approx(measure(XX, bandwidth=0.6), rel=1e-11)
    for measure in TWO:
        weighted = measure(X, Y, bandwidth=0.6, sample_weight=w_x, sample_weight_y=w_y)
        assert weighted == pytest.approx(measure(XX, YY, bandwidth=0.6), rel=1e-9)
    labels = np.repeat(["x", "y"], [7, 5])
    for measure in LABELLED:
        weighted = measure(
            np.concatenate([X, Y]), labels, bandwidth=0.6, sample_weight=[*w_x, *w_y]
        )
        repeated = measure(np.concatenate([XX, YY]), np.repeat(labels, [*w_x, *w_y]), bandwidth=0.6)
        assert weighted == pytest.approx(repeated, rel=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 12), st.integers(1, 6))
def test_inequalities_and_symmetry(seed, n, m, d):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d)) * 2
    h = {"bandwidth": float(rng.uniform(0.05, 5))}
    assert 0 <= information_cut(X, Y, **h) <= 1
    assert cauchy_schwarz_divergence(X, Y, **h) >= 0
    assert integrated_squared_error(X, Y, **h) >= 0
    for measure in TWO:
        assert measure(X, Y, **h) == pytest.approx(measure(Y, X, **h), rel=1e-9, abs=1e-13)
    y = np.repeat([0, 1], [n, m])
    assert 0 <= laplacian_information_cut(np.concatenate([X, Y]), y, **h) <= 1


@pytest.mark.parametrize("d", [1, 3, 50, 784])
def test_equal_samples(d):
    X = np.random.default_rng(0).normal(size=(40, d))
    shuffled = X[::-1]
    h = {"bandwidth": 1.0}
    potential = log_information_potential(X, **h)
    assert 0 <= cauchy_schwarz_divergence(X, shuffled, **h) < 1e-13
    assert log_integrated_squared_error(X, shuffled, **h) < potential + np.log(1e-13)
    assert information_cut(X, shuffled, **h) == pytest.approx(1.0, abs=1e-13)


def test_equal_samples_have_no_negative_error():
    """Rounding takes the sum of three terms to either side of zero."""
    for seed in range(50):
        X = np.random.default_rng(seed).normal(size=(30, 2))
        assert integrated_squared_error(X, X[::-1], bandwidth=0.5) >= 0


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1e100])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_scale_and_offset(scale, offset):
    """Without units: cuts and divergences; densities scale as scale^(−d)."""
    X, Y = two_classes("moons")
    U, V = (X + offset) * scale, (Y + offset) * scale
    h, H = {"bandwidth": 0.4}, {"bandwidth": 0.4 * scale}
    near = {"rel": 1e-9}
    assert information_cut(U, V, **H) == pytest.approx(information_cut(X, Y, **h), **near)
    assert log_information_potential(U, **H) == pytest.approx(
        log_information_potential(X, **h) - 2 * np.log(scale), **near
    )
    assert log_integrated_squared_error(U, V, **H) == pytest.approx(
        log_integrated_squared_error(X, Y, **h) - 2 * np.log(scale), **near
    )


def test_many_columns():
    """d = 784: densities over- and underflow, nothing else does."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 784)), rng.normal(size=(25, 784)) + 0.2
    assert information_potential(X, bandwidth=4.0) == 0.0
    assert information_potential(X, bandwidth=0.1) == np.inf
    for h in (0.1, 1.0, 4.0, 20.0):
        log_xx, log_yy, log_xy = (
            log_information_potential(X, bandwidth=h),
            log_information_potential(Y, bandwidth=h),
            log_cross_information_potential(X, Y, bandwidth=h),
        )
        shift = max(log_xx, log_yy)
        expected = shift + np.log(
            np.exp(log_xx - shift) + np.exp(log_yy - shift) - 2 * np.exp(log_xy - shift)
        )
        assert log_integrated_squared_error(X, Y, bandwidth=h) == pytest.approx(expected)
        assert log_information_cut(X, Y, bandwidth=h) == pytest.approx(
            log_xy - (log_xx + log_yy) / 2, rel=1e-9
        )


def test_far_apart():
    X, Y = two_classes("moons")
    far = cauchy_schwarz_divergence(X, Y + 1e3, bandwidth=0.1)
    assert information_cut(X, Y + 1e3, bandwidth=0.1) == 0.0
    nearest = ((X[:, None] - Y - 1e3) ** 2).sum(-1).min()
    assert far == pytest.approx(nearest / (4 * 0.1**2), rel=1e-5)
    y = np.repeat([0, 1], [len(X), len(Y)])
    cut = log_laplacian_information_cut(np.concatenate([X, Y + 1e3]), y, bandwidth=0.1)
    assert cut == pytest.approx(-far, rel=1e-5)


def test_windows_that_do_not_meet():
    X, Y = np.array([[0.0], [1.0]]), np.array([[50.0]])
    options = {"bandwidth": 2.0, "kernel": "epanechnikov"}
    assert cross_information_potential(X, Y, **options) == 0.0
    assert log_cross_information_potential(X, Y, **options) == -np.inf


@pytest.mark.parametrize("measure", MERCER_ONLY + LABELLED)
def test_norms_and_angles_need_a_mercer_kernel(measure):
    X, Y = two_classes("moons")
    second = np.zeros(len(X)) if measure in LABELLED else Y
    with pytest.raises(ValueError, match=r"needs a Mercer .* 'epanechnikov' is not"):
        measure(X, second, bandwidth=1.0, kernel="epanechnikov")


def test_cauchy_windows_have_cuts_in_any_dimension_and_potentials_in_one():
    X, Y = two_classes("iris")
    d2 = lambda A, B: ((A[:, None] - B) ** 2).sum(-1)  # noqa: E731
    k = lambda A, B: (1 / (1 + d2(A, B) / 0.7**2)).mean()  # noqa: E731
    assert information_cut(X, Y, bandwidth=0.7, kernel="cauchy") == pytest.approx(
        k(X, Y) / np.sqrt(k(X, X) * k(Y, Y)), rel=1e-9
    )
    line = X[:, :1]
    assert information_potential(line, bandwidth=0.7, kernel="cauchy") == pytest.approx(
        k(line, line) / (np.pi * 0.7), rel=1e-9
    )
    with pytest.raises(ValueError, match="'cauchy' is not a density"):
        information_potential(X, bandwidth=0.7, kernel="cauchy")


def test_float32():
    X, Y = two_classes("wine")
    for measure in TWO:
        single = measure(X.astype(np.float32), Y.astype(np.float32), bandwidth=1.5)
        assert type(single) is float
        assert single == pytest.approx(measure(X, Y, bandwidth=1.5), rel=1e-4)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X, Y: information_cut(X, Y[:, :1], bandwidth=1.0), "X has 2 columns and Y has 1"),
        (lambda X, Y: information_cut(X, Y[:0], bandwidth=1.0), "Y has no rows"),
        (lambda X, Y: information_cut(X, Y * np.nan, bandwidth=1.0), "Y contains NaN"),
        (lambda X, Y: information_cut(X, Y, bandwidth=-1.0), "bandwidth must be positive"),
        (lambda X, Y: information_cut(X, Y, bandwidth="wide"), "bandwidth must be a positive"),
        (lambda X, Y: information_cut(X, Y, bandwidth=(1, 2, 3)), "two, for X and for Y; got 3"),
        (
            lambda X, Y: information_cut(X, Y, bandwidth=(1, 2), kernel="exponential"),
            "Two bandwidths, 1 and 2, need kernel='gaussian', got 'exponential'",
        ),
        (
            lambda X, Y: information_cut(X, Y, bandwidth=1, sample_weight_y=[1]),
            "sample_weight_y must have one entry for each of the",
        ),
        (
            lambda X, Y: laplacian_information_cut(X, Y[:, 0] > np.inf, bandwidth=1),
            "y must hold two classes or more, got 1",
        ),
        (lambda X, Y: laplacian_information_cut(X, [0, 1], bandwidth=1), "y must have one class"),
        (
            lambda X, Y: laplacian_information_cut(X, Y[:, 0] > 0, bandwidth=1, density="f"),
            "density must be 'parzen', 'mercer' or None",
        ),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(*two_classes("moons"))


def test_equal_samples_do_not_differ_where_their_densities_overflow():
    X = np.random.default_rng(0).normal(size=(6, 40))
    assert integrated_squared_error(X, X.copy(), bandwidth=1e-10) == 0
    assert np.isposinf(integrated_squared_error(X, X + 1, bandwidth=1e-10))


def test_a_light_class_keeps_its_cosine_beside_a_heavy_one():
    """Weights of its rows times their rarity are all below floating point."""
    X = np.array([[0.0], [0.1], [0.05], [0.2]])
    y, weights = [0, 0, 1, 1], np.array([1e300, 1e300, 1e-300, 1e-300])
    out = log_laplacian_information_cut(X, y, bandwidth=10.0, sample_weight=weights)
    assert out == pytest.approx(0, abs=1e-3)
    out = log_laplacian_information_cut(
        X.astype(np.float32), y, bandwidth=10.0, sample_weight=weights
    )
    assert out == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_beyond_float32_go_with_float32_rows(weight):
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    options = {"bandwidth": 0.5, "sample_weight": np.r_[np.full(4, 10.0), np.full(4, weight)]}
    expected = log_information_potential(X.astype(float), **options)
    assert log_information_potential(X, **options) == pytest.approx(expected, rel=1e-6)

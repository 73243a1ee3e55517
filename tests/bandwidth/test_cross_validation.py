"""Cross-validation against its definition, its invariants, and the densities it should find."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KernelDensity

from mercer.bandwidth import (
    bandwidth_ladder,
    least_squares_cross_validation,
    likelihood_cross_validation,
    resolve_bandwidth,
    silverman_bandwidth,
)
from oracles import bandwidth as oracle

RNG = np.random.default_rng(3)
SAMPLES = {
    "line": RNG.normal(size=(30, 1)),
    "gaussian": RNG.normal(size=(25, 4)) + 50,
    "moons": make_moons(40, noise=0.1, random_state=0)[0],
    "iris": np.unique(load_iris().data[::5], axis=0),
}
SEARCHES = [likelihood_cross_validation, least_squares_cross_validation]


@pytest.mark.parametrize("name", SAMPLES)
def test_likelihoods_are_the_definition(name):
    X = SAMPLES[name]
    found = likelihood_cross_validation(X)
    for h, score in list(zip(found.bandwidths, found.scores, strict=True))[6::3]:
        assert score == pytest.approx(oracle.log_likelihood(X, h), rel=1e-9)


@pytest.mark.parametrize("name", SAMPLES)
def test_least_squares_are_the_definition(name):
    X = SAMPLES[name]
    found = least_squares_cross_validation(X)
    for h, score in zip(found.bandwidths, found.scores, strict=True):
        expected = oracle.least_squares(X, h)
        assert -np.exp(score) == pytest.approx(min(expected, 0), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "epanechnikov"])
def test_other_windows(kernel):
    from scipy.integrate import quad

    X = SAMPLES["line"]
    profile = {
        "exponential": lambda u: np.exp(-abs(u)),
        "laplacian": lambda u: np.exp(-abs(u)),
        "epanechnikov": lambda u: max(0.0, 1 - u * u),
    }[kernel]
    integral = 2 * quad(profile, 0, 1 if kernel == "epanechnikov" else np.inf)[0]
    found = likelihood_cross_validation(X, kernel=kernel)
    h = found.bandwidth
    window = lambda x, y, h: profile((x - y)[0] / h) / (integral * h)  # noqa: E731
    assert found.score == pytest.approx(oracle.log_likelihood(X, h, window), rel=1e-9)


def test_agrees_with_leave_one_out_of_scikit_learn():
    X = SAMPLES["moons"]
    found = likelihood_cross_validation(X)
    density = KernelDensity(bandwidth=found.bandwidth)
    assert found.score == pytest.approx(cross_val_score(density, X, cv=LeaveOneOut()).mean())


@pytest.mark.parametrize("search", SEARCHES)
def test_best_of_the_ladder_around_silverman(search):
    X = SAMPLES["moons"]
    found = search(X)
    np.testing.assert_allclose(found.bandwidths, bandwidth_ladder(silverman_bandwidth(X)))
    assert found.score == found.scores.max()
    assert found.bandwidth == found.bandwidths[np.argmax(found.scores)]
    assert (
        resolve_bandwidth({0: "likelihood-cv", 1: "least-squares-cv"}[SEARCHES.index(search)], X)
        == found.bandwidth
    )


@pytest.mark.parametrize("search", SEARCHES)
def test_refined_is_a_local_optimum(search):
    X = SAMPLES["gaussian"]
    plain, refined = search(X), search(X, refine=True)
    assert refined.score >= plain.score
    assert 2**-0.5 < refined.bandwidth / plain.bandwidth < 2**0.5
    value = (
        oracle.log_likelihood
        if search is likelihood_cross_validation
        else lambda X, h: -oracle.least_squares(X, h)
    )
    best = value(X, refined.bandwidth)
    assert best >= max(value(X, refined.bandwidth * f) for f in (0.98, 1.02))


@pytest.mark.parametrize("search", SEARCHES)
def test_weights_are_repetitions(search):
    X = SAMPLES["moons"]
    # Nearly all rows are single, so that the criteria keep an optimum.
    weights = np.ones(len(X))
    weights[:3], weights[3:6] = 2, 0
    weighted = search(X, sample_weight=weights)
    repeated = search(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(weighted.scores, repeated.scores, rtol=1e-9)
    np.testing.assert_allclose(weighted.bandwidths, repeated.bandwidths, rtol=1e-12)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e150])
def test_follows_the_scale(search, scale):
    X = SAMPLES["gaussian"]
    assert search(X * scale).bandwidth == pytest.approx(search(X).bandwidth * scale, rel=1e-9)


@pytest.mark.parametrize("search", SEARCHES)
def test_many_columns(search):
    """d = 784: densities are far beyond the range of floats, their logarithms are not."""
    X = np.random.default_rng(0).normal(size=(60, 784))
    found = search(X)
    assert np.isfinite(found.score)
    assert 0.2 < found.bandwidth / silverman_bandwidth(X) < 5


def test_finds_a_width_far_below_silverman():
    """Two clusters 10⁴ widths apart: the rule sees their distance, the criterion their width."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=200), 1e4 + rng.normal(size=200)])[:, None]
    assert silverman_bandwidth(X) > 1e3
    for search in SEARCHES:
        found = search(X)
        assert 0.1 < found.bandwidth < 1
        assert len(found.bandwidths) > 17


def test_ties_go_to_the_wider():
    from mercer.bandwidth._search import search_ladder

    flat = lambda h: -np.maximum(np.abs(np.log2(h)), 1.2)  # noqa: E731
    assert search_ladder("test", flat, 1.0, False).bandwidth == pytest.approx(2.0)


def test_no_optimum_takes_the_widest_local_one():
    from mercer.bandwidth._search import search_ladder

    def diverges(h):  # as h → 0, with peaks at 1/4 and, not as high, at 4
        octaves = np.log2(h)
        return np.maximum(-3 - octaves, 0) + 0.5 * (octaves == -2) + 0.2 * (octaves == 2)

    with pytest.warns(UserWarning, match="no best bandwidth"):
        found = search_ladder("test", diverges, 1.0, False)
    assert found.bandwidth == 4.0


@pytest.mark.parametrize("search", SEARCHES)
def test_copies_of_every_row(search):
    """The criteria diverge as h → 0; what is found still is a usable width, with a warning."""
    X = np.repeat(SAMPLES["moons"], 2, axis=0)
    with pytest.warns(UserWarning, match="no best bandwidth"):
        found = search(X)
    assert 1 / 16 <= found.bandwidth / silverman_bandwidth(X) <= 16


@pytest.mark.parametrize("search", SEARCHES)
def test_rows_that_are_all_the_same(search):
    with pytest.warns(UserWarning, match="no best bandwidth"):
        assert search(np.ones((5, 2))).bandwidth == 1.0


def test_rounded_data_take_the_local_optimum():
    """Petal lengths in whole millimetres: least squares would go to zero."""
    X = load_iris().data[:, 2:3]
    with pytest.warns(UserWarning, match="widest local optimum"):
        found = least_squares_cross_validation(X)
    assert found.score < found.scores[0]
    assert 0.1 < found.bandwidth < 1


@pytest.mark.parametrize("search", SEARCHES)
def test_torch(search, torch):
    X = SAMPLES["moons"]
    found = search(torch.tensor(X, requires_grad=True), sample_weight=torch.ones(len(X)))
    assert type(found.bandwidth) is float
    np.testing.assert_allclose(found.scores, search(X).scores, rtol=1e-9)


def test_result_is_frozen_and_reads_well():
    found = likelihood_cross_validation(SAMPLES["line"])
    with pytest.raises(AttributeError):
        found.bandwidth = 1.0
    with pytest.raises(ValueError, match="read-only"):
        found.scores[0] = 0.0
    assert str(found).startswith(f"bandwidth {found.bandwidth:.3g} has the best likelihood-cv")


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="needs more than one; got 1"):
        likelihood_cross_validation([[1.0]])
    with pytest.raises(ValueError, match="needs kernel='gaussian', got 'exponential'"):
        least_squares_cross_validation(SAMPLES["line"], kernel="exponential")
    with pytest.raises(ValueError, match="'cauchy' is not a density in two"):
        likelihood_cross_validation(SAMPLES["moons"], kernel="cauchy")
    with pytest.raises(ValueError, match="kernel must be one of"):
        resolve_bandwidth("likelihood-cv", SAMPLES["moons"], kernel="box")


def test_windows_that_show_the_rounding_are_told():
    X = np.random.default_rng(0).normal(size=(500, 1))
    one = X.round(1)
    with pytest.warns(UserWarning, match="half of 0.1, to which the rows are rounded"):
        found = likelihood_cross_validation(one)
    assert found.bandwidth < 0.05
    likelihood_cross_validation(one + np.random.default_rng(1).uniform(-0.05, 0.05, one.shape))
    likelihood_cross_validation(X.round(3))  # Finer than the windows: nothing to tell.
    likelihood_cross_validation(X[:400].reshape(200, 2).round(1))  # Hardly a row comes again.

"""ConditionalDensity against literal sums, a joint Gaussian in closed form, and its own laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr
from scipy.stats import norm

from mercer import ConditionalDensity
from mercer.density._conditional_widths import choose_widths


def joint(n=300, d=1, noise=0.6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.linspace(0.8, 0.2, d) + noise * rng.normal(size=n)


def literal_weights(X, x, h, weights):
    """Shares of the training rows at x, one after the other."""
    terms = [
        np.log(w) - 0.5 * (((x - row) / h) ** 2).sum() for row, w in zip(X, weights, strict=True)
    ]
    return np.exp(np.array(terms) - logsumexp(terms))


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_is_the_literal_sum(d, weighted):
    X, y = joint(40, d)
    weights = np.random.default_rng(1).uniform(0.1, 3, 40) if weighted else np.ones(40)
    h, b = np.linspace(0.3, 0.6, d), 0.25
    model = ConditionalDensity(bandwidth=h, target_bandwidth=b)
    model.fit(X, y, sample_weight=weights if weighted else None)
    assert model.log_likelihood_ is None
    new, targets = 1.5 * X[:7] + 0.1, y[:7] + 0.2
    found = model.log_prob(new, targets), model.predict(new), model.quantile(new, 0.1)
    for x, t, log_density, mean, low in zip(new, targets, *found, strict=True):
        shares = literal_weights(X, x, h, weights)
        assert log_density == pytest.approx(np.log(shares @ norm.pdf(t, y, b)), abs=1e-10)
        assert mean == pytest.approx(shares @ y, abs=1e-11)
        assert shares @ norm.cdf(low, y, b) == pytest.approx(0.1, abs=1e-12)


def test_joint_gaussian():
    """y = 0.8x + 0.6e: a normal density about 0.8x, and its quantiles."""
    X, y = joint(4000)
    model = ConditionalDensity().fit(X, y)
    at = np.array([[-1.0], [0.0], [1.0]])
    assert_allclose(model.predict(at), 0.8 * at[:, 0], atol=0.12)
    wanted = 0.8 * at + 0.6 * norm.ppf([0.1, 0.5, 0.9])
    assert_allclose(model.quantile(at, [0.1, 0.5, 0.9]), wanted, atol=0.2)
    assert model.log_likelihood_ == pytest.approx(
        -np.log(0.6 * np.sqrt(2 * np.pi * np.e)), abs=0.05
    )
    draws = model.sample(at, 4000, random_state=0)
    assert_allclose(draws.mean(axis=1), model.predict(at), atol=0.05)
    assert_allclose(np.quantile(draws, 0.9, axis=1), model.quantile(at, 0.9), atol=0.08)


def literal_likelihood(X, y, h, b, weights):
    """The mean of log f(y|x) with each row left out, row by row."""
    logs = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        near = np.log(weights) - 0.5 * (((X[i] - X) / h) ** 2).sum(axis=1)
        near = near[others]
        logs.append(logsumexp(near + norm.logpdf(y[i], y[others], b)) - logsumexp(near))
    return np.average(logs, weights=weights)


@pytest.mark.parametrize("given", [{}, {"bandwidth": 0.5}, {"target_bandwidth": 0.4}])
@pytest.mark.parametrize("kind", ["none", "copies", "shares"])
def test_widths_have_the_largest_likelihood_about(given, kind):
    X, y = joint(60)
    rng = np.random.default_rng(2)
    weights = {"none": np.ones(60), "copies": rng.integers(1, 4, 60).astype(float),
               "shares": rng.uniform(0.5, 2, 60)}[kind]  # fmt: skip
    model = ConditionalDensity(**given).fit(X, y, sample_weight=None if kind == "none" else weights)
    h, b = model.bandwidth_[0], model.target_bandwidth_
    best = literal_likelihood(X, y, h, b, weights)
    assert model.log_likelihood_ == pytest.approx(best, abs=1e-9)
    for k in (0.25, 0.5, 0.5**0.5, 2**0.5, 2, 4):
        for widths in ((h * k, b), (h, b * k), (h * k, b * k)):
            if ("bandwidth" in given and widths[0] != h) or (
                "target_bandwidth" in given and widths[1] != b
            ):
                continue
            assert literal_likelihood(X, y, *widths, weights) <= best + 1e-12


def test_a_column_that_says_nothing_gets_a_wide_window():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1)), rng.normal(size=400)
    assert ConditionalDensity().fit(X, y).bandwidth_[0] > 1.5


def test_rounded_numbers_keep_a_width():
    """Where all y have equals, narrower windows are ever more likely: they end at the rounding."""
    X, y = joint(300)
    model = ConditionalDensity().fit(X, np.round(y, 1))
    assert model.target_bandwidth_ * 1.0001 >= 0.05
    assert model.target_bandwidth_ < 0.5
    constant = ConditionalDensity().fit(X, np.full(300, 7.0))
    assert_allclose(constant.predict(X[:3]), 7.0)
    assert 0 < constant.target_bandwidth_ < 2


def test_copies_leave_together():
    """Every row twice: the copy that stayed would make the narrowest windows the best."""
    X, y = joint(60)
    once = ConditionalDensity().fit(X, y)
    twice = ConditionalDensity().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert 0.5 < twice.bandwidth_[0] / once.bandwidth_[0] < 2
    weighted = ConditionalDensity().fit(X, y, sample_weight=np.full(60, 2.0))
    assert_allclose(twice.quantile(X, 0.7), weighted.quantile(X, 0.7), rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([1e-150, 1e-3, 1.0, 1e120]), st.floats(-5, 5))
def test_units_and_origins_say_nothing(seed, unit, shift):
    X, y = joint(30, 2, seed=seed)
    one = ConditionalDensity().fit(X, y)
    other = ConditionalDensity().fit((X + shift) * unit, (y - shift) / unit)
    assert_allclose(other.predict((X + shift) * unit) * unit + shift, one.predict(X), atol=1e-8)
    assert_allclose(
        other.log_prob((X + shift) * unit, (y - shift) / unit) - np.log(unit),
        one.log_prob(X, y), atol=1e-7,
    )  # fmt: skip


def test_is_a_density_with_these_quantiles():
    X, y = joint(50)
    model = ConditionalDensity().fit(X, y)

    def density(t):
        return float(np.exp(model.log_prob([[0.3]], [t])[0]))

    median = model.quantile([[0.3]])[0]
    below, _ = quad(density, -10, median, limit=200)
    whole, _ = quad(density, -10, 10, limit=200, points=[median])
    assert below == pytest.approx(0.5, abs=1e-6)
    assert whole == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("scale", [1e3, 1e9, 1e17, 1e155])
def test_at_any_distance_the_nearest_decides(scale):
    """Of rows in two columns: squares overflow, and differences of squares have no digits left."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60.0)
    model = ConditionalDensity(bandwidth=0.1, target_bandwidth=0.3).fit(X, y)
    towards = np.array([[1.0, 0.0], [-1.0, 0.4], [0.0, -1.0]])
    nearest = y[np.argmax(towards @ X.T, axis=1)]
    far = scale * towards
    np.testing.assert_allclose(model.predict(far), nearest)
    np.testing.assert_allclose(model.quantile(far, 0.5), nearest)
    np.testing.assert_allclose(model.log_prob(far, nearest), norm.logpdf(0, 0, 0.3))
    draws = model.sample(far, 50, random_state=0)
    assert (np.abs(draws - nearest[:, None]) < 3).all()


def test_far_from_all_rows_the_nearest_decides():
    X, y = joint(50)
    model = ConditionalDensity(bandwidth=0.1, target_bandwidth=0.3).fit(X, y)
    nearest = y[np.argmax(X[:, 0])]
    far = [[1e6]]
    assert model.predict(far)[0] == pytest.approx(nearest)
    assert model.quantile(far, 0.5)[0] == pytest.approx(nearest)
    assert model.log_prob(far, [nearest])[0] == pytest.approx(norm.logpdf(0, 0, 0.3))
    assert model.log_prob([X[0]], [1e5])[0] == pytest.approx(-0.5 * (1e5 / 0.3) ** 2, rel=1e-3)


def test_slabs_change_nothing(monkeypatch):
    X, y = joint(60)
    model = ConditionalDensity().fit(X, y)
    expected = model.quantile(X, [0.2, 0.8]), model.sample(X, 3, random_state=1)
    monkeypatch.setattr("mercer.density._conditional.working_memory", lambda: 8 * 4 * 60 * 7)
    assert_allclose(model.quantile(X, [0.2, 0.8]), expected[0], rtol=1e-9)
    assert_allclose(model.sample(X, 3, random_state=1), expected[1], rtol=1e-9)


def test_several_numbers_for_each_row():
    X, y = joint(40)
    model = ConditionalDensity().fit(X, y)
    table = model.log_prob(X[:5], np.tile(y[:3], (5, 1)))
    for j in range(3):
        assert_allclose(table[:, j], model.log_prob(X[:5], np.full(5, y[j])), atol=1e-12)


def test_the_walk_finds_the_best_of_all_rungs():
    """Every ratio tried in turn: the search, which skips most, finds no less."""
    X, y = joint(50, noise=0.05, seed=3)
    t = (y - y.mean()) / y.std(ddof=1)
    h, b, score = choose_widths(X, t, np.ones(50), None, None)
    ones = np.ones(50)
    every = max(
        literal_likelihood(X, t, h * 2 ** (i / 2), b * 2 ** (j / 2), ones)
        for i in range(-4, 5) for j in range(-4, 5)
    )  # fmt: skip
    assert score == pytest.approx(every, abs=1e-9)


def test_bad_input_has_a_sentence():
    X, y = joint(20)
    model = ConditionalDensity().fit(X, y)
    with pytest.raises(ValueError, match="y must have an entry for each of the 20 rows"):
        model.log_prob(X, y[:3])
    with pytest.raises(ValueError, match="y contains NaN"):
        model.log_prob(X, np.full(20, np.nan))
    with pytest.raises(ValueError, match="q must be between 0 and 1"):
        model.quantile(X, 5)
    with pytest.raises(ValueError, match="needs two that differ"):
        ConditionalDensity().fit(X, y, sample_weight=np.eye(20)[0])
    with pytest.raises(ValueError, match="a width for each of the 1 columns"):
        ConditionalDensity(bandwidth=[0.1, 0.2]).fit(X, y)


def test_distribution_function_is_exact_in_the_tails():
    X, y = joint(30)
    model = ConditionalDensity().fit(X, y)
    for q in (1e-12, 0.3, 1 - 1e-9):
        t = model.quantile(X[:4], q)
        for i in range(4):
            shares = literal_weights(X, X[i], model.bandwidth_, np.ones(30))
            held = shares @ ndtr((t[i] - y) / model.target_bandwidth_)
            assert held == pytest.approx(q, rel=1e-6)

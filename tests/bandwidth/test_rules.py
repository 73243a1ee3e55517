"""Rules of thumb against their formulas, and the invariants that users rely on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine, make_moons

from mercer.bandwidth import (
    bandwidth_ladder,
    resolve_bandwidth,
    scott_bandwidth,
    silverman_amise_bandwidth,
    silverman_bandwidth,
)
from oracles import bandwidth as oracle

RULES = {
    "silverman": (silverman_bandwidth, oracle.silverman),
    "silverman-amise": (silverman_amise_bandwidth, oracle.silverman_amise),
    "scott": (scott_bandwidth, oracle.scott),
}
# h/σ_X to the power −(d + 4), for d columns and N rows.
N_POWERS = {
    "silverman": lambda d, n: (2 * d + 1) * n / 4,
    "silverman-amise": lambda d, n: (d + 2) * n / 4,
    "scott": lambda d, n: n,
}
RNG = np.random.default_rng(0)
SAMPLES = {
    "line": RNG.normal(size=(30, 1)),
    "gaussian": RNG.normal(size=(40, 5)) * [1, 2, 3, 4, 5] + 100,
    "moons": make_moons(50, noise=0.1, random_state=0)[0],
    "iris": load_iris().data,
    "wine": load_wine().data,
}


@pytest.fixture(params=RULES)
def rule(request):
    return RULES[request.param]


@pytest.mark.parametrize("name", SAMPLES)
def test_formula(rule, name):
    ours, formula = rule
    assert ours(SAMPLES[name]) == pytest.approx(formula(SAMPLES[name]), rel=1e-12)


def test_printed_numbers():
    """N = 4 rows, d = 1 column, variance 4: σ_X = 2, and each bracket by hand."""
    X = np.array([[0.0], [0.0], [2 * np.sqrt(3)], [2 * np.sqrt(3)]])
    assert silverman_bandwidth(X) == pytest.approx(2 * (4 / (3 * 4)) ** 0.2)
    assert silverman_amise_bandwidth(X) == pytest.approx(2 * (4 / (3 * 4)) ** 0.2)
    assert scott_bandwidth(X) == pytest.approx(2 * 4**-0.2)
    plane = np.hstack([X, X])
    assert silverman_bandwidth(plane) == pytest.approx(2 * (4 / (5 * 4)) ** (1 / 6))
    assert silverman_amise_bandwidth(plane) == pytest.approx(2 * (4 / (4 * 4)) ** (1 / 6))


def test_resolver_knows_every_rule():
    for name, (ours, _) in RULES.items():
        assert resolve_bandwidth(name, SAMPLES["iris"]) == ours(SAMPLES["iris"])


@given(st.lists(st.integers(0, 4), min_size=8, max_size=8).filter(lambda w: sum(w) > 1))
def test_weights_are_repetitions(weights):
    X = np.random.default_rng(1).normal(size=(8, 3))
    repeated = np.repeat(X, weights, axis=0)
    for ours, _ in RULES.values():
        assert ours(X, sample_weight=weights) == pytest.approx(ours(repeated), rel=1e-12)


@given(st.integers(-150, 150), st.floats(-1e3, 1e3))
def test_follows_scale_and_not_offset(exponent, offset):
    X = SAMPLES["gaussian"]
    for ours, _ in RULES.values():
        expected = ours(X) * 10.0**exponent
        assert ours(X * 10.0**exponent) == pytest.approx(expected, rel=1e-12, abs=0)
        assert ours(X + offset) == pytest.approx(ours(X), rel=1e-9)


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e308, 1.7e308])
def test_ends_of_the_range_of_floats(rule, largest):
    X = np.array([[-largest], [0.0], [largest]])
    assert 0 < rule[0](X) < np.inf


def test_large_constant_column_does_not_hide_a_small_one(rule):
    X = SAMPLES["line"] * 1e-10
    with_constant = np.hstack([X, np.full_like(X, 1e200)])
    d_two = np.hstack([X, np.zeros_like(X)])
    assert rule[0](with_constant) == pytest.approx(rule[0](d_two), rel=1e-12)


@pytest.mark.parametrize("X", [np.ones((5, 2)), np.zeros((1, 3)), np.full((4, 1), 1e200)])
def test_rows_that_are_all_the_same_get_one(rule, X):
    assert rule[0](X) == 1.0


def test_float32_integers_and_lists(rule):
    X = SAMPLES["iris"]
    assert rule[0](X.astype(np.float32)) == pytest.approx(rule[0](X), rel=1e-6)
    assert rule[0]([[1, 2], [3, 5], [4, 4]]) == rule[0](np.array([[1.0, 2], [3, 5], [4, 4]]))


def test_torch(rule, torch):
    X = torch.tensor(SAMPLES["iris"], requires_grad=True)
    weights = torch.arange(150)
    found = rule[0](X, sample_weight=weights)
    assert type(found) is float
    expected = rule[0](SAMPLES["iris"], sample_weight=np.arange(150))
    assert found == pytest.approx(expected, rel=1e-14)


def test_ladder():
    ladder = bandwidth_ladder(0.7)
    assert len(ladder) == 17
    assert ladder[8] == 0.7
    np.testing.assert_allclose(ladder[[0, -1]], [0.7 / 16, 0.7 * 16], rtol=1e-15)
    np.testing.assert_allclose(ladder[1:] / ladder[:-1], np.sqrt(2), rtol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("silvermann", [[1.0]]), "bandwidth must be a positive number or one of 'silverman'"),
        ((0.0, [[1.0]]), "bandwidth must be positive and finite, got 0.0"),
        ((np.inf, [[1.0]]), "bandwidth must be positive and finite"),
        ((np.nan, [[1.0]]), "bandwidth must be positive and finite"),
        ((None, [[1.0]]), "bandwidth must be a positive number or one of"),
        (([1.0, 2.0], [[1.0]]), "bandwidth must be a positive number or one of"),
        (("scott", [1.0, 2.0]), "X must be a matrix"),
        (("scott", [[1.0], [np.nan]]), "X contains NaN in row 1, column 0"),
        (("scott", np.empty((0, 2))), "X has no rows"),
        (("scott", [[1.0], [2.0]], [1.0]), "sample_weight must have one entry for each of the 2"),
        (("scott", [[1.0], [2.0]], [1.0, -1]), "not negative, got -1 in row 1"),
        (("scott", [[1.0], [2.0]], [1.0, np.nan]), "finite and not negative, got nan in row 1"),
        (("scott", [[1.0], [2.0]], [0, 0]), "sample_weight is zero everywhere"),
        (("scott", [[1.0], [2.0]], ["a", "b"]), "sample_weight must hold numbers"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        resolve_bandwidth(*arguments)


@pytest.mark.parametrize("bad", [{"centre": 0}, {"centre": "1"}, {"centre": 1, "steps_up": -1}])
def test_bad_ladder(bad):
    with pytest.raises(ValueError, match="must be"):
        bandwidth_ladder(**bad)


@pytest.mark.parametrize("ratio", [1e-36, 1e-150, 1e-300])
def test_copies_of_most_weight_leave_the_spread_of_the_others(ratio):
    """N·σ² is what the light rows add up to, though the mean rounds to the heavy one."""
    X = np.array([[0.3], [5.0], [3.1], [3.1], [3.1]])
    weights = 1e150 * np.array([ratio, ratio, 0.7, 0.77, 0.31])
    sigma = np.sqrt(ratio / 1.78) * np.hypot(2.8, 1.9)
    expected = sigma * np.sqrt(5 / 4) * 5 ** (-1 / 5)  # relative weights of five rows
    assert scott_bandwidth(X, sample_weight=weights) == pytest.approx(expected, rel=1e-9, abs=0)


def test_weights_that_add_up_to_infinity_are_refused():
    with pytest.raises(ValueError, match="sample_weight adds up to more than floating point"):
        scott_bandwidth(np.arange(3.0)[:, None], sample_weight=[1.7e308] * 3)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_beyond_float32_go_with_float32_rows(weight):
    X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    weights = np.r_[np.full(4, 10.0), np.full(4, weight)]
    expected = scott_bandwidth(X.astype(float), sample_weight=weights)
    assert scott_bandwidth(X, sample_weight=weights) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("centre", [1e-308, 1e308])
def test_ladders_beyond_floating_point_are_refused(centre):
    with pytest.raises(ValueError, match=r"centre=1e.308 is too extreme"):
        bandwidth_ladder(centre)


@given(
    weights=st.lists(st.floats(0.01, 3), min_size=8, max_size=8).filter(
        lambda w: any(x != round(x) for x in w)
    ),
    power=st.floats(-6, 6),
)
def test_weights_that_are_not_whole_are_relative(weights, power):
    """N is how many rows have a weight, and a common factor changes nothing."""
    X = np.random.default_rng(1).normal(size=(8, 3))
    w, scaled = np.array(weights), np.array(weights) * 10.0**power
    if (scaled == np.rint(scaled)).all():
        return
    variances = (w / w.sum()) @ (X - (w / w.sum()) @ X) ** 2 * (8 / 7)
    for name, (ours, _) in RULES.items():
        expected = np.sqrt(variances.mean()) * N_POWERS[name](3, 8) ** (-1 / 7)
        assert ours(X, sample_weight=w) == pytest.approx(expected, rel=1e-12)
        assert ours(X, sample_weight=scaled) == pytest.approx(expected, rel=1e-12)


def test_weights_of_a_share_of_each_row_are_those_of_no_weights(rule):
    X = SAMPLES["iris"]
    for share in (1 / 150, 0.2, 1.5):
        found = rule[0](X, sample_weight=np.full(150, share))
        assert found == pytest.approx(rule[0](X), rel=1e-12)


def test_bandwidths_follow_powers_of_two_to_the_bit():
    X = np.random.default_rng(0).normal(size=(4, 1))
    for power in (-600, -1, 3, 600):
        assert silverman_bandwidth(X * 2.0**power) == silverman_bandwidth(X) * 2.0**power

"""The plug-in rule against a literal version, the normal law, and its invariances."""

from math import pi, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from mercer.bandwidth import improved_sheather_jones_bandwidth, silverman_bandwidth


def literal(x):
    """[1] eqs. (29)-(32) with sums over rows in the place of a grid, on twice their range."""
    R, k = np.ptp(x), np.arange(1, 400.0)
    places = (x - x.min()) / R / 2 + 0.25
    a = 2 * np.cos(pi * k[:, None] * places).mean(axis=1)

    def norm(s, t):
        return 0.5 * np.sum((pi * k) ** (2 * s) * a**2 * np.exp(-((pi * k) ** 2) * t))

    def difference(t):
        f = norm(7, t)
        for s in (6, 5, 4, 3, 2):
            odd = np.prod(np.arange(1, 2 * s, 2.0))
            f = norm(s, ((1 + 0.5 ** (s + 0.5)) / 3 * odd / (len(x) * sqrt(pi / 2) * f)) ** (
                2 / (3 + 2 * s)))  # fmt: skip
        return t - (2 * len(x) * sqrt(pi) * f) ** (-2 / 5)

    return sqrt(brentq(difference, 1e-5, 0.02)) * 2 * R


@pytest.mark.parametrize("seed", range(3))
def test_is_the_literal_fixed_point(seed):
    rng = np.random.default_rng(seed)
    x = np.r_[rng.normal(size=150), rng.normal(5, 0.5, 100)]
    assert improved_sheather_jones_bandwidth(x[:, None]) == pytest.approx(literal(x), rel=2e-4)


def test_is_near_the_best_for_a_normal_density():
    X = np.random.default_rng(0).normal(size=(20_000, 1))
    best = (4 / 3) ** 0.2 * 20_000**-0.2
    assert improved_sheather_jones_bandwidth(X) == pytest.approx(best, rel=0.05)


def test_modes_do_not_widen_it():
    X = np.random.default_rng(0).normal(size=(4000, 1))
    apart = X + 50 * (np.arange(4000) % 2)[:, None]
    one = improved_sheather_jones_bandwidth(X)
    assert improved_sheather_jones_bandwidth(apart) == pytest.approx(one * 2**0.2, rel=0.05)
    assert silverman_bandwidth(apart) > 20 * one


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("offset", [0.0, -3.0])
def test_follows_the_unit_and_not_the_origin(unit, offset):
    X = np.random.default_rng(1).normal(size=(300, 1))
    expected = improved_sheather_jones_bandwidth(X)
    found = improved_sheather_jones_bandwidth((X + offset) * unit)
    assert found / unit == pytest.approx(expected, rel=1e-6)


def test_far_rows_make_a_finer_grid():
    X = np.random.default_rng(1).normal(size=(2000, 1))
    expected = improved_sheather_jones_bandwidth(X)
    far = np.r_[X, [[5000.0]]]  # some 100 000 widths of it are half of the grid
    assert improved_sheather_jones_bandwidth(far) == pytest.approx(expected, rel=0.1)
    with pytest.raises(ValueError, match=r"^The equation of Sheather and Jones has no solution"):
        improved_sheather_jones_bandwidth(np.r_[X, [[1e9]]])


def test_weights_are_copies_and_shares():
    rng = np.random.default_rng(2)
    X, times = rng.normal(size=(200, 1)), rng.integers(0, 4, 200)
    copies = improved_sheather_jones_bandwidth(np.repeat(X, times, axis=0))
    assert_allclose(improved_sheather_jones_bandwidth(X, sample_weight=times), copies, rtol=1e-6)
    shares = improved_sheather_jones_bandwidth(X, sample_weight=times * 0.3)
    assert_allclose(shares, copies, rtol=1e-6)


def test_what_it_is_not_for():
    assert improved_sheather_jones_bandwidth([[2.0], [2.0]]) == 1.0
    with pytest.raises(ValueError, match=r"^The rule of Sheather and Jones is for one column, X"):
        improved_sheather_jones_bandwidth([[2.0, 1.0], [2.0, 3.0]])


@pytest.mark.parametrize("decimals", [1, 2, 3])
@pytest.mark.parametrize("n", [500, 20_000])
def test_rounding_hardly_changes_it(n, decimals):
    """The widths are some 0.34 and 0.15: no value stands so far from the next."""
    X = np.random.default_rng(0).normal(size=(n, 1))
    expected = improved_sheather_jones_bandwidth(X)
    found = improved_sheather_jones_bandwidth(X.round(decimals))
    assert found == pytest.approx(expected, rel=0.02)


def test_counts_of_rounded_values_are_their_copies():
    X = np.random.default_rng(0).normal(size=(2000, 1)).round(1)
    values, counts = np.unique(X, return_counts=True)
    expected = improved_sheather_jones_bandwidth(X)
    found = improved_sheather_jones_bandwidth(values[:, None], sample_weight=counts)
    assert found == pytest.approx(expected, rel=1e-6)


def test_windows_are_no_narrower_than_half_of_the_rounding():
    X = np.random.default_rng(0).normal(size=(20_000, 1)).round(0)
    assert improved_sheather_jones_bandwidth(X) == pytest.approx(0.5)


def test_copies_of_other_rows_tell_nothing_new():
    """A bootstrap's gaps are no steps: N stays the number of different values."""
    X = np.random.default_rng(0).normal(size=(300, 1))
    alone = improved_sheather_jones_bandwidth(X)
    assert improved_sheather_jones_bandwidth(np.repeat(X, 5, axis=0)) == pytest.approx(alone)

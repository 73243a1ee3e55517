"""Sums of one feature on a lattice: 12 digits of the peak, whatever the points and the widths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import get_kernel
from mercer.sums import explain_kernel_sum, kernel_sum
from mercer.sums._problem import Problem
from mercer.sums.cpu._lattice_loops import gather, spread
from mercer.sums.fast import _plan
from mercer.sums.fast._grid import Grid, GridBox, reach_of
from mercer.sums.fast._lattice import EPS, Lattice, lattice_fits
from mercer.sums.fast._transform import Pair
from sums.test_fast import dear_pairs, worst

pytest.importorskip("finufft", reason="finufft is not installed")


def problem(X, Y, weights, bandwidths):
    return Problem(
        X, Y, None, weights, (0, len(Y)), get_kernel("gaussian"), bandwidths, log=False,
        self_sum=False, exclude_self=False, method="fast", tol=1e-6, precision="high",
    )  # fmt: skip


def on_lattice(X, Y, weights, bandwidths, box=None):
    """Return the sums at each bandwidth as the lattice gives them, before any is redone."""
    both = np.concatenate([X, Y])
    box = GridBox(both.min(axis=0), both.max(axis=0)) if box is None else box
    grid = Grid.around(box, bandwidths[0], reach_of(EPS / 8))
    lattice = Lattice(box, grid, (bandwidths[0], bandwidths[-1]))
    one = problem(X, Y, weights, bandwidths)
    masses = lattice.masses(one, Pair(0, None, False), np.ones(1))
    out = np.empty((len(bandwidths), len(X)))
    for b, bandwidth in enumerate(bandwidths):
        for rows, values in lattice.sums(one, masses, bandwidth):
            out[b, rows] = values.real
    return out


def literal(X, Y, weights, bandwidths):
    gaps = X - Y.T
    return np.stack([np.exp(-0.5 * (gaps / b) ** 2) @ weights for b in bandwidths])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 300),
    st.sampled_from([0.003, 0.1, 1.0, 40.0]), st.sampled_from([1e-150, 1.0, 1e90]),
    st.sampled_from([(1.0,), (1.0, 0.5), (4.0, 1.0)]),
)  # fmt: skip
def test_sums_have_twelve_digits_of_the_peak(seed, n, m, width, unit, ladder):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 1)) * unit, rng.standard_t(3, size=(m, 1)).clip(-9, 9) * unit
    weights = rng.uniform(0, 3, m)
    widths = tuple(width * unit * step for step in ladder)
    found, exact = on_lattice(X, Y, weights, widths), literal(X, Y, weights, widths)
    at_rows = literal(Y, Y, weights, widths).max(axis=1, keepdims=True)
    assert np.abs((found - exact) / at_rows).max() <= EPS


def test_points_on_the_lattice_keep_their_weight():
    masses = np.zeros(40)
    spread(np.array([10.0, 12.25]), np.array([3.0, 2.0]), 0, 2, 0.0, 1.0, masses)
    assert masses[10] == pytest.approx(3.0 + 2.0 * masses_of(12.25)[10])
    assert masses.sum() == pytest.approx(5.0)


def masses_of(point):
    """Lagrange's polynomials of eight neighbours, literally."""
    nodes = np.floor(point) + np.arange(-3, 5)
    out = np.zeros(40)
    for node in nodes:
        others = nodes[nodes != node]
        out[int(node)] = np.prod((point - others) / (node - others))
    return out


@given(st.floats(5, 30))
def test_polynomials_are_those_of_lagrange(point):
    masses, values = np.zeros(40), np.random.default_rng(0).normal(size=40)
    spread(np.array([point]), np.ones(1), 0, 1, 0.0, 1.0, masses)
    np.testing.assert_allclose(masses, masses_of(point), atol=1e-12)
    out = np.empty(1)
    gather(np.array([point]), 0, 1, 0.0, 1.0, values, out)
    assert out[0] == pytest.approx(masses_of(point) @ values, abs=1e-12)


def test_rows_outside_of_the_box_are_left_and_columns_reach_into_it():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 1)), rng.standard_cauchy(size=(3000, 1))
    box = GridBox(np.array([-1.0]), np.array([1.0]), holds_all=False)
    found = on_lattice(X, Y, np.ones(3000), (0.3,), box)[0]
    inside = np.abs(X[:, 0]) <= 1
    assert np.isnan(found[~inside]).all()
    exact = literal(X, Y, np.ones(3000), (0.3,))[0]
    np.testing.assert_allclose(found[inside], exact[inside], atol=EPS * exact.max())


@pytest.mark.parametrize(
    "options",
    [
        {}, {"log": True}, {"bandwidth": [0.8, 0.1, 0.01]}, {"groups": np.arange(900) % 3},
        {"weights": np.linspace(0.1, 2, 2700).reshape(900, 3)},
    ],
)  # fmt: skip
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_every_sum_is_within_its_tolerance(options, tol):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_t(2, size=(700, 1)), rng.standard_t(2, size=(900, 1))
    options = {"bandwidth": 0.2, **options}
    assert worst(X, Y, tol=tol, **options) <= 1
    if "groups" not in options and "weights" not in options:
        assert worst(Y, tol=tol, exclude_self=True, **options) <= 1


def test_signed_weights_are_relative_to_their_size():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(400, 1)), rng.normal(size=(900, 1))
    weights = rng.normal(size=900)
    scale = kernel_sum(X, Y, weights=np.abs(weights), bandwidth=0.2)
    assert worst(X, Y, tol=1e-6, weights=weights, bandwidth=0.2, scale=scale) <= 1


def test_the_lattice_serves_all_but_the_tightest_tolerances(monkeypatch):
    seen = []
    real = _plan.is_by_lattice
    monkeypatch.setattr("mercer.sums.fast._run.is_by_lattice",
                        lambda d, eps: seen.append(real(d, eps)) or seen[-1])  # fmt: skip
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 1))
    for tol in (1e-3, 1e-6, 1e-13):
        kernel_sum(X, Y, bandwidth=0.3, tol=tol, method="fast")
    assert seen == [True, True, False]
    assert not lattice_fits(1e9, 1e-3)
    with dear_pairs():
        assert explain_kernel_sum(1e6 * X, Y, bandwidth=1e-5, tol=1e-6, method="fast").n_modes == 0

"""Renyi's entropy of any order against printed sums, closed forms and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from mercer.bandwidth import likelihood_cross_validation
from mercer.information import renyi_entropy, renyi_quadratic_entropy
from oracles import dependence as oracle

ORDERS = [0.5, 1, 1.5, 2, 3, np.inf]


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "exponential"])
@pytest.mark.parametrize("order", ORDERS)
def test_printed_sums(order, kernel, leave_one_out):
    X = np.random.default_rng(0).normal(size=(25, 2))
    options = {"order": order, "kernel": kernel, "leave_one_out": leave_one_out}
    expected = oracle.renyi_entropy(X, order, 0.6, leave_one_out, kernel)
    assert renyi_entropy(X, bandwidth=0.6, **options) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("order", ORDERS)
def test_closed_form_of_a_normal_distribution(order):
    """The mean of a power of a normal density whose variance the windows made larger."""
    d, h = 2, 0.3
    X = qmc.MultivariateNormalQMC(np.zeros(d), rng=0).random(4096)
    s2 = 1 + h**2
    if order in (1, np.inf):
        factor = 1 / s2 if order == 1 else 0.0
    else:
        factor = np.log1p((order - 1) / s2) / (order - 1)
    expected = d / 2 * (np.log(2 * np.pi * s2) + factor)
    # Without its own window, a row far out has a density near 0, and its root counts too much.
    for leave_one_out in (True, False) if order >= 1 else (False,):
        found = renyi_entropy(X, order=order, bandwidth=h, leave_one_out=leave_one_out)
        assert found == pytest.approx(expected, abs=0.06)


def test_quadratic_entropy_is_resubstitution_with_a_window_of_the_kernels_width():
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = renyi_entropy(X, order=2, bandwidth=0.7 * np.sqrt(2), leave_one_out=False)
    assert found == pytest.approx(renyi_quadratic_entropy(X, bandwidth=0.7), rel=1e-12)


def test_shannon_is_the_score_of_likelihood_cross_validation():
    X = np.random.default_rng(0).normal(size=(60, 2))
    search = likelihood_cross_validation(X)
    found = renyi_entropy(X, order=1, bandwidth=search.bandwidth)
    assert found == pytest.approx(-np.max(search.scores), rel=1e-12)


@given(st.integers(0, 2**31), st.booleans())
def test_it_falls_with_the_order_without_a_jump(seed, leave_one_out):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    options = {"bandwidth": 0.5, "leave_one_out": leave_one_out}
    orders = [0.3, 0.9, 1 - 1e-9, 1 - 1e-14, 1, 1 + 1e-14, 1 + 1e-9, 1.1, 2, 40, 1e4, np.inf]
    found = np.array([renyi_entropy(X, order=a, **options) for a in orders])
    assert (np.diff(found) <= 1e-12 * np.abs(found).max()).all()
    assert found[2] == pytest.approx(found[4], abs=1e-7)
    assert found[3] == pytest.approx(found[4], abs=1e-11)
    assert found[-2] == pytest.approx(found[-1], abs=0.01)


@pytest.mark.parametrize("scale", [1e-12, 1e12, 1e-200])
@pytest.mark.parametrize("order", ORDERS)
def test_it_grows_by_the_logarithm_of_the_scale(order, scale):
    X = np.random.default_rng(0).normal(size=(30, 3))
    plain = renyi_entropy(X, order=order, bandwidth=0.5)
    scaled = renyi_entropy(X * scale + 7 * scale, order=order, bandwidth=0.5 * scale)
    assert scaled - plain == pytest.approx(3 * np.log(scale), abs=1e-7)


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("order", ORDERS)
def test_whole_weights_are_copies(order, leave_one_out):
    X = np.random.default_rng(0).normal(size=(30, 2))
    w = np.random.default_rng(1).integers(0, 4, 30)
    options = {"order": order, "bandwidth": 0.5, "leave_one_out": leave_one_out}
    value = renyi_entropy(X, sample_weight=w, **options)
    assert value == pytest.approx(renyi_entropy(np.repeat(X, w, 0), **options), rel=1e-10)


def test_relative_weights_leave_the_row():
    X, w = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, 1.5, 1.0])
    K = np.exp(-((X - X.T) ** 2) / 2) / np.sqrt(2 * np.pi)
    np.fill_diagonal(K, 0)
    f = K @ w / (3 - w)
    found = renyi_entropy(X, order=3, bandwidth=1.0, sample_weight=w)
    assert found == pytest.approx(-np.log(w @ f**2 / 3) / 2, rel=1e-12)


def test_rows_that_windows_leave_alone():
    X, options = np.array([[0.0], [0.1], [9.0]]), {"bandwidth": 0.5, "kernel": "epanechnikov"}
    for order in (0.5, 1):
        assert renyi_entropy(X, order=order, **options) == np.inf
    for order in (2, np.inf):
        assert np.isfinite(renyi_entropy(X, order=order, **options))
    assert np.isfinite(renyi_entropy(X, order=0.5, leave_one_out=False, **options))


@pytest.mark.parametrize("order", ORDERS)
def test_tensors(torch, order):
    X = np.random.default_rng(0).normal(size=(12, 2))
    options = {"order": order, "bandwidth": 0.5, "sample_weight": np.arange(1, 13) / 4}
    tensor = torch.tensor(X, requires_grad=True)
    found = renyi_entropy(tensor, **options)
    assert float(found.detach()) == pytest.approx(renyi_entropy(X, **options), rel=1e-10)
    assert torch.autograd.gradcheck(lambda A: renyi_entropy(A, **options), [tensor])


@pytest.mark.parametrize("order", ORDERS)
def test_dask(order):
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(30, 2))
    w = np.random.default_rng(1).integers(0, 4, 30)
    options = {"order": order, "bandwidth": 0.5, "sample_weight": w}
    lazy = renyi_entropy(da.from_array(X, chunks=(7, 2)), **options)
    assert lazy == pytest.approx(renyi_entropy(X, **options), rel=1e-10)


@pytest.mark.parametrize("order", [0, -1, np.nan, "2", None])
def test_orders_that_are_refused(order):
    with pytest.raises(ValueError, match="order must be a positive number, got"):
        renyi_entropy(np.ones((3, 1)), order=order, bandwidth=1.0)


def test_sentences():
    with pytest.raises(ValueError, match="leave_one_out=True needs more than one row"):
        renyi_entropy(np.ones((1, 1)), order=1, bandwidth=1.0)
    with pytest.raises(ValueError, match="X contains NaN"):
        renyi_entropy(np.array([[np.nan], [1.0]]), order=1, bandwidth=1.0)

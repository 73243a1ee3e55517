"""The fused sums in Triton's interpreter: scales, offsets, copies and NaN."""

from itertools import product

import numpy as np
import pytest

from mercer.kernels import KERNELS
from mercer.sums import _problem, kernel_sum, log_kernel_sum
from mercer.sums._problem import Box, Problem
from mercer.sums.cuda._layout import DIFFERENCES
from sums.interpreted import (
    EPS,
    RUNTIME_WARNINGS,
    call,
    check,
    check_logs,
    check_sums,
    points,
    promise,
    tensor,
)

pytestmark = RUNTIME_WARNINGS


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_points_far_away(fused, d):
    """Plain sums vanish; logs stay right."""
    X, Y, size = points(d, n=20, m=150)
    X = X + np.float32(500 * size)
    assert not call(kernel_sum, X, Y, bandwidth=size).any()
    widths = size * np.array([1.0, 0.5**0.5, 0.5])
    logs = call(log_kernel_sum, X, Y, bandwidth=widths)
    for rung, width in enumerate(widths):
        check_logs(logs[rung], X, Y, bandwidth=width)
    assert logs.max() < -10_000


@pytest.mark.parametrize("d", [3, 6, 70])
def test_narrow_bandwidths(fused, d):
    """Differences of any number of features."""
    X, Y, size = points(d, n=20, m=100)
    for part in (1e-2, 1e-5):
        logs = call(log_kernel_sum, X, Y, bandwidth=part * size)
        check_logs(logs, X, Y, bandwidth=part * size)
    assert set(fused) == {DIFFERENCES}


def test_spread_out_data_do_not_lose_digits(fused):
    rng = np.random.default_rng(1)
    centres = 1000 * rng.normal(size=(20, 16))
    X = (centres + 0.1 * rng.normal(size=(20, 16))).astype(np.float32)
    Y = (np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(100, 16))).astype(np.float32)
    out = call(kernel_sum, X, Y, bandwidth=1.0)
    check_sums(out, X, Y, bandwidth=1.0, within=16 * EPS)


@pytest.mark.parametrize("spread", [5, 20])
@pytest.mark.parametrize("d", [7, 16, 64, 70])
def test_tight_clusters(fused, d, spread):
    """Near neighbours in wide data: what products leave out must not count."""
    rng = np.random.default_rng(1)
    centres = spread * rng.normal(size=(20, d))
    X = (centres + 0.1 * rng.normal(size=(20, d))).astype(np.float32)
    Y = (np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(100, d))).astype(np.float32)
    bound = min(3e-4, float(promise(X, Y, 1.0)))
    check_sums(call(kernel_sum, X, Y, bandwidth=1.0), X, Y, bandwidth=1.0, within=bound)
    check_logs(call(log_kernel_sum, X, Y, bandwidth=1.0), X, Y, bandwidth=1.0)


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_points_that_are_all_equal(fused, d):
    X, Y = np.full((5, d), 0.1, np.float32), np.full((130, d), 0.1, np.float32)
    np.testing.assert_array_equal(call(kernel_sum, X, Y, bandwidth=0.3), 130)
    np.testing.assert_array_equal(call(kernel_sum, Y, bandwidth=0.3, exclude_self=True), 129)
    np.testing.assert_allclose(call(log_kernel_sum, Y, bandwidth=0.3), np.log(130), rtol=1e-7)


@pytest.mark.parametrize("d", [1, 7, 20, 70])
def test_one_point(fused, d):
    X = np.random.default_rng(0).normal(size=(1, d)).astype(np.float32)
    assert call(kernel_sum, X, bandwidth=1.0) == [1]
    assert call(log_kernel_sum, X, bandwidth=1.0, exclude_self=True) == [-np.inf]
    Y = X + np.float32(0.5)
    check(X, Y, bandwidth=np.sqrt(d))


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_a_common_offset_changes_nothing(fused, d):
    """1e6 leaves float32 a sixteenth: points on that grid lose nothing by being moved."""
    X, Y, size = points(d, n=20, m=150)
    X, Y = (np.round(16 * A) / 16 for A in (X, Y))
    here = call(log_kernel_sum, X, Y, bandwidth=size)
    there = call(log_kernel_sum, X + np.float32(1e6), Y + np.float32(1e6), bandwidth=size)
    check_logs(there, X, Y, bandwidth=size)
    np.testing.assert_allclose(there, here, rtol=2e-6, atol=2e-6)
    out = call(kernel_sum, X + np.float32(1e6), Y + np.float32(1e6), bandwidth=size)
    check_sums(out, X, Y, bandwidth=size)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_scales(fused, d, scale):
    X, Y, size = points(d, n=20, m=150)
    X, Y = X * np.float32(scale), Y * np.float32(scale)
    check(X, Y, bandwidth=0.5 * size * scale)
    assert DIFFERENCES not in fused


def test_views(fused, torch):
    X, Y, size = points(20, n=70, m=200)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    turned = torch.as_tensor(np.ascontiguousarray(Y.T)).T
    wide = torch.as_tensor(np.repeat(Y, 2, axis=1))[:, ::2]
    tall = torch.as_tensor(np.repeat(Y, 2, axis=0))[::2]
    for view in (turned, wide, tall):
        np.testing.assert_array_equal(kernel_sum(tensor(X), view, bandwidth=size), expected)
    groups = np.arange(200) % 3
    alone = call(log_kernel_sum, Y, bandwidth=size, groups=groups)
    np.testing.assert_array_equal(log_kernel_sum(turned, bandwidth=size, groups=groups), alone)


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize(
    ("kernel", "d"),
    [
        *product(["gaussian"], [2, 7, 14, 30, 70]),
        *product(["exponential", "laplacian", "epanechnikov"], [3]),
    ],
)
def test_nan_stays(fused, kernel, d, log):
    """Of a row, of a row that is summed over, and of a weight; the engine's door refuses them."""
    X, Y, size = points(d, n=20, m=70)
    bad_row, bad_column = X.copy(), Y.copy()
    bad_row[3, 1] = bad_column[60, 0] = np.nan
    w = np.ones(70, np.float32)
    w[5] = np.nan
    options = {
        "order": None, "bounds": (0, 70), "kernel": KERNELS[kernel], "bandwidths": (4 * size,),
        "log": log, "self_sum": False, "exclude_self": False, "method": "auto", "tol": None,
        "precision": "high", "box": Box(np.full(d, -9.0), np.full(d, 9.0)),
    }  # fmt: skip

    def sums(X, Y, weights=None):
        problem = Problem(tensor(X), tensor(Y), weights=tensor(weights), **options)
        return np.isnan(_problem.compute(problem)[0, :, 0].numpy())

    assert not sums(X, Y).any()
    assert sums(bad_row, Y)[3]
    assert sums(X, bad_column).all()
    assert sums(X, Y, w).all()
    assert fused

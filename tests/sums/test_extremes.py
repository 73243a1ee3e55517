"""Bandwidths, coordinates and arguments at the ends of floating point."""

import numpy as np
import pytest

from mercer.sums import kernel_sum, log_kernel_sum
from oracles import sums as oracle

LOG_TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.mark.parametrize(
    ("dtype", "width"), [(np.float32, 1e-5), (np.float64, 1e-10), (np.float64, 1e-20)]
)
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian"])
@pytest.mark.parametrize("d", [2, 6])
def test_logs_far_below_underflow(backend, d, kernel, dtype, width):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, d)).astype(dtype), rng.normal(size=(50, d)).astype(dtype)
    options = {"kernel": kernel, "bandwidth": width}
    expected = oracle.log_kernel_sum(X, Y, **options).astype(dtype)
    out = backend.log_kernel_sum(X, Y, **options)
    np.testing.assert_allclose(out, expected, rtol=LOG_TOLERANCE[dtype])


@pytest.mark.parametrize("ladder", [[1e-5], [1e-5, 1e-5 / np.sqrt(2), 5e-6]])
def test_ladders_and_columns_far_below_underflow(backend, ladder):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 9, 6))
    W = rng.random((9, 3)) + 0.5
    for weights in (None, W):
        out = backend.log_kernel_sum(X, Y, weights=weights, bandwidth=ladder)
        for rung, width in enumerate(ladder):
            expected = oracle.log_kernel_sum(X, Y, weights=weights, bandwidth=width).astype(float)
            np.testing.assert_allclose(out[rung], expected, rtol=1e-12)


@pytest.mark.parametrize("width", [1e60, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("kernel", sorted(oracle.LOG_PROFILES))
@pytest.mark.parametrize("d", [1, 6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_huge_bandwidth_counts_rows(backend, dtype, d, kernel, width):
    X = np.random.default_rng(0).normal(size=(5, d)).astype(dtype)
    options = {"kernel": kernel, "bandwidth": width}
    np.testing.assert_array_equal(backend.kernel_sum(X, **options), 5)
    np.testing.assert_array_equal(backend.kernel_sum(X, exclude_self=True, **options), 4)


@pytest.mark.parametrize("width", [1e-200, 1e-300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_tiny_bandwidth_counts_copies(backend, dtype, width):
    X = np.array([[1e-90], [0], [1e-90]] if dtype is np.float64 else [[1e-30], [0], [1e-30]], dtype)
    np.testing.assert_array_equal(backend.kernel_sum(X, bandwidth=width), [2, 1, 2])
    np.testing.assert_allclose(backend.log_kernel_sum(X, bandwidth=width), np.log([2, 1, 2]))


def test_a_ratio_beyond_floating_point_is_refused(backend):
    for kernel in ("gaussian", "exponential", "laplacian"):
        with pytest.raises(ValueError, match="bandwidth=1e-300 is too small for coordinates"):
            backend.log_kernel_sum(
                np.zeros((1, 1)), np.ones((1, 1)), kernel=kernel, bandwidth=1e-300
            )
    with pytest.raises(ValueError, match="too small for coordinates"):
        backend.kernel_sum(np.array([[4e307], [0.0]]), bandwidth=1.0)
    with pytest.raises(ValueError, match="too small for coordinates"):
        backend.log_kernel_sum(np.zeros((1, 1)), np.ones((1, 1)), kernel="cauchy", bandwidth=1e-170)


@pytest.mark.parametrize("offset", [10.0, 100.0, 1e4])
def test_fast_precision_keeps_the_order_of_magnitude(offset):
    """Two tight clusters: products leave squared distances that are all rounding."""
    X = (offset + 0.001 * np.random.default_rng(0).normal(size=(50, 8))).astype(np.float32)
    X = np.concatenate([X, -X])
    out = kernel_sum(X, X.copy(), bandwidth=0.1, precision="fast")
    expected = oracle.kernel_sum(X, bandwidth=0.1).astype(float)
    assert np.all(out > expected / 4)
    assert np.all(out < expected * 4)


def test_sums_beyond_the_range_are_infinite_without_a_warning():
    X = np.zeros((2, 1), np.float32)
    assert np.isposinf(kernel_sum(X, weights=[3e38, 3e38], bandwidth=1.0)).all()
    assert np.isposinf(kernel_sum(X.astype(float), weights=[1.7e308] * 2, bandwidth=1.0)).all()
    far = log_kernel_sum(X, X + np.float32(1), bandwidth=1e-30)
    assert np.isneginf(far).all()  # −5e59 is beyond float32

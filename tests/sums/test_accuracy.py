"""The promised accuracy, against extended precision."""

import numpy as np
import pytest

from oracles import sums as oracle

DIMENSIONS = [1, 2, 3, 16, 64, 256, 784]
DTYPES = [np.float32, np.float64]
LOG_TOLERANCE = {np.float32: 1e-5, np.float64: 1e-12}
FARTHEST_SHIFT = {np.float32: 1e3, np.float64: 1e6}


def _cloud(rng, d, dtype, n=23, m=301):
    """Normal points; the bandwidth is of the order of their distances."""
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    return X.astype(dtype), Y.astype(dtype), 0.4 * np.sqrt(d)


def _clusters(rng, d, dtype, n=23, m=301):
    """Tight clusters far apart: products of coordinates cancel almost wholly."""
    centres = rng.normal(size=(5, d))
    X, Y = (
        centres[rng.integers(0, 5, size)] + 0.01 * rng.normal(size=(size, d)) for size in (n, m)
    )
    return X.astype(dtype), Y.astype(dtype), 0.3 * np.sqrt(d)


def _bound(X, Y, bandwidth, dtype):
    """8·eps·(1 + r²/2b²): the issue's bound, for each row of X."""
    if X.shape[1] <= 4:
        r2 = oracle.squared_distances(X, Y).min(axis=1)
    else:
        Z = np.concatenate([X, Y]).astype(np.longdouble)
        r2 = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1).max()
    return 8 * np.finfo(dtype).eps * (1 + r2 / (2 * np.longdouble(bandwidth) ** 2))


@pytest.mark.parametrize("shifted", [False, True], ids=["", "shifted"])
@pytest.mark.parametrize("data", [_cloud, _clusters])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_sum_is_within_its_bound(backend, d, dtype, data, shifted):
    X, Y, b = data(np.random.default_rng(d), d, dtype)
    if shifted:
        offset = dtype(FARTHEST_SHIFT[dtype] * b)
        X, Y = X + offset, Y + offset
    expected = oracle.kernel_sum(X, Y, bandwidth=b)
    error = np.abs(backend.kernel_sum(X, Y, bandwidth=b) / expected - 1)
    assert np.all(error <= _bound(X, Y, b, dtype))


@pytest.mark.parametrize("shifted", [False, True], ids=["", "shifted"])
@pytest.mark.parametrize("factor", [1.0, 0.1, 1e-3], ids=["wide", "narrow", "underflow"])
@pytest.mark.parametrize("data", [_cloud, _clusters])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", DIMENSIONS)
def test_log_sum_is_within_its_tolerance(backend, d, dtype, data, factor, shifted):
    X, Y, b = data(np.random.default_rng(d), d, dtype)
    b *= factor
    if shifted:
        offset = dtype(FARTHEST_SHIFT[dtype] * b)
        X, Y = X + offset, Y + offset
    expected = oracle.log_kernel_sum(X, Y, bandwidth=b)
    error = np.abs(backend.log_kernel_sum(X, Y, bandwidth=b) - expected)
    assert np.all(error <= LOG_TOLERANCE[dtype] * np.maximum(1, np.abs(expected)))


def test_log_sum_where_everything_underflows(backend):
    X, Y, _ = _cloud(np.random.default_rng(0), 784, np.float64)
    assert not backend.kernel_sum(X, Y, bandwidth=0.1).any()
    expected = oracle.log_kernel_sum(X, Y, bandwidth=0.1)
    assert expected.max() < -10_000
    np.testing.assert_allclose(
        backend.log_kernel_sum(X, Y, bandwidth=0.1), expected.astype(float), rtol=1e-12
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [16, 64])
def test_spread_out_data_do_not_lose_digits(backend, d, dtype):
    """Near neighbours in data a thousand bandwidths wide: products would be all noise."""
    rng = np.random.default_rng(1)
    centres = 1000 * rng.normal(size=(40, d))
    X = (centres + 0.1 * rng.normal(size=(40, d))).astype(dtype)
    Y = (np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(200, d))).astype(dtype)
    expected = oracle.kernel_sum(X, Y, bandwidth=1.0)
    error = np.abs(backend.kernel_sum(X, Y, bandwidth=1.0) / expected - 1)
    assert error.max() < 16 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "epanechnikov", "cauchy"])
@pytest.mark.parametrize("d", [1, 3, 16, 256])
def test_other_kernels(backend, d, kernel, dtype):
    X, Y, b = _cloud(np.random.default_rng(d), d, dtype)
    b *= 8
    options = {"kernel": kernel, "bandwidth": b}
    expected = oracle.kernel_sum(X, Y, **options).astype(float)
    rtol = 32 * np.finfo(dtype).eps
    np.testing.assert_allclose(backend.kernel_sum(X, Y, **options), expected, rtol=rtol)
    np.testing.assert_allclose(
        backend.log_kernel_sum(X, Y, **options), np.log(expected), rtol=rtol, atol=rtol
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [3, 16])
@pytest.mark.parametrize("kernel", ["exponential", "laplacian"])
def test_close_rows_of_a_kernel_with_a_kink(backend, kernel, d, dtype):
    """exp(−r/b) sees r, not r²: distances by products would be wrong by √eps."""
    rng = np.random.default_rng(d)
    Y = rng.normal(size=(40, d))
    X = Y + 10 * np.finfo(dtype).eps * rng.normal(size=(40, d))
    X, Y, each = X.astype(dtype), Y.astype(dtype), np.arange(40)
    options = {"groups": each, "kernel": kernel, "bandwidth": 1.0}
    out, expected = backend.kernel_sum(X, Y, **options), oracle.kernel_sum(X, Y, **options)
    rtol = 32 * np.finfo(dtype).eps
    np.testing.assert_allclose(out[each, each], expected[each, each].astype(float), rtol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 16])
def test_ladder_is_within_the_same_bound(backend, d, dtype):
    X, Y, b = _cloud(np.random.default_rng(d), d, dtype)
    ladder = 4 * b / np.sqrt(2) ** np.arange(8)
    out = backend.kernel_sum(X, Y, bandwidth=ladder)
    logs = backend.log_kernel_sum(X, Y, bandwidth=ladder)
    for rung, width in enumerate(ladder):
        expected = oracle.kernel_sum(X, Y, bandwidth=width)
        assert np.all(np.abs(out[rung] / expected - 1) <= _bound(X, Y, width, dtype))
        error = np.abs(logs[rung] - np.log(expected))
        assert np.all(error <= LOG_TOLERANCE[dtype] * np.maximum(1, np.abs(np.log(expected))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 16, 256])
def test_symmetric_sum_is_within_its_bound(d, dtype):
    from mercer.sums import kernel_sum, log_kernel_sum

    X, _, b = _cloud(np.random.default_rng(d), d, dtype, n=1500, m=0)
    rows = np.arange(0, 1500, 37)
    w = np.random.default_rng(0).random(1500).astype(dtype)
    expected = oracle.kernel_sum(X[rows], X, weights=w, bandwidth=b)
    bound = _bound(X[rows], X, b, dtype)
    out = kernel_sum(X, weights=w, bandwidth=b)[rows]
    assert np.all(np.abs(out / expected - 1) <= bound)
    without = kernel_sum(X, weights=w, bandwidth=b, exclude_self=True)[rows]
    assert np.all(np.abs(without / (expected - w[rows]) - 1) <= 4 * bound)
    logs = log_kernel_sum(X, weights=w, bandwidth=b)[rows]
    assert np.all(np.abs(logs - np.log(expected)) <= LOG_TOLERANCE[dtype])

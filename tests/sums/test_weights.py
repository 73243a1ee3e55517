"""Weights of any size: they may span the range of their type, vanish, or cancel."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles import sums as oracle

DTYPES = [np.float32, np.float64]
KERNELS = sorted(oracle.LOG_PROFILES)
DECADES = {np.float32: 37, np.float64: 300}  # of the largest and the smallest weights
RTOL = {np.float32: 2e-5, np.float64: 1e-13}
LOG_RTOL = {np.float32: 1e-5, np.float64: 1e-12}

# The backend fixture has no state, so that the examples of one test may share it.
properties = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def assert_sums(backend, X, Y, dtype, **options):
    expected = oracle.kernel_sum(X, Y, **options)
    out = backend.kernel_sum(X, Y, **options)
    assert np.all(np.abs(out - expected) <= RTOL[dtype] * expected + np.finfo(dtype).tiny)


def assert_logs(backend, X, Y, dtype, **options):
    expected = oracle.log_kernel_sum(X, Y, **options)
    out = backend.log_kernel_sum(X, Y, **options)
    empty = np.isneginf(expected)
    np.testing.assert_array_equal(np.isneginf(out), empty)
    error = np.abs(out[~empty] - expected[~empty])
    assert np.all(error <= LOG_RTOL[dtype] * np.maximum(1, np.abs(expected[~empty])))


@properties
@given(
    dtype=st.sampled_from(DTYPES),
    kernel=st.sampled_from(KERNELS),
    n=st.integers(1, 30),
    m=st.integers(1, 30),
    d=st.integers(1, 40),
    n_groups=st.integers(0, 4),
    n_zeros=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_weights_may_span_the_whole_range(backend, dtype, kernel, n, m, d, n_groups, n_zeros, seed):
    rng = np.random.default_rng(seed)
    X, Y = (rng.uniform(-1, 1, size=(rows, d)).astype(dtype) for rows in (n, m))
    weights = 10 ** rng.uniform(-DECADES[dtype], DECADES[dtype], m)
    weights[rng.integers(0, m, n_zeros)] = 0
    options = {"weights": weights.astype(dtype), "kernel": kernel, "bandwidth": 3 * np.sqrt(d)}
    if n_groups:
        options["groups"] = rng.integers(0, n_groups, m)
    assert_sums(backend, X, Y, dtype, **options)
    assert_logs(backend, X, Y, dtype, **options)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_columns_of_weights_may_differ_in_size(backend, kernel, dtype):
    """Each column has its own scale, one spans all of it, one is zero."""
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(9, 5)).astype(dtype), rng.uniform(size=(30, 5)).astype(dtype)
    top = DECADES[dtype]
    span = 10 ** rng.uniform(-top, top, 30)
    ones = np.ones(30)
    weights = np.stack([ones * 10.0**-top, ones * 10.0**top, span, 0 * ones], 1).astype(dtype)
    options = {"weights": weights, "kernel": kernel, "bandwidth": 4.0}
    assert_sums(backend, X, Y, dtype, **options)
    assert_logs(backend, X, Y, dtype, **options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_far_heavy_row_beats_a_near_light_one(backend, dtype):
    """The largest term is not that of the nearest row."""
    top = DECADES[dtype] - 2
    X = np.zeros((1, 1), dtype)
    Y = np.array([[0.0], [5.0]], dtype)
    weights = np.array([10.0**-top, 10.0**top], dtype)
    assert_logs(backend, X, Y, dtype, weights=weights, bandwidth=1.0)
    assert_sums(backend, X, Y, dtype, weights=weights, bandwidth=1.0)
    # ... also where the kernel of the heavy row underflows: exp(−5000) beside 1e-35
    assert_logs(backend, X, Y, dtype, weights=weights, bandwidth=0.05)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_nearest_row_may_count_in_one_column_only(backend, dtype):
    """The other column is all of a row whose kernel underflows beside the nearest one's."""
    X, Y = np.zeros((1, 2), dtype), np.array([[0.0, 0.0], [30.0, 40.0]], dtype)
    weights = np.array([[1.0, 0.0], [1.0, 1.0]], dtype)
    assert_logs(backend, X, Y, dtype, weights=weights, bandwidth=1.0)


def test_subnormal_weights_count(backend):
    X, Y = np.zeros((1, 2)), np.zeros((3, 2))
    weights = np.array([5e-324, 1e-310, 0.0])
    expected = np.log(np.longdouble(5e-324) + np.longdouble(1e-310))
    out = backend.log_kernel_sum(X, Y, weights=weights, bandwidth=1.0)
    np.testing.assert_allclose(out, [float(expected)], rtol=1e-14)
    # 5e-324 is the spacing of subnormal numbers
    out = backend.kernel_sum(X, Y, weights=weights, bandwidth=1.0)
    np.testing.assert_allclose(out, [1e-310], rtol=0, atol=1e-323)


def test_all_weights_zero(backend):
    X, Y = np.zeros((2, 3)), np.ones((4, 3))
    for weights in (np.zeros(4), np.zeros((4, 2))):
        assert not backend.kernel_sum(X, Y, weights=weights, bandwidth=1.0).any()
        logs = backend.log_kernel_sum(X, Y, weights=weights, bandwidth=1.0)
        assert np.all(logs == -np.inf)


def test_zero_weight_leaves_a_row_out_of_a_self_sum(backend):
    """Rows without weight still get a sum of their own, over the others."""
    X = np.random.default_rng(3).normal(size=(12, 2))
    weights = np.ones(12)
    weights[::3] = 0
    for exclude_self in (False, True):
        options = {"weights": weights, "bandwidth": 0.7, "exclude_self": exclude_self}
        np.testing.assert_allclose(
            backend.log_kernel_sum(X, **options),
            oracle.log_kernel_sum(X, **options).astype(float),
            rtol=1e-13,
        )


def test_opposite_weights_cancel_exactly(backend):
    X, Y = np.ones((3, 2)), np.repeat(np.random.default_rng(0).normal(size=(8, 2)), 2, axis=0)
    weights = np.tile([1.0, -1.0], 8)
    out = backend.kernel_sum(X, Y, weights=weights, bandwidth=1.0)
    np.testing.assert_allclose(out, 0, atol=16 * np.finfo(float).eps)


def test_a_group_for_every_row(backend):
    """As many groups as rows: the sums are the kernel matrix."""
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(700, 3))
    groups = rng.permutation(700)
    expected = np.exp(-oracle.squared_distances(X, Y) / 2)[:, np.argsort(groups)].astype(float)
    out = backend.kernel_sum(X, Y, groups=groups, bandwidth=1.0)
    np.testing.assert_allclose(out, expected, rtol=1e-13)


def test_few_rows_of_many_groups(backend):
    out = backend.kernel_sum(np.zeros((1, 1)), np.zeros((2, 1)), groups=[0, 3000], bandwidth=1.0)
    assert out.shape == (1, 3001)
    np.testing.assert_array_equal(np.flatnonzero(out), [0, 3000])


@pytest.mark.parametrize(
    ("dtype", "weights", "exponent"),
    [(np.float32, [1e25, 1e8], 30), (np.float64, [1e200, 1e56], 213)],
)
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian"])
def test_a_light_row_counts_where_heavy_ones_are_far(backend, kernel, dtype, weights, exponent):
    near = exponent * np.log(10.0)
    near = np.sqrt(2 * near) if kernel == "gaussian" else near
    X, Y = np.zeros((1, 1), dtype), np.array([[1e5], [near]], dtype)
    options = {"weights": np.array(weights, dtype), "kernel": kernel, "bandwidth": 1.0}
    expected = oracle.kernel_sum(X, Y, **options).astype(float)
    assert expected > 0
    rtol = 4e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(backend.kernel_sum(X, Y, **options), expected, rtol=rtol)


def test_logarithms_of_a_light_row_where_the_heavy_one_is_left_out(backend):
    """Values of a kernel that is not an exponential are not relative to the largest."""
    X, w, width = np.array([[0.53], [1.24]]), np.array([6.8e-26, 2.8e-142]), 10**-106.7
    options = {"weights": w, "kernel": "cauchy", "bandwidth": width, "exclude_self": True}
    out = backend.log_kernel_sum(X, **options)
    np.testing.assert_allclose(out, oracle.log_kernel_sum(X, **options).astype(float), rtol=1e-13)

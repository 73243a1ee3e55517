"""The exponential of the compiled loops, against extended precision."""

import numpy as np
import pytest

from mercer.sums.cpu._compile import compiled
from mercer.sums.cpu._exp2 import exp2

LOWEST = {np.float32: -126, np.float64: -1022}  # exponent of the smallest normal number
ALLOWED = {np.float32: 1.0, np.float64: 2.5}  # eps
DTYPES = [np.float32, np.float64]


@compiled("contract")
def _exp2_of_all(a, out):
    for i in range(a.size):
        out[i] = exp2(a[i])


def powers(a, dtype):
    a = np.asarray(a, dtype)
    out = np.empty_like(a)
    _exp2_of_all(a, out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("least", [1.0, 1e-3])
def test_relative_error(dtype, least):
    """Over the whole range, and where most terms of a sum lie."""
    rng = np.random.default_rng(0)
    a = (least * LOWEST[dtype] * rng.random(10**6)).astype(dtype)
    expected = np.exp2(a.astype(np.longdouble))
    error = np.abs(powers(a, dtype) / expected - 1)
    assert error.max() <= ALLOWED[dtype] * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_relative_error_beside_halves(dtype):
    """Where the rounding to the nearest integer changes its mind."""
    halves = np.arange(LOWEST[dtype] + 1, 0, dtype=dtype) + dtype(0.5)
    a = np.concatenate([np.nextafter(halves, -np.inf), halves, np.nextafter(halves, dtype(0))])
    error = np.abs(powers(a, dtype) / np.exp2(a.astype(np.longdouble)) - 1)
    assert error.max() <= ALLOWED[dtype] * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_are_exact(dtype):
    n = np.arange(LOWEST[dtype] + 1, 1)
    np.testing.assert_array_equal(powers(n, dtype), np.exp2(n.astype(dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_at_zero(dtype):
    np.testing.assert_array_equal(powers([0.0, -0.0], dtype), 1)
    least = -np.finfo(dtype).smallest_subnormal
    np.testing.assert_array_equal(powers([least, -np.finfo(dtype).tiny], dtype), 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_where_the_result_would_be_subnormal(dtype):
    low = dtype(LOWEST[dtype])
    below = [np.nextafter(low, dtype(-np.inf)), low - 1, 2 * low, -1e30, np.finfo(dtype).min]
    np.testing.assert_array_equal(powers([*below, -np.inf], dtype), 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_smallest_results_are_normal_numbers(dtype):
    a = np.nextafter(dtype(LOWEST[dtype]), dtype(0))
    assert powers([a], dtype)[0] >= np.finfo(dtype).tiny * (1 - 2 * np.finfo(dtype).eps)


def test_python_code_may_not_call_it():
    with pytest.raises(TypeError, match="compiled code"):
        exp2(-1.0)

"""Which rungs of a ladder of bandwidths follow from another by squaring."""

import numpy as np
import pytest

from mercer.kernels import KERNELS, get_kernel
from mercer.sums._geometry import RUNGS_AT_ONCE, climb
from oracles import sums as oracle

EPS = {np.float32: float(np.finfo(np.float32).eps), np.float64: float(np.finfo(np.float64).eps)}
DTYPES = [np.float32, np.float64]
PER_RUNG = {
    "gaussian": np.sqrt(2),
    "exponential": 2.0,
    "laplacian": 2.0,
}  # ratio of bandwidths whose kernels square


def value(kernel, coefficient, rungs, r):
    """Return the kernel at distance r as the loops compute it: 2**(−c·rᵖ), squared."""
    return np.exp2(-coefficient * r**kernel.bandwidth_power) ** (2**rungs)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("widths", [(1.0,), (3.0, 2.0, 1.0), (1.0, 1.0, 1.0)])
def test_other_ratios_are_computed_directly(kernel, widths):
    steps = climb(get_kernel(kernel), widths, EPS[np.float64])
    if kernel in ("exponential", "laplacian") and widths == (
        3.0,
        2.0,
        1.0,
    ):  # the last two are a factor 2 apart
        assert [rungs for _, rungs in steps] == [1, 2]
    else:
        assert [rungs for _, rungs in steps] == [1] * len(widths)


@pytest.mark.parametrize("kernel", ["epanechnikov", "cauchy"])
@pytest.mark.parametrize("ratio", [2**0.5, 2.0])
def test_only_exponential_kernels_are_squared(kernel, ratio):
    widths = tuple(1.0 / ratio**i for i in range(6))
    steps = climb(get_kernel(kernel), widths, EPS[np.float64])
    assert [rungs for _, rungs in steps] == [1] * 6
    np.testing.assert_allclose([c for c, _ in steps], [b**-2.0 for b in widths], rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", list(PER_RUNG))
@pytest.mark.parametrize("n_rungs", [1, 2, 4, 5, 9, 40])
def test_a_fresh_exponential_starts_every_few_rungs(kernel, n_rungs, dtype):
    widths = tuple(7.3 / PER_RUNG[kernel] ** np.arange(n_rungs))
    steps = climb(get_kernel(kernel), widths, EPS[dtype])
    full, rest = divmod(n_rungs, RUNGS_AT_ONCE)
    assert [rungs for _, rungs in steps] == [RUNGS_AT_ONCE] * full + [rest] * (rest > 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", list(PER_RUNG))
def test_rungs_give_the_kernel_of_their_bandwidth(name, dtype):
    """Each width, in order, is served by one coefficient and a number of squarings."""
    kernel, ratio = get_kernel(name), PER_RUNG[name]
    widths = (5.0, 4.0, 4.0 / ratio, 4.0 / ratio**2, 1.9, 1.9 / ratio, 1.9 / ratio**3)
    steps = climb(kernel, tuple(sorted(widths, reverse=True)), EPS[dtype])
    served = [(c, power) for c, rungs in steps for power in range(rungs)]
    assert len(served) == len(widths)
    assert any(power for _, power in served)
    for (c, power), width in zip(served, sorted(widths, reverse=True), strict=True):
        expected = kernel.profile(np.array(1.3**2), width)
        np.testing.assert_allclose(value(kernel, c, power, 1.3), expected, rtol=100 * EPS[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_width_that_is_a_little_off_is_computed_directly(dtype):
    """Squaring it would be wrong by more than rounding."""
    off = 1 + 100 * EPS[dtype]
    steps = climb(get_kernel("gaussian"), (2**0.5, off), EPS[dtype])
    assert [rungs for _, rungs in steps] == [1, 1]
    nearly = 1 + EPS[dtype]
    steps = climb(get_kernel("gaussian"), (2**0.5, nearly), EPS[dtype])
    assert [rungs for _, rungs in steps] == [2]


def test_forty_rungs_agree_with_separate_calls(backend):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(40, 3))
    widths = 50 / np.sqrt(2) ** np.arange(40)
    out, logs = (f(X, Y, bandwidth=widths) for f in (backend.kernel_sum, backend.log_kernel_sum))
    for rung, width in enumerate(widths):
        alone = backend.kernel_sum(X, Y, bandwidth=width)
        np.testing.assert_allclose(out[rung], alone, rtol=1e-10, atol=1e-290)
        alone = backend.log_kernel_sum(X, Y, bandwidth=width)
        np.testing.assert_allclose(logs[rung], alone, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bandwidths_of_very_different_size_in_one_call(backend, dtype):
    """More than one pass can serve: each still gives what it gives alone."""
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    widths = [1e-9, 1e12, 1.0, 1e-3, 1e6]
    out = backend.kernel_sum(X, bandwidth=widths)
    for rung, width in enumerate(widths):
        alone = backend.kernel_sum(X, bandwidth=width)
        np.testing.assert_allclose(out[rung], alone, rtol=16 * EPS[dtype])


@pytest.mark.parametrize("n_columns", [1, 3])
def test_a_nearer_row_may_come_in_a_later_tile(backend, n_columns):
    """Sums are kept relative to the nearest row so far: at every rung, of every column."""
    rng = np.random.default_rng(0)
    X, Y = 0.01 * rng.normal(size=(5, 300)), rng.normal(size=(500, 300))
    Y *= (np.linspace(1.2, 0.8, 500) / np.linalg.norm(Y, axis=1))[:, None]
    weights, widths = rng.uniform(0.5, 1.5, (500, n_columns)), 0.5 / np.sqrt(2) ** np.arange(5)
    logs = backend.log_kernel_sum(X, Y, weights=weights, bandwidth=widths)
    for rung, width in enumerate(widths):
        expected = oracle.log_kernel_sum(X, Y, weights=weights, bandwidth=width).astype(float)
        np.testing.assert_allclose(logs[rung], expected, rtol=1e-12)

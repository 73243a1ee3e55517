"""Sums without each row's window in the densities, against a literal triple loop."""

import numpy as np
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from mercer.sums import Removal, left_out_log_sums

LONG = np.longdouble
TOLERANCE = {"float64": 2e-11, "float32": 3e-5}


KERNELS = ["gaussian", "exponential", "laplacian", "cauchy", "epanechnikov"]


def log_kernel(difference, bandwidth, kernel="gaussian"):
    """log k of a difference of two rows, as mercer.kernels prints it; −inf beyond its reach."""
    r2 = (difference**2).sum(axis=-1) / LONG(bandwidth) ** 2
    with np.errstate(divide="ignore"):
        return {
            "gaussian": -r2 / 2,
            "exponential": -np.sqrt(r2),
            "laplacian": -abs(difference).sum(axis=-1) / LONG(bandwidth),
            "cauchy": -np.log(1 + r2),
            "epanechnikov": np.log(np.maximum(1 - r2, 0)),
        }[kernel]


def literal(X, groups, bandwidths, weights, removal=None, kernel="gaussian"):
    """out[b, i, g] and drift[b, i, g], term by term."""
    X = np.asarray(X).astype(LONG)
    n, n_groups = len(X), max(groups) + 1
    out = np.full((len(bandwidths), n, n_groups), -np.inf, LONG)
    drift = np.zeros(out.shape, LONG)
    for b, bandwidth in enumerate(bandwidths):
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                log_k = log_kernel(X[i] - X[j], bandwidth, kernel)
                rho = LONG(1)
                if removal is not None:
                    g = np.exp((2 if removal.squared else 1) * log_k)
                    F = LONG(removal.densities[b, j])
                    rest = max(1 - removal.amount[i] * g / F, removal.least[j] / F)
                    rho = rest ** -LONG(0.5)
                at = b, i, groups[j]
                term = np.log(LONG(weights[b, j])) + log_k + np.log(rho)
                out[at] = np.logaddexp(out[at], term)
                if removal is not None:
                    drift[at] += removal.drift_weights[b, j] * (rho - 1)
    return out.astype(float), drift.astype(float)


def densities(X, bandwidths, weights, squared, kernel="gaussian"):
    """F with every row's own term, as the classifiers have it."""
    differences = np.asarray(X, float)[:, None] - np.asarray(X, float)
    logs = np.stack([log_kernel(differences, b, kernel) for b in bandwidths]).astype(float)
    return np.exp((2 if squared else 1) * logs) @ weights


def make(
    rng, n, d, n_groups, n_rungs, removing,
    dtype="float64", repeats=False, spread=1.0, kernel="gaussian",
):  # fmt: skip
    X = (rng.normal(size=(n, d)) * spread).astype(dtype)
    if repeats:
        X[n // 2 :] = X[: n - n // 2]
    groups = np.sort(rng.integers(0, n_groups, n))
    groups[-1] = n_groups - 1
    bandwidths = tuple(float(np.sqrt(d)) * 2.0 ** (-b / 2) for b in range(n_rungs))
    omega = rng.integers(1, 4, n).astype(float)
    weights = rng.uniform(0.1, 3.0, (n_rungs, n))
    removal = None
    if removing is not None:
        squared = removing == "squared"
        F = np.maximum(densities(X, bandwidths, omega, squared, kernel), omega)
        q = rng.uniform(0, 2, (n_rungs, n))
        removal = Removal(rng.uniform(0.3, 1.0, n), F, omega, squared, q)
    return X, groups, bandwidths, weights, removal


def check(X, groups, bandwidths, weights, removal, tol, kernel="gaussian"):
    out, drift = left_out_log_sums(
        X, groups, bandwidths=bandwidths, weights=weights, removal=removal, kernel=kernel
    )
    expected, expected_drift = literal(X, groups, bandwidths, weights, removal, kernel)
    np.testing.assert_allclose(out, expected, rtol=tol, atol=tol)
    if removal is None:
        assert drift is None
    else:
        np.testing.assert_allclose(drift, expected_drift, rtol=100 * tol, atol=30 * tol)
    assert np.asarray(out).dtype == np.float64


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 23),
    d=st.sampled_from([1, 2, 3, 5, 8, 17]),
    n_groups=st.integers(1, 9),
    n_rungs=st.integers(1, 10),
    removing=st.sampled_from([None, "squared", "plain"]),
    dtype=st.sampled_from(["float64", "float32"]),
    repeats=st.booleans(),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 10.0]),
)
def test_literal_loop(seed, n, d, n_groups, n_rungs, removing, dtype, repeats, spread):
    rng = np.random.default_rng(seed)
    case = make(rng, n, d, n_groups, n_rungs, removing, dtype, repeats, spread)
    check(*case, TOLERANCE[dtype])


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.sampled_from([1, 3, 8]),
    kernel=st.sampled_from(KERNELS[1:]),
    removing=st.sampled_from([None, "plain"]),
    dtype=st.sampled_from(["float64", "float32"]),
    spread=st.sampled_from([1e-3, 1.0, 10.0]),
)
def test_literal_loop_of_other_kernels(seed, d, kernel, removing, dtype, spread):
    rng = np.random.default_rng(seed)
    case = make(rng, 14, d, 3, 6, removing, dtype, False, spread, kernel)
    if kernel == "epanechnikov":  # A row at the very edge is a matter of rounding.
        logs = [np.abs(log_kernel(case[0][:, None] - case[0], b, kernel)) for b in case[2]]
        assume(not any((one[np.isfinite(one)] > 5).any() for one in logs))
    check(*case, TOLERANCE[dtype], kernel)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    exponent=st.sampled_from([-150, -60, -20, 20, 60, 140]),
    offset=st.sampled_from([0.0, 1e3, -1e6]),
    removing=st.sampled_from([None, "squared", "plain"]),
)
def test_any_scale_and_offset(seed, exponent, offset, removing):
    X, groups, bandwidths, weights, removal = make(
        np.random.default_rng(seed), 14, 3, 3, 5, removing
    )
    X = np.round(X * 2**20) / 2**20  # so that the offset loses no digits
    moved = (X + offset) * 2.0**exponent
    assume(np.array_equal(moved / 2.0**exponent - offset, X))
    scaled = tuple(b * 2.0**exponent for b in bandwidths)
    options = {"weights": weights, "removal": removal}
    here, here_drift = left_out_log_sums(X, groups, bandwidths=bandwidths, **options)
    there, there_drift = left_out_log_sums(moved, groups, bandwidths=scaled, **options)
    np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9)
    if removing is not None:
        np.testing.assert_allclose(there_drift, here_drift, rtol=1e-8, atol=1e-9)


def test_rows_so_far_apart_that_every_kernel_value_underflows():
    X = np.array([[0.0], [1e4], [3e4], [3e4 + 1], [-1e7]])
    groups, bandwidths = np.array([0, 0, 1, 1, 2]), (2.0, 2**0.5, 1.0)
    weights, omega = np.full((3, 5), 0.5), np.ones(5)
    F = np.maximum(densities(X, bandwidths, omega, True), 1)
    removal = Removal(omega, F, omega, True, np.ones((3, 5)))
    out, drift = left_out_log_sums(
        X, groups, bandwidths=bandwidths, weights=weights, removal=removal
    )
    expected, expected_drift = literal(X, groups, bandwidths, weights, removal)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_allclose(drift, expected_drift, rtol=1e-12)
    assert out[0, 4, 2] == -np.inf  # alone in its group
    assert np.isfinite(np.delete(out[0, 4], 2)).all()


def test_a_row_alone_in_its_window_does_not_overflow():
    """Its density is its own term and that of the row that leaves: the first must stay."""
    X = np.array([[0.0], [0.0], [50.0]])
    omega = np.array([1.0, 1e-18, 1.0])
    F = np.maximum(densities(X, (1.0,), omega, True), omega)
    removal = Removal(omega, F, omega, True, np.ones((1, 3)))
    args = (X, np.array([0, 1, 1]), (1.0,), np.ones((1, 3)), removal)
    out, drift = left_out_log_sums(X, args[1], bandwidths=args[2], weights=args[3], removal=removal)
    expected, expected_drift = literal(*args)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-15)
    np.testing.assert_allclose(drift, expected_drift, rtol=1e-5, atol=1e-15)
    assert np.isfinite(drift).all()


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
def test_many_groups(removing):
    case = make(np.random.default_rng(0), 60, 2, 60, 4, removing)
    check(*case, 2e-11)


@pytest.mark.parametrize("removing", [None, "squared"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_slices_threads_and_memory_change_nothing(removing, dtype):
    """More rows and columns than one tile, one slab or one thread takes."""
    X, groups, bandwidths, weights, removal = make(
        np.random.default_rng(1), 700, 6, 5, 6, removing, dtype
    )
    options = {"bandwidths": bandwidths, "weights": weights, "removal": removal}
    whole, drift = left_out_log_sums(X, groups, **options)
    for rows in (slice(0, 1), slice(3, 258), slice(258, 700), slice(699, 700)):
        part, part_drift = left_out_log_sums(X, groups, rows=rows, **options)
        assert part.shape == (6, rows.stop - rows.start, 5)
        np.testing.assert_allclose(part, whole[:, rows], rtol=1e-12, atol=1e-12)
        if removing:
            np.testing.assert_allclose(part_drift, drift[:, rows], rtol=1e-10)
    for rows in (np.array([699, 0, 5, 5, 311]), np.arange(1, 700, 2), np.array([], int)):
        part, part_drift = left_out_log_sums(X, groups, rows=rows, **options)
        np.testing.assert_allclose(part, whole[:, rows], rtol=1e-12, atol=1e-12)
        if removing:
            np.testing.assert_allclose(part_drift, drift[:, rows], rtol=1e-10)
    tol = TOLERANCE[dtype]
    with sklearn.config_context(working_memory=1e-2):
        small, small_drift = left_out_log_sums(X, groups, **options)
    with threadpool_limits(2):
        threads, _ = left_out_log_sums(X, groups, **options)
    np.testing.assert_allclose(small, whole, rtol=tol, atol=tol)
    np.testing.assert_array_equal(threads, whole)
    if removing:
        rounding = 100 * np.finfo(dtype).eps  # of ρ − 1, where ρ is near 1
        np.testing.assert_allclose(small_drift, drift, rtol=100 * tol, atol=rounding)
    some = np.r_[0, 350, 699]
    expected = _vectorised(X, groups, bandwidths, weights, removal, some)
    np.testing.assert_allclose(whole[:, some], expected, rtol=tol, atol=tol)


def _vectorised(X, groups, bandwidths, weights, removal, rows):
    out = np.empty((len(bandwidths), len(rows), max(groups) + 1))
    for b, bandwidth in enumerate(bandwidths):
        for at, i in enumerate(rows):
            d2 = ((X.astype(LONG) - X[i].astype(LONG)) ** 2).sum(axis=1)
            k = np.exp(-d2 / (2 * LONG(bandwidth) ** 2))
            terms = weights[b] * k
            if removal is not None:
                g = k**2 if removal.squared else k
                F = removal.densities[b]
                rest = np.maximum(1 - removal.amount[i] * g / F, removal.least / F)
                terms = terms * rest**-0.5
            terms[i] = 0
            out[b, at] = np.log(np.bincount(groups, terms.astype(float)))
    return out


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("removing", [None, "squared", "plain"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_equals_numpy(torch, removing, dtype, kernel):
    X, groups, bandwidths, weights, removal = make(
        np.random.default_rng(2), 90, 4, 4, 7, removing, dtype, kernel=kernel
    )
    on_torch = None
    if removal is not None:
        on_torch = Removal(
            *(torch.as_tensor(v) for v in (removal.amount, removal.densities, removal.least)),
            removal.squared,
            torch.as_tensor(removal.drift_weights),
        )
    for rows in (None, slice(10, 60), np.array([80, 3, 4, 50])):
        a, a_drift = left_out_log_sums(
            X, groups, bandwidths=bandwidths, weights=weights, removal=removal, rows=rows,
            kernel=kernel,
        )  # fmt: skip
        b, b_drift = left_out_log_sums(
            torch.as_tensor(X), groups, bandwidths=bandwidths, rows=rows,
            weights=torch.as_tensor(weights), removal=on_torch, kernel=kernel,
        )  # fmt: skip
        tol = TOLERANCE[dtype]
        np.testing.assert_allclose(b.numpy(), a, rtol=tol, atol=tol)
        if removing is None:
            assert b_drift is None
        else:
            np.testing.assert_allclose(b_drift.numpy(), a_drift, rtol=100 * tol, atol=30 * tol)

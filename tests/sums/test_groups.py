"""Sums by group for estimators: literal, and the same of rows in memory and in blocks."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn import config_context

from lazy import cut
from mercer.sums import (
    Removal,
    group_products,
    group_sums,
    kernel_sum,
    left_out_log_sums,
    own_group_sums,
)

RNG = np.random.default_rng(0)
N, WIDTHS = 61, (1.5, 1.5 / 2**0.5, 0.75)
X, GROUPS = RNG.normal(size=(N, 2)), np.sort(RNG.integers(0, 4, N))
WEIGHTS = RNG.uniform(0.1, 2, (3, N))
D2 = ((X[:, None] - X) ** 2).sum(axis=2)
KERNELS = {
    "gaussian": np.stack([np.exp(-D2 / (2 * h * h)) for h in WIDTHS]),
    "exponential": np.stack([np.exp(-np.sqrt(D2) / h) for h in WIDTHS]),
    "cauchy": np.stack([1 / (1 + D2 / h**2) for h in WIDTHS]),
}
K = KERNELS["gaussian"]
MEMBERS = GROUPS[:, None] == np.arange(4)


def blocks(A):
    """Cut the rows, the last axis of (b, n) numbers."""
    da = pytest.importorskip("dask.array")
    return da.from_array(A, chunks=(17, 2) if A is X else (len(WIDTHS), 17)[-A.ndim :])


CONTAINERS = pytest.mark.parametrize("hold", [np.asarray, blocks], ids=["memory", "blocks"])


@CONTAINERS
@pytest.mark.parametrize("log", [False, True])
def test_sums_over_groups(hold, log):
    new = RNG.normal(size=(9, 2))
    expected = kernel_sum(new, X, weights=WEIGHTS[0], groups=GROUPS, bandwidth=0.8)
    expected = np.pad(expected, ((0, 0), (0, 2)))
    at = new if hold is np.asarray else cut(new, (4, 5))
    found = group_sums(at, hold(X), hold(WEIGHTS[0]), hold(GROUPS), 6, log=log, bandwidth=0.8)
    assert found.shape == (9, 6)
    np.testing.assert_allclose(np.exp(found) if log else found, expected, rtol=1e-11)
    beside = group_sums(at, X, WEIGHTS[0], GROUPS, 6, log=log, bandwidth=0.8)  # nodes in memory
    np.testing.assert_allclose(beside, found, rtol=1e-11)


@CONTAINERS
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_a_bandwidth_for_each_group(hold, log, kernel):
    new, widths = RNG.normal(size=(9, 2)), [0.3, 2.0, 0.8, 1.1]
    at = new if hold is np.asarray else cut(new, (4, 5))
    options = {"log": log, "kernel": kernel}
    given = (hold(X), hold(WEIGHTS[0]), hold(GROUPS), 4)
    found = np.asarray(group_sums(at, *given, bandwidth=widths, **options))
    for group, width in enumerate(widths):
        expected = group_sums(new, X, WEIGHTS[0], GROUPS, 4, bandwidth=width, **options)
        np.testing.assert_allclose(found[:, group], expected[:, group], rtol=1e-11)


@CONTAINERS
def test_far_points_are_told_apart_in_single_precision(hold):
    far = np.array([[1e3, 1e3], [0.0, 0.1], [-2e3, 5.0]])
    exact = group_sums(far, X, WEIGHTS[0], GROUPS, 4, log=True, bandwidth=0.5)
    narrow, rows = far.astype(np.float32), X.astype(np.float32)
    if hold is blocks:
        narrow = cut(narrow, (1, 2))
    found = np.asarray(group_sums(narrow, rows, WEIGHTS[0], GROUPS, 4, log=True, bandwidth=0.5))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found.argmax(axis=1), exact.argmax(axis=1))
    np.testing.assert_allclose(found[0] - found[0, 0], exact[0] - exact[0, 0], rtol=0.01)


@CONTAINERS
@pytest.mark.parametrize("batch", [1, 128])
@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_over_a_rows_own_group(hold, kernel, batch, monkeypatch):
    monkeypatch.setattr("mercer.sums._groups._BATCH", batch)
    monkeypatch.setattr("mercer.sums.dask._groups._FEW_ROWS", batch)
    expected = (KERNELS[kernel] * (GROUPS[:, None] == GROUPS) * WEIGHTS[:, None, :]).sum(axis=2)
    given = {"bandwidths": WIDTHS, "weights": hold(WEIGHTS), "kernel": kernel}
    found = own_group_sums(hold(X), hold(GROUPS), **given)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_own_sums_within_a_tolerance():
    expected = own_group_sums(X, GROUPS, bandwidths=WIDTHS, weights=WEIGHTS)
    found = own_group_sums(X, GROUPS, bandwidths=WIDTHS, weights=WEIGHTS, tol=1e-6)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@CONTAINERS
@pytest.mark.parametrize("kernel", KERNELS)
def test_products_and_their_largest_term(hold, kernel):
    log_terms = np.log(WEIGHTS)[:, :, None] + np.log(
        (KERNELS[kernel] * (1 - np.eye(N))) * WEIGHTS[:, None, :] @ MEMBERS
    )
    given = {"n_groups": 4, "bandwidths": WIDTHS, "weights": hold(WEIGHTS), "kernel": kernel}
    with config_context(working_memory=0.05):  # several slabs
        found = group_products(hold(X), hold(GROUPS), **given)
    for c in range(4):
        rows = np.flatnonzero(c == GROUPS)
        terms = log_terms[:, rows]
        np.testing.assert_allclose(found.log_all[:, c], logsumexp(terms, axis=1), rtol=1e-11)
        np.testing.assert_array_equal(found.largest[:, c], rows[terms.argmax(axis=1)])
        top = terms.argmax(axis=1)[:, None, :]
        rest = terms.copy()
        np.put_along_axis(rest, top, -np.inf, axis=1)
        np.testing.assert_allclose(found.log_rest[:, c], logsumexp(rest, axis=1), rtol=1e-11)


def test_products_take_the_sums_that_are_known():
    given = {"bandwidths": WIDTHS, "weights": WEIGHTS}
    logs, _ = left_out_log_sums(X, GROUPS, **given)
    slabs = []

    def known(rows):
        slabs.append(rows)
        return logs[:, rows]

    with config_context(working_memory=0.05):
        found = group_products(X, GROUPS, n_groups=4, sums=known, **given)
        expected = group_products(X, GROUPS, n_groups=4, **given)
    assert len(slabs) > 1
    np.testing.assert_allclose(found.log_all, expected.log_all, rtol=1e-12)


@pytest.mark.parametrize("n_groups", [None, 4])
@pytest.mark.parametrize("rows", [None, slice(5, 40, 3), np.array([60, 3, 3, 17])])
@pytest.mark.parametrize("removing", [False, True])
@pytest.mark.parametrize("kernel", ["gaussian", "cauchy"])
def test_left_out_sums_of_blocks(kernel, rows, removing, n_groups):
    F = np.maximum(KERNELS[kernel] ** 2 @ WEIGHTS[0], WEIGHTS[0])
    parts = (WEIGHTS[0] / 2, F, WEIGHTS[0], WEIGHTS)
    given = {"bandwidths": WIDTHS, "rows": rows, "kernel": kernel}
    results = []
    for hold in (np.asarray, blocks):
        amount, densities, least, q = map(hold, parts)
        removal = Removal(amount, densities, least, True, q) if removing else None
        results.append(
            left_out_log_sums(
                hold(X), hold(GROUPS), weights=hold(WEIGHTS), removal=removal,
                n_groups=n_groups, **given,
            )
        )  # fmt: skip
    (logs, drifts), (lazy_logs, lazy_drifts) = results
    assert isinstance(lazy_logs, np.ndarray)
    np.testing.assert_allclose(lazy_logs, logs, rtol=1e-11)
    if removing:
        np.testing.assert_allclose(lazy_drifts, drifts, rtol=1e-9, atol=1e-12)
    else:
        assert drifts is None
        assert lazy_drifts is None


def test_blocks_are_left_out_of_themselves_alone():
    with pytest.raises(ValueError, match=r"^Left-out sums over a Dask array are those of its own"):
        left_out_log_sums(
            blocks(X), blocks(GROUPS), bandwidths=WIDTHS, weights=blocks(WEIGHTS), Y=blocks(X)
        )

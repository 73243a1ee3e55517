"""What kernel sums obey whatever the data: Hypothesis draws the shapes, kernels and points."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles import sums as oracle

KERNELS = sorted(oracle.LOG_PROFILES)


@dataclass(frozen=True)
class Case:
    """Points on a grid of 1/64, so that integer shifts are exact, and a bandwidth of their size."""

    X: np.ndarray
    Y: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    kernel: str
    bandwidth: float

    @property
    def options(self):
        return {"kernel": self.kernel, "bandwidth": self.bandwidth}

    @property
    def tolerance(self):
        """Of two results that each keep the promised bound, and of the oracle's input rounding."""
        radius = max(np.abs(A).max() for A in (self.X, self.Y)) * np.sqrt(self.X.shape[1])
        exponent = (radius / self.bandwidth) ** 2
        return 32 * np.finfo(self.X.dtype).eps * (1 + exponent)

    def assert_same(self, out, expected, scale=None):
        """Within the tolerance, relative to `scale` where terms may cancel."""
        relative = np.abs(expected) if scale is None else scale
        # At the edge of Epanechnikov's support a term is a difference: it has no relative digits.
        if self.kernel == "epanechnikov":
            relative = np.maximum(relative, np.abs(self.weights).sum())
        assert out.shape == np.shape(expected)
        assert np.all(np.abs(out - expected) <= self.tolerance * relative)

    def assert_same_logs(self, out, expected):
        if self.kernel == "epanechnikov":
            self.assert_same(np.exp(out), np.exp(expected))
            return
        np.testing.assert_allclose(out, expected, rtol=0, atol=self.tolerance)


@st.composite
def cases(draw, most_rows=60, factors=(0.4, 0.7, 1.0, 2.5), dtypes=(np.float32, np.float64)):
    n, m = draw(st.integers(1, most_rows)), draw(st.integers(1, most_rows))
    d, dtype = draw(st.integers(1, 40)), draw(st.sampled_from(dtypes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X, Y = (np.clip(np.round(64 * rng.normal(size=(rows, d))) / 64, -4, 4) for rows in (n, m))
    if draw(st.booleans()):  # duplicates, within an array and across the two
        Y[rng.integers(0, m, m // 2)] = X[0]
    return Case(
        X=X.astype(dtype),
        Y=Y.astype(dtype),
        weights=rng.uniform(0.1, 1, m).astype(dtype),
        groups=rng.integers(0, draw(st.integers(1, 6)), m),
        kernel=draw(st.sampled_from(KERNELS)),
        bandwidth=draw(st.sampled_from(factors)) * 1.5 * np.sqrt(d),
    )


# The backend fixture has no state, so that the examples of one test may share it.
properties = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@properties
@given(case=cases(), seed=st.integers(0, 99))
def test_order_of_rows_does_not_matter(backend, case, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(len(case.X)), rng.permutation(len(case.Y))
    original = backend.kernel_sum(case.X, case.Y, weights=case.weights, **case.options)
    shuffled = backend.kernel_sum(case.X[p], case.Y[q], weights=case.weights[q], **case.options)
    case.assert_same(shuffled, original[p])
    original = backend.log_kernel_sum(case.X, case.Y, groups=case.groups, **case.options)
    shuffled = backend.log_kernel_sum(case.X[p], case.Y[q], groups=case.groups[q], **case.options)
    case.assert_same_logs(shuffled, original[p])


@properties
@given(case=cases(), shift=st.integers(-1024, 1024))
def test_shifting_both_arrays_changes_nothing(backend, case, shift):
    here = backend.kernel_sum(case.X, case.Y, **case.options)
    there = backend.kernel_sum(case.X + shift, case.Y + shift, **case.options)
    case.assert_same(there, here)


@properties
@given(case=cases(), power=st.integers(-60, 60))
def test_scaling_by_powers_of_two_is_exact(backend, case, power):
    factor = case.X.dtype.type(2.0**power)
    scaled = {**case.options, "bandwidth": case.bandwidth * 2.0**power}
    for name in ("kernel_sum", "log_kernel_sum"):
        original = getattr(backend, name)(case.X, case.Y, **case.options)
        result = getattr(backend, name)(case.X * factor, case.Y * factor, **scaled)
        np.testing.assert_array_equal(result, original)


@properties
@given(case=cases(dtypes=[np.float64]), factor=st.sampled_from([1e-100, 1e-10, 1e10, 1e100]))
def test_scaling_by_any_factor_changes_nothing(backend, case, factor):
    scaled = {**case.options, "bandwidth": case.bandwidth * factor}
    X, Y = case.X * factor, case.Y * factor
    original = backend.kernel_sum(case.X, case.Y, **case.options)
    case.assert_same(backend.kernel_sum(X, Y, **scaled), original)
    original = backend.log_kernel_sum(case.X, case.Y, **case.options)
    case.assert_same_logs(backend.log_kernel_sum(X, Y, **scaled), original)


@properties
@given(case=cases(), share=st.floats(0, 1))
def test_parts_of_y_merge(backend, case, share):
    cut = round(share * len(case.Y))  # either part may be empty
    halves = [(case.Y[:cut], case.weights[:cut]), (case.Y[cut:], case.weights[cut:])]
    a, b = (backend.kernel_sum(case.X, Y, weights=w, **case.options) for Y, w in halves)
    whole = backend.kernel_sum(case.X, case.Y, weights=case.weights, **case.options)
    case.assert_same(a + b, whole)
    a, b = (backend.log_kernel_sum(case.X, Y, weights=w, **case.options) for Y, w in halves)
    whole = backend.log_kernel_sum(case.X, case.Y, weights=case.weights, **case.options)
    case.assert_same_logs(np.logaddexp(a, b), whole)


@properties
@given(case=cases(), factor=st.floats(-3, 3, width=16))
def test_sum_is_linear_in_weights(backend, case, factor):
    other = np.cos(np.arange(len(case.Y))).astype(case.X.dtype)
    combined = case.weights + case.X.dtype.type(factor) * other

    def sums(weights):
        return backend.kernel_sum(case.X, case.Y, weights=weights, **case.options)

    scale = sums(case.weights) + abs(factor) * sums(np.abs(other)) + sums(np.abs(combined))
    case.assert_same(sums(combined), sums(case.weights) + factor * sums(other), scale)


@properties
@given(case=cases())
def test_groups_are_one_hot_columns(backend, case):
    G = case.groups.max() + 2  # columns may have one that no row has
    columns = case.weights[:, None] * (case.groups[:, None] == np.arange(G)).astype(case.X.dtype)
    by_group = {"weights": case.weights, "groups": case.groups, **case.options}
    expected = backend.kernel_sum(case.X, case.Y, weights=columns, **case.options)
    assert not expected[:, -1].any()
    case.assert_same(backend.kernel_sum(case.X, case.Y, **by_group), expected[:, :-1])
    expected = backend.log_kernel_sum(case.X, case.Y, weights=columns, **case.options)
    assert np.all(expected[:, -1] == -np.inf)
    case.assert_same_logs(backend.log_kernel_sum(case.X, case.Y, **by_group), expected[:, :-1])


@properties
@given(case=cases(), gap=st.integers(1, 5))
def test_group_without_rows_has_no_sum(backend, case, gap):
    groups = case.groups + gap
    out = backend.kernel_sum(case.X, case.Y, groups=groups, **case.options)
    logs = backend.log_kernel_sum(case.X, case.Y, groups=groups, **case.options)
    assert out.shape == (len(case.X), groups.max() + 1)
    for g in set(range(out.shape[1])) - set(groups):
        assert not out[:, g].any()
        assert np.all(logs[:, g] == -np.inf)
    expected = oracle.kernel_sum(case.X, case.Y, groups=groups, **case.options)
    case.assert_same(out, expected)


@properties
@given(
    case=cases(),
    base=st.sampled_from([np.sqrt(2), 2.0, 1.1, 1.0]),
    steps=st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    weighted=st.sampled_from(["plain", "groups", "columns"]),
)
def test_ladder_is_separate_calls(backend, case, base, steps, weighted):
    """Any order, with duplicates."""
    widths = [case.bandwidth * base**step for step in steps]
    columns = np.stack([case.weights, case.weights[::-1]], axis=1)
    given = {"plain": {}, "groups": {"groups": case.groups}, "columns": {"weights": columns}}
    options = {"kernel": case.kernel, **given[weighted]}
    out = backend.kernel_sum(case.X, case.Y, bandwidth=widths, **options)
    logs = backend.log_kernel_sum(case.X, case.Y, bandwidth=np.array(widths), **options)
    for rung, width in enumerate(widths):
        narrower = replace(case, bandwidth=width)
        alone = backend.kernel_sum(case.X, case.Y, bandwidth=width, **options)
        narrower.assert_same(out[rung], alone)
        alone = backend.log_kernel_sum(case.X, case.Y, bandwidth=width, **options)
        narrower.assert_same_logs(logs[rung], alone)


@properties
@given(case=cases())
def test_excluding_self_takes_the_own_weight_away(backend, case):
    included = backend.kernel_sum(case.Y, weights=case.weights, **case.options)
    excluded = backend.kernel_sum(case.Y, weights=case.weights, exclude_self=True, **case.options)
    case.assert_same(excluded, included - case.weights, included)
    logs = backend.log_kernel_sum(case.Y, weights=case.weights, exclude_self=True, **case.options)
    with np.errstate(divide="ignore"):
        case.assert_same_logs(logs, np.log(excluded))


@properties
@given(case=cases())
def test_log_is_the_logarithm(backend, case):
    options = {"weights": case.weights, "groups": case.groups, **case.options}
    with np.errstate(divide="ignore"):
        expected = np.log(backend.kernel_sum(case.X, case.Y, **options))
    case.assert_same_logs(backend.log_kernel_sum(case.X, case.Y, **options), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [2, 16])
def test_symmetric_sum_is_the_sum_with_a_copy(d, kernel, dtype):
    from mercer.sums import kernel_sum, log_kernel_sum

    rng = np.random.default_rng(d)
    X = np.clip(rng.normal(size=(1100, d)), -4, 4).astype(dtype)  # more than two blocks of 512
    w = rng.uniform(0.1, 1, 1100).astype(dtype)
    case = Case(X, X, w, w, kernel, 2 * np.sqrt(d))
    widths = case.bandwidth / np.sqrt(2) ** np.arange(6)
    together = kernel_sum(X, weights=w, kernel=kernel, bandwidth=widths)
    logs = log_kernel_sum(X, weights=w, kernel=kernel, bandwidth=widths)
    for rung, width in enumerate(widths):
        narrower = replace(case, bandwidth=width)
        copy = kernel_sum(X, X.copy(), weights=w, kernel=kernel, bandwidth=width)
        narrower.assert_same(together[rung], copy)
        narrower.assert_same_logs(logs[rung], np.log(copy))

"""method="fast": every number within its relative tolerance of the direct sum, tails included."""

import logging
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import config_context

from mercer.sums import explain_kernel_sum, kernel_sum, log_kernel_sum
from mercer.sums.fast import _plan as _fast_plan

pytest.importorskip("finufft", reason="finufft is not installed")

N = 900
RNG = np.random.default_rng(0)


@contextmanager
def dear_pairs(memory=48):
    """Make planners think that terms are dear, so that sums as small as these are transformed."""
    with pytest.MonkeyPatch.context() as patch, config_context(working_memory=memory):
        patch.setattr(_fast_plan, "_PAIR", {4: 1e-4, 8: 1e-4})
        yield


def worst(X, Y=None, *, tol, log=False, scale=None, memory=48, **options):
    """Return the largest error, in units of the tolerance."""
    function = log_kernel_sum if log else kernel_sum
    with dear_pairs(memory):
        fast = function(X, Y, method="fast", tol=tol, **options)
    # In double precision: single sums leave out terms below their smallest normal number.
    wide = [None if rows is None else rows.astype(np.float64) for rows in (X, Y)]
    if options.get("weights") is not None:
        options["weights"] = options["weights"].astype(np.float64)
    exact = function(*wide, method="direct", **options)
    assert fast.shape == exact.shape
    assert fast.dtype == X.dtype
    if log:
        np.testing.assert_array_equal(np.isneginf(fast), np.isneginf(exact))
        finite = np.isfinite(exact)
        fast, exact = fast[finite], exact[finite]
        rounding = max(1e-12, np.finfo(fast.dtype).eps)
        error = np.abs(fast - exact) / (tol + rounding * np.maximum(1, np.abs(exact)))
    else:
        size = np.abs(exact) if scale is None else scale
        smallest = np.finfo(fast.dtype).smallest_normal  # what is less may be 0
        error = np.abs(fast - exact) / (size * (tol + 1e-13) + smallest)
    assert np.isfinite(error).all()
    return error.max(initial=0)


def normal(rng, n, d):
    return rng.normal(size=(n, d))


def uniform(rng, n, d):
    return rng.random((n, d))


def student(rng, n, d):
    return rng.standard_t(1.5, (n, d))


def lognormal(rng, n, d):
    return rng.lognormal(0, 2, (n, d))


def clusters(rng, n, d):
    return 200 * rng.integers(0, 3, (n, 1)) + 0.3 * rng.normal(size=(n, d))


def lattice(rng, n, d):
    return rng.integers(0, 9, (n, d)).astype(float)


def far_pair(rng, n, d):
    """Two tight clouds so far apart that no grid serves both."""
    return 1e7 * (np.arange(n) % 2)[:, None] + rng.normal(size=(n, d))


CLOUDS = [normal, uniform, student, lognormal, clusters, lattice, far_pair]


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("tol", [1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_within_the_tolerance(cloud, d, tol, log):
    rng = np.random.default_rng(d)
    X, Y = cloud(rng, N, d), cloud(rng, N, d)
    for bandwidth in (0.3, 3.0):
        assert worst(X, Y, bandwidth=bandwidth, tol=tol, log=log) <= 1


# Sums below the smallest normal number of float32: a fast one is 8e-45, a direct one is 0.
BELOW = {"seed": 0, "d": 2, "cloud": normal, "log": False, "tol": 1e-2, "bandwidth": 0.03}
BELOW |= {"offset": 0.0, "exponent": 0, "dtype": np.float32}


@settings(max_examples=60, deadline=None)
@example(how="plain", **BELOW)
@example(how="groups", **BELOW)
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 3),
    cloud=st.sampled_from(CLOUDS),
    log=st.booleans(),
    tol=st.sampled_from([1e-2, 1e-5, 1e-8, 1e-11]),
    bandwidth=st.sampled_from([0.03, 0.5, 10.0, 1e4]),
    how=st.sampled_from(["plain", "weights", "groups", "columns", "self", "without self"]),
    offset=st.sampled_from([0.0, 1e8]),
    exponent=st.sampled_from([-100, 0, 100]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_any_sum_is_within_the_tolerance(
    seed, d, cloud, log, tol, bandwidth, how, offset, exponent, dtype
):
    if dtype == np.float32:
        offset, exponent, tol = 0.0, 0, max(tol, 1e-2)
    rng = np.random.default_rng(seed)
    scale = 10.0**exponent
    X, Y = ((scale * (cloud(rng, 300, d) + offset)).astype(dtype) for _ in range(2))
    options = {"bandwidth": scale * bandwidth, "tol": tol, "log": log}
    if how == "weights":
        options["weights"] = rng.exponential(size=300).astype(dtype)
    elif how == "groups":
        options["groups"] = rng.choice([0, 1, 3], 300)
        options["weights"] = (rng.exponential(size=300) * 10.0 ** rng.integers(-9, 9)).astype(dtype)
    elif how == "columns":
        options["weights"] = rng.exponential(size=(300, 3)).astype(dtype)
    elif "self" in how:
        Y, options["exclude_self"] = None, how == "without self"
    assert worst(X, Y, **options) <= 1


@pytest.mark.parametrize("columns", [None, 2, 3])
@pytest.mark.parametrize("exclude_self", [False, True])
def test_signed_weights_are_relative_to_absolute_terms(columns, exclude_self):
    X = normal(RNG, N, 2)
    weights = RNG.normal(size=N if columns is None else (N, columns))
    options = {"bandwidth": 0.2, "exclude_self": exclude_self}
    sizes = kernel_sum(X, weights=np.abs(weights), **options)
    assert worst(X, weights=weights, tol=1e-8, scale=sizes, **options) <= 1


def test_signed_weights_that_cancel():
    """Each row twice, with opposite weights: the sum is zero, its error is not relative to it."""
    Y = np.repeat(normal(RNG, N, 2), 2, axis=0)
    out = kernel_sum(Y, weights=np.tile([1.0, -1.0], N), bandwidth=0.3, method="fast", tol=1e-9)
    sizes = kernel_sum(Y, bandwidth=0.3)
    assert (np.abs(out) <= 1e-9 * sizes).all()


@pytest.mark.parametrize("groups", [[0, 1, 2], [0, 0, 5], [3, 3, 3]])
@pytest.mark.parametrize("log", [False, True])
def test_groups_some_of_them_empty(groups, log):
    X, Y = normal(RNG, N, 2), normal(RNG, N, 2)
    codes = np.resize(groups, N)
    assert worst(X, Y, groups=codes, bandwidth=0.3, tol=1e-9, log=log) <= 1


def test_groups_of_very_different_weight():
    """The errors of a heavy group must not drown a light one that shares its transform."""
    X, Y = normal(RNG, N, 2), normal(RNG, N, 2)
    codes = (np.arange(N) < 7).astype(int)
    weights = np.where(codes == 1, 1e-30, 1e30)
    assert worst(X, Y, groups=codes, weights=weights, bandwidth=0.3, tol=1e-9) <= 1


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("d", [1, 2])
def test_ladder(d, log):
    """From grids that the data fill to windows far wider than the data."""
    X, Y = normal(RNG, N, d), normal(RNG, N, d)
    ladder = RNG.permutation(2.0 ** np.arange(-5.0, 9.0, 0.5))
    assert worst(X, Y, bandwidth=ladder, tol=1e-9, log=log) <= 1


def test_one_forward_transform_serves_a_ladder(monkeypatch):
    from mercer.sums.fast import _run as _fast

    calls = []
    forward = _fast.forward
    monkeypatch.setattr(_fast, "forward", lambda *a: calls.append(a) or forward(*a))
    X = normal(RNG, N, 2)
    with dear_pairs():
        kernel_sum(X, bandwidth=[0.8, 0.4, 0.2, 0.1], method="fast", tol=1e-6)
    assert len(calls) == 1


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("log", [False, True])
def test_few_points(n, log):
    X = normal(RNG, n, 3)
    for options in ({}, {"exclude_self": True}):
        assert worst(X, bandwidth=1.0, tol=1e-6, log=log, **options) <= 1
    assert worst(X, X[:1] + 50, bandwidth=1.0, tol=1e-6, log=log) <= 1


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("log", [False, True])
def test_all_points_equal(exclude_self, log):
    X = np.full((N, 2), 3.25)
    assert worst(X, bandwidth=1e-3, tol=1e-9, exclude_self=exclude_self, log=log) <= 1


def test_rows_far_from_everything_come_out_as_direct():
    X, Y = np.array([[60.0, 0], [30, 0], [0, 0], [-90, 70]]), normal(RNG, N, 2)
    fast = log_kernel_sum(X, Y, bandwidth=0.5, method="fast", tol=1e-3)
    np.testing.assert_allclose(
        fast[[0, 1, 3]], log_kernel_sum(X, Y, bandwidth=0.5)[[0, 1, 3]], 1e-14
    )
    assert fast[3] < -20_000


def test_sums_over_neighbours(monkeypatch):
    """Direct sums that leave out far columns, in leaves as small as the test."""
    from mercer.sums.fast import _near

    monkeypatch.setattr(_near, "_WORTH_A_TREE", 1)
    monkeypatch.setattr(_near, "_WORTH_PRUNING", 1)
    monkeypatch.setattr(_near, "ROW_LEAF", 16)
    monkeypatch.setattr(_near, "COLUMN_LEAF", 8)
    monkeypatch.setattr(_fast_plan, "_GRID", 1e9)
    for cloud in CLOUDS:
        X, Y = cloud(RNG, 400, 2), cloud(RNG, 400, 2)
        weights = RNG.exponential(size=400) * (RNG.random(400) < 0.9)
        for options in (
            {"Y": Y},
            {"Y": Y, "weights": weights, "groups": np.arange(400) % 3},
            {"Y": None, "exclude_self": True},
            {"Y": None, "weights": weights},
        ):
            for log in (False, True):
                for bandwidth in (1e-4, 0.3):
                    assert worst(X, bandwidth=bandwidth, tol=1e-12, log=log, **options) <= 1


def test_neighbours_are_few(monkeypatch):
    """What is left out is most of the columns, where bandwidths are small."""
    from mercer.sums.fast import _near

    added = []
    sums = _near.Output.sums

    def count(self, rows, rungs, columns=None, **options):
        added.append(rows.size * (self.n_columns if columns is None else columns.size))
        return sums(self, rows, rungs, columns, **options)

    monkeypatch.setattr(_near.Output, "sums", count)
    X = uniform(RNG, 30_000, 2)
    assert explain_kernel_sum(X, bandwidth=1e-4, tol=1e-6, method="fast").n_modes == 0
    kernel_sum(X, bandwidth=1e-4, tol=1e-6, method="fast")
    assert sum(added) < 0.05 * len(X) ** 2


def test_heavy_tails_are_cut_off():
    """The grid covers the bulk; rows outside are added up from their neighbours."""
    X = student(np.random.default_rng(3), 4000, 2)
    with dear_pairs():
        plan = explain_kernel_sum(X, bandwidth=0.1, tol=1e-6, method="fast")
    whole = np.prod(np.ptp(X, axis=0) / 0.1)
    assert 0 < plan.n_modes < whole / 10
    assert worst(X, bandwidth=0.1, tol=1e-6) <= 1


W = RNG.exponential(size=(N, 3))
TRANSFORMED = {
    "plain": {},
    "self": {"Y": None},
    "without self": {"Y": None, "exclude_self": True},
    "groups": {"groups": np.arange(N) % 3, "weights": W[:, 0]},
    "columns": {"weights": W},
    "signed": {"weights": W - 1},
    "ladder": {"bandwidth": [0.5, 0.7, 1.0]},
    "float32": {"dtype": np.float32},
    "log": {"log": True},
    "offset": {"offset": 1e8},
}


@pytest.mark.parametrize("cloud", [normal, student])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("case", list(TRANSFORMED))
def test_little_is_left_to_direct_sums(case, d, cloud, monkeypatch):
    """Results would be right if the transform were wrong, as its error is measured: not so here."""
    from mercer.sums.fast import _near

    options = {"bandwidth": 0.5, "tol": 1e-3, **TRANSFORMED[case]}
    dtype, offset = options.pop("dtype", np.float64), options.pop("offset", 0.0)
    rng = np.random.default_rng(d)
    X, Y = ((cloud(rng, N, d) + offset).astype(dtype) for _ in range(2))
    Y = options.pop("Y", Y)
    function = log_kernel_sum if options.pop("log", False) else kernel_sum
    mended = []
    near_sums = _near.Output.near_sums

    def count(self, rows, *arguments, **keywords):
        mended.append(rows.size)
        return near_sums(self, rows, *arguments, **keywords)

    with dear_pairs():
        plan = explain_kernel_sum(X, Y, method="fast", **options)
        monkeypatch.setattr(_near.Output, "near_sums", count)
        function(X, Y, method="fast", **options)
    assert plan.n_modes > 0
    # The smallest 64 always; of Student's rows those outside the box.
    assert max(mended) <= 64 + (0 if cloud is normal else 0.5 * N)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_transforms_have_full_precision(d, monkeypatch):
    """What is left out of the series is less than what finufft rounds."""
    from mercer.sums.fast import _run as _fast

    errors = []
    largest = _fast._largest
    monkeypatch.setattr(_fast, "_largest", lambda e: errors.append(largest(e)) or errors[-1])
    X, Y = normal(RNG, N, d), normal(RNG, N, d)
    with dear_pairs():
        out = kernel_sum(X, Y, bandwidth=0.5, tol=1e-11, method="fast")
    assert 0 < errors[0] < 3e-14 * out.max()


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("tol", [1e-4, 1e-8, 1e-11])
def test_sums_of_every_size(d, tol):
    """Rows on a line into the far tail: some a little above the floor, some a little below."""
    X, Y = np.zeros((3000, d)), normal(RNG, N, d)
    X[:, 0] = np.linspace(0, 9, 3000)
    for log in (False, True):
        assert worst(X, Y, bandwidth=0.4, tol=tol, log=log) <= 1


def test_a_sample_that_was_too_kind_is_found_out(monkeypatch):
    """An error that the sample did not see shows in the rows that are added up directly."""
    from mercer.sums.fast import _run as _fast

    X, Y = normal(RNG, 4000, 2), normal(RNG, 4000, 2)
    exact = kernel_sum(X, Y, bandwidth=0.1)
    sampled = np.sort(np.random.default_rng(0).choice(4000, 256, replace=False))
    backward = _fast.backward

    def spoiled(problem, *arguments):
        for rows, values in backward(problem, *arguments):
            noise = np.full(4000, 1e-6 * exact.max())
            noise[sampled] = 0
            yield rows, values + noise[rows] * values.real.max() / exact.max()

    monkeypatch.setattr(_fast, "backward", spoiled)
    with dear_pairs():
        fast = kernel_sum(X, Y, bandwidth=0.1, method="fast", tol=1e-3)
    assert np.abs(fast / exact - 1).max() < 1e-3


def test_auto_without_tol_never_approximates(monkeypatch):
    from mercer.sums.fast import _run as _fast

    monkeypatch.setattr(_fast, "run", None)
    X = normal(RNG, 5000, 2)
    np.testing.assert_array_equal(
        kernel_sum(X, bandwidth=0.1), kernel_sum(X, bandwidth=0.1, method="direct")
    )


def test_auto_takes_the_quicker_and_says_so(caplog):
    X = normal(RNG, 30_000, 2)
    with caplog.at_level(logging.INFO, "mercer.sums"):
        fast = kernel_sum(X, bandwidth=0.1, tol=1e-6)
    (record,) = caplog.records
    assert "30000 × 30000 pairs: fast, about" in record.message
    plan = explain_kernel_sum(X, bandwidth=0.1, tol=1e-6)
    assert plan.method == "fast"
    assert str(plan) in record.message
    assert plan.seconds < plan.direct_seconds
    assert 0 < plan.n_modes < 10**6
    np.testing.assert_allclose(fast[:500], kernel_sum(X[:500], X, bandwidth=0.1), rtol=1e-6)


def test_auto_adds_up_small_sums():
    X = normal(RNG, 500, 2)
    plan = explain_kernel_sum(X, bandwidth=0.1, tol=1e-6)
    assert (plan.method, plan.reason) == ("direct", "the sum is small")
    np.testing.assert_array_equal(
        kernel_sum(X, bandwidth=0.1, tol=1e-6), kernel_sum(X, bandwidth=0.1)
    )


def test_auto_adds_up_what_fast_does_not_take():
    X = normal(RNG, 3000, 5)
    out = kernel_sum(X, bandwidth=1.0, tol=1e-6)
    np.testing.assert_array_equal(out, kernel_sum(X, bandwidth=1.0))
    assert explain_kernel_sum(X, bandwidth=1.0, tol=1e-6).method == "direct"
    other = {"kernel": "exponential", "bandwidth": 1.0}
    out = kernel_sum(X[:, :2], tol=1e-6, **other)
    np.testing.assert_array_equal(out, kernel_sum(X[:, :2], **other))


def test_auto_adds_up_where_nothing_else_is_quicker():
    """Three features, narrow windows, few digits to lose: no grid, and everyone a neighbour."""
    X = uniform(RNG, 12_000, 3)
    plan = explain_kernel_sum(X, bandwidth=[0.02, 100.0], tol=1e-12)
    assert "1 of 2 bandwidths directly" in plan.reason or plan.method == "direct"
    out = kernel_sum(X[:50], X, bandwidth=[0.02, 100.0])
    fast = kernel_sum(X, bandwidth=[0.02, 100.0], tol=1e-12)[:, :50]
    np.testing.assert_allclose(fast, out, rtol=1e-12)


@pytest.mark.parametrize(
    ("d", "options", "sentence"),
    [
        (2, {"tol": None}, "method='fast' needs tol, the relative error that is allowed"),
        (2, {"tol": 1e-14}, "method='fast' is for tol of 1e-13 and more, got 1e-14"),
        (
            2,
            {"kernel": "exponential"},
            "method='fast' is for the Gaussian kernel, not for 'exponential'",
        ),
        (4, {}, "method='fast' is for at most 3 features, got 4"),
    ],
)
def test_refusals(d, options, sentence):
    options = {"bandwidth": 1.0, "method": "fast", "tol": 1e-3, **options}
    for function in (kernel_sum, log_kernel_sum, explain_kernel_sum):
        with pytest.raises(ValueError, match=sentence) as caught:
            function(np.ones((5, d)), **options)
        assert str(caught.value).endswith("; use method='direct'.")


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    from mercer.sums.fast import _run as _fast

    monkeypatch.setattr(_fast, "find_spec", lambda name: None)
    X = normal(RNG, 9, 2)
    with pytest.raises(ValueError, match=r'finufft: pip install "\.\[fast\]"'):
        kernel_sum(X, bandwidth=1.0, method="fast", tol=1e-3)
    np.testing.assert_array_equal(
        kernel_sum(X, bandwidth=1.0, tol=1e-3), kernel_sum(X, bandwidth=1.0)
    )


def test_range_that_can_not_be_taken():
    X = np.array([[-1.5e308], [1.5e308], [0.0]])
    with pytest.raises(ValueError, match="too large to take their range"):
        kernel_sum(X, bandwidth=1e300, method="fast", tol=1e-3)


def test_explanation_of_what_was_not_asked():
    plan = explain_kernel_sum(normal(RNG, 9, 2), bandwidth=1.0)
    assert str(plan).startswith("direct, about")
    assert plan.reason == "every term was asked for"
    assert explain_kernel_sum(np.empty((0, 2)), bandwidth=1.0).seconds == 0


def test_explanation_of_tensors(torch):
    plan = explain_kernel_sum(torch.zeros(3, 2), bandwidth=1.0, tol=1e-3)
    assert plan.method == "direct"
    assert np.isnan(plan.seconds)


def test_one_thread_gives_the_same_bits_again():
    from threadpoolctl import threadpool_limits

    X = normal(RNG, 5000, 2)
    options = {"bandwidth": 0.1, "method": "fast", "tol": 1e-6}
    with threadpool_limits(1), dear_pairs():
        first, second = kernel_sum(X, **options), kernel_sum(X, **options)
    np.testing.assert_array_equal(first, second)
    with dear_pairs():
        np.testing.assert_allclose(kernel_sum(X, **options), first, rtol=1e-6)


def test_memory_budget_decides_the_grid():
    X = normal(RNG, 2000, 2)
    options = {"bandwidth": 0.01, "tol": 1e-6, "method": "fast"}
    with dear_pairs(1024):
        free = explain_kernel_sum(X, **options)
    with dear_pairs(4):
        tight = explain_kernel_sum(X, **options)
    assert free.n_modes > 10**6
    assert tight.n_modes * 16 * 7 <= 4 * 2**20
    assert worst(X, bandwidth=0.01, tol=1e-6, memory=4) <= 1


@pytest.mark.parametrize("d", [1, 2])
def test_slabs_of_rows_add_up(monkeypatch, d):
    from mercer.sums.fast import _lattice as _fast_lattice
    from mercer.sums.fast import _transform as _fast_transform

    X, Y = normal(RNG, N, d), normal(RNG, N, d)
    for module in (_fast_transform, _fast_lattice):
        monkeypatch.setattr(module, "rows_at_once", lambda *a: 101)
    for options in ({}, {"groups": np.arange(N) % 3}, {"weights": RNG.random((N, 3))}):
        assert worst(X, Y, bandwidth=0.3, tol=1e-9, **options) <= 1

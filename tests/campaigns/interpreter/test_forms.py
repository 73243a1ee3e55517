"""Every form of the fused sums, with every option."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import config_context

from mercer.sums import kernel_sum, log_kernel_sum
from mercer.sums.cuda import _layout as _triton_layout
from mercer.sums.cuda import _run as _triton
from mercer.sums.cuda._layout import (
    APART,
    BESIDE,
    DIFFERENCES,
    RESIDENT,
    STREAMED,
    TOGETHER,
    count_pieces,
)
from oracles import sums as oracle
from sums.interpreted import (
    EPS,
    FORMS,
    LADDER,
    RUNTIME_WARNINGS,
    TARGET,
    call,
    check,
    check_form,
    check_logs,
    check_sums,
    points,
)

pytestmark = RUNTIME_WARNINGS

# ------------------------------------------------------------------------------------ forms

FULL = {
    "together, full": (TOGETHER, 4, 0.5),
    "beside, full": (BESIDE, 11, 0.5),
    "apart, full": (APART, 16, 0.5),
    "resident, full": (RESIDENT, 64, 0.5),
    "streamed, full": (STREAMED, 128, 0.5),
}
each_form = pytest.mark.parametrize(("form", "d", "part"), FORMS.values(), ids=FORMS)


@pytest.mark.parametrize(("form", "d", "part"), FULL.values(), ids=FULL)
def test_sums_and_logs_of_full_tiles(fused, form, d, part):
    check_form(fused, form, d, part)


@each_form
def test_all_options_at_once(fused, form, d, part):
    """Groups in mixed order, weights, a ladder, and rows that do not meet themselves."""
    X, _, size = points(d, n=150)
    rng = np.random.default_rng(d)
    options = {"weights": rng.random(150).astype(np.float32), "groups": rng.integers(0, 3, 150)}
    widths = part * size * np.array(LADDER[:3])
    check(X, bandwidth=widths, exclude_self=True, **options)
    assert set(fused) == {form}


@pytest.mark.parametrize("d", [3, 7, 20, 70])
@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "cauchy", "epanechnikov"])
def test_other_kernels(fused, kernel, d):
    X, Y, size = points(d, n=30, m=150)
    options = {"kernel": kernel, "bandwidth": 4 * size}
    expected = oracle.kernel_sum(X, Y, **options).astype(float)
    out, logs = (call(function, X, Y, **options) for function in (kernel_sum, log_kernel_sum))
    np.testing.assert_allclose(out, expected, rtol=TARGET)
    np.testing.assert_allclose(logs, np.log(expected), rtol=TARGET, atol=TARGET)
    assert (set(fused) == {DIFFERENCES}) == (kernel in ("exponential", "laplacian"))


@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "cauchy", "epanechnikov"])
def test_other_kernels_of_rows_among_themselves(fused, kernel):
    X, _, size = points(7, n=140)
    groups = np.arange(140) % 2
    for exclude_self in (False, True):
        options = {"kernel": kernel, "groups": groups, "exclude_self": exclude_self}
        widths = [4 * size, 2 * size, 1.7 * size]
        out = call(kernel_sum, X, bandwidth=widths, **options)
        for rung, width in enumerate(widths):
            expected = oracle.kernel_sum(X, bandwidth=width, **options).astype(float)
            # Relative to one term: at the edge of Epanechnikov's support it is a difference.
            np.testing.assert_allclose(out[rung], expected, rtol=TARGET, atol=1e-5)


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_fast_precision_stays_near(fused, d):
    X, Y, size = points(d, n=40, m=150)
    out = call(kernel_sum, X, Y, bandwidth=0.5 * size, precision="fast")
    expected = oracle.kernel_sum(X, Y, bandwidth=0.5 * size)
    assert np.abs(out / expected - 1).max() < 1e-2
    logs = call(log_kernel_sum, X, bandwidth=0.5 * size, precision="fast", exclude_self=True)
    expected = oracle.log_kernel_sum(X, bandwidth=0.5 * size, exclude_self=True)
    assert np.abs(logs - expected).max() < 2e-2


# ----------------------------------------------------------------------- weights and groups


@each_form
def test_groups_of_no_row_and_of_one(fused, form, d, part):
    X, Y, size = points(d, n=9, m=140)
    groups = np.full(140, 4)
    groups[70] = 1
    groups[[3, 139]] = 5  # 0, 2 and 3 have no row
    check(X, Y, bandwidth=part * size, groups=groups)
    assert set(fused) == {form}


@pytest.mark.parametrize("decades", [15, 37])
@pytest.mark.parametrize("grouped", [False, True])
def test_weights_in_several_bands(fused, decades, grouped):
    """More than 2**60 apart, which float32 can not multiply with kernel values."""
    X, Y, size = points(7, n=20, m=200)
    rng = np.random.default_rng(decades)
    w = (10 ** rng.uniform(-decades, decades, 200)).astype(np.float32)
    w[5] = 0
    groups = rng.integers(0, 3, 200) if grouped else None
    check(X, Y, bandwidth=size, weights=w, groups=groups)
    X = Y[:140]
    options = {"weights": w[:140], "groups": None if groups is None else groups[:140]}
    check(X, bandwidth=size, exclude_self=True, **options)


@pytest.mark.parametrize("power", [-100, 0, 3, 100])
def test_weights_that_are_one_power_of_two(fused, power):
    X, Y, size = points(7, n=20, m=150)
    w = np.full(150, 2.0**power, np.float32)
    one = call(kernel_sum, X, Y, bandwidth=size)
    np.testing.assert_array_equal(
        call(kernel_sum, X, Y, weights=w, bandwidth=size), one * np.float32(2.0**power)
    )
    logs = call(log_kernel_sum, X, Y, weights=w, bandwidth=size, groups=np.arange(150) % 2)
    check_logs(logs, X, Y, weights=w, bandwidth=size, groups=np.arange(150) % 2)


# ------------------------------------------------------------------------------- bandwidths


@each_form
@pytest.mark.parametrize("ratios", [LADDER, (1.0, 0.9, 0.5, 0.9)], ids=["halving", "any"])
def test_ladders(fused, form, d, part, ratios):
    if form == DIFFERENCES:
        part = 0.07  # the narrowest rung decides for all
    X, Y, size = points(d, n=20, m=150)
    wide = 2.8 if d == 1 else 1.0  # one feature's narrowest rung would go by differences
    check(X, Y, bandwidth=wide * part * size * np.array(ratios))
    assert set(fused) == {form}


# ----------------------------------------------------------------------------- rows themselves


@each_form
@pytest.mark.parametrize("exclude_self", [False, True])
def test_rows_among_themselves(fused, form, d, part, exclude_self):
    X, _, size = points(d, n=150)
    check(X, bandwidth=part * size, exclude_self=exclude_self)
    w = np.random.default_rng(d).random(150).astype(np.float32)
    w[::5] = 0  # for logs, these rows have no column of their own
    groups = np.arange(150) % 2
    check(X, bandwidth=part * size, weights=w, groups=groups, exclude_self=exclude_self)
    assert set(fused) == {form}


# ------------------------------------------------------------------------- slabs and pieces


@each_form
@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
def test_slabs_give_what_one_does(fused, form, d, part, log):
    """Of one block of rows and one tile of columns each."""
    function = log_kernel_sum if log else kernel_sum
    X, _, size = points(d, n=150)
    rng = np.random.default_rng(d)
    options = {
        "weights": rng.random(150).astype(np.float32),
        "groups": rng.integers(0, 2, 150),
        "bandwidth": part * size * np.array([1.0, 0.5**0.5]),
        "exclude_self": True,
    }
    whole = call(function, X, **options)
    with config_context(working_memory=1e-3):
        slabs = call(function, X, **options)
    np.testing.assert_allclose(slabs, whole, rtol=4 * EPS, atol=4 * EPS)
    assert set(fused) == {form}


@each_form
@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
def test_pieces_give_what_one_does(fused, monkeypatch, form, d, part, log):
    function = log_kernel_sum if log else kernel_sum
    X, Y, size = points(d, n=70, m=400)
    groups = np.r_[np.zeros(300, int), np.ones(99, int), 3]
    options = {"groups": groups, "bandwidth": part * size * np.array([1.0, 0.5**0.5])}
    whole = call(function, X, Y, **options)
    monkeypatch.setattr(_triton_layout, "_FEWEST_TILES", 1)
    counts = []

    def counted(*args):
        counts.append(count_pieces(*args))
        return counts[-1]

    monkeypatch.setattr(_triton, "count_pieces", counted)
    pieces = call(function, X, Y, **options)
    np.testing.assert_allclose(pieces, whole, rtol=4 * EPS, atol=4 * EPS)
    assert max(counts) > 1


# ------------------------------------------------------------------------------ Hypothesis


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(1, 90),
    m=st.integers(1, 150),
    d=st.integers(1, 80),
    n_groups=st.integers(0, 4),
    weighted=st.booleans(),
    alone=st.booleans(),
    widths=st.lists(st.sampled_from([0.3, 0.5, 0.5 * 2**0.5, 1.0, 3.0]), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_any_shape(fused, n, m, d, n_groups, weighted, alone, widths, seed):
    rng = np.random.default_rng(seed)
    X, Y = (rng.normal(size=(rows, d)).astype(np.float32) for rows in (n, m))
    options = {"bandwidth": np.sqrt(d) * np.array(widths)}
    Y = None if alone else Y
    m = n if alone else m
    if alone:
        options["exclude_self"] = bool(rng.integers(2))
    if n_groups:
        options["groups"] = rng.integers(0, n_groups, m)
    if weighted:
        options["weights"] = np.where(rng.random(m) < 0.1, 0, rng.random(m)).astype(np.float32)
    # A row may be far from all of a small group, whose sum then has that distance as its r.
    out = call(kernel_sum, X, Y, **options).reshape(len(widths), n, -1)
    logs = call(log_kernel_sum, X, Y, **options).reshape(len(widths), n, -1)
    for rung, width in enumerate(options.pop("bandwidth")):
        Z = X if Y is None else np.concatenate([X, Y])
        largest = (np.ptp(Z, axis=0).astype(float) ** 2).sum()
        bound = 8 * EPS * (1 + largest / (2 * width**2))
        check_sums(out[rung], X, Y, bandwidth=width, within=bound, **options)
        check_logs(logs[rung], X, Y, bandwidth=width, **options)

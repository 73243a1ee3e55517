"""The fused sums in Triton's interpreter: the logic of the kernels where there is no GPU.

Interpreted programs run on tensors of the CPU, block by block, with NumPy.  Rounding and scheduling
of a real device are in test_gpu.
"""

import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import config_context

from mercer.kernels import KERNELS, Kernel
from mercer.sums import (
    Removal,
    _problem,
    kernel_sum,
    left_out_log_sums,
    log_kernel_sum,
)
from mercer.sums._in_memory import arrange
from mercer.sums._problem import Box, Problem
from mercer.sums.cuda import _layout as _triton_layout
from mercer.sums.cuda import _left_out as _triton_left_out
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
from mercer.sums.torch import _tiles as _torch
from mercer.sums.torch._arrange import arrange_tensors
from mercer.sums.torch._left_out import tiled_left_out_sums
from oracles import sums as oracle

EPS = 2.0**-23
TARGET = 3e-6  # relative error of sums at bandwidths of the order of distances
LOG_PROMISE = 1e-5  # times max(1, |log|)
LADDER = tuple(2.0 ** (-i / 2) for i in range(6))
# NumPy, which the interpreter computes with, evaluates both branches of `where`, and ∞ − ∞ of rows
# that only fill up.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{what}:RuntimeWarning")
    for what in ("divide", "invalid", "All-NaN")
]


def _is_triton_code(name):
    if name.startswith("mercer.sums.cuda.") and name.endswith("kernels"):
        return True
    return name.split(".")[0] == "triton" and not name.startswith("triton._C")


@contextmanager
def _interpreted():
    """Import Triton, and the code of the kernels, once more if need be, to be interpreted.

    Triton asks for the variable when it is imported.  Collecting doctests may have done that.
    """
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_triton_code(name)}
    layout = _triton_layout
    caches = layout.kernels, layout.left_out_kernels, layout.pack_kernels
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        for name in before:
            if name.startswith("mercer."):  # the package knows it too
                patch.delattr(sys.modules["mercer.sums.cuda"], name.split(".")[-1])
        for cached in caches:
            cached.cache_clear()
            for code in vars(cached()).values():
                if callable(getattr(code, "run", None)):
                    assert type(code).__name__ == "InterpretedFunction", "Triton would compile"
        import_module("triton.experimental.gluon")  # asked for late, by Triton itself
        yield
    for cached in caches:
        cached.cache_clear()
    sys.modules.update(before)


@pytest.fixture(scope="module")
def interpreter():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    if torch.cuda.is_available():
        pytest.skip("the compiled kernels are tested instead: pytest -m gpu")
    with _interpreted():
        yield torch


@pytest.fixture
def fused(interpreter, monkeypatch):
    """Public functions take the fused sums, and no others; the forms that they took are listed."""
    forms = []
    choose = _triton_layout.Packer.of.__func__

    def of(cls, *args, **options):
        packer = choose(cls, *args, **options)
        forms.append(packer.form)
        return packer

    monkeypatch.setattr(_triton_layout.Packer, "of", classmethod(of))
    monkeypatch.setattr(_triton, "OWNS", ("torch",))
    monkeypatch.setattr(_triton, "_WORTH_COMPILING", 1)
    monkeypatch.setattr(_triton, "_MOST_FILL", np.inf)
    monkeypatch.setattr(_triton, "device_refuses", lambda device: None)
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "mercer.sums.cuda._run"))
    for module in (_triton, _triton_left_out):  # so that small sums have several chunks
        short = {form: replace(tile, chunk=2) for form, tile in module.TILES.items()}
        monkeypatch.setattr(module, "TILES", short)
    return forms


def tensor(A):
    import torch

    return None if A is None else torch.as_tensor(A)


def call(function, X, Y=None, *, weights=None, **options):
    return function(tensor(X), tensor(Y), weights=tensor(weights), **options).numpy()


def points(d, n=70, m=300, seed=0):
    """Normal points, and √d, of the order of their distances."""
    rng = np.random.default_rng([seed, d])
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    return X.astype(np.float32), Y.astype(np.float32), np.sqrt(d)


def promise(X, Y, bandwidth, groups=None, weights=None, exclude_self=False):
    """8·eps·(1 + r²/2b²), for each row of X and each group that it is summed over."""
    Z = X if Y is None else np.concatenate([X, Y])
    if X.shape[1] <= 4:
        d2 = oracle.squared_distances(X, X if Y is None else Y)
        if exclude_self:
            np.fill_diagonal(d2, np.inf)
        if weights is not None:
            d2[:, np.asarray(weights) == 0] = np.inf
        groups = np.zeros(d2.shape[1], int) if groups is None else np.asarray(groups)
        members = [groups == g for g in range(groups.max() + 1)]
        r2 = np.stack([d2[:, its].min(axis=1, initial=np.inf) for its in members], axis=1)
        r2[np.isinf(r2)] = 0
    else:
        r2 = ((Z - Z.astype(np.longdouble).mean(axis=0)) ** 2).sum(axis=1).max()
    return 8 * EPS * (1 + r2 / (2 * np.longdouble(bandwidth) ** 2))


def check(X, Y=None, *, bandwidth, within=None, **options):
    """Hold sums and logs of one bandwidth, or of each of several, to the oracle's."""
    widths = np.atleast_1d(bandwidth)
    out, logs = (
        call(function, X, Y, bandwidth=bandwidth, **options).reshape(len(widths), len(X), -1)
        for function in (kernel_sum, log_kernel_sum)
    )
    for width, row, log_row in zip(widths, out, logs, strict=True):
        check_sums(row, X, Y, bandwidth=width, within=within, **options)
        check_logs(log_row, X, Y, bandwidth=width, **options)


def check_sums(out, X, Y=None, *, bandwidth, within=None, **options):
    expected = oracle.kernel_sum(X, Y, bandwidth=bandwidth, **options).reshape(len(X), -1)
    size = expected
    if np.any(np.asarray(options.get("weights", 1)) < 0):  # relative to what cancels
        size_of = {**options, "weights": np.abs(options["weights"])}
        size = oracle.kernel_sum(X, Y, bandwidth=bandwidth, **size_of).reshape(len(X), -1)
    if within is None:
        given = ("groups", "weights", "exclude_self")
        within = promise(X, Y, bandwidth, **{k: v for k, v in options.items() if k in given})
    error = np.abs(out.reshape(len(X), -1) - expected)
    lost = np.finfo(np.float32).tiny * len(X if Y is None else Y)  # terms that underflow
    assert np.all(error <= within * size + lost)


def check_logs(out, X, Y=None, *, bandwidth, within=LOG_PROMISE, **options):
    expected = oracle.log_kernel_sum(X, Y, bandwidth=bandwidth, **options).reshape(len(X), -1)
    out = out.reshape(len(X), -1)
    empty = np.isneginf(expected)
    np.testing.assert_array_equal(np.isneginf(out), empty)
    error = np.abs(out - expected, where=~empty, out=np.zeros(out.shape, expected.dtype))
    size = np.maximum(1, np.abs(expected, where=~empty, out=np.ones_like(expected)))
    assert np.all(error <= within * size)


# ------------------------------------------------------------------------------------ forms

FORMS = {
    # form, features, bandwidth as a part of √d
    "differences": (DIFFERENCES, 3, 0.1),
    "together, one feature": (TOGETHER, 1, 1.0),
    "beside": (BESIDE, 7, 0.5),
    "apart": (APART, 13, 0.5),
    "resident": (RESIDENT, 20, 0.5),
    "streamed": (STREAMED, 70, 0.5),
}
FULL = {
    "together, full": (TOGETHER, 4, 0.5),
    "beside, full": (BESIDE, 11, 0.5),
    "apart, full": (APART, 16, 0.5),
    "resident, full": (RESIDENT, 64, 0.5),
    "streamed, full": (STREAMED, 128, 0.5),
}
each_form = pytest.mark.parametrize(("form", "d", "part"), FORMS.values(), ids=FORMS)


@pytest.mark.parametrize(("form", "d", "part"), (FORMS | FULL).values(), ids=[*FORMS, *FULL])
def test_sums_and_logs(fused, form, d, part):
    X, Y, size = points(d)
    out = call(kernel_sum, X, Y, bandwidth=part * size)
    check_sums(out, X, Y, bandwidth=part * size)
    if part == 0.5:
        check_sums(out, X, Y, bandwidth=part * size, within=TARGET)
    check_logs(call(log_kernel_sum, X, Y, bandwidth=part * size), X, Y, bandwidth=part * size)
    assert fused == [form, form]


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
@pytest.mark.parametrize("kernel", ["laplace", "cauchy", "epanechnikov"])
def test_other_kernels(fused, kernel, d):
    X, Y, size = points(d, n=30, m=150)
    options = {"kernel": kernel, "bandwidth": 4 * size}
    expected = oracle.kernel_sum(X, Y, **options).astype(float)
    out, logs = (call(function, X, Y, **options) for function in (kernel_sum, log_kernel_sum))
    np.testing.assert_allclose(out, expected, rtol=TARGET)
    np.testing.assert_allclose(logs, np.log(expected), rtol=TARGET, atol=TARGET)
    assert (set(fused) == {DIFFERENCES}) == (kernel == "laplace")


@pytest.mark.parametrize("kernel", ["laplace", "cauchy", "epanechnikov"])
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


def test_rows_that_no_bump_reaches(fused):
    X, Y = np.zeros((2, 6), np.float32), np.full((9, 6), 3, np.float32)
    Y[0] = 0
    for groups, expected in ((None, [1, 1]), (np.arange(9) % 2, [[1, 0], [1, 0]])):
        options = {"kernel": "epanechnikov", "bandwidth": 1.0, "groups": groups}
        np.testing.assert_allclose(call(kernel_sum, X, Y, **options), expected, rtol=TARGET)
        logs = call(log_kernel_sum, X, Y, **options)
        nothing = np.where(np.array(expected) > 0, 0, -np.inf)
        np.testing.assert_allclose(logs, nothing, atol=TARGET)


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


def test_weights_that_are_zero_or_negative(fused):
    X, Y, size = points(7, n=40, m=200)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 200)
    w = rng.random(200).astype(np.float32)
    w[::3] = 0
    w[groups == 1] = 0
    check(X, Y, bandwidth=size, weights=w, groups=groups)
    check(X, Y, bandwidth=size, weights=w)
    w = rng.normal(size=200).astype(np.float32)
    check_sums(call(kernel_sum, X, Y, weights=w, bandwidth=size), X, Y, weights=w, bandwidth=size)


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


def test_columns_of_weights_are_left_to_torch(fused):
    X, Y, _ = points(3, n=4, m=5)
    with pytest.raises(ValueError, match="columns of weights are summed by torch"):
        call(kernel_sum, X, Y, weights=np.ones((5, 2), np.float32), bandwidth=1.0)


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


def test_laplace_kernels_climb_by_two(fused):
    X, Y, size = points(5, n=20, m=150)
    widths = size * 0.5 ** np.arange(5)
    out = call(log_kernel_sum, X, Y, kernel="laplace", bandwidth=widths)
    for rung, width in enumerate(widths):
        check_logs(out[rung], X, Y, kernel="laplace", bandwidth=width)


# ----------------------------------------------------------------------------- rows themselves


@each_form
@pytest.mark.parametrize("exclude_self", [False, True])
def test_rows_among_themselves(fused, form, d, part, exclude_self):
    X, _, size = points(d, n=150)
    check(X, bandwidth=part * size, exclude_self=exclude_self)
    w = np.random.default_rng(d).random(150).astype(np.float32)
    w[::5] = 0  # for logs, these rows have no column of their own
    groups = np.arange(150) % 4
    check(X, bandwidth=part * size, weights=w, groups=groups, exclude_self=exclude_self)
    assert set(fused) == {form}


def test_a_row_meets_itself_at_distance_zero(fused):
    X, _, _ = points(20, n=80)
    width = 0.02 * np.sqrt(20)
    np.testing.assert_array_equal(call(kernel_sum, X, bandwidth=width), 1)
    np.testing.assert_array_equal(call(log_kernel_sum, X, bandwidth=width), 0)
    assert not call(kernel_sum, X, bandwidth=width, exclude_self=True).any()


def test_twins_are_no_strangers(fused):
    """Excluding a row by number leaves its copies in."""
    X = np.repeat(points(7, n=50)[0], 2, axis=0)
    check(X, bandwidth=1.0, exclude_self=True)
    np.testing.assert_array_equal(call(kernel_sum, X, bandwidth=1e-2, exclude_self=True), 1)


# ----------------------------------------------------------------------- scales and extremes


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_points_far_away(fused, d):
    """Plain sums vanish; logs stay right."""
    X, Y, size = points(d, n=20, m=150)
    X = X + np.float32(500 * size)
    assert not call(kernel_sum, X, Y, bandwidth=size).any()
    widths = size * np.array([1.0, 0.5**0.5, 0.5])
    logs = call(log_kernel_sum, X, Y, bandwidth=widths)
    for rung, width in enumerate(widths):
        check_logs(logs[rung], X, Y, bandwidth=width)
    assert logs.max() < -10_000


@pytest.mark.parametrize("d", [3, 6, 70])
def test_narrow_bandwidths(fused, d):
    """Differences of any number of features."""
    X, Y, size = points(d, n=20, m=100)
    for part in (1e-2, 1e-5):
        logs = call(log_kernel_sum, X, Y, bandwidth=part * size)
        check_logs(logs, X, Y, bandwidth=part * size)
    assert set(fused) == {DIFFERENCES}


def test_spread_out_data_do_not_lose_digits(fused):
    rng = np.random.default_rng(1)
    centres = 1000 * rng.normal(size=(20, 16))
    X = (centres + 0.1 * rng.normal(size=(20, 16))).astype(np.float32)
    Y = (np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(100, 16))).astype(np.float32)
    out = call(kernel_sum, X, Y, bandwidth=1.0)
    check_sums(out, X, Y, bandwidth=1.0, within=16 * EPS)


@pytest.mark.parametrize("spread", [5, 20])
@pytest.mark.parametrize("d", [7, 16, 64, 70])
def test_tight_clusters(fused, d, spread):
    """Near neighbours in wide data: what products leave out must not count."""
    rng = np.random.default_rng(1)
    centres = spread * rng.normal(size=(20, d))
    X = (centres + 0.1 * rng.normal(size=(20, d))).astype(np.float32)
    Y = (np.repeat(centres, 5, axis=0) + 0.1 * rng.normal(size=(100, d))).astype(np.float32)
    bound = min(3e-4, float(promise(X, Y, 1.0)))
    check_sums(call(kernel_sum, X, Y, bandwidth=1.0), X, Y, bandwidth=1.0, within=bound)
    check_logs(call(log_kernel_sum, X, Y, bandwidth=1.0), X, Y, bandwidth=1.0)


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_points_that_are_all_equal(fused, d):
    X, Y = np.full((5, d), 0.1, np.float32), np.full((130, d), 0.1, np.float32)
    np.testing.assert_array_equal(call(kernel_sum, X, Y, bandwidth=0.3), 130)
    np.testing.assert_array_equal(call(kernel_sum, Y, bandwidth=0.3, exclude_self=True), 129)
    np.testing.assert_allclose(call(log_kernel_sum, Y, bandwidth=0.3), np.log(130), rtol=1e-7)


@pytest.mark.parametrize("d", [1, 7, 20, 70])
def test_one_point(fused, d):
    X = np.random.default_rng(0).normal(size=(1, d)).astype(np.float32)
    assert call(kernel_sum, X, bandwidth=1.0) == [1]
    assert call(log_kernel_sum, X, bandwidth=1.0, exclude_self=True) == [-np.inf]
    Y = X + np.float32(0.5)
    check(X, Y, bandwidth=np.sqrt(d))


@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_a_common_offset_changes_nothing(fused, d):
    """1e6 leaves float32 a sixteenth: points on that grid lose nothing by being moved."""
    X, Y, size = points(d, n=20, m=150)
    X, Y = (np.round(16 * A) / 16 for A in (X, Y))
    here = call(log_kernel_sum, X, Y, bandwidth=size)
    there = call(log_kernel_sum, X + np.float32(1e6), Y + np.float32(1e6), bandwidth=size)
    check_logs(there, X, Y, bandwidth=size)
    np.testing.assert_allclose(there, here, rtol=2e-6, atol=2e-6)
    out = call(kernel_sum, X + np.float32(1e6), Y + np.float32(1e6), bandwidth=size)
    check_sums(out, X, Y, bandwidth=size)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
@pytest.mark.parametrize("d", [3, 7, 20, 70])
def test_scales(fused, d, scale):
    X, Y, size = points(d, n=20, m=150)
    X, Y = X * np.float32(scale), Y * np.float32(scale)
    check(X, Y, bandwidth=0.5 * size * scale)
    assert DIFFERENCES not in fused


def test_views(fused, torch):
    X, Y, size = points(20, n=70, m=200)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    turned = torch.as_tensor(np.ascontiguousarray(Y.T)).T
    wide = torch.as_tensor(np.repeat(Y, 2, axis=1))[:, ::2]
    tall = torch.as_tensor(np.repeat(Y, 2, axis=0))[::2]
    for view in (turned, wide, tall):
        np.testing.assert_array_equal(kernel_sum(tensor(X), view, bandwidth=size), expected)
    groups = np.arange(200) % 3
    alone = call(log_kernel_sum, Y, bandwidth=size, groups=groups)
    np.testing.assert_array_equal(log_kernel_sum(turned, bandwidth=size, groups=groups), alone)


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


def test_the_device_is_given_enough_programs():
    tiles = np.array([0, 1600, 1600, 1700])
    assert count_pieces(tiles, 10**6, 1) == 1
    assert count_pieces(tiles, 1, 1) == 100  # of 16 tiles
    assert count_pieces(tiles, 100, 1) == 14  # 4096 programs
    assert count_pieces(np.array([0, 3]), 1, 1) == 1


# ------------------------------------------------------------------------- left-out sums


def left_out_case(d, n=140, n_rungs=5, is_sorted=True, removing=None, spread=1.0):
    rng = np.random.default_rng(d)
    X = (spread * rng.normal(size=(n, d))).astype(np.float32)
    X[1] = X[0] + np.float32(1e-3)  # a pair that all but empties a density
    groups = rng.integers(0, 3, n)
    if is_sorted:
        groups.sort()
    widths = tuple(float(0.7 * np.sqrt(d)) * 2.0 ** (-b / 2) for b in range(n_rungs))
    omega = rng.integers(1, 4, n).astype(float)
    weights = tensor(rng.uniform(0.1, 3, (n_rungs, n)))
    if removing is None:
        return tensor(X), groups, widths, weights, None
    d2 = oracle.squared_distances(X, X).astype(float)
    power = 2 if removing == "squared" else 1
    F = np.stack([np.exp(-power * d2 / (2 * b * b)) @ omega for b in widths])
    parts = (rng.uniform(0.3, 1, n), F, omega, removing == "squared", rng.uniform(0, 2, F.shape))
    parts = (tensor(A) if isinstance(A, np.ndarray) else A for A in parts)
    return tensor(X), groups, widths, weights, Removal(*parts)


def exact_left_out(X, groups, widths, weights, removal, rows):
    """Return what torch's tiles give in float64, which are held to a literal loop elsewhere."""
    order = np.argsort(groups, kind="stable")
    bounds = (0, *np.cumsum(np.bincount(groups)).tolist())
    problem = Problem(
        X.double(), X.double(), order, None, bounds, KERNELS["gaussian"], widths,
        log=True, self_sum=True, exclude_self=True, method="direct", tol=None, precision="high",
        rung_weights=weights, removal=removal, rows=rows,
    )  # fmt: skip
    return tiled_left_out_sums(problem)


def check_left_out(case, rows=None, within=1e-5):
    X, groups, widths, weights, removal = case
    logs, drifts = left_out_log_sums(
        X, groups, bandwidths=widths, weights=weights, removal=removal, rows=rows
    )
    expected, expected_drifts = exact_left_out(*case, rows)
    assert logs.shape == expected.shape
    np.testing.assert_allclose(logs, expected, rtol=within, atol=within)
    if removal is None:
        assert drifts is None
        return
    # ρ − 1 is a difference of numbers near 1, each off by a rounding or so.
    largest = removal.drift_weights.sum(1).max().item()
    atol = 2 * EPS * largest
    np.testing.assert_allclose(drifts, expected_drifts, rtol=10 * within, atol=atol)


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
@pytest.mark.parametrize("d", [2, 7, 30, 70])
def test_left_out_sums(fused, d, removing):
    check_left_out(left_out_case(d, removing=removing))
    assert len(fused) == 2  # one for each four rungs


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
def test_left_out_sums_of_some_rows_of_mixed_groups(fused, removing):
    case = left_out_case(7, is_sorted=False, removing=removing)
    for rows in (None, slice(3, 100, 2), np.array([139, 0, 1, 5, 5, 80, 2])):
        check_left_out(case, rows)


@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("d", [2, 7])
def test_tiles_in_which_nothing_is_removed_are_skipped(fused, d, spread):
    """Points far apart change no density but their own group's nearest; equal ones change all."""
    case = left_out_case(d, n_rungs=2, removing="squared", spread=spread)
    check_left_out(case)


def test_tiles_near_and_far(fused):
    """Two groups far apart: for a row, the tiles of its own group count, the others are skipped."""
    X, groups, widths, weights, removal = left_out_case(7, removing="squared")
    X = X + 10 * tensor(groups)[:, None]
    # Data much wider than the windows: logarithms that rows are judged by may lose a digit.
    check_left_out((X, groups, widths, weights, removal))


@pytest.mark.parametrize("removing", [None, "squared"])
def test_left_out_sums_in_slabs_and_pieces(fused, monkeypatch, removing):
    case = left_out_case(7, n=140, n_rungs=2, is_sorted=False, removing=removing)
    with config_context(working_memory=1e-3):
        check_left_out(case)
    monkeypatch.setattr(_triton_layout, "_FEWEST_TILES", 1)
    check_left_out(case, np.array([7, 3, 139]))


# ------------------------------------------------------------------------------------- NaN


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize(
    ("kernel", "d"),
    [*product(["gaussian"], [2, 7, 14, 30, 70]), *product(["laplace", "epanechnikov"], [3])],
)
def test_nan_stays(fused, kernel, d, log):
    """Of a row, of a row that is summed over, and of a weight; the engine's door refuses them."""
    X, Y, size = points(d, n=20, m=70)
    bad_row, bad_column = X.copy(), Y.copy()
    bad_row[3, 1] = bad_column[60, 0] = np.nan
    w = np.ones(70, np.float32)
    w[5] = np.nan
    options = {
        "order": None, "bounds": (0, 70), "kernel": KERNELS[kernel], "bandwidths": (4 * size,),
        "log": log, "self_sum": False, "exclude_self": False, "method": "auto", "tol": None,
        "precision": "high", "box": Box(np.full(d, -9.0), np.full(d, 9.0)),
    }  # fmt: skip

    def sums(X, Y, weights=None):
        problem = Problem(tensor(X), tensor(Y), weights=tensor(weights), **options)
        return np.isnan(_problem.compute(problem)[0, :, 0].numpy())

    assert not sums(X, Y).any()
    assert sums(bad_row, Y)[3]
    assert sums(X, bad_column).all()
    assert sums(X, Y, w).all()
    assert fused


@pytest.mark.parametrize("where", ["weights", "densities", "amount"])
def test_nan_stays_in_left_out_sums(fused, where):
    X, groups, widths, weights, removal = left_out_case(7, removing="squared")
    if where == "weights":
        weights[:, 5] = np.nan
    else:
        getattr(removal, where)[..., 5] = np.nan
    logs, drifts = left_out_log_sums(X, groups, bandwidths=widths, weights=weights, removal=removal)
    nan, others = np.isnan(logs[:, :, groups[5]].numpy()), np.arange(len(X)) != 5
    assert nan[:, 5].all() if where == "amount" else nan[:, others].all()
    if where != "weights":
        assert np.isnan(drifts[:, :, groups[5]].numpy())[
            :, 5 if where == "amount" else others
        ].all()


# ------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum], ids=["plain", "log"])
@pytest.mark.parametrize("d", [3, 7])
def test_gradients(fused, monkeypatch, torch, function, d):
    X, Y, size = points(d, n=20, m=70)
    w = np.random.default_rng(0).uniform(0.2, 1, 70).astype(np.float32)
    groups = np.arange(70) % 3

    def gradients(dtype):
        tensors = [tensor(A).to(dtype).requires_grad_() for A in (X, Y, w)]
        out = function(
            *tensors[:2], weights=tensors[2], groups=groups, bandwidth=[size, 0.8 * size]
        )
        return out, torch.autograd.grad((out * out).sum(), tensors)

    out, single = gradients(torch.float32)
    assert fused
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "mercer.sums.torch"))
    exact, double = gradients(torch.float64)
    np.testing.assert_allclose(out.detach(), exact.detach(), rtol=LOG_PROMISE, atol=LOG_PROMISE)
    for ours, theirs in zip(single, double, strict=True):
        scale = theirs.abs().max().item()
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-5 * scale)


# ------------------------------------------------------------------------------ Hypothesis


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


# -------------------------------------------------------- what needs no kernel: host code


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("decades", [0, 5, 30, 300])
@pytest.mark.parametrize("n_groups", [0, 1, 4])
def test_tensors_are_arranged_as_arrays_are(torch, log, dtype, decades, n_groups):
    rng = np.random.default_rng(decades)
    n, decades = 300, decades if dtype == np.float64 else min(decades, 37)
    w = (10 ** rng.uniform(-decades, decades, n)).astype(dtype)
    w[rng.integers(0, n, 20)] = 0
    groups = None
    if n_groups:
        groups = rng.integers(0, n_groups, n)
        groups[groups == 2] = 3  # 2 has no row
        w[groups == 1] = 0
    for weights in (w, None) if n_groups else (w,):
        theirs = arrange(n, weights, groups, log)
        ours = arrange_tensors(n, tensor(weights), tensor(groups), log)
        assert ours.bounds == theirs.bounds
        everything = np.arange(n)
        orders = (everything if a.order is None else np.asarray(a.order) for a in (ours, theirs))
        np.testing.assert_array_equal(*orders)
        for name in ("weights", "exponents", "groups"):
            a, b = (getattr(x, name) for x in (ours, theirs))
            assert (a is None) == (b is None), name
            if a is not None:
                np.testing.assert_array_equal(np.asarray(a), b, err_msg=name)


def test_one_power_of_two_is_no_weight(torch):
    w = torch.full((6,), 0.25)
    arrangement = arrange_tensors(6, w, None, False)
    assert arrangement.weights is None
    assert arrangement.order is None
    np.testing.assert_array_equal(arrangement.exponents, [-2])
    assert arrange_tensors(6, 3 * w, None, False).weights is not None
    assert arrange_tensors(6, -w, None, False).weights is not None
    assert arrange_tensors(6, 0 * w, None, False).weights is not None
    assert arrange_tensors(6, w.requires_grad_(), None, False).weights is not None


def test_many_groups_of_tensors_are_sorted(torch):
    """More than 16 bits hold."""
    groups = np.random.default_rng(0).permutation(40_000)
    arrangement = arrange_tensors(40_000, None, tensor(groups), False)
    np.testing.assert_array_equal(arrangement.order, np.argsort(groups))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_box(request, library):
    if library == "torch":
        request.getfixturevalue("torch")
    convert = tensor if library == "torch" else np.asarray
    A, B = np.array([[1.0, -7.0], [2.0, 5.0]]), np.array([[0.0, 1.0]])
    box = Box.of(convert(A), convert(B), convert(np.empty((0, 2))))
    np.testing.assert_array_equal([box.low, box.high], [[0, -7], [2, 5]])
    assert box.extent == 7
    assert box.is_finite
    for bad in (np.nan, np.inf, -np.inf):
        B[0, 0] = bad
        assert not Box.of(convert(A), convert(B)).is_finite


class Strange(Kernel):
    """A kernel that a user brings along."""

    def _profile(self, d2, xp, bandwidth):
        return d2

    _log_profile = _profile

    def log_normaliser(self, bandwidth, n_features):
        raise ValueError("not needed here")

    log_self_overlap = log_normaliser


def state(torch, n=2000, dtype=None, **options):
    """State a problem that only its size keeps from being refused."""
    X = torch.zeros((n, 2), dtype=dtype or torch.float32)
    defaults = {
        "order": None, "weights": None, "bounds": (0, n), "kernel": KERNELS["gaussian"],
        "bandwidths": (1.0,), "log": False, "self_sum": True, "exclude_self": False,
        "method": "auto", "tol": None, "precision": "high",
    }  # fmt: skip
    return Problem(X, X, **{**defaults, **options})


def test_products_with_weights_are_exact_whatever_the_program_allows(torch):
    """Forwards and backwards, a program that allows TF32 gets all digits of its sums."""
    seen = []

    class Watching(Strange):
        def _profile(self, d2, xp, bandwidth):
            matmul = torch.backends.cuda.matmul
            seen.append(getattr(matmul, "fp32_precision", torch.get_float32_matmul_precision()))
            return xp.exp(-d2)

    kernel = Watching("watching", False, 2, True, True)
    X = torch.zeros((3, 2), requires_grad=True)
    torch.set_float32_matmul_precision("high")  # allows TF32
    try:
        kernel_sum(X, weights=torch.ones(3, 2), kernel=kernel, bandwidth=1.0).sum().backward()
    finally:
        torch.set_float32_matmul_precision("highest")
    assert len(seen) == 2
    assert set(seen) <= {"ieee", "highest"}


def test_refusals_are_sentences(torch, monkeypatch):
    monkeypatch.setattr(_triton, "device_refuses", lambda device: None)
    refuses = _triton.refuses
    assert refuses(state(torch)) is None
    assert refuses(state(torch, method="fast")) is not None  # torch has the sentence
    strange = Strange("gaussian", True, 2, False, True)
    assert refuses(state(torch, kernel=strange)) == "kernel 'gaussian' is not compiled for CUDA"
    columns = state(torch, weights=torch.ones(2000, 3))
    assert refuses(columns) == "columns of weights are summed by torch"
    assert refuses(state(torch, dtype=torch.float64)) == "float64 is summed by torch"
    assert refuses(state(torch, n=1000)) == "so few pairs are summed by torch"
    assert refuses(state(torch, rows=slice(500))) == "so few pairs are summed by torch"
    many = state(torch, bounds=tuple(range(0, 2001, 10)))
    assert refuses(many) == "so many small groups are summed by torch"
    assert refuses(state(torch, bounds=tuple(range(0, 2001, 100)))) is None


def test_devices_are_refused_with_a_sentence(torch, monkeypatch):
    capability = (7, 5)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(_triton, "find_spec", lambda name: None)
    assert _triton.device_refuses("cuda") == "Triton is not installed"
    monkeypatch.setattr(_triton, "find_spec", lambda name: name)
    assert _triton.device_refuses("cuda") == ("the device has no matrix units that Triton can use")
    capability = (8, 0)
    assert _triton.device_refuses("cuda") is None


def test_a_full_device_gets_smaller_parts(torch):
    budgets = []

    def work():
        from mercer._memory import working_memory

        budgets.append(working_memory())
        if len(budgets) == 1:
            raise torch.OutOfMemoryError("Tried to allocate 20.00 GiB. GPU 0 …")
        return "done"

    with config_context(working_memory=64):
        assert _torch.with_room(state(torch), work) == "done"
        assert budgets == [64 * 2**20, 4 * 2**20]


def test_a_device_without_any_room_gets_one_sentence(torch):
    def work():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 …")

    sentence = (
        r"^The device has not enough memory for a kernel sum of 2000 rows over 2000: 20\.00 GiB "
        r"more were wanted\. Free what other tensors hold, lower "
        r"sklearn\.set_config\(working_memory=…\), or use fewer rows\.$"
    )
    with pytest.raises(MemoryError, match=sentence):
        _torch.with_room(state(torch), work)


def test_other_errors_stay_what_they_are(torch):
    def work():
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match=r"^something else$"):
        _torch.with_room(state(torch), work)


def test_a_full_device_is_summed_on(fused, monkeypatch, torch):
    """Through the public function, without a history and with one."""
    budgets = []
    sums = _triton.fused_sums

    def full_once(problem):
        from mercer._memory import working_memory

        budgets.append(working_memory())
        if len(budgets) % 2:
            raise torch.OutOfMemoryError("Tried to allocate 20.00 GiB")
        return sums(problem)

    X, Y, size = points(7, n=20, m=70)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    monkeypatch.setattr(_triton, "fused_sums", full_once)
    np.testing.assert_array_equal(call(kernel_sum, X, Y, bandwidth=size), expected)
    tracked = kernel_sum(tensor(X).requires_grad_(), tensor(Y), bandwidth=size)
    np.testing.assert_array_equal(tracked.detach(), expected)
    assert tracked.requires_grad
    assert len(budgets) == 4
    assert budgets[1] < budgets[0]

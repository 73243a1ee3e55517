"""Sums on a CUDA device, against extended precision: the fused ones, and torch's tiles.

Sums of more than 2**20 pairs are fused.  The oracle then looks at some rows only.
"""

import numpy as np
import pytest
from sklearn import config_context

from mercer.kernels import KERNELS
from mercer.sums import Removal, kernel_sum, left_out_log_sums, log_kernel_sum
from mercer.sums._problem import Box, Problem, compute
from mercer.sums.cuda import _run as _triton
from mercer.sums.cuda._layout import (
    APART,
    BESIDE,
    DIFFERENCES,
    RESIDENT,
    STREAMED,
    TOGETHER,
)
from oracles import sums as oracle

pytestmark = pytest.mark.gpu

EPS = 2.0**-23
TARGET = 3e-6  # relative error of float32 sums at bandwidths of the order of distances
LOG_PROMISE = {np.float32: 1e-5, np.float64: 1e-12}  # times max(1, |log|)
FORMS = {1: TOGETHER, 3: TOGETHER, 4: TOGETHER, 5: BESIDE, 11: BESIDE, 12: APART, 16: APART}
FORMS |= {17: RESIDENT, 64: RESIDENT}
LADDER = 2.0 ** (-np.arange(6) / 2)


@pytest.fixture
def forms(monkeypatch):
    """The forms that fused sums took; none where torch's tiles were summed."""
    seen = []
    choose = _triton.Packer.of.__func__

    def of(cls, *args, **options):
        packer = choose(cls, *args, **options)
        seen.append(packer.form)
        return packer

    monkeypatch.setattr(_triton.Packer, "of", classmethod(of))
    return seen


def points(d, dtype=np.float32, n=700, m=3000, seed=0):
    """Normal points, and √d, of the order of their distances."""
    rng = np.random.default_rng([seed, d])
    X, Y = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    return X, Y, np.sqrt(d)


def there(A):
    import torch

    return None if A is None else torch.as_tensor(A, device="cuda")


def call(function, X, Y=None, *, weights=None, groups=None, **options):
    out = function(there(X), there(Y), weights=there(weights), groups=there(groups), **options)
    assert out.is_cuda
    return out.cpu().numpy()


def some_rows(X, every=29):
    return np.arange(0, len(X), every)


def exact(log, X, Y, rows, *, bandwidth, exclude_self=False, **options):
    """Return what the oracle finds at some rows, of a sum with Y or, if None, with X."""
    literal = oracle.log_kernel_sum if log else oracle.kernel_sum
    if Y is not None or not exclude_self:
        return literal(X[rows], X if Y is None else Y, bandwidth=bandwidth, **options)
    out = []
    for i in rows:
        others = {**options, "weights": np.array(options.get("weights", np.ones(len(X))))}
        others["weights"][i] = 0
        out.append(literal(X[[i]], X, bandwidth=bandwidth, **others)[0])
    return np.array(out)


def promise(X, Y, width):
    """8·eps·(1 + r²/2b²), with r the diameter: a group's nearest row may be as far as that."""
    Z = X if Y is None else np.concatenate([X, Y])
    return 8 * EPS * (1 + (np.ptp(Z, axis=0).astype(float) ** 2).sum() / (2 * width**2))


def check(X, Y=None, *, bandwidth, within=None, **options):
    """Hold sums and logs of one bandwidth, or of each of several, to the oracle's."""
    rows, widths = some_rows(X), np.atleast_1d(bandwidth)
    out, logs = (
        call(function, X, Y, bandwidth=bandwidth, **options).reshape(len(widths), len(X), -1)
        for function in (kernel_sum, log_kernel_sum)
    )
    tolerance = LOG_PROMISE[X.dtype.type]
    for width, sums, log_sums in zip(widths, out, logs, strict=True):
        expected = exact(False, X, Y, rows, bandwidth=width, **options).reshape(len(rows), -1)
        error = np.abs(sums[rows] - expected)
        bound = promise(X, Y, width) if within is None else within
        lost = np.finfo(np.float32).tiny * len(X if Y is None else Y)  # terms that underflow
        assert np.all(error <= bound * expected + lost)
        expected = exact(True, X, Y, rows, bandwidth=width, **options).reshape(len(rows), -1)
        empty = np.isneginf(expected)
        np.testing.assert_array_equal(np.isneginf(log_sums[rows]), empty)
        expected = np.where(empty, 0, expected)
        error = np.abs(np.where(empty, 0, log_sums[rows]) - expected)
        assert np.all(error <= tolerance * np.maximum(1, np.abs(expected)))


# ------------------------------------------------------------------------------- accuracy


@pytest.mark.parametrize("d", [1, 4, 5, 11, 12, 16, 17, 64, 65, 256, 784])
def test_sums_and_logs(forms, d):
    X, Y, size = points(d)
    check(X, Y, bandwidth=0.5 * size, within=TARGET)
    assert set(forms) == {FORMS.get(d, STREAMED)}


@pytest.mark.parametrize("d", [1, 4, 5, 11, 12, 16, 17, 64, 65, 256, 784])
def test_logs_at_narrow_bandwidths(d):
    X, Y, size = points(d)
    for part in (0.05, 1e-3):
        rows = some_rows(X)
        logs = call(log_kernel_sum, X, Y, bandwidth=part * size)[rows]
        expected = exact(True, X, Y, rows, bandwidth=part * size)
        assert np.all(np.abs(logs - expected) <= 1e-5 * np.maximum(1, np.abs(expected)))


@pytest.mark.parametrize("d", [3, 16, 256])
def test_float64_is_summed_by_torch(forms, d):
    X, Y, size = points(d, np.float64)
    check(X, Y, bandwidth=0.5 * size, within=1e-13)
    assert not forms


def test_few_pairs_are_summed_by_torch(forms):
    X, Y, size = points(7, n=100, m=200)
    check(X, Y, bandwidth=0.5 * size, within=1e-5)
    assert not forms


@pytest.mark.parametrize("d", [3, 16, 64, 256])
@pytest.mark.parametrize("kernel", ["exponential", "laplacian", "cauchy", "epanechnikov"])
def test_other_kernels(forms, kernel, d):
    X, Y, size = points(d)
    check(X, Y, kernel=kernel, bandwidth=4 * size, within=TARGET)
    assert (set(forms) == {DIFFERENCES}) == (kernel in ("exponential", "laplacian"))


@pytest.mark.parametrize("spread", [5, 20, 40, 1000])
@pytest.mark.parametrize("d", [7, 16, 64, 256])
def test_tight_clusters(d, spread):
    """Near neighbours in wide data: what products leave out must not count."""
    rng = np.random.default_rng(1)
    centres = spread * rng.normal(size=(300, d))
    X = (np.repeat(centres, 2, axis=0) + 0.1 * rng.normal(size=(600, d))).astype(np.float32)
    Y = (np.repeat(centres, 7, axis=0) + 0.1 * rng.normal(size=(2100, d))).astype(np.float32)
    Z = np.concatenate([X, Y]).astype(float)
    exponent = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1).max() / 2
    check(X, Y, bandwidth=1.0, within=min(3e-4, 8 * EPS * (1 + exponent)))


@pytest.mark.parametrize("d", [3, 16, 64, 256])
def test_fast_precision_stays_near(torch, d):
    X, Y, size = points(d)
    rows = some_rows(X)
    expected = exact(False, X, Y, rows, bandwidth=0.5 * size)
    torch.set_float32_matmul_precision("high")  # allows TF32
    try:
        precise = call(kernel_sum, X, Y, bandwidth=0.5 * size)[rows]
        fast = call(kernel_sum, X, Y, bandwidth=0.5 * size, precision="fast")[rows]
        few = call(kernel_sum, X[:100], Y, bandwidth=0.5 * size)[rows[rows < 100]]
        assert torch.get_float32_matmul_precision() == "high", "the program's choice is kept"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert np.abs(precise / expected - 1).max() < TARGET
    assert np.abs(few / expected[rows < 100] - 1).max() < 1e-5
    assert np.abs(fast / expected - 1).max() < 1e-2


# -------------------------------------------------------------------------------- options


@pytest.mark.parametrize("d", [3, 16, 64, 256])
def test_groups_weights_and_ladders(forms, d):
    X, Y, size = points(d)
    rng = np.random.default_rng(d)
    groups = rng.integers(0, 5, len(Y))
    groups[groups == 3] = 4  # 3 has no row
    groups[7] = 5  # and 5 only one
    w = rng.random(len(Y)).astype(np.float32)
    w[::7] = 0
    for widths in (size * LADDER[:5], size * np.array([1.0, 0.9, 0.6, 0.9])):
        check(X, Y, groups=groups, weights=w, bandwidth=widths)
    assert set(forms) <= {FORMS.get(d, STREAMED), DIFFERENCES}


@pytest.mark.parametrize("exclude_self", [False, True])
@pytest.mark.parametrize("d", [1, 16, 64, 256])
def test_rows_among_themselves(d, exclude_self):
    X, _, size = points(d, n=1500)
    rng = np.random.default_rng(d)
    check(X, bandwidth=size, exclude_self=exclude_self, within=TARGET)
    options = {"groups": rng.integers(0, 3, 1500), "weights": rng.random(1500).astype(np.float32)}
    options["weights"][::5] = 0
    check(X, bandwidth=size * LADDER[:3], exclude_self=exclude_self, **options)


def test_weights_of_any_sign_and_size():
    X, Y, size = points(16)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, len(Y))
    for decades in (15, 37):
        w = (10 ** rng.uniform(-decades, decades, len(Y))).astype(np.float32)
        check(X, Y, weights=w, bandwidth=size, within=TARGET)
        check(X, Y, weights=w, groups=groups, bandwidth=size)
    check(X, Y, weights=np.full(len(Y), 2.0**-90, np.float32), bandwidth=size)
    w = rng.normal(size=len(Y)).astype(np.float32)
    rows = some_rows(X)
    out = call(kernel_sum, X, Y, weights=w, bandwidth=size)[rows]
    expected = exact(False, X, Y, rows, weights=w, bandwidth=size)
    terms = exact(False, X, Y, rows, weights=np.abs(w), bandwidth=size)
    assert np.all(np.abs(out - expected) <= TARGET * terms)
    zero = 0 * w
    assert not call(kernel_sum, X, Y, weights=zero, bandwidth=size).any()
    assert np.isneginf(call(log_kernel_sum, X, Y, weights=zero, bandwidth=size)).all()


def test_logs_of_columns_of_weights_are_taken_by_torch(forms):
    X, Y, size = points(8)
    W = np.random.default_rng(0).random((len(Y), 3)).astype(np.float32)
    rows = some_rows(X)
    logs = call(log_kernel_sum, X, Y, weights=W, bandwidth=size)[rows]
    expected = exact(True, X, Y, rows, weights=W, bandwidth=size)
    np.testing.assert_allclose(logs, expected.astype(float), rtol=1e-5, atol=1e-5)
    assert not forms


def test_many_small_groups_are_summed_by_torch(forms):
    X, Y, size = points(8)
    check(X, Y, groups=np.arange(len(Y)) % 700, bandwidth=size)
    assert not forms


@pytest.mark.parametrize("d", [3, 16, 64, 256])
def test_scales_and_offsets(d):
    X, Y, size = points(d)
    for scale in (1e-15, 1e15):
        x, y = X * np.float32(scale), Y * np.float32(scale)
        check(x, y, bandwidth=0.5 * size * scale, within=TARGET)
    x, y = (np.round(16 * A) / 16 + np.float32(1e6) for A in (X, Y))
    check(x, y, bandwidth=0.5 * size, within=TARGET)
    assert not call(kernel_sum, X + np.float32(500 * size), Y, bandwidth=size).any()
    same = np.full((1100, d), 0.1, np.float32)
    np.testing.assert_array_equal(call(kernel_sum, same, bandwidth=0.3), 1100)
    np.testing.assert_array_equal(call(kernel_sum, same, bandwidth=0.3, exclude_self=True), 1099)


def test_views():
    X, Y, size = points(20)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    for view in (
        there(np.ascontiguousarray(Y.T)).T,
        there(np.repeat(Y, 2, axis=1))[:, ::2],
        there(np.repeat(Y, 2, axis=0))[::2],
    ):
        out = kernel_sum(there(X), view, bandwidth=size).cpu().numpy()
        np.testing.assert_array_equal(out, expected)


# ------------------------------------------------------------------------- left-out sums


@pytest.mark.parametrize("removing", [None, "squared", "plain"])
@pytest.mark.parametrize("d", [2, 16, 64, 100])
def test_left_out_sums(forms, d, removing):
    """Against torch's tiles in float64, which a literal loop is held to elsewhere."""
    rng = np.random.default_rng(d)
    n = 1500
    X = there(rng.normal(size=(n, d)).astype(np.float32))
    X[1] = X[0] + 1e-3
    groups = rng.integers(0, 3, n)
    widths = tuple(float(0.7 * np.sqrt(d)) * 2.0 ** (-b / 2) for b in range(5))
    weights, removal = there(rng.uniform(0.1, 3, (5, n))), None
    if removing is not None:
        power = 2 if removing == "squared" else 1
        omega = there(rng.integers(1, 4, n).astype(float))
        scaled = np.array(widths) / np.sqrt(power)
        F = kernel_sum(X.double(), weights=omega, bandwidth=scaled)
        amount, q = there(rng.uniform(0.3, 1, n)), there(rng.uniform(0, 2, (5, n)))
        removal = Removal(amount, F, omega, power == 2, q)
    options = {"bandwidths": widths, "weights": weights, "removal": removal}
    for rows in (None, slice(100, 1400, 1), rng.integers(0, n, 1000)):
        forms.clear()
        logs, drifts = left_out_log_sums(X, groups, rows=rows, **options)
        assert len(forms) == 2  # one for each four rungs
        expected, expected_drifts = left_out_log_sums(X.double(), groups, rows=rows, **options)
        assert len(forms) == 2
        assert logs.is_cuda
        logs, expected = logs.cpu().numpy(), expected.cpu().numpy()
        np.testing.assert_allclose(logs, expected, rtol=3e-5, atol=3e-5)
        if removal is not None:
            # ρ − 1 is a difference of numbers near 1, each off by a rounding or so.
            atol = 2 * EPS * removal.drift_weights.sum(1).max().item()
            np.testing.assert_allclose(
                drifts.cpu().numpy(), expected_drifts.cpu().numpy(), rtol=3e-4, atol=atol
            )


@pytest.mark.parametrize("log", [False, True], ids=["plain", "log"])
@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "laplacian", "epanechnikov"])
@pytest.mark.parametrize("d", [2, 7, 40])
def test_nan_stays(forms, kernel, d, log):
    """Of a row that is summed over and of a weight, which the door would refuse."""
    X, Y, size = points(d)
    bad, w = Y.copy(), np.ones(len(Y), np.float32)
    bad[60, 0] = w[5] = np.nan
    box = Box(np.full(d, -9.0), np.full(d, 9.0))

    def sums(Y, weights=None):
        problem = Problem(
            there(X), there(Y), None, there(weights), (0, len(Y)), KERNELS[kernel], (4 * size,),
            log=log, self_sum=False, exclude_self=False, method="auto", tol=None,
            precision="high", box=box,
        )  # fmt: skip
        return compute(problem).isnan().cpu().numpy()

    assert not sums(Y).any()
    assert sums(bad).all()
    assert sums(Y, w).all()
    assert forms


# ------------------------------------------------------------------ determinism and memory


def test_runs_are_bit_identical(torch):
    for d in (3, 16, 64, 256):
        X, Y, size = points(d, n=3000, m=20_000)
        options = {"groups": np.arange(len(Y)) % 10, "bandwidth": size * LADDER}
        for function in (kernel_sum, log_kernel_sum):
            first = function(there(X), there(Y), **options)
            assert torch.equal(first, function(there(X), there(Y), **options))


@pytest.mark.parametrize("d", [16, 64, 256])
@pytest.mark.parametrize("alone", [False, True], ids=["two", "one"])
def test_memory_stays_within_the_budget(torch, d, alone):
    generator = torch.Generator("cuda").manual_seed(0)
    x = torch.randn(200_000, d, generator=generator, device="cuda")
    y = None if alone else torch.randn(200_000, d, generator=generator, device="cuda")
    groups = torch.arange(200_000, device="cuda") % 10
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with config_context(working_memory=256):
        out = log_kernel_sum(x, y, groups=groups, bandwidth=float(np.sqrt(d)))
    results = 3 * 8 * out.numel()  # in float64, in the order of summation and in that of rows
    peak = torch.cuda.max_memory_allocated() - before
    assert peak < 300 * 2**20 + results  # the matrix: 160 GB


def test_slabs_give_what_one_does():
    for d in (3, 16, 64, 256):
        X, _, size = points(d, n=5000)
        rng = np.random.default_rng(d)
        options = {
            "weights": rng.random(5000).astype(np.float32), "groups": rng.integers(0, 3, 5000),
            "bandwidth": size * LADDER[:2], "exclude_self": True,
        }  # fmt: skip
        for function in (kernel_sum, log_kernel_sum):
            whole = call(function, X, **options)
            with config_context(working_memory=1):
                slabs = call(function, X, **options)
            np.testing.assert_allclose(slabs, whole, rtol=4 * EPS, atol=4 * EPS)


def test_a_million_rows(torch):
    """Where offsets leave 32 bits: a row of a sum over all of them, by torch."""
    generator = torch.Generator("cuda").manual_seed(0)
    x = torch.randn(100_000, 10, generator=generator, device="cuda")
    y = torch.randn(1_000_000, 10, generator=generator, device="cuda")
    y[-1] = x[-1]
    out = kernel_sum(x, y, bandwidth=1.0)
    for i in (0, 50_000, 99_999):
        d2 = ((x[i].double() - y.double()) ** 2).sum(1)
        expected = torch.exp(-d2 / 2).sum().item()
        assert out[i].item() == pytest.approx(expected, rel=TARGET)


def test_a_full_device_is_summed_on_in_smaller_parts(torch, monkeypatch):
    from mercer._memory import working_memory

    X, Y, size = points(16)
    expected = call(kernel_sum, X, Y, bandwidth=size)
    sums, budgets = _triton.fused_sums, []

    def full(problem):
        budgets.append(working_memory())
        if len(budgets) == 1:
            torch.empty(2**60, device="cuda")
        return sums(problem)

    monkeypatch.setattr(_triton, "fused_sums", full)
    np.testing.assert_array_equal(call(kernel_sum, X, Y, bandwidth=size), expected)
    assert len(budgets) == 2
    assert budgets[1] < budgets[0]

    def always_full(problem):
        torch.empty(2**60, device="cuda")

    monkeypatch.setattr(_triton, "fused_sums", always_full)
    with pytest.raises(MemoryError, match="not have enough memory for a kernel sum of 700 rows"):
        call(kernel_sum, X, Y, bandwidth=size)


# --------------------------------------------------------------------- gradients and devices


def test_gradients_of_few_pairs(torch):
    X, Y, size = points(5, np.float64, n=7, m=11)
    x, y = (there(A).requires_grad_() for A in (X, Y))
    for function in (kernel_sum, log_kernel_sum):
        assert torch.autograd.gradcheck(
            lambda x, y, f=function: f(x, y, bandwidth=0.4 * size), (x, y)
        )


@pytest.mark.parametrize("function", [kernel_sum, log_kernel_sum], ids=["plain", "log"])
@pytest.mark.parametrize("d", [3, 16])
def test_gradients_through_fused_sums(torch, forms, function, d):
    X, Y, size = points(d)
    w = np.random.default_rng(0).uniform(0.2, 1, len(Y)).astype(np.float32)

    def gradients(dtype):
        tensors = [there(A).to(dtype).requires_grad_() for A in (X, Y, w)]
        out = function(*tensors[:2], weights=tensors[2], bandwidth=[size, 0.8 * size])
        return torch.autograd.grad(out.sum(), tensors)

    single = gradients(torch.float32)
    assert forms
    for ours, theirs in zip(single, gradients(torch.float64), strict=True):
        scale = theirs.abs().max().item()
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-5 * scale)


def test_mixed_devices_are_refused(torch):
    X, Y, b = points(3)
    with pytest.raises(ValueError, match="put both on one device"):
        kernel_sum(there(X), torch.as_tensor(Y), bandwidth=b)


def test_groups_and_weights_may_come_from_the_host(torch):
    X, Y, size = points(7)
    groups = np.arange(len(Y)) % 3
    expected = call(kernel_sum, X, Y, groups=groups, bandwidth=size)
    out = kernel_sum(there(X), there(Y), groups=groups, bandwidth=size)
    np.testing.assert_array_equal(out.cpu().numpy(), expected)
    fine = kernel_sum(there(X), there(Y), groups=torch.as_tensor(groups), bandwidth=size)
    np.testing.assert_array_equal(fine.cpu().numpy(), expected)

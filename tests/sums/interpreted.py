"""Triton's kernels in its interpreter, and what the sums that they give are held to.

Interpreted programs run on tensors of the CPU, block by block, with NumPy: the logic of the kernels
where there is no GPU.  Rounding and scheduling of a real device are in test_gpu.  A handful of
these tests is in the suite (test_triton), all others are tests/campaigns/interpreter.
"""

import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest

from mercer.kernels import KERNELS
from mercer.sums import Removal, _problem, kernel_sum, left_out_log_sums, log_kernel_sum
from mercer.sums._problem import Problem
from mercer.sums.cuda import _columns, _layout, _left_out, _run
from mercer.sums.cuda._layout import (
    APART,
    BESIDE,
    DIFFERENCES,
    RESIDENT,
    STREAMED,
    TOGETHER,
)
from mercer.sums.torch import _survey
from mercer.sums.torch._left_out import tiled_left_out_sums
from oracles import sums as oracle

EPS = 2.0**-23
TARGET = 3e-6  # relative error of sums at bandwidths of the order of distances
LOG_PROMISE = 1e-5  # times max(1, |log|)
LADDER = tuple(2.0 ** (-i / 2) for i in range(6))
FORMS = {
    # form, features, bandwidth as a part of √d
    "differences": (DIFFERENCES, 3, 0.1),
    "together, one feature": (TOGETHER, 1, 1.0),
    "beside": (BESIDE, 7, 0.5),
    "apart": (APART, 13, 0.5),
    "resident": (RESIDENT, 20, 0.5),
    "streamed": (STREAMED, 70, 0.5),
}
# NumPy, which the interpreter computes with, evaluates both branches of `where`, and ∞ − ∞ of rows
# that only fill up.
RUNTIME_WARNINGS = [
    pytest.mark.filterwarnings(f"ignore:{what}:RuntimeWarning")
    for what in ("divide", "invalid", "All-NaN")
]


def _is_triton_code(name):
    if name.startswith("mercer.sums.cuda.") and name.endswith("kernels"):
        return True
    return name.split(".")[0] == "triton" and not name.startswith("triton._C")


@contextmanager
def interpreted():
    """Import Triton, and the code of the kernels, once more if need be, to be interpreted.

    Triton asks for the variable when it is imported.  Collecting doctests may have done that.
    """
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_triton_code(name)}
    caches = (
        _layout.kernels, _layout.left_out_kernels, _layout.pack_kernels, _columns.column_kernels,
    )  # fmt: skip
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
        _multiply_bfloat16(patch)
        yield
    for cached in caches:
        cached.cache_clear()
    sys.modules.update(before)


def _multiply_bfloat16(patch):
    """Have the interpreter multiply bfloat16 numbers; it multiplies their bits, as integers."""
    code = import_module("triton.runtime.interpreter")
    tl = import_module("triton.language")
    dot = code.InterpreterBuilder.create_dot

    def widened(handle):
        if handle.dtype.scalar != tl.bfloat16:
            return handle
        data = code._convert_float(handle.data, tl.bfloat16, tl.float32, None).view(np.float32)
        return code.TensorHandle(data.reshape(handle.data.shape), tl.float32)

    def create_dot(self, a, b, *others):
        return dot(self, widened(a), widened(b), *others)

    patch.setattr(code.InterpreterBuilder, "create_dot", create_dot)


@pytest.fixture(scope="session")
def interpreter():
    """Torch, with kernels that are interpreted: only where no device could run them compiled."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    if torch.cuda.is_available():
        pytest.skip("the compiled kernels are tested instead: pytest -m gpu")
    with interpreted():
        yield torch


@pytest.fixture
def fused(interpreter, monkeypatch):
    """Public functions take the fused sums, and no others; the forms that they took are listed."""
    forms = []
    choose = _layout.Packer.of.__func__

    def of(cls, *args, **options):
        packer = choose(cls, *args, **options)
        forms.append(packer.form)
        return packer

    monkeypatch.setattr(_layout.Packer, "of", classmethod(of))
    monkeypatch.setattr(_run, "OWNS", ("torch",))
    monkeypatch.setattr(_run, "WORTH_COMPILING", 1)
    monkeypatch.setattr(_run, "_MOST_FILL", np.inf)
    monkeypatch.setattr(_run, "device_refuses", lambda device: None)
    monkeypatch.setattr(_survey, "is_for_triton", lambda rows: rows[0].dtype.itemsize == 4)
    monkeypatch.setattr(_problem, "_BACKENDS", ("mercer.sums._in_memory", "mercer.sums.cuda._run"))
    for module in (_run, _left_out):  # so that small sums have several chunks
        short = {form: replace(tile, chunk=2) for form, tile in module.TILES.items()}
        monkeypatch.setattr(module, "TILES", short)
    short = {form: replace(tile, chunk=2) for form, tile in _columns.COLUMN_TILES.items()}
    monkeypatch.setattr(_columns, "COLUMN_TILES", short)
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


def check_form(fused, form, d, part):
    """Hold sums and logs to the oracle's, and see that this form computed them."""
    X, Y, size = points(d)
    out = call(kernel_sum, X, Y, bandwidth=part * size)
    check_sums(out, X, Y, bandwidth=part * size)
    if part == 0.5:
        check_sums(out, X, Y, bandwidth=part * size, within=TARGET)
    check_logs(call(log_kernel_sum, X, Y, bandwidth=part * size), X, Y, bandwidth=part * size)
    assert fused == [form, form]


def check_sums(out, X, Y=None, *, bandwidth, within=None, **options):
    expected = oracle.kernel_sum(X, Y, bandwidth=bandwidth, **options).reshape(len(X), -1)
    size = expected
    if np.any(np.asarray(options.get("weights", 1)) < 0):  # relative to what cancels
        size_of = {**options, "weights": np.abs(options["weights"])}
        size = oracle.kernel_sum(X, Y, bandwidth=bandwidth, **size_of).reshape(len(X), -1)
    if within is None:
        known = {k: v for k, v in options.items() if k in ("groups", "weights", "exclude_self")}
        if np.ndim(known.get("weights", 0)) == 2:  # whose columns are as one to it
            del known["weights"]
        within = promise(X, Y, bandwidth, **known)
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

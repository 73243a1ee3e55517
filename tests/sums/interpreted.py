"""Triton's kernels in its interpreter, and what the sums that they give are held to.

Interpreted programs run on tensors of the CPU, block by block, with NumPy: the logic of the kernels
where there is no GPU.  Rounding and scheduling of a real device are in test_gpu.
"""

import sys
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pytest

from mercer.sums import kernel_sum, log_kernel_sum
from mercer.sums.cuda import _layout as _triton_layout
from oracles import sums as oracle

EPS = 2.0**-23
TARGET = 3e-6  # relative error of sums at bandwidths of the order of distances
LOG_PROMISE = 1e-5  # times max(1, |log|)
LADDER = tuple(2.0 ** (-i / 2) for i in range(6))
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

"""The same sum by others: Σⱼ wⱼ exp(−‖xᵢ − yⱼ‖²/2b²) of CUDA tensors.  For bench_gpu.py.

A peer is a function of (X, Y, w, b) that returns the sums of all rows of X.
"""

from importlib.util import find_spec
from math import log, pi

import torch
from _gpu_ceilings import matmul_precision


def all_peers():
    """Yield name, function and what must be installed."""
    yield "torch.compile", compiled("highest"), "torch"
    yield "torch.compile, TF32", compiled("high"), "torch"
    yield "KeOps", keops, "pykeops"
    yield "CuPy", cupy_tiles, "cupy"
    yield "cuML", cuml_density, "cuml"


def is_installed(module):
    return find_spec(module) is not None


def tile(x, y, x2, y2, w, c):
    """One tile as one would write it, as in bench_sums.py; x2 and y2 are squared norms."""
    d2 = torch.addmm(y2[None, :], x, y.T, alpha=-2)
    d2 += x2[:, None]
    return d2.mul_(c).exp_() @ w


def tiled(one_tile, row_tiles, column_tiles):
    """Return the sum by tiles of equal shapes, up to the last."""

    def run(X, Y, w, b):
        rows, columns = -(-len(X) // row_tiles), -(-len(Y) // column_tiles)
        x2, y2, out = (X * X).sum(1), (Y * Y).sum(1), X.new_zeros((len(X), *w.shape[1:]))
        for i in range(0, len(X), rows):
            for j in range(0, len(Y), columns):
                r, c = slice(i, i + rows), slice(j, j + columns)
                out[r] += one_tile(X[r], Y[c], x2[r], y2[c], w[c], -0.5 / b**2)
        return out

    return run


def eager():
    """Two tile sizes: of a tenth of the rows with all columns, and one that the cache holds."""
    return [tiled(tile, 10, 1), tiled(tile, 50, 25)]


def compiled(setting):
    """The same tile through torch.compile, anew for each d: it keeps few versions of a function."""
    kept = {}

    def run(X, Y, w, b):
        key = (X.shape, Y.shape)
        if key not in kept:
            torch._dynamo.reset()
            kept.clear()
            kept[key] = tiled(torch.compile(tile, dynamic=False), 10, 1)
        with matmul_precision(setting):
            return kept[key](X, Y, w, b)

    return run


def keops(X, Y, w, b):
    import pykeops
    from pykeops.torch import Genred

    pykeops.set_verbose(False)
    d = X.shape[1]
    arguments = [f"x=Vi({d})", f"y=Vj({d})", "w=Vj(1)", "g=Pm(1)"]
    total = Genred("Exp(-g*SqDist(x,y))*w", arguments, reduction_op="Sum", axis=1)
    g = torch.tensor([0.5 / b**2], dtype=X.dtype, device=X.device)
    backend = "GPU" if X.is_cuda else "CPU"
    return total(X, Y, w[:, None], g, backend=backend)[:, 0]


def cupy_tiles(X, Y, w, b):
    """A product, then exponential, weight and sum in one pass over the tile."""
    import cupy

    total = cupy.ReductionKernel(
        "T xy, T x2, T y2, T w, T c",
        "T out",
        "exp(c * (x2 + y2 - 2 * xy)) * w",
        "a + b",
        "out = a",
        "0",
        "gaussian_sum",
    )
    x, y, v = (cupy.asarray(A) for A in (X, Y, w))
    x2, y2 = (x * x).sum(axis=1), (y * y).sum(axis=1)
    c = cupy.float32(-0.5 / b**2)
    rows = -(-len(x) // 10)
    parts = [
        total(x[i : i + rows] @ y.T, x2[i : i + rows, None], y2[None, :], v[None, :], c, axis=1)
        for i in range(0, len(x), rows)
    ]
    return torch.as_tensor(cupy.concatenate(parts), device=X.device)


def cuml_density(X, Y, w, b):
    import cupy
    from cuml.neighbors import KernelDensity

    x, y, v = (cupy.asarray(A) for A in (X, Y, w))
    logs = KernelDensity(bandwidth=b).fit(y, sample_weight=v).score_samples(x)
    normaliser = log(float(w.sum())) + 0.5 * X.shape[1] * log(2 * pi * b * b)
    logs = torch.as_tensor(cupy.asarray(logs), device=X.device).double()
    return torch.exp(logs + normaliser).to(X.dtype)


def tiles_of_cdist(X, Y, w, b):
    """Σⱼ wⱼ exp(−Σₖ|xᵢₖ − yⱼₖ|/b) by torch's own city-block distances."""
    import torch

    return torch.cat([torch.cdist(x, Y, p=1.0).mul_(-1 / b).exp_() @ w for x in X.split(2048)])

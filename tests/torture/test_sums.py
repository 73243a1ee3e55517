"""Kernel sums of any scale, spread, weight and width against extended and exact arithmetic.

Tolerances are what the docstrings promise, relative to the problem's own conditioning. A sum of
positive terms is as well conditioned as its exponents, so that 1e-12·max(1, |ℓ|) is asked of
logarithms ℓ and 2e-10 of sums, in float64; 1e-5 and 3e-4 in float32. Weights of both
signs may cancel: the error is then measured by Σ|w|·k. The Epanechnikov kernel ends at 0: a
distance near the bandwidth is known to some eps, so that 32·eps·w is allowed to its terms. A kernel
value below the least normal number counts as 0 in `kernel_sum`, whatever its weight.
"""

from itertools import product

import numpy as np
from hypothesis import strategies as st

from mercer.sums import kernel_sum, log_kernel_sum
from oracles import sums as oracle
from torture.cases import (
    WEIGHTS, Refusal, agree, answered, between, labels, law, log_ratios, points, weights,
)  # fmt: skip

KERNELS = ("gaussian", "laplace", "epanechnikov", "cauchy")
LOG_TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
SUM_TOLERANCE = {"float32": 3e-4, "float64": 2e-10}
FORMS = ("plain", "self", "left out", "weights", "groups", "both", "columns", "ladder")
BACKENDS = ("numpy", "numpy", "numpy", "torch")  # torch calls take longer

HOW = st.sampled_from(list(product(KERNELS, FORMS, BACKENDS, WEIGHTS)))
ANY_POINTS = points(d=(1, 2, 3, 4, 5, 8, 40), dtypes=("float64", "float64", "float32"))
WIDTHS = log_ratios(-200, 200)


def arguments(points, form, kind):
    """Return X, and the rest of the call in that form, as the oracle takes it."""
    X = points.rows()
    rest = {"Y": points.rows(7, stream=1)}
    n = 7
    if form in ("self", "left out") or (form == "ladder" and points.seed % 2):
        rest, n = {"exclude_self": form == "left out"}, points.n
    if form in ("weights", "both", "left out", "ladder"):
        rest["weights"] = weights(kind, n, points.seed, points.dtype)
    if form in ("groups", "both"):
        rest["groups"] = labels("mixed", n, 3, points.seed)
    if form == "columns":
        w = [weights(kind, n, points.seed + c, points.dtype) for c in range(3)]
        rest["weights"] = np.stack(w, axis=1)
    return X, rest


def width_of(points, ratio):
    """Return the bandwidth so many powers of ten above the scale of the data, in range."""
    return float(10.0 ** min(max(points.scale + ratio, -300), 300))


def may_refuse(X, rest, bandwidth):
    """Whether the square of the ratio of coordinates to bandwidth leaves floating point."""
    extent = max(float(np.abs(A).max(initial=0)) for A in (X, rest.get("Y", X)))
    return extent / 1e140 > bandwidth


def called(function, backend, X, rest, **options):
    rest = dict(rest)
    if backend == "torch":
        import torch

        X = torch.as_tensor(X)
        for name in ("Y", "weights"):
            if name in rest:
                rest[name] = torch.as_tensor(rest[name])
    return np.asarray(function(X, **rest, **options))


def rungs(bandwidth, form, seed):
    """Return one bandwidth, or a ladder: √2 steps, halves, far apart, or in no order."""
    if form != "ladder":
        return bandwidth
    steps = ([0, -0.5, -1, -1.5, -2, -2.5], [0, -1, -2], [0, -60], [3, -0.5, 1, 0])[seed % 4]
    return [float(b) for b in bandwidth * 2.0 ** np.array(steps, float)]


def expected_of(function, X, rest, kernel, bandwidth):
    with np.errstate(all="ignore"):
        if np.ndim(bandwidth):
            return np.stack([function(X, **rest, kernel=kernel, bandwidth=b) for b in bandwidth])
        return function(X, **rest, kernel=kernel, bandwidth=bandwidth)


def rounding_at_the_edge(X, rest, kernel, bandwidth):
    """Return what rounding of the distance may add to sums of a kernel that ends at 0."""
    if kernel != "epanechnikov":
        return 0
    eps = np.finfo(X.dtype).eps

    def weight_inside(X, Y=None, *, weights=None, groups=None, exclude_self=False, bandwidth, kernel):
        inside = oracle.squared_distances(X, X if Y is None else Y) < 1.01 * np.longdouble(bandwidth) ** 2
        W = oracle._weight_columns(inside.shape[1], weights, groups)
        out = inside.astype(np.longdouble) @ np.abs(W)
        return out[:, 0] if groups is None and np.ndim(weights) < 2 else out

    return 32 * eps * expected_of(weight_inside, X, rest, kernel, bandwidth)


@law(3_000, points=ANY_POINTS, how=HOW, ratio=WIDTHS)
def test_logarithms_of_sums(points, how, ratio):
    kernel, form, backend, kind = how
    X, rest = arguments(points, form, kind)
    bandwidth = rungs(width_of(points, ratio), form, points.seed)
    options = {"kernel": kernel, "bandwidth": bandwidth}
    out = answered(called, log_kernel_sum, backend, X, rest, names=("bandwidth",), **options)
    if isinstance(out, Refusal):
        assert may_refuse(X, rest, np.min(bandwidth)), out
        return out
    expected = expected_of(oracle.log_kernel_sum, X, rest, kernel, bandwidth)
    size = np.where(np.isfinite(expected), np.abs(expected), 0)
    tol = LOG_TOLERANCE[points.dtype] * np.maximum(1, size)
    edge = rounding_at_the_edge(X, rest, kernel, bandwidth)
    with np.errstate(divide="ignore"):
        most = np.logaddexp(expected, np.log(edge)) + tol
        least = np.where(edge, np.log(np.maximum(np.exp(expected) - edge, 0)), expected) - tol
    between(out, least, most)


@law(3_000, points=ANY_POINTS, how=HOW, ratio=WIDTHS)
def test_sums(points, how, ratio):
    kernel, form, backend, kind = how
    X, rest = arguments(points, form, kind)
    size = dict(rest)
    if "weights" in rest and points.seed % 3 == 0:  # of both signs
        signs = np.random.default_rng(points.seed).choice([-1, 1], size=rest["weights"].shape)
        rest = {**rest, "weights": (rest["weights"] * signs).astype(points.dtype)}
    bandwidth = rungs(width_of(points, ratio), form, points.seed)
    options = {"kernel": kernel, "bandwidth": bandwidth}
    out = answered(called, kernel_sum, backend, X, rest, names=("bandwidth",), **options)
    if isinstance(out, Refusal):
        assert may_refuse(X, rest, np.min(bandwidth)), out
        return out
    expected = expected_of(oracle.kernel_sum, X, rest, kernel, bandwidth)
    terms = expected_of(oracle.kernel_sum, X, size, kernel, bandwidth)
    heaviest = np.longdouble(np.abs(rest.get("weights", 1.0)).max(initial=1.0))
    tiny = 16 * np.finfo(points.dtype).tiny * heaviest
    with np.errstate(over="ignore"):
        expected = expected.astype(points.dtype)
    edge = rounding_at_the_edge(X, rest, kernel, bandwidth)
    agree(out, expected, atol=SUM_TOLERANCE[points.dtype] * terms + tiny + edge)

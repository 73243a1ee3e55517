"""Kernel sums of any scale, spread, weight and width against extended and exact arithmetic.

Tolerances are what the docstrings promise, relative to the problem's own conditioning. A sum of
positive terms is as well conditioned as its exponents, so that 1e-12·max(1, |ℓ|) is asked of
logarithms ℓ and 2e-10 of sums, in float64; 1e-5 and 3e-4 in float32. Weights of both
signs may cancel: the error is then measured by Σ|w|·k. The Epanechnikov kernel ends at 0: a
distance near the bandwidth is known to some eps, so that 32·eps·w is allowed to its terms. A kernel
value below the least normal number counts as 0 in `kernel_sum`, whatever its weight.
"""

from importlib.util import find_spec
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import strategies as st

from mercer._arrays import to_numpy
from mercer.sums import (
    Removal,
    kernel_sum,
    landmark_kernel_sum,
    left_out_log_sums,
    log_kernel_sum,
)
from oracles import sums as oracle
from torture.cases import (
    WEIGHTS,
    Refusal,
    agree,
    answered,
    between,
    labels,
    law,
    log_ratios,
    points,
    weights,
)  # fmt: skip

EPS = np.finfo(float).eps
KERNELS = ("gaussian", "exponential", "laplacian", "epanechnikov", "cauchy")
LOG_TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
SUM_TOLERANCE = {"float32": 3e-4, "float64": 2e-10}
FORMS = ("plain", "self", "left out", "weights", "groups", "both", "columns", "ladder")
# Calls of torch take longer; where it is not installed, test_tensors.py is skipped and says so.
BACKENDS = ("numpy", "numpy", "numpy", "cpu") if find_spec("torch") else ("numpy",)

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


def there(A, backend):
    """Return an array as the backend takes it: NumPy's, or a tensor of "cpu" or "cuda"."""
    if backend == "numpy" or A is None:
        return A
    import torch

    return torch.as_tensor(A, device=backend)


def called(function, backend, X, rest, **options):
    """Return what a function of arrays gives, brought back to NumPy, one result or several."""
    rest = {name: there(A, backend) if np.ndim(A) else A for name, A in rest.items()}
    out = function(there(X, backend), **rest, **options)
    if isinstance(out, tuple):
        return tuple(None if A is None else to_numpy(A) for A in out)
    return to_numpy(out)


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

    def weight_inside(
        X, Y=None, *, weights=None, groups=None, exclude_self=False, bandwidth, kernel
    ):
        inside = (
            oracle.squared_distances(X, X if Y is None else Y)
            < 1.01 * np.longdouble(bandwidth) ** 2
        )
        W = oracle._weight_columns(inside.shape[1], weights, groups)
        out = inside.astype(np.longdouble) @ np.abs(W)
        return out[:, 0] if groups is None and np.ndim(weights) < 2 else out

    return 32 * eps * expected_of(weight_inside, X, rest, kernel, bandwidth)


@law(20_000, points=ANY_POINTS, how=HOW, ratio=WIDTHS)
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
    if points.dtype == "float32" and "weights" in rest:
        # The exponent is rounded that a heavy weight makes up for.
        some = np.abs(rest["weights"][rest["weights"] != 0].astype(float))
        size = np.maximum(size, np.abs(np.log(some)).max(initial=0.0))
    tol = LOG_TOLERANCE[points.dtype] * np.maximum(1, size)
    edge = rounding_at_the_edge(X, rest, kernel, bandwidth)
    with np.errstate(divide="ignore"):
        most = np.logaddexp(expected, np.log(edge)) + tol
        least = np.where(edge, np.log(np.maximum(np.exp(expected) - edge, 0)), expected) - tol
    between(out, least, most)
    return None


@law(20_000, points=ANY_POINTS, how=HOW, ratio=WIDTHS)
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
    return None


mp = mpmath.mp.clone()
mp.dps = 60


def exact_log(kernel, x, y, b):
    """Return log k(x, y) with 60 digits."""
    differences = [mp.mpf(float(p)) - mp.mpf(float(q)) for p, q in zip(x, y, strict=True)]
    if kernel == "laplacian":
        return -mp.fsum(map(abs, differences)) / mp.mpf(b)
    u = mp.fsum(difference**2 for difference in differences) / mp.mpf(b) ** 2
    if kernel == "epanechnikov":
        return mp.log1p(-u) if u < 1 else -mp.inf
    return {
        "gaussian": lambda: -u / 2,
        "exponential": lambda: -mp.sqrt(u),
        "cauchy": lambda: -mp.log1p(u),
    }[kernel]()


@law(
    4_000,
    points=points(n=(1, 2), d=(1, 2, 5)),
    kernel=st.sampled_from(["gaussian", "exponential", "laplacian", "cauchy"]),
    kind=st.sampled_from(WEIGHTS),
    ratio=WIDTHS,
    backend=st.just("numpy"),
)
def test_sums_by_exact_arithmetic(points, kernel, kind, ratio, backend):
    X, Y = points.rows(), points.rows(3, stream=1)
    w, b = weights(kind, 3, points.seed), width_of(points, ratio)
    options = {"kernel": kernel, "bandwidth": b}

    def both():
        rest = {"Y": Y, "weights": w}
        return [called(f, backend, X, rest, **options) for f in (log_kernel_sum, kernel_sum)]

    out = answered(both, names=("bandwidth",))
    if isinstance(out, Refusal):
        assert may_refuse(X, {"Y": Y}, b), out
        return out
    for i, x in enumerate(X):
        logs = [
            exact_log(kernel, x, y, b) + mp.log(float(v)) for y, v in zip(Y, w, strict=True) if v
        ]
        top = max(logs)
        expected = top + mp.log(mp.fsum(mp.exp(v - top) for v in logs))
        agree(out[0][i], float(expected), rtol=1e-12, atol=1e-12)
        tiny = 16 * np.finfo(float).tiny * max(float(w.max()), 1)
        agree(out[1][i], float(mp.exp(expected)), rtol=2e-10, atol=tiny)
    return out


@law(
    300,
    points=points(n=(1, 4), d=(400, 2000), dtypes=("float64", "float32")),
    kernel=st.sampled_from(KERNELS),
    ratio=log_ratios(-3, 3),
    backend=st.just("numpy"),
)
def test_sums_in_two_thousand_dimensions(points, kernel, ratio, backend):
    return test_logarithms_of_sums.holds(points, (kernel, "weights", backend, "wide"), ratio + 1.5)


@law(
    400,
    points=points(d=(1, 3, 6), layouts=("normal", "ties", "offset", "outlier", "ulps")),
    kernel=st.sampled_from(KERNELS),
    ratio=log_ratios(-6, 6),
    log=st.booleans(),
    backend=st.just("numpy"),
)
def test_large_sums_are_symmetric(points, kernel, ratio, log, backend):
    """Sums of a thousand rows with themselves visit each pair once."""
    Z = points.rows(1030, stream=1)
    options = {"kernel": kernel, "bandwidth": width_of(points, ratio)}
    function = log_kernel_sum if log else kernel_sum
    out = answered(called, function, backend, Z, {}, **options, names=("bandwidth",))
    if isinstance(out, Refusal):
        assert may_refuse(Z, {}, options["bandwidth"]), out
        return out
    some = slice(points.seed % 1000, points.seed % 1000 + 3)
    expected = (oracle.log_kernel_sum if log else oracle.kernel_sum)(Z[some], Z, **options)
    tol = 1e-12 if log else 2e-10
    agree(out[some], expected, rtol=tol, atol=tol + 32 * EPS * len(Z))
    return out


@law(
    1_500,
    points=points(n=(2, 9), d=(1, 2, 5, 9), dtypes=("float64", "float64", "float32")),
    removing=st.sampled_from([None, "squared", "plain"]),
    ratio=log_ratios(-3, 100),
    backend=st.just("numpy"),
)
def test_sums_without_a_row(points, removing, ratio, backend):
    """The densities of the other rows are without its window, too."""
    X, n = points.rows(), points.n
    groups = np.sort(labels("mixed", n, 3, points.seed))
    bandwidths = tuple(width_of(points, ratio) * 2.0 ** (-b / 2) for b in range(2))
    rng = np.random.default_rng(points.seed)
    W, removal = rng.uniform(0.1, 3, size=(2, n)), None
    squares = oracle.squared_distances(X, X)
    logs = [-squares / (2 * np.longdouble(b) ** 2) for b in bandwidths]
    p = 2 if removing == "squared" else 1
    if removing:
        omega = rng.integers(1, 4, size=n).astype(float)
        F = np.array([np.exp(p * k) @ omega for k in logs]).astype(float)
        q = rng.uniform(0, 2, size=(2, n))
        removal = Removal(rng.uniform(0.3, 1, size=n), np.maximum(F, omega), omega, p == 2, q)
    out, drift = called(
        left_out_log_sums, backend, X, {"weights": W}, groups=groups, bandwidths=bandwidths,
        removal=removal and Removal(*(
            there(A, backend) if np.ndim(A) else A for A in vars(removal).values()
        )),
    )  # fmt: skip
    tol = {"float64": 1e-10, "float32": 1e-4}[points.dtype]
    for b, log_k in enumerate(logs):
        rho = np.ones((n, n), np.longdouble)
        if removal:
            rest = 1 - removal.amount[:, None] * np.exp(p * log_k) / removal.densities[b]
            rho = np.maximum(rest, removal.least / removal.densities[b]) ** -np.longdouble(0.5)
        terms = log_k + np.log(W[b] * rho)
        np.fill_diagonal(terms, -np.inf)
        for g in range(groups.max() + 1):
            mine = terms[:, groups == g]
            top = mine.max(axis=1)
            top = np.where(np.isfinite(top), top, 0)
            with np.errstate(divide="ignore"):
                expected = top + np.log(np.exp(mine - top[:, None]).sum(axis=1))
            size = np.where(np.isfinite(expected), np.abs(expected), 0)
            agree(out[b, :, g], expected, atol=tol * np.maximum(1, size))
            if removal:
                left = (rho - 1) * removal.drift_weights[b]
                np.fill_diagonal(left, 0)
                agree(
                    drift[b, :, g], left[:, groups == g].sum(axis=1), atol=100 * tol, rtol=100 * tol
                )
    return out


@law(500, points=points(n=(40, 60), d=(1, 2, 3)), ratio=log_ratios(-3, 6),
     kind=st.sampled_from(WEIGHTS), tol=st.sampled_from([1e-3, 1e-6, 1e-10]))  # fmt: skip
def test_sums_within_a_tolerance(points, ratio, kind, tol):
    """Fast Gauss transforms keep to a relative tolerance, or say why not."""
    pytest.importorskip("finufft", reason="finufft is not installed")
    X, Y = points.rows(5), points.rows(stream=1)
    w, b = weights(kind, len(Y), points.seed), width_of(points, ratio)
    options = {"weights": w, "bandwidth": b}
    method = "fast" if points.seed % 2 else "auto"
    out = answered(
        log_kernel_sum, X, Y, method=method, tol=tol, **options, names=("method", "bandwidth")
    )
    if isinstance(out, Refusal):
        assert method == "fast" or may_refuse(X, {"Y": Y}, b), out
        return out
    expected = oracle.log_kernel_sum(X, Y, **options)
    agree(out, expected, atol=1.01 * tol + 1e-12 * np.abs(expected))
    return out


@law(600, points=points(n=(40, 60), d=(1, 3, 20)), kernel=st.sampled_from(KERNELS),
     ratio=log_ratios(-3, 100), kind=st.sampled_from(WEIGHTS),
     backend=st.just("numpy"))  # fmt: skip
def test_sums_from_landmarks(points, kernel, ratio, kind, backend):
    """Estimates are finite with an error that is; of few rows, and of copies, they are exact."""
    X, Y = points.rows(4), points.rows(stream=1)
    w, b = weights(kind, len(Y), points.seed), width_of(points, ratio)
    options = {"kernel": kernel, "bandwidth": b, "random_state": 0}
    few = points.seed % 2
    out = answered(
        called, landmark_kernel_sum, backend, X, {"Y": Y, "weights": w},
        n_landmarks=50 if few else 5, n_sampled=32, **options, names=("bandwidth",),
    )  # fmt: skip
    if isinstance(out, Refusal):
        assert may_refuse(X, {"Y": Y}, b), out
        return out
    sums, errors = out
    assert np.isfinite(sums).all()
    assert np.isfinite(errors).all()
    assert (errors >= 0).all()
    if few or points.layout == "constant":
        expected = oracle.kernel_sum(X, Y, weights=w, kernel=kernel, bandwidth=b)
        slack = 1e-9 * float(w.sum())
        agree(sums, expected, rtol=2e-10, atol=slack)
    return out

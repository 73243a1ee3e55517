"""Information measures of any scale and weights, against extended precision.

Each is a logarithm of sums of positive terms: 1e-11·max(1, |ℓ|) is asked of logarithms, of their
largest part where several are added. The integrated squared error is a difference of three sums,
known to 1e-11 of the largest of them (1e-3 with float32 rows).
"""

import warnings

import numpy as np
from hypothesis import strategies as st

from mercer.information import (
    cauchy_schwarz_divergence,
    information_cut,
    information_potential,
    integrated_squared_error,
    k_sample_test,
    log_cross_information_potential,
    log_information_cut,
    log_information_potential,
    log_integrated_squared_error,
    log_laplacian_information_cut,
    renyi_quadratic_entropy,
    two_sample_test,
)
from mercer.kernels import get_kernel
from oracles import sums as oracle
from torture.cases import (
    WEIGHTS,
    Refusal,
    agree,
    answered,
    labels,
    law,
    log_ratios,
    points,
    weights,
)

ROWS = points(n=(1, 8), d=(1, 2, 5, 40), dtypes=("float64", "float64", "float32"))
KERNELS = st.sampled_from(
    ["gaussian", "gaussian", "exponential", "laplacian", "cauchy", "epanechnikov"]
)
TOLERANCE = {"float64": 1e-11, "float32": 3e-5}
wide = np.longdouble


def width_of(points, ratio):
    return float(10.0 ** min(max(points.scale + ratio, -300), 300))


def may_refuse(h, *arrays):
    return max(float(np.abs(A).max()) for A in arrays) / 1e140 > h


def log_overlap(X, Y, w_x, w_y, kernel, width):
    """Return log Σᵢⱼ wᵢ wⱼ k / (Σw Σw)."""
    with np.errstate(divide="ignore", over="ignore"):
        rows = oracle.log_kernel_sum(X, Y, weights=w_y, kernel=kernel, bandwidth=width)
        terms = rows + np.log(w_x.astype(wide))
    top = terms.max()
    if not np.isfinite(top):
        return top
    total = top + np.log(np.exp(terms - top).sum())
    return total - np.log(w_x.astype(wide).sum()) - np.log(w_y.astype(wide).sum())


def some_weights(kind, n, seed):
    return (None, np.ones(n)) if kind is None else (weights(kind, n, seed),) * 2


@law(
    4_000,
    points=ROWS,
    kernel=KERNELS,
    ratio=log_ratios(-150, 150),
    kind=st.sampled_from((None, *WEIGHTS)),
)
def test_potentials_and_entropies(points, kernel, ratio, kind):
    X, Y, h = points.rows(), points.rows(4, stream=1), width_of(points, ratio)
    w, counts = some_weights(kind, points.n, points.seed)
    options = {"bandwidth": h, "kernel": kernel, "sample_weight": w}
    width = wide(h) * np.sqrt(wide(2)) if kernel == "gaussian" else wide(h)

    def measured():
        return (
            log_information_potential(X, **options),
            information_potential(X, **options),
            renyi_quadratic_entropy(X, **options),
            log_cross_information_potential(X, Y, **options),
        )

    out = answered(measured, names=("bandwidth", "kernel"))
    if isinstance(out, Refusal):
        assert kernel == "cauchy" or may_refuse(h, X, Y), out
        return out
    log_v, v, entropy, log_cross = out
    z = get_kernel(kernel).log_normaliser(float(width), points.d)
    tol = TOLERANCE[points.dtype]
    used = counts > 0
    X, counts = X[used], counts[used]
    for value, other, w_other in ((log_v, X, counts), (log_cross, Y, np.ones(4))):
        part = log_overlap(X, other, counts, w_other, kernel, width)
        if np.isinf(part) and kernel == "epanechnikov":  # up to the rounding of an edge
            assert value == -np.inf or value + z < -20
            continue
        slack = 1e-3 if kernel == "epanechnikov" else tol
        if points.dtype == "float32" and part < -1e38:
            continue
        agree(value, float(part - z), atol=slack * max(1, abs(float(part)), abs(z)))
    assert entropy == -log_v
    with np.errstate(over="ignore"):
        agree(v, np.exp(log_v), rtol=1e-12)
    return out


@law(
    4_000,
    points=ROWS,
    kernel=KERNELS,
    ratio=log_ratios(-150, 150),
    kind=st.sampled_from((None, *WEIGHTS)),
)
def test_divergences(points, kernel, ratio, kind):
    X, h = points.rows(), width_of(points, ratio)
    Y = X.copy() if points.seed % 4 == 0 else points.rows(5, stream=1)
    w, counts = some_weights(kind, points.n, points.seed)
    options = {"bandwidth": h, "kernel": kernel, "sample_weight": w}
    width = wide(h) * np.sqrt(wide(2)) if kernel == "gaussian" else wide(h)

    def measured():
        return (
            log_information_cut(X, Y, **options),
            information_cut(X, Y, **options),
            cauchy_schwarz_divergence(X, Y, **options),
        )

    out = answered(measured, names=("bandwidth", "kernel"))
    if isinstance(out, Refusal):
        assert kernel == "epanechnikov" or may_refuse(h, X, Y), out
        return out
    log_cut, cut, divergence = out
    used = counts > 0
    X, counts, ones = X[used], counts[used], np.ones(len(Y))
    xx = log_overlap(X, X, counts, counts, kernel, width)
    yy = log_overlap(Y, Y, ones, ones, kernel, width)
    xy = log_overlap(X, Y, counts, ones, kernel, width)
    tol = TOLERANCE[points.dtype]
    size = max(1, abs(float(xx)), abs(float(yy)), abs(float(xy)))
    if not (points.dtype == "float32" and xy < -1e37):
        agree(log_cut, min(0.0, float(xy - (xx + yy) / 2)), atol=tol * size)
    assert divergence == -log_cut
    agree(cut, np.exp(log_cut), rtol=1e-12)

    def errors():
        return (
            integrated_squared_error(X, Y, **{**options, "sample_weight": None}),
            log_integrated_squared_error(X, Y, **{**options, "sample_weight": None}),
        )

    found = answered(errors, names=("bandwidth", "kernel"))
    if isinstance(found, Refusal):
        assert kernel == "cauchy", found
        return found
    error, log_error = found
    n = np.ones(len(X))
    xx, xy = log_overlap(X, X, n, n, kernel, width), log_overlap(X, Y, n, ones, kernel, width)
    z, top = wide(get_kernel(kernel).log_normaliser(float(width), points.d)), max(xx, yy)
    relative = np.exp(xx - top) - 2 * np.exp(xy - top) + np.exp(yy - top)
    slack = 1e-11 if points.dtype == "float64" else 1e-3
    with np.errstate(divide="ignore"):
        lowest, highest = np.log(max(relative - slack, 0)), np.log(max(relative, 0) + slack)
    rounding = 1e-13 * abs(float(z))
    assert lowest - rounding <= log_error - (top - z) <= highest + rounding
    assert error >= 0
    with np.errstate(over="ignore"):
        agree(error, np.exp(log_error), rtol=1e-9)
    return out


@law(
    3_000,
    points=points(n=(2, 9), d=(1, 2, 5), dtypes=("float64", "float64", "float32")),
    kernel=st.sampled_from(["gaussian", "exponential", "laplacian", "cauchy"]),
    ratio=log_ratios(-100, 100),
    kind=st.sampled_from((None, "ones", "wide", "zeros", "all heavy", "all light")),
    density=st.sampled_from(["parzen", None]),
)
def test_laplacian_cut(points, kernel, ratio, kind, density):
    X, y, h = points.rows(), labels("mixed", points.n, 3, points.seed), width_of(points, ratio)
    w, counts = some_weights(kind, points.n, points.seed)
    out = answered(
        log_laplacian_information_cut, X, y, bandwidth=h, kernel=kernel, sample_weight=w,
        density=density, names=("bandwidth", "y"),
    )  # fmt: skip
    used = counts > 0
    X, y, counts = X[used], y[used], counts[used].astype(wide)
    if isinstance(out, Refusal):
        assert len(set(y)) < 2 or may_refuse(h, X), out
        return out
    log_w = np.log(counts)
    if density:
        with np.errstate(over="ignore"):
            log_w = log_w - oracle.log_kernel_sum(X, weights=counts, kernel=kernel, bandwidth=h) / 2
    width = wide(h) * np.sqrt(wide(2)) if kernel == "gaussian" else wide(h)
    with np.errstate(over="ignore"):
        logs = oracle.LOG_PROFILES[kernel](oracle.squared_distances(X, X, kernel), width)
    terms = logs + log_w[:, None] + log_w
    classes = sorted(set(y))
    M = np.array([[_log_sum(terms[np.ix_(y == a, y == b)]) for b in classes] for a in classes])
    own = np.diag(M)
    pairs = (M - (own[:, None] + own) / 2)[np.triu_indices(len(classes), 1)]
    expected = float(min(_log_sum(pairs) - np.log(len(pairs)), 0))
    if points.dtype == "float32" and expected < -1e37:
        return out
    size = max(1, float(np.abs(own).max()), abs(expected))
    agree(out, expected, atol=TOLERANCE[points.dtype] * size)
    return out


def _log_sum(values):
    top = values.max()
    return top + np.log(np.exp(values - top).sum()) if np.isfinite(top) else top


@law(
    400,
    points=points(n=(2, 8), d=(1, 3, 20)),
    kernel=st.none() | st.sampled_from(["gaussian", "exponential", "laplacian", "cauchy"]),
    statistic=st.sampled_from(["fuse", "mmd", "laplacian_cut"]),
)
def test_tests_without_a_width(points, kernel, statistic):
    """Any rows of finite numbers have an answer, and no widths are asked for."""
    X, Y = points.rows(), points.rows(4, stream=1)
    options = {"kernel": kernel, "n_permutations": 19, "random_state": 0}
    if statistic == "fuse":
        out = answered(two_sample_test, X, Y, names=(), **options)
    else:
        both, whose = np.concatenate([X, Y]), np.repeat([0, 1], [len(X), 4])
        out = answered(k_sample_test, both, whose, statistic=statistic, names=(), **options)
    assert not isinstance(out, Refusal), out
    assert np.isfinite(out.statistic)
    assert np.isfinite(out.null_distribution).all()
    assert np.isfinite(out.bandwidth)
    assert 1 / 20 <= out.pvalue <= 1
    assert str(out)
    return out


@law(
    800,
    points=points(n=(2, 8), d=(1, 3, 20)),
    kernel=st.sampled_from(["gaussian", "exponential", "laplacian", "cauchy"]),
    statistic=st.sampled_from(["ise", "cauchy_schwarz"]),
    ratio=st.none() | log_ratios(-3, 200),
)
def test_two_sample_tests(points, kernel, statistic, ratio):
    X, Y = points.rows(), points.rows(4, stream=1)
    h = "median" if ratio is None else width_of(points, ratio)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # windows that hardly see each other
        out = answered(
            two_sample_test, X, Y, statistic=statistic, bandwidth=h, kernel=kernel,
            n_permutations=19, random_state=0, names=("bandwidth",),
        )  # fmt: skip
    if isinstance(out, Refusal):
        assert ratio is not None, out
        assert may_refuse(h, X, Y), out
        return out
    assert np.isfinite(out.statistic)
    assert np.isfinite(out.null_distribution).all()
    assert np.isfinite(out.bandwidth)
    assert 1 / 20 <= out.pvalue <= 1
    assert str(out)
    width = wide(out.bandwidth) * np.sqrt(wide(2)) if kernel == "gaussian" else wide(out.bandwidth)
    ones = np.ones(points.n), np.ones(4)
    xx = log_overlap(X, X, ones[0], ones[0], kernel, width)
    yy = log_overlap(Y, Y, ones[1], ones[1], kernel, width)
    xy = log_overlap(X, Y, *ones, kernel, width)
    if statistic == "ise":
        agree(out.statistic, np.exp(xx) - 2 * np.exp(xy) + np.exp(yy), atol=1e-9)
    elif xy - (xx + yy) / 2 > -20:  # sums across are differences of sums, and floored
        agree(out.statistic, float((xx + yy) / 2 - xy), atol=1e-5)
    return out

"""Rules and cross-validation of bandwidths, for any scale and weights, against 60 digits.

A rule is a spread times a power of the number of rows: 1e-12 of it is allowed. With weights that
differ by 1e300 that is asked all the same; only what is below the least normal number may be
that number. Scores of cross-validation are sums of logarithms ℓ: 1e-11·max(1, |ℓ|).
"""

import warnings

import mpmath
import numpy as np
from hypothesis import strategies as st

from mercer.bandwidth import (
    bandwidth_ladder,
    least_squares_cross_validation,
    likelihood_cross_validation,
    resolve_bandwidth,
)
from oracles.sums import LOG_PROFILES, squared_distances
from torture.cases import WEIGHTS, Refusal, agree, answered, law, points, weights

mp = mpmath.mp.clone()
mp.dps = 60
EPS = np.finfo(float).eps
RULES = {
    "silverman": lambda d, n: (2 * d + 1) * n / 4,
    "silverman-amise": lambda d, n: (d + 2) * n / 4,
    "scott": lambda d, n: n,
}


def exact_rule(name, X, w):
    """Return the bandwidth with 60 digits; 1 where the rows are all the same."""
    _n, d = X.shape
    heaviest = X[int(np.argmax(w))]  # about which 60 digits are enough for any weights
    rows = [[mp.mpf(float(x)) - float(o) for x, o in zip(r, heaviest, strict=True)] for r in X]
    is_whole = w.max() < 2**52 and (w == np.rint(w)).all()
    w = [mp.mpf(float(x)) for x in w]
    N = mp.fsum(w) if is_whole else mp.mpf(len(w))
    w = [x * N / mp.fsum(w) for x in w]
    total = mp.mpf(0)
    for j in range(d):
        mean = mp.fdot(zip(w, (row[j] for row in rows), strict=True)) / N
        total += mp.fsum(u * (row[j] - mean) ** 2 for u, row in zip(w, rows, strict=True))
    if all(row == rows[0] for row in rows):
        return mp.mpf(1), N
    return mp.sqrt(total / (N - 1) / d) * mp.mpf(RULES[name](d, N)) ** (-mp.mpf(1) / (d + 4)), N


@law(
    6_000,
    points=points(n=(1, 6), d=(1, 2, 3), dtypes=("float64", "float64", "float32")),
    name=st.sampled_from(sorted(RULES)),
    kind=st.sampled_from((None, *WEIGHTS)),
)
def test_rules_of_thumb(points, name, kind):
    X = points.rows()
    w = None if kind is None else weights(kind, points.n, points.seed)
    out = answered(resolve_bandwidth, name, X, w, names=("sample_weight",))
    counted = np.ones(points.n) if w is None else w
    X, counted = X[counted > 0], counted[counted > 0]
    if isinstance(out, Refusal):
        with np.errstate(over="ignore"):
            assert counted.sum() == np.inf, out
        return out
    expected, _ = exact_rule(name, X, counted)
    if expected < 2.3e-308:
        assert 0 < out < 1e-290
    else:
        agree(out, float(min(expected, mp.mpf(1.7976931348623157e308))), rtol=1e-12)
    return out


@law(1_500, power=st.integers(-323, 308), down=st.integers(0, 40), up=st.integers(0, 40))
def test_ladders_of_bandwidths(power, down, up):
    centre = float(f"1.7e{power}") or 5e-324
    out = answered(bandwidth_ladder, centre, steps_down=down, steps_up=up, names=("centre",))
    low, high = (mp.mpf(centre) * mp.mpf(2) ** (mp.mpf(s) / 2) for s in (-down, up))
    if isinstance(out, Refusal):
        assert low < 2.3e-308 or high > 1.79e308 or centre == np.inf, out
        return out
    agree(out[[0, -1]], [float(low), float(high)], rtol=4 * EPS)
    assert (np.diff(out) > 0).all()
    return out


def exact_likelihood(X, w, h, kernel, log_normaliser):
    """Return the mean of log f̂₋ᵢ(xᵢ) in extended precision, one copy of a row left out.

    Weights that are not whole leave as a whole.
    """
    is_whole = w.max() < 2**52 and (w == np.rint(w)).all()
    squares = squared_distances(X, X, kernel)
    w = w.astype(np.longdouble)
    N, left = w.sum(), np.minimum(1, w) if is_whole else w
    with np.errstate(divide="ignore"):
        terms = LOG_PROFILES[kernel](squares, np.longdouble(h)) + np.log(w)
        np.fill_diagonal(terms, np.log(w - left))
        top = terms.max(axis=1, keepdims=True)
        top = np.where(np.isfinite(top), top, 0)
        sums = top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))
        others = np.array([np.delete(w, i).sum() for i in range(len(w))]) + (w - left)
        return ((sums - np.log(others) - log_normaliser) * w).sum() / N


@law(
    1_200,
    points=points(n=(1, 9), d=(1, 2, 8), scale=140),
    kind=st.sampled_from((None, "ones", "near one", "wide", "zeros")),
    criterion=st.sampled_from(["likelihood", "likelihood", "least squares"]),
    kernel=st.sampled_from(["gaussian", "gaussian", "exponential", "laplacian", "epanechnikov"]),
)
def test_cross_validation(points, kind, criterion, kernel):
    from mercer.kernels import get_kernel

    X = points.rows()
    w = None if kind is None else weights(kind, points.n, points.seed)
    search = likelihood_cross_validation if criterion == "likelihood" else None
    options = {"kernel": kernel}
    if search is None:
        search, options = least_squares_cross_validation, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rows with copies have no best bandwidth
        out = answered(
            search, X, sample_weight=w, **options,
            names=("sample_weight", "Cross-validation", "bandwidth"),
        )  # fmt: skip
    counted = np.ones(points.n) if w is None else w
    X, counted = X[counted > 0], counted[counted > 0]
    if isinstance(out, Refusal):
        assert len(counted) == 1 or points.layout == "outlier", out
        return out
    assert 0 < out.bandwidth < np.inf
    assert not np.isnan(out.scores).any()
    assert out.bandwidth in out.bandwidths
    if criterion == "likelihood":
        for at in (0, int(np.argmax(out.scores)), -1):
            h = out.bandwidths[at]
            z = get_kernel(kernel).log_normaliser(h, points.d)
            expected = exact_likelihood(X, counted, h, kernel, np.longdouble(z))
            if kernel == "epanechnikov" and np.isinf(expected) != np.isinf(out.scores[at]):
                continue  # a row at the very edge of a window
            size = max(1, abs(float(expected)) if np.isfinite(expected) else 1, abs(z))
            loose = 1e-6 if kernel == "epanechnikov" else 1e-11
            agree(out.scores[at], float(expected), atol=loose * size)
    return out

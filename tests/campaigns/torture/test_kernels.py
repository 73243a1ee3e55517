"""Kernel profiles, their integrals and the widths, against 60 digits.

Tolerances: a value of k is known to its exponent times eps, so 8·eps·(1 + |log k|) of k; a
logarithm to 16·eps of itself (of log k's slope in u near the edge of the Epanechnikov kernel, where
1 − u has lost the digits of u), and an integral's to 64·eps of its largest part, d·log d and the
like. What leaves the range of floats is 0 or infinite, as it would be if rounded once.
"""

import mpmath
import numpy as np
from hypothesis import strategies as st

from mercer.kernels import (
    KERNELS,
    cross_width,
    gamma_from_width,
    mercer_width,
    parzen_bandwidth,
    width_from_gamma,
)  # fmt: skip
from torture.cases import Refusal, agree, answered, between, law

EPS = np.finfo(float).eps
TINY = 2.3e-308
mp = mpmath.mp.clone()
mp.dps = 60
POWERS = st.integers(-320, 307)
WIDTHS = st.builds(lambda p, m: float(f"{m}e{p}"), POWERS, st.sampled_from([1.0, 1.7, 4.9, 7.3]))


def exact_log(name, d2, b):
    """Return log k and u = r²/b² with 60 digits."""
    u = mp.mpf(d2) / mp.mpf(b) ** 2
    match name:
        case "gaussian":
            return -u / 2, u
        case "exponential" | "laplacian":
            return -mp.sqrt(u), u
        case "cauchy":
            return -mp.log1p(u), u
        case "epanechnikov":
            return (mp.log1p(-u) if u < 1 else -mp.inf), u


def rounded(value):
    """Return the nearest float; infinite beyond the range."""
    return float(value)


@law(
    4_000,
    kernel=st.sampled_from(sorted(KERNELS)),
    bandwidth=WIDTHS,
    ratio=st.floats(-330, 330) | st.floats(-2, 2),
    factor=st.sampled_from([0.0, 1.0, 1 + EPS, 1 - EPS, 0.3, 2.0]),
)
def test_profiles_of_kernels(kernel, bandwidth, ratio, factor):
    power = min(max(float(np.log10(max(bandwidth, 1e-320))) * 2 + ratio, -400.0), 308.0)
    d2 = factor * float(f"1e{int(power)}") * 10 ** (power - int(power))
    d2 = min(d2, 1.7e308)
    if factor == 1.0:  # at the edge of what is finite, as near as floats come to it
        d2 = min(bandwidth * bandwidth, 1.7e308)
    log_k, _u = exact_log(kernel, d2, bandwidth)
    k = KERNELS[kernel]
    out = k.log_profile(np.array([d2]), bandwidth)
    slack = 16 * EPS
    if kernel == "epanechnikov":
        edges = (mp.mpf(d2) * s for s in (1 + slack, 1 - slack))  # d2 itself may have few digits
        least, most = (exact_log(kernel, edge, bandwidth)[0] for edge in edges)
        between(out, [rounded(least) * (1 + slack) - TINY], [rounded(most) * (1 - slack) + TINY])
    else:
        agree(out, [rounded(log_k)], rtol=slack, atol=TINY)
    value = rounded(mp.exp(log_k))
    edge = slack if kernel == "epanechnikov" else 0
    size = abs(rounded(log_k)) if value > 0 else 0
    agree(k.profile(np.array([d2]), bandwidth), [value], rtol=slack * (1 + size), atol=TINY + edge)


@law(
    2_000,
    kernel=st.sampled_from(sorted(KERNELS)),
    bandwidth=WIDTHS,
    d=st.integers(1, 4) | st.integers(1, 2000),
    squared=st.booleans(),
)
def test_integrals_of_kernels(kernel, bandwidth, d, squared):
    k = KERNELS[kernel]
    call = k.log_self_overlap if squared else k.log_normaliser
    out = answered(call, bandwidth, d, names=("bandwidth", "kernel"))
    if isinstance(out, Refusal):
        assert kernel == "cauchy", out
        assert d > (3 if squared else 1)
        return out
    if kernel == "laplacian":  # (2b)ᵈ and bᵈ
        each = mp.log(mp.mpf(bandwidth)) + (0 if squared else mp.log(2))
        agree(out, float(d * each), atol=64 * EPS * (10 + d * abs(float(each)) + d))
        return None
    b, sphere = mp.mpf(bandwidth), mp.log(2) + d * mp.log(mp.pi) / 2 - mp.loggamma(mp.mpf(d) / 2)
    # The sphere's area times ∫ k(r)ᵖ rᵈ⁻¹ dr, by its beta and gamma functions.
    radial = {
        ("gaussian", False): lambda: (d / mp.mpf(2) - 1) * mp.log(2) + mp.loggamma(mp.mpf(d) / 2),
        ("gaussian", True): lambda: mp.loggamma(mp.mpf(d) / 2) - mp.log(2),
        ("exponential", False): lambda: mp.loggamma(d),
        ("exponential", True): lambda: mp.loggamma(d) - d * mp.log(2),
        ("epanechnikov", False): lambda: mp.log(mp.beta(mp.mpf(d) / 2, 2) / 2),
        ("epanechnikov", True): lambda: mp.log(mp.beta(mp.mpf(d) / 2, 3) / 2),
        ("cauchy", False): lambda: mp.log(mp.beta(mp.mpf(d) / 2, 1 - mp.mpf(d) / 2) / 2),
        ("cauchy", True): lambda: mp.log(mp.beta(mp.mpf(d) / 2, 2 - mp.mpf(d) / 2) / 2),
    }[kernel, squared]()
    expected = sphere + radial + d * mp.log(b)
    parts = 10 + abs(float(sphere)) + abs(float(radial)) + d * abs(float(mp.log(b)))
    agree(out, float(expected), atol=64 * EPS * parts)
    return None


@law(3_000, width=WIDTHS, other=WIDTHS, which=st.integers(0, 4))
def test_conversions_of_widths(width, other, which):
    w, o = mp.mpf(width), mp.mpf(other)
    call, arguments, expected = (
        (mercer_width, (width,), mp.sqrt(2) * w),
        (parzen_bandwidth, (width,), w / mp.sqrt(2)),
        (cross_width, (width, other), mp.sqrt(w * w + o * o)),
        (gamma_from_width, (width,), 1 / (2 * w * w)),
        (width_from_gamma, (width,), mp.sqrt(1 / (2 * w))),
    )[which]
    out = answered(call, *arguments, names=("width", "gamma"))
    if isinstance(out, Refusal):
        assert not 5e-324 < float(expected) < 1.79e308, out
        return out
    agree(out, float(expected), rtol=4 * EPS, atol=5e-324)
    return None

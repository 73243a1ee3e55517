"""Normalisers and self-overlaps of the kernels, against numerical integration over the radius."""

import re
from math import exp, gamma, inf, log, pi

import numpy as np
import pytest
from scipy.integrate import quad

from mercer.kernels import KERNELS, get_kernel, mercer_width

WIDTHS = [0.3, 1.0, 7.5]


def integral(kernel, bandwidth, d, power):
    """∫ k(|x|)ᵖ dx = (area of the unit sphere) · ∫ rᵈ⁻¹ k(r)ᵖ dr, in units of the bandwidth."""
    area = 2 * pi ** (d / 2) / gamma(d / 2)

    def density(r):
        value = float(kernel.profile(np.array((r * bandwidth) ** 2), bandwidth)) ** power
        return area * r ** (d - 1) * value

    inner, _ = quad(density, 0, 1, epsabs=0, epsrel=1e-11, limit=200)
    outer, _ = quad(density, 1, inf, epsabs=1e-12 * inner, epsrel=1e-10, limit=400)
    return (inner + outer) * bandwidth**d


@pytest.mark.parametrize("bandwidth", WIDTHS)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("name", ["gaussian", "exponential", "epanechnikov"])
def test_normaliser_and_self_overlap(name, d, bandwidth):
    kernel = get_kernel(name)
    out = exp(kernel.log_normaliser(bandwidth, d))
    np.testing.assert_allclose(out, integral(kernel, bandwidth, d, 1), rtol=1e-8)
    out = exp(kernel.log_self_overlap(bandwidth, d))
    np.testing.assert_allclose(out, integral(kernel, bandwidth, d, 2), rtol=1e-8)


@pytest.mark.parametrize("bandwidth", WIDTHS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_integrals_of_the_city_block_kernel(d, bandwidth):
    """A product of one factor for each coordinate: so are its integrals."""
    kernel = get_kernel("laplacian")

    def one_coordinate(power):
        return 2 * quad(
            lambda t: float(kernel.profile(np.array(t * t), bandwidth)) ** power, 0, 60 * bandwidth
        )[0]  # fmt: skip

    np.testing.assert_allclose(
        exp(kernel.log_normaliser(bandwidth, d)), one_coordinate(1) ** d, rtol=1e-8
    )
    np.testing.assert_allclose(
        exp(kernel.log_self_overlap(bandwidth, d)), one_coordinate(2) ** d, rtol=1e-8
    )


@pytest.mark.parametrize("bandwidth", WIDTHS)
def test_cauchy_integrals_that_exist(bandwidth):
    cauchy = get_kernel("cauchy")
    out = exp(cauchy.log_normaliser(bandwidth, 1))
    np.testing.assert_allclose(out, integral(cauchy, bandwidth, 1, 1), rtol=1e-8)
    for d in (1, 2, 3):
        out = exp(cauchy.log_self_overlap(bandwidth, d))
        np.testing.assert_allclose(out, integral(cauchy, bandwidth, d, 2), rtol=1e-7)


@pytest.mark.parametrize("d", [2, 3, 50])
def test_cauchy_has_no_normaliser_above_one_dimension(d):
    sentence = (
        "kernel 'cauchy' is not a density in two or more dimensions: its integral diverges "
        f"(the data have {d} columns); use 'gaussian' or 'exponential'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        get_kernel("cauchy").log_normaliser(1.0, d)


@pytest.mark.parametrize("d", [4, 50])
def test_cauchy_has_no_self_overlap_above_three_dimensions(d):
    sentence = (
        "kernel 'cauchy' has no finite self-overlap in four or more dimensions "
        f"(the data have {d} columns); use 'gaussian' or 'exponential'."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        get_kernel("cauchy").log_self_overlap(1.0, d)


@pytest.mark.parametrize("bandwidth", [1e-200, 1e200])
@pytest.mark.parametrize("name", ["gaussian", "exponential", "laplacian", "epanechnikov"])
def test_logarithms_stay_finite_where_the_integral_does_not(name, bandwidth):
    """∫ k scales with bᵈ: its logarithm with d·log b."""
    kernel, d = get_kernel(name), 784
    for function in (kernel.log_normaliser, kernel.log_self_overlap):
        expected = function(1.0, d) + d * log(bandwidth)
        np.testing.assert_allclose(function(bandwidth, d), expected, rtol=1e-12)


@pytest.mark.parametrize("name", list(KERNELS))
def test_self_overlap_is_less_than_the_integral(name):
    """k ≤ 1, so that k² ≤ k."""
    kernel = get_kernel(name)
    assert kernel.log_self_overlap(2.0, 1) < kernel.log_normaliser(2.0, 1)


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0, 5.0])
def test_overlap_of_two_gaussian_windows_has_the_mercer_width(distance):
    """∫ k(x − u) k(u − y) du, by quadrature, is exp(−r²/2·(√2h)²) times the self-overlap."""
    h, gaussian = 0.8, get_kernel("gaussian")

    def product(u):
        return float(gaussian.profile(u**2, h) * gaussian.profile((u - distance) ** 2, h))

    overlap, _ = quad(product, -30, 30, points=[0, distance], epsabs=0, epsrel=1e-10)
    expected = gaussian.profile(distance**2, mercer_width(h)) * exp(gaussian.log_self_overlap(h, 1))
    np.testing.assert_allclose(overlap, float(expected), rtol=1e-8)

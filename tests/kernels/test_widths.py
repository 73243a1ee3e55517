"""Conversions between Parzen bandwidth, Mercer width and gamma."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from mercer.kernels import (
    cross_width,
    gamma_from_width,
    get_kernel,
    mercer_width,
    parzen_bandwidth,
    width_from_gamma,
)

WIDTHS = [1e-100, 0.3, 1.0, 2.0, 1e100]


@pytest.mark.parametrize("width", WIDTHS)
def test_round_trips(width):
    assert parzen_bandwidth(mercer_width(width)) == pytest.approx(width, rel=1e-15)
    assert mercer_width(parzen_bandwidth(width)) == pytest.approx(width, rel=1e-15)
    assert width_from_gamma(gamma_from_width(width)) == pytest.approx(width, rel=1e-15)
    assert gamma_from_width(width_from_gamma(width)) == pytest.approx(width, rel=1e-15)


@pytest.mark.parametrize("width", WIDTHS)
def test_mercer_width_is_the_overlap_of_two_equal_windows(width):
    assert cross_width(width, width) == pytest.approx(mercer_width(width), rel=1e-15)


@pytest.mark.parametrize("widths", [(3e200, 4e200), (3e-200, 4e-200), (3.0, 4.0)])
def test_cross_width_neither_overflows_nor_underflows(widths):
    assert cross_width(*widths) == pytest.approx(widths[0] / 3 * 5, rel=1e-14)
    assert cross_width(*widths) == cross_width(*widths[::-1])


def test_gamma_is_that_of_scikit_learn():
    points = np.random.default_rng(0).normal(size=(6, 3))
    d2 = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    expected = rbf_kernel(points, gamma=gamma_from_width(0.7))
    np.testing.assert_allclose(get_kernel("gaussian").profile(d2, 0.7), expected, rtol=1e-12)


def test_widths_whose_squares_are_beyond_floating_point():
    assert width_from_gamma(1e-320) == pytest.approx(np.sqrt(0.5) * 1e160, rel=1e-4)
    for convert, width in ((gamma_from_width, 1e-200), (gamma_from_width, 1e200)):
        with pytest.raises(ValueError, match=r"width=1e[+-]200 is too extreme"):
            convert(width)


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize(
    "convert", [gamma_from_width, mercer_width, parzen_bandwidth, width_from_gamma]
)
def test_what_is_no_width_is_refused(convert, width):
    with pytest.raises(ValueError, match="must be positive and finite, got"):
        convert(width)

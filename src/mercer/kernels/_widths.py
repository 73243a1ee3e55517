"""Conversions between widths: Parzen bandwidth h, Mercer width √2·h, ``gamma``."""

import math


def mercer_width(bandwidth: float) -> float:
    """Width of the Mercer kernel of two Gaussian Parzen windows of width `bandwidth`.

    ∫ W_h(x − u) W_h(u − y) du is a Gaussian of width √2·h in x − y.
    """
    return math.sqrt(2.0) * bandwidth


def parzen_bandwidth(width: float) -> float:
    """Parzen bandwidth whose Mercer kernel has this `width`: the inverse of `mercer_width`."""
    return width / math.sqrt(2.0)


def cross_width(bandwidth_x: float, bandwidth_y: float) -> float:
    """Width of the overlap of two Gaussian windows of different widths, √(h₁² + h₂²).

    >>> cross_width(3.0, 4.0)
    5.0
    """
    return math.hypot(bandwidth_x, bandwidth_y)


def gamma_from_width(width: float) -> float:
    """Return scikit-learn's ``gamma`` of a Gaussian kernel of this `width`: 1 / (2·width²)."""
    return 0.5 / width**2


def width_from_gamma(gamma: float) -> float:
    """Width of the Gaussian kernel exp(−gamma·r²): the inverse of `gamma_from_width`."""
    return math.sqrt(0.5 / gamma)

"""Conversions between widths: Parzen bandwidth h, Mercer width √2·h, ``gamma``."""

import math

from mercer.kernels._kernels import check_width


def mercer_width(bandwidth: float) -> float:
    """Width of the Mercer kernel of two Gaussian Parzen windows of width `bandwidth`.

    ∫ W_h(x − u) W_h(u − y) du is a Gaussian of width √2·h in x − y.

    Parameters
    ----------
    bandwidth : float
        Width h of the windows.

    Returns
    -------
    float
        The width √2·h.
    """
    return _in_range(math.sqrt(2.0) * check_width(bandwidth), f"bandwidth={bandwidth:g}")


def parzen_bandwidth(width: float) -> float:
    """Parzen bandwidth whose Mercer kernel has this `width`: the inverse of `mercer_width`.

    Parameters
    ----------
    width : float
        Width of the Mercer kernel.

    Returns
    -------
    float
        The bandwidth width/√2.
    """
    return _in_range(check_width(width, "width") / math.sqrt(2.0), f"width={width:g}")


def cross_width(bandwidth_x: float, bandwidth_y: float) -> float:
    """Width of the overlap of two Gaussian windows of different widths, √(h₁² + h₂²).

    Parameters
    ----------
    bandwidth_x, bandwidth_y : float
        Widths h₁ and h₂ of the windows.

    Returns
    -------
    float
        The width of their overlap.

    Examples
    --------
    >>> cross_width(3.0, 4.0)
    5.0
    """
    x, y = check_width(bandwidth_x, "bandwidth_x"), check_width(bandwidth_y, "bandwidth_y")
    return _in_range(math.hypot(x, y), f"bandwidth_x={x:g} with bandwidth_y={y:g}")


def gamma_from_width(width: float) -> float:
    """Return scikit-learn's ``gamma`` of a Gaussian kernel of this `width`: 1 / (2·width²).

    Parameters
    ----------
    width : float
        Width of the kernel exp(−r²/2·width²).

    Returns
    -------
    float
        The same kernel's gamma.
    """
    width = check_width(width, "width")
    return _in_range(0.5 / width / width, f"width={width:g}")


def width_from_gamma(gamma: float) -> float:
    """Width of the Gaussian kernel exp(−gamma·r²): the inverse of `gamma_from_width`.

    Parameters
    ----------
    gamma : float
        As scikit-learn has it.

    Returns
    -------
    float
        The width of the same kernel.
    """
    return math.sqrt(0.5) / math.sqrt(check_width(gamma, "gamma"))


def _in_range(result: float, given: str) -> float:
    """Return a result that is positive and finite; refuse what was given if it is not."""
    if not 0 < result < math.inf:
        raise ValueError(f"{given} is too extreme: what it is converted to is {result}.")
    return result

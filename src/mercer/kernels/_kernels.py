"""The five kernels as frozen descriptions: profile, logarithm, integrals; and their widths.

A Parzen bandwidth h, the Mercer width √2·h and scikit-learn's ``gamma`` are converted here only.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from math import inf, lgamma, log, pi
from operator import add
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from mercer._arrays import Array


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel k(r²/b²) of the distance r of two points, with k(0) = 1.

    Parameters
    ----------
    name : str
        What users write.
    is_mercer : bool
        Whether the kernel is positive definite in every dimension.
    bandwidth_power : {1, 2}
        k depends on ``coefficient(b) * r**p`` with this p, and the coefficient on b**−p.
    is_exponential : bool
        Whether log k is linear in that product: sums then need a common factor taken out
        (everything may underflow) and doubling the coefficient squares the kernel.
    is_smooth : bool
        Whether k is a smooth function of r² at zero.  If not, small distances must be
        accurate, and the product formula ‖x‖² + ‖y‖² − 2x·y, which loses them, is not used.
    metric : {"euclidean", "cityblock"}
        Which distance r is: √Σ(xₖ − yₖ)², or Σ|xₖ − yₖ|.
    """

    name: str
    is_mercer: bool
    bandwidth_power: int
    is_exponential: bool
    is_smooth: bool
    metric: str = "euclidean"

    def squared_distances(self, differences: Iterable[Array]) -> Array:
        """Return r² from the differences of one coordinate after the other."""
        if self.metric == "euclidean":
            return _added_up(difference * difference for difference in differences)
        r = _added_up(abs(difference) for difference in differences)
        return r * r

    def coefficient(self, bandwidth: float) -> float:
        """Return what r**bandwidth_power is multiplied by inside the profile."""
        return float(_over_power(1.0, check_width(bandwidth), self.bandwidth_power))

    def profile(self, squared_distance: Array, bandwidth: float) -> Array:
        """Return k at these squared distances."""
        with np.errstate(over="ignore", under="ignore"):  # The limits 0 and 1 are right.
            return self._profile(*_with_namespace(squared_distance), check_width(bandwidth))

    def log_profile(self, squared_distance: Array, bandwidth: float) -> Array:
        """Return log k at these squared distances, also where k underflows."""
        with np.errstate(over="ignore", under="ignore"):  # The limits −inf and 0 are right.
            return self._log_profile(*_with_namespace(squared_distance), check_width(bandwidth))

    @abstractmethod
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array: ...

    @abstractmethod
    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array: ...

    @abstractmethod
    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        """Return log ∫ k over all space; ValueError where the integral diverges."""

    @abstractmethod
    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        """Return log ∫ k² over all space; ValueError where the integral diverges."""

    def require_mercer(self, needed_by: str) -> None:
        """Raise ValueError, naming who needs it, unless this is a Mercer kernel."""
        if not self.is_mercer:
            good = ", ".join(repr(k.name) for k in KERNELS.values() if k.is_mercer)
            raise ValueError(
                f"{needed_by} needs a Mercer (positive definite) kernel and {self.name!r} is not "
                f"one; use one of {good}."
            )


class _Gaussian(Kernel):
    def coefficient(self, bandwidth: float) -> float:
        return float(_over_power(0.5, check_width(bandwidth), 2))

    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return xp.exp(self._log_profile(d2, xp, bandwidth))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        if _has_square(bandwidth):
            return d2 * (-0.5 / bandwidth**2)
        return -0.5 * _over_power(d2, bandwidth, 2)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        return n_features * (0.5 * log(2 * pi) + _log_width(bandwidth))

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        return n_features * (0.5 * log(pi) + _log_width(bandwidth))


class _Exponential(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return xp.exp(self._log_profile(d2, xp, bandwidth))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        # The root has no derivative at zero; taking it of 1 there keeps gradients finite.
        zero = d2 == 0
        root = xp.sqrt(xp.where(zero, xp.ones_like(d2), d2))
        return xp.where(zero, xp.zeros_like(d2), -root / bandwidth)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        # ∫ exp(−r/b) = (area of the unit sphere) · Γ(d) · bᵈ
        return (
            _log_sphere_area(n_features) + lgamma(n_features) + n_features * _log_width(bandwidth)
        )

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        return self.log_normaliser(bandwidth, n_features) - n_features * log(
            2
        )  # k² has half the width


class _Laplacian(_Exponential):
    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        return n_features * (log(2) + _log_width(bandwidth))  # of each coordinate, ∫ exp(−|t|/b)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        return n_features * _log_width(bandwidth)


class _Epanechnikov(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        inside = 1 - _over_power(d2, bandwidth, 2)
        return xp.where(inside <= 0, xp.zeros_like(d2), inside)  # and NaN stays NaN

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        u = _over_power(d2, bandwidth, 2)
        beyond = u >= 1
        log_inside = xp.log1p(-xp.where(beyond, xp.zeros_like(u), u))
        return xp.where(beyond, xp.full_like(u, -inf), log_inside)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        # ∫ (1 − r²) over the unit ball = (its volume) · 2 / (d + 2)
        d = n_features
        return _log_ball_volume(d) + log(2 / (d + 2)) + d * _log_width(bandwidth)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        d = n_features
        return _log_ball_volume(d) + log(8 / ((d + 2) * (d + 4))) + d * _log_width(bandwidth)


class _Cauchy(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return 1 / (1 + _over_power(d2, bandwidth, 2))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        u = _over_power(d2, bandwidth, 2)
        # Where u overflows, 1 + u is u, whose logarithm is that of the distance over the width.
        beyond = (u == inf) & (d2 < inf)
        logs = xp.log(xp.where(beyond, d2, xp.ones_like(d2))) - 2 * log(bandwidth)
        return -xp.where(beyond, logs, xp.log1p(xp.where(beyond, xp.zeros_like(u), u)))

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        if n_features > 1:
            raise ValueError(
                "kernel 'cauchy' is not a density in two or more dimensions: its integral "
                f"diverges (the data have {n_features} columns); use 'gaussian' or 'exponential'."
            )
        return log(pi) + _log_width(bandwidth)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        d = n_features
        if d > 3:
            raise ValueError(
                "kernel 'cauchy' has no finite self-overlap in four or more dimensions "
                f"(the data have {d} columns); use 'gaussian' or 'exponential'."
            )
        # ∫ rᵈ⁻¹ / (1 + r²)² dr = B(d/2, 2 − d/2) / 2
        log_beta = lgamma(d / 2) + lgamma(2 - d / 2)
        return _log_sphere_area(d) + log_beta - log(2) + d * _log_width(bandwidth)


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        _Gaussian("gaussian", True, 2, True, True),
        _Exponential("exponential", True, 1, True, False),
        _Laplacian("laplacian", True, 1, True, False, "cityblock"),
        _Epanechnikov("epanechnikov", False, 2, False, True),
        _Cauchy("cauchy", True, 2, False, True),
    )
}


def get_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel of that name (a `Kernel` is returned as it is).

    Parameters
    ----------
    kernel : {"gaussian", "exponential", "laplacian", "epanechnikov", "cauchy"} or Kernel
        A name, or a kernel, which is returned as it is.

    Returns
    -------
    Kernel
        What the name stands for.

    Examples
    --------
    >>> get_kernel("epanechnikov").is_mercer
    False
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    names = ", ".join(map(repr, KERNELS))
    raise ValueError(f"kernel must be one of {names}; got {kernel!r}.")


def check_width(width: float, name: str = "bandwidth") -> float:
    """Return a width as a number; ValueError unless it is positive and finite."""
    number = float(width)
    if not 0 < number < inf:
        raise ValueError(f"{name} must be positive and finite, got {width!r}.")
    return number


def _log_width(bandwidth: float) -> float:
    return log(check_width(bandwidth))


def _has_square(width: float) -> bool:
    """Whether width² is an ordinary number, neither infinite nor short of digits."""
    return 1e-150 < width < 1e150


def _over_power(value: Any, width: float, power: int) -> Any:
    """Return value / width**power, also where that power is beyond floating point."""
    if power == 2 and not _has_square(width):
        return value / width / width
    return value / width**power


def _added_up(terms: Iterable[Array]) -> Array:
    return reduce(add, terms)


def _with_namespace(squared_distance: Array) -> tuple[Array, Any]:
    if not is_array_api_obj(squared_distance):
        squared_distance = np.asarray(squared_distance, dtype=float)
    return squared_distance, array_namespace(squared_distance)


def _log_sphere_area(d: int) -> float:
    return log(2) + 0.5 * d * log(pi) - lgamma(d / 2)


def _log_ball_volume(d: int) -> float:
    return 0.5 * d * log(pi) - lgamma(d / 2 + 1)


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


def overlap_width(kernel: Kernel, bandwidth_x: float, bandwidth_y: float) -> float:
    """Return the width of the kernel whose double sum is the overlap of two Parzen estimates.

    Gaussian windows overlap as a Gaussian of width √(h₁² + h₂²), EQ eq. (21).  Of others the
    kernel itself is summed, EQ eq. (62).
    """
    if kernel.name == "gaussian":
        return cross_width(bandwidth_x, bandwidth_y)
    if bandwidth_x != bandwidth_y:
        raise ValueError(
            f"Two bandwidths, {bandwidth_x:g} and {bandwidth_y:g}, need kernel='gaussian', got "
            f"{kernel.name!r}; pass one bandwidth."
        )
    return bandwidth_x


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
    """Return a result of a conversion; ValueError unless it is positive and finite."""
    if not 0 < result < math.inf:
        raise ValueError(f"{given} is too extreme: it would be converted to {result}.")
    return result

"""The four kernels as frozen descriptions: profile, logarithm, integrals."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, lgamma, log, pi
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

Array = Any


@dataclass(frozen=True)
class Kernel(ABC):
    """A radial kernel k(r²/b²) with k(0) = 1.

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
    """

    name: str
    is_mercer: bool
    bandwidth_power: int
    is_exponential: bool
    is_smooth: bool

    def coefficient(self, bandwidth: float) -> float:
        """Return what r**bandwidth_power is multiplied by inside the profile."""
        return float(bandwidth) ** -self.bandwidth_power

    def profile(self, squared_distance: Array, bandwidth: float) -> Array:
        """Return k at these squared distances."""
        return self._profile(*_with_namespace(squared_distance), bandwidth)

    def log_profile(self, squared_distance: Array, bandwidth: float) -> Array:
        """Return log k at these squared distances, also where k underflows."""
        return self._log_profile(*_with_namespace(squared_distance), bandwidth)

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
        return 0.5 / float(bandwidth) ** 2

    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return xp.exp(self._log_profile(d2, xp, bandwidth))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return d2 * (-0.5 / bandwidth**2)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        return n_features * (0.5 * log(2 * pi) + log(bandwidth))

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        return n_features * (0.5 * log(pi) + log(bandwidth))


class _Laplace(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return xp.exp(self._log_profile(d2, xp, bandwidth))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        # The root has no derivative at zero; taking it of 1 there keeps gradients finite.
        zero = d2 == 0
        root = xp.sqrt(xp.where(zero, xp.ones_like(d2), d2))
        return xp.where(zero, xp.zeros_like(d2), -root / bandwidth)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        # ∫ exp(−r/b) = (area of the unit sphere) · Γ(d) · bᵈ
        return _log_sphere_area(n_features) + lgamma(n_features) + n_features * log(bandwidth)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        return self.log_normaliser(bandwidth / 2, n_features)  # k² has half the width


class _Epanechnikov(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        inside = 1 - d2 / bandwidth**2
        return xp.where(inside > 0, inside, xp.zeros_like(d2))

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        u = d2 / bandwidth**2
        inside = u < 1
        log_inside = xp.log1p(-xp.where(inside, u, xp.zeros_like(u)))
        return xp.where(inside, log_inside, xp.full_like(u, -inf))

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        # ∫ (1 − r²) over the unit ball = (its volume) · 2 / (d + 2)
        d = n_features
        return _log_ball_volume(d) + log(2 / (d + 2)) + d * log(bandwidth)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        d = n_features
        return _log_ball_volume(d) + log(8 / ((d + 2) * (d + 4))) + d * log(bandwidth)


class _Cauchy(Kernel):
    def _profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return 1 / (1 + d2 / bandwidth**2)

    def _log_profile(self, d2: Array, xp: Any, bandwidth: float) -> Array:
        return -xp.log1p(d2 / bandwidth**2)

    def log_normaliser(self, bandwidth: float, n_features: int) -> float:
        if n_features > 1:
            raise ValueError(
                "kernel 'cauchy' is no density in two or more dimensions: its integral "
                f"diverges (the data have {n_features} columns); use 'gaussian' or 'laplace'."
            )
        return log(pi) + log(bandwidth)

    def log_self_overlap(self, bandwidth: float, n_features: int) -> float:
        d = n_features
        if d > 3:
            raise ValueError(
                "kernel 'cauchy' has no finite self-overlap in four or more dimensions "
                f"(the data have {d} columns); use 'gaussian' or 'laplace'."
            )
        # ∫ rᵈ⁻¹ / (1 + r²)² dr = B(d/2, 2 − d/2) / 2
        log_beta = lgamma(d / 2) + lgamma(2 - d / 2)
        return _log_sphere_area(d) + log_beta - log(2) + d * log(bandwidth)


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        _Gaussian("gaussian", True, 2, True, True),
        _Laplace("laplace", True, 1, True, False),
        _Epanechnikov("epanechnikov", False, 2, False, True),
        _Cauchy("cauchy", True, 2, False, True),
    )
}


def get_kernel(kernel: str | Kernel) -> Kernel:
    """Return the kernel of that name (a `Kernel` is returned as it is).

    >>> get_kernel("epanechnikov").is_mercer
    False
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]
    names = ", ".join(map(repr, KERNELS))
    raise ValueError(f"kernel must be one of {names}; got {kernel!r}.")


def _with_namespace(squared_distance: Array) -> tuple[Array, Any]:
    if not is_array_api_obj(squared_distance):
        squared_distance = np.asarray(squared_distance, dtype=float)
    return squared_distance, array_namespace(squared_distance)


def _log_sphere_area(d: int) -> float:
    return log(2) + 0.5 * d * log(pi) - lgamma(d / 2)


def _log_ball_volume(d: int) -> float:
    return 0.5 * d * log(pi) - lgamma(d / 2 + 1)

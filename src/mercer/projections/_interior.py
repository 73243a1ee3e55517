"""The hinge support vector machine by an interior-point method on few coordinates."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer._arrays import FloatArray

_MAX_ITER = 100
_GAP = 1e-11  # The iteration ends at this mean complementarity gap,
_RESIDUAL = 1e-7  # with residuals of the equations below this.
_STALLED = 1e-6  # Below this gap, one that does not fall any more ends the iteration too.
_LOST = 1e-3  # A step with a residual above this, in units of the margin, is lost to rounding.


@dataclass
class _Iterate:
    """Duals μ, the room C − μ above them, the intercept, multipliers of both bounds.

    A direction has the same parts.
    """

    mu: FloatArray
    room: FloatArray
    b: float
    z: FloatArray
    s: FloatArray

    def moved(self, by: "_Iterate", length: float) -> "_Iterate":
        """Return the point that is `length` steps along a direction."""
        parts = vars(self).items()
        return _Iterate(**{name: part + length * getattr(by, name) for name, part in parts})

    def gap(self) -> float:
        """Return the mean complementarity gap."""
        return float(self.mu @ self.z + self.room @ self.s) / (2 * len(self.mu))

    def longest(self, by: "_Iterate") -> float:
        """Return the step at which the first of the positive parts becomes zero; at most 1."""
        pairs = ((self.mu, by.mu), (self.room, by.room), (self.z, by.z), (self.s, by.s))
        ratios = [np.min(-value[d < 0] / d[d < 0], initial=1.0) for value, d in pairs]
        return float(min(ratios))


def interior_point(
    G: FloatArray, signs: FloatArray, C: FloatArray
) -> tuple[FloatArray, float, NDArray[np.int8]]:
    r"""Solve the dual of the support vector machine on rows G, n × r, with the price C of each.

    .. math:: \min_\mu \tfrac12 \mu^\top HH^\top \mu - 1^\top\mu, \quad 0 \le \mu \le C,
              \quad y^\top \mu = 0, \qquad H = \mathrm{diag}(y)\, G

    Each of twenty to fifty iterations costs n·r² (Fine and Scheinberg 2001: the inverse of a
    diagonal plus HHᵀ by an r × r factor); their number depends little on C and on scale.

    Return the duals, within 1e-9 or so, the intercept, and the side on which a bound holds each
    dual: −1 for the lower one, 1 for the upper one, 0 where it is free.  A bound holds a dual if
    its multiplier outweighs the room to it.
    """
    # Duals of rows with a small price are small: their bounds and the gap are measured in units of
    # that price.
    unit = np.minimum(1.0, C / min(1.0, C.max()))
    H = signs[:, np.newaxis] * G
    mu = np.minimum(1.0, 0.5 * C)
    slope = H @ (H.T @ mu) - 1.0
    at = _Iterate(mu, C - mu, 0.0, np.maximum(slope, 0.0) + 1.0, np.maximum(-slope, 0.0) + 1.0)
    sound, last = at, np.inf
    for _ in range(_MAX_ITER):
        dual = H @ (H.T @ at.mu) - 1.0 + at.b * signs - at.z + at.s
        primal = float(signs @ at.mu)
        gap = at.gap()
        error = float(np.abs(dual).max())
        is_feasible = error < _RESIDUAL and abs(primal) < _RESIDUAL * len(signs)
        if gap < _GAP * unit.min() and is_feasible:
            break
        if is_feasible or gap >= _STALLED:
            sound = at
        elif error > _LOST:
            at = sound
            break
        if gap >= last and gap < _STALLED:  # Rounding keeps the gap from falling any further.
            break
        last = gap
        try:
            newton = _newton(H, signs, at, dual, primal)
        except linalg.LinAlgError:  # Rounding has made the system singular.
            break
        # Mehrotra: a step towards the boundary tells how far to aim at the central path.
        to = newton(-at.z * at.mu, -at.s * at.room)
        reached = at.moved(to, at.longest(to)).gap()
        centre = gap * (reached / gap) ** 3
        to = newton(centre - at.z * at.mu - to.z * to.mu, centre - at.s * at.room - to.s * to.room)
        at = at.moved(to, 0.995 * at.longest(to))
    side = np.where(at.mu < unit * at.z, -1, np.where(at.room < unit * at.s, 1, 0)).astype(np.int8)
    return at.mu, at.b, side


def _newton(
    H: FloatArray, signs: FloatArray, at: _Iterate, dual: FloatArray, primal: float
) -> Callable[[FloatArray, FloatArray], _Iterate]:
    """Return the Newton direction as a function of the two complementarity residuals."""
    root = np.sqrt(1.0 / (at.z / at.mu + at.s / at.room))
    S = H * root[:, np.newaxis]
    inner = linalg.blas.dsyrk(1.0, S.T, lower=True)  # one triangle only, in half the time
    inner[np.diag_indices_from(inner)] += 1.0
    factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def solve(right: FloatArray) -> FloatArray:  # (weight + HHᵀ)⁻¹
        scaled = root * right
        small: FloatArray = linalg.cho_solve(factor, S.T @ scaled, check_finite=False)
        return root * (scaled - S @ small)

    across = solve(signs)
    if not signs @ across > 0:
        raise linalg.LinAlgError("Rounding has left no equation for the intercept.")

    def direction(to_z: FloatArray, to_s: FloatArray) -> _Iterate:
        straight = solve(to_z / at.mu - to_s / at.room - dual)
        b = float((signs @ straight + primal) / (signs @ across))
        mu = straight - b * across
        return _Iterate(mu, -mu, b, (to_z - at.z * mu) / at.mu, (to_s + at.s * mu) / at.room)

    return direction

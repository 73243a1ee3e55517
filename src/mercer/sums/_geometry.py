"""How distances are computed so that neither scale, offset nor spread costs accuracy.

Coordinates are multiplied by a power of two (exact) that brings the widest bandwidth near 1.
Squared distances then come from one of two formulas:

* differences, Σ (x − y)²: accurate whatever the data; free at small d;
* products, ‖x‖² + ‖y‖² − 2x·y about a centre: up to half again as fast at large d, but with an
  absolute error of some eps·r², where r is the radius of the data about the centre.

Products are taken at d > 4 while that error stays within what the sums promise.

A ladder of bandwidths needs few exponentials and many squarings: exp(−d²/2h²) for h, h/√2, h/2, …
are successive squares.  Squaring doubles the relative error, so that a fresh exponential is taken
after three of them.
"""

from dataclasses import dataclass
from math import e, frexp, inf, log2
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, itemsize, like
from mercer._memory import row_slabs, working_memory
from mercer.kernels import Kernel
from mercer.sums._problem import Box, Problem

DIFFERENCES_UP_TO = 4  # Up to this many features distances are computed by differences.
# By bytes of a number: the largest exponent at the radius, r²/2b², at which products are accurate
# enough for sums, for logs, and at precision="fast", which keeps at least the order of magnitude.
_PRODUCTS_UP_TO = {4: (2.0**8, 2.0**5, 2.0**20), 8: (2.0**16, 2.0**9, 2.0**49)}
# Scaled coordinates stay below this power of two, so that sums of their squares are finite.
_LARGEST_EXPONENT = {4: 50, 8: 480}
RUNGS_AT_ONCE = 4  # One exponential serves this many rungs: itself and three squarings.
_ROUNDING = 8  # A ladder that users compute in floating point may be off by this many eps.


@dataclass(frozen=True)
class Geometry:
    """Scaled coordinates: x·scale − centre.

    Parameters
    ----------
    scale : float
        A power of two.
    centre : array of shape (d,) or None
        Where products are centred; None asks for differences.
    bandwidths : tuple of float
        The problem's, scaled.
    """

    scale: float
    centre: Array | None
    bandwidths: tuple[float, ...]


def choose_geometry(
    problem: Problem,
    products_up_to: tuple[float, float, float] | None = None,
    at_few_features: float = 0.0,
) -> Geometry:
    """Choose scale and formula from the data's extent; a pass or two over X and Y.

    A backend whose products are better than float32 or float64 arithmetic says up to which exponent
    at the radius: for sums, logs, at precision="fast", and for at most four features.
    """
    arrays = [problem.X] if problem.self_sum else [problem.X, problem.Y]
    box = problem.box or Box.of(*arrays)
    scale = _scale(problem, box.extent)
    bandwidths = tuple(b * scale for b in problem.bandwidths)
    # Beyond these limits squares would leave the range of float64.
    in_range = bandwidths[-1] > 1e-150
    if problem.log and not problem.kernel.is_exponential:
        in_range = in_range and box.extent * scale < 1e150 * bandwidths[-1]
    if not in_range:
        raise ValueError(
            f"bandwidth={problem.bandwidths[-1]:g} is too small for coordinates as large as "
            f"{box.extent:g}: the square of their ratio is beyond the range of floating point."
        )
    low, high = scale * box.low / 2, scale * box.high / 2

    limits = products_up_to or _PRODUCTS_UP_TO[itemsize(problem.X)]
    limit = limits[problem.log] if problem.precision == "high" else limits[2]
    if problem.X.shape[1] <= DIFFERENCES_UP_TO:
        limit = min(limit, at_few_features)
    # The root of a small square needs products that are better than the rows' own arithmetic.
    is_rough = not problem.kernel.is_smooth or (
        problem.kernel.bandwidth_power == 1 and products_up_to is None
    )
    if limit == 0 or is_rough:
        return Geometry(scale, None, bandwidths)
    largest = limit / problem.kernel.coefficient(bandwidths[-1])
    if problem.middle is not None:
        is_near, centre = problem.middle.number * scale**2 <= largest, problem.middle.centre
        return Geometry(scale, centre * scale if is_near else None, bandwidths)
    centre = like(low + high, problem.X)
    is_near = float(((high - low) ** 2).sum()) <= largest
    if is_near or max(_radius(A, scale, centre) for A in arrays) <= largest:
        return Geometry(scale, centre, bandwidths)
    return Geometry(scale, None, bandwidths)


def _scale(problem: Problem, extent: float) -> float:
    """Return the power of two that takes the widest bandwidth near 1 and keeps squares finite."""
    exponent = frexp(problem.bandwidths[0])[1]
    if extent > 0:
        largest = _LARGEST_EXPONENT[itemsize(problem.X)]
        if problem.kernel.metric == "cityblock":  # whose sums over the features are squared
            largest -= 10
        exponent = max(exponent, frexp(extent)[1] - largest)
    most = 120 if itemsize(problem.X) == 4 else 1000
    return float(2.0 ** -min(max(exponent, -most), most))


def _radius(A: Array, scale: float, centre: Array) -> float:
    """Return the largest squared distance to the centre; infinite if it is not a number."""
    xp: Any = array_namespace(A)
    largest = 0.0
    bytes_per_row = 4 * A.shape[1] * itemsize(A)
    for start, stop in row_slabs(A.shape[0], bytes_per_row, min(working_memory(), 2**26)):
        norms = xp.sum((A[start:stop, :] * scale - centre) ** 2, axis=1)
        largest = float(np.maximum(largest, float(xp.max(norms))))  # keeps NaN
    return largest if np.isfinite(largest) else inf


def climb(kernel: Kernel, bandwidths: tuple[float, ...], eps: float) -> list[tuple[float, int]]:
    """Return (coefficient, number of rungs that follow from it by squaring, itself included).

    `bandwidths` are the widest first; the coefficient of an exponential kernel is in base 2,
    so that k = 2**(−coefficient·u).

    >>> from mercer.kernels import get_kernel
    >>> climb(get_kernel("cauchy"), (1.0, 0.5), 1e-16)
    [(1.0, 1), (4.0, 1)]
    """
    per_base = log2(e) if kernel.is_exponential else 1.0
    steps: list[tuple[float, int]] = []
    for bandwidth in bandwidths:
        c = kernel.coefficient(bandwidth) * per_base
        if kernel.is_exponential and steps:
            first, rungs = steps[-1]
            if rungs < RUNGS_AT_ONCE and abs(c / (first * 2**rungs) - 1) < _ROUNDING * eps:
                steps[-1] = first, rungs + 1
                continue
        steps.append((c, 1))
    return steps

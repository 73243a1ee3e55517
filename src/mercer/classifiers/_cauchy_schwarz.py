"""Weights of two classes that make the angle between their means as small as it gets.

The support vector machine weighs points so that the weighted class densities are as close as the
constraints allow, measured by the ISE.  The second paper closes with a question: would the
Cauchy–Schwarz divergence do?  This minimises it,

    D(α) = −log ⟨m₁, m₂⟩ + ½ log ‖m₁‖² + ½ log ‖m₂‖²,   m_s = Σ_{i in s} α_i Φ(x_i),

over weights that add up to 1 on either side, none above (1 + C)/N_s: with C = 0 they are all
equal, and the larger C, the fewer rows near the boundary carry them.  Projected gradients
with step lengths from the last two steps [1]_.

References
----------
.. [1] E. G. Birgin, J. M. Martínez and M. Raydan, "Nonmonotone spectral projected gradient
   methods on convex sets", SIAM Journal on Optimization 10(4), 2000.
   https://doi.org/10.1137/S1052623497330963
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels import get_kernel
from mercer.sums._geometry import working_memory

Vector = NDArray[np.float64]
_STEPS = 1000
_CLOSE = 1e-13  # of the divergence, from step to step, relatively
_MEMORY = 10  # steps whose worst value a new one must beat


def kernel_matrix(X: NDArray[Any], width: float) -> NDArray[np.float64]:
    """Return the kernel matrix, if it fits the memory budget."""
    n_bytes = 3 * 8 * X.shape[0] ** 2
    if n_bytes > working_memory():
        raise ValueError(
            f"weighting='cauchy_schwarz' needs the kernel matrix of all {X.shape[0]} rows, "
            f"{n_bytes / 2**20:.0f} MiB with its temporaries, more than working_memory="
            f"{working_memory() / 2**20:.0f} MiB; use weighting='margin'."
        )
    from scipy.spatial.distance import cdist

    K: NDArray[np.float64] = get_kernel("gaussian").profile(cdist(X, X, "sqeuclidean"), width)
    return K


def cauchy_schwarz_weights(
    K: NDArray[np.float64], is_positive: NDArray[np.bool_], weights: Vector, C: float
) -> Vector:
    """Return weights of all rows, those of the negative side with a minus sign.

    A row of weight ω may carry ω times as much as one of weight 1.
    """
    sides = [np.flatnonzero(is_positive), np.flatnonzero(~is_positive)]
    caps = [(1 + C) * weights[side] / weights[side].sum() for side in sides]
    alpha = np.zeros(weights.size)
    for side in sides:
        alpha[side] = weights[side] / weights[side].sum()

    def value_and_gradient(alpha: Vector) -> tuple[float, Vector]:
        first, second = (_on(alpha, side) for side in sides)
        K1, K2 = K @ first, K @ second
        cross, v1, v2 = first @ K2, first @ K1, second @ K2
        gradient = np.where(is_positive, -K2 / cross + K1 / v1, -K1 / cross + K2 / v2)
        return float(-np.log(cross) + 0.5 * np.log(v1) + 0.5 * np.log(v2)), gradient

    def project(alpha: Vector) -> Vector:
        out = np.empty_like(alpha)
        for side, cap in zip(sides, caps, strict=True):
            out[side] = _capped_simplex(alpha[side], cap)
        return out

    value, gradient = value_and_gradient(alpha)
    recent = [value]
    step = 1 / max(np.abs(gradient).max(), 1e-300)
    for _ in range(_STEPS):
        direction = project(alpha - step * gradient) - alpha
        slope = float(direction @ gradient)
        if slope > -1e-14 * max(1.0, abs(value)):
            break
        length = 1.0
        while True:
            trial = alpha + length * direction
            new_value, new_gradient = value_and_gradient(trial)
            if new_value <= max(recent) + 1e-4 * length * slope or length < 1e-10:
                break
            length /= 2
        s, change = trial - alpha, new_gradient - gradient
        curvature = float(s @ change)
        step = float(s @ s) / curvature if curvature > 0 else step * 2
        alpha, value, gradient = trial, new_value, new_gradient
        recent = [*recent[-_MEMORY + 1 :], value]
        if len(recent) == _MEMORY and max(recent) - min(recent) < _CLOSE * max(1.0, abs(value)):
            break
    return np.where(is_positive, alpha, -alpha)


def _on(alpha: Vector, rows: NDArray[np.int64]) -> Vector:
    part = np.zeros_like(alpha)
    part[rows] = alpha[rows]
    return part


def _capped_simplex(v: Vector, cap: Vector) -> Vector:
    """Return the nearest vector with entries in [0, cap] that add up to 1.

    It is clip(v − t, 0, cap) for the t at which the sum is 1; the sum falls in straight pieces
    between the sorted breakpoints.
    """
    breaks = np.sort(np.concatenate([v, v - cap]))
    low, high = 0, breaks.size - 1  # the sum is ≥ 1 at breaks[low] and ≤ 1 at breaks[high]
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(v - breaks[middle], 0, cap).sum() >= 1:
            low = middle
        else:
            high = middle
    at_low = np.clip(v - breaks[low], 0, cap).sum()
    at_high = np.clip(v - breaks[high], 0, cap).sum()
    t = breaks[low]
    if at_low > at_high:
        t += (at_low - 1) / (at_low - at_high) * (breaks[high] - breaks[low])
    out: Vector = np.clip(v - t, 0, cap)
    return out

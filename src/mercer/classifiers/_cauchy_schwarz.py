"""Weights of two classes that make the angle between their means as small as possible.

The support vector machine weighs points so that the weighted class densities are as close as the
constraints allow, measured by the ISE.  The second paper closes with a question: would the
Cauchy–Schwarz divergence do?  This minimises it,

    D(α) = −log ⟨m₁, m₂⟩ + ½ log ‖m₁‖² + ½ log ‖m₂‖²,   m_s = Σ_{i in s} α_i Φ(x_i),

over weights that add up to 1 on either side, none above (1 + C)/N_s: with C = 0 they are all
equal, and the larger C, the fewer rows near the boundary carry them.  The method is projected
gradients with step lengths from the last two steps [1]_, until no weight changes any more.  With a
C so large that the two sides can have the same mean, D reaches 0 and its minimum is not unique.

Between the sides only ratios of kernel values count, so that these are taken relative to
the largest: sides far from each other do not underflow.

References
----------
.. [1] E. G. Birgin, J. M. Martínez and M. Raydan, "Nonmonotone spectral projected gradient
   methods on convex sets", SIAM Journal on Optimization 10(4), 2000.
   https://doi.org/10.1137/S1052623497330963
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer._memory import working_memory
from mercer.kernels import Kernel
from mercer.samples import power_of_two

_STEPS = 1000  # the most steps of the descent
_STILL = 1e-12  # The descent ends when no weight would change by more than this.
_NOISE = 1e-15  # the relative rounding of the divergence
_MEMORY = 10  # A new value must be below the largest of this many last ones.


def log_kernel_matrix(
    X: NDArray[Any], kernel: Kernel, width: float, option: str, instead: str
) -> NDArray[np.float64]:
    """Return the logarithms of the kernel matrix, if that fits the memory budget.

    If not, the error says which option needs it, and what to use instead.
    """
    n_bytes = 4 * 8 * X.shape[0] ** 2
    if n_bytes > working_memory():
        raise ValueError(
            f"{option} needs the kernel matrix of all {X.shape[0]} rows, "
            f"{n_bytes / 2**20:.0f} MiB with its temporaries, more than working_memory="
            f"{working_memory() / 2**20:.0f} MiB; use {instead}."
        )
    from scipy.spatial.distance import cdist

    X = np.asarray(X, dtype=np.float64)
    unit = power_of_two(X)  # so that squares stay in range
    distances = cdist(X / unit, X / unit, kernel.metric)
    logs: NDArray[np.float64] = kernel.log_profile(distances**2, width / unit)
    return logs


def cauchy_schwarz_weights(
    log_k: NDArray[np.float64], is_positive: NDArray[np.bool_], weights: FloatArray, C: float
) -> tuple[FloatArray, tuple[float, float]]:
    """Return weights of all rows, negative on the negative side, and log ‖m₁‖ and log ‖m₂‖.

    A row of weight ω may carry ω times as much as one of weight 1.
    """
    is_cross = is_positive[:, None] != is_positive
    K = np.exp(np.where(is_cross, log_k - log_k[is_cross].max(), log_k))
    sides = [np.flatnonzero(is_positive), np.flatnonzero(~is_positive)]
    caps = [(1 + C) * weights[side] / weights[side].sum() for side in sides]
    alpha = np.zeros(weights.size)
    for side in sides:
        alpha[side] = weights[side] / weights[side].sum()

    def value_and_gradient(alpha: FloatArray) -> tuple[float, FloatArray]:
        first, second = (_only_on(alpha, side) for side in sides)
        K1, K2 = K @ first, K @ second
        cross, v1, v2 = first @ K2, first @ K1, second @ K2
        if cross <= 0:  # All weight is on rows so far apart that their kernels underflow.
            return np.inf, np.zeros_like(alpha)
        gradient = np.where(is_positive, -K2 / cross + K1 / v1, -K1 / cross + K2 / v2)
        return float(-np.log(cross) + 0.5 * np.log(v1) + 0.5 * np.log(v2)), gradient

    def project(alpha: FloatArray) -> FloatArray:
        out = np.empty_like(alpha)
        for side, cap in zip(sides, caps, strict=True):
            out[side] = _capped_simplex(alpha[side], cap)
        return out

    value, gradient = value_and_gradient(alpha)
    recent = [value]
    step = 1 / max(np.abs(gradient).max(), 1e-300)
    for _ in range(_STEPS):
        if np.abs(project(alpha - gradient) - alpha).max() < _STILL:
            break
        direction = project(alpha - step * gradient) - alpha
        slope = float(direction @ gradient)
        length = 1.0
        while True:
            trial = alpha + length * direction
            new_value, new_gradient = value_and_gradient(trial)
            enough = max(recent) + 1e-4 * length * slope + _NOISE * abs(value)
            if new_value <= enough or length < 1e-10:
                break
            length /= 2
        if not np.isfinite(new_value):
            break
        s, change = trial - alpha, new_gradient - gradient
        curvature = float(s @ change)
        step = float(s @ s) / curvature if curvature > 0 else step * 2
        step = min(max(step, 1e-10), 1e10)
        alpha, value, gradient = trial, new_value, new_gradient
        recent = [*recent[-_MEMORY + 1 :], value]
    norms = [0.5 * float(np.log(part @ K @ part)) for part in (_only_on(alpha, s) for s in sides)]
    return np.where(is_positive, alpha, -alpha), (norms[0], norms[1])


def _only_on(alpha: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
    """Return the weights of these rows, and zero for all others."""
    part = np.zeros_like(alpha)
    part[rows] = alpha[rows]
    return part


def _capped_simplex(v: FloatArray, cap: FloatArray) -> FloatArray:
    """Return the nearest vector with entries in [0, cap] that add up to 1.

    It is clip(v − t, 0, cap) for the t at which the sum is 1.  The sum falls in straight pieces
    between sorted breakpoints: entry i falls from cap at v − cap to 0 at v.
    """
    breaks = np.concatenate([v - cap, v])
    order = np.argsort(breaks, kind="stable")
    breaks = breaks[order]
    n_falling = np.cumsum(np.where(order < v.size, 1, -1))[:-1]
    sums = cap.sum() - np.concatenate([[0.0], np.cumsum(n_falling * np.diff(breaks))])
    piece = min(max(int(np.searchsorted(-sums, -1.0)) - 1, 0), breaks.size - 2)
    low, high = breaks[piece], breaks[piece + 1]
    at_low, at_high = np.clip(v - low, 0, cap).sum(), np.clip(v - high, 0, cap).sum()
    share = (at_low - 1) / (at_low - at_high) if at_low > at_high else 0.0
    out: FloatArray = np.clip(v - low - share * (high - low), 0, cap)
    return out

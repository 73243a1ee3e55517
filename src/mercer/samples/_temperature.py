"""Temperature scaling: how sure a classifier may be, from the scores of rows that were left out.

C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
ICML, 1321-1330.
"""

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array

# Temperatures lie between these, and their logarithms are found to within the third.
_LEAST, _MOST, _CLOSE = 1e-3, 1e3, 1e-9
# A score may be lower than this, but its square would leave the range of floating point.
_LOWEST = -1e150


def fit_temperature(scores: Array, labels: Array, weights: Array) -> float:
    """Return the T at which exp(scores / T), as shares, give the classes of the rows the best odds.

    That is the least log-loss, which is convex in 1/T.  One number keeps the order of the classes
    in every row, so that no prediction changes.  The n rows count as n + 1 of their class and one
    of another, because no number of rows makes a class certain.

    Parameters
    ----------
    scores : array of shape (n_rows, n_classes)
        Logarithms of probabilities up to a constant, of rows that were not fitted; −inf is a class
        that cannot be.
    labels : array of int of shape (n_rows,)
        Classes.
    weights : array of shape (n_rows,)
        Weights of the rows; those of weight zero do not count.

    Returns
    -------
    float
        Between 1/1000 and 1000; 1 where the scores say nothing.
    """
    xp: Any = array_namespace(scores)
    possible = scores > -np.inf
    own = labels[:, None] == xp.arange(scores.shape[1], device=device(scores))
    weights = xp.where(xp.any(own & possible, axis=1), weights, 0.0)
    total = float(xp.sum(weights))
    if not 0 < total < np.inf:
        return 1.0
    weights = weights / total
    relative = xp.where(possible, scores - xp.max(scores, axis=1, keepdims=True), 0.0)
    # The targets, smoothed: what is wrong is shared by the other classes.
    wrong = 1.0 / (float(xp.sum(xp.astype(weights > 0, xp.float64))) + 2.0)
    others = xp.maximum(xp.sum(xp.astype(possible, xp.float64), axis=1) - 1.0, 1.0)
    target = xp.where(own, 1.0 - wrong, (wrong / others)[:, None])
    wanted = weights @ xp.sum(xp.where(possible, target * relative, 0.0), axis=1)

    def slopes(log_inverse: float) -> tuple[float, float]:
        """Return the derivative of the log-loss by 1/T, and how that one changes with log 1/T."""
        inverse = math.exp(log_inverse)
        shares = xp.where(possible, xp.exp(inverse * relative), 0.0)
        shares = shares / xp.sum(shares, axis=1, keepdims=True)
        mean = xp.sum(shares * relative, axis=1)
        spread = xp.maximum(relative - mean[:, None], xp.full_like(relative, _LOWEST))
        variance = xp.sum(shares * spread**2, axis=1)
        return float(weights @ mean - wanted), inverse * float(weights @ variance)

    low, high = -math.log(_MOST), -math.log(_LEAST)
    ends = (slopes(low)[0], slopes(high)[0])
    if not all(map(math.isfinite, ends)) or ends == (0, 0):
        return 1.0
    if ends[0] >= 0 or ends[1] <= 0:
        return _MOST if ends[0] >= 0 else _LEAST
    at, step = 0.0, high - low
    while high - low > _CLOSE and abs(step) > _CLOSE:
        slope, growth = slopes(at)
        low, high = (low, at) if slope > 0 else (at, high)
        # Newton's step, unless it leaves the bracket or the steps do not shrink to their halves.
        newton = -slope / growth if growth > 0 else math.inf
        is_good = low < at + newton < high and abs(newton) <= abs(step) / 2
        step = newton if is_good else (low + high) / 2 - at
        at = at + step
    return math.exp(-at)

"""Temperature scaling: how sure a classifier may be, from the scores of rows that were left out.

C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
ICML, 1321-1330.
"""

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array

# Temperatures lie between these, and are found in so many halvings of the logarithm.
_LEAST, _MOST, _HALVINGS = 1e-3, 1e3, 30


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

    def slope(log_inverse: float) -> float:
        """Return the derivative of the log-loss by 1/T."""
        shares = xp.where(possible, xp.exp(math.exp(log_inverse) * relative), 0.0)
        shares = shares / xp.sum(shares, axis=1, keepdims=True)
        return float(weights @ xp.sum(shares * relative, axis=1) - wanted)

    low, high = -math.log(_MOST), -math.log(_LEAST)
    ends = (slope(low), slope(high))
    if not all(map(math.isfinite, ends)) or ends == (0, 0):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return math.exp(-(low + high) / 2)

"""Temperature scaling: how sure a classifier may be, from the scores of rows that were left out.

C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017). On calibration of modern neural networks.
ICML, 1321-1330.
"""

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array, FloatArray, to_numpy

# Temperatures lie between these, and their logarithms are found to within the third.
_LEAST, _MOST, _CLOSE = 1e-3, 1e3, 1e-9
# A score may be lower than this, but its square would leave the range of floating point.
_LOWEST = -1e150
_STEPS = 60  # of Newton's method at most; some six are enough.


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
    found = _smoothed(scores, labels, weights)
    if found is None:
        return 1.0
    relative, possible, target, weights = found
    wanted = weights @ xp.sum(target * relative, axis=1)

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


def fit_biases(scores: Array, labels: Array, weights: Array) -> tuple[float, FloatArray]:
    """Return a temperature T and a bias of each class: scores / T + biases have the best odds.

    The log-loss is that of `fit_temperature`, and convex in 1/T and the biases b together.  These
    are shrunken towards zero as if they had been drawn with variance 1: with n rows the sum of
    losses has n terms, to which ½ Σ b² is added, so that few rows move them little.  They add up
    to zero.

    Parameters
    ----------
    scores, labels, weights : arrays
        As for `fit_temperature`.

    Returns
    -------
    temperature : float
        Positive.
    biases : NumPy array of shape (n_classes,)
        Zeros where the scores say nothing.
    """
    temperature, nothing = fit_temperature(scores, labels, weights), np.zeros(scores.shape[1])
    found = _smoothed(scores, labels, weights)
    if found is None or not bool(array_namespace(scores).all(found[0] == found[0])):
        return temperature, nothing
    relative, possible, target, weights = map(to_numpy, found)
    # Weights count as many rows as would give a mean the same variance.
    weights = weights / np.sum(weights**2)
    relative = np.maximum(relative / temperature, _LOWEST)
    inverse, biases = 1.0, nothing

    def shares_and_loss(inverse: float, biases: FloatArray) -> tuple[FloatArray, float]:
        odds = np.where(possible, inverse * relative + biases, -np.inf)
        top = odds.max(axis=1, keepdims=True)
        shares = np.exp(odds - top)
        total = shares.sum(axis=1, keepdims=True)
        gained = np.sum(target * np.where(possible, odds, 0.0), axis=1)
        loss = weights @ ((top + np.log(total))[:, 0] - gained)
        return shares / total, float(loss + biases @ biases / 2)

    shares, loss = shares_and_loss(inverse, biases)
    for _ in range(_STEPS):
        mean, own = np.sum(shares * relative, axis=1), np.sum(target * relative, axis=1)
        apart, counted = relative - mean[:, None], weights[:, None] * shares
        gradient = np.append(weights @ (shares - target) + biases, weights @ (mean - own))
        curvature = np.empty((gradient.size, gradient.size))
        curvature[:-1, :-1] = np.diag(counted.sum(axis=0) + 1.0) - shares.T @ counted
        curvature[-1, :-1] = curvature[:-1, -1] = np.sum(counted * apart, axis=0)
        curvature[-1, -1] = np.sum(counted * apart**2) + np.finfo(float).eps
        step = -np.linalg.solve(curvature, gradient)
        if -gradient @ step < _CLOSE:
            break
        # 1/T stays positive, and a step that does not lessen the loss is halved.
        length = min(1.0, 0.5 * inverse / -step[-1]) if step[-1] < 0 else 1.0
        for _ in range(_STEPS):
            trial = inverse + length * step[-1], biases + length * step[:-1]
            new_shares, new_loss = shares_and_loss(*trial)
            if new_loss <= loss + 1e-4 * length * float(gradient @ step):
                break
            length /= 2
        else:
            break
        (inverse, biases), shares, loss = trial, new_shares, new_loss
    return temperature / inverse, biases


def _smoothed(
    scores: Array, labels: Array, weights: Array
) -> tuple[Array, Array, Array, Array] | None:
    """Return scores relative to the largest, which classes can be, targets, and shares of rows.

    None where no row counts.
    """
    xp: Any = array_namespace(scores)
    possible = scores > -np.inf
    own = labels[:, None] == xp.arange(scores.shape[1], device=device(scores))
    weights = xp.where(xp.any(own & possible, axis=1), weights, 0.0)
    total = float(xp.sum(weights))
    if not 0 < total < np.inf:
        return None
    weights = weights / total
    relative = xp.where(possible, scores - xp.max(scores, axis=1, keepdims=True), 0.0)
    # What is wrong is shared by the other classes.
    wrong = 1.0 / (float(xp.sum(xp.astype(weights > 0, xp.float64))) + 2.0)
    others = xp.maximum(xp.sum(xp.astype(possible, xp.float64), axis=1) - 1.0, 1.0)
    target = xp.where(own, 1.0 - wrong, (wrong / others)[:, None])
    return relative, possible, xp.where(possible, target, 0.0), weights

"""How far probabilities can be believed, learnt from rows that were left out.

Expected costs are as good as the probabilities.  Those of trees and of small tables promise too
much, and where a mistake costs twenty times the other that is dear: so the logarithms get a common
slope and an offset for each class, q(c) ∝ exp(a·ln p(c) + b_c), by the least log-loss on rows left
out (J. Platt 1999, here for any number of classes).  A weak prior, Gaussian with deviation 1
around a = 1 and b = 0, keeps them finite where classes can be separated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mercer._arrays import FloatArray

# Logarithms of probabilities are at least that of float64's precision.
_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Correction:
    """Slope and offsets of the logarithms of probabilities.

    Parameters
    ----------
    slope : float
        Not negative; below 1 where probabilities promise too much.
    offsets : ndarray of shape (C,)
        They add up to 0.
    """

    slope: float
    offsets: FloatArray

    def apply(self, proba: FloatArray) -> FloatArray:
        """Return the corrected probabilities, which add up to 1 in each row."""
        scores = self.slope * _logs(proba) + self.offsets
        shares: FloatArray = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def fit_correction(
    proba: FloatArray, labels: NDArray[np.intp], weights: FloatArray | None = None
) -> Correction:
    """Return the correction that gives the classes of left-out rows the best odds.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, C)
        Probabilities of rows, each from a fit without it.
    labels : ndarray of int of shape (n_rows,)
        Their classes.
    weights : ndarray of shape (n_rows,) or None
        How often each row counts; once where None.
    """
    logs = _logs(proba)
    logs -= logs.max(axis=1, keepdims=True)
    own = labels[:, None] == np.arange(logs.shape[1])
    counts = np.ones(len(logs)) if weights is None else weights

    def loss(found: FloatArray) -> tuple[float, FloatArray]:
        scores = found[0] * logs + found[1:]
        scores = scores - scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        total = shares.sum(axis=1, keepdims=True)
        beyond = counts[:, None] * (shares / total - own)
        prior = found - start
        value = counts @ (np.log(total[:, 0]) - scores[own]) + prior @ prior / 2
        slopes = np.concatenate([[np.sum(beyond * logs)], beyond.sum(axis=0)])
        return float(value), slopes + prior

    start = np.concatenate([[1.0], np.zeros(logs.shape[1])])
    bounds = [(0.0, None)] + [(None, None)] * logs.shape[1]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Correction(float(found[0]), found[1:] - found[1:].mean())


def _logs(proba: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(proba, _LEAST)))

"""The threshold: Gaussians with one variance on the outputs, and priors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rule", "fit_rule", "rule_from_moments", "score_rule"]

Array = NDArray[np.float64]

# Least variance of an output; the targets have variance one.
_FLOOR = 1e-6


@dataclass(frozen=True)
class Rule:
    """Linear scores whose soft-max is the posterior: log p(c | f) = f·coef + intercept + const."""

    coef: Array
    intercept: Array

    def scores(self, outputs: Array) -> Array:
        """Return the scores of all classes, of shape (…, n_rows, C)."""
        return np.asarray(outputs @ self.coef + self.intercept[..., None, :])


def fit_rule(
    outputs: Array,
    fitted: Array,
    labels: NDArray[np.intp],
    weights: Array,
    log_priors: Array,
) -> Rule:
    """Estimate class means and the pooled variance of outputs.

    Parameters
    ----------
    outputs : ndarray of shape (…, n_rows, n_outputs)
        Leave-one-out outputs: outputs of rows that were fitted scatter too little.
    fitted : ndarray of shape (…, n_rows, n_outputs)
        Outputs of the full fit.  Their class means give directions, the leave-one-out outputs
        say how far along them a class lies, between nought and all the way: to leave out a row
        pushes its output away from its class, and that push must not be taken for a difference
        between the classes.
    labels : ndarray of int of shape (n_rows,)
        Classes.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, adding up to one.
    log_priors : ndarray of shape (C,)
        −inf is allowed: the class is never chosen.
    """
    members = (labels[:, None] == np.arange(len(log_priors))) * weights[:, None]
    members = (members / np.maximum(members.sum(axis=0), np.finfo(float).tiny)).T
    directions, means = members @ fitted, members @ outputs
    lengths = np.maximum((directions**2).sum(axis=-1), np.finfo(float).tiny)
    along = np.clip((means * directions).sum(axis=-1) / lengths, 0.0, 1.0)
    means = along[..., None] * directions
    spread = outputs - means[..., labels, :]
    variance = ((spread**2).sum(axis=-1) @ weights) / spread.shape[-1]
    return rule_from_moments(means, variance, log_priors)


def rule_from_moments(means: Array, variance: Array | float, log_priors: Array) -> Rule:
    """Build the rule from class means (…, C, q) and the pooled variance of an output (…).

    With two classes and one output f this is the threshold (f₁ + f₂)/2 + (s²/J)·ln(π₂/π₁).
    """
    scale = np.maximum(np.asarray(variance), _FLOOR)
    coef = np.swapaxes(means, -1, -2) / scale[..., None, None]
    squared = (means**2).sum(axis=-1) / scale[..., None]
    return Rule(coef, log_priors - squared / 2)


def score_rule(scores: Array, labels: NDArray[np.intp], weights: Array, scoring: str) -> Array:
    """Return accuracy (or balanced accuracy) of scores (…, n_rows, C)."""
    right = np.argmax(scores, axis=-1) == labels
    if scoring == "balanced_accuracy":
        in_class = np.bincount(labels, weights=weights)
        weights = weights / in_class[labels] / np.count_nonzero(in_class)
    return np.asarray(right @ weights)

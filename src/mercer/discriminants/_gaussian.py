"""The threshold: Gaussians on the outputs, with a variance for each discriminant, and priors.

With outputs of fitted rows and a vanishing ridge, the covariance within the classes is Θ(I − Θ):
it is diagonal along the eigenvectors of Θ, the discriminants, and the rule is that of linear
discriminant analysis (Hastie, Tibshirani and Buja 1994, flexible discriminant analysis).
"""

from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array, like
from mercer.discriminants._coding import Coding
from mercer.samples import fit_temperature

# The variance of an output is at least this; the targets have variance one.
FLOOR = 1e-6


@dataclass(frozen=True)
class Rule:
    """Linear scores whose soft-max is the posterior: log p(c | f) = f·coef + intercept + const."""

    coef: Array
    intercept: Array

    def scores(self, outputs: Array) -> Array:
        """Return the scores of all classes, of shape (…, n_rows, C)."""
        coef, intercept = (like(A, outputs) for A in (self.coef, self.intercept))
        return outputs @ coef + intercept[..., None, :]

    def calibrate(self, outputs: Array, coding: Coding, log_priors: Array) -> float:
        """Return the temperature of the posterior, from outputs of rows that were left out.

        A class has the weight of its prior, as in the threshold.
        """
        xp = array_namespace(outputs)
        classes = xp.arange(log_priors.shape[0], device=device(outputs))
        in_class = coding.rule_weights @ xp.astype(coding.labels[:, None] == classes, xp.float64)
        in_class = xp.maximum(in_class, np.finfo(float).tiny)
        factor = xp.take(xp.exp(log_priors) / in_class, coding.labels)
        return fit_temperature(self.scores(outputs), coding.labels, coding.rule_weights * factor)


def fit_rule(
    outputs: Array,
    fitted: Array,
    axes: Array,
    labels: Array,
    weights: Array,
    log_priors: Array,
) -> Rule:
    """Estimate class means, and the variance of each discriminant within the classes.

    Parameters
    ----------
    outputs : ndarray of shape (…, n_rows, n_outputs)
        Leave-one-out outputs: outputs of rows that were fitted scatter too little.
    fitted : ndarray of shape (…, n_rows, n_outputs)
        Outputs of the full fit.  Their class means give directions, the leave-one-out outputs
        say how far along them a class lies, between 0 and 1: leaving out a row
        pushes its output away from its class, and that push must not be taken for a difference
        between the classes.  These same outputs in both places give plain means and variances.
    axes : ndarray of shape (…, n_outputs, n_outputs)
        The discriminants: orthonormal columns, directions in the space of the outputs.
    labels : ndarray of int of shape (n_rows,)
        Classes.
    weights : ndarray of shape (n_rows,)
        Weights of the rows, adding up to one.
    log_priors : ndarray of shape (C,)
        −inf is allowed: the class is never chosen.
    """
    xp = array_namespace(outputs)
    classes = xp.arange(log_priors.shape[0], device=device(outputs))
    members = xp.where(labels[:, None] == classes, weights[:, None], 0.0)
    members = (members / xp.maximum(xp.sum(members, axis=0), np.finfo(float).tiny)).T
    means = shrunk_means(members @ outputs, members @ fitted)
    spread = (outputs - xp.take(means, labels, axis=-2)) @ axes
    return rule_from_moments(means, axes, weights @ spread**2, log_priors)


def shrunk_means(means: Array, directions: Array) -> Array:
    """Return means as far along their directions as they lie, between 0 and 1."""
    xp = array_namespace(means)
    lengths = xp.maximum(xp.sum(directions**2, axis=-1), np.finfo(float).tiny)
    along = xp.clip(xp.sum(means * directions, axis=-1) / lengths, 0.0, 1.0)
    return along[..., None] * directions


def rule_from_moments(means: Array, axes: Array, variances: Array, log_priors: Array) -> Rule:
    """Build the rule from class means (…, C, q) and variances (…, q) along the axes (…, q, q).

    With two classes and one output f this is the threshold (f₁ + f₂)/2 + (s²/J)·ln(π₂/π₁).
    """
    xp = array_namespace(means)
    along = means @ axes
    scaled = along / xp.maximum(variances, FLOOR)[..., None, :]
    coef = axes @ xp.matrix_transpose(scaled)
    return Rule(coef, log_priors - xp.sum(along * scaled, axis=-1) / 2)


def score_rule(scores: Array, labels: Array, weights: Array, scoring: str) -> Array:
    """Return accuracy (or balanced accuracy) of scores (…, n_rows, C)."""
    xp = array_namespace(scores)
    right = xp.astype(xp.argmax(scores, axis=-1) == labels, xp.float64)
    if scoring == "balanced_accuracy":
        classes = xp.arange(scores.shape[-1], device=device(scores))
        in_class = weights @ xp.astype(labels[:, None] == classes, xp.float64)
        weights = weights / xp.take(in_class, labels) / xp.sum(xp.astype(in_class > 0, xp.float64))
    return right @ weights

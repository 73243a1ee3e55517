"""The threshold without each row: class means and variances from which one row has been taken.

A row whose class has few others pulls its class's mean towards itself.  Judged by a rule that it
took part in, it would seem to suit its class better than new rows will.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array
from mercer.discriminants._coding import Coding, weight_of_others
from mercer.discriminants._gaussian import FLOOR, shrunk_means


@dataclass(frozen=True)
class LeftOutRules:
    """A rule for each row, fitted to the outputs of all others; see `fit_rule`.

    Only the mean of the row's own class differs from row to row, and the variances.  Priors stay:
    a class that lacks a row is a little less frequent, which would speak against that row.

    Attributes
    ----------
    axes : array of shape (n_outputs, n_outputs)
        The discriminants; they stay.
    means : array of shape (C, n_outputs)
        Class means along the axes.
    own_means : array of shape (n_rows, n_outputs)
        The mean of each row's class without the row.
    variances : array of shape (n_rows, n_outputs)
        Within the classes, without the row.
    own_class : array of bool of shape (n_rows, C)
    log_priors : array of shape (C,)
    """

    axes: Array
    means: Array
    own_means: Array
    variances: Array
    own_class: Array
    log_priors: Array

    @classmethod
    def of(
        cls, judged: Array, fitted: Array, axes: Array, coding: Coding, log_priors: Array
    ) -> "LeftOutRules":
        """Take each row out of the rule of all of them.

        Parameters
        ----------
        judged, fitted : arrays of shape (n_rows, n_outputs)
            Outputs from which means and variances come, and those that give their directions.
        axes : array of shape (n_outputs, n_outputs)
            The discriminants.
        coding : Coding
            On the device of the outputs.
        log_priors : array of shape (C,)
            Of the classes.
        """
        xp: Any = array_namespace(judged)
        classes = xp.arange(log_priors.shape[0], device=device(judged))
        own_class = coding.labels[:, None] == classes
        weights = coding.rule_weights
        gone = weights * coding.removed
        members = xp.where(own_class, weights[:, None], 0.0).T
        in_class = xp.sum(members, axis=1)
        own_weight = xp.take(in_class, coding.labels)
        left = own_weight - gone
        is_empty = left <= np.finfo(float).eps * own_weight

        def mean_without(values: Array) -> Array:
            """Return the mean of each row's class without the row; 0 where nothing is left."""
            rest = xp.take(members @ values, coding.labels, axis=0) - gone[:, None] * values
            rest = rest / xp.where(is_empty, 1.0, left)[:, None]
            return xp.where(is_empty[:, None], 0.0, rest)

        totals = xp.maximum(in_class, np.finfo(float).tiny)[:, None]
        means = shrunk_means(members @ judged / totals, members @ fitted / totals) @ axes
        own_means = shrunk_means(mean_without(judged), mean_without(fitted)) @ axes

        apart = judged @ axes - xp.take(means, coding.labels, axis=0)
        spread = members @ apart**2
        moved = xp.take(means, coding.labels, axis=0) - own_means
        drift = xp.take(members @ apart, coding.labels, axis=0) - gone[:, None] * apart
        # Σ w (u − m')² of the class without the row, from the sums about the mean m with it.
        change = 2 * moved * drift + left[:, None] * moved**2 - gone[:, None] * apart**2
        variances = (xp.sum(spread, axis=0) + change) / weight_of_others(gone)[:, None]
        return cls(axes, means, own_means, xp.maximum(variances, FLOOR), own_class, log_priors)

    def scores(self, outputs: Array) -> Array:
        """Return the scores (…, n_rows, C) of outputs (…, n_rows, n_outputs), each by its rule."""
        xp = array_namespace(outputs)
        scaled = (outputs @ self.axes) / self.variances
        scores = scaled @ self.means.T - (1 / self.variances) @ (self.means**2).T / 2
        own = xp.sum(scaled * self.own_means - self.own_means**2 / self.variances / 2, axis=-1)
        return xp.where(self.own_class, own[..., None], scores) + self.log_priors

"""Jackknife+: a new row is judged by the fit without each training row, in closed form.

The fit without (a share s of) row i is the fit in which its target is the output that the row has
without itself.  With lᵢ(x) the weight of row i's target in f(x), eᵢ what that output lacks of the
target, and pᵢ the row's weight,

    f₋ᵢ(x) = f(x) − s eᵢ lᵢ(x),

here relative to the mean of the targets that remain, −s pᵢ tᵢ / (1 − s pᵢ), as everywhere.

R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani (2021). Predictive inference with the
jackknife+. Annals of Statistics 49, 486-507; for classes Y. Romano, M. Sesia, E. J. Candès (2020).
Classification with valid and adaptive coverage. NeurIPS 33, section 2.3 (CV+).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from mercer._arrays import Array, like, to_numpy
from mercer._memory import working_memory
from mercer.discriminants._coding import Coding, class_sums, contrasts, weight_of_others
from mercer.discriminants._trial import BASIS_ROWS, gram_matrix
from mercer.kernels import KernelFunction
from mercer.samples import LeftOutScores, log_odds_against
from mercer.spectral import RidgeBasis, RidgeFactor, decompose_kernel, factor_kernel

# Up to this many rows a factorisation takes less than a second; with more rows, what one of them
# changes is lost among the others.
JACKKNIFE_ROWS = 2000
# A factorisation holds this many matrices of all pairs.
_MATRICES = 4
# So many tables of (new rows, rows left out, classes) are held at once.
_TABLES = 8


@dataclass(frozen=True)
class FittedRows:
    """What a fit must keep of its rows so that it can be made without each of them.

    Attributes
    ----------
    codes : array of shape (n_rows,)
        Classes, 0 … C − 1.
    weights : array of shape (n_rows,)
        Weights p in the scatter; they add up to one.
    removed : array of shape (n_rows,)
        Share of a row's weight that leaves with it.
    alpha : float
        The ridge, of the scatter under p.
    coef : array of shape (C − 1, C)
        From outputs of the regression to scores.
    """

    codes: Array
    weights: Array
    removed: Array
    alpha: float
    coef: Array

    @classmethod
    def of(cls, coding: Coding, alpha: float, coef: Array) -> "FittedRows":
        """Keep what is needed of a coding."""
        parts = (coding.labels, coding.weights, coding.removed)
        labels, weights, removed = map(to_numpy, parts)
        return cls(labels, weights, removed, float(alpha), to_numpy(coef))


@dataclass(frozen=True)
class Jackknife:
    """The fits without each row, as changes of the scores of the fit with all of them.

    Attributes
    ----------
    solution : RidgeBasis or RidgeFactor
        The ridge regression on all rows.
    mean : array of shape (n_rows,)
        Weighted mean of the kernels of all rows.
    push : array of shape (n_rows, C)
        s eᵢ in units of the scores.
    shift : array of shape (n_rows, C)
        What the mean of the remaining targets changes, in the same units.
    """

    kernel: KernelFunction
    X: Array
    K: Array | None
    solution: RidgeBasis | RidgeFactor
    alpha: float
    weights: Array
    mean: Array
    push: Array
    shift: Array

    @classmethod
    def of(cls, kernel: KernelFunction, X: Array, fitted: FittedRows, penalty: str) -> "Jackknife":
        """Factor the fit on all rows again, as `fit` did."""
        K = kernel.matrix(X, X)
        G = gram_matrix(kernel, K, penalty)
        xp: Any = array_namespace(G)
        codes = like(fitted.codes, G, dtype=xp.int64)
        p, removed, coef = (like(A, G) for A in (fitted.weights, fitted.removed, fitted.coef))
        solution: RidgeBasis | RidgeFactor | None = None
        if X.shape[0] > BASIS_ROWS:
            solution = factor_kernel(G, p, fitted.alpha)
        if solution is None:
            solution = decompose_kernel(G, p)
        shares = class_sums(to_numpy(fitted.codes), to_numpy(fitted.weights), coef.shape[1])
        targets = xp.take(like(contrasts(shares), G), codes, axis=0)
        left_out, _ = solution.leave_one_out(targets, np.array([fitted.alpha]), removed)
        leaving = removed * p
        push = removed[:, None] * ((targets - left_out[0, :, :]) @ coef)
        shift = (leaving / weight_of_others(leaving))[:, None] * (targets @ coef)
        kept = K if penalty == "coef" else None
        return cls(kernel, X, kept, solution, fitted.alpha, p, p @ G, push, shift)

    def scores(self, rows: Array, scores: Array) -> Array:
        """Return the scores of new rows by the fits without each row, (n_new, n_rows, C).

        `scores`, (n_new, C), are those by the fit with all of them.
        """
        k = self.kernel.matrix(rows, self.X)
        if self.K is not None:
            k = k @ self.K.T
        weight = self.solution.target_weights(k - self.mean, self.alpha) + self.weights
        return scores[:, None, :] - weight[:, :, None] * self.push + self.shift

    def sets(self, rows: Array, scores: Array, left_out: LeftOutScores, coverage: float) -> Array:
        """Return which classes are in the sets of new rows, (n_new, C).

        A class stays out if so many rows left out had smaller odds against their own class than
        the same fit gives against this one.
        """
        xp: Any = array_namespace(scores)
        odds = log_odds_against(self.scores(rows, scores))
        known, counts = (like(A, scores) for A in (left_out.odds, left_out.weights))
        is_worse = xp.astype(known[:, None] < odds, xp.float64)
        beaten = xp.sum(is_worse * counts[:, None], axis=1)
        classes = xp.arange(scores.shape[1], device=device(scores))
        answer = xp.argmax(scores, axis=1)[:, None] == classes
        return (beaten < left_out.enough(coverage)) | answer

    def bytes_per_row(self) -> int:
        """Return the bytes that a set takes for each new row."""
        n_rows, n_classes = map(int, self.push.shape)
        return 8 * n_rows * (_TABLES * n_classes + 4)


def most_jackknife_rows() -> int:
    """Return up to how many rows the fits without each of them are used by themselves."""
    return min(JACKKNIFE_ROWS, int(np.sqrt(working_memory() / (8 * _MATRICES))))

"""Jackknife+: a new row is judged by the fit without each training row, in closed form.

The fit without (a share s of) row i is the fit in which its target is the output that the row has
without itself.  With lᵢ(x) the weight of row i's target in f(x), eᵢ what that output lacks of the
target, and pᵢ the row's weight,

    f₋ᵢ(x) = f(x) − s eᵢ lᵢ(x),

here relative to the mean of the targets that remain, −s pᵢ tᵢ / (1 − s pᵢ), as everywhere.  The
threshold is that without row i, from the left-out outputs of the others.

R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani (2021). Predictive inference with the
jackknife+. Annals of Statistics 49, 486-507; for classes Y. Romano, M. Sesia, E. J. Candès (2020).
Classification with valid and adaptive coverage. NeurIPS 33, section 2.3 (CV+).
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array

from mercer._arrays import Array, like, to_numpy
from mercer._memory import working_memory
from mercer.discriminants._coding import Coding
from mercer.discriminants._left_out_rule import LeftOutRules
from mercer.discriminants._trial import BASIS_ROWS, gram_matrix
from mercer.discriminants._tuning import left_out_rules, missing_level
from mercer.kernels import KernelFunction
from mercer.samples import LeftOutScores, log_odds_against
from mercer.spectral import RidgeBasis, RidgeFactor, decompose_kernel, factor_kernel

# A factorisation of this many rows takes a second or two.
JACKKNIFE_ROWS = 2000
# Up to this many it takes no time to speak of; with more rows, what one of them changes is lost
# among the others.
_FEW_ROWS = 500
# So many tables of (new rows, rows left out, classes) are held at once.
_TABLES = 10


@dataclass(frozen=True)
class FittedRows:
    """What a fit must keep of its rows so that it can be made without each of them.

    Attributes
    ----------
    coding : Coding
        Classes and weights, in NumPy.
    alpha : float
        The ridge, of the scatter under the coding's weights.
    temperature : float
        What scores were divided by; it stays.
    of_fitted : bool
        Whether the threshold is that of fitted rows.
    """

    coding: Coding
    alpha: float
    temperature: float
    of_fitted: bool

    @classmethod
    def of(cls, coding: Coding, *settings: Any) -> "FittedRows":
        """Keep a coding of any library."""
        return cls(_in_numpy(coding), *settings)


@dataclass(frozen=True)
class Jackknife:
    """The fits without each row.

    Attributes
    ----------
    kernel : KernelFunction
        Of the fit.
    X : array of shape (n_rows, n_features)
        All rows.
    K : array of shape (n_rows, n_rows) or None
        Their kernel matrix, where its columns are the features.
    solution : RidgeBasis or RidgeFactor
        The ridge regression on all rows.
    rows : FittedRows
        As the fit kept them, on the device of the rows.
    mean : array of shape (n_rows,)
        Weighted mean of the kernels of all rows.
    push : array of shape (n_rows, C − 1)
        s eᵢ.
    shift : array of shape (n_rows, C − 1)
        What the mean of the remaining targets changes.
    rules : LeftOutRules
        The threshold without each row.
    """

    kernel: KernelFunction
    X: Array
    K: Array | None
    solution: RidgeBasis | RidgeFactor
    rows: FittedRows
    mean: Array
    push: Array
    shift: Array
    rules: LeftOutRules

    @classmethod
    def of(
        cls, kernel: KernelFunction, X: Array, rows: FittedRows, penalty: str, log_priors: Array
    ) -> "Jackknife":
        """Factor the fit on all rows again, as `fit` did."""
        K = kernel.matrix(X, X)
        G = gram_matrix(kernel, K, penalty)
        rows = replace(rows, coding=_in_numpy(rows.coding).like(G))
        coding, p = rows.coding, rows.coding.weights
        solution: RidgeBasis | RidgeFactor | None = None
        if X.shape[0] > BASIS_ROWS:
            solution = factor_kernel(G, p, rows.alpha)
        if solution is None:
            solution = decompose_kernel(G, p)
        rules, outputs = left_out_rules(
            solution,
            rows.alpha,
            coding,
            like(log_priors, G),
            of_fitted=rows.of_fitted,
        )
        shift = missing_level(coding)[:, None] * coding.targets
        push = coding.removed[:, None] * (coding.targets - (outputs - shift))
        kept = K if penalty == "coef" else None
        return cls(kernel, X, kept, solution, rows, p @ G, push, shift, rules)

    def outputs(self, new: Array) -> Array:
        """Return the outputs of new rows by the fits without each row, (n_new, n_rows, C − 1)."""
        k, coding = self.kernel.matrix(new, self.X), self.rows.coding
        if self.K is not None:
            k = k @ self.K.T
        weight = self.solution.target_weights(k - self.mean, self.rows.alpha)
        whole = weight @ coding.targets
        weight = weight + coding.weights
        return whole[:, None, :] - weight[:, :, None] * self.push + self.shift

    def sets(self, new: Array, scores: Array, left_out: LeftOutScores, coverage: float) -> Array:
        """Return which classes are in the sets of new rows, (n_new, C).

        A class stays out if so many rows left out had smaller odds against their own class than
        the same fit gives against this one.  `scores`, (n_new, C), are those by the fit on all
        rows, whose answer is in every set.
        """
        xp: Any = array_namespace(scores)
        odds = log_odds_against(self.rules.scores(self.outputs(new)) / self.rows.temperature)
        known, counts = (like(A, scores) for A in (left_out.odds, left_out.weights))
        is_worse = xp.astype(known[:, None] < odds, xp.float64)
        beaten = xp.sum(is_worse * counts[:, None], axis=1)
        classes = xp.arange(scores.shape[1], device=device(scores))
        answer = xp.argmax(scores, axis=1)[:, None] == classes
        return (beaten < left_out.enough(coverage)) | answer

    def bytes_per_row(self) -> int:
        """Return the bytes that a set takes for each new row."""
        n_rows, n_outputs = map(int, self.push.shape)
        return 8 * n_rows * _TABLES * (n_outputs + 1)


def most_jackknife_rows() -> int:
    """Return up to how many rows the fits without each of them are used by themselves.

    As of an exact fit, one matrix of all pairs fits the working memory.
    """
    return min(_FEW_ROWS, int(np.sqrt(working_memory() / 8)))


def _in_numpy(coding: Coding) -> Coding:
    """Return a coding with its arrays in NumPy."""
    values = {one.name: getattr(coding, one.name) for one in fields(coding)}
    arrays: dict[str, Any] = {k: to_numpy(v) for k, v in values.items() if is_torch_array(v)}
    return replace(coding, **arrays)

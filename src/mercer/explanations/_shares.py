"""Shares of columns for many rows: which formula a classifier has, block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.explanations._background import Background
from mercer.explanations._sampling import sampled_shares
from mercer.explanations._setting import Setting
from mercer.explanations._shapley import group_factors, is_product, linear_shares
from mercer.kernels import KernelExpansion
from mercer.sums import combine_kernel, diagonal_shares

# A score is linear if its coefficients give it to so many digits.
_ROUNDING = 1e-8
# And a sum of kernels to so many of the sum of their sizes: some devices add up in float32.
_ROUNDING_OF_SUMS = 1e-6


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of columns, one line for each row that is explained.

    Attributes
    ----------
    values, standard_errors : ndarray of shape (n_rows, n_columns)
    exact : bool
        Whether they are in closed form.
    """

    values: FloatArray
    standard_errors: FloatArray
    exact: bool


def shares_of_rows(
    setting: Setting,
    Z: FloatArray,
    background: Background,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
    rng: np.random.RandomState,
) -> Shares:
    """Return the shares in the score of one class less that of another, for each row.

    Parameters
    ----------
    setting : Setting
    Z : ndarray of shape (n_rows, n_numbers)
    background : Background
    predicted, against : ndarray of int of shape (n_rows,)
        The classes.
    rng : RandomState
        For walks, where there is no closed form.
    """
    linear = _linear_coef(setting, background.rows)
    expansion = setting.expansion if setting.has_scores else None
    if linear is not None:
        lines = _linear(setting, Z, background, linear, predicted, against)
    elif isinstance(expansion, KernelExpansion) and _is_all(setting, expansion, background.rows):
        lines = _products(setting, expansion, Z, background, predicted, against)
    else:
        expansion = None
        lines = _sampled(setting, Z, background, predicted, against, rng)
    exact = linear is not None or expansion is not None
    values = np.empty((len(Z), len(setting.columns)))
    errors = np.empty_like(values)
    for i, each in enumerate(lines):
        values[i] = each.mean(axis=0)
        errors[i] = _standard_error(each, background.correction if exact else 1.0)
    return Shares(values, errors, exact)


def _standard_error(each: FloatArray, correction: float) -> FloatArray:
    """Return standard errors of the means of columns; zero if all rows there are were taken."""
    if correction == 0:
        return np.zeros(each.shape[1])
    if len(each) < 2:
        return np.full(each.shape[1], np.nan)
    return np.asarray(correction * each.std(axis=0, ddof=1) / np.sqrt(len(each)))


def _is_all(setting: Setting, expansion: KernelExpansion, Z: FloatArray) -> bool:
    """Whether the scores are these sums of products, and nothing is done to them afterwards."""
    if not is_product(expansion.kernel):
        return False
    terms = np.asarray(to_numpy(expansion.rows), dtype=np.float64)
    coef, intercept = to_numpy(expansion.coef), to_numpy(expansion.intercept)
    size = combine_kernel(expansion.kernel, Z, terms, np.abs(coef)) + np.abs(intercept)
    sums = combine_kernel(expansion.kernel, Z, terms, coef) + intercept
    rest = sums - setting.scores(Z)
    rest = rest - rest.mean(axis=1, keepdims=True)  # Scores of two classes are ± half of one.
    return bool((np.abs(rest) <= _ROUNDING_OF_SUMS * size.max()).all())


def _linear_coef(setting: Setting, Z: FloatArray) -> FloatArray | None:
    """Return coefficients (n_numbers, C) of scores that are linear; None of others."""
    expansion, model = setting.expansion, setting.fitted
    if not setting.has_scores:
        return None
    if isinstance(expansion, KernelExpansion) and expansion.kernel.kernel == "linear":
        terms = np.asarray(to_numpy(expansion.rows), dtype=np.float64)
        scaled = to_numpy(expansion.kernel.scaled(terms))
        return np.asarray(expansion.kernel.scaled(scaled.T @ to_numpy(expansion.coef)).T).T
    coef = getattr(model, "coef_", None)
    if coef is None or getattr(coef, "ndim", 0) != 2 or coef.shape[1] != Z.shape[1]:
        return None
    coef = np.asarray(coef, dtype=np.float64).T
    if coef.shape[1] == 1:
        coef = np.concatenate([-coef / 2, coef / 2], axis=1)
    if coef.shape[1] != len(setting.classes):
        return None
    # Whether the scores are these sums is seen from the scores themselves.
    scores = setting.scores(Z)
    rest = (scores - scores[:1]) - (Z - Z[:1]) @ coef
    size = max(np.abs(scores).max(), (np.abs(Z) @ np.abs(coef)).max())
    return coef if np.abs(rest).max() <= _ROUNDING * size else None


def _linear(
    setting: Setting,
    Z: FloatArray,
    background: Background,
    coef: FloatArray,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Iterator[FloatArray]:
    for i, row in enumerate(Z):
        own = coef[:, predicted[i]] - coef[:, against[i]]
        yield linear_shares(row, background.rows, own, setting.groups)


def _products(
    setting: Setting,
    expansion: KernelExpansion,
    Z: FloatArray,
    background: Background,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Iterator[FloatArray]:
    """Yield exact shares against each row of the background, for each row."""
    terms = np.asarray(to_numpy(expansion.rows), dtype=np.float64)
    coef, groups = to_numpy(expansion.coef), setting.groups
    n_columns, n_terms, n_background = len(setting.columns), len(terms), len(background.rows)

    def factors(row: FloatArray) -> FloatArray:
        return group_factors(expansion.kernel, row, terms, groups)

    quarter, n_bytes = working_memory() // 4, 8 * n_columns * n_terms
    blocks = list(row_slabs(n_background, n_bytes, quarter))
    kept: FloatArray | None = None
    for first, last in row_slabs(len(Z), 8 * n_columns * n_background, quarter):
        out = np.empty((last - first, n_background, n_columns))
        for start, stop in blocks:
            if kept is None or len(blocks) > 1:
                kept = np.stack([factors(row) for row in background.rows[start:stop]])
            for i in range(first, last):
                own = coef[:, predicted[i]] - coef[:, against[i]]
                out[i - first, start:stop] = diagonal_shares(factors(Z[i]), kept, own)
        yield from out


def _sampled(
    setting: Setting,
    Z: FloatArray,
    background: Background,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
    rng: np.random.RandomState,
) -> Iterator[FloatArray]:
    """Yield estimates from walks that begin at each row of the background, for each row."""
    for i, row in enumerate(Z):
        score = _difference(setting, int(predicted[i]), int(against[i]))
        yield sampled_shares(score, row, background.rows, setting.groups, rng)


def _difference(setting: Setting, one: int, other: int) -> Callable[[FloatArray], FloatArray]:
    """Return the score of a class less that of another one, as a function of rows."""

    def score(rows: FloatArray) -> FloatArray:
        found: Any = setting.scores(rows)
        return np.asarray(found[:, one] - found[:, other])

    return score

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

# A score is a sum if it differs by no more than this share of the sizes of the terms: some devices
# add up in float32.
_ROUNDING = 1e-5

# Shares against each row of the background, and their variances.
_Lines = tuple[FloatArray, FloatArray]


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
    for i, (each, variances) in enumerate(lines):
        values[i] = each.mean(axis=0)
        errors[i] = _standard_errors(each, variances, len(each) / background.n_of)
    return Shares(values, errors, exact)


def _standard_errors(each: FloatArray, variances: FloatArray, share: float) -> FloatArray:
    """Return standard errors of the means of lines, of which this share of all lines was drawn.

    The variance of a sample in two stages: of the lines, without replacement, and of what is drawn
    within each of them, with these variances (W. G. Cochran, Sampling Techniques, 1977, eq. 10.14).
    """
    between = np.zeros(each.shape[1])
    if share < 1:
        spread = each.var(axis=0, ddof=1) if len(each) > 1 else np.full(each.shape[1], np.nan)
        between = (1 - share) * spread
    return np.asarray(np.sqrt((between + share * variances.mean(axis=0)) / len(each)))


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
    return bool((np.abs(rest) <= _ROUNDING * size.max()).all())


def _linear_coef(setting: Setting, Z: FloatArray) -> FloatArray | None:
    """Return coefficients (n_numbers, C) of scores that are linear; None of others."""
    if not setting.has_scores:
        return None
    expansion, coef = setting.expansion, getattr(setting.fitted, "coef_", None)
    if isinstance(expansion, KernelExpansion) and expansion.kernel.kernel == "linear":
        terms = np.asarray(to_numpy(expansion.rows), dtype=np.float64)
        scaled: Any = expansion.kernel.scaled(terms)
        coef = expansion.kernel.scaled(to_numpy(expansion.coef).T @ scaled)
    if coef is None or np.ndim(coef) != 2 or coef.shape[1] != Z.shape[1]:
        return None
    coef = np.asarray(coef, dtype=np.float64).T
    if coef.shape[1] == 1:
        coef = np.concatenate([-coef / 2, coef / 2], axis=1)
    if coef.shape[1] != len(setting.classes):
        return None
    # Whether the scores are these sums is seen from the scores themselves.
    scores = setting.scores(Z)
    rest = (scores - scores[:1]) - (Z - Z[:1]) @ coef
    rest = rest - rest.mean(axis=1, keepdims=True)
    size = max(np.abs(scores).max(), (np.abs(Z) @ np.abs(coef)).max())
    return coef if np.abs(rest).max() <= _ROUNDING * size else None


def _linear(
    setting: Setting,
    Z: FloatArray,
    background: Background,
    coef: FloatArray,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Iterator[_Lines]:
    for i, row in enumerate(Z):
        own = coef[:, predicted[i]] - coef[:, against[i]]
        each = linear_shares(row, background.rows, own, setting.groups)
        yield each, np.zeros_like(each)


def _products(
    setting: Setting,
    expansion: KernelExpansion,
    Z: FloatArray,
    background: Background,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Iterator[_Lines]:
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
        yield from zip(out, np.zeros_like(out), strict=True)


def _sampled(
    setting: Setting,
    Z: FloatArray,
    background: Background,
    predicted: NDArray[np.intp],
    against: NDArray[np.intp],
    rng: np.random.RandomState,
) -> Iterator[_Lines]:
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

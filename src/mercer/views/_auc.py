"""The area under the ROC curve of held-out rows, with an interval that is honest between folds.

The AUC is the share of pairs, a row of either table, in which the score of the second table's row
is the higher one.  Pairs are of rows that one fold holds out, so that one discriminant has scored
both: its AUC is unbiased however the discriminant was chosen.  (Scores of leave-one-out come from
discriminants that each miss another row: of equal tables, 30 rows each of one column, their AUC is
0.45 on average.)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm, rankdata

from mercer._arrays import FloatArray

# Σ over folds k of ȳₖ·f₋ₖ counts each pair of folds twice where tables are equal: once with one of
# them fitted and once with the other.  So the variance of their mean is twice what it would be if
# folds were independent; where tables differ it is less.
_TWICE = 2.0
# Roots are looked for no nearer to 0 and 1: a share of pairs is farther away, or there.
_END = 1e-12


def share_of_pairs(scores: FloatArray, is_second: NDArray[np.bool_]) -> float:
    """Return the share of pairs in which the second table's row has the higher score; ties, half.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Scores.
    is_second : ndarray of bool of shape (n_rows,)
        Which rows are the second table's; either table has one.
    """
    n_second = int(is_second.sum())
    n_first = len(scores) - n_second
    above = rankdata(scores)[is_second].sum() - n_second * (n_second + 1) / 2
    return float(above / (n_first * n_second))


def auc_variance(auc: float, n_first: int, n_second: int) -> float:
    """Return the variance of the share of pairs of so many rows, where `auc` is the true one.

    Hanley and McNeil (1982), with the mean of both counts in both terms as in method 5 of Newcombe
    (2006).  At ½ it is (n₁ + n₂ + 1)/(12·n₁·n₂), that of Wilcoxon's statistic.
    """
    others = (n_first + n_second) / 2 - 1
    spread = 1 + others * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return auc * (1 - auc) * spread / (n_first * n_second)


def auc_interval(
    auc: float, sizes: Sequence[tuple[int, int]], confidence: float
) -> tuple[float, float]:
    """Return the interval of the true values whose deviation from `auc` chance explains.

    Parameters
    ----------
    auc : float
        The share of pairs over all folds.
    sizes : sequence of (int, int)
        Rows of either table in each fold.
    confidence : float
        Probability that it covers the true value.
    """
    pairs = np.array([first * second for first, second in sizes], dtype=np.float64)
    weights = (pairs / pairs.sum()) ** 2
    z = norm.isf((1 - confidence) / 2)

    def excess(true: float) -> float:
        variances = [auc_variance(true, *size) for size in sizes]
        return float((auc - true) ** 2 - z**2 * _TWICE * (weights @ variances))

    # The variance is zero at both ends of the scale, where auc may stand itself.
    low = 0.0 if auc <= _END else brentq(excess, 0.0, min(auc, 1.0 - _END))
    high = 1.0 if auc >= 1.0 - _END else brentq(excess, max(auc, _END), 1.0)
    return float(low), float(high)

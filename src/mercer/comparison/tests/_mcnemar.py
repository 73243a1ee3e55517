"""McNemar's test of two classifiers, by the samples of one test set on which they differ.

It also takes the place of the sign test of splits, where a difference never varies among them.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import unique_labels

from mercer.comparison.tests._pairs import (
    NO_SPREAD,
    PairedTestResult,
    check_confidence_level,
    check_labels,
    check_names,
    favoured,
)

McNemarMethod = Literal["auto", "exact", "mid-p", "chi2"]

# Customary bound: with fewer disagreements the χ² approximation is rough.
_FEW = 25

# Scores that rise, or stay, whenever a wrong prediction becomes right.
JUDGED_BY_ROWS = frozenset({"accuracy", "balanced", "balanced_accuracy", "f1", "f1_macro"})


def mcnemar_test(
    y_true: npt.ArrayLike,
    y_pred_a: npt.ArrayLike,
    y_pred_b: npt.ArrayLike,
    *,
    method: McNemarMethod = "auto",
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    r"""Test whether two classifiers have the same error rate on one test set.

    Only the samples on which exactly one of the two is right carry information. With
    :math:`n_A` samples that A alone gets right and :math:`n_B` that B alone gets right,

    .. math:: \chi^2 = \frac{\max(|n_A - n_B| - 1,\ 0)^2}{n_A + n_B}

    has about one degree of freedom when the error rates are equal; given :math:`n_A + n_B`, the
    count :math:`n_A` is then exactly binomial with probability ½.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_pred_a, y_pred_b : array-like of shape (n_samples,)
        Labels that A and B predict.
    method : {"auto", "exact", "mid-p", "chi2"}, default="auto"
        ``"exact"``: binomial, never above its level, hence cautious with few disagreements.
        ``"mid-p"``: binomial with half the probability of what was seen; nearer to its level,
        rarely a little above it [3]_. ``"chi2"``: with continuity correction. ``"auto"``:
        exact below 25 disagreements, χ² from there on.
    confidence_level : float, default=0.95
        Coverage of the interval of the difference in accuracy.
    names : sequence of two str, default=("A", "B")
        Names for the sentence.

    Returns
    -------
    PairedTestResult
        ``effect`` is the accuracy of A minus that of B, with the interval of Bonett and Price
        [4]_. ``statistic`` is χ², or the smaller of the two counts for the binomial methods.

    Notes
    -----
    The test speaks of *these two fitted classifiers*, not of the learning methods: it does not see
    how the outcome changes with another training set. Out-of-fold predictions come from several
    fits and make it approximate. Cost: one pass over the samples.

    The correction never overshoots: at :math:`n_A = n_B` the statistic is 0, where the formula
    without the maximum, as mlxtend has it, gives :math:`1/(n_A + n_B)`.

    The interval does not invert the test, which knows nothing of the samples that both get right
    or wrong: near the level, the one may leave out 0 where the other does not reject.

    References
    ----------
    .. [1] Q. McNemar (1947). Psychometrika 12, 153-157. :doi:`10.1007/BF02295996`
    .. [2] T. G. Dietterich (1998). Approximate statistical tests for comparing supervised
       classification learning algorithms. Neural Computation 10, 1895-1923.
       :doi:`10.1162/089976698300017197`
    .. [3] M. W. Fagerland, S. Lydersen, P. Laake (2013). The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC Medical
       Research Methodology 13, 91. :doi:`10.1186/1471-2288-13-91`
    .. [4] D. G. Bonett, R. M. Price (2012). Adjusted Wald confidence interval for a difference of
       binomial proportions based on paired data. Journal of Educational and Behavioral
       Statistics 37, 479-488. :doi:`10.3102/1076998611411915`

    Examples
    --------
    >>> from mercer.comparison import mcnemar_test
    >>> y_true = [1] * 12
    >>> result = mcnemar_test(y_true, [1] * 10 + [0, 0], [1, 1] + [0] * 8 + [1, 1])
    >>> print(result)
    where they differ, A is right 8 times and B 2 times of 10; that could be chance (p = 0.11)
    """
    truth = check_labels(y_true, "y_true")
    a, b = check_labels(y_pred_a, "y_pred_a"), check_labels(y_pred_b, "y_pred_b")
    check_consistent_length(truth, a, b)
    if not len(truth):
        raise ValueError("McNemar's test needs at least one sample; got none.")
    unique_labels(truth, a, b)  # refuses mixtures of strings and numbers
    right_a, right_b = truth == a, truth == b
    return mcnemar_from_counts(
        only_a=int(np.sum(right_a & ~right_b)),
        only_b=int(np.sum(right_b & ~right_a)),
        n_samples=len(truth),
        method=method,
        confidence_level=confidence_level,
        names=names,
    )


def mcnemar_from_counts(
    *,
    only_a: int,
    only_b: int,
    n_samples: int,
    method: McNemarMethod = "auto",
    confidence_level: float = 0.95,
    names: Sequence[str] = ("A", "B"),
) -> PairedTestResult:
    """McNemar's test of the counts that A alone and B alone got right, of n_samples."""
    check_confidence_level(confidence_level)
    pair = check_names(names)
    n_differ = only_a + only_b
    df: tuple[int, ...] = ()
    if method == "auto":
        method = "exact" if n_differ < _FEW else "chi2"
    if method == "chi2":
        statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / n_differ if n_differ else 0.0
        pvalue = float(stats.chi2.sf(statistic, 1))
        df = (1,)
        label = "McNemar's test (χ² with continuity correction)"
    elif method in ("exact", "mid-p"):
        fewer = min(only_a, only_b)
        statistic = float(fewer)
        pvalue = float(np.minimum(1.0, 2 * stats.binom.cdf(fewer, n_differ, 0.5)))
        if method == "mid-p" and n_differ:  # [3]: take away half the probability of what was seen
            tails = 1 if only_a == only_b else 2
            pvalue -= tails * float(stats.binom.pmf(fewer, n_differ, 0.5)) / 2
        label = f"McNemar's test ({method} binomial)"
    else:
        raise ValueError(f"method must be 'auto', 'exact', 'mid-p' or 'chi2'; got {method!r}.")
    effect = (only_a - only_b) / n_samples
    return PairedTestResult(
        test=label,
        statistic=float(statistic),
        pvalue=pvalue,
        df=df,
        effect=effect,
        interval=_bonett_price(only_a, only_b, n_samples, confidence_level),
        confidence_level=confidence_level,
        names=pair,
        favours=favoured(effect, pair),
        finding=_finding(only_a, only_b, pair),
    )


def _bonett_price(only_a: int, only_b: int, n_samples: int, level: float) -> tuple[float, float]:
    """Interval of the difference of paired proportions, [4]: Wald with one more of each."""
    n = n_samples + 2
    p_a, p_b = (only_a + 1) / n, (only_b + 1) / n
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt((p_a + p_b - (p_a - p_b) ** 2) / n)
    middle = p_a - p_b
    return float(np.maximum(-1.0, middle - half)), float(np.minimum(1.0, middle + half))


def _finding(only_a: int, only_b: int, names: tuple[str, str]) -> str:
    """Say where the classifiers differ."""
    a, b = names
    if only_a + only_b == 0:
        return f"{a} and {b} are right and wrong on the same samples"
    return (
        f"where they differ, {a} is right {_times(only_a)} and {b} {_times(only_b)} "
        f"of {only_a + only_b}"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def by_rows_where_without_spread(
    result: PairedTestResult, predictions: pd.DataFrame
) -> PairedTestResult:
    """Judge a difference without spread by the test rows, where they speak for one side alone.

    If one of the two is right wherever the other is, no count of right and wrong predictions can
    speak for the other, and rows are many more signs than splits: McNemar's exact test of them
    takes the place of the sign test of splits. Of a row that was tested again and again, the first
    time counts. ``predictions`` are by split and sample, with the column ``y_true``.
    """
    if not isnan(result.interval[0]) or not result.favours:
        return result
    again = predictions.index.get_level_values("sample").duplicated()
    truth, a, b = (predictions.loc[~again, name] for name in ("y_true", *result.names))
    rows = mcnemar_test(truth, a, b, method="exact", names=result.names)
    if rows.statistic > 0 or rows.favours != result.favours:
        return result
    return replace(
        result,
        test=rows.test,
        statistic=rows.statistic,
        pvalue=rows.pvalue,
        finding=result.finding.replace(NO_SPREAD, f": it never varies; {rows.finding}"),
    )

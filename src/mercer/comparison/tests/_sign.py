"""What can be asked of differences that do not vary: whether they all go one way by chance.

A t or F test takes its scale from the spread of the differences. Without any spread the smallest
difference would be infinitely significant, so their signs are tested instead.
"""

from dataclasses import replace
from math import isnan

import pandas as pd
from scipy import stats

from mercer._arrays import FloatArray
from mercer.comparison.tests._mcnemar import mcnemar_test
from mercer.comparison.tests._pairs import PairedTestResult

# What is said beside a difference that was judged so.
NO_SPREAD = ": the difference never varies, so that its sign is tested"

# Scores that rise, or stay, whenever a wrong prediction becomes right.
JUDGED_BY_ROWS = frozenset({"accuracy", "balanced", "balanced_accuracy", "f1", "f1_macro"})


def sign_test(differences: FloatArray) -> tuple[float, float]:
    """Return the number of signs in the minority and the two-sided p-value of so few.

    Differences of zero have no sign; where all are zero, p is 1. Where J differences go one way,
    p is 2/2ᴶ, which no test of J independent differences can undercut without knowing their scale.
    """
    n_a, n_b = int((differences > 0).sum()), int((differences < 0).sum())
    tail = float(stats.binom.cdf(min(n_a, n_b), n_a + n_b, 0.5))
    return float(min(n_a, n_b)), min(1.0, 2 * tail)


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

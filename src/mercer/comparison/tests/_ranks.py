"""Ranks over data sets: average ranks, the Friedman test, and Nemenyi's comparisons."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import gammaln

from mercer._arrays import FloatArray
from mercer._system.words import p_value
from mercer.comparison.tests._pairs import check_confidence_level, largest, without_rounding


def check_table(scores: object, *, min_estimators: int, min_datasets: int) -> pd.DataFrame:
    """Return the scores as a float DataFrame without gaps, or say what is wrong.

    Estimators are called by strings from here on.
    """
    if isinstance(scores, (pd.DataFrame, Mapping)):
        table = pd.DataFrame(scores)
    else:  # polars and others keep their column names
        table = pd.DataFrame(np.asarray(scores), columns=getattr(scores, "columns", None))
    table.columns = table.columns.map(str)
    n_datasets, n_estimators = table.shape
    if n_estimators < min_estimators or n_datasets < min_datasets:
        raise ValueError(
            f"This needs scores of at least {min_estimators} estimators (columns) on "
            f"{min_datasets} data sets (rows); got {n_estimators} on {n_datasets}."
        )
    if not table.columns.is_unique:
        raise ValueError("Each estimator (column) needs a name of its own.")
    for name, column in table.items():
        if not pd.api.types.is_numeric_dtype(column):
            raise ValueError(
                f"Column {name!r} does not hold numbers; names of data sets belong in the index."
            )
    table = table.astype(np.float64)
    rows, columns = np.nonzero(~np.isfinite(table.to_numpy()))
    if len(rows):
        raise ValueError(
            f"Estimator {table.columns[columns[0]]!r} has no finite score on data set "
            f"{table.index[rows[0]]!r}: drop that data set or that estimator first."
        )
    return table


def row_ranks(table: pd.DataFrame, *, greater_is_better: bool) -> FloatArray:
    """Rank the estimators on each data set: 1 is best, ties share their mean rank."""
    values = table.to_numpy()
    values = without_rounding(values, scale=largest(values))
    ranks: FloatArray = stats.rankdata(-values if greater_is_better else values, axis=1)
    return ranks


def average_ranks(scores: object, *, greater_is_better: bool = True) -> pd.Series:
    """Average rank of each estimator over data sets; 1 is best.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_estimators)
        One score per data set (row) and estimator (column).
    greater_is_better : bool, default=True
        Whether a greater score ranks first.

    Returns
    -------
    Series
        Average ranks, best first.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.comparison import average_ranks
    >>> average_ranks(pd.DataFrame({"svc": [0.9, 0.8], "knn": [0.7, 0.8]})).to_dict()
    {'svc': 1.25, 'knn': 1.75}
    """
    table = check_table(scores, min_estimators=2, min_datasets=1)
    ranks = row_ranks(table, greater_is_better=greater_is_better).mean(axis=0)
    return pd.Series(ranks, index=table.columns, name="average rank").sort_values(kind="stable")


@dataclass(frozen=True)
class FriedmanResult:
    """Outcome of :func:`friedman_test`; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        F of Iman and Davenport.
    pvalue : float
        Its p-value.
    df : tuple of int
        Its two degrees of freedom.
    chi2_statistic, chi2_pvalue : float
        Friedman's χ² with k − 1 degrees of freedom, corrected for ties, and its p-value.
    n_datasets, n_estimators : int
        Size of the table.
    confidence_level : float
        The sentence calls a p-value below one minus it unlikely.
    """

    statistic: float
    pvalue: float
    df: tuple[int, int]
    chi2_statistic: float
    chi2_pvalue: float
    n_datasets: int
    n_estimators: int
    confidence_level: float

    @property
    def significant(self) -> bool:
        """Whether the p-value is below one minus the confidence level."""
        return self.pvalue < 1 - self.confidence_level

    def __str__(self) -> str:
        verdict = "more than chance explains" if self.significant else "no more than chance could"
        return (
            f"over {self.n_datasets} data sets the ranks of {self.n_estimators} estimators differ "
            f"{verdict} ({p_value(self.pvalue)})"
        )


def friedman_test(
    scores: object, *, greater_is_better: bool = True, confidence_level: float = 0.95
) -> FriedmanResult:
    r"""Test whether several estimators rank alike over many data sets.

    With average ranks :math:`R_j` of k estimators over N data sets (and a correction for ties),

    .. math::
        \chi^2 = \frac{12 N}{k (k + 1)} \Bigl(\sum_j R_j^2 - \frac{k (k + 1)^2}{4}\Bigr),
        \qquad F = \frac{(N - 1)\,\chi^2}{N (k - 1) - \chi^2}.

    F, with k − 1 and (k − 1)(N − 1) degrees of freedom, replaces the over-cautious χ² [2]_. Where
    all data sets rank alike F is infinite, and p is what chance gives that: 1/m for each data set
    after the first, with m the number of orders (k! without ties).

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_estimators)
        One score per data set (row) and estimator (column): at least three estimators on two
        data sets. Two estimators: :func:`wilcoxon_test`.
    greater_is_better : bool, default=True
        Whether a greater score ranks first.
    confidence_level : float, default=0.95
        One minus the level that the sentence judges by.

    Returns
    -------
    FriedmanResult
        Statistic, p-value and average ranks.

    References
    ----------
    .. [1] J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets.
       JMLR 7, 1-30, section 3.2.2. https://jmlr.org/papers/v7/demsar06a.html
    .. [2] R. L. Iman, J. M. Davenport (1980). Approximations of the critical region of the
       Friedman statistic. Communications in Statistics A 9, 571-595.
       :doi:`10.1080/03610928008827904`

    Examples
    --------
    >>> from mercer.comparison import friedman_test
    >>> scores = [[0.9, 0.8, 0.7], [0.8, 0.9, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]]
    >>> result = friedman_test(scores)
    >>> round(result.chi2_statistic, 3), round(result.statistic, 3), result.df
    (4.5, 3.857, (2, 6))
    """
    check_confidence_level(confidence_level)
    table = check_table(scores, min_estimators=3, min_datasets=2)
    n, k = table.shape
    ranks = row_ranks(table, greater_is_better=greater_is_better)
    # the general form, Σ over estimators divided by the variance of the ranks given their ties:
    # equal to the printed one where no row has ties
    between = n**2 * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum()
    within = ((ranks - (k + 1) / 2) ** 2).sum() / (k - 1)
    chi2 = float(between / within) if within else 0.0
    room = n * (k - 1) - chi2
    df = (k - 1, (k - 1) * (n - 1))
    if room > 1e-9 * n * k:
        f = (n - 1) * chi2 / room
        pvalue = float(stats.f.sf(f, *df))
    else:  # every data set ranks alike, so that F has no scale: count the orders there could be
        sizes = np.unique(ranks[0], return_counts=True)[1]
        log_orders = gammaln(k + 1) - gammaln(sizes + 1).sum()
        f, pvalue = np.inf, float(np.exp(-(n - 1) * log_orders))
    return FriedmanResult(
        statistic=float(f),
        pvalue=pvalue,
        df=df,
        chi2_statistic=chi2,
        chi2_pvalue=float(stats.chi2.sf(chi2, k - 1)),
        n_datasets=n,
        n_estimators=k,
        confidence_level=confidence_level,
    )


def nemenyi_critical_difference(
    n_estimators: int, n_datasets: int, *, confidence_level: float
) -> float:
    """Difference of average ranks that Nemenyi's test calls significant: q √(k(k + 1)/6N)."""
    q = stats.studentized_range.ppf(confidence_level, n_estimators, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_estimators * (n_estimators + 1) / (6 * n_datasets)))


def nemenyi_pvalues(scores: object, *, greater_is_better: bool) -> pd.DataFrame:
    """P-values of all pairs by Nemenyi's test, as a square table, best rank first."""
    table = check_table(scores, min_estimators=2, min_datasets=1)
    n, k = table.shape
    ranks = average_ranks(table, greater_is_better=greater_is_better)
    gaps = np.abs(ranks.to_numpy()[:, None] - ranks.to_numpy()) / np.sqrt(k * (k + 1) / (6 * n))
    pvalues = stats.studentized_range.sf(gaps * np.sqrt(2), k, np.inf)
    return pd.DataFrame(np.clip(pvalues, 0, 1), index=ranks.index, columns=ranks.index)

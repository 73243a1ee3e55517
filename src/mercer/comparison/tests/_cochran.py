"""Cochran's Q: whether several classifiers have the same error rate on one test set."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from sklearn.utils import check_consistent_length

from mercer._system.words import count_of, p_value
from mercer.comparison.tests._pairs import check_confidence_level, check_labels


@dataclass(frozen=True)
class CochranResult:
    """Outcome of :func:`cochran_q_test`; ``str(result)`` is a sentence.

    Attributes
    ----------
    statistic : float
        Cochran's Q.
    pvalue : float
        By χ² with one degree of freedom less than there are classifiers.
    df : tuple of int
        Its degrees of freedom.
    right : mapping of str to int
        How many samples each classifier gets right, most first.
    n_samples : int
        Size of the test set.
    n_informative : int
        Samples that some but not all classifiers get right; the others say nothing.
    confidence_level : float
        The sentence calls a p-value below one minus it unlikely.
    """

    statistic: float
    pvalue: float
    df: tuple[int, ...]
    right: Mapping[str, int]
    n_samples: int
    n_informative: int
    confidence_level: float

    @property
    def significant(self) -> bool:
        """Whether the p-value is below one minus the confidence level."""
        return self.pvalue < 1 - self.confidence_level

    def __str__(self) -> str:
        verdict = "more than chance explains" if self.significant else "no more than chance could"
        return (
            f"on {count_of(self.n_samples, 'row')} the error rates of {len(self.right)} "
            f"classifiers differ {verdict} ({p_value(self.pvalue)})"
        )


def cochran_q_test(
    y_true: npt.ArrayLike,
    predictions: Mapping[str, npt.ArrayLike] | pd.DataFrame,
    *,
    confidence_level: float = 0.95,
) -> CochranResult:
    r"""Test whether several classifiers have the same error rate on one test set.

    With :math:`x_{ij} = 1` where classifier j of k is right on sample i, :math:`G_j` the sums over
    samples, :math:`L_i` those over classifiers and :math:`T` the sum of all,

    .. math:: Q = \frac{(k - 1)\,(k \sum_j G_j^2 - T^2)}{k\,T - \sum_i L_i^2}

    has about k − 1 degrees of freedom when all error rates are equal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    predictions : mapping of str to array-like of shape (n_samples,), or DataFrame
        Labels that each of two or more fitted classifiers predicts.
    confidence_level : float, default=0.95
        One minus the level that the sentence judges by.

    Returns
    -------
    CochranResult
        Statistic, p-value and how many samples each gets right.

    See Also
    --------
    mcnemar_test : For two classifiers, and for the pairs after this one.

    Notes
    -----
    χ² is an approximation for many informative samples: with k times their number below 24 it is
    rough. With two classifiers Q is McNemar's χ² without the correction for continuity. Where
    every sample is right for all or for none, Q is 0 and p is 1. Like McNemar's test it speaks of
    these fitted classifiers; predictions of several folds come from several.

    References
    ----------
    .. [1] W. G. Cochran (1950). The comparison of percentages in matched samples. Biometrika 37,
       256-266. :doi:`10.1093/biomet/37.3-4.256`

    Examples
    --------
    >>> from mercer.comparison import cochran_q_test
    >>> truth = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> a, b, c = [1, 1, 1, 1, 0, 0, 0, 1], [1, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 0, 1]
    >>> result = cochran_q_test(truth, {"a": a, "b": b, "c": c})
    >>> round(result.statistic, 3), result.df, round(result.pvalue, 3)
    (5.429, (2,), 0.066)
    """
    check_confidence_level(confidence_level)
    truth = check_labels(y_true, "y_true")
    columns: dict[str, Any] = {str(name): predictions[name] for name in predictions}
    if len(columns) < 2 or not len(truth):
        raise ValueError(
            "Cochran's test needs predictions of two classifiers or more for one sample or more; "
            f"got {len(columns)} and {len(truth)}."
        )
    labels = {name: check_labels(column, name) for name, column in columns.items()}
    check_consistent_length(truth, *labels.values())
    right = np.column_stack([column == truth for column in labels.values()]).astype(np.int64)
    by_classifier, by_sample = right.sum(axis=0), right.sum(axis=1)
    k, total = right.shape[1], int(right.sum())
    spread = k * total - int((by_sample**2).sum())  # 0 where each row is right for all or for none
    between = k * int((by_classifier**2).sum()) - total**2
    statistic = (k - 1) * between / spread if spread else 0.0
    ordered = sorted(zip(columns, by_classifier.tolist(), strict=True), key=lambda one: -one[1])
    return CochranResult(
        statistic=float(statistic),
        pvalue=float(stats.chi2.sf(statistic, k - 1)),
        df=(k - 1,),
        right=dict(ordered),
        n_samples=len(truth),
        n_informative=int(np.sum((by_sample > 0) & (by_sample < k))),
        confidence_level=confidence_level,
    )

"""The critical-difference diagram, drawn by scikit-posthocs."""

from typing import Any

import numpy as np
import pandas as pd

from mercer._system.extras import how_to_install
from mercer.comparison._checks import check_confidence_level
from mercer.comparison.tests._pairs import run_pairs
from mercer.comparison.tests._ranks import (
    average_ranks,
    check_table,
    nemenyi_critical_difference,
    nemenyi_pvalues,
)
from mercer.comparison.tests._signed_rank import wilcoxon_test

__all__ = ["plot_critical_difference"]


def plot_critical_difference(
    scores: object,
    *,
    greater_is_better: bool = True,
    posthoc: str = "wilcoxon",
    confidence_level: float = 0.95,
    ax: Any = None,
) -> Any:
    """Draw the average ranks on a line; a bar joins estimators that no test tells apart.

    Needs matplotlib and scikit-posthocs, the extra ``plot``.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_estimators)
        One score per data set (row) and estimator (column).
    greater_is_better : bool, default=True
        Whether a greater score ranks first.
    posthoc : {"wilcoxon", "nemenyi"}, default="wilcoxon"
        The test behind the bars: Wilcoxon's with Holm's correction, or Nemenyi's on the average
        ranks as in the first such diagrams; only the latter has one critical difference, which
        the title then states.
    confidence_level : float, default=0.95
        One minus the level of the tests.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size otherwise.

    Returns
    -------
    matplotlib Axes
        Where it was drawn.

    References
    ----------
    .. [1] J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets.
       JMLR 7, 1-30, section 3.2.4. https://jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> from mercer.comparison import plot_critical_difference
    >>> ax = plot_critical_difference(scores, posthoc="nemenyi")  # doctest: +SKIP
    """
    check_confidence_level(confidence_level)
    table = check_table(scores, min_estimators=2, min_datasets=2)
    ranks = average_ranks(table, greater_is_better=greater_is_better)
    n, k = table.shape
    if posthoc == "wilcoxon":
        pvalues = _wilcoxon_pvalues(table, confidence_level)
        title = f"Average ranks over {n} data sets (bars: Wilcoxon with Holm's correction)"
    elif posthoc == "nemenyi":
        pvalues = nemenyi_pvalues(table, greater_is_better=greater_is_better)
        critical = nemenyi_critical_difference(k, n, confidence_level=confidence_level)
        title = (
            f"Average ranks over {n} data sets (bars: Nemenyi, critical difference {critical:.3g})"
        )
    else:
        raise ValueError(f"posthoc must be 'wilcoxon' or 'nemenyi'; got {posthoc!r}.")
    try:
        from matplotlib import pyplot as plt
        from scikit_posthocs import critical_difference_diagram
    except ImportError as error:
        raise ImportError(
            f"The diagram needs matplotlib and scikit-posthocs: {how_to_install('plot')}."
        ) from error
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 1.4 + 0.25 * k), layout="constrained")
    critical_difference_diagram(
        ranks,
        pvalues,
        alpha=1 - confidence_level,
        ax=ax,
        label_fmt_left="{label} ({rank:.2f}) ",
        label_fmt_right=" ({rank:.2f}) {label}",
    )
    ax.set_title(title)
    return ax


def _wilcoxon_pvalues(table: pd.DataFrame, confidence_level: float) -> pd.DataFrame:
    """Holm-corrected p-values of all pairs as a square table, 1 on the diagonal."""
    pairs, _ = run_pairs(
        list(table.columns),
        {"wilcoxon": lambda a, b: wilcoxon_test(table[a], table[b])},
        confidence_level=confidence_level,
    )
    square = pd.DataFrame(np.eye(len(table.columns)), index=table.columns, columns=table.columns)
    for a, b, pvalue in pairs[["a", "b", "pvalue_holm"]].itertuples(index=False):
        square.loc[a, b] = square.loc[b, a] = pvalue
    return square

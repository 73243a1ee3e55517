"""Compare estimators over many data sets, from a table of scores, and draw their ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from mercer._system.extras import how_to_install
from mercer.comparison._result import Section, ShownAsTables
from mercer.comparison.tests._pairs import Results, check_confidence_level, run_pairs
from mercer.comparison.tests._ranks import (
    FriedmanResult,
    average_ranks,
    check_table,
    friedman_test,
    nemenyi_critical_difference,
    nemenyi_pvalues,
)
from mercer.comparison.tests._signed_rank import (
    BayesianResult,
    bayesian_signed_rank_test,
    wilcoxon_test,
)

# Columns of the posterior probabilities, and where they come from.
_POSTERIOR = {"P(a better)": "p_a", "P(same)": "p_rope", "P(b better)": "p_b"}


@dataclass(frozen=True, eq=False, repr=False)
class DatasetComparison(ShownAsTables):
    """Estimators compared over many data sets; prints as three tables.

    Attributes
    ----------
    scores : DataFrame of shape (n_datasets, n_estimators)
        The scores that were compared.
    greater_is_better : bool
        Whether a greater score is better.
    ranks : Series
        Average ranks, best first.
    friedman : FriedmanResult or None
        Whether the ranks differ at all; None for two estimators.
    pairs : DataFrame
        A row per pair: median difference, positive where a is better, with its interval,
        Wilcoxon's p-value before and after Holm's correction, the verdict, and the posterior
        probabilities that a is better, that the two are within ``rope``, and that b is better.
    results : dict
        The full result of each Wilcoxon test, by ``("wilcoxon", a, b)``.
    posteriors : mapping of (a, b) to BayesianResult
        The full result of each Bayesian test.
    confidence_level : float
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.
    """

    scores: pd.DataFrame
    greater_is_better: bool
    ranks: pd.Series
    friedman: FriedmanResult | None
    pairs: pd.DataFrame
    results: Results
    posteriors: Mapping[tuple[str, str], BayesianResult]
    confidence_level: float

    def plot(self, *, posthoc: str = "wilcoxon", ax: Any = None) -> Any:
        """Draw the critical-difference diagram; see :func:`plot_critical_difference`."""
        return plot_critical_difference(
            self.scores,
            greater_is_better=self.greater_is_better,
            posthoc=posthoc,
            confidence_level=self.confidence_level,
            ax=ax,
        )

    def _sections(self) -> list[Section]:
        title = f"Average ranks over {len(self.scores)} data sets"
        if self.friedman is not None:
            title = f"Friedman: {self.friedman}"
        means = self.scores.mean().reindex(self.ranks.index)
        ranks = pd.DataFrame({"average rank": self.ranks, "mean score": means})
        pairs = self.pairs.set_index("a").rename(columns={"pvalue_holm": "p"})
        order = "a minus b" if self.greater_is_better else "b minus a"
        rope = next(iter(self.posteriors.values())).rope
        return [
            (title, ranks.rename_axis("estimator")),
            (
                f"Wilcoxon: {order}, p after Holm's correction",
                pairs[["b", "difference", "low", "high", "p", "verdict"]],
            ),
            (
                f"Bayes: posterior probabilities, the same within {rope:g}",
                pairs[["b", *_POSTERIOR]],
            ),
        ]

    def __repr__(self) -> str:
        n_datasets, n_estimators = self.scores.shape
        return (
            f"<DatasetComparison of {n_estimators} estimators on {n_datasets} data sets: print it, "
            "or see .ranks and .pairs>"
        )


def compare_over_datasets(
    scores: object,
    *,
    greater_is_better: bool = True,
    rope: float = 0.01,
    confidence_level: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> DatasetComparison:
    """Rank estimators over many data sets and test every pair of them.

    Parameters
    ----------
    scores : DataFrame or array-like of shape (n_datasets, n_estimators)
        One score per data set (row) and estimator (column), such as the mean over folds.
    greater_is_better : bool, default=True
        Whether a greater score is better.
    rope : float, default=0.01
        Differences up to this size are practically nought, in units of the score.
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.
    random_state : int, RandomState or None, default=None
        Seed of the Bayesian test's draws.

    Returns
    -------
    DatasetComparison
        Tests of all and of pairs, and the ranks.

    Notes
    -----
    Pairs are compared by Wilcoxon's test, which looks at the two alone, and not by their average
    ranks, whose difference depends on which other estimators are in the table [1]_.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, F. Mangili (2016). Should we really use post-hoc tests based on
       mean-ranks? JMLR 17(5), 1-10. https://jmlr.org/papers/v17/benavoli16a.html

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from mercer.comparison import compare_over_datasets
    >>> base = np.linspace(0.7, 0.9, 10)
    >>> steps = np.arange(10) / 1000
    >>> scores = pd.DataFrame({"svc": base + 0.03 + steps, "knn": base, "nb": base - steps})
    >>> comparison = compare_over_datasets(scores, random_state=0)
    >>> print(comparison.friedman)
    over 10 data sets the ranks of 3 estimators differ more than chance explains (p < 0.001)
    >>> comparison.pairs["verdict"].tolist()
    ['svc is better', 'svc is better', 'knn is better']
    """
    check_confidence_level(confidence_level)
    table = check_table(scores, min_estimators=2, min_datasets=2)
    sign = 1 if greater_is_better else -1
    names = list(table.columns)
    pairs, results = run_pairs(
        names,
        {
            "wilcoxon": lambda a, b: wilcoxon_test(
                sign * table[a], sign * table[b], confidence_level=confidence_level, names=(a, b)
            )
        },
        confidence_level=confidence_level,
    )
    rng = check_random_state(random_state)
    posteriors = {
        (a, b): bayesian_signed_rank_test(
            sign * table[a], sign * table[b], rope=rope, random_state=rng, names=(a, b)
        )
        for a, b in combinations(names, 2)
    }
    for column, attribute in _POSTERIOR.items():
        pairs[column] = [getattr(posterior, attribute) for posterior in posteriors.values()]
    friedman = None
    if len(names) > 2:
        friedman = friedman_test(
            table, greater_is_better=greater_is_better, confidence_level=confidence_level
        )
    return DatasetComparison(
        scores=table,
        greater_is_better=greater_is_better,
        ranks=average_ranks(table, greater_is_better=greater_is_better),
        friedman=friedman,
        pairs=pairs,
        results=results,
        posteriors=posteriors,
        confidence_level=confidence_level,
    )


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

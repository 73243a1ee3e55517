"""``compare_scores``: verdicts on scores that somebody else has measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from mercer._system.vocabulary import metric_named
from mercer._system.words import count_of, listed
from mercer.comparison._result import (
    Section,
    ShownAsTables,
    against_best,
    cut_to_possible,
    mean_interval,
    who_is_ahead,
)
from mercer.comparison._score_table import Better, ScoreTable, score_table
from mercer.comparison.tests._bayesian import bayesian_correlated_t_test
from mercer.comparison.tests._cochran import CochranResult
from mercer.comparison.tests._on_splits import corrected_t_test
from mercer.comparison.tests._pairs import (
    PairedTestResult,
    Results,
    check_confidence_level,
    run_pairs,
)
from mercer.comparison.tests._ranks import FriedmanResult, friedman_test, row_ranks
from mercer.comparison.tests._signed_rank import (
    BayesianResult,
    bayesian_signed_rank_test,
    check_rope,
    wilcoxon_test,
)

_RANK = "average rank"
_DRAWS = 10_000  # of the Bayesian test over data sets: its probabilities are good to 0.01
# Columns of posterior probabilities.
POSTERIOR = ("P(a better)", "P(same)", "P(b better)")

# The pairs of some models, tested, and the full results.
_Tested = tuple[pd.DataFrame, Results]
_Posterior = Callable[[str, str], BayesianResult | None]


@dataclass(frozen=True, eq=False, repr=False)
class ScoresComparison(ShownAsTables):
    """Models compared by scores from elsewhere; prints as tables and a sentence or two.

    Attributes
    ----------
    table : ScoreTable
        The scores, by data set, and how they were read.
    metric : str
        What models are ranked by: the metric on one data set, ``"average rank"`` over several.
    lower_is_better : bool
        Whether less of that is better, as of ranks.
    scores : DataFrame
        What is averaged, models in columns, best first: a row for each split of the one data set,
        or the ranks on each data set.
    summary : DataFrame
        A row for each model, best first: mean ``score`` with its interval (``low``, ``high``),
        ``difference`` from the best, ``pvalue`` of that after Holm's correction over all pairs, and
        ``against_best``.
    pairs : DataFrame
        A row for each pair: ``difference`` (positive where a is better) with its interval, p-value
        before and after Holm's correction, the verdict; and posterior probabilities of pairs of
        neighbours in the ranking and of pairs with the best.
    neighbours : DataFrame
        The pairs of neighbours in the ranking, from the top; a is the one ahead.
    datasets : DataFrame
        A row for each data set: ``splits``, ``best`` and its ``score``, ``alike`` (how many others
        are not told apart from the best), and how many of its neighbours in rank are told apart,
        by p-values that are corrected over its pairs (``apart``) and by plain ones (``plain``).
    unit : {"split", "data set", "row"}
        What a row of ``scores`` is.
    overall : FriedmanResult, CochranResult or None
        Whether any two differ at all: of ranks over data sets, or of predictions.
    results : dict
        The full result of each test of ``pairs``, by test and names.
    rope : float
        Differences up to this size are practically none.
    confidence_level : float
        Of intervals and verdicts.
    """

    table: ScoreTable
    metric: str
    lower_is_better: bool
    scores: pd.DataFrame
    summary: pd.DataFrame
    pairs: pd.DataFrame
    neighbours: pd.DataFrame
    datasets: pd.DataFrame
    unit: str
    overall: FriedmanResult | CochranResult | None
    results: Results
    rope: float
    confidence_level: float

    @property
    def leader(self) -> str:
        """The model with the best mean score or rank; of equals, the first by name."""
        return str(self.summary.index[0])

    @property
    def n_apart(self) -> int:
        """How many neighbours in the ranking are told apart, by corrected p-values."""
        return int((self.neighbours["pvalue_holm"] < 1 - self.confidence_level).sum())

    @property
    def answer(self) -> str:
        """The comparison in one sentence, or two."""
        if len(self.scores) == 1:
            return f"One {self.unit} tells nothing apart; {self.leader} leads."
        answer = f"{'; '.join(who_is_ahead(self.leader, self.summary.iloc[1:]))}."
        if len(self.neighbours) == 1:
            return answer
        apart = f"{self.n_apart} are" if self.n_apart > 1 else ("none is", "one is")[self.n_apart]
        return (
            f"{answer} Of {count_of(len(self.neighbours), 'step')} from one rank to the next, "
            f"{apart} more than chance explains."
        )

    def _sections(self) -> list[Section]:
        ranking = self.summary.rename(columns={"pvalue": "p", "against_best": "against best"})
        head = f"{metric_named(self.metric).words} over {count_of(len(self.scores), self.unit)}"
        steps = self.neighbours.rename(columns={"pvalue_holm": "p"})
        return [
            (f"{head}. {self.answer}", ranking),
            (
                "Neighbours in the ranking, p after Holm's correction over all pairs",
                steps.set_index("a")[["b", "difference", "low", "high", "p", *POSTERIOR]],
            ),
        ]

    def __repr__(self) -> str:
        return (
            f"<ScoresComparison of {len(self.summary)} models on "
            f"{count_of(len(self.table.scores), 'data set')}: print it, or see .summary, .pairs, "
            ".datasets and .answer>"
        )


def compare_scores(
    results: pd.DataFrame,
    *,
    metric: str | None = None,
    better: Better | None = None,
    test_share: float | None = None,
    rope: float = 0.01,
    confidence_level: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> ScoresComparison:
    """Test which differences between scores from elsewhere are more than chance.

    On one data set pairs are tested by :func:`corrected_t_test` on splits, with the posterior of
    :func:`bayesian_correlated_t_test`; over several by :func:`wilcoxon_test` on mean scores, with
    that of :func:`bayesian_signed_rank_test`, and models are ranked by their average rank. Each
    data set with two splits or more is judged by itself too.

    Parameters
    ----------
    results : DataFrame
        Scores in long or wide form, as of scikit-learn's ``cross_validate``, skore, MLflow,
        AutoGluon, TabArena or the AutoML benchmark; see :func:`score_table`.
    metric : str, optional
        The column with the scores, or what they are.
    better : {"higher", "lower"}, optional
        Which scores are better, where the metric's name does not tell.
    test_share : float, optional
        The share of the rows that a split tests; by default as the table tells.
    rope : float, default=0.01
        Differences up to this size are practically none. In units of the score; where data sets
        have several metrics or units, in shares of the data set's median score.
    confidence_level : float, default=0.95
        Coverage of the intervals; a verdict needs a corrected p-value below one minus it.
    random_state : int, RandomState or None, default=None
        Seed of the Bayesian test over data sets.

    Returns
    -------
    ScoresComparison
        Ranking, tests, neighbours in the ranking, and the answer in a sentence or two.

    Notes
    -----
    Scores in different units cannot be subtracted: errors of several metrics, or without bounds
    such as RMSE, are divided by the median of the models on each data set before Wilcoxon's test.
    Ranks are those of the scores as they are. Other scores of several metrics are refused.

    The interval of an average rank is Student's over data sets: what other data sets of this kind
    would give, with these models.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning
       52, 239-281. :doi:`10.1023/A:1024068626366`
    .. [2] A. Benavoli, G. Corani, J. Demšar, M. Zaffalon (2017). Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis. JMLR 18(77), 1-36.
       https://jmlr.org/papers/v18/16-305.html

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.comparison import compare_scores
    >>> svc = [0.93, 0.95, 0.94, 0.96, 0.92, 0.95, 0.94, 0.93, 0.95, 0.96]
    >>> knn = [0.90, 0.91, 0.91, 0.92, 0.89, 0.92, 0.90, 0.91, 0.92, 0.92]
    >>> folds = pd.DataFrame({"svc": svc, "knn": knn})
    >>> print(compare_scores(folds, metric="accuracy").answer)
    svc is better than knn (p < 0.001).
    """
    check_confidence_level(confidence_level)
    check_rope(rope)
    table = score_table(results, metric=metric, better=better, test_share=test_share)
    level, overlap = confidence_level, table.overlap
    sign = -1.0 if table.lower_is_better else 1.0
    by_dataset = {
        name: _on_splits(sign * scores, overlap, level)
        for name, scores in table.scores.items()
        if overlap is not None and len(scores) > 1
    }
    overall = None
    if len(table.scores) == 1:
        ((dataset, scores),) = table.scores.items()
        name, lower, goodness = table.metric, table.lower_is_better, sign * scores
        pairs, found = by_dataset.get(dataset) or _untested(scores, level)
        posterior = _posterior_on_splits(goodness, overlap, rope)
    else:
        means = pd.DataFrame({one: splits.mean() for one, splits in table.scores.items()}).T
        ranks = row_ranks(means, greater_is_better=not table.lower_is_better)
        scores = pd.DataFrame(ranks, means.index, means.columns)
        name, lower, goodness, overlap = _RANK, True, sign * _in_one_unit(means, table), 0.0
        if len(means.columns) > 2:
            overall = friedman_test(sign * means, confidence_level=level)
        pairs, found = _over_datasets(goodness, level)
        rng = check_random_state(random_state)
        posterior = _posterior_over_datasets(goodness, rope, rng)
    means_of = (scores.mean() if lower else -scores.mean()).round(12)
    order = list(means_of.sort_index().sort_values(kind="stable").index)
    shown = [*pairwise(order), *((order[0], other) for other in order[2:])]
    pairs = with_posteriors(pairs, {pair: posterior(*pair) for pair in shown})
    return ScoresComparison(
        table=table,
        metric=name,
        lower_is_better=lower,
        scores=scores[order],
        summary=_summary(scores[order], pairs, overlap, level, by_rank=name == _RANK),
        pairs=pairs,
        neighbours=neighbours_of(pairs, order),
        datasets=_dataset_table(table, by_dataset, level),
        unit="split" if len(table.scores) == 1 else "data set",
        overall=overall,
        results=found,
        rope=rope,
        confidence_level=level,
    )


def _on_splits(goodness: pd.DataFrame, overlap: float, level: float) -> _Tested:
    """Test all pairs by scores on the splits of one data set."""

    def test(a: str, b: str) -> PairedTestResult:
        sizes = {"n_train": 1.0, "n_test": overlap}
        return corrected_t_test(
            goodness[a], goodness[b], **sizes, confidence_level=level, names=(a, b)
        )

    return run_pairs(list(goodness), {"corrected_t": test}, confidence_level=level)


def _over_datasets(goodness: pd.DataFrame, level: float) -> _Tested:
    """Test all pairs by scores on many data sets."""

    def test(a: str, b: str) -> PairedTestResult:
        return wilcoxon_test(goodness[a], goodness[b], confidence_level=level, names=(a, b))

    return run_pairs(list(goodness), {"wilcoxon": test}, confidence_level=level)


def _untested(goodness: pd.DataFrame, level: float) -> _Tested:
    """Return all pairs of models that have one score each, which no test tells apart."""

    def test(a: str, b: str) -> PairedTestResult:
        raise ValueError("One split tells nothing apart.")

    return run_pairs(list(goodness), {"corrected_t": test}, confidence_level=level)


def _posterior_on_splits(goodness: pd.DataFrame, overlap: float | None, rope: float) -> _Posterior:
    def posterior(a: str, b: str) -> BayesianResult | None:
        if overlap is None or len(goodness) < 2:
            return None
        return bayesian_correlated_t_test(
            goodness[a], goodness[b], n_train=1.0, n_test=overlap, rope=rope, names=(a, b)
        )

    return posterior


def _posterior_over_datasets(
    goodness: pd.DataFrame, rope: float, rng: np.random.RandomState
) -> _Posterior:
    def posterior(a: str, b: str) -> BayesianResult:
        return bayesian_signed_rank_test(
            goodness[a],
            goodness[b],
            rope=rope,
            n_draws=_DRAWS,
            random_state=rng,
            names=(a, b),
        )

    return posterior


def _in_one_unit(means: pd.DataFrame, table: ScoreTable) -> pd.DataFrame:
    """Return scores that can be subtracted: errors in shares of a data set's median, if need be."""
    if not table.has_units:
        return means
    medians = means.median(axis=1)
    if not table.lower_is_better or (means < 0).any(axis=None) or (medians <= 0).any():
        raise ValueError(
            f"Data sets are scored by {table.metric}, which cannot be compared with each other: "
            f"name one with metric (--metric): {listed(sorted(set(table.metrics.values())))}."
        )
    return means.div(medians, axis=0)


def with_posteriors(
    pairs: pd.DataFrame, posteriors: Mapping[tuple[str, str], BayesianResult | None]
) -> pd.DataFrame:
    """Return the pairs with the probabilities of those that have them."""
    by_pair: dict[tuple[str, str], tuple[float, float, float]] = {}
    for (a, b), one in posteriors.items():
        if one is not None:
            by_pair[a, b] = (one.p_a, one.p_rope, one.p_b)
            by_pair[b, a] = (one.p_b, one.p_rope, one.p_a)
    nothing = (np.nan,) * 3
    found = [by_pair.get(pair, nothing) for pair in zip(pairs["a"], pairs["b"], strict=True)]
    return pairs.assign(**dict(zip(POSTERIOR, np.reshape(found, (-1, 3)).T, strict=True)))


def neighbours_of(pairs: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Return the pairs of neighbours in a ranking, the one ahead first."""
    turned = pairs.rename(
        columns={"a": "b", "b": "a", "low": "high", "high": "low",
                 POSTERIOR[0]: POSTERIOR[2], POSTERIOR[2]: POSTERIOR[0]}
    )  # fmt: skip
    turned[["difference", "low", "high"]] *= -1
    both = pd.concat([pairs, turned]).set_index(["a", "b"])
    return both.loc[list(pairwise(order)), list(pairs.columns.drop(["a", "b"]))].reset_index()


def _summary(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    overlap: float | None,
    level: float,
    *,
    by_rank: bool,
) -> pd.DataFrame:
    """Return a line for each model, in the order of the columns."""
    table = pd.DataFrame({"score": scores.mean()}).rename_axis("model")
    bounds = [mean_interval(scores[name], overlap or 0.0, level) for name in scores]
    table[["low", "high"]] = np.reshape(bounds, (-1, 2))
    if by_rank:
        table[["low", "high"]] = cut_to_possible(table[["low", "high"]], 1.0, len(table))
    return table.join(against_best(table["score"], pairs, level))


def _dataset_table(table: ScoreTable, tested: Mapping[str, _Tested], level: float) -> pd.DataFrame:
    """Return a line for each data set: who is best there, and how many steps are told apart."""
    lines = {}
    for name, scores in table.scores.items():
        means = scores.mean() if table.lower_is_better else -scores.mean()
        order = list(means.sort_index().sort_values(kind="stable").index)
        line = {"splits": len(scores), "best": order[0], "score": float(scores[order[0]].mean())}
        if name in tested:
            pairs, _ = tested[name]
            steps = neighbours_of(pairs, order)
            with_best = pairs[(pairs["a"] == order[0]) | (pairs["b"] == order[0])]
            line["alike"] = int((with_best["pvalue_holm"] >= 1 - level).sum())
            line["apart"] = int((steps["pvalue_holm"] < 1 - level).sum())
            line["plain"] = int((steps["pvalue"] < 1 - level).sum())
        lines[name] = line
    found = pd.DataFrame.from_dict(lines, orient="index").rename_axis("data set")
    counts = ["alike", "apart", "plain"]
    return found.reindex(columns=["splits", "best", "score", *counts]).astype(
        dict.fromkeys(counts, "Int64")
    )

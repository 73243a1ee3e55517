"""What :func:`mercer.comparison.compare` returns, and how it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mercer.comparison._display import Section, ShownAsTables
from mercer.comparison.tests._pairs import Results

__all__ = ["Comparison"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ShownAsTables):
    """Estimators compared on one data set.

    ``print(comparison)`` and rich show two tables, notebooks show them as HTML; the attributes
    hold everything that they were made from.

    Attributes
    ----------
    scoring : str
        Name of the score.
    scores : DataFrame of shape (n_splits, n_estimators)
        Score on each split; NaN where the estimator failed.
    fit_times : DataFrame of shape (n_splits, n_estimators)
        Seconds that each fit took.
    five_by_two_scores : DataFrame of shape (10, n_estimators) or None
        Scores on the ten halves, indexed by replication and half; None where no 5×2 test was
        asked for.
    predictions : DataFrame
        Out-of-fold predictions: a row per split and test sample (the index holds both), the column
        ``y_true`` and a column per estimator that did not fail there.
    errors : mapping of str to str
        First error of each estimator that failed, in full; the tables show its first line.
    pairs : DataFrame
        A row per test and pair: difference (score of a minus score of b) with its interval,
        statistic, p-value, p-value after Holm's correction over the pairs, and the verdict.
    results : dict
        The full result of each test, by ``(test, a, b)``.
    """

    scoring: str
    scores: pd.DataFrame
    fit_times: pd.DataFrame
    five_by_two_scores: pd.DataFrame | None
    predictions: pd.DataFrame
    errors: Mapping[str, str]
    pairs: pd.DataFrame
    results: Results

    @property
    def summary(self) -> pd.DataFrame:
        """One row per estimator, best first: mean score, its spread, seconds per fit, error."""
        table = pd.DataFrame(
            {
                "mean": self.scores.mean(skipna=False),
                "std": self.scores.std(skipna=False),
                "fit_seconds": self.fit_times.mean(skipna=False),
                "error": pd.Series(self.errors, dtype=object).reindex(
                    self.scores.columns, fill_value=""
                ),
            }
        ).rename_axis("estimator")
        return table.sort_values("mean", ascending=False, kind="stable")

    def _sections(self) -> list[Section]:
        summary = self.summary
        title = f"{self.scoring} on {len(self.scores)} splits"
        sections = [(title, summary.drop(columns="error"))]
        if self.errors:
            first_lines = {name: error.partition("\n")[0] for name, error in self.errors.items()}
            failed = pd.DataFrame({"failed": first_lines.keys(), "error": first_lines.values()})
            sections.append(("What failed", failed.set_index("failed")))
        for test, block in self.pairs.groupby("test", sort=False):
            table = block.drop(columns=["test", "statistic", "pvalue"]).set_index("a")
            table = table.rename(columns={"pvalue_holm": "p"})
            sections.append((f"{test}: a minus b, p after Holm's correction", table))
        return sections

    def __repr__(self) -> str:
        n_splits, n_estimators = self.scores.shape
        return (
            f"<Comparison of {n_estimators} estimators on {n_splits} splits: print it, or see "
            ".summary and .pairs>"
        )

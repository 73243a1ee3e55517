"""How results are shown as tables, and what :func:`mercer.comparison.compare_in_rounds` returns.

A result prints as tables in a terminal, in rich and in notebooks, with one formatting.  That of a
comparison in rounds holds scores, intervals, tests and an answer.
"""

import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_numeric_dtype
from rich import box
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text
from scipy import stats

from mercer._arrays import FloatArray
from mercer._system.words import listed, p_value, score
from mercer.comparison.engine._metrics import LOWER_IS_BETTER
from mercer.comparison.tests._pairs import Results, largest

# A heading and the table below it.
Section = tuple[str, pd.DataFrame]

# Columns of plain text.
_WIDTH = 80
_MOST_NAMED = 12  # estimators in a sentence
_FEW_ROUNDS = 5  # below which only what is very different can be told apart


def _cell(value: object, column: str) -> str:
    """Write one cell: p to three places, means to four digits, others to three; a gap is a dash."""
    if isinstance(value, str):
        return value
    if value is None or value is pd.NA:
        return "–"
    if isinstance(value, (float, np.floating)):
        if np.isnan(value):
            return "–"
        if column == "p":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        if column.startswith("P("):
            return f"{value:.2f}"
        text = f"{value:.4g}" if column.startswith("mean") else f"{value:.3g}"
        return score(float(value)) if text in ("0", "1", "-1") else text
    return str(value)


@dataclass(frozen=True)
class _Grid:
    """A table as text: headings, which of the columns hold numbers, and rows."""

    title: str
    columns: list[str]
    numeric: list[bool]
    rows: list[list[str]]


def _grid(title: str, table: pd.DataFrame) -> _Grid:
    """Write every cell, the index first."""
    table = table.reset_index()
    columns = [str(column) for column in table.columns]
    rows = [
        [_cell(value, column) for value, column in zip(row, columns, strict=True)]
        for row in table.itertuples(index=False, name=None)
    ]
    return _Grid(title, columns, [is_numeric_dtype(dtype) for dtype in table.dtypes], rows)


class ShownAsTables(ABC):
    """Prints as tables, by itself, in rich and in notebooks; names are never read as markup."""

    @abstractmethod
    def _sections(self) -> list[Section]:
        """Headings and tables, in the order to show them."""

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = []
        for section in self._sections():
            grid = _grid(*section)
            shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
            for column, numeric in zip(grid.columns, grid.numeric, strict=True):
                side: JustifyMethod = "right" if numeric else "left"
                shown.add_column(Text(column), justify=side, no_wrap=numeric, overflow="fold")
            for row in grid.rows:
                shown.add_row(*(Text(cell) for cell in row))
            parts += [Text(grid.title, style="bold"), shown]
        return Group(*parts)

    def __str__(self) -> str:
        console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, force_jupyter=False)
        with console.capture() as capture:
            console.print(self)
        return "\n".join(line.rstrip() for line in capture.get().splitlines()).rstrip()

    def _repr_html_(self) -> str:
        grids = [_grid(*section) for section in self._sections()]
        return "<div>" + "".join(_html(grid) for grid in grids) + "</div>"


def _html(grid: _Grid) -> str:
    """Write heading and table, every text escaped."""
    head, *body = (
        "<tr>"
        + "".join(
            f'<{tag} style="text-align: {"right" if numeric else "left"}; padding: 0.1em 0.6em">'
            f"{escape(cell)}</{tag}>"
            for cell, numeric in zip(row, grid.numeric, strict=True)
        )
        + "</tr>"
        for tag, row in [("th", grid.columns), *(("td", row) for row in grid.rows)]
    )
    return (
        f"<p><strong>{escape(grid.title)}</strong></p>"
        f'<table class="dataframe"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'
    )


@dataclass(frozen=True, eq=False, repr=False)
class RoundsComparison(ShownAsTables):
    """Estimators compared in rounds of splits.

    ``print(comparison)`` shows tables and the answer, notebooks show them as HTML.

    Attributes
    ----------
    metric : str
        What estimators are judged by; of ``"log-loss"`` and ``"cost"`` less is better.
    floor : str or None
        The estimator that any other must beat.
    metrics : DataFrame
        Every score: the index holds estimator and split, the columns are metrics. NaN where a
        metric needs probabilities and there are none.
    rounds : tuple of int
        Numbers of the splits that all estimators in the comparison have finished; scores,
        intervals and tests are of these.
    classes : ndarray
        Class labels, sorted.
    positive : label
        The rarest class; with two classes, F1 and average precision are of it.
    predictions : DataFrame
        A row per round and test sample (the index holds both): ``y_true``, and a column per
        estimator in the comparison.
    outputs : dict of name to ndarray of shape (n_rows_of_predictions, n_classes)
        Probabilities or decision scores behind the predictions, where they are few enough to keep.
    has_probabilities : dict of name to bool
        Which of the two.
    sets : dict of name to ndarray of bool of shape (n_rows_of_predictions, n_classes)
        The classes that may be right, where they were asked for and an estimator tells.
    fit_seconds, predict_seconds : DataFrame of shape (n_rounds, n_estimators)
        On one thread.
    n_rows_fitted : dict of name to int
        How many of the training rows each was fitted on in the first round: all, unless the
        estimator (or the last step of a pipeline) says otherwise by ``n_rows_fitted_``.
    samples : dict of name to str
        Such as ``"saw 5 000 of 52 200 rows"``; only estimators that did not see all.
    n_bytes : dict of name to int or None
        Size of the model of the first split, pickled; None where it is beyond 1 GiB or unknown.
    errors : dict of name to str
        First error of each estimator that failed.
    notes : dict of name to str
        Why an estimator was left out.
    warnings : dict of name to str
        First warning of each estimator that gave one.
    pairs : DataFrame
        A row per pair: difference (a minus b, positive where a is better) with its interval,
        statistic, p-value, p-value after Holm's correction over all pairs by all metrics that were
        asked for (pairs with the floor are corrected among themselves), and the verdict.
    results : dict
        The full result of each test, by ``("corrected_t", a, b)``.
    n_train, n_test : float
        Mean sizes of the two parts of a split.
    n_folds : int
        Folds of a repetition.
    confidence_level : float
        Of intervals and verdicts.
    seconds : float
        By the clock.
    interrupted : bool
        Whether it was stopped by Ctrl-C.
    n_resumed : int
        Rounds that a run before had finished, and that were taken from its checkpoint.
    n_samples : int
        Samples that the rounds are made of: all, or those that were drawn.
    costs : ndarray of shape (n_classes, n_classes) or None
        What answers cost, the true class in rows, where that was given.
    split_kind : str
        How samples were split, such as ``"repeated stratified folds"``.
    is_complete : bool
        Whether there are no more splits to be had: with few groups or times, or a test file.
    by_part : dict of name to dict of str to ndarray
        With a test file: what each of its parts adds to a score, by metric. The mean is the score,
        and intervals and tests are of these.
    splits : dict of int to (ndarray, ndarray)
        Positions of training and test samples in each of the rounds.
    also_by : dict of name to RoundsComparison
        The same rounds judged by the other metrics that were asked for.

    Notes
    -----
    An interval that covers all values that a score can have says nothing, and is NaN.
    """

    metric: str
    floor: str | None
    metrics: pd.DataFrame
    rounds: tuple[int, ...]
    classes: npt.NDArray[np.generic]
    positive: Any
    predictions: pd.DataFrame
    outputs: Mapping[str, npt.NDArray[np.float32]]
    has_probabilities: Mapping[str, bool]
    sets: Mapping[str, npt.NDArray[np.bool_]]
    fit_seconds: pd.DataFrame
    predict_seconds: pd.DataFrame
    n_rows_fitted: Mapping[str, int]
    samples: Mapping[str, str]
    n_bytes: Mapping[str, int | None]
    errors: Mapping[str, str]
    notes: Mapping[str, str]
    warnings: Mapping[str, str]
    pairs: pd.DataFrame
    results: Results
    n_train: float
    n_test: float
    n_folds: int
    confidence_level: float
    seconds: float
    interrupted: bool
    n_resumed: int = 0
    n_samples: int = 0
    costs: FloatArray | None = None
    split_kind: str = "repeated stratified folds"
    is_complete: bool = False
    by_part: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)
    splits: Mapping[int, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]] = field(
        default_factory=dict
    )
    also_by: "Mapping[str, RoundsComparison]" = field(default_factory=dict)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Score of each estimator in the comparison on each round, by ``metric``."""
        wide = self.metrics[self.metric].unstack("estimator")
        return wide.loc[list(self.rounds), list(self.fit_seconds.columns)]

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per estimator, best first; those that failed or were left out come last.

        Columns: mean ``score`` and its interval (``low``, ``high``), ``difference`` from the
        leader, ``pvalue`` of that after Holm's correction over all pairs, and ``against_best``:
        "best", "not told apart", "worse", or empty where there was one round only; median seconds
        of a fit and of a prediction, rows that it was fitted on, ``sample`` (how many of all,
        where it did not see all), bytes, and what was said.
        """
        means = self.scores.mean().sort_index()
        is_low = self.metric in LOWER_IS_BETTER
        means = means.sort_values(ascending=is_low, key=lambda mean: mean.round(12), kind="stable")
        names = [*means.index, *self.notes, *self.errors]
        table = pd.DataFrame({"score": means}, index=pd.Index(names, name="estimator"))
        bounds = {name: self._interval(str(name)) for name in self.scores}
        least, most = 0.0, np.inf if is_low else 1.0
        if self.metric == "cost" and self.costs is not None:  # some may be gains
            least, most = float(self.costs.min()), float(self.costs.max())
        intervals = pd.DataFrame.from_dict(bounds, orient="index", columns=["low", "high"])
        table = table.join(cut_to_possible(intervals, least, most))
        table = table.join(against_best(means, self.pairs, self.confidence_level))
        table["fit_seconds"] = self.fit_seconds.median()  # the first fit may have to compile
        table["predict_seconds"] = self.predict_seconds.median()
        table["n_rows_fitted"] = pd.Series(self.n_rows_fitted, dtype="Int64")
        table["sample"] = pd.Series(self.samples, dtype=object).reindex(names, fill_value="")
        table["n_bytes"] = pd.Series(self.n_bytes, dtype="Int64")
        for column in ("warnings", "notes", "errors"):
            said = pd.Series(getattr(self, column), dtype=object)
            table[column.removesuffix("s")] = said.reindex(names, fill_value="")
        return table

    def _interval(self, name: str) -> tuple[float, float]:
        """Interval of a score: by rounds, which share training rows, or by parts of a test file."""
        if name in self.by_part:
            return mean_interval(self.by_part[name][self.metric], 0.0, self.confidence_level)
        overlap = self.n_test / self.n_train
        return mean_interval(self.scores[name], overlap, self.confidence_level)

    @property
    def leader(self) -> str:
        """The estimator with the best mean score; of equals, the first by name."""
        return str(self.summary.index[0])

    @property
    def answer(self) -> str:
        """The comparison in one sentence."""
        scored = self.summary.index[self.summary["score"].notna()]
        return "; ".join([*self._findings(), *self._sampled(list(scored))]) + "."

    @property
    def finding(self) -> str:
        """The same without what each estimator was fitted on."""
        return "; ".join(self._findings()) + "."

    def _findings(self) -> list[str]:
        """Say who leads, who is not told from it or worse, and who is above the floor."""
        table = self.summary[self.summary["score"].notna()]
        leader = self.leader
        if len(table) == 1:
            return [f"{leader} is the only one that was scored, so there is nothing to compare"]
        if self.has_few_rounds:
            first = table.index[table["difference"] < 1e-12]
            lead = (
                f"Too few rounds to tell ({len(self.rounds)}): {listed(first)} "
                f"lead{'s' * (len(first) == 1)} so far, with {score(table['score'].iloc[0])}"
            )
            return [lead] if self.is_complete else [lead, "a longer budget tells more"]
        if leader == self.floor:
            return [f"Nothing scores better than {leader}, which any model must beat"]
        rivals = table[table.index != self.floor]
        parts = who_is_ahead(leader, rivals)
        return [*parts, *self._above_floor(list(rivals.index))]

    def _sampled(self, names: Sequence[str]) -> list[str]:
        """Say who was fitted on a part of the training rows, for which no test makes up."""
        by_share: dict[str, list[str]] = {}
        for name in names:
            if name in self.samples:
                by_share.setdefault(self.samples[name], []).append(name)
        return [f"{listed(several)} {share}" for share, several in by_share.items()]

    @property
    def has_few_rounds(self) -> bool:
        """Whether there are fewer than five rounds, too few for any but the largest differences."""
        return len(self.rounds) < _FEW_ROUNDS and not self.by_part

    def _above_floor(self, names: Sequence[str]) -> list[str]:
        """Say who is better than the floor, if there is one in the comparison."""
        if self.floor not in self.scores:
            return []
        pairs = self.pairs[self.pairs["b"] == self.floor].set_index("a").loc[list(names)]
        is_above = (pairs["pvalue_holm"] < 1 - self.confidence_level) & (pairs["difference"] > 0)
        above, not_above = pairs[is_above], pairs[~is_above]
        said = []
        if not above.empty:
            who = "all" if len(names) > 1 and not_above.empty else listed(above.index)
            are = "are" if len(above) > 1 else "is"
            p = _p(above["pvalue_holm"], worst=True)
            said.append(f"{who} {are} better than {self.floor}{p}")
        gaps = self.scores.sub(self.scores[self.floor], axis=0)
        is_better = gaps < 0 if self.metric in LOWER_IS_BETTER else gaps > 0
        always = is_better.all() & (len(gaps) > 1)
        for is_always, remark in ((True, ", though better on every split"), (False, "")):
            some = [name for name in not_above.index if always[name] == is_always]
            if some:
                who = f"{listed(some)} {'are' if len(some) > 1 else 'is'} not"
                if len(some) == len(names) > 1:
                    who = "none is"
                said.append(f"{who} surely better than {self.floor}{remark}")
        return said

    def _sections(self) -> list[Section]:
        shown = ["score", "low", "high", "against_best", "pvalue", "n_rows_fitted", "fit_seconds"]
        table = self.summary[self.summary["score"].notna()][shown]
        table = table.rename(
            columns={"pvalue": "p", "against_best": "against best", "n_rows_fitted": "rows"}
        )
        sections = [(f"{self.metric} in {len(self.rounds)} rounds. {self.answer}", table)]
        for metric, other in self.also_by.items():
            ranked = other.summary[other.summary["score"].notna()][shown[:5]]
            ranked = ranked.rename(columns={"pvalue": "p", "against_best": "against best"})
            sections.append((f"{metric}. {other.finding}", ranked))
        out = {**self.notes, **{n: e.partition("\n")[0] for n, e in self.errors.items()}}
        if out:
            missing = pd.DataFrame({"estimator": out.keys(), "why": out.values()})
            sections.append(("Not compared", missing.set_index("estimator")))
        return sections

    def __repr__(self) -> str:
        return (
            f"<RoundsComparison of {len(self.scores.columns)} estimators in {len(self.rounds)} "
            "rounds: print it, or see .summary, .pairs and .answer>"
        )


def against_best(
    means: "pd.Series[float]", pairs: pd.DataFrame, confidence_level: float
) -> pd.DataFrame:
    """Return how far everybody is behind the first, and whether that is more than chance."""
    leader = str(means.index[0])
    rows: dict[str, tuple[float, float, str]] = {leader: (0.0, np.nan, "best")}
    corrected = {frozenset((p.a, p.b)): float(p.pvalue_holm) for p in pairs.itertuples()}
    for name in means.index[1:]:
        pvalue = corrected[frozenset((leader, name))]
        verdict = "worse" if pvalue < 1 - confidence_level else "not told apart"
        # NaN: one round only
        rows[name] = (abs(means[leader] - means[name]), pvalue,
                      "" if np.isnan(pvalue) else verdict)  # fmt: skip
    columns = ["difference", "pvalue", "against_best"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def who_is_ahead(leader: str, rivals: pd.DataFrame) -> list[str]:
    """Say who is not told apart from the leader and who is worse, as ``against_best`` has it."""
    alike, worse = (
        rivals.loc[rivals["against_best"] == verdict, "pvalue"]
        for verdict in ("not told apart", "worse")
    )
    parts = []
    if not alike.empty:
        names = listed([leader, *alike.index], most=_MOST_NAMED)
        parts.append(f"{names} are not told apart{_p(alike, worst=False)}")
        if not worse.empty:
            who = listed(worse.index, most=_MOST_NAMED)
            parts.append(f"{who} {_are(worse)} worse{_p(worse, worst=True)}")
    elif not worse.empty:
        who = listed(worse.index, most=_MOST_NAMED)
        parts.append(f"{leader} is better than {who}{_p(worse, worst=True)}")
    return parts


def mean_interval(
    scores: npt.ArrayLike, overlap: float, confidence_level: float
) -> tuple[float, float]:
    """Interval of a mean score over splits; NaN where there is no spread to make one from.

    ``overlap`` is n_test/n_train, the correction of Nadeau and Bengio.
    """
    values: FloatArray = np.asarray(scores, dtype=np.float64)
    if len(values) < 2 or np.ptp(values) <= 1e-12 * largest(values):
        return np.nan, np.nan
    error = np.sqrt((1 / len(values) + overlap) * values.var(ddof=1))
    half = float(stats.t.ppf((1 + confidence_level) / 2, len(values) - 1) * error)
    return float(values.mean()) - half, float(values.mean()) + half


def cut_to_possible(bounds: pd.DataFrame, least: float, most: float) -> pd.DataFrame:
    """Cut intervals to what is possible; one that leaves no value out tells nothing and is NaN."""
    says_nothing = (bounds["low"] <= least) & (bounds["high"] >= most)
    return bounds.clip(least, most).mask(says_nothing)


def _p(pvalues: "pd.Series[float]", *, worst: bool) -> str:
    """Say the p-values of several: the least of those that are large, or the largest of small.

    Nothing is said of a p-value that is 1 when rounded.
    """
    bound = float(pvalues.max() if worst else pvalues.min())
    if bound >= 0.995:
        return ""
    said = p_value(bound)
    if len(pvalues) > 1 and "<" not in said:
        said = said.replace("=", "≤" if worst else "≥")
    return f" ({said})"


def _are(several: "pd.Series[float]") -> str:
    return "is" if len(several) == 1 else "are"

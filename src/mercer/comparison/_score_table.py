"""Scores from elsewhere: from a table of results to scores by data set, split and model.

A table may be long, with a line for each score and columns that say of which model, data set and
split it is, or wide, with a column for each model.  Columns are known by the names that
scikit-learn, skore, MLflow, AutoGluon, TabArena and the AutoML benchmark give them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from mercer._system.words import count_of, did_you_mean, grouped, listed, percent, quoted
from mercer.comparison.tests._on_splits import check_overlap

Better = Literal["higher", "lower"]

# What columns are called, without case, blanks, underscores, and MLflow's "params." and "tags.".
_MODELS = (
    "model", "method", "framework", "estimator", "estimatorname", "modelname", "classifier",
    "algorithm", "algname", "learner", "mlflow.runname", "runname",
)  # fmt: skip
_DATASETS = ("dataset", "datasetname", "task", "taskname", "problem", "data")
_SPLITS = (
    "repeat", "repetition", "fold", "split", "splitindex", "round", "sample", "iteration", "cvfold",
)  # fmt: skip
_FOLDS = ("fold", "cvfold")
_SEEDS = ("seed", "randomstate")
_METRIC_NAMES = ("metric", "evalmetric", "scoring", "metricname")
_SCORES = ("metricerror", "score", "testscore", "scoretest", "result", "value")
_TRAIN, _TEST = ("ntrain", "trainrows", "ntrainsamples"), ("ntest", "testrows", "ntestsamples")
_TIMES = re.compile(r"time|seconds|duration|utc|memory")
# Words in names of metrics of which less is better, and more.
_LOWER = re.compile(
    r"error|loss|rmse|mse|\bmae\b|mape|brier|crps|deviance|regret|mean_absolute|mean_squared|cost"
)
_HIGHER = re.compile(
    r"acc|auc|f1|r2\b|precision|recall|mcc|matthews|kappa|jaccard|balanced|sensitivity|specificity|"
    r"\bap\b|test_?score|score_?test|^score$|lift|gain"
)
_UNBOUNDED = re.compile(r"rmse|mse|\bmae\b|mean_absolute|mean_squared|deviance|crps")
_MOST_FOLDS = 10  # With more splits than this they may be any folds, repeated.
_TABARENA_SHARE = 1 / 3  # TabArena repeats three folds.


@dataclass(frozen=True)
class ScoreTable:
    """Scores of several models on the same splits of one or more data sets.

    Attributes
    ----------
    scores : mapping of str to DataFrame
        By data set, a row for each split and a column for each model.
    metrics : mapping of str to str
        What each data set is scored by.
    lower_is_better : bool
        Whether a smaller score is better.
    overlap : float or None
        Ratio of test to training rows of a split; None where there is one split only.
    splits_reason : str
        How that is known, or what was assumed.
    notes : tuple of str
        What was left out, a sentence each.
    """

    scores: Mapping[str, pd.DataFrame]
    metrics: Mapping[str, str]
    lower_is_better: bool
    overlap: float | None
    splits_reason: str
    notes: tuple[str, ...]

    @property
    def metric(self) -> str:
        """The name of the metric, or how many there are."""
        names = sorted(set(self.metrics.values()))
        return names[0] if len(names) == 1 else f"{len(names)} metrics"

    @property
    def has_units(self) -> bool:
        """Whether scores of two data sets are in units that may differ."""
        return len(set(self.metrics.values())) > 1 or bool(_UNBOUNDED.search(self.metric))


def score_table(
    results: pd.DataFrame,
    *,
    metric: str | None = None,
    better: Better | None = None,
    test_share: float | None = None,
) -> ScoreTable:
    """Find the scores in a table of results.

    Parameters
    ----------
    results : DataFrame
        Long: a column with the name of the model (``model``, ``method``, ``framework``,
        ``estimator``), one with scores, and perhaps data set, fold, split or repeat. Wide: a column
        of scores for each model, a row for each split.
    metric : str, optional
        The column with the scores, or which lines count by what their column ``metric`` holds, or
        what the scores of a wide table are.
    better : {"higher", "lower"}, optional
        Which scores are better, where the name of the metric does not tell.
    test_share : float, optional
        The share of the rows that a split tests. By default it is known from columns ``n_train``
        and ``n_test``, from TabArena's form, or taken from the number of folds.

    Returns
    -------
    ScoreTable
        Scores by data set, complete: what lacks scores is left out, and noted.

    Raises
    ------
    ValueError
        Where the table does not tell its models, its scores, which are better, or how much is
        tested.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.comparison import score_table
    >>> folds = pd.DataFrame({"svc": [0.9, 0.8, 0.9], "knn": [0.8, 0.8, 0.7]})
    >>> table = score_table(folds, metric="accuracy")
    >>> table.metric, table.overlap, table.splits_reason
    ('accuracy', 0.5, 'Splits are taken for 3 folds, each of which tests a third of the rows.')
    """
    if test_share is not None and not 0 < test_share < 1:
        raise ValueError(f"test_share must lie between 0 and 1; got {test_share}.")
    if results.empty:
        raise ValueError("The table of results has no lines.")
    results = results.set_axis([str(name) for name in results.columns], axis=1)
    model = _first(results, _MODELS)
    long = _from_long(results, model, metric) if model else _from_wide(results, metric)
    lower = better == "lower" if better else _is_lower(long)
    overlap, reason = _overlap(long, test_share)
    notes = list(long.notes)
    tables = {}
    for name, part in long.lines.groupby("dataset", sort=False):
        part = part.drop_duplicates(["split", "model"], keep="last")
        tables[str(name)] = part.pivot(index="split", columns="model", values="score")
    n_twice = len(long.lines) - sum(table.notna().to_numpy().sum() for table in tables.values())
    n_twice -= int(long.lines["score"].isna().sum())
    if n_twice > 0:
        there = "is there twice" if n_twice == 1 else "are there again"
        notes.append(f"{count_of(n_twice, 'score')} {there}: the last one counts.")
    tables = _complete(tables, notes)
    return ScoreTable(
        scores=tables,
        metrics={name: long.metrics[name] for name in tables},
        lower_is_better=lower,
        overlap=overlap if max(len(table) for table in tables.values()) > 1 else None,
        splits_reason=reason,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Lines:
    """A score in each line, with its model, data set and split, and what is known of splits."""

    lines: pd.DataFrame
    metrics: Mapping[str, str]  # by data set
    score: str  # what the column of scores is called, if it is a column
    is_higher: bool | None  # as the table itself says
    folds: int | None  # how many folds a repetition has, if there is a column that says so
    ratio: float | None  # of test to training rows
    share: float | None  # that is tested, as the form of the table tells
    notes: Sequence[str]


def _plain(name: str) -> str:
    name = re.sub(r"^(params|tags)\.", "", name.strip().lower())
    return re.sub(r"[\s_\-]", "", name)


def _first(results: pd.DataFrame, names: Sequence[str]) -> str | None:
    """Return the column that has the first of these names that there is."""
    plain = {_plain(column): column for column in reversed(results.columns)}
    return next((plain[name] for name in names if name in plain), None)


def _all(results: pd.DataFrame, names: Sequence[str]) -> list[str]:
    return [column for column in results.columns if _plain(column) in names]


def _from_long(results: pd.DataFrame, model: str, metric: str | None) -> _Lines:
    notes: list[str] = []
    said_by = _first(results, _METRIC_NAMES)
    if "greater_is_better" in results and said_by is None:  # as skore has it
        said_by = "name" if "name" in results else _first(results, ("verbosename",))
    source = _first(results, ("datasource",))
    if source is not None and (results[source] == "test").any():
        results = results[results[source] == "test"]
    if metric is None and "greater_is_better" in results and said_by is not None:
        metric = str(results[said_by].iloc[0])
        others = sorted(set(map(str, results[said_by])) - {metric})
        if others:
            notes.append(f"Judged by {metric}; --metric takes {listed(others, word='or')} too.")
    if said_by is not None and metric is not None and metric in set(map(str, results[said_by])):
        results = results[results[said_by].map(str) == metric]
        metric = None
    label = _first(results, ("label",))
    if label is not None and results[label].isna().any():
        results = results[results[label].isna()]  # the others are of single classes
    score = _score_column(results, metric)
    dataset = _first(results, _DATASETS)
    splits = _all(results, _SPLITS) or _all(results, _SEEDS)[:1]
    scores = _numbers(results[score])
    lines = pd.DataFrame(
        {
            "dataset": results[dataset].map(str) if dataset else "",
            "split": _split_names(results, splits, model, dataset),
            "model": results[model].map(str),
            "score": scores,
        }
    )
    unread = int(scores.isna().sum() - results[score].isna().sum())
    if unread:
        notes.append(f"{count_of(unread, 'cell')} of {score} {_hold(unread)} no number.")
    if (imputed := _first(results, ("imputed",))) is not None:
        n_imputed = int(results[imputed].map(str).str.lower().isin(["true", "1"]).sum())
        if n_imputed:
            notes.append(
                f"{grouped(n_imputed)} of {count_of(len(results), 'score')} are imputed, as the "
                "table says; they count like the others."
            )
    names = {name: _bare(score) for name in lines["dataset"].unique()}
    if said_by is not None:
        by = results.groupby(lines["dataset"])[said_by].agg(lambda one: str(one.iloc[0]))
        names = {str(name): value for name, value in by.items()}
        if _plain(score) == "metricerror":
            names = {name: f"error by {value}" for name, value in names.items()}
    is_tabarena = _plain(score) == "metricerror" and _plain(model) == "method"
    is_higher = None
    if "greater_is_better" in results:
        is_higher = bool((results["greater_is_better"].map(str).str.lower() == "true").all())
    fold = _first(results, _FOLDS)
    has_repeats = len(splits) > 1 and fold is not None
    return _Lines(
        lines,
        names,
        score=score,
        is_higher=is_higher,
        folds=int(results[fold].nunique()) if has_repeats else None,
        ratio=_ratio(results),
        share=_TABARENA_SHARE if is_tabarena else None,
        notes=notes,
    )


def _from_wide(results: pd.DataFrame, metric: str | None) -> _Lines:
    dataset = _first(results, _DATASETS)
    splits = _all(results, _SPLITS) or _all(results, _SEEDS)[:1]
    aside = {dataset, *splits, *_all(results, _TRAIN), *_all(results, _TEST)}
    models = [name for name in results if name not in aside and is_numeric_dtype(results[name])]
    models = models[1:] if models and _is_count(results[models[0]]) else models
    if dataset is None:  # a first column of text names data sets
        first = results.columns[0]
        is_named = first not in aside and not is_numeric_dtype(results[first])
        dataset = first if is_named and results[first].is_unique else None
    told = [name for name in models if _TIMES.search(name.lower()) or _direction(name) is not None]
    if len(models) < 2 or len(told) == len(models):
        raise ValueError(
            "The table of results has no column that names models (such as model, method, "
            "framework or estimator), and no two columns of numbers that could be models; its "
            f"columns are {listed([quoted(name) for name in results.columns], most=12)}."
        )
    named = _split_names(results, splits, None, dataset)
    lines = results[models].apply(_numbers).melt(var_name="model", value_name="score")
    names = results[dataset].map(str) if dataset else pd.Series("", results.index)
    lines["dataset"] = np.tile(names.to_numpy(), len(models))
    lines["split"] = np.tile(named.to_numpy(), len(models))
    fold = _first(results, _FOLDS)
    return _Lines(
        lines,
        dict.fromkeys(map(str, names.unique()), metric or "score"),
        score=metric or "",
        is_higher=None,
        folds=int(results[fold].nunique()) if fold is not None and len(splits) > 1 else None,
        ratio=_ratio(results),
        share=None,
        notes=(),
    )


def _is_count(column: "pd.Series[Any]") -> bool:
    """Tell whether a column counts lines, as the index does that pandas writes."""
    values = column.to_numpy()
    return any(np.array_equal(values, np.arange(len(values)) + first) for first in (0, 1))


def _split_names(
    results: pd.DataFrame, splits: Sequence[str], model: str | None, dataset: str | None
) -> "pd.Series[Any]":
    """Return which split a line is of: as its columns say, or the lines of a model in order."""
    if splits:
        return results[list(splits)].map(str).agg(" ".join, axis=1)
    keys = [column for column in (dataset, model) if column is not None]
    if not keys:
        return pd.Series(range(len(results)), results.index).map(str)
    return results.groupby(keys, sort=False).cumcount().map(str)


def _score_column(results: pd.DataFrame, metric: str | None) -> str:
    numbers = [name for name in results if is_numeric_dtype(results[name])]
    if metric is not None:
        asked = {metric, f"test_{metric}", f"metrics.{metric}"}
        found = next((str(name) for name in results if name in asked), None)
        if found is None:
            candidates = [_bare(name) for name in numbers if _direction(name) is not None]
            choices = did_you_mean(
                metric, candidates, f"it has {listed(candidates) or 'no column of scores'}."
            )
            raise ValueError(f"The table of results has no scores by {quoted(metric)}; {choices}")
        return found
    known = _first(results, _SCORES)
    if known is not None:
        return known
    candidates = [
        name for name in numbers if _direction(name) is not None and not _TIMES.search(name.lower())
    ]
    tested = [name for name in candidates if not name.startswith("train_")]
    if len(tested) == 1:
        return tested[0]
    what = listed([_bare(name) for name in tested], word="or", most=8) if tested else "the column"
    raise ValueError(f"Say which scores to compare by, with metric (--metric): {what}.")


def _bare(name: str) -> str:
    """Return a metric without what cross_validate and MLflow put before it."""
    short = re.sub(r"^(metrics\.)?(test_)?", "", name)
    return name if short in ("", "score") else short


def _direction(name: str) -> Better | None:
    """Return which scores of a metric are better, as its name tells."""
    plain = _bare(name).lower()
    if plain.startswith("neg"):
        return "higher"
    if _LOWER.search(plain):
        return "lower"
    return "higher" if _HIGHER.search(plain) else None


def _is_lower(long: _Lines) -> bool:
    if long.is_higher is not None:
        return not long.is_higher
    own = _direction(long.score)
    if _plain(long.score) in ("score", "testscore", "scoretest", "metricerror"):
        return own == "lower"  # skore tells by itself; scorers and AutoGluon turn errors round
    metrics = long.metrics.values() if long.score else ()
    names = {own} if own else {_direction(name) for name in metrics}
    if len(names) == 1 and None not in names:
        if names == {"lower"} and long.lines["score"].max() <= 0 > long.lines["score"].min():
            return False  # an error that was turned round, so that more is better
        return names == {"lower"}
    raise ValueError(
        f"Whether higher or lower {quoted(long.score) + ' is' if long.score else 'scores are'} "
        "better is not known: say so with better (--better higher, --better lower), or name the "
        "metric (--metric)."
    )


def _ratio(results: pd.DataFrame) -> float | None:
    train, test = _first(results, _TRAIN), _first(results, _TEST)
    if train is None or test is None:
        return None
    return check_overlap(float(results[train].mean()), float(results[test].mean()))


def _overlap(long: _Lines, test_share: float | None) -> tuple[float | None, str]:
    """Return the ratio of test to training rows, and a sentence on how it is known."""
    if test_share is not None:
        return test_share / (1 - test_share), f"Each split tests {percent(test_share)} of the rows."
    if long.ratio is not None:
        return long.ratio, "The table says how many rows each split trains on and tests."
    if long.share is not None:
        share = long.share
        return share / (1 - share), "A split tests a third of the rows, as TabArena's folds do."
    n_splits = int(long.lines.groupby("dataset")["split"].nunique().max())
    n_folds = long.folds or n_splits
    if n_splits < 2:
        return None, "There is one split."
    if 2 <= n_folds <= _MOST_FOLDS:
        part = _PARTS.get(n_folds) or percent(1 / n_folds)
        what = "Each repetition is" if long.folds else "Splits are"
        return 1 / (n_folds - 1), (
            f"{what} taken for {n_folds} folds, each of which tests {part} of the rows."
        )
    raise ValueError(
        f"With {n_splits} splits it is not known how many rows each tests: say so with "
        "test_share (--test-share 0.1 for ten folds)."
    )


_PARTS = {2: "half", 3: "a third"}


def _numbers(column: "pd.Series[Any]") -> "pd.Series[float]":
    found = pd.to_numeric(column, errors="coerce").astype(np.float64)
    return found.where(np.isfinite(found))


def _hold(n: int) -> str:
    return "holds" if n == 1 else "hold"


def _complete(tables: Mapping[str, pd.DataFrame], notes: list[str]) -> dict[str, pd.DataFrame]:
    """Leave out models, data sets and splits that lack scores, the emptiest first, with notes."""
    means = pd.DataFrame({name: table.notna().mean() for name, table in tables.items()}).T
    scored = means.fillna(0.0) > 0.5  # Of a data set, a model needs more than half of the splits.
    left: dict[str, list[str]] = {"model": [], "data set": []}
    while not scored.to_numpy().all():
        by_model, by_dataset = (~scored).mean(), (~scored).mean(axis=1)
        if by_model.max() >= by_dataset.max():
            left["model"].append(str(by_model.idxmax()))
            scored = scored.drop(columns=by_model.idxmax())
        else:
            left["data set"].append(str(by_dataset.idxmax()))
            scored = scored.drop(index=by_dataset.idxmax())
    for what, names in left.items():
        if names:
            are, lack = ("is", "it lacks") if len(names) == 1 else ("are", "they lack")
            notes.append(
                f"{count_of(len(names), what)} {are} left out because {lack} scores that others "
                f"have: {listed(names, most=8)}."
            )
    models = list(scored.columns)
    if len(models) < 2 or scored.empty:
        raise ValueError("The table of results does not have two models that share data sets.")
    found, n_short = {}, 0
    for name in scored.index:
        whole = tables[name][models].dropna()
        n_short += len(tables[name]) - len(whole)
        if len(whole):
            found[str(name)] = whole.rename_axis(index="split", columns=None)
    if n_short:
        notes.append(
            f"{count_of(n_short, 'split')} that not all models finished {_count(n_short)}."
        )
    if not found:
        raise ValueError("The table of results has no split on which all models have a score.")
    return found


def _count(n: int) -> str:
    return "does not count" if n == 1 else "do not count"

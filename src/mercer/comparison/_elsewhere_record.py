"""What is kept of a comparison of scores from elsewhere, in the form of ``comparison.json``."""

import json
from typing import Any

import pandas as pd

from mercer._system.environment import machine, versions
from mercer._system.vocabulary import metric_named
from mercer.comparison._elsewhere import POSTERIOR, ScoresComparison
from mercer.comparison._record import (
    ComparisonRecord,
    DatasetRecord,
    ElsewhereRecord,
    ModelRecord,
    PairRecord,
    QuestionRecord,
    StepRecord,
)
from mercer.comparison._splits_record import SplitsRecord

_MOST_LEADERS = 4


def record_scores(comparison: ScoresComparison, file: str, *, seed: int) -> ComparisonRecord:
    """Return what is kept of a comparison of the scores in a file."""
    table = comparison.table
    summary = comparison.summary
    alike = summary.index[summary["against_best"].isin(["best", "not told apart"])]
    return ComparisonRecord(
        question=QuestionRecord(table=file, target="", rows=0, columns=(), classes=(), notes=()),
        elsewhere=ElsewhereRecord(
            file=file,
            scored_by=table.metric,
            unit=comparison.unit,
            splits=table.splits_reason,
            test_ratio=table.overlap,
            rope=comparison.rope,
            overall=str(comparison.overall or ""),
            steps=_steps(comparison),
            datasets=_datasets(comparison),
            notes=table.notes,
        ),
        metric=comparison.metric,
        metric_reason=_metric_reason(comparison),
        lower_is_better=comparison.lower_is_better,
        confidence_level=comparison.confidence_level,
        rounds=len(comparison.scores),
        splits=SplitsRecord(kind=table.splits_reason),
        models=tuple(
            ModelRecord(
                **line, fit_seconds=None, predict_seconds=None, n_rows_fitted=None, bytes=None,
                note="", error="", label="", kind="peer",
            )
            for line in _lines(summary.rename_axis("name").reset_index())
        ),
        pairs=tuple(PairRecord(**line) for line in _lines(_pairs(comparison))),
        answer=comparison.answer,
        leader=comparison.leader,
        leaders=tuple(map(str, alike[:_MOST_LEADERS])),
        versions=versions(),
        machine=machine(),
        seed=seed,
    )  # fmt: skip


def score_lines(comparison: ScoresComparison) -> pd.DataFrame:
    """Return what is averaged, a line for each model and split or data set, from 0 on.

    Of predictions there is one line for each model, its accuracy.
    """
    scores = comparison.scores
    if comparison.unit == "row":
        scores = scores.mean().to_frame().T
    scores = scores.set_axis(range(len(scores)), axis=0)
    lines = (
        scores.rename_axis("split")
        .reset_index()
        .melt("split", var_name="model", value_name="score")
    )
    return lines[["model", "split", "score"]]


def _metric_reason(comparison: ScoresComparison) -> str:
    table = comparison.table
    scored = metric_named(table.metric).words
    way = "lower" if table.lower_is_better else "higher"
    if len(table.scores) == 1:
        return f"Scored by {scored}, {way} is better."
    if len(set(table.metrics.values())) > 1:
        scored = f"its own of {scored}"
    return f"Ranked on each data set by {scored}, {way} is better, and by the mean of these ranks."


def _pairs(comparison: ScoresComparison) -> pd.DataFrame:
    kept = ["a", "b", "difference", "low", "high", "pvalue", "pvalue_holm", "verdict"]
    return comparison.pairs[kept].rename(columns={"pvalue_holm": "corrected"})


def _steps(comparison: ScoresComparison) -> tuple[StepRecord, ...]:
    names = dict(zip(POSTERIOR, ("p_ahead", "p_same", "p_behind"), strict=True))
    names |= {"a": "ahead", "b": "behind", "pvalue_holm": "corrected"}
    steps = comparison.neighbours.drop(columns=["test", "statistic", "verdict"])
    return tuple(StepRecord(**line) for line in _lines(steps.rename(columns=names)))


def _datasets(comparison: ScoresComparison) -> tuple[DatasetRecord, ...]:
    lines = _lines(comparison.datasets.rename_axis("name").reset_index())
    metrics = comparison.table.metrics
    return tuple(DatasetRecord(metric=metrics[line["name"]], **line) for line in lines)


def _lines(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON has them: None for what is not finite."""
    lines: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=15))
    return lines

"""The ranking as lines of a table: scores, intervals, how everybody stands to the best, costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mercer.report._comparison_results import Comparison
from mercer.report._marks import Mark
from mercer.report._numbers import counted, fixed, known, p_value, seconds, signed, size

__all__ = [
    "METRICS",
    "ModelLine",
    "PairLine",
    "model_lines",
    "other_measures",
    "pair_lines",
    "scores_by_split",
]

METRICS = {
    "accuracy": "accuracy",
    "balanced": "balanced accuracy",
    "f1": "F1",
    "auc": "area under the ROC curve",
    "average-precision": "average precision",
    "log-loss": "log loss",
}
_KINDS = {"mercer": "Mercer", "peer": "", "floor": "floor"}
_PLACES = 3

_BEST = Mark("best", "better", "the best mean score")
_NOT_TOLD = Mark("not told apart", "other", "the difference from the best could be chance")
_WORSE = Mark("worse", "short", "worse than the best by more than chance explains")
_UNTESTED = Mark("not tested", "no-data", "one round tells nothing apart")
_FAILED = Mark("failed", "failed", "it ended in an error")
_LEFT_OUT = Mark("left out", "not-run", "the budget was too short for it")
_STANDINGS = {mark.name: mark for mark in (_BEST, _NOT_TOLD, _WORSE)}


@dataclass(frozen=True)
class ModelLine:
    """A model in the ranking; texts to show, and numbers to sort and draw by."""

    name: str
    label: str
    kind: str
    mark: Mark
    p: str
    score: str
    interval: str
    behind: str
    fit: str
    predict: str
    size: str
    rows: str
    said: str
    numbers: Mapping[str, float | None]

    @property
    def is_scored(self) -> bool:
        """Whether it took part."""
        return known(self.numbers["score"])


@dataclass(frozen=True)
class PairLine:
    """Two models, the better one first, and what the test says of them."""

    better: str
    worse: str
    difference: str
    interval: str
    p: str
    corrected: str
    verdict: str
    is_different: bool


def model_lines(models: Sequence[Mapping[str, Any]]) -> list[ModelLine]:
    """Return the ranking as the page shows it, in the order of ``comparison.json``."""
    return [_model(model) for model in models]


def _model(model: Mapping[str, Any]) -> ModelLine:
    if model["error"]:
        mark = _FAILED
    elif model["note"] and not known(model["score"]):
        mark = _LEFT_OUT
    else:
        mark = _STANDINGS.get(model["against_best"] or "", _UNTESTED)
    sample = model.get("sample", "")
    said = [sample and f"It {sample}.", model["error"], model["note"], model.get("warning", "")]
    numbers = ("score", "low", "high", "fit_seconds", "predict_seconds", "bytes", "difference")
    is_scored = known(model["score"])
    return ModelLine(
        name=model["name"],
        label=model["label"],
        kind=_KINDS.get(model["kind"], model["kind"]),
        mark=mark,
        p="" if known(model["pvalue"]) and model["pvalue"] >= 0.995 else p_value(model["pvalue"]),
        score=fixed(model["score"], _PLACES) if is_scored else "–",
        interval=_interval(model["low"], model["high"]),
        behind=fixed(model["difference"], _PLACES)
        if known(model["difference"]) and mark is not _BEST
        else "",
        fit=seconds(model["fit_seconds"]),
        predict=seconds(model["predict_seconds"]),
        size=size(model["bytes"]),
        rows=counted(model["n_rows_fitted"]) if is_scored else "–",
        said=" ".join(text.strip().partition("\n")[0] for text in said if text),
        numbers={name: model[name] for name in numbers},
    )


def _interval(low: float | None, high: float | None) -> str:
    if not (known(low) and known(high)):
        return "–"
    return f"{fixed(low, _PLACES)} to {fixed(high, _PLACES)}"


def pair_lines(pairs: Sequence[Mapping[str, Any]], level: float) -> list[PairLine]:
    """Return all pairs, those that differ by more than chance first, then by p."""
    lines = []
    for pair in pairs:
        a, b, gap, low, high = (pair[key] for key in ("a", "b", "difference", "low", "high"))
        if known(gap) and gap < 0:
            a, b, gap = b, a, -gap
            low, high = (-high, -low) if known(low) and known(high) else (None, None)
        corrected = pair["corrected"]
        lines.append(
            (
                corrected if known(corrected) else 2.0,
                PairLine(
                    better=a,
                    worse=b,
                    difference=signed(gap, _PLACES) if known(gap) else "–",
                    interval=_interval(low, high),
                    p=p_value(pair["pvalue"]).removeprefix("= "),
                    corrected=p_value(corrected).removeprefix("= "),
                    verdict=pair["verdict"],
                    is_different=known(corrected) and corrected < 1 - level,
                ),
            )
        )
    return [line for _, line in sorted(lines, key=lambda one: one[0])]


def scores_by_split(comparison: Comparison) -> pd.DataFrame:
    """Return the lines of ``scores.csv`` that count: models in the ranking, splits of all."""
    names = [one["name"] for one in comparison.content["models"] if known(one["score"])]
    scores = comparison.scores[comparison.scores["model"].isin(names)]
    shared = scores.groupby("split")["model"].nunique() == len(names)
    return scores[scores["split"].isin(shared.index[shared])]


def other_measures(comparison: Comparison) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the names of all measures, and their means for every model in the ranking."""
    scores = scores_by_split(comparison)
    columns = [one for one in scores.columns if one not in ("model", "split", "score")]
    means = scores.groupby("model")[columns].mean()
    order = [one["name"] for one in comparison.content["models"] if one["name"] in means.index]
    lines = [
        (
            name,
            [fixed(value, _PLACES) if known(value) else "–" for value in means.loc[name, columns]],
        )
        for name in order
    ]
    return [METRICS.get(one, one) for one in columns], lines

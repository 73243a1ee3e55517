"""The ranking: lines of a table (scores, intervals, standing to the best, costs), and a chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from mercer._system.vocabulary import STANDINGS, Mark, metric_named
from mercer._system.words import interval, is_known, p_number, score
from mercer.comparison import ComparisonFolder, ModelRecord, PairRecord
from mercer.report.charts._glyphs import glyph
from mercer.report.charts._scales import Linear, domain_of, padded, tick_labels, ticks
from mercer.report.charts._svg import coordinate, element, text_width

_PLACES = 3  # decimals of scores


@dataclass(frozen=True)
class ModelLine:
    """A model in the ranking, and what the page says of it."""

    model: ModelRecord
    mark: Mark
    score: str
    interval: str
    behind: str
    said: str

    @property
    def is_scored(self) -> bool:
        """Whether the model has a score."""
        return is_known(self.model.score)


@dataclass(frozen=True)
class MetricView:
    """What the page says by a metric that does not rank."""

    title: str
    metric: str
    answer: str
    lines: Sequence[ModelLine]
    chart: Markup
    pairs: "Sequence[PairLine]"


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


def model_line(model: ModelRecord) -> ModelLine:
    """Return a model as the ranking of the page shows it."""
    mark = STANDINGS.get(model.standing, STANDINGS["not tested"])
    is_behind = is_known(model.difference) and mark.name != "best"
    sample = model.sample and f"It {model.sample}."
    said = [sample, model.error, model.note, model.warning]
    return ModelLine(
        model=model,
        mark=mark,
        score=score(model.score, _PLACES),
        interval=interval(model.low, model.high, _PLACES),
        behind=score(model.difference, _PLACES) if is_behind else "",
        said=" ".join(text.strip().partition("\n")[0] for text in said if text),
    )


def pair_lines(pairs: Sequence[PairRecord], level: float) -> list[PairLine]:
    """Return all pairs, those that differ by more than chance first, then by p."""
    lines = []
    for pair in pairs:
        a, b, gap, low, high = pair.a, pair.b, pair.difference, pair.low, pair.high
        if is_known(gap) and gap < 0:
            a, b, gap = b, a, -gap
            low, high = (-high, -low) if is_known(low) and is_known(high) else (None, None)
        corrected = pair.corrected
        lines.append(
            (
                corrected if is_known(corrected) else 2.0,
                PairLine(
                    better=a,
                    worse=b,
                    difference=_ahead(gap),
                    interval=interval(low, high, _PLACES),
                    p=p_number(pair.pvalue),
                    corrected=p_number(corrected),
                    verdict=pair.verdict,
                    is_different=is_known(corrected) and corrected < 1 - level,
                ),
            )
        )
    return [line for _, line in sorted(lines, key=lambda one: one[0])]


def _ahead(gap: float | None) -> str:
    """Write by how much the better of two is ahead."""
    return f"+{score(gap, _PLACES)}" if is_known(gap) and gap > 0 else score(gap, _PLACES)


def other_metrics(comparison: ComparisonFolder) -> list[MetricView]:
    """Return what the page says by the other metrics that were asked for."""
    record = comparison.record
    found = []
    for other in record.other_metrics:
        words = metric_named(other.metric).words
        lines = [model_line(model) for model in other.ranking(record.models)]
        found.append(
            MetricView(
                title=f"By {words}",
                metric=f"{words[:1].upper()}{words[1:]}, "
                f"{'lower' if other.lower_is_better else 'higher'} is better",
                answer=other.answer,
                lines=lines,
                chart=draw_scores(
                    lines,
                    splits_by_model(comparison, other.metric),
                    other.metric,
                    lower_is_better=other.lower_is_better,
                ),
                pairs=pair_lines(other.pairs, record.confidence_level),
            )
        )
    return found


def scores_by_split(comparison: ComparisonFolder) -> pd.DataFrame:
    """Return the lines of ``scores.csv`` that count: models in the ranking, splits of all."""
    names = [one.name for one in comparison.record.models if is_known(one.score)]
    scores = comparison.scores[comparison.scores["model"].isin(names)]
    shared = scores.groupby("split")["model"].nunique() == len(names)
    return scores[scores["split"].isin(shared.index[shared])]


def splits_by_model(comparison: ComparisonFolder, metric: str) -> dict[str, NDArray[np.float64]]:
    """Return the scores by a metric on the splits that count."""
    column = metric if metric in comparison.scores else "score"
    by_model = scores_by_split(comparison).groupby("model")[column]
    return {str(name): part.to_numpy(np.float64) for name, part in by_model}


def other_measures(comparison: ComparisonFolder) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the names of all measures, and their means for every model in the ranking."""
    scores = scores_by_split(comparison)
    columns = [one for one in scores.columns if one not in ("model", "split", "score")]
    means = scores.groupby("model")[columns].mean()
    order = [one.name for one in comparison.record.models if one.name in means.index]
    lines = [
        (name, [score(value, _PLACES) for value in means.loc[name, columns]]) for name in order
    ]
    return [metric_named(one).words for one in columns], lines


# The chart of scores; lengths in pixels of the drawing.
_WIDTH, _ROW, _TOP = 400.0, 26.0, 26.0
_ROOM_FOR_NUMBER = 44.0  # at the end of a line


def draw_scores(
    ranked: Sequence[ModelLine],
    splits: Mapping[str, NDArray[np.float64]],
    metric: str,
    *,
    lower_is_better: bool,
) -> Markup:
    """Draw mean, interval and the score on every split of the models that were scored.

    A floor that lies far off would push all others together: it gets an arrow at the edge.
    """
    lines = [line for line in ranked if line.is_scored]
    words = metric_named(metric).words
    title = f"{words[:1].upper()}{words[1:]} by model"
    names = [line.model.name for line in lines]
    names = [name if len(name) <= 24 else name[:23] + "…" for name in names]
    left = 14 + max(text_width(name, 12) for name in names)
    longest = max(text_width(line.score, 12) for line in lines)
    right = _WIDTH - max(_ROOM_FOR_NUMBER, longest + 12)
    x = Linear(_domain(lines, splits, metric), (left, right))
    bottom = _TOP + _ROW * len(lines)
    parts = []
    values = ticks(*x.domain)
    for value, text in zip(values, tick_labels(values), strict=True):
        across = float(x(value))
        parts.append(element("path", class_="grid", d=f"M{across:.1f} {_TOP - 6}V{bottom:.1f}"))
        parts.append(
            element("text", text, x=across, y=_TOP - 11, text_anchor="middle", class_="tick")
        )
    for k, (name, line) in enumerate(zip(names, lines, strict=True)):
        y = _TOP + _ROW * (k + 0.5)
        parts.append(element("text", name, x=left - 10, y=y + 4, text_anchor="end", class_="name"))
        parts += _line(line, splits.get(line.model.name, np.empty(0)), x, y)
        parts.append(element("text", line.score, x=right + 8, y=y + 4, class_="value"))
    best = "lower is better" if lower_is_better else "higher is better"
    said = "; ".join(f"{line.model.name} {line.score} ({line.interval})" for line in lines)
    return element(
        "svg",
        element("desc", f"{title}, {best}: {said}."),
        *parts,
        viewBox=f"0 0 {_WIDTH:.0f} {bottom + 4:.0f}",
        role="img",
        aria_label=title,
        class_="chart scores",
    )


def _domain(
    lines: Sequence[ModelLine], splits: Mapping[str, NDArray[np.float64]], metric: str
) -> tuple[float, float]:
    """Return what the models span, and the floor unless that would more than double the span.

    It does not go beyond what the metric can be.
    """
    spans = {}
    for model in (line.model for line in lines):
        numbers = np.array([model.score, model.low, model.high], dtype=np.float64)
        spans[model] = domain_of([numbers, splits.get(model.name, np.empty(0))])
    models = [span for model, span in spans.items() if model.kind != "floor"]
    low, high = domain_of(models or list(spans.values()))
    for model, (least, _) in spans.items():
        if model.kind == "floor" and low - (high - low) <= least <= high:
            low = min(low, least)
    least, most = metric_named(metric).bounds
    low, high = padded((low, high), 0.03)
    return max(low, least), min(high, most)


def _line(line: ModelLine, scores: NDArray[np.float64], x: Linear, y: float) -> list[Markup]:
    score, low, high = line.model.score, line.model.low, line.model.high
    if not is_known(score):
        return []
    ends = x.lengths
    across = float(x(score))
    worse = line.mark.name == "worse"
    style = "k7" if worse else "k0"
    hint = element("title", f"{line.model.name}: {line.score}, {line.interval}; {line.mark.name}")
    if not ends[0] <= across <= ends[1]:
        at, way = (ends[0], 1) if across < ends[0] else (ends[1], -1)
        d = f"M{coordinate(at + 9 * way)} {y - 4:.1f}L{coordinate(at)} {y:.1f}l{9 * way} 4"
        return [element("g", hint, element("path", class_="line off-scale", d=d), class_=style)]
    parts = [hint]
    inside = scores[np.isfinite(scores)]
    if len(inside):
        d = "".join(f"M{coordinate(at)} {y - 6:.1f}v12" for at in x(inside))
        parts.append(element("path", class_="splits", d=d))
    if is_known(low) and is_known(high):
        start, stop = np.clip(x([low, high]), *ends)
        d = f"M{coordinate(start)} {y:.1f}H{coordinate(stop)}"
        parts.append(element("path", class_="line interval", d=d))
    d = glyph("circle", across, y, 4.5)
    parts.append(element("path", class_="points outline" if worse else "points", d=d))
    return [element("g", *parts, class_=style)]

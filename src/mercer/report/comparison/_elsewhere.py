"""The page of scores from elsewhere: the ranking, its steps, and every data set by itself."""

from dataclasses import dataclass

from mercer._system.vocabulary import metric_named
from mercer._system.words import confidence, count_of, fixed, interval, is_known, p_number, signed
from mercer.comparison import ComparisonFolder, DatasetRecord, ElsewhereRecord, StepRecord
from mercer.report._document import render_template
from mercer.report.comparison._ranking import draw_scores, model_line, pair_lines, splits_by_model

_MOST_PAIRS = 500  # that the page lists; the file has all
_PLACES = 3


@dataclass(frozen=True)
class StepLine:
    """Two neighbours in the ranking, as the page shows them."""

    step: StepRecord
    difference: str
    interval: str
    corrected: str
    is_different: bool


def render_elsewhere(comparison: ComparisonFolder, elsewhere: ElsewhereRecord) -> str:
    """Return the text of the page."""
    record = comparison.record
    lines = [model_line(model) for model in record.models]
    words = metric_named(record.metric).words
    level = 1 - record.confidence_level
    pairs = pair_lines(record.pairs, record.confidence_level)
    judged = [one for one in elsewhere.datasets if one.apart is not None]
    return render_template(
        "elsewhere.html",
        record=record,
        elsewhere=elsewhere,
        overall=elsewhere.overall[:1].upper() + elsewhere.overall[1:],
        has_chances=any(one.p_same is not None for one in elsewhere.steps),
        models=count_of(len(record.models), "model"),
        over=count_of(record.rounds, elsewhere.unit),
        metric=words,
        lines=lines,
        chart=draw_scores(
            lines,
            splits_by_model(comparison, record.metric),
            record.metric,
            lower_is_better=record.lower_is_better,
        ),
        steps=[_step_line(one, level) for one in elsewhere.steps],
        n_apart=sum(_is_below(one.corrected, level) for one in elsewhere.steps),
        n_plain=sum(_is_below(one.pvalue, level) for one in elsewhere.steps),
        pairs=pairs[:_MOST_PAIRS],
        n_pairs=len(pairs),
        level=confidence(record.confidence_level),
        judged=judged,
        judged_sentence=_judged_sentence(judged, len(record.models)),
        fixed=fixed,
    )


def _step_line(step: StepRecord, level: float) -> StepLine:
    return StepLine(
        step=step,
        difference=signed(step.difference, _PLACES),
        interval=interval(step.low, step.high, _PLACES),
        corrected=p_number(step.corrected),
        is_different=_is_below(step.corrected, level),
    )


def _is_below(pvalue: float | None, level: float) -> bool:
    return is_known(pvalue) and pvalue < level


def _judged_sentence(judged: list[DatasetRecord], n_models: int) -> str:
    """Say how many steps of the rankings of single data sets are more than chance."""
    if not judged:
        return ""
    steps = len(judged) * (n_models - 1)
    apart = sum(one.apart or 0 for one in judged)
    plain = sum(one.plain or 0 for one in judged)
    alone = sum(one.alike == 0 for one in judged)
    return (
        f"By itself, a data set tells {apart} of {steps} neighbours apart, {plain} without "
        f"correction for the number of pairs; the best model stands alone on {alone} of "
        f"{len(judged)}."
    )

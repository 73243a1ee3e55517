"""The page of scores from elsewhere: the ranking, its steps, and every data set by itself."""

from dataclasses import dataclass

from mercer._system.vocabulary import metric_named
from mercer._system.words import confidence, count_of, fixed, interval, is_known, p_number, signed
from mercer.comparison import ComparisonFolder, ElsewhereRecord, StepRecord
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
    n_apart, n_plain = elsewhere.steps_apart(level)
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
        n_apart=n_apart,
        n_plain=n_plain,
        pairs=pairs[:_MOST_PAIRS],
        n_pairs=len(pairs),
        level=confidence(record.confidence_level),
        has_verdicts=any(one.apart is not None for one in elsewhere.datasets),
        fixed=fixed,
    )


def _step_line(step: StepRecord, level: float) -> StepLine:
    return StepLine(
        step=step,
        difference=signed(step.difference, _PLACES),
        interval=interval(step.low, step.high, _PLACES),
        corrected=p_number(step.corrected),
        is_different=is_known(step.corrected) and step.corrected < level,
    )

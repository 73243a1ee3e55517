"""What is kept of a comparison: one frozen record, with its writer and its reader as JSON."""

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from mercer.comparison._splits_record import SplitsRecord


@dataclass(frozen=True, kw_only=True)
class ColumnRecord:
    """A column of the table, as :class:`mercer.tables.Column` describes it."""

    name: str
    kind: str
    used: bool
    reason: str
    n_missing: int
    n_unique: int
    examples: tuple[str, ...] = ()
    style: str = ""
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Any) -> "ColumnRecord":
        """Copy what is kept of a column, which may know more."""
        return cls(**{one.name: getattr(column, one.name) for one in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class ClassRecord:
    """A class, and how many rows are of it."""

    name: str
    rows: int


@dataclass(frozen=True, kw_only=True)
class CheckRecord:
    """What a check of the table asks, before anything is fitted; see `mercer.checks.Finding`."""

    code: str
    text: str
    columns: tuple[str, ...] = ()
    link: str = ""


@dataclass(frozen=True, kw_only=True)
class QuestionRecord:
    """What was asked: a table and the column to predict."""

    table: str
    is_bundled: bool = False
    target: str
    rows: int
    columns: tuple[ColumnRecord, ...]
    classes: tuple[ClassRecord, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, table: str, data: Any, *, is_bundled: bool) -> "QuestionRecord":
        """Describe the :class:`mercer.tables.LabelledTable` that was made of a table."""
        names, counts = np.unique(data.y, return_counts=True)
        return cls(
            table=table,
            is_bundled=is_bundled,
            target=data.target,
            rows=len(data.y),
            columns=tuple(ColumnRecord.of(column) for column in data.columns),
            classes=tuple(
                ClassRecord(name=str(name), rows=int(n))
                for name, n in zip(names, counts, strict=True)
            ),
            notes=tuple(data.notes),
        )


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """A line of the ranking; numbers are None where the model failed or was left out.

    ``against_best`` is "best", "not told apart", "worse", or empty where there was one round only.
    ``pvalue`` is that of the difference from the best, after Holm's correction over all pairs.
    """

    name: str
    score: float | None
    low: float | None
    high: float | None
    difference: float | None
    pvalue: float | None
    against_best: str | None
    fit_seconds: float | None
    predict_seconds: float | None
    n_rows_fitted: int | None
    sample: str = ""
    bytes: int | None
    warning: str = ""
    note: str
    error: str
    label: str
    kind: str

    @property
    def standing(self) -> str:
        """How it stands to the best: what ``against_best`` says, or why that says nothing."""
        if self.error:
            return "failed"
        if self.note and self.score is None:
            return "left out"
        return self.against_best or "not tested"


@dataclass(frozen=True, kw_only=True)
class PairRecord:
    """A test of two models; the difference is positive where a is better."""

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    corrected: float | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class MetricScoreRecord:
    """What a model scores by a metric that does not rank; None where it has no such score."""

    name: str
    score: float | None
    low: float | None
    high: float | None
    difference: float | None
    pvalue: float | None
    against_best: str | None


@dataclass(frozen=True, kw_only=True)
class OtherMetricRecord:
    """The same rounds, judged by another metric: models best first, pairs and a sentence."""

    metric: str
    lower_is_better: bool
    answer: str
    models: tuple[MetricScoreRecord, ...]
    pairs: tuple[PairRecord, ...]

    def ranking(self, models: tuple[ModelRecord, ...]) -> list[ModelRecord]:
        """Return lines of the ranking as this metric has them, best first."""
        by_name = {model.name: model for model in models}
        known = [one for one in self.models if one.name in by_name]
        return [replace(by_name[one.name], **asdict(one)) for one in known]


@dataclass(frozen=True, kw_only=True)
class ThresholdRecord:
    """What comes of naming a class from a probability or score on, over the tests of all rounds.

    How many of 1 000 rows are named, the share of the class that is found, the share of what is
    named that is so, and false alarms in 1 000 rows.
    """

    named: float
    threshold: float
    recall: float
    precision: float
    alarms: float


@dataclass(frozen=True, kw_only=True)
class ModelThresholdsRecord:
    """The thresholds of a model."""

    model: str
    lines: tuple[ThresholdRecord, ...]


@dataclass(frozen=True, kw_only=True)
class RareClassRecord:
    """A rare class, and what it takes the leaders to find it.

    ``rows`` of the ``tested`` rows of all rounds are of it.
    """

    name: str
    rows: int
    tested: int
    models: tuple[ModelThresholdsRecord, ...]


@dataclass(frozen=True, kw_only=True)
class HardRowRecord:
    """A row that every model got wrong, with what they mostly said, and what stands in it."""

    row: int
    truth: str
    predicted: str
    rounds: int
    wrong: int
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class HardRowsRecord:
    """How many of the tested rows every model got wrong, and the first of them.

    ``columns`` are those of the cells; ``hard-rows.csv`` has all rows and columns.
    """

    count: int
    tested: int
    columns: tuple[str, ...] = ()
    rows: tuple[HardRowRecord, ...]


@dataclass(frozen=True, kw_only=True)
class FarRowsRecord:
    """How often a model is right on rows that lie farther out than most of the table.

    Of ``tested`` rows of all rounds ``right`` are predicted right; ``far`` of them are of the share
    ``level`` of the table that lies farthest out, and ``far_right`` of these are right.
    """

    model: str
    level: float
    tested: int
    right: int
    far: int
    far_right: int


@dataclass(frozen=True, kw_only=True)
class SetsRecord:
    """How many of the tested rows a model decides alone, by sets of classes that may be right.

    ``coverage`` is the share of sets that should hold the true class; of ``rows``, tested rows of
    all rounds, ``alone`` have one class in the set, the true one in ``right`` of them, and ``held``
    have a set with the true class.
    """

    model: str
    coverage: float
    rows: int
    alone: int
    right: int
    held: int


@dataclass(frozen=True, kw_only=True)
class ColumnShareRecord:
    """What a kernel makes of a column: its share in the distance of rows, and its scale.

    The scale is None where all columns are scaled alike.
    """

    name: str
    share: float
    scale: float | None = None


@dataclass(frozen=True, kw_only=True)
class MapRecord:
    """How the map of the classes was drawn; without a method there is none, and a note says why.

    ``kernel`` is the sentence about the kernel that was chosen for it, ``columns`` what that makes
    of the columns, those of the largest share first.
    """

    method: str | None = None
    notes: tuple[str, ...] = ()
    kernel: str = ""
    columns: tuple[ColumnShareRecord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ColumnImportanceRecord:
    """By how much a score gets worse when a column is shuffled; no interval of two splits."""

    name: str
    loss: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelImportancesRecord:
    """The columns that a model goes by, on rows that were held out, the most important first.

    It was fitted on at least ``fitted_rows`` of the ``train_rows`` of each of so many ``splits``,
    and asked about ``tested_rows`` others in all.
    """

    model: str
    splits: int
    train_rows: int
    fitted_rows: int
    tested_rows: int
    columns: tuple[ColumnImportanceRecord, ...]


@dataclass(frozen=True, kw_only=True)
class StandInsRecord:
    """Two columns that rise and fall together, by Spearman's rank correlation."""

    a: str
    b: str
    correlation: float


@dataclass(frozen=True, kw_only=True)
class ImportancesRecord:
    """Which columns the leaders go by; ``notes`` say who could not be asked, and why.

    ``stand_ins`` are pairs of columns, each of which can look unimportant because of the other, and
    ``caution`` the sentence about that.
    """

    metric: str | None = None
    models: tuple[ModelImportancesRecord, ...] = ()
    stand_ins: tuple[StandInsRecord, ...] = ()
    caution: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DecisionLineRecord:
    """What a rule comes to on the rows that were tested, beside the most probable class.

    Of costs the mean of a row; of a wish the share of the class that is found, the share of what is
    named that is so, and false alarms in 1 000 rows.  Those of the most probable class begin with
    ``plain_``, and are None where a model has no probabilities that were kept.
    """

    name: str
    mean_cost: float | None = None
    plain_mean_cost: float | None = None
    recall: float | None = None
    precision: float | None = None
    alarms: float | None = None
    plain_recall: float | None = None
    plain_precision: float | None = None
    plain_alarms: float | None = None


@dataclass(frozen=True, kw_only=True)
class HindsightRecord:
    """False alarms in 1 000 rows at which a share of a class could have been found."""

    share: float
    alarms: float


@dataclass(frozen=True, kw_only=True)
class DecisionRecord:
    """How answers follow from probabilities, and what that comes to for every model.

    ``costs`` has the true class in rows and the answer in columns, in the order of the classes; of
    a wish ``wanted`` is the share of ``class_name`` that is to be found, with this confidence.
    ``note`` says where the class has too few rows for it, and ``hindsight`` what other wishes would
    have cost on the rows that were tested, of the model ``hindsight_of``.
    """

    costs: tuple[tuple[float, ...], ...] | None = None
    class_name: str | None = None
    wanted: float | None = None
    confidence: float | None = None
    note: str = ""
    lines: tuple[DecisionLineRecord, ...] = ()
    hindsight_of: str | None = None
    hindsight: tuple[HindsightRecord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """Two neighbours in a ranking of scores from elsewhere, the one ahead first.

    The difference is positive where the one ahead is better in the test, which goes by other
    numbers than ranks do.  Of the posterior, ``p_ahead``, ``p_same`` and ``p_behind`` are the
    probabilities that it is better, that the two are within the region of practical equivalence,
    and that the other is better; None where there is none.
    """

    ahead: str
    behind: str
    difference: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    corrected: float | None
    p_ahead: float | None
    p_same: float | None
    p_behind: float | None


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """A data set of scores from elsewhere, judged by itself where it has several splits.

    ``alike`` counts models that are not told apart from the best one, ``apart`` the neighbours in
    its own ranking that are told apart by p-values corrected over its pairs, and ``plain`` those
    by p-values that are not.
    """

    name: str
    metric: str
    splits: int
    best: str
    score: float | None
    alike: int | None
    apart: int | None
    plain: int | None


@dataclass(frozen=True, kw_only=True)
class ElsewhereRecord:
    """Where scores from elsewhere come from, and what was made of them.

    ``scored_by`` is their metric, ``splits`` the sentence on how rows were split, ``test_ratio``
    that of test to training rows, ``overall`` the sentence of the test of all models, if there was
    one, and ``unit`` what was averaged: splits of one data set, data sets, or rows.
    """

    file: str
    scored_by: str
    unit: str
    splits: str
    test_ratio: float | None
    rope: float
    overall: str = ""
    steps: tuple[StepRecord, ...]
    datasets: tuple[DatasetRecord, ...]
    notes: tuple[str, ...]

    def steps_apart(self, level: float) -> tuple[int, int]:
        """Count steps of the ranking that are more than chance, by corrected and plain p-values."""
        corrected = sum(one.corrected < level for one in self.steps if one.corrected is not None)
        return corrected, sum(one.pvalue < level for one in self.steps if one.pvalue is not None)

    @property
    def datasets_sentence(self) -> str:
        """Say how many steps of the rankings of single data sets are more than chance."""
        judged = [one for one in self.datasets if one.apart is not None]
        if len(self.datasets) < 2 or not judged:
            return ""
        apart, plain = (sum(getattr(one, key) or 0 for one in judged) for key in ("apart", "plain"))
        alone = sum(one.alike == 0 for one in judged)
        return (
            f"By themselves, {len(judged)} data sets tell {apart} of "
            f"{len(judged) * len(self.steps)} steps apart ({plain} without correction), and the "
            f"best model stands alone on {alone}."
        )


@dataclass(frozen=True, kw_only=True)
class ComparisonRecord:
    """Everything that ``mercer compare`` found but for scores, predictions and curves.

    It is ``comparison.json`` of the results folder, which :func:`read_comparison` reads; the
    terminal and the page show it.

    Attributes
    ----------
    question : QuestionRecord
        Table, target, columns and classes; nothing of these for scores from elsewhere.
    checks : tuple of CheckRecord
        What the checks of the table ask.
    elsewhere : ElsewhereRecord or None
        Where scores come from that were not measured here; None where they were.
    metric, metric_reason : str
        What models are judged by, and why.
    lower_is_better : bool
        Whether less of it is better.
    positive_class : str or None
        With two classes the rarer one, which F1 and average precision look for.
    confidence_level : float
        Of intervals and verdicts.
    budget_seconds, seconds : float or None
        The time that was given, and that the rounds took.
    interrupted : bool
        Whether it was stopped before its time was up.
    rounds : int
        Splits on which every model in the comparison was fitted.
    splits : SplitsRecord
        How the rows were split.
    models : tuple of ModelRecord
        The ranking, best first; models that failed or were left out come last.
    pairs : tuple of PairRecord
        The test of every pair.
    answer : str
        The comparison in one sentence.
    too_few_rounds : bool
        Whether there were too few rounds to tell more than who leads.
    longer_command : str or None
        The command with more time, where there were too few rounds.
    other_metrics : tuple of OtherMetricRecord
        What the same rounds say by the other metrics that were asked for; p-values are corrected
        over the pairs by all metrics together.
    leader : str
        The model with the best mean score.
    leaders : tuple of str
        The leader and those that cannot be told from it, at most four, without the floor.
    decision : DecisionRecord or None
        The rule that answers follow, and what it comes to; None where they are the most probable
        classes.
    rare_classes : tuple of RareClassRecord
        Classes with less than 40 % of an equal share of the rows, and what it takes to find them.
    hard_rows : HardRowsRecord
        Rows that every model got wrong.
    far_rows : FarRowsRecord or None
        How often the leader is right on rows that lie far out; None where nobody looked.
    sets : SetsRecord or None
        How many rows the best model with prediction sets decides alone; None where none has.
    map : MapRecord
        How the map was drawn.
    importances : ImportancesRecord
        Which columns the leaders go by, on rows that were held out.
    fit_command : str or None
        How to fit the leader on all rows in a terminal; None where no model file can hold it.
    python : str
        How to do so in Python.
    versions, machine : mapping
        What it ran on.
    seed : int
        Of splits and models.
    """

    kind: str = "comparison"
    question: QuestionRecord
    checks: tuple[CheckRecord, ...] = ()
    elsewhere: ElsewhereRecord | None = None
    metric: str
    metric_reason: str = ""
    lower_is_better: bool = False
    positive_class: str | None = None
    confidence_level: float
    budget_seconds: float | None = None
    seconds: float | None = None
    interrupted: bool = False
    rounds: int
    splits: SplitsRecord
    models: tuple[ModelRecord, ...]
    pairs: tuple[PairRecord, ...]
    answer: str
    too_few_rounds: bool = False
    longer_command: str | None = None
    other_metrics: tuple[OtherMetricRecord, ...] = ()
    leader: str
    leaders: tuple[str, ...]
    decision: DecisionRecord | None = None
    rare_classes: tuple[RareClassRecord, ...] = ()
    hard_rows: HardRowsRecord = HardRowsRecord(count=0, tested=0, rows=())
    far_rows: FarRowsRecord | None = None
    sets: SetsRecord | None = None
    map: MapRecord = MapRecord()
    importances: ImportancesRecord = ImportancesRecord()
    fit_command: str | None = ""
    python: str = ""
    versions: Mapping[str, str]
    machine: Mapping[str, str | int | float | None] = field(default_factory=dict)
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON has it: dicts, lists, text and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: object) -> "ComparisonRecord":
        """Read what :meth:`to_json` gave, or raise a ValueError that names what is wrong.

        Unknown keys are passed over, so that a newer version may write more.
        """
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind != "comparison":
            raise ValueError(f"'kind' is {kind!r} instead of 'comparison'")
        record: ComparisonRecord = _read_record(cls, content, "")
        return record


def _read_record(kind: Any, content: object, place: str, who: str = "it") -> Any:
    """Read a dataclass from a dict that stands under the key `place`; `who` is it in an error."""
    if not isinstance(content, dict):
        raise ValueError(f"{place!r} is not what belongs there")
    hints = get_type_hints(kind)
    found = {}
    for one in fields(kind):
        if one.name in content:
            found[one.name] = _read(hints[one.name], content[one.name], one.name)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{who} has no {one.name!r}")
    return kind(**found)


def _read(hint: Any, value: object, place: str) -> Any:
    """Read a value that stands under the key `place` as the type that belongs there."""
    if get_origin(hint) in (Union, types.UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        kinds = [one for one in get_args(hint) if one is not type(None)]
        hint = type(value) if type(value) in kinds else kinds[-1]
    if is_dataclass(hint):
        return _read_record(hint, value, place, f"{place!r}")
    if get_origin(hint) is tuple and isinstance(value, list | tuple):
        item = get_args(hint)[0]
        if is_dataclass(item):
            return tuple(_read_record(item, one, place, f"one of {place!r}") for one in value)
        return tuple(_read(item, one, place) for one in value)
    if get_origin(hint) is Mapping and isinstance(value, dict):
        return {str(key): _read(get_args(hint)[1], one, place) for key, one in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        value = _as_float(value)
    # A bool is an int for Python, and a number beyond the range of floats is none for a page.
    if type(value) is not hint or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{place!r} is not what belongs there")
    return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf

"""What is kept of a comparison: one frozen record, with its writer and its reader as JSON."""

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
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
class HardRowRecord:
    """A row that every model got wrong, with what they mostly said."""

    row: int
    truth: str
    predicted: str
    rounds: int
    wrong: int


@dataclass(frozen=True, kw_only=True)
class HardRowsRecord:
    """How many of the tested rows every model got wrong, and the first of them."""

    count: int
    tested: int
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
class ComparisonRecord:
    """Everything that ``mercer compare`` found but for scores, predictions and curves.

    It is ``comparison.json`` of the results folder, which :func:`read_comparison` reads; the
    terminal and the page show it.

    Attributes
    ----------
    question : QuestionRecord
        Table, target, columns and classes.
    checks : tuple of CheckRecord
        What the checks of the table ask.
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
    leader : str
        The model with the best mean score.
    leaders : tuple of str
        The leader and those that cannot be told from it, at most four, without the floor.
    decision : DecisionRecord or None
        The rule that answers follow, and what it comes to; None where they are the most probable
        classes.
    hard_rows : HardRowsRecord
        Rows that every model got wrong.
    far_rows : FarRowsRecord or None
        How often the leader is right on rows that lie far out; None where nobody looked.
    sets : SetsRecord or None
        How many rows the best model with prediction sets decides alone; None where none has.
    map : MapRecord
        How the map was drawn.
    fit_command, python : str
        How to fit the leader on all rows, in a terminal and in Python.
    versions, machine : mapping
        What it ran on.
    seed : int
        Of splits and models.
    """

    kind: str = "comparison"
    question: QuestionRecord
    checks: tuple[CheckRecord, ...] = ()
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
    leader: str
    leaders: tuple[str, ...]
    decision: DecisionRecord | None = None
    hard_rows: HardRowsRecord
    far_rows: FarRowsRecord | None = None
    sets: SetsRecord | None = None
    map: MapRecord
    fit_command: str
    python: str
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

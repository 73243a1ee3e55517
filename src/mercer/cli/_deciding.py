"""The options by which commands are told what mistakes cost, or which class is not to be missed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mercer._system.words import NOTHING, fixed, percent, significant

if TYPE_CHECKING:
    from mercer._arrays import FloatArray
    from mercer.comparison import (
        DecisionLineRecord,
        DecisionRecord,
        HindsightRecord,
        RoundsComparison,
    )
    from mercer.tables import LabelledTable

# Shares of a class of which it is told how many false alarms finding them would have cost.
_HINDSIGHT = (0.8, 0.9, 0.95, 0.98, 0.99, 1.0)

Costs = Annotated[
    str | None,
    typer.Option(
        "--costs",
        help="A table of what mistakes cost: the true class in the first column, and a column for "
        "each answer; answers are those of the least expected cost.",
    ),
]
Recall = Annotated[
    str | None,
    typer.Option(
        "--recall",
        help="Which share of a class is to be found, such as malignant=0.98; it is the answer from "
        "a lower probability on then, with as few false alarms as that takes.",
    ),
]


@dataclass(frozen=True)
class Rule:
    """What answers follow, as the options of a command say; without either the probable class.

    Parameters
    ----------
    path : str or None
        The table of costs.
    costs : ndarray of shape (n_classes, n_classes) or None
        What is in it.
    recall : dict of one class to a number, or None
        The wish.
    """

    path: str | None = None
    costs: "FloatArray | None" = None
    recall: Mapping[str, float] | None = None

    def __bool__(self) -> bool:
        return self.costs is not None or self.recall is not None

    @property
    def options(self) -> dict[str, Any]:
        """What `make_model` and others are told; nothing where there is no rule."""
        given = {"costs": self.costs, "recall": self.recall}
        return {name: value for name, value in given.items() if value is not None}

    def words(self) -> list[str]:
        """Return the options that say the same on a command line."""
        words = ["--costs", self.path] if self.path is not None else []
        for name, share in (self.recall or {}).items():
            words += ["--recall", f"{name}={share:g}"]
        return words

    def python(self) -> str:
        """Return what `make_model` is told, as Python."""
        if self.path is not None:
            return f", costs=cost_table(read_table({self.path!r}), np.unique(data.y))"
        return f", recall={dict(self.recall)!r}" if self.recall is not None else ""


NO_RULE = Rule()


def check_rule(costs: str | None, recall: str | None, *, balanced: bool = False) -> None:
    """Refuse options that do not go together, and a wish that is none, before a table is read."""
    if costs is not None and recall is not None:
        raise ValueError("Give --costs or --recall, not both: each of them is a rule.")
    if costs is not None and balanced:
        raise ValueError(
            "Give --costs or --balanced, not both: costs say themselves which class counts more."
        )
    if recall is not None:
        _wish(recall)


def read_rule(costs: str | None, recall: str | None, data: "LabelledTable") -> Rule:
    """Return what the options say, held to the classes of a table."""
    from mercer.models import check_costs, check_recall
    from mercer.tables import cost_table, read_table

    classes = np.unique(data.y)
    if costs is not None:
        table = cost_table(read_table(costs), [str(name) for name in classes])
        try:
            return Rule(costs, check_costs(table, classes))
        except ValueError as error:
            raise ValueError(f"{costs}: {error}") from error
    if recall is not None:
        name, share = _wish(recall)
        check_recall({name: share}, classes)
        return Rule(recall={name: share})
    return Rule()


def _wish(text: str) -> tuple[str, float]:
    """Read a wish such as malignant=0.98, or malignant=98%."""
    name, sign, given = text.rpartition("=")
    number = given.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not (sign and name.strip() and 0 < share < 1):
        raise ValueError(
            "--recall takes a class and a share between 0 and 1, such as malignant=0.98; got "
            f"{text!r}."
        )
    return name.strip(), share


def decision_text(figures: Mapping[str, Any]) -> str:
    """Write what a rule comes to beside the most probable class; empty where there is none."""
    if figures.get("mean_cost") is not None:
        cost, plain = (_number(figures.get(key)) for key in ("mean_cost", "plain_mean_cost"))
        return f"mean cost {cost} a row (the most probable class: {plain})"
    if figures.get("alarms") is not None:
        rule, plain = (_recall_text(figures, prefix) for prefix in ("", "plain_"))
        return f"{rule} (the most probable class: {plain})"
    return ""


def _recall_text(figures: Mapping[str, Any], prefix: str) -> str:
    recall, precision = (percent(figures.get(f"{prefix}{key}")) for key in ("recall", "precision"))
    alarms = fixed(figures.get(f"{prefix}alarms"), 1)
    return f"recall {recall}, precision {precision}, {alarms} false alarms in 1 000 rows"


def _number(value: float | None) -> str:
    return NOTHING if value is None else significant(value)


def decision_heads(decision: "DecisionRecord") -> list[str]:
    """Return the heads of the columns that say what a rule comes to."""
    if decision.costs is not None:
        return ["mean cost of a row"]
    return ["found", "right when named", "false alarms in 1 000 rows"]


def decision_cells(line: "DecisionLineRecord") -> list[str]:
    """Return what a rule comes to, each with what the most probable class does in brackets."""
    if line.mean_cost is not None:
        pairs = [tuple(map(_number, (line.mean_cost, line.plain_mean_cost)))]
    else:
        pairs = [
            (percent(line.recall), percent(line.plain_recall)),
            (percent(line.precision), percent(line.plain_precision)),
            (fixed(line.alarms, 1), fixed(line.plain_alarms, 1)),
        ]
    return [f"{rule} ({plain})" for rule, plain in pairs]


def without_few_rows(comparison: "RoundsComparison") -> "tuple[RoundsComparison, str]":
    """Take the remark on a class with few rows, which every model has, away from the models."""
    from mercer.models import TOO_FEW_ROWS

    said = {name: text for name, text in comparison.warnings.items() if TOO_FEW_ROWS in text}
    others = {name: text for name, text in comparison.warnings.items() if name not in said}
    return replace(comparison, warnings=others), next(iter(said.values()), "")


def describe_decisions(
    comparison: "RoundsComparison", rule: Rule, too_few: str
) -> "DecisionRecord | None":
    """Return what a rule comes to for every model in a comparison; None where there is none."""
    from mercer.comparison import DecisionLineRecord, DecisionRecord
    from mercer.models import DecidingClassifier, decision_figures

    if not rule:
        return None
    predictions, classes = comparison.predictions, comparison.classes
    truth = predictions["y_true"].to_numpy()
    lines = []
    for name in comparison.summary.index[comparison.summary["score"].notna()]:
        decided = predictions[name].to_numpy()
        is_known = name in comparison.outputs and comparison.has_probabilities[name]
        plain = classes[comparison.outputs[name].argmax(axis=1)] if is_known else decided
        figures = decision_figures(truth, decided, plain, classes, **rule.options)
        if not is_known:
            figures = {key: None if key.startswith("plain_") else figures[key] for key in figures}
        lines.append(DecisionLineRecord(name=str(name), **figures))
    wish = next(iter((rule.recall or {}).items()), (None, None))
    of, hindsight = _hindsight(comparison, wish[0])
    return DecisionRecord(
        costs=None if rule.costs is None else tuple(map(tuple, rule.costs.tolist())),
        class_name=wish[0],
        wanted=wish[1],
        confidence=None if rule.recall is None else DecidingClassifier(None).confidence,
        note=too_few,
        lines=tuple(lines),
        hindsight_of=of,
        hindsight=hindsight,
    )


def _hindsight(
    comparison: "RoundsComparison", name: str | None
) -> "tuple[str | None, tuple[HindsightRecord, ...]]":
    """Return what wishes would have cost with the best model that has probabilities."""
    from mercer.comparison import HindsightRecord
    from mercer.models import alarms_in_hindsight

    likely = [one for one in comparison.summary.index if comparison.has_probabilities.get(one)]
    models = [str(one) for one in likely if one in comparison.outputs]
    if name is None or not models:
        return None, ()
    truth = comparison.predictions["y_true"].to_numpy() == name
    c, proba = int(np.searchsorted(comparison.classes, name)), comparison.outputs[models[0]]
    alarms = alarms_in_hindsight(truth, proba.astype(np.float64), c, _HINDSIGHT)
    found = zip(_HINDSIGHT, alarms, strict=True)
    return models[0], tuple(HindsightRecord(share=share, alarms=one) for share, one in found)

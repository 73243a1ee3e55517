"""Calibration and precision–recall curves of the leaders, and what they come to in numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from mercer._system.words import fixed, percent
from mercer.report.charts._figures import draw_panel

_GREY = 7  # the colour of lines to compare with
_UNIT = (0.0, 1.0, 0.0, 1.0)  # left, right, bottom, top
_MOST_LINES = 6  # in a panel; of more classes, those that are found worst are drawn


@dataclass(frozen=True)
class CurvesView:
    """Panels, and a table of what they come to.

    `names` are the leaders at the head of the table; each of `lines` is a measure and its value
    for each of them.
    """

    calibration: Markup | None
    precision_recall: Sequence[Markup]
    classes: Sequence[str]
    names: Sequence[str]
    lines: Sequence[tuple[str, Sequence[str]]]
    without_probabilities: Sequence[str]
    worst_only: bool


def view_curves(leaders: Mapping[str, Mapping[str, Any]], colours: Mapping[str, int]) -> CurvesView:
    """Draw the curves of the leaders; `colours` are those of classes."""
    drawn = {name: one for name, one in leaders.items() if one["precision_recall"]}
    first = next(iter(drawn.values()), None)
    classes = [line["class"] for line in first["precision_recall"]] if first else []
    calibrated = {name: one["calibration"] for name, one in leaders.items() if one["calibration"]}
    gaps = [fixed(_gap(calibrated[name]), 3) if name in calibrated else "–" for name in leaders]
    lines = [("gap of calibration", gaps)]
    for k, label in enumerate(classes):
        curves = (one["precision_recall"] for one in leaders.values())
        values = [fixed(own[k]["average_precision"], 3) if own else "–" for own in curves]
        lines.append((f"average precision of “{label}”", values))
    return CurvesView(
        calibration=_draw_calibration(calibrated) if calibrated else None,
        precision_recall=_draw_one(drawn) if len(classes) == 1 else _draw_many(drawn, colours),
        classes=classes,
        names=list(leaders),
        lines=lines,
        without_probabilities=[name for name in leaders if name not in calibrated],
        worst_only=len(classes) > _MOST_LINES,
    )


def _gap(calibration: Mapping[str, Any]) -> float:
    """Return the mean distance of probabilities from shares over the groups.

    A group weighs as many rows as it promises and holds of the class. Weighed by all its rows, the
    many that are surely not of a rare class would hide those that are.
    """
    promised, held = (np.asarray(calibration[key]) for key in ("predicted", "observed"))
    weights = np.asarray(calibration["n"]) * (promised + held)
    if not weights.any():
        return 0.0
    return float(np.average(np.abs(promised - held), weights=weights))


def _draw_calibration(calibrated: Mapping[str, Mapping[str, Any]]) -> Markup:
    label = next(iter(calibrated.values()))["class"]
    ideal = {"kind": "line", "x": [0, 1], "y": [0, 1], "dashed": True, "colour": _GREY}
    layers = [{**ideal, "label": "as promised"}]
    layers += [
        {"kind": "line", "x": one["predicted"], "y": one["observed"], "label": name, "colour": k}
        for k, (name, one) in enumerate(calibrated.items())
    ]
    of = f"“{label}”" if label is not None else "the class that is named"
    labels = "predicted probability", "share that is so"
    return _panel(f"Calibration: probability of {of}", layers, *labels)


def _draw_one(drawn: Mapping[str, Mapping[str, Any]]) -> list[Markup]:
    """Draw one panel of the rarer class, a line per leader."""
    curves = {name: one["precision_recall"][0] for name, one in drawn.items()}
    first = next(iter(curves.values()))
    floor = {"kind": "line", "x": [0, 1], "y": [first["share"]] * 2, "dashed": True}
    layers = [{**floor, "colour": _GREY, "label": f"by chance, {percent(first['share'])}"}]
    layers += [_curve(curve, name, k) for k, (name, curve) in enumerate(curves.items())]
    return [_panel(f"Precision and recall of “{first['class']}”", layers)]


def _draw_many(drawn: Mapping[str, Mapping[str, Any]], colours: Mapping[str, int]) -> list[Markup]:
    """Draw a panel per leader, a line per class: of many, those that are found worst."""
    panels = []
    for name, one in drawn.items():
        curves = sorted(one["precision_recall"], key=lambda curve: curve["average_precision"])
        kept = [curve["class"] for curve in curves[:_MOST_LINES]]
        layers = [
            _curve(curve, curve["class"], colours.get(curve["class"], k))
            for k, curve in enumerate(one["precision_recall"])
            if curve["class"] in kept
        ]
        panels.append(_panel(f"Precision and recall: {name}", layers))
    return panels


def _curve(curve: Mapping[str, Any], label: str, colour: int) -> dict[str, Any]:
    return {
        "kind": "line",
        "x": curve["recall"],
        "y": curve["precision"],
        "label": label,
        "colour": colour,
    }


def _panel(
    title: str,
    layers: Sequence[Mapping[str, Any]],
    x_label: str = "recall: share of them that is found",
    y_label: str = "precision: share of the found that is so",
) -> Markup:
    return draw_panel(
        {
            "title": title,
            "x_label": x_label,
            "y_label": y_label,
            "equal": True,
            "domain": _UNIT,
            "layers": list(layers),
        }
    )

"""Calibration, precision–recall and ROC curves of the leaders, and what they come to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from markupsafe import Markup

from mercer._system.words import NOTHING, percent, score
from mercer.report.charts._figures import draw_panel

_GREY = 7  # the colour of lines to compare with
_UNIT = (0.0, 1.0, 0.0, 1.0)  # left, right, bottom, top
_MOST_LINES = 6  # in a panel; of more classes, those that are found worst are drawn


@dataclass(frozen=True)
class _Kind:
    """A kind of curve: its key in ``curves.json``, what is drawn over what, and its area."""

    key: str
    title: str
    axes: tuple[str, str]
    labels: tuple[str, str]
    area: str
    area_words: str


_FOUND = "recall: share of them that is found"
_PRECISION_RECALL = _Kind(
    key="precision_recall",
    title="Precision and recall",
    axes=("recall", "precision"),
    labels=(_FOUND, "precision: share of the found that is so"),
    area="average_precision",
    area_words="average precision of",
)
_ROC = _Kind(
    key="roc",
    title="ROC curve",
    axes=("false_alarms", "recall"),
    labels=("false alarms: share of the others that is named", _FOUND),
    area="area",
    area_words="area under the ROC curve of",
)


@dataclass(frozen=True)
class CurvesView:
    """Panels, and a table of what they come to.

    `names` are the leaders at the head of the table; each of `lines` is a measure and its value
    for each of them.
    """

    panels: Sequence[Markup]
    classes: Sequence[str]
    names: Sequence[str]
    lines: Sequence[tuple[str, Sequence[str]]]
    without_probabilities: Sequence[str]
    worst_only: bool


def view_curves(leaders: Mapping[str, Mapping[str, Any]], colours: Mapping[str, int]) -> CurvesView:
    """Draw the curves of the leaders; `colours` are those of classes."""
    calibrated = {name: one["calibration"] for name, one in leaders.items() if one["calibration"]}
    gaps = [score(_gap(calibrated[name])) if name in calibrated else NOTHING for name in leaders]
    lines = [("gap of calibration", gaps)]
    drawn_by_kind = []
    for kind in (_PRECISION_RECALL, _ROC):
        # A folder of an older version has no ROC curves.
        drawn = {name: one[kind.key] for name, one in leaders.items() if one.get(kind.key)}
        lines += _areas(kind, drawn, list(leaders))
        drawn_by_kind.append(_draw(kind, drawn, colours))
    # Either curve of a leader stands beside the other.
    panels = [one for pair in zip_longest(*drawn_by_kind) for one in pair if one is not None]
    if calibrated:
        panels.append(_draw_calibration(calibrated))
    own = [one["precision_recall"] for one in leaders.values() if one["precision_recall"]]
    classes = [curve["class"] for curve in own[0]] if own else []
    return CurvesView(
        panels=panels,
        classes=classes,
        names=list(leaders),
        lines=lines,
        without_probabilities=[name for name in leaders if name not in calibrated],
        worst_only=len(classes) > _MOST_LINES,
    )


def _areas(
    kind: _Kind, drawn: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """Return the area under the curve of each class, for every leader."""
    areas = {
        name: {one["class"]: score(one[kind.area]) for one in curves}
        for name, curves in drawn.items()
    }
    classes = dict.fromkeys(label for own in areas.values() for label in own)
    return [
        (
            f"{kind.area_words} “{label}”",
            [areas.get(name, {}).get(label, NOTHING) for name in names],
        )
        for label in classes
    ]


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


def _draw(
    kind: _Kind, drawn: Mapping[str, Sequence[Mapping[str, Any]]], colours: Mapping[str, int]
) -> list[Markup]:
    """Draw one panel of the rarer of two classes, a line per leader; else a panel per leader."""
    if not drawn:
        return []
    first = next(iter(drawn.values()))
    if len(first) > 1:
        return [_draw_classes(kind, name, curves, colours) for name, curves in drawn.items()]
    floor = {"kind": "line", "x": [0, 1], "dashed": True, "colour": _GREY}
    if kind is _ROC:
        layers = [{**floor, "y": [0, 1], "label": "by chance"}]
    else:
        share = first[0]["share"]
        layers = [{**floor, "y": [share] * 2, "label": f"by chance, {percent(share)}"}]
    layers += [_line(kind, own[0], name, k) for k, (name, own) in enumerate(drawn.items())]
    return [_panel(f"{kind.title} of “{first[0]['class']}”", layers, *kind.labels)]


def _draw_classes(
    kind: _Kind, name: str, curves: Sequence[Mapping[str, Any]], colours: Mapping[str, int]
) -> Markup:
    """Draw a line per class: of many, those that are found worst."""
    worst = sorted(curves, key=lambda curve: float(curve[kind.area]))[:_MOST_LINES]
    kept = {curve["class"] for curve in worst}
    layers = [
        _line(kind, curve, curve["class"], colours.get(curve["class"], k))
        for k, curve in enumerate(curves)
        if curve["class"] in kept
    ]
    return _panel(f"{kind.title}: {name}", layers, *kind.labels)


def _line(kind: _Kind, curve: Mapping[str, Any], label: str, colour: int) -> dict[str, Any]:
    x, y = kind.axes
    return {"kind": "line", "x": curve[x], "y": curve[y], "label": label, "colour": colour}


def _panel(
    title: str,
    layers: Sequence[Mapping[str, Any]],
    x_label: str,
    y_label: str,
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

"""What stands behind the scores: curves, confusions, and the rows that everybody gets wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from mercer.comparison._result import RoundsComparison

_MOST_STEPS = 200  # A curve with more is drawn with its neighbouring steps put together.
_MOST_CLASSES = 12  # Of more classes, the first ones get a curve.

# Ends of groups by probability: tenths, and finer below one, where a rare class is.
_EDGES = (
    0.0005,
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.3,
    0.4,
    0.5,
    0.6,
    0.7,
    0.8,
    0.9,
)
_LEAST_GROUP = 10  # A group of fewer rows joins the one above.


def confusion_counts(comparison: RoundsComparison, name: str) -> list[list[int]]:
    """Count test rows by true class (rows) and predicted class (columns), over all rounds.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        Which model.

    Returns
    -------
    list of list of int
        A line for each class.
    """
    classes = comparison.classes
    truth = np.searchsorted(classes, comparison.predictions["y_true"].to_numpy())
    predicted = np.searchsorted(classes, comparison.predictions[name].to_numpy())
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (truth, predicted), 1)
    found: list[list[int]] = counts.tolist()
    return found


def set_counts(comparison: RoundsComparison, name: str) -> dict[str, int]:
    """Count test rows whose set of classes has one class, and those whose set holds the true one.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        A model with sets.

    Returns
    -------
    dict
        How many rows there are, over all rounds, how many have one class in the set, how many of
        these are right, and how many sets hold the true class.
    """
    sets, truth = comparison.sets[name], comparison.predictions["y_true"].to_numpy()
    held = sets[np.arange(len(sets)), np.searchsorted(comparison.classes, truth)]
    alone = sets.sum(axis=1) == 1
    counts = {"rows": len(sets), "alone": alone.sum(), "right": (alone & held).sum()}
    return {key: int(count) for key, count in (counts | {"held": held.sum()}).items()}


def far_counts(
    comparison: RoundsComparison, name: str, familiarity: NDArray[np.float64], level: float
) -> dict[str, int]:
    """Count test rows that lie far out, and those that are predicted right.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        Which model.
    familiarity : ndarray of shape (n_samples,)
        For each sample the share of other rows that lie farther out.
    level : float
        Samples with less lie far out.

    Returns
    -------
    dict
        How many rows there are, over all rounds, how many are right, how many lie far out and how
        many of these are right.
    """
    predictions = comparison.predictions
    is_right = (predictions[name] == predictions["y_true"]).to_numpy()
    is_far = familiarity[predictions.index.get_level_values("sample").to_numpy()] < level
    counts = {"tested": len(is_right), "right": is_right.sum(), "far": is_far.sum()}
    return {key: int(n) for key, n in (counts | {"far_right": (is_right & is_far).sum()}).items()}


def curves_of(comparison: RoundsComparison, name: str) -> dict[str, Any]:
    """Return precision–recall and ROC curves and the calibration of a model, over all rounds.

    With two classes all are those of the rarer one. With more, there is a curve of either kind per
    class, and calibration is how often the predicted class is right.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        Which model.

    Returns
    -------
    dict
        Plain numbers and lists, as a report reads them.
    """
    if name not in comparison.outputs:
        return {"precision_recall": [], "roc": [], "calibration": None}
    outputs = comparison.outputs[name].astype(float)
    classes = comparison.classes
    truth = np.searchsorted(classes, comparison.predictions["y_true"].to_numpy())
    is_binary = len(classes) == 2
    positive = int(np.searchsorted(classes, comparison.positive))
    shown = [positive] if is_binary else list(range(min(len(classes), _MOST_CLASSES)))
    given = [(truth == c, outputs[:, c], str(classes[c])) for c in shown]
    calibration = None
    if comparison.has_probabilities[name]:
        calibration = (
            _calibration(outputs[:, positive], truth == positive, str(classes[positive]))
            if is_binary
            else _calibration(outputs.max(axis=1), truth == outputs.argmax(axis=1), None)
        )
    return {
        "precision_recall": [_precision_recall(*one) for one in given],
        "roc": [_roc(*one) for one in given if 0 < one[0].sum() < len(truth)],
        "calibration": calibration,
    }


def _precision_recall(
    is_positive: NDArray[np.bool_], values: NDArray[np.float64], label: str
) -> dict[str, Any]:
    recall, precision = _steps(*precision_recall_curve(is_positive, values)[:2])
    return {
        "class": label,
        "average_precision": float(average_precision_score(is_positive, values)),
        "share": float(is_positive.mean()),
        "recall": recall.round(5).tolist(),
        "precision": precision.round(5).tolist(),
    }


def _roc(is_positive: NDArray[np.bool_], values: NDArray[np.float64], label: str) -> dict[str, Any]:
    alarms, found, _ = roc_curve(is_positive, values)
    # Both rise, so that points at equal steps of their sum leave out no corner that can be seen.
    way = alarms + found
    grid = np.linspace(0.0, 2.0, _MOST_STEPS + 1)
    kept = np.unique([0, *np.searchsorted(way, grid).clip(max=len(way) - 1), len(way) - 1])
    return {
        "class": label,
        "area": float(roc_auc_score(is_positive, values)),
        "false_alarms": alarms[kept].round(5).tolist(),
        "recall": found[kept].round(5).tolist(),
    }


def _steps(
    precision: NDArray[np.float64], recall: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return recall and precision as a line of level steps, whose area is the average precision.

    A step is where recall rises, by as many rows of the class as share a score, and its height the
    precision there. Where there are too many, neighbours become one with their mean height, so that
    the area stays.
    """
    ends, heights = recall[::-1], precision[::-1][1:]  # from recall 0 on
    widths = np.diff(ends)
    rises = widths > 0
    starts, widths, heights = ends[:-1][rises], widths[rises], heights[rises]
    if len(widths) > _MOST_STEPS:
        _, first = np.unique((starts * _MOST_STEPS + 1e-9).astype(int), return_index=True)
        areas = np.add.reduceat(widths * heights, first)
        starts, widths = starts[first], np.add.reduceat(widths, first)
        heights = areas / widths
    corners = np.column_stack([starts, starts + widths]).ravel()
    return corners, np.repeat(heights, 2)


def _calibration(
    probabilities: NDArray[np.float64], is_right: NDArray[np.bool_], label: str | None
) -> dict[str, Any]:
    """Mean probability and share of hits in groups of rows of like probability."""
    order = np.argsort(probabilities, kind="stable")
    cuts = [0]
    for edge in np.searchsorted(probabilities[order], _EDGES):
        if edge - cuts[-1] >= _LEAST_GROUP:
            cuts.append(int(edge))
    if len(cuts) > 1 and len(order) - cuts[-1] < _LEAST_GROUP:
        cuts.pop()  # nothing is above the last
    groups = np.split(order, cuts[1:])
    return {
        "class": label,
        "predicted": [round(float(probabilities[part].mean()), 5) for part in groups],
        "observed": [round(float(is_right[part].mean()), 5) for part in groups],
        "n": [len(part) for part in groups],
    }


def hard_rows(
    comparison: RoundsComparison, names: Sequence[str], rows: NDArray[np.intp]
) -> pd.DataFrame:
    """Return the rows that all of these models got wrong whenever they were asked.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    names : sequence of str
        Which models.
    rows : ndarray of int
        The number of each sample in the user's table, counted from 1.

    Returns
    -------
    DataFrame
        A line for each such row, those that were asked about most often first: its number ``row``,
        ``truth``, the answer ``predicted`` that was given most often, and in how many ``rounds``
        it was tested with how many answers, all ``wrong``.
    """
    predictions = comparison.predictions
    truth = predictions["y_true"]
    sample = predictions.index.get_level_values("sample").to_numpy()
    wrong: pd.DataFrame = predictions[list(names)].ne(truth, axis=0)
    never_right = wrong.all(axis=1).groupby(sample).all()
    found = never_right.index[never_right].to_numpy()
    n_asked = truth.groupby(sample).size().loc[found].to_numpy()
    order = np.argsort(-n_asked, kind="stable")
    found, n_asked = found[order], n_asked[order]

    asked = predictions[np.isin(sample, found)]
    said = asked[list(names)].stack().astype(str).groupby(level="sample")
    first = asked["y_true"].groupby(level="sample").first()
    return pd.DataFrame(
        {
            "row": rows[found],
            "truth": first.loc[found].astype(str).to_numpy(),
            "predicted": [said.get_group(one).mode().iloc[0] for one in found],
            "rounds": n_asked,
            "wrong": said.size().loc[found].to_numpy(),
        }
    )

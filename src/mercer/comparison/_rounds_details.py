"""What stands behind the scores: curves, confusions, and the rows that everybody gets wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve

from mercer.comparison._rounds_result import RoundsComparison

__all__ = ["confusion_counts", "curves_of", "hard_rows"]

_MOST_POINTS = 200  # of a curve
_MOST_CLASSES = 12  # that get a curve each
_BINS = 10
_MOST_ROWS = 100


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


def curves_of(comparison: RoundsComparison, name: str) -> dict[str, Any]:
    """Return precision–recall curves and the calibration of a model, over all rounds.

    With two classes both are those of the rarer one. With more, there is a precision–recall curve
    per class, and calibration is how often the predicted class is right.

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
        return {"precision_recall": [], "calibration": None}
    outputs = comparison.outputs[name].astype(float)
    classes = comparison.classes
    truth = np.searchsorted(classes, comparison.predictions["y_true"].to_numpy())
    is_binary = len(classes) == 2
    positive = int(np.searchsorted(classes, comparison.positive))
    shown = [positive] if is_binary else list(range(min(len(classes), _MOST_CLASSES)))
    lines = [_precision_recall(truth == c, outputs[:, c], str(classes[c])) for c in shown]
    calibration = None
    if comparison.has_probabilities[name]:
        calibration = (
            _calibration(outputs[:, positive], truth == positive, str(classes[positive]))
            if is_binary
            else _calibration(outputs.max(axis=1), truth == outputs.argmax(axis=1), None)
        )
    return {"precision_recall": lines, "calibration": calibration}


def _precision_recall(
    is_positive: NDArray[np.bool_], values: NDArray[np.float64], label: str
) -> dict[str, Any]:
    precision, recall, _ = precision_recall_curve(is_positive, values)
    kept = np.unique(np.linspace(0, len(recall) - 1, _MOST_POINTS).round().astype(int))
    return {
        "class": label,
        "average_precision": float(average_precision_score(is_positive, values)),
        "share": float(is_positive.mean()),
        "recall": recall[kept].round(5).tolist(),
        "precision": precision[kept].round(5).tolist(),
    }


def _calibration(
    probabilities: NDArray[np.float64], is_right: NDArray[np.bool_], label: str | None
) -> dict[str, Any]:
    """Mean probability and share of hits in bins of equal numbers of rows."""
    order = np.argsort(probabilities, kind="stable")
    bins = [part for part in np.array_split(order, _BINS) if len(part)]
    return {
        "class": label,
        "predicted": [round(float(probabilities[part].mean()), 5) for part in bins],
        "observed": [round(float(is_right[part].mean()), 5) for part in bins],
        "n": [len(part) for part in bins],
    }


def hard_rows(
    comparison: RoundsComparison, names: Sequence[str], rows: NDArray[np.intp]
) -> dict[str, Any]:
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
    dict
        Plain numbers and lists, as a report reads them.
    """
    predictions = comparison.predictions
    truth = predictions["y_true"]
    sample = predictions.index.get_level_values("sample").to_numpy()
    wrong: pd.DataFrame = predictions[list(names)].ne(truth, axis=0)
    never_right = wrong.all(axis=1).groupby(sample).all()
    n_asked = truth.groupby(sample).size()
    found = never_right.index[never_right].to_numpy()
    found = found[np.argsort(-n_asked.loc[found].to_numpy(), kind="stable")]
    lines = []
    for one in found[:_MOST_ROWS]:
        said = predictions.loc[sample == one, list(names)].to_numpy().ravel()
        answers, counts = np.unique(said.astype(str), return_counts=True)
        lines.append(
            {
                "row": int(rows[one]),
                "truth": str(truth[sample == one].iloc[0]),
                "predicted": str(answers[counts.argmax()]),
                "rounds": int(n_asked.loc[one]),
                "wrong": len(said),
            }
        )
    return {"count": len(found), "tested": len(n_asked), "rows": lines}

"""Confusion matrices: a table where classes are few, a map and the worst pairs where not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import ArrayLike, NDArray

from mercer.report.charts._figures import draw_panel

_MOST_CLASSES = 12  # up to so many, a matrix is a table; with more, a map
_WORST = 12  # confusions that are listed beside a map


@dataclass(frozen=True)
class ConfusionView:
    """The confusion matrix of a model.

    `rows` holds, for every true class, its cells and the share that was found; a cell is a number
    of rows and its share of the true class. `right` is, for every answer, the share that is true.
    Where classes are too many for a table, `map` draws the matrix. `worst` lists the most frequent
    confusions: truth, answer, rows, share of the truth.
    """

    name: str
    classes: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[int, float]], float]]
    right: Sequence[float]
    map: Markup | None
    worst: Sequence[tuple[str, str, int, float]]


def view_confusion(name: str, classes: Sequence[str], counts: ArrayLike) -> ConfusionView:
    """Arrange a matrix of counts, true classes down and answers across."""
    matrix: NDArray[np.int64] = np.asarray(counts, dtype=np.int64)
    by_truth = _ratio(matrix, matrix.sum(axis=1, keepdims=True))
    if len(classes) > _MOST_CLASSES:
        return ConfusionView(
            name, classes, (), (), _draw(name, by_truth), _worst(classes, matrix, by_truth)
        )
    rows = [
        (label, list(zip(matrix[k], by_truth[k], strict=True)), by_truth[k, k])
        for k, label in enumerate(classes)
    ]
    right = _ratio(np.diag(matrix), matrix.sum(axis=0))
    return ConfusionView(name, classes, rows, list(right), None, ())


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Divide; NaN where there is nothing to divide by."""
    out: NDArray[np.float64] = np.full(part.shape, np.nan)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


def _draw(name: str, by_truth: NDArray[np.float64]) -> Markup:
    n = len(by_truth)
    layer = {"kind": "raster", "z": by_truth[::-1].tolist(), "extent": [0, n, 0, n]}
    label = "share of the true class"
    return draw_panel({"title": name, "equal": True, "layers": [{**layer, "label": label}]})


def _worst(
    classes: Sequence[str], matrix: NDArray[np.int64], by_truth: NDArray[np.float64]
) -> list[tuple[str, str, int, float]]:
    wrong = matrix * (1 - np.eye(len(classes), dtype=np.int64))
    order = np.argsort(-wrong, axis=None, kind="stable")[:_WORST]
    places = (divmod(int(at), len(classes)) for at in order)
    return [
        (classes[t], classes[p], int(wrong[t, p]), float(by_truth[t, p]))
        for t, p in places
        if wrong[t, p]
    ]

"""The nearest neighbour in the first 1, 2, … dimensions of a projection, and honest choices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from mercer._arrays import Array
from mercer.studies.experiments._holdout import Holdout

# Distances that are kept at once, so that they stay in the processor's cache.
_BLOCK = 2**15

# Fits every variant of a method (every weight of a penalty, say) at once.
Fitter = Callable[[Array, Array], Sequence[Any]]


def nearest_neighbour_labels(
    A: Array, ya: Array, B: Array, width: int, *, neighbors: int = 1
) -> Array:
    """Return the classes (dimensions, rows) that the nearest rows of A give to the rows of B.

    One row for the first 1, 2, …, `width` columns; where there are fewer, more of them change
    nothing, and where there is none, the most frequent class is named.  Of several `neighbors`
    the majority counts, the first class of those that tie.
    """
    classes, codes = np.unique(ya, return_inverse=True)
    found = min(width, A.shape[1])
    columns = np.ascontiguousarray(A[:, :found].T)
    named = np.full((width, len(B)), np.bincount(codes).argmax(), dtype=np.intp)
    block = max(1, _BLOCK // len(A))
    for start in range(0, len(B), block):
        rows = B[start : start + block]
        squared = np.zeros((len(rows), len(A)))
        step = np.empty_like(squared)
        for k, column in enumerate(columns):
            np.subtract(rows[:, k : k + 1], column, out=step)
            squared += np.square(step, out=step)
            named[k, start : start + block] = (
                codes[squared.argmin(axis=1)]
                if neighbors == 1
                else _vote(squared, codes, neighbors)
            )
    if found:
        named[found:] = named[found - 1]
    return classes[named]


def _vote(squared: Array, codes: Array, neighbors: int) -> Array:
    nearest = codes[np.argpartition(squared, neighbors - 1, axis=1)[:, :neighbors]]
    votes = [np.count_nonzero(nearest == code, axis=1) for code in range(codes.max() + 1)]
    return np.argmax(votes, axis=0)


def label_surface(fit: Fitter, part: Holdout, width: int, *, neighbors: int = 1) -> Array:
    """Return the classes (variants, dimensions, rows) that models of the training part name."""
    return np.stack(
        [
            nearest_neighbour_labels(
                model.transform(part.X_train),
                part.y_train,
                model.transform(part.X_test),
                width,
                neighbors=neighbors,
            )
            for model in fit(part.X_train, part.y_train)
        ]
    )


def error_surface(
    fit: Fitter, part: Holdout, width: int, *, neighbors: int = 1
) -> NDArray[np.float64]:
    """Return the per cent (variants, dimensions) of the test part that is misnamed."""
    wrong = label_surface(fit, part, width, neighbors=neighbors) != part.y_test
    per_cent: NDArray[np.float64] = 100 * np.count_nonzero(wrong, axis=-1) / wrong.shape[-1]
    return per_cent


def nested_surface(
    fit: Fitter,
    part: Holdout,
    width: int,
    *,
    folds: int,
    seed: int,
    used: int | None = None,
    neighbors: int = 1,
) -> NDArray[np.float64]:
    """Return the mean of the surface over folds of the training part, or over the first `used`."""
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed)
    pairs = list(splits.split(part.X_train, part.y_train))[:used]
    surfaces = [error_surface(fit, part.within(a, b), width, neighbors=neighbors) for a, b in pairs]
    mean: NDArray[np.float64] = np.mean(surfaces, axis=0)
    return mean

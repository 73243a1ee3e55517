"""Whether rows of one block help each other more than chance lets them.

The class of a row is told by the nearest other row, once with its own block left out and again with
blocks dealt out at random among the rows of a class.  Where rows are independent given their class,
the first is one of the second.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.checks._sample import Codes, as_floats

_NEAREST = 200  # neighbours of a row that are kept; blocks at random never hold all of them
_DEALS = 199
_MOST_LEVELS = 20  # of a category; the others are one


@dataclass(frozen=True)
class Help:
    """What rows of the same block are worth.

    ``random`` is the mean share of each class that the nearest row tells, without a random block,
    ``outside`` without the row's own, and ``pvalue`` how often chance is as low.
    """

    random: float
    outside: float
    pvalue: float


def measure_help(X: pd.DataFrame, y: Codes, blocks: Codes, rng: np.random.Generator) -> Help | None:
    """Return what rows of the same block are worth; None where no block can be left out."""
    order = rng.permutation(len(y))  # so that rows as near as each other come in random order
    Z, y, blocks = _coordinates(X)[order], y[order], blocks[order]
    if Z.shape[1] == 0 or len(np.unique(blocks)) < 2:
        return None
    norms = (Z * Z).sum(axis=1)
    distances = norms[:, None] + norms[None, :] - 2 * (Z @ Z.T)
    np.fill_diagonal(distances, np.inf)
    nearest = _nearest(distances, min(_NEAREST, len(y) - 1))

    def told_without(dealt: Codes) -> float:
        is_other = dealt[nearest] != dealt[:, None]
        best = nearest[np.arange(len(y)), is_other.argmax(axis=1)]
        for row in np.flatnonzero(~is_other.any(axis=1)):  # all that were kept are of its block
            others = np.flatnonzero(dealt != dealt[row])
            best[row] = others[distances[row, others].argmin()]
        return _found(y[best] == y, y)

    outside = told_without(blocks)
    by_chance = []
    of_class = np.split(np.argsort(y, kind="stable"), np.cumsum(np.bincount(y))[:-1])
    for _ in range(_DEALS):
        dealt = np.empty_like(blocks)
        for rows in of_class:
            dealt[rows] = blocks[rng.permutation(rows)]
        by_chance.append(told_without(dealt))
    as_low = sum(one <= outside + 1e-12 for one in by_chance)
    return Help(float(np.mean(by_chance)), outside, (1 + as_low) / (1 + _DEALS))


def _nearest(distances: npt.NDArray[np.float32], n: int) -> Codes:
    """Return the n nearest rows of each, the nearest first."""
    found = np.argpartition(distances, n - 1, axis=1)[:, :n]
    order = np.take_along_axis(distances, found, axis=1).argsort(axis=1)
    return np.take_along_axis(found, order, axis=1)


def _found(is_right: npt.NDArray[np.bool_], y: Codes) -> float:
    """Mean share of each class that is right."""
    counts = np.bincount(y)
    shares = np.bincount(y, weights=is_right)[counts > 0] / counts[counts > 0]
    return float(shares.mean())


def _coordinates(X: pd.DataFrame) -> npt.NDArray[np.float32]:
    """Return numbers as ranks from 0 to 1, and categories as corners that are 1 apart."""
    parts = []
    for name in X:
        values = X[name]
        if isinstance(values.dtype, pd.CategoricalDtype):
            top = values.value_counts().index[:_MOST_LEVELS]
            parts += [(values == level).to_numpy() / np.sqrt(2) for level in top]
        else:
            ranks = pd.Series(as_floats(values)).rank(pct=True)
            parts.append(ranks.fillna(0.5).to_numpy())
    return np.column_stack(parts).astype(np.float32) if parts else np.empty((len(X), 0), np.float32)

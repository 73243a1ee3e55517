"""How well one column alone tells the class, on rows that it has not seen."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from mercer.checks._sample import Codes, as_floats

_LEAVES = 64  # of a tree that cuts numbers into pieces
_MOST_LEAVES_PER_ROW = 0.1


def score_alone(values: "pd.Series[Any]", y: Codes, rng: np.random.Generator) -> float:
    """Return the mean share of each class that is found by this column alone.

    Either half of the rows is told by what the other has: a category by the class that it holds
    the largest share of, a number by a small tree.  Where nothing is known it is as good as chance.
    """
    half = _halves(y, rng)
    is_right = np.empty(len(y))
    for one in (False, True):
        learn, test = half != one, half == one
        if isinstance(values.dtype, pd.CategoricalDtype):
            chances = _by_category(values.cat.codes.to_numpy(), y, learn, test)
        else:
            chances = _by_tree(as_floats(values), y, learn, test)
        is_best = chances >= chances.max(axis=1, keepdims=True)
        own = is_best[np.arange(len(chances)), y[test]]
        is_right[test] = own / is_best.sum(axis=1)  # What ties is drawn by lot.
    return float(np.mean([is_right[y == c].mean() for c in np.unique(y)]))


def _halves(y: Codes, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Deal the rows of every class out to two halves."""
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    half = np.zeros(len(y), dtype=bool)
    half[order[1::2]] = True
    return half


def _by_category(
    codes: npt.NDArray[Any], y: Codes, learn: npt.NDArray[np.bool_], test: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return shares of the classes in each category; a missing value is a category too."""
    counts = np.zeros((codes.max() + 2, y.max() + 1))
    np.add.at(counts, (codes[learn], y[learn]), 1)  # −1 is the last line
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    return np.asarray(shares[codes[test]])


def _by_tree(
    numbers: npt.NDArray[np.float64],
    y: Codes,
    learn: npt.NDArray[np.bool_],
    test: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float64]:
    # Ranks keep the order, and numbers beyond the range of float32, which trees compare in.
    ranks = pd.Series(numbers).rank().to_numpy()[:, None]
    leaves = int(np.clip(_MOST_LEAVES_PER_ROW * learn.sum(), 2, _LEAVES))
    tree = DecisionTreeClassifier(
        max_leaf_nodes=leaves, min_samples_leaf=2, class_weight="balanced", random_state=0
    )
    tree.fit(ranks[learn], y[learn])
    return np.asarray(tree.predict_proba(ranks[test]))

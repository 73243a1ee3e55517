"""What a rule comes to on rows whose class is known, beside the most probable class."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._arrays import FloatArray
from mercer.models.deciding._rules import shares_of_class
from mercer.models.deciding._sentences import check_costs, check_recall


def decision_figures(
    truth: NDArray[Any],
    decided: NDArray[Any],
    plain: NDArray[Any],
    classes: NDArray[Any],
    *,
    costs: Any = None,
    recall: Mapping[Any, float] | None = None,
) -> dict[str, float | None]:
    """Return the figures of a rule and, beginning with ``plain_``, those of the probable class.

    With costs ``mean_cost``, a row.  With a recall the share of the class that is found
    (``recall``), the share of what is named so that is so (``precision``, None where nothing is),
    and how many of 1 000 rows are false alarms (``alarms``).

    Parameters
    ----------
    truth, decided, plain : ndarray of shape (n_rows,)
        Classes, answers of the rule, and the most probable classes.
    classes : ndarray of shape (C,)
        All classes, sorted.
    costs, recall
        As a `DecidingClassifier` takes them.
    """
    found: dict[str, float | None] = {}
    for prefix, answers in (("", decided), ("plain_", plain)):
        if costs is not None:
            table = check_costs(costs, classes)
            true, said = (np.searchsorted(classes, one) for one in (truth, answers))
            found[f"{prefix}mean_cost"] = float(table[true, said].mean())
        if recall is not None:
            name = classes[check_recall(recall, classes)[0]]
            is_so, is_named = truth == name, answers == name
            hits, named, there = (int(np.sum(a)) for a in (is_so & is_named, is_named, is_so))
            found[f"{prefix}recall"] = hits / there if there else None
            found[f"{prefix}precision"] = hits / named if named else None
            found[f"{prefix}alarms"] = 1000.0 * (named - hits) / len(truth)
    return found


def alarms_in_hindsight(
    truth: NDArray[np.bool_], proba: FloatArray, c: int, recalls: Sequence[float]
) -> list[float]:
    """Return how many of 1 000 rows are false alarms where such shares of class c are found.

    Parameters
    ----------
    truth : ndarray of bool of shape (n_rows,)
        Which rows are of the class; at least one.
    proba : ndarray of shape (n_rows, C)
        Probabilities of rows that were tested.
    c : int
        The class.
    recalls : sequence of float
        Shares of its rows; the threshold of each is the highest that finds as many of these rows.
    """
    shares = shares_of_class(proba, c)
    own, others = np.sort(shares[truth])[::-1], np.sort(shares[~truth])
    ranks = [min(len(own), math.ceil(round(recall * len(own), 9))) for recall in recalls]
    above = (len(others) - np.searchsorted(others, own[max(1, rank) - 1]) for rank in ranks)
    return [1000.0 * float(n) / len(truth) for n in above]

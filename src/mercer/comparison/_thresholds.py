"""What it takes to find a rare class: recall, precision and false alarms at thresholds."""

import math

import numpy as np
import pandas as pd

from mercer.comparison._result import RoundsComparison
from mercer.comparison.engine._metrics import rare_classes

# So many of 1 000 rows are named; of these numbers, those from a tenth of the share of the class to
# ten times that.
_NAMED = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
_SPAN = 10


def threshold_table(comparison: RoundsComparison, name: str, label: object) -> pd.DataFrame:
    """Return what is found of a class, and at how many false alarms, where so many rows are named.

    The rows that are named are those with the highest probability, or score, of the class. Their
    number is the same for every model, and the threshold follows from it without a look at true
    classes, so that nothing is flattered.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        A model whose probabilities or scores were kept.
    label : object
        A class.

    Returns
    -------
    DataFrame
        A row for each ``threshold``, from which probability or score on the class is named, over
        the test rows of all rounds: ``named``, how many of 1 000 rows that are; ``recall``, the
        share of the class that is found; ``precision``, the share of what is named that is so;
        ``alarms``, how many of 1 000 rows are false alarms. Rows of one probability are named
        together.

    Raises
    ------
    ValueError
        Where there is no such class, or nothing was kept of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mercer.comparison import compare_in_rounds, threshold_table
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = compare_in_rounds({"bayes": GaussianNB()}, X, y, max_rounds=2, random_state=0)
    >>> list(threshold_table(found, "bayes", 0))
    ['named', 'threshold', 'recall', 'precision', 'alarms']
    """
    position = np.flatnonzero(comparison.classes == label)
    if not len(position):
        raise ValueError(f"There is no class {label!r}.")
    if name not in comparison.outputs:
        raise ValueError(f"No probabilities or scores of {name!r} were kept.")
    is_so = comparison.predictions["y_true"].to_numpy() == label
    values = comparison.outputs[name][:, position[0]].astype(np.float64)
    ordered, hits = np.sort(values), np.sort(values[is_so])
    n, share = len(values), 1000.0 * is_so.mean()
    wanted = [one for one in _NAMED if share / _SPAN <= one <= share * _SPAN]
    thresholds = np.unique([ordered[-math.ceil(one * n / 1000)] for one in wanted])[::-1]
    named, found = (len(part) - np.searchsorted(part, thresholds) for part in (ordered, hits))
    return pd.DataFrame(
        {
            "named": 1000.0 * named / n,
            "threshold": thresholds,
            "recall": found / len(hits),
            "precision": found / named,
            "alarms": 1000.0 * (named - found) / n,
        }
    )


def rare_class_tables(
    comparison: RoundsComparison, names: tuple[str, ...]
) -> dict[str, dict[str, pd.DataFrame]]:
    """Return the table of each rare class, rarest first, and each of these models that has one."""
    truth = comparison.predictions["y_true"].to_numpy()
    kept = [one for one in names if one in comparison.outputs]
    return {
        str(label): {one: threshold_table(comparison, one, label) for one in kept}
        for label in rare_classes(truth)
    }

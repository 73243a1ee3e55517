"""What it takes to find a rare class: recall, precision and false alarms at thresholds."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.comparison._result import RoundsComparison
from mercer.comparison.engine._metrics import rare_classes

# Probabilities from which on a class is named; they end at its share of the rows, beneath which
# more are named than there are.
_THRESHOLDS = (0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


def threshold_table(comparison: RoundsComparison, name: str, label: object) -> pd.DataFrame:
    """Return what is found of a class, and at how many false alarms, at several thresholds.

    The thresholds are the same for every table, not chosen on the rows that were tested, so that
    what they come to is not flattered.

    Parameters
    ----------
    comparison : RoundsComparison
        What was compared.
    name : str
        A model whose probabilities were kept.
    label : object
        A class.

    Returns
    -------
    DataFrame
        A row for each ``threshold``, from which probability on the class is named, over the test
        rows of all rounds: ``recall``, the share of the class that is found; ``precision``, the
        share of what is named that is so, NaN where nothing is; ``alarms``, how many of 1 000 rows
        are false alarms.

    Raises
    ------
    ValueError
        Where there is no such class, or no probabilities of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from mercer.comparison import compare_in_rounds, threshold_table
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = compare_in_rounds({"bayes": GaussianNB()}, X, y, max_rounds=2, random_state=0)
    >>> threshold_table(found, "bayes", 0)["threshold"].tolist()
    [0.9, 0.7, 0.5, 0.3]
    """
    position = np.flatnonzero(comparison.classes == label)
    if not len(position):
        raise ValueError(f"There is no class {label!r}.")
    if name not in comparison.outputs or not comparison.has_probabilities[name]:
        raise ValueError(f"No probabilities of {name!r} were kept.")
    is_so = comparison.predictions["y_true"].to_numpy() == label
    values = comparison.outputs[name][:, position[0]]
    share = is_so.mean()
    # The least of the thresholds that are above the share is followed by one more at most.
    n_above = sum(threshold > share for threshold in _THRESHOLDS)
    thresholds = np.array(_THRESHOLDS[: n_above + 1])
    # Probabilities are kept as float32: in that, one of 0.7 is not less than 0.7.
    named, hits = (
        _count_from(thresholds.astype(values.dtype), part) for part in (values, values[is_so])
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return pd.DataFrame(
            {
                "threshold": thresholds,
                "recall": hits / is_so.sum(),
                "precision": hits / named,
                "alarms": 1000.0 * (named - hits) / len(values),
            }
        )


def _count_from(
    thresholds: npt.NDArray[np.float32], values: npt.NDArray[np.float32]
) -> npt.NDArray[np.intp]:
    """Count the values that reach each threshold."""
    return len(values) - np.searchsorted(np.sort(values), thresholds)


def rare_class_tables(
    comparison: RoundsComparison, names: tuple[str, ...]
) -> dict[str, dict[str, pd.DataFrame]]:
    """Return the table of each rare class, rarest first, and each of these models that has one."""
    truth = comparison.predictions["y_true"].to_numpy()
    kept = [one for one in names if one in comparison.outputs and comparison.has_probabilities[one]]
    return {
        str(label): {one: threshold_table(comparison, one, label) for one in kept}
        for label in rare_classes(truth)
    }

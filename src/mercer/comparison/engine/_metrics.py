"""The scores of one split, from predicted classes and from what stands behind them."""

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from mercer.comparison._checks import FloatArray, check_labels

__all__ = ["LOWER_IS_BETTER", "METRICS", "Codes", "choose_metric", "score_all"]

METRICS = ("accuracy", "balanced", "f1", "auc", "average-precision", "log-loss")
LOWER_IS_BETTER = frozenset({"log-loss"})

# Classes as positions in the sorted list of them.
Codes = npt.NDArray[np.intp]

# A class with less than this part of an equal share is rare: of two classes, less than 20 %.
_RARE = 0.4


def choose_metric(y: npt.ArrayLike) -> tuple[str, str]:
    """Choose accuracy, or balanced accuracy where a class is rare; and say why.

    A class is rare where it has less than 40 % of an equal share of the rows: with two classes,
    less than 20 % of all rows. There, a model that never finds it would look good by accuracy.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    metric : {"accuracy", "balanced"}
        Name of the metric, as :func:`compare_in_rounds` takes it.
    reason : str
        One sentence.

    Examples
    --------
    >>> from mercer.comparison import choose_metric
    >>> choose_metric(["ill"] * 5 + ["well"] * 95)[0]
    'balanced'
    """
    classes, counts = np.unique(check_labels(y, "y"), return_counts=True)
    rarest = int(counts.argmin())
    share = counts[rarest] / counts.sum()
    if share < _RARE / len(classes):
        return "balanced", (
            f"Scored by balanced accuracy, the mean share of each class that is found, because the "
            f"rarest class {str(classes[rarest])!r} has only {100 * share:.2g} % of the rows."
        )
    return "accuracy", "Scored by accuracy, the share of rows whose class is found."


def score_all(
    truth: Codes,
    predicted: Codes,
    outputs: FloatArray | None,
    *,
    are_probabilities: bool,
    n_classes: int,
    positive: int,
) -> dict[str, float]:
    """Compute every metric that can be had; the others are NaN.

    With two classes, F1 and the average precision are those of the ``positive`` one. With more,
    F1, the area under the ROC curve and the average precision are means over the classes that the
    split tests, each against all others.
    """
    scores = dict.fromkeys(METRICS, np.nan)
    tested = np.unique(truth)
    scores["accuracy"] = float(np.mean(truth == predicted))
    scores["balanced"] = float(np.mean([np.mean(predicted[truth == c] == c) for c in tested]))
    counted = [positive] if n_classes == 2 else tested.tolist()
    scores["f1"] = float(
        f1_score(truth, predicted, labels=counted, average="macro", zero_division=0)
    )
    if outputs is None or not np.isfinite(outputs).all():
        return scores
    if len(tested) > 1:
        told = [c for c in counted if c in tested]
        areas = [roc_auc_score(truth == c, outputs[:, c]) for c in told]
        precisions = [average_precision_score(truth == c, outputs[:, c]) for c in told]
        scores["auc"], scores["average-precision"] = float(np.mean(areas)), np.mean(precisions)
    if are_probabilities:
        of_truth = outputs[np.arange(len(truth)), truth]
        tiny = np.finfo(np.float64).eps  # as scikit-learn: a certain error costs 36, not infinity
        scores["log-loss"] = float(-np.mean(np.log(np.clip(of_truth, tiny, 1.0))))
    return {name: float(score) for name, score in scores.items()}

"""How a split is scored: by one scorer, or by every metric, from predictions and outputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    check_scoring,
    f1_score,
    get_scorer,
    roc_auc_score,
)

from mercer._arrays import FloatArray
from mercer._system import vocabulary
from mercer._system.words import percent
from mercer.comparison.tests._on_parts import values_by_part
from mercer.comparison.tests._pairs import check_labels

METRICS = tuple(vocabulary.METRICS)
LOWER_IS_BETTER = frozenset(name for name in METRICS if vocabulary.METRICS[name].lower_is_better)

# From a fitted estimator and test samples: the classes that may be right, a column per class in the
# order of its `classes_`; None where it does not tell.
FindSets = Callable[[Any, Any], npt.NDArray[np.bool_] | None]

# Classes as positions in the sorted list of them.
Codes = npt.NDArray[np.intp]

# A class with less than this part of an equal share is rare: of two classes, less than 20 %.
_RARE = 0.4
_MOST_OUTPUTS = 250_000  # numbers kept of one fit; where there are more, they only serve the scores


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
    labels = check_labels(y, "y")
    rare = rare_classes(labels)
    if rare:
        share = np.mean(labels == rare[0])
        return "balanced", (
            f"Scored by balanced accuracy, the mean share of each class that is found, because the "
            f"rarest class {str(rare[0])!r} has only {percent(share)} of the rows."
        )
    return "accuracy", "Scored by accuracy, the share of rows whose class is found."


def rare_classes(labels: npt.NDArray[Any]) -> list[Any]:
    """Return the classes with less than 40 % of an equal share of the rows, the rarest first."""
    classes, counts = np.unique(labels, return_counts=True)
    order = np.argsort(counts, kind="stable")
    return [classes[c] for c in order if counts[c] / counts.sum() < _RARE / len(classes)]


def score_all(
    truth: Codes,
    predicted: Codes,
    outputs: FloatArray | None,
    *,
    are_probabilities: bool,
    n_classes: int,
    positive: int,
    costs: FloatArray | None = None,
) -> dict[str, float]:
    """Compute every metric that can be had; the others are NaN, and without costs there is none.

    With two classes, F1 and the average precision are those of the ``positive`` one. With more,
    F1, the area under the ROC curve and the average precision are means over the classes that the
    split tests, each against all others.
    """
    scores = dict.fromkeys(METRICS, np.nan)
    if costs is None:
        del scores["cost"]
    else:
        scores["cost"] = float(costs[truth, predicted].mean())
    tested = np.unique(truth)
    scores["accuracy"] = float(np.mean(truth == predicted))
    scores["balanced"] = float(np.mean([np.mean(predicted[truth == c] == c) for c in tested]))
    averaged = [positive] if n_classes == 2 else tested.tolist()
    scores["f1"] = float(
        f1_score(truth, predicted, labels=averaged, average="macro", zero_division=0)
    )
    if outputs is None or not np.isfinite(outputs).all():
        return scores
    if len(tested) > 1:
        ranked = [c for c in averaged if c in tested]
        areas = [roc_auc_score(truth == c, outputs[:, c]) for c in ranked]
        precisions = [average_precision_score(truth == c, outputs[:, c]) for c in ranked]
        scores["auc"], scores["average-precision"] = float(np.mean(areas)), np.mean(precisions)
    if are_probabilities:
        of_truth = outputs[np.arange(len(truth)), truth]
        tiny = np.finfo(np.float64).eps  # as scikit-learn: a certain error costs 36, not infinity
        scores["log-loss"] = float(-np.mean(np.log(np.clip(of_truth, tiny, 1.0))))
    return {name: float(score) for name, score in scores.items()}


@dataclass(frozen=True)
class OneScorer:
    """Judges a fitted estimator by one scorer of scikit-learn; None stands for accuracy."""

    name: str
    scorer: Callable[[Any, Any, Any], Any] | None

    @classmethod
    def of(cls, scoring: object) -> "OneScorer":
        """Take a name of scikit-learn's, or a callable ``(estimator, X, y)``."""
        if not (isinstance(scoring, str) or callable(scoring)):
            raise ValueError(
                "scoring must be one name of sklearn.metrics.get_scorer_names() or one callable "
                f"(estimator, X, y); got {scoring!r}."
            )
        if scoring == "accuracy":  # known from the predictions: the test samples are seen once
            return cls("accuracy", None)
        if isinstance(scoring, str):  # get_scorer has the shorter sentence on a wrong name
            return cls(scoring, get_scorer(scoring))
        # check_scoring knows a metric from a scorer.
        return cls(getattr(scoring, "__name__", str(scoring)), check_scoring(scoring=scoring))

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: npt.NDArray[np.generic],
        predicted: npt.NDArray[np.generic],
    ) -> dict[str, Any]:
        """Return the score, which must be one finite number, and the predictions."""
        if self.scorer is None:
            score = accuracy_score(y, predicted)
        else:
            score = self.scorer(estimator, X, y)
        if isinstance(score, Mapping):
            raise TypeError(f"scoring must give one number; got {score!r}")
        if not np.isfinite(float(score)):
            raise ValueError(f"the score is {float(score)}")
        return {"scores": {self.name: float(score)}, "predicted": predicted}


@dataclass(frozen=True, eq=False)
class AllMetrics:
    """Judges a fitted estimator by every metric, from its predictions and its outputs.

    ``positive`` is the class that F1 and average precision look for when there are two, and
    ``costs`` what it costs to answer the class of the column for that of the row.
    Predictions are kept as positions among the classes.  ``find_sets`` is asked for sets, and
    ``parts`` is the part of each test sample, where what each of them adds to a score is wanted.
    """

    classes: npt.NDArray[np.generic]
    positive: int
    costs: FloatArray | None = None
    find_sets: FindSets | None = None
    parts: Codes | None = None

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: npt.NDArray[np.generic],
        predicted: npt.NDArray[np.generic],
    ) -> dict[str, Any]:
        """Return scores, predictions, and outputs where they are few enough to keep."""
        truth, codes = np.searchsorted(self.classes, y), _codes(predicted, self.classes)
        outputs, are_probabilities = _outputs(estimator, X, self.classes)

        def score(rows: Any) -> dict[str, float]:
            return score_all(
                truth[rows],
                codes[rows],
                None if outputs is None else outputs[rows],
                are_probabilities=are_probabilities,
                n_classes=len(self.classes),
                positive=self.positive,
                costs=self.costs,
            )

        scores = score(slice(None))
        is_kept = outputs is not None and outputs.size <= _MOST_OUTPUTS
        return {
            "scores": scores,
            "by_part": {} if self.parts is None else _by_part(score, scores, self.parts),
            "predicted": codes,
            "outputs": outputs.astype(np.float32) if outputs is not None and is_kept else None,
            "are_probabilities": are_probabilities,
            "sets": self._sets(estimator, X),
        }

    def _sets(self, estimator: Any, X: Any) -> npt.NDArray[np.bool_] | None:
        """Return the sets of samples, a column for each class of the table."""
        found = None if self.find_sets is None else self.find_sets(estimator, X)
        if found is None:
            return None
        sets = np.zeros((len(found), len(self.classes)), dtype=bool)
        sets[:, _codes(np.asarray(estimator.classes_), self.classes)] = found
        return sets


def _by_part(
    score: Callable[[Any], dict[str, float]], scores: Mapping[str, float], parts: Codes
) -> dict[str, FloatArray]:
    """Return what each part of the test samples adds to each score."""
    without = [score(parts != part) for part in range(int(parts.max()) + 1)]
    return {
        name: values_by_part(whole, [one[name] for one in without])
        for name, whole in scores.items()
    }


def metric_scorer(
    metric: str, classes: npt.NDArray[np.generic], positive: int, costs: FloatArray | None
) -> Callable[[Any, Any, Any], float]:
    """Return a metric as a scorer, as scikit-learn calls it; of what it gives more is better."""
    judge = AllMetrics(classes, positive, costs)
    sign = -1.0 if metric in LOWER_IS_BETTER else 1.0

    def score(estimator: Any, X: Any, y: npt.NDArray[np.generic]) -> float:
        predicted = np.asarray(estimator.predict(X))
        return sign * float(judge(estimator, X, y, predicted)["scores"][metric])

    return score


def _codes(labels: npt.NDArray[np.generic], classes: npt.NDArray[np.generic]) -> Codes:
    """Return labels as positions among the classes."""
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        raise ValueError(f"it predicts {str(labels[strange[0]])!r}, which is not a class of y")
    return np.asarray(codes, dtype=np.intp)


def _outputs(
    estimator: Any, X: Any, classes: npt.NDArray[np.generic]
) -> tuple[FloatArray | None, bool]:
    """Return a number per row and class: probabilities, else decision scores, else nothing."""
    for method in ("predict_proba", "decision_function"):
        if not hasattr(estimator, method):
            continue
        found = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
        known = np.asarray(estimator.classes_)
        if found.ndim == 1:  # of two classes, in favour of the second
            found = np.column_stack([-found, found])
        if found.shape[1] != len(known):  # one against one gives no number per class
            continue
        is_proba = method == "predict_proba"
        outputs = np.full((len(found), len(classes)), 0.0 if is_proba else found.min(initial=0.0))
        outputs[:, _codes(known, classes)] = found
        return outputs, is_proba
    return None, False

"""How well a model does on rows that it has not seen, and which of a few does best."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from mercer.models._device import on_device
from mercer.models._make_model import make_model
from mercer.models.deciding._classifier import TooFewRowsWarning
from mercer.models.deciding._figures import decision_figures
from mercer.spectral import stratified_rows
from mercer.tables import LabelledTable

_CANDIDATES = ("fisher", "boosting", "logistic")


@dataclass(frozen=True)
class ModelScore:
    """How a model did on rows left out.

    Parameters
    ----------
    model : str
        Its name.
    accuracy : float
        Share of rows whose class it found.
    balanced_accuracy : float
        The same in each class, on average over the classes.
    floor : float
        Accuracy of always answering the largest class.
    n_rows : int
        Rows that were judged.
    n_splits : int
        Folds.
    seconds : float
        Time of all fits and predictions.
    decision : dict of str to number or None
        Where answers follow costs: ``mean_cost`` of a row.  Where a recall is wished for:
        ``recall``, ``precision`` and ``alarms``, which are the false ones in 1 000 rows.  With
        ``plain_`` before it, the same of the most probable class.  Else empty.
    """

    model: str
    accuracy: float
    balanced_accuracy: float
    floor: float
    n_rows: int
    n_splits: int
    seconds: float
    decision: Mapping[str, float | None] = field(default_factory=dict)

    def figures(self) -> dict[str, float | None]:
        """Return the numbers that a card keeps: all but the name and the time.

        Returns
        -------
        dict
        """
        found = asdict(self)
        plain = {key: found[key] for key in found if key not in ("model", "seconds", "decision")}
        return {**plain, **self.decision}


def score_model(
    name: str,
    data: LabelledTable,
    *,
    balanced: bool = False,
    random_state: int = 0,
    n_splits: int = 3,
    max_rows: int = 10_000,
    device: str | None = None,
    costs: Any = None,
    recall: Mapping[str, float] | None = None,
) -> ModelScore:
    """Fit a model on all folds but one and judge it on that one, for each fold.

    Parameters
    ----------
    name : str
        One of :func:`list_models`.
    data : LabelledTable
        Rows.
    balanced : bool, default=False
        As in :func:`make_model`.
    random_state : int, default=0
        Seed of the folds and the model.
    n_splits : int, default=3
        Folds; as many as the smallest class has rows, but at least two, where these are fewer.
    max_rows : int, default=10_000
        The most rows to use; of more, a sample in which classes keep their shares.
    device : str, optional
        As in :func:`on_device`; None computes with NumPy.
    costs : array-like of shape (n_classes, n_classes), optional
        As in :func:`make_model`.  The rule is chosen in each fold on its training rows alone.
    recall : dict of one class to a number, optional
        As in :func:`make_model`.

    Returns
    -------
    ModelScore
        Its scores on rows that were left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.models import score_model
    >>> from mercer.tables import split_target
    >>> data = split_target(load_iris(as_frame=True).frame, "target")
    >>> round(score_model("fisher", data).accuracy, 2)
    0.97
    """
    start = time.perf_counter()
    _, labels = np.unique(data.y, return_inverse=True)
    rows = stratified_rows(labels, max_rows, 1.0, check_random_state(random_state))
    part = replace(data, X=data.X.iloc[rows], y=data.y[rows])
    n_splits = max(2, min(n_splits, int(np.bincount(labels[rows]).min())))
    rule: Any = {"costs": costs, "recall": recall}
    model = make_model(name, part, balanced=balanced, random_state=random_state, **rule)
    if device is not None:
        model = on_device(model, device)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    predicted, plain = np.empty_like(part.y), np.empty_like(part.y)
    for train, test in folds.split(part.X, part.y):
        with warnings.catch_warnings():
            # Of fewer rows than the model will have less can be promised.
            warnings.simplefilter("ignore", TooFewRowsWarning)
            fitted = clone(model).fit(part.X.iloc[train], part.y[train])
        predicted[test] = fitted.predict(part.X.iloc[test])
        if costs is not None or recall is not None:
            likeliest = fitted.predict_proba(part.X.iloc[test]).argmax(axis=1)
            plain[test] = fitted.classes_[likeliest]
    decision: Mapping[str, float | None] = {}
    if costs is not None or recall is not None:
        decision = decision_figures(part.y, predicted, plain, np.unique(part.y), **rule)
    return ModelScore(
        model=name,
        accuracy=float(np.mean(predicted == part.y)),
        balanced_accuracy=float(balanced_accuracy_score(part.y, predicted)),
        floor=float(np.bincount(labels[rows]).max() / len(rows)),
        n_rows=len(rows),
        n_splits=n_splits,
        seconds=time.perf_counter() - start,
        decision=decision,
    )


def choose_model(
    data: LabelledTable,
    *,
    names: Sequence[str] = _CANDIDATES,
    balanced: bool = False,
    random_state: int = 0,
    device: str | None = None,
    costs: Any = None,
    recall: Mapping[str, float] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> list[ModelScore]:
    """Score a few models on the same folds and return the scores, best first.

    Best is the highest accuracy, or balanced accuracy where ``balanced``, or the least mean cost
    where there are costs; of equals the first in ``names``.  Where a recall is wished for, those
    that reach it on rows left out are best, and among them that of the fewest false alarms.  The
    score of the best of several is a little too high: it was chosen for it.

    Parameters
    ----------
    data : LabelledTable
        Rows.
    names : sequence of str, default=("fisher", "boosting", "logistic")
        Among :func:`list_models`.
    balanced : bool, default=False
        Whether rare classes count as much as frequent ones.
    random_state : int, default=0
        Seed.
    device : str, optional
        As in :func:`on_device`; None computes with NumPy.
    costs : array-like of shape (n_classes, n_classes), optional
        As in :func:`make_model`.
    recall : dict of one class to a number, optional
        As in :func:`make_model`.
    on_progress : callable, optional
        Called with the name of each model before it is scored.

    Returns
    -------
    list of ModelScore
        One for each model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.models import choose_model
    >>> from mercer.tables import split_target
    >>> data = split_target(load_iris(as_frame=True).frame, "target")
    >>> choose_model(data, names=("dummy", "logistic"))[0].model
    'logistic'
    """
    scores = []
    for name in names:
        if on_progress is not None:
            on_progress(name)
        options: Any = {"balanced": balanced, "random_state": random_state, "device": device}
        scores.append(score_model(name, data, **options, costs=costs, recall=recall))
    wanted = None if recall is None else next(iter(recall.values()))

    def worse(score: ModelScore) -> tuple[float, ...]:
        figures: Any = score.decision
        if costs is not None:
            return (figures["mean_cost"],)
        if wanted is not None:
            missing = max(0.0, wanted - (figures["recall"] or 0.0))
            return (missing, figures["alarms"], -score.accuracy)
        return (-(score.balanced_accuracy if balanced else score.accuracy),)

    return sorted(scores, key=worse)

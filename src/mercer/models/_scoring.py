"""How well a model does on rows that it has not seen, and which of a few does best."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils import check_random_state

from mercer.models._device import on_device
from mercer.models._make_model import make_model
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
    """

    model: str
    accuracy: float
    balanced_accuracy: float
    floor: float
    n_rows: int
    n_splits: int
    seconds: float

    def figures(self) -> dict[str, float]:
        """Return the numbers that a card keeps: all but the name and the time.

        Returns
        -------
        dict
        """
        found = asdict(self)
        return {key: found[key] for key in found if key not in ("model", "seconds")}


def score_model(
    name: str,
    data: LabelledTable,
    *,
    balanced: bool = False,
    random_state: int = 0,
    n_splits: int = 3,
    max_rows: int = 10_000,
    device: str | None = None,
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
    model = make_model(name, part, balanced=balanced, random_state=random_state)
    if device is not None:
        model = on_device(model, device)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    predicted = cross_val_predict(model, part.X, part.y, cv=folds)
    return ModelScore(
        model=name,
        accuracy=float(np.mean(predicted == part.y)),
        balanced_accuracy=float(balanced_accuracy_score(part.y, predicted)),
        floor=float(np.bincount(labels[rows]).max() / len(rows)),
        n_rows=len(rows),
        n_splits=n_splits,
        seconds=time.perf_counter() - start,
    )


def choose_model(
    data: LabelledTable,
    *,
    names: Sequence[str] = _CANDIDATES,
    balanced: bool = False,
    random_state: int = 0,
    device: str | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> list[ModelScore]:
    """Score a few models on the same folds and return the scores, best first.

    Best is the highest accuracy, or balanced accuracy where ``balanced``; of equals the first in
    ``names``.  The score of the best of several is a little too high: it was chosen for it.

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
        scores.append(
            score_model(name, data, balanced=balanced, random_state=random_state, device=device)
        )
    key = "balanced_accuracy" if balanced else "accuracy"
    return sorted(scores, key=lambda score: -float(getattr(score, key)))

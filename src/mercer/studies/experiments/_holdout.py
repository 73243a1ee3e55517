"""Train on one part of a data set, predict the other: splits, scaling, per cent correct."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from mercer._arrays import Array
from mercer.studies._model import Outcome
from mercer.studies._task import Task

_CHOSEN = ("bandwidth_", "rule_", "gamma_", "alpha_")  # what our estimators choose in fit


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """A training part and a test part; `rows` says which rows of the data set the second is."""

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    rows: Array

    @classmethod
    def of(cls, X: Array, y: Array, train: Array, test: Array) -> "Holdout":
        """Take the two parts from a table, by the numbers of their rows."""
        return cls(X_train=X[train], y_train=y[train], X_test=X[test], y_test=y[test], rows=test)

    def within(self, train: Array, test: Array) -> "Holdout":
        """Divide the training part once more; `rows` are then rows of the training part."""
        return Holdout.of(self.X_train, self.y_train, train, test)


def holdout(task: Task, *, scale: bool) -> Holdout:
    """Return the parts that a job trains and tests on.

    The partition of the job's number, where the data set comes with partitions; random halves
    from the job's seed elsewhere.  With `scale`, columns get mean 0 and variance 1: of all rows
    under the protocol "paper", of the training rows under any other.
    """
    data = task.load()
    if data.train_idx is not None and data.test_idx is not None:
        train, test = data.train_idx[task.replication], data.test_idx[task.replication]
    else:
        order = task.rng().permutation(data.y.size)
        train, test = np.split(order, [data.y.size // 2])
    X: Array = data.X
    if scale:
        X = StandardScaler().fit(X if task.protocol == "paper" else X[train]).transform(X)
    return Holdout.of(X, data.y, train, test)


def judge(model: Any, part: Holdout) -> Outcome:
    """Fit on the training part; return the per cent of the test part that is predicted right.

    The details are what the model chose: the best of a grid, or a bandwidth, rule, γ or ridge.
    """
    predicted = model.fit(part.X_train, part.y_train).predict(part.X_test)
    return per_cent_right(part, predicted, _choices(model))


def per_cent_right(
    part: Holdout, predicted: Array, details: Mapping[str, float | str] = MappingProxyType({})
) -> Outcome:
    """Return the per cent of the test part that is predicted right, and the predictions."""
    return Outcome(
        values=100 * float(np.mean(predicted == part.y_test)),
        predictions=kept_predictions(part, predicted),
        details=details,
    )


def kept_predictions(part: Holdout, predicted: Array) -> dict[str, Array]:
    """Return what is kept of predictions of the test part, one row of them or several."""
    return {
        "rows": compact(part.rows),
        "truth": compact(part.y_test),
        "predicted": compact(predicted),
    }


def compact(numbers: Array) -> Array:
    """Return integers from 0 in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max())))


def _choices(model: Any) -> dict[str, float | str]:
    names = [name for name in _CHOSEN if hasattr(model, name)]
    chosen = {name.rstrip("_"): getattr(model, name) for name in names}
    chosen |= getattr(model, "best_params_", {})
    return {
        name: value if isinstance(value, str) else float(value) for name, value in chosen.items()
    }

"""Kernel sizes of Table VII of the Laplacian classifier's paper: by the rule (21), and by folds."""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer._arrays import Array
from mercer.bandwidth import silverman_bandwidth
from mercer.classifiers import LaplacianClassifier
from mercer.kernels import gamma_from_width, mercer_width, parzen_bandwidth
from mercer.studies._model import Outcome
from mercer.studies._task import Task

# What a job has numbers for: the readings of its column.
BY_RULE = ("of halves", "of all rows")
BY_FOLDS = ("one for all halves", "one for each half")


def size_by_rule(task: Task) -> Outcome:
    """Return σ̃ = √2·σ by (21): of the training halves, and of all rows."""
    X, _, halves = _halves(task)
    every = [mercer_width(silverman_bandwidth(X[half])) for half in halves]
    return _readings(BY_RULE, every, mercer_width(silverman_bandwidth(X)))


def size_by_folds(task: Task) -> Outcome:
    """Return the σ̃ of a grid that three folds of the training halves choose.

    "One for all halves" is best on average over the halves, as the paper has one size for each
    data set.  Of equally good ones the widest is taken, as in Table VII.
    """
    X, y, halves = _halves(task)
    widths = sorted(task.options["widths"], reverse=True)
    curves = np.array([_rates(task, X[half], y[half], widths) for half in halves])
    every = [widths[np.argmax(curve)] for curve in curves]
    return _readings(BY_FOLDS[::-1], every, widths[np.argmax(curves.mean(axis=0))])


def _rates(task: Task, X: Array, y: Array, widths: list[float]) -> Array:
    """Return the share that three folds get right by each width, with the best C for it."""
    folds = StratifiedKFold(3, shuffle=True, random_state=task.seed)
    if task.options["model"] == "laplacian":
        grid = {"bandwidth": [parzen_bandwidth(width) for width in widths]}
        search = GridSearchCV(LaplacianClassifier(), grid, cv=folds)
    else:
        grid = {"C": task.options["C"], "gamma": [gamma_from_width(width) for width in widths]}
        search = GridSearchCV(SVC(), grid, cv=folds)
    rates = search.fit(X, y).cv_results_["mean_test_score"]
    # The grid runs through its names in the order of the alphabet, the last one fastest.
    return np.asarray(rates.reshape(-1, len(widths)).max(axis=0))


def _halves(task: Task) -> tuple[Array, Array, list[Array]]:
    """Return X with columns of variance 1, y, and the rows of some random halves."""
    data = task.load()
    rngs = [np.random.default_rng([task.seed, k]) for k in range(task.options["halves"])]
    halves = [rng.permutation(data.y.size)[: data.y.size // 2] for rng in rngs]
    return StandardScaler().fit_transform(data.X), data.y, halves


def _readings(names: tuple[str, str], of_halves: list[float], single: float) -> Outcome:
    return Outcome(values={names[0]: of_halves, names[1]: single})

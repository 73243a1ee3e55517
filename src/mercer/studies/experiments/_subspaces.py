"""Projections judged by the nearest neighbour, λ and dimension by either protocol.

[1] Arvanitopoulos, Bouzas and Tefas, ICPR 2014.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mercer._arrays import Array
from mercer.projections import (
    LaplacianEigenmaps,
    LaplacianSupportVectorAnalysis,
    LocalityPreservingProjection,
)
from mercer.studies._model import Outcome
from mercer.studies._panels import Panel, Points
from mercer.studies._task import Task
from mercer.studies.experiments._holdout import Holdout, kept_predictions
from mercer.studies.experiments._nearest_neighbour import (
    label_surface,
    nearest_neighbour_labels,
    nested_surface,
)

# What the paper states: folds, graph, price of an error, the ends of the grid of weights.
FOLDS = 5
_GRAPH: dict[str, Any] = {"n_neighbors": 10, "affinity_width": 1.0}
_C = 100
_LIGHTEST, _HEAVIEST = 0.1, 100
# What it does not: which folds, and how to choose without the test rows.
_PARTITION = 0
_INNER_FOLDS = 3
_KDA_SHRINKAGE = 1e-3
_KERNEL_LPP_VARIANCE = 0.9999


# Readings of "the best λ", and of line 11 of Algorithm 1.
EACH_FOLD, ALL_FOLDS = "λ for each fold", "one λ"
EACH_FOLD_PRINTED, ALL_FOLDS_PRINTED = (f"{one}, X·W as printed" for one in (EACH_FOLD, ALL_FOLDS))


# Parts of a data set -----------------------------------------------------------------------------


def _fold(task: Task) -> Holdout:
    """One fold of the partition that all methods and replications share.

    Columns are scaled to [−1, 1] by all rows, as in the paper, or by the training rows alone.
    """
    data = task.load()
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=_PARTITION)
    a, b = list(folds.split(data.X, data.y))[task.replication]
    scaler = MinMaxScaler((-1, 1)).fit(data.X if task.protocol == "paper" else data.X[a])
    X = scaler.transform(data.X)
    return Holdout.of(X, data.y, a, b)


_EXPECTED = (
    "The least populated class",  # some classes have fewer rows than there are folds
    "Only one sample available",  # or a single one in the training part
    "Variables are collinear",  # LDA
)


@contextmanager
def _expected_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LSVA: fewer directions than asked for
        for message in _EXPECTED:
            warnings.filterwarnings("ignore", message=message)
        yield


# The two protocols -------------------------------------------------------------------------------


def run_projection(task: Task) -> Outcome:
    """Fit a method on the training folds; rows of the test fold are named by their neighbours."""
    options = task.options
    with _expected_warnings():
        part = _fold(task)
        width = min(part.X_train.shape[1], options.get("dimensions", part.X_train.shape[1]))
        return _choose(task, part, lambda X, y, weights: _fit(X, y, width, options, weights), width)


def _choose(
    task: Task,
    part: Holdout,
    fit: Callable[[Array, Array, Sequence[float]], Sequence[Any]],
    width: int,
) -> Outcome:
    """Choose the weight λ and the dimension: by the test rows (paper) or without them (honest)."""
    weights = _weights(task.options)
    if task.protocol == "paper":
        return _paper_outcome(fit(part.X_train, part.y_train, weights), part, width, task.options)
    k = task.options.get("neighbors", 1)
    surface = nested_surface(
        lambda X, y: fit(X, y, weights),
        part,
        width,
        folds=_INNER_FOLDS,
        seed=task.seed,
        neighbors=k,
    )
    at, last = map(int, np.unravel_index(surface.argmin(), surface.shape))
    chosen = weights[at : at + 1]
    surfaces = label_surface(lambda X, y: fit(X, y, chosen), part, width, neighbors=k)
    named = surfaces[0, last]
    details: dict[str, float] = {"dimension": last + 1}
    if len(weights) > 1:
        details["weight"] = float(f"{chosen[0]:.4g}")
    return Outcome(
        values=100 * np.mean(named != part.y_test),
        predictions=kept_predictions(part, named),
        details=details,
    )


def _paper_outcome(
    models: Sequence[Any], part: Holdout, width: int, options: Mapping[str, Any]
) -> Outcome:
    """Return the errors of models, one for each weight λ, as both readings of "the best λ" ask.

    The one with the least test error in this fold, for each dimension; or all of them, of which
    one λ and one dimension are taken when all folds are there.  What is kept as predicted is by
    the first reading.
    """
    neighbors = options.get("neighbors", 1)
    named = label_surface(lambda X, y: models, part, width, neighbors=neighbors)
    errors = _per_cent_wrong(named, part)
    best, each = errors.argmin(axis=0), np.arange(width)
    predictions = kept_predictions(part, named[best, each])
    if len(models) == 1:
        return Outcome(values=errors, predictions=predictions)
    values = {EACH_FOLD: errors[best, each][np.newaxis], ALL_FOLDS: errors[np.newaxis]}
    if "gamma" not in options:  # line 11 of Algorithm 1: X·W, not divided by lengths
        scaled = label_surface(
            lambda X, y: [_AsPrinted(model) for model in models], part, width, neighbors=neighbors
        )
        errors = _per_cent_wrong(scaled, part)
        values |= {
            EACH_FOLD_PRINTED: errors.min(axis=0)[np.newaxis],
            ALL_FOLDS_PRINTED: errors[np.newaxis],
        }
    return Outcome(values=values, predictions=predictions)


def _per_cent_wrong(named: Array, part: Holdout) -> Array:
    return np.asarray(100 * np.mean(named != part.y_test, axis=-1))


def _weights(options: Mapping[str, Any]) -> Sequence[float]:
    """Return the weights λ to choose from; with none of them λ = 0: MMDA."""
    count = options.get("weights", 0)
    return tuple(np.geomspace(_LIGHTEST, _HEAVIEST, count)) if count else (0.0,)


# Methods -----------------------------------------------------------------------------------------


def run_nearest(task: Task) -> Outcome:
    """Nearest neighbour in all columns."""
    with _expected_warnings():
        return _nearest_in_all_columns(_fold(task))


def _nearest_in_all_columns(part: Holdout) -> Outcome:
    width = part.X_train.shape[1]
    named = nearest_neighbour_labels(part.X_train, part.y_train, part.X_test, width)[-1]
    return Outcome(
        values=100 * np.mean(named != part.y_test), predictions=kept_predictions(part, named)
    )


def _fit(
    X: Array, y: Array, width: int, options: Mapping[str, Any], weights: Sequence[float]
) -> Sequence[Any]:
    """Return what the method of the options has fitted, for LSVA at every weight λ."""
    if options["method"] == "LSVA":
        return _fit_lsva(X, y, width, options, weights)
    return [_make_projection(width, options).fit(X, y)]


def _make_projection(width: int, options: Mapping[str, Any]) -> Any:
    """Return the projection that the options name, not fitted."""
    method = options["method"]
    if method in ("kernel PCA", "KDA", "kernel LPP"):
        kernel = {"kernel": "rbf", "gamma": options["gamma"], "eigen_solver": "dense"}
    match method:
        case "PCA":
            return PCA(svd_solver="full")
        case "LDA":
            return LinearDiscriminantAnalysis()
        case "LPP":
            return LocalityPreservingProjection(n_components=width, **_GRAPH)
        case "eigenmaps":
            return LaplacianEigenmaps(n_components=width, **_GRAPH)
        case "kernel PCA":
            return KernelPCA(width, **kernel)
        case "KDA":
            lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=_KDA_SHRINKAGE)
            return make_pipeline(KernelPCA(**kernel), lda)
        case "kernel LPP":  # what the paper calls LE, on the graph of classes
            lpp = LocalityPreservingProjection(
                n_components=width,
                neighborhood="class_knn",
                pca_components=_KERNEL_LPP_VARIANCE,
                **_GRAPH,
            )
            return make_pipeline(KernelPCA(**kernel), lpp)
    raise ValueError(f"There is no projection {method!r}.")


def _fit_lsva(
    X: Array, y: Array, width: int, options: Mapping[str, Any], weights: Sequence[float]
) -> Sequence[Any]:
    lsva = LaplacianSupportVectorAnalysis(
        n_components=width,
        kernel="rbf" if "gamma" in options else "linear",
        gamma=options.get("gamma", "scale"),
        loss=options.get("loss", "hinge"),
        C=_C,
        random_state=0,
        **_GRAPH,
    )
    try:
        return lsva.fit_path(X, y, weights)
    except ValueError as error:
        _raise_unless_flat(error)
    return [_fit_one(clone(lsva).set_params(laplacian_weight=w), X, y) for w in weights]


class _NoDirection:
    """Where w = 0 is the best machine: it names the larger class, and so does no dimension."""

    def transform(self, X: Array) -> Array:
        return np.empty((len(X), 0))


class _AsPrinted:
    """Projections that are not divided by the lengths of the normal vectors."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def transform(self, X: Array) -> Array:
        Z = self.model.transform(X)
        return Z * self.model.lengths_ if Z.shape[1] else Z


def _fit_one(lsva: LaplacianSupportVectorAnalysis, X: Array, y: Array) -> Any:
    try:
        return lsva.fit(X, y)
    except ValueError as error:
        _raise_unless_flat(error)
        return _NoDirection()


def _raise_unless_flat(error: ValueError) -> None:
    if not str(error).startswith("No direction"):
        raise error


# Few labels --------------------------------------------------------------------------------------


def run_few_labels(task: Task) -> Outcome:
    """LSVA where a tenth of the training rows have labels; the others may join the graph.

    Everything is measured on rows that nothing was fitted to.
    """
    part, unlabelled = _few_labels(task)
    width = task.options["dimensions"]
    hidden = unlabelled if task.options["graph"] == "all rows" else unlabelled[:0]

    def fit(X: Array, y: Array, weights: Sequence[float]) -> Sequence[Any]:
        labels = np.concatenate([y, np.full(len(hidden), -1)])
        return _fit_lsva(np.vstack([X, hidden]), labels, width, task.options, weights)

    with _expected_warnings():
        return _choose(task, part, fit, width)


def run_few_labels_nearest(task: Task) -> Outcome:
    """Nearest neighbour in all columns among the rows with labels."""
    return _nearest_in_all_columns(_few_labels(task)[0])


def _few_labels(task: Task) -> tuple[Holdout, Array]:
    """Labelled rows and test rows, and the rows that lend no label."""
    data = task.load()
    outer = StratifiedShuffleSplit(1, test_size=0.3, random_state=task.seed)
    train, test = next(outer.split(data.X, data.y))
    draw = StratifiedShuffleSplit(1, train_size=0.1, random_state=task.seed)
    known, hidden = next(draw.split(train, data.y[train]))
    X = MinMaxScaler((-1, 1)).fit(data.X[train]).transform(data.X)
    return Holdout.of(X, data.y, train[known], test), X[train[hidden]]


# Figures -----------------------------------------------------------------------------------------


def run_maps(task: Task) -> Sequence[Panel]:
    """Figs 1 and 2: the options say which method a panel shows, by its title."""
    data = task.load()
    X = MinMaxScaler((-1, 1)).fit_transform(data.X)
    panels = []
    for title, method in task.options["maps"].items():
        options = {**task.options, "method": method}
        (model,) = _fit(X, data.y, 2, options, [task.options["weight"]])
        Z = model.transform(X)
        points = [
            Points(x=Z[data.y == c, 0], y=Z[data.y == c, 1], label=name, colour=c)
            for c, name in enumerate(data.target_names)
        ]
        panels.append(Panel(title=title, layers=points, x_label="first", y_label="second"))
    return panels

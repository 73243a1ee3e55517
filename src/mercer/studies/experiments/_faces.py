"""Faces and digits: rates by dimension, and tests of two classifiers (Rajamannar, Ramanan)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mercer._arrays import Array
from mercer.comparison import (
    PairedTestResult,
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    kfold_paired_t_test,
    mcnemar_test,
)
from mercer.projections import (
    LocalityPreservingProjection,
    RoweisSaulProjection,
    eigenfaces,
    fisherfaces,
    laplacianfaces,
    roweis_saul_classifier,
)
from mercer.studies._model import Outcome
from mercer.studies._panels import Line, Panel
from mercer.studies._task import Task
from mercer.studies.experiments._holdout import (
    Holdout,
    compact,
    judge,
    kept_predictions,
    per_cent_right,
)
from mercer.studies.experiments._nearest_neighbour import error_surface, nested_surface

_NEIGHBOURS = 4  # K of section 5.1 of the paper.
_LEVEL = 0.05  # The level of the tests in section 6.


# Data and splits ----------------------------------------------------------------------------------


def _images(task: Task, rows: Array | slice = slice(None)) -> Array:
    """Return images as rows; 32×32 ones are means of 2×2 pixels."""
    X = task.load().X[rows].astype(np.float64)
    if task.options.get("size") == 32:
        X = X.reshape(-1, 32, 2, 32, 2).mean(axis=(2, 4)).reshape(len(X), -1)
    return X


def _split(task: Task) -> tuple[Array, Array]:
    """Draw `per_class` training images of every class; test on the rest, or on the test set.

    With the option `first` nothing is drawn: they are the first ones of every class.
    """
    data = task.load()
    pool = np.arange(len(data.y)) if data.train_idx is None else data.train_idx[0]
    rng = task.rng()
    labels = data.y[pool]
    count = task.options["per_class"]
    of_class = [pool[labels == label] for label in np.unique(labels)]
    if not task.options.get("first", False):
        of_class = [rng.permutation(rows) for rows in of_class]
    train = np.sort(np.concatenate([rows[:count] for rows in of_class]))
    test = np.setdiff1d(pool, train) if data.test_idx is None else data.test_idx[0]
    return train, test[:: task.options.get("every", 1)]


def _part(task: Task) -> Holdout:
    """Return the training images and the test images of a job, with their classes."""
    train, test = _split(task)
    y = task.load().y
    return Holdout(
        X_train=_images(task, train),
        y_train=y[train],
        X_test=_images(task, test),
        y_test=y[test],
        rows=test,
    )


def _nearest(A: Array, ya: Array, B: Array) -> Array:
    return ya[cdist(B, A, "sqeuclidean").argmin(axis=1)]


# Tables 2 and 3: rates ----------------------------------------------------------------------------


def _projection(kind: str, parameters: dict[str, Any], width: int) -> Any:
    """Return what is fitted before the nearest neighbour."""
    if kind == "PCA":
        return eigenfaces(n_components=None)[:-1]
    if kind == "LDA":
        return fisherfaces(**parameters)[:-1]
    shared: dict[str, Any] = {"n_components": width, "n_neighbors": _NEIGHBOURS}
    if kind == "RS":
        return RoweisSaulProjection(**shared, **parameters)
    shared |= {"pca_components": 0.98, "unit_length": True}
    return LocalityPreservingProjection(**{**shared, **parameters})


def _rate_in(model: Any, part: Holdout, dimension: int) -> Outcome:
    """Return the rate of the nearest neighbour in the first `dimension` directions."""
    fitted = clone(model).fit(part.X_train, part.y_train)
    near, far = (fitted.transform(X)[:, :dimension] for X in (part.X_train, part.X_test))
    predicted = _nearest(near, part.y_train, far)
    return per_cent_right(part, predicted, details={"dimension": near.shape[1]})


def rates(task: Task) -> Outcome:
    """Recognition rate of the nearest neighbour, the dimension chosen by the protocol.

    The option `dimension` names it instead: a number, or "C − 1".
    """
    options = task.options
    part = _part(task)
    width = min(options["dimensions"], len(part.y_train) - 1)
    model = _projection(options["method"], options.get("parameters", {}), width)

    stated = options.get("dimension")
    if stated is not None:
        count = len(np.unique(part.y_train)) - 1 if stated == "C − 1" else stated
        return _rate_in(model, part, count)

    def fit(X: Array, y: Array) -> Sequence[Any]:
        return [clone(model).fit(X, y)]

    if task.protocol == "paper":
        return Outcome(values=100 - error_surface(fit, part, width))
    surface = nested_surface(
        fit,
        part,
        width,
        folds=options["folds"],
        seed=task.seed,
        used=options.get("folds_used"),
    )
    return _rate_in(model, part, int(surface[0].argmin()) + 1)


def plain(task: Task) -> Outcome:
    """Recognition rate of the nearest neighbour on grey values."""
    part = _part(task)
    return per_cent_right(part, _nearest(part.X_train, part.y_train, part.X_test))


# Tables 1 and 4-7, Fig. 1: two classifiers at C − 1 dimensions ------------------------------------


def count_faces(task: Task) -> Outcome:
    """Count people, and images per person."""
    counts = np.bincount(task.load().y)
    if len(set(counts)) > 1:
        raise ValueError(f"People of {task.row.dataset} have different numbers of images.")
    return Outcome(values={"No. of people": len(counts), "No. of images per person": counts[0]})


def _pair(graph: str) -> tuple[Any, Any]:
    """Return the Roweis-Saul classifier and Laplacianfaces, C − 1 dimensions each."""
    shared: dict[str, Any] = {"neighborhood": graph, "n_neighbors": _NEIGHBOURS}
    return roweis_saul_classifier(**shared), laplacianfaces(**shared)


def mcnemar(task: Task) -> Outcome:
    """Table 4: who is wrong where on one test set, and McNemar's test."""
    part = _part(task)
    rs, lap = (
        model.fit(part.X_train, part.y_train).predict(part.X_test)
        for model in _pair(task.options["graph"])
    )
    wrong_rs, wrong_lap = rs != part.y_test, lap != part.y_test
    result = mcnemar_test(part.y_test, rs, lap, method="chi2")
    return Outcome(
        values={
            "e00": np.sum(wrong_rs & wrong_lap),
            "e01": np.sum(~wrong_rs & wrong_lap),
            "e10": np.sum(wrong_rs & ~wrong_lap),
            "e11": np.sum(~wrong_rs & ~wrong_lap),
            "χ²": result.statistic,
            "verdict": _verdict(result),
        },
        predictions={**kept_predictions(part, rs), "laplacianfaces": compact(lap)},
    )


def _verdict(result: PairedTestResult) -> float:
    """Return 1 where the test finds RS better, −1 where Laplacianfaces, else 0."""
    return float(np.sign(result.effect)) if result.pvalue < _LEVEL else 0.0


def _rotated(X: Array) -> Array:
    """Turn rows so that they need no more columns than there are rows: distances stay."""
    U, lengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(U * lengths)


def _scores(task: Task, folds: int, repeats: int) -> Array:
    """Return the rates of both (folds · repeats, 2) in random parts of equal size."""
    X, y = _rotated(_images(task)), task.load().y
    rng = task.rng()
    rows = []
    for _ in range(repeats):
        parts = KFold(folds, shuffle=True, random_state=int(rng.integers(2**31))).split(X)
        rows += [
            [100 * m.fit(X[a], y[a]).score(X[b], y[b]) for m in _pair(task.options["graph"])]
            for a, b in parts
        ]
    return np.array(rows)


def ten_folds(task: Task) -> Outcome:
    """Table 5: t of ten folds, as the paper has it and corrected for overlapping folds."""
    rs, lap = _scores(task, 10, 1).T
    result = kfold_paired_t_test(rs, lap)
    corrected = corrected_t_test(rs, lap, n_train=9, n_test=1)
    return Outcome(
        values={
            "t": result.statistic,
            "verdict": _verdict(result),
            "corrected t": corrected.statistic,
            "corrected verdict": _verdict(corrected),
        }
    )


def _five_by_two(task: Task) -> tuple[Array, Array, Array, Array]:
    """Return the rates of both, and p̄ and s² of the five replications."""
    rs, lap = _scores(task, 2, 5).T
    p = (rs - lap).reshape(5, 2)  # error of Laplacianfaces minus error of Roweis-Saul
    means = p.mean(axis=1)
    variances = ((p - means[:, np.newaxis]) ** 2).sum(axis=1)
    return rs, lap, means, variances


def five_by_two_t(task: Task) -> Outcome:
    """Table 6: mean and variance of five replications, and Dietterich's t."""
    rs, lap, means, variances = _five_by_two(task)
    result = five_by_two_t_test(rs, lap)
    return Outcome(
        values={
            **{f"p̄{i}": value for i, value in enumerate(means, start=1)},
            **{f"s{i}²": value for i, value in enumerate(variances, start=1)},
            "t": result.statistic,
            "verdict": _verdict(result),
        }
    )


def five_by_two_f(task: Task) -> Outcome:
    """Table 7: sums of squares, and Alpaydin's F."""
    rs, lap, _, variances = _five_by_two(task)
    result = five_by_two_f_test(rs, lap)
    return Outcome(
        values={
            "N": ((rs - lap) ** 2).sum(),
            "M": variances.sum(),
            "f": result.statistic,
            "verdict": _verdict(result),
        }
    )


def training_images(task: Task) -> Outcome:
    """Rates of both at C − 1 dimensions, for one number of training images."""
    part = _part(task)
    both = [
        100 * model.fit(part.X_train, part.y_train).score(part.X_test, part.y_test)
        for model in _pair(task.options["graph"])
    ]
    return Outcome(values=dict(zip(("RS", "Laplacian"), both, strict=True)))


def draw_training_images(cells: pd.DataFrame) -> list[Panel]:
    """Draw a panel for each database: rates against the number of training images."""
    place = cells["row"].str.extract(r"(?P<database>\w+), (?P<images>\d+)")
    cells = cells.assign(database=place["database"], images=place["images"].astype(int))
    panels = []
    for database, part in cells.groupby("database", sort=False):
        lines = []
        for (column, reading), curve in part.groupby(["column", "reading"], sort=False):
            curve = curve.sort_values("images")
            lines.append(
                Line(
                    x=curve["images"],
                    y=curve["measured"],
                    spread=curve["spread"] if curve["spread"].notna().all() else None,
                    label=f"{column}, {reading}",
                    colour=["RS", "Laplacian"].index(column),
                    dashed="literal" in reading,
                )
            )
        panels.append(
            Panel(
                title=str(database),
                layers=lines,
                x_label="training images per person",
                y_label="% recognised",
            )
        )
    return panels


# Our own table: single choices at C − 1 dimensions ------------------------------------------------


def choice(task: Task) -> Outcome:
    """Recognition rate at C − 1 dimensions for one choice."""
    options = task.options
    part = _part(task)
    parameters = dict(options.get("parameters", {}))
    if options["method"] == "RS":
        model = roweis_saul_classifier(**parameters)
    elif options["method"] == "Laplacian":
        model = laplacianfaces(**parameters)
    elif options["method"] == "fisherfaces":
        model = fisherfaces().set_params(**parameters)
    else:
        count = len(part.y_train) - len(np.unique(part.y_train))
        pca = PCA(count, svd_solver="full")
        model = make_pipeline(pca, LinearDiscriminantAnalysis(), KNeighborsClassifier(1))
    return judge(model, part)

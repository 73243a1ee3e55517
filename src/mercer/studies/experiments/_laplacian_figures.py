"""Figures 1 to 5 of the Laplacian classifier's paper, and the classifiers of Figure 5."""

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from mercer._arrays import Array
from mercer.bandwidth import silverman_bandwidth
from mercer.classifiers import LaplacianClassifier, NearestAngleClassifier, ParzenClassifier
from mercer.kernels import gamma_from_width, mercer_width
from mercer.projections import LaplacianFeatureMap
from mercer.studies._model import Outcome
from mercer.studies._panels import Line, Panel, Points, Raster
from mercer.studies._task import Task
from mercer.studies.experiments._plane import (
    MARKERS,
    grid,
    ring,
    scatter,
    show_answers,
    show_sample,
    two_gaussians,
)
from mercer.sums import kernel_sum

# As the tables print them, and as `classifier_by_rule` knows them.
CLASSIFIERS = {"Parzen window Bayes": "parzen", "SVM": "svm", "Laplacian": "laplacian"}

_NAMES = ("Gaussian", "ring")
_GAUSSIAN, _RING = 0, 1
# What `classify_beside_outlier` returns for every draw.
BESIDE = ("right without it, %", "right with it, %", "changed, %", "its weight", "the bound")
_GRID = 60


def draw_feature_maps(task: Task) -> list[Panel]:
    """Fig. 1: the ring, and the first two coordinates of (22) with and without densities."""
    X, y = ring(task.rng())
    X_new, y_new = ring(np.random.default_rng([task.seed, 1]), 1000, 3000)
    panels = [show_sample("(a) data", X, y, _NAMES)]
    for title, density in (("(b) Laplacian matrix", "parzen"), ("(c) kernel PCA", None)):
        model = make_pipeline(LaplacianFeatureMap(2, density=density), NearestAngleClassifier())
        Z = model.fit(X, y)[0].transform(X)
        rays = []
        for c, mean in enumerate(model[-1].means_):
            length = np.quantile(np.linalg.norm(Z[y == c], axis=1), 0.95)
            end = length * mean / np.linalg.norm(mean)
            rays.append(Line(x=[0, end[0]], y=[0, end[1]], colour=c, dashed=True))
        right = 100 * model.score(X_new, y_new)
        panels.append(
            Panel(
                title=f"{title}: {right:.1f} % of 4000 new points right by angle",
                layers=[*scatter(Z, y, _NAMES), *rays],
                x_label="first coordinate",
                y_label="second coordinate",
            )
        )
    return panels


def draw_weights(task: Task) -> list[Panel]:
    """Fig. 2: the density, the weights by row, and the top one per cent of them."""
    X, y = ring(task.rng())
    model = LaplacianClassifier(bandwidth="silverman").fit(X, y)
    points, extent = grid(X, _GRID)
    density = kernel_sum(points, X, bandwidth=model.bandwidth_) / _height(model)
    alpha = _alpha(model)
    by_row = [
        Points(x=np.flatnonzero(y == c), y=alpha[y == c], label=name, colour=c, marker=MARKERS[c])
        for c, name in enumerate(_NAMES)
    ]
    return [
        Panel(
            title="(a) density",
            layers=[Raster(z=density.reshape(_GRID, _GRID), extent=extent, label="density")],
            equal=True,
        ),
        Panel(title="(b) weights", layers=by_row, x_label="row", y_label="weight"),
        show_sample("(c) top 1 % significance vectors", X, y, _NAMES, _significant(X, alpha)),
    ]


def draw_outlier(task: Task) -> list[Panel]:
    """Fig. 3: an outlier of the ring, then of the Gaussian, and what becomes of new points."""
    X_new, y_new = ring(np.random.default_rng([task.seed, 1]))
    panels = []
    for letters, label in (("ab", _RING), ("cd", _GAUSSIAN)):
        X, y, model = _beside_outlier(*ring(task.rng()), label)
        alpha, bound = _alpha(model), _height(model) ** 0.5
        n_wrong = np.sum(model.predict(X_new) != y_new)
        weighed = f"weight of the outlier {alpha[-1]:.1f}, bound {bound:.1f}"
        trained = f"({letters[0]}) outlier of the {_NAMES[label]}; {weighed}"
        tested = f"({letters[1]}) test set: {n_wrong} of {len(y_new)} wrong"
        panels += [
            show_sample(trained, X, y, _NAMES, _significant(X, alpha)),
            show_answers(tested, model, X_new, y_new, _NAMES),
        ]
    return panels


def classify_beside_outlier(task: Task) -> Outcome:
    """Return what an outlier changes, its weight and the weight's bound, over many draws."""
    lines = []
    for number in range(task.options["draws"]):
        rng = np.random.default_rng([task.seed, number])
        X, y = ring(rng)
        X_new, y_new = ring(rng)
        without = LaplacianClassifier(bandwidth="silverman").fit(X, y).predict(X_new)
        *_, model = _beside_outlier(X, y, _NAMES.index(task.options["outlier"]))
        beside = model.predict(X_new)
        shares = [without == y_new, beside == y_new, beside != without]
        weights = [_alpha(model)[-1], _height(model) ** 0.5]
        lines.append([*(100 * np.mean(share) for share in shares), *weights])
    return Outcome(values=dict(zip(BESIDE, np.transpose(lines), strict=True)))


def _beside_outlier(X: Array, y: Array, label: int) -> tuple[Array, Array, LaplacianClassifier]:
    """Return the sample with an outlier of this class at its end, and the model fitted to it.

    The width is that without the outlier: the paper says that the other weights do not change.
    """
    bandwidth = silverman_bandwidth(X)
    X, y = np.vstack([X, [8.0, 8.0]]), np.append(y, label)
    return X, y, LaplacianClassifier(bandwidth=bandwidth).fit(X, y)


def draw_gaussians(task: Task) -> list[Panel]:
    """Figs 4 and 5: one draw of Tables I–III, and what three classifiers make of it."""
    X, y, X_test, y_test = imbalanced_draw(task.rng())
    names = ("rare", "common")
    panels = [
        show_sample("Fig. 4(a) training set", X, y, names),
        show_sample("Fig. 4(b) test set", X_test, y_test, names),
    ]
    for letter, (title, name) in zip("abc", CLASSIFIERS.items(), strict=True):
        model = classifier_by_rule(name, X).fit(X, y)
        predicted = model.predict(X_test)
        found, alarms = (np.sum((predicted == 0) & (y_test == c)) for c in (0, 1))
        title = f"Fig. 5({letter}) {title}: {found} of 10 found, {alarms} false alarms"
        panels.append(show_answers(title, model, X_test, y_test, names))
    return panels


def imbalanced_draw(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Return X, y to learn from (5 rare, 100 common points) and X, y to classify (10, 200)."""
    return *two_gaussians(rng, 5, 100), *two_gaussians(rng, 10, 200)


def classifier_by_rule(name: str, X: Array) -> Any:
    """Return a classifier whose width is Silverman's (21) for these rows."""
    if name == "svm":
        # The paper does not print C; a hard margin makes as many false alarms as its Table II.
        return SVC(C=1e6, gamma=gamma_from_width(mercer_width(silverman_bandwidth(X))))
    models = {"parzen": ParzenClassifier, "laplacian": LaplacianClassifier}
    return models[name](bandwidth="silverman")


def _height(model: LaplacianClassifier) -> float:
    """Return N over the peak of a window: what turns kernel sums of the plane into densities."""
    return float(len(model.weights_) * 2 * np.pi * model.bandwidth_**2)


def _alpha(model: LaplacianClassifier) -> Array:
    """Return f̂^(−1/2) as the paper has it: `weights_` is in units of one window's peak."""
    return model.weights_ * (2 * np.pi * model.bandwidth_**2) ** 0.5


def _significant(X: Array, alpha: Array) -> Points:
    top = np.argsort(alpha)[-int(np.ceil(0.01 * len(alpha))) :]
    return Points(x=X[top, 0], y=X[top, 1], label="significance vectors", colour=2, marker="cross")

"""What a classifier of two features answers everywhere, and where it errs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._grid import check_resolution, like_rows
from mercer.plots._style import (
    INK,
    axes,
    class_colour,
    legend_beside,
    scatter_classes,
    write,
)


class DecisionRegionDisplay:
    """Regions that a classifier gives to the classes, points on top, errors marked.

    `from_estimator` asks the classifier for its class at every point of a grid, and `plot` draws
    the answers.

    Parameters
    ----------
    xx0, xx1 : array-like of shape (grid_resolution, grid_resolution)
        Coordinates of the grid, as of :func:`numpy.meshgrid`.
    response : array-like of int of shape (grid_resolution, grid_resolution)
        Predicted classes there, as indices into `class_names`.
    class_names : array-like of shape (n_classes,)
        Names of the classes.
    X : array-like of shape (n_rows, 2) or None, default=None
        Points to draw.
    codes : array-like of int of shape (n_rows,) or None, default=None
        Their true classes.
    predicted : array-like of int of shape (n_rows,) or None, default=None
        Their predicted classes.
    feature_names : sequence of two, default=("first feature", "second feature")
        Names of the columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    regions_ : matplotlib QuadMesh
        The regions.
    boundaries_ : list of matplotlib ContourSet
        Edges of the regions, one for each class but the last that has both an in- and an outside.
    points_ : list of matplotlib PathCollection
        One for each class.
    errors_ : matplotlib PathCollection or None
        Marks of rows that are predicted wrongly.
    legend_ : matplotlib Legend or None
        None where none was asked for.

    See Also
    --------
    sklearn.inspection.DecisionBoundaryDisplay : Degrees of certainty instead of answers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import ParzenClassifier
    >>> from mercer.plots import DecisionRegionDisplay
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = ParzenClassifier().fit(X, y)
    >>> display = DecisionRegionDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        xx0: Any,
        xx1: Any,
        response: Any,
        class_names: Any,
        X: Any = None,
        codes: Any = None,
        predicted: Any = None,
        feature_names: Any = ("first feature", "second feature"),
    ) -> None:
        self.xx0, self.xx1 = to_numpy(xx0), to_numpy(xx1)
        self.response = to_numpy(response)
        self.class_names = to_numpy(class_names)
        self.X = None if X is None else to_numpy(X)
        self.codes = None if codes is None else to_numpy(codes)
        self.predicted = None if predicted is None else to_numpy(predicted)
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        grid_resolution: int = 200,
        margin: float = 0.08,
        ax: Any = None,
        legend: bool = True,
    ) -> "DecisionRegionDisplay":
        """Draw the regions of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of two features
            A fitted one.
        X : array-like or DataFrame of shape (n_rows, 2)
            Points to draw; the picture is as large as they need.
        y : array-like of shape (n_rows,)
            Their classes.
        grid_resolution : int, default=200
            Points along each axis at which the classifier is asked.
        margin : float, default=0.08
            How far the picture reaches beyond the points, as a share of their range.
        ax : matplotlib Axes or None, default=None
            Where to draw; new ones are made where it is None.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        DecisionRegionDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "classes_"):
            raise ValueError(
                f"{type(estimator).__name__} is not a classifier: it has no classes_, and so no "
                "regions to draw."
            )
        points, names = _two_columns(X)
        check_resolution(grid_resolution)
        if not (np.isfinite(margin) and margin >= 0):
            raise ValueError(f"margin must not be negative, got {margin!r}.")
        classes = to_numpy(estimator.classes_)
        codes = _encode(y, classes, points.shape[0])
        sides = [_side(column, margin, grid_resolution) for column in points.T]
        xx0, xx1 = np.meshgrid(*sides)
        grid = np.column_stack([xx0.ravel(), xx1.ravel()])
        response = _encode(estimator.predict(like_rows(X, grid)), classes, grid.shape[0])
        predicted = _encode(estimator.predict(X), classes, points.shape[0])
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=response.reshape(xx0.shape),
            class_names=classes,
            X=points,
            codes=codes,
            predicted=predicted,
            feature_names=names,
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, *, ax: Any = None, legend: bool = True) -> "DecisionRegionDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        self
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes("DecisionRegionDisplay", ax)
        from matplotlib.colors import ListedColormap

        n_classes = self.class_names.size
        self.regions_ = ax.pcolormesh(
            self.xx0, self.xx1, self.response, shading="nearest", alpha=0.25, linewidth=0,
            cmap=ListedColormap([class_colour(c) for c in range(n_classes)]),
            vmin=-0.5, vmax=n_classes - 0.5, rasterized=True, zorder=0,
        )  # fmt: skip
        present = np.unique(self.response)
        # One contour for each class: those of the codes themselves would run between 0 and 2
        # along a strip of class 1 that is not there.
        self.boundaries_ = [
            ax.contour(
                self.xx0, self.xx1, (self.response == c).astype(float), levels=[0.5],
                colors=INK, linewidths=0.8, zorder=0.5,
            )
            for c in present[: present.size - 1]
        ]  # fmt: skip
        self.points_, self.errors_ = [], None
        handles, names = [], list(self.class_names)
        if self.X is not None and self.codes is not None:
            self.points_ = scatter_classes(ax, self.X, self.codes, n_classes)
            handles = list(self.points_)
            if self.predicted is not None:
                wrong = self.X[self.predicted != self.codes]
                self.errors_ = ax.scatter(
                    wrong[:, 0], wrong[:, 1], s=80, marker="o", facecolors="none",
                    edgecolors=INK, linewidths=1.2,
                )  # fmt: skip
                if wrong.shape[0]:
                    handles.append(self.errors_)
                    names.append("misclassified")
        else:
            from matplotlib.patches import Patch

            handles = [Patch(color=class_colour(c), alpha=0.25) for c in range(n_classes)]
        ax.set_xlim(self.xx0.min(), self.xx0.max())
        ax.set_ylim(self.xx1.min(), self.xx1.max())
        for label, name in zip((ax.xaxis.label, ax.yaxis.label), self.feature_names, strict=True):
            write(label, name)
        self.ax_, self.figure_ = ax, ax.figure
        self.legend_ = legend_beside(ax, handles, names) if legend else None
        return self


def _two_columns(X: Any) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return the points and the names of their features, if there are two."""
    points = to_numpy(X)
    n_features = points.shape[1] if points.ndim == 2 else None
    if n_features != 2:
        found = f"{n_features} columns" if n_features is not None else f"shape {points.shape}"
        raise ValueError(
            f"DecisionRegionDisplay draws classifiers of two features, got X of {found}; fit one "
            "to two columns, or to two coordinates of a projection."
        )
    if points.shape[0] == 0:
        raise ValueError("X has no rows: there is nothing to draw.")
    names = [str(name) for name in getattr(X, "columns", ("first feature", "second feature"))]
    return points.astype(np.float64), (names[0], names[1])


def _side(column: NDArray[np.float64], margin: float, size: int) -> NDArray[np.float64]:
    """Return the grid along one axis; a constant column gets a width of its own."""
    low, high = float(column.min()), float(column.max())
    if not np.isfinite(low + high):
        raise ValueError("X has NaN or infinity: points need finite coordinates.")
    extent = high - low if high > low else max(abs(low), 1.0)
    room = max(margin * extent, 1e-9 * extent) if high > low else extent / 2
    return np.linspace(low - room, high + room, size)


def _encode(labels: Any, classes: NDArray[Any], n_rows: int) -> NDArray[np.int64]:
    """Return labels as indices into the classes."""
    labels = to_numpy(labels)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must have one label for each of the {n_rows} rows of X.")
    unknown = sorted({str(label) for label in labels[~np.isin(labels, classes)]})
    if unknown:
        raise ValueError(f"y has labels that the classifier does not know: {', '.join(unknown)}.")
    codes: NDArray[np.int64] = np.searchsorted(classes, labels)
    return codes

"""Maps: rows in the first two coordinates of a projection."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._style import INK, axes, legend_beside, scatter_classes


class EmbeddingDisplay:
    """Rows in two coordinates of a projection, in the colours of their classes.

    Rows without a label (−1) are drawn in grey, below the others.

    Parameters
    ----------
    embedding : array-like of shape (n_rows, n_components)
        Coordinates of the rows.
    y : array-like of shape (n_rows,)
        Classes; the number −1 marks a row without a label, drawn small and grey.
    components : tuple of int, default=(0, 1)
        Which coordinates are drawn; a projection of one coordinate is drawn in rows by class.
    class_names : array-like or None, default=None
        Names of the classes in the order of the sorted values of `y`; None takes these values.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    points_ : list of matplotlib PathCollection
        One for each class.
    unlabelled_ : matplotlib PathCollection or None
        Rows without a label, where there are any.
    legend_ : matplotlib Legend or None
        None where none was asked for.

    See Also
    --------
    mercer.LaplacianSupportVectorAnalysis : Has maps.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.plots import EmbeddingDisplay
    >>> from mercer.projections import LocalityPreservingProjection
    >>> X, y = load_iris(return_X_y=True)
    >>> lpp = LocalityPreservingProjection(n_components=2).fit(X)
    >>> EmbeddingDisplay.from_estimator(lpp, X, y).points_  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        embedding: Any,
        y: Any,
        components: tuple[int, int] = (0, 1),
        class_names: Any = None,
    ) -> None:
        self.embedding = to_numpy(embedding)
        self.y = to_numpy(y)
        self.components = components
        self.class_names = class_names
        if self.embedding.ndim != 2 or len(self.embedding) != len(self.y):
            raise ValueError(
                f"embedding must have a row for each of the {len(self.y)} classes in y, got an "
                f"array of shape {self.embedding.shape}."
            )
        width = self.embedding.shape[1]
        if width > 1 and not all(0 <= c < width for c in components):
            raise ValueError(f"components must be below {width}, got {components!r}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        components: tuple[int, int] = (0, 1),
        class_names: Any = None,
        ax: Any = None,
        legend: bool = True,
    ) -> "EmbeddingDisplay":
        """Project rows by a fitted transformer and draw them.

        Parameters
        ----------
        estimator : fitted transformer, or pipeline
            Without a transform of its own (a pipeline that ends in a classifier), its steps but
            the last.
        X : array-like of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their classes.
        components : tuple of int, default=(0, 1)
            Which two coordinates are drawn.
        class_names : array-like or None, default=None
            Names of the classes, in the order of the sorted labels.
        ax : matplotlib Axes or None, default=None
            Where to draw; new ones are made where it is None.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        EmbeddingDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "transform"):
            if not hasattr(estimator, "steps"):
                raise ValueError(f"{type(estimator).__name__} has no transform to draw.")
            estimator = estimator[:-1]
        display = cls(
            embedding=estimator.transform(X), y=y, components=components, class_names=class_names
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, *, ax: Any = None, legend: bool = True) -> "EmbeddingDisplay":
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
        ax = axes("EmbeddingDisplay", ax)
        known = np.array([not (isinstance(v, (int, float, np.number)) and v == -1) for v in self.y])
        classes, codes = np.unique(self.y[known], return_inverse=True)
        names = classes if self.class_names is None else to_numpy(self.class_names)
        if self.embedding.shape[1] == 1:
            points = np.column_stack([self.embedding[:, 0], np.zeros(len(self.y))])
            points[known, 1] = codes
            points[~known, 1] = -1
            ax.set(xlabel="coordinate 1", yticks=[])
        else:
            points = self.embedding[:, list(self.components)]
            first, second = (c + 1 for c in self.components)
            ax.set(xlabel=f"coordinate {first}", ylabel=f"coordinate {second}")
        self.unlabelled_ = None
        if not known.all():
            self.unlabelled_ = ax.scatter(
                points[~known, 0], points[~known, 1], s=5, color=INK, alpha=0.25, linewidths=0
            )
        self.points_ = scatter_classes(ax, points[known], codes, len(classes))
        self.ax_, self.figure_, self.legend_ = ax, ax.figure, None
        if legend:
            handles, labels = list(self.points_), list(names)
            if self.unlabelled_ is not None:
                handles, labels = [*handles, self.unlabelled_], [*labels, "no label"]
            self.legend_ = legend_beside(ax, handles, labels)
        return self

"""The weights of training rows, and the rows that carry most."""

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._style import INK, axes, last_step, legend_beside, scatter_classes


class SignificanceDisplay:
    """Weights of the training rows, with the significance vectors marked.

    The Laplacian classifier weighs each row by the inverse root of the density there.  Drawn
    by row this is Fig. 2(b) of [1]_, drawn in the plane of two features Fig. 2(c); the rows of the
    largest weights, its "significance vectors", are marked in both.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
        Weights of the rows.
    codes : array-like of int of shape (n_rows,)
        Class of each row, as an index into `class_names`.
    class_names : array-like of shape (n_classes,)
        Names of the classes.
    X : array-like of shape (n_rows, n_features) or None, default=None
        The rows, for pictures in the plane.
    rows : array-like of int of shape (n_rows,) or None, default=None
        Numbers of the rows in the training table; None counts them.
    share : float, default=0.01
        What share of the rows is marked, at least one.

    Attributes
    ----------
    significant_ : ndarray of int
        Positions of the marked rows, the largest weight first.
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    points_ : list of matplotlib PathCollection
        One for each class.
    marks_ : matplotlib PathCollection
        Marks of the significant rows.
    threshold_ : matplotlib Line2D or None
        The smallest marked weight, where weights are drawn by row.
    legend_ : matplotlib Legend
        The legend.

    See Also
    --------
    mercer.LaplacianClassifier : Has such weights.

    References
    ----------
    .. [1] R. Jenssen, D. Erdogmus, J. C. Principe and T. Eltoft, "The Laplacian classifier",
       IEEE Transactions on Signal Processing 55(7), 3262–3271, 2007.
       https://doi.org/10.1109/TSP.2007.894391

    Examples
    --------
    >>> from mercer import LaplacianClassifier
    >>> from mercer.plots import SignificanceDisplay
    >>> model = LaplacianClassifier(bandwidth=1.0)
    >>> model = model.fit([[0, 0], [1, 0], [0, 1], [5, 5]], ["a", "a", "b", "b"])
    >>> display = SignificanceDisplay.from_estimator(model)  # doctest: +SKIP
    >>> display.significant_  # doctest: +SKIP
    array([3])
    """

    def __init__(
        self,
        *,
        weights: Any,
        codes: Any,
        class_names: Any,
        X: Any = None,
        rows: Any = None,
        share: float = 0.01,
    ) -> None:
        self.weights = to_numpy(weights)
        self.codes = to_numpy(codes)
        self.class_names = to_numpy(class_names)
        self.X = None if X is None else to_numpy(X)
        self.rows = np.arange(self.weights.size) if rows is None else to_numpy(rows)
        self.share = share
        for name in ("codes", "rows", "X"):
            values = getattr(self, name)
            if values is not None and len(values) != self.weights.size:
                raise ValueError(
                    f"{name} has {len(values)} rows, but there are {self.weights.size} weights."
                )
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, got {share!r}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        share: float = 0.01,
        kind: str = "auto",
        ax: Any = None,
        legend: bool = True,
    ) -> "SignificanceDisplay":
        """Draw the weights of a fitted classifier.

        Parameters
        ----------
        estimator : fitted LaplacianClassifier, or pipeline that ends in one
            Where its expansion was pruned (``n_nodes``), the rows that are left.
        share : float, default=0.01
            What share of the rows is marked, at least one.
        kind : {"auto", "rows", "scatter"}, default="auto"
            As for `plot`.
        ax : matplotlib Axes or None, default=None
            Where to draw; new ones are made where it is None.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        SignificanceDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        model = last_step(estimator)
        wanted = ("weights_", "X_fit_", "node_classes_", "support_", "classes_")
        if not all(hasattr(model, name) for name in wanted):
            raise ValueError(
                f"{type(model).__name__} has no weights of its rows (weights_); "
                "SignificanceDisplay draws those of a LaplacianClassifier."
            )
        rows = to_numpy(model.support_)
        display = cls(
            weights=to_numpy(model.weights_)[rows],
            codes=model.node_classes_,
            class_names=model.classes_,
            X=model.X_fit_,
            rows=rows,
            share=share,
        )
        return display.plot(kind=kind, ax=ax, legend=legend)

    @property
    def significant_(self) -> NDArray[np.int64]:
        """Positions of the marked rows, the largest weight first."""
        order: NDArray[np.int64] = np.argsort(-self.weights, kind="stable")
        return order[: ceil(self.share * self.weights.size)]

    def plot(
        self, *, kind: str = "auto", ax: Any = None, legend: bool = True
    ) -> "SignificanceDisplay":
        """Draw.

        Parameters
        ----------
        kind : {"auto", "rows", "scatter"}, default="auto"
            Weight against number of the row, or the rows in the plane of their two features;
            "auto" takes the second where there are two.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        self
            Itself, with ``ax_`` and ``figure_``.
        """
        if kind not in ("auto", "rows", "scatter"):
            raise ValueError(f"kind must be 'auto', 'rows' or 'scatter', got {kind!r}.")
        in_plane = self.X is not None and self.X.ndim == 2 and self.X.shape[1] == 2
        if kind == "scatter" and not in_plane:
            found = "none" if self.X is None else f"{self.X.shape[-1]}"
            raise ValueError(f"kind='scatter' needs rows of two features, got {found}.")
        by_row = kind == "rows" or not in_plane
        ax = axes("SignificanceDisplay", ax)
        points = np.column_stack([self.rows, self.weights]) if by_row else self.X
        assert points is not None  # noqa: S101
        self.points_ = scatter_classes(ax, points, self.codes, self.class_names.size)
        top = self.significant_
        self.marks_ = ax.scatter(
            points[top, 0], points[top, 1], s=90, marker="o", facecolors="none", edgecolors=INK,
            linewidths=1.2,
        )  # fmt: skip
        self.threshold_ = None
        if by_row:
            self.threshold_ = ax.axhline(
                self.weights[top[-1]], color=INK, linestyle=":", linewidth=1, zorder=0
            )
            ax.set(xlabel="training row", ylabel="weight, 1 / √density (relative)")
            ax.set_ylim(bottom=0)
        else:
            ax.set(xlabel="first feature", ylabel="second feature")
        self.ax_, self.figure_, self.legend_ = ax, ax.figure, None
        if legend:
            label = f"{top.size} largest weight{'s' if top.size > 1 else ''}"
            self.legend_ = legend_beside(
                ax, [*self.points_, self.marks_], [*self.class_names, label]
            )
        return self

"""The density of one column as a curve, of two as contours that hold shares of its mass."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._grid import check_resolution, like_rows
from mercer.plots._style import INK, axes, class_colour, last_step, legend_beside, write

_ROOM = 3.0  # A picture reaches so many widths of a window beyond the rows,
_MARGIN = 0.15  # and this share of their range where no width is known.
_MOST_POINTS = 5000  # of a rug or a scatter; more are drawn as a part of them


class DensityDisplay:
    """The density of one column as a curve, of two as contours, with the rows.

    A contour holds a share of the mass: inside that of 50 % lies half of what the density says,
    on the smallest area for which this is so.  `from_estimator` asks an estimator for its
    log density at every point of a grid, and `plot` draws the answers.

    Parameters
    ----------
    grid : sequence of one or two array-like of shape (g,) or (h,)
        Coordinates along each axis, in ascending order and evenly spaced.
    log_density : array-like of shape (g,) or (h, g)
        Log density there; of two columns the first runs along the last axis, as
        :func:`numpy.meshgrid` has it.
    X : array-like of shape (n_rows, 1) or (n_rows, 2), default=None
        Rows to draw.
    shares : sequence of float, default=(0.5, 0.9, 0.99)
        Which shares of the mass the contours hold.
    feature_names : sequence of str, default=("first feature", "second feature")
        Names of the columns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    line_ : matplotlib Line2D or None
        The curve of one column.
    contours_ : matplotlib QuadContourSet or None
        The contours of two columns.
    held_ : list of float
        Shares whose contours were drawn, in the order of ``contours_.levels``: the largest first.
    points_ : matplotlib Collection or None
        The rows: a rug below the curve, or points; a random 5 000 of more.
    legend_ : matplotlib Legend or None
        None where none was asked for, or there are no contours.

    See Also
    --------
    mercer.density.KernelDensity : Has densities.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.density import KernelDensity
    >>> from mercer.plots import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = KernelDensity().fit(X)
    >>> DensityDisplay.from_estimator(model, X).contours_  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        grid: Any,
        log_density: Any,
        X: Any = None,
        shares: Sequence[float] = (0.5, 0.9, 0.99),
        feature_names: Any = ("first feature", "second feature"),
    ) -> None:
        self.grid = [to_numpy(axis) for axis in grid]
        self.log_density = to_numpy(log_density)
        self.X = None if X is None else to_numpy(X)
        self.shares = shares
        self.feature_names = feature_names
        sizes = tuple(axis.size for axis in reversed(self.grid))
        if len(sizes) not in (1, 2) or self.log_density.shape != sizes:
            raise ValueError(
                "log_density must have a number for each point of a grid of one or two axes: "
                f"shape {sizes} is needed, got {self.log_density.shape}."
            )
        if np.isnan(self.log_density).any() or np.isposinf(self.log_density).any():
            raise ValueError("log_density has NaN or infinity: there is no density to draw.")
        if not (len(shares) and all(0 < share < 1 for share in shares)):
            raise ValueError(f"shares must be numbers between 0 and 1, got {shares!r}.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        shares: Sequence[float] = (0.5, 0.9, 0.99),
        grid_resolution: int = 200,
        limits: Any = None,
        ax: Any = None,
        legend: bool = True,
    ) -> "DensityDisplay":
        """Draw the density of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``score_samples``
            Such as :class:`mercer.density.KernelDensity`, scikit-learn's, a mixture of Gaussians,
            or a pipeline that ends in one.
        X : array-like or DataFrame of shape (n_rows, 1) or (n_rows, 2)
            Rows to draw; the picture is as large as they and the windows about them need.
        shares : sequence of float, default=(0.5, 0.9, 0.99)
            Which shares of the mass the contours hold.
        grid_resolution : int, default=200
            Points along each axis at which the estimator is asked.
        limits : sequence of pairs (low, high) or None, default=None
            What to draw of each column; None draws all rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; new ones are made where it is None.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        DensityDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "score_samples"):
            raise ValueError(f"{type(estimator).__name__} has no score_samples to draw.")
        rows = _check_rows(X)
        check_resolution(grid_resolution)
        ends = _ends(estimator, rows) if limits is None else _check_limits(limits, rows.shape[1])
        sides = [np.linspace(low, high, grid_resolution) for low, high in ends]
        mesh = np.meshgrid(*sides)
        points = np.column_stack([axis.ravel() for axis in mesh])
        found = to_numpy(estimator.score_samples(like_rows(X, points)))
        default = ("first feature", "second feature")[: rows.shape[1]]
        display = cls(
            grid=sides,
            log_density=np.asarray(found, dtype=np.float64).reshape(mesh[0].shape),
            X=rows,
            shares=shares,
            feature_names=[str(name) for name in getattr(X, "columns", default)],
        )
        return display.plot(ax=ax, legend=legend)

    def plot(self, *, ax: Any = None, legend: bool = True) -> "DensityDisplay":
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
        ax = axes("DensityDisplay", ax)
        self.line_ = self.contours_ = self.points_ = self.legend_ = None
        self.held_: list[float] = []
        some = None if self.X is None else _some_rows(self.X)
        if len(self.grid) == 1:
            self._plot_curve(ax, some)
        else:
            self._plot_contours(ax, some, legend)
        labels = (ax.xaxis.label, ax.yaxis.label)[: len(self.grid)]
        for label, name in zip(labels, self.feature_names, strict=False):
            write(label, name)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _plot_curve(self, ax: Any, some: NDArray[Any] | None) -> None:
        (x,), density = self.grid, np.exp(self.log_density)
        (self.line_,) = ax.plot(x, density, color=class_colour(0), linewidth=1.8)
        ax.fill_between(x, density, color=class_colour(0), alpha=0.15, linewidth=0)
        if some is not None:
            # The rug stands below the axis: marks in it would hide a small density.
            transform = ax.get_xaxis_transform()
            self.points_ = ax.vlines(
                some[:, 0], -0.035, -0.01, transform=transform, color=INK, linewidth=0.6,
                alpha=_opacity(len(some)), clip_on=False,
            )  # fmt: skip
            ax.tick_params(axis="x", pad=14, length=0)
        ax.set(xlim=(x[0], x[-1]), ylabel="density")
        ax.set_ylim(bottom=0)

    def _plot_contours(self, ax: Any, some: NDArray[Any] | None, legend: bool) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.lines import Line2D

        top = self.log_density.max()
        relative = np.exp(self.log_density - (top if np.isfinite(top) else 0.0))
        thresholds = mass_thresholds(relative, self.shares)
        levels: dict[float, float] = {}  # two shares with one threshold: the smaller says it
        for share in sorted(self.shares, reverse=True):
            levels[thresholds[share]] = share
        xs, ys = self.grid
        if some is not None:
            self.points_ = ax.scatter(
                some[:, 0], some[:, 1], s=6, color=INK, linewidths=0, alpha=_opacity(len(some)),
                zorder=1,
            )  # fmt: skip
            marks: dict[str, Any] = {
                "color": INK, "linewidth": 0.5, "alpha": _opacity(len(some)), "clip_on": False
            }  # fmt: skip
            beside_x, beside_y = ax.get_xaxis_transform(), ax.get_yaxis_transform()
            ax.vlines(some[:, 0], -0.03, -0.01, transform=beside_x, **marks)
            ax.hlines(some[:, 1], -0.03, -0.01, transform=beside_y, **marks)
            ax.tick_params(pad=12, length=0)
        drawn = {t: levels[t] for t in sorted(levels) if 0 < t < relative.max()}
        if drawn:
            self.held_ = list(drawn.values())
            widths = np.linspace(1.0, 2.2, len(drawn))
            shades = [to_rgba(class_colour(0), 0.1 * (k + 1)) for k in range(len(drawn))]
            ax.contourf(xs, ys, relative, levels=[*drawn, relative.max()], colors=shades, zorder=0)
            self.contours_ = ax.contour(
                xs, ys, relative, levels=list(drawn), colors=[class_colour(0)], linewidths=widths,
                zorder=2,
            )  # fmt: skip
            if legend:
                handles = [Line2D([], [], color=class_colour(0), linewidth=w) for w in widths]
                names = [f"holds {100 * share:g} %" for share in self.held_]
                self.legend_ = legend_beside(ax, handles[::-1], names[::-1])
        ax.set(xlim=(xs[0], xs[-1]), ylim=(ys[0], ys[-1]))


def mass_thresholds(density: NDArray[np.float64], shares: Sequence[float]) -> dict[float, float]:
    """Return for each share the largest value that so much of a grid's mass reaches or exceeds.

    Where density is above the value lies the smallest area with that share: {f ≥ t} is the
    highest density region of R. J. Hyndman (1996), here of the mass in the picture.
    """
    values = np.sort(density, axis=None)[::-1]
    held = np.cumsum(values)
    if not held[-1] > 0:
        return dict.fromkeys(shares, 0.0)
    places = np.searchsorted(held / held[-1], shares)
    return {share: float(values[place]) for share, place in zip(shares, places, strict=True)}


def _check_rows(X: Any) -> NDArray[np.float64]:
    rows = to_numpy(X)
    if rows.ndim != 2 or rows.shape[1] not in (1, 2):
        found = f"{rows.shape[1]} columns" if rows.ndim == 2 else f"shape {rows.shape}"
        raise ValueError(
            f"DensityDisplay draws densities of one or two columns, got X of {found}; fit one to "
            "two columns, or to two coordinates of a projection."
        )
    if not rows.shape[0]:
        raise ValueError("X has no rows: there is nothing to draw.")
    rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("X has NaN or infinity: points need finite coordinates.")
    return rows


def _check_limits(limits: Any, n_columns: int) -> NDArray[np.float64]:
    ends = np.asarray(limits, dtype=np.float64)
    if ends.shape != (n_columns, 2) or not (np.isfinite(ends).all() and (np.diff(ends) > 0).all()):
        raise ValueError(
            f"limits must have a pair (low, high) for each of the {n_columns} columns of X, got "
            f"{limits!r}."
        )
    return ends


def _ends(estimator: Any, rows: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Return what to draw of each column: all rows, room for their windows, no more than bounds."""
    last, n_columns = last_step(estimator), rows.shape[1]
    widths = getattr(last, "widths_", getattr(last, "bandwidth_", None))
    # A pipeline's widths are those of scaled columns.
    known = widths is not None and last is estimator and np.ndim(widths) < 2
    room = np.full(n_columns, np.nan)
    if known:
        room[:] = _ROOM * np.asarray(to_numpy(widths), dtype=np.float64)
    bounds = getattr(estimator, "bounds_", None)
    found = []
    for k, column in enumerate(rows.T):
        low, high = float(column.min()), float(column.max())
        extent = high - low if high > low else max(abs(low), 1.0)
        beyond = float(room[k]) if np.isfinite(room[k]) else _MARGIN * extent
        low, high = low - beyond, high + beyond
        if bounds is not None:
            least, most = to_numpy(bounds)[k]
            low, high = max(low, float(least)), min(high, float(most))
        found.append((low, high))
    return found


def _some_rows(X: NDArray[Any]) -> NDArray[Any]:
    if len(X) <= _MOST_POINTS:
        return X
    kept: NDArray[Any] = X[np.random.default_rng(0).choice(len(X), _MOST_POINTS, replace=False)]
    return kept


def _opacity(n_rows: int) -> float:
    return 0.7 if n_rows <= 300 else 0.4 if n_rows <= 2000 else 0.25

"""The leave-one-out surface over width and ridge, and the point that was chosen."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._style import INK, axes, last_step

_QUANTITIES = {
    "score": "leave-one-out score",
    "squared_error": "leave-one-out squared error",
}


class LeaveOneOutSurfaceDisplay:
    """Leave-one-out score at every width and ridge, and what was chosen.

    A broad plateau says that neither matters much; a ridge that runs from one corner to another,
    that a wider kernel with a smaller ridge does what a narrower one with a larger ridge does.

    Parameters
    ----------
    gamma : array-like of shape (n_gammas,)
        Widths, ascending.
    alpha : array-like of shape (n_gammas, n_alphas)
        Ridges tried at each width, ascending.
    values : array-like of shape (n_gammas, n_alphas)
        What to draw.
    best_index : tuple of two int
        Row and column of the choice.
    label : str, default="leave-one-out score"
        Of the colours.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    surface_ : matplotlib QuadMesh
        The surface.
    chosen_ : matplotlib Line2D
        The chosen point.
    colorbar_ : matplotlib Colorbar
        Its scale.

    See Also
    --------
    mercer.KernelFisherDiscriminant : Chooses width and ridge on such a surface.
    mercer.SparseKernelFisherDiscriminant : Chooses them on one of its nodes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer.discriminants import KernelFisherDiscriminant
    >>> from mercer.plots import LeaveOneOutSurfaceDisplay
    >>> model = KernelFisherDiscriminant().fit(*load_iris(return_X_y=True))
    >>> display = LeaveOneOutSurfaceDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        gamma: Any,
        alpha: Any,
        values: Any,
        best_index: tuple[int, int],
        label: str = "leave-one-out score",
    ) -> None:
        self.gamma = to_numpy(gamma)
        self.alpha = to_numpy(alpha)
        self.values = to_numpy(values)
        self.best_index = best_index
        self.label = label

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, quantity: str = "score", ax: Any = None
    ) -> "LeaveOneOutSurfaceDisplay":
        """Draw the surface of a discriminant that was fitted with leave-one-out.

        Parameters
        ----------
        estimator : fitted discriminant with ``loo_results_``, or pipeline that ends in one
            A fitted one.
        quantity : {"score", "squared_error"}, default="score"
            What to draw.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LeaveOneOutSurfaceDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        if quantity not in _QUANTITIES:
            known = ", ".join(repr(name) for name in _QUANTITIES)
            raise ValueError(f"quantity must be among {known}; got {quantity!r}.")
        model = last_step(estimator)
        results = getattr(model, "loo_results_", None)
        if results is None or quantity not in results:
            raise ValueError(
                f"This {type(model).__name__} has no leave-one-out surface (loo_results_): fit it "
                "with gamma='loo'."
            )
        display = cls(
            gamma=results["gamma"],
            alpha=results["alpha"],
            values=results[quantity],
            best_index=results["best_index"],
            label=_QUANTITIES[quantity],
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "LeaveOneOutSurfaceDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        self
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes("LeaveOneOutSurfaceDisplay", ax)
        gamma = self.gamma[:, None].repeat(self.alpha.shape[1], axis=1)
        self.surface_ = ax.pcolormesh(
            gamma, self.alpha, self.values, shading="nearest", cmap="cividis"
        )
        row, column = self.best_index
        (self.chosen_,) = ax.plot(
            [self.gamma[row]], [self.alpha[row, column]], linestyle="none", marker="o",
            markersize=11, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.6,
        )  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("gamma")
        ax.set_ylabel("alpha")
        ax.set_title(
            f"chosen: gamma = {self.gamma[row]:.3g}, alpha = {self.alpha[row, column]:.3g}"
        )
        self.colorbar_ = ax.figure.colorbar(self.surface_, ax=ax, label=self.label)
        self.ax_, self.figure_ = ax, ax.figure
        return self

"""What leave-one-out saw on the way to its bandwidth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._arrays import to_numpy
from mercer.plots._style import INK, axes, class_colour, last_step, legend_beside

_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "log_loss": "log-loss",
    "balanced_log_loss": "balanced log-loss",
}
_LINES = ("-", "--", "-.", ":")


class LeaveOneOutPathDisplay:
    """Leave-one-out scores against the bandwidth, and what was chosen.

    A flat top says that the bandwidth hardly matters; a choice at either end of the ladder,
    that the data want a wider or narrower one, or that this classifier does not suit them.

    Parameters
    ----------
    results : mapping of str to array-like
        A table by columns: ``bandwidth``, scores, and ``rule`` where there are several rules.
    bandwidth : float
        The one that was chosen.
    rule : str or None, default=None
        The rule that was chosen; None where there is one.
    scoring : str, default="accuracy"
        The score that was maximised.
    silverman : float or None, default=None
        Silverman's bandwidth.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of (rule, score) to matplotlib Line2D
        The curves.
    chosen_ : matplotlib Line2D
        The chosen point.
    silverman_ : matplotlib Line2D or None
        Mark of Silverman's width, where that is known.
    legend_ : matplotlib Legend or None
        None where none was asked for.

    See Also
    --------
    mercer.LaplacianClassifier : Chooses its width, and perhaps its rule, so.
    mercer.ParzenClassifier : Chooses its width so.
    mercer.ISEClassifier : Chooses its width so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import LaplacianClassifier
    >>> from mercer.plots import LeaveOneOutPathDisplay
    >>> model = LaplacianClassifier(rule="auto").fit(*load_iris(return_X_y=True))
    >>> display = LeaveOneOutPathDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        results: Any,
        bandwidth: float,
        rule: str | None = None,
        scoring: str = "accuracy",
        silverman: float | None = None,
    ) -> None:
        self.results = {name: to_numpy(values) for name, values in dict(results).items()}
        self.bandwidth = bandwidth
        self.rule = rule
        self.scoring = scoring
        self.silverman = silverman

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        scores: Sequence[str] = ("accuracy", "balanced_accuracy"),
        ax: Any = None,
        legend: bool = True,
    ) -> "LeaveOneOutPathDisplay":
        """Draw the path of a classifier that was fitted with leave-one-out.

        Parameters
        ----------
        estimator : fitted classifier with ``loo_results_``, or pipeline that ends in one
            A fitted one.
        scores : sequence of str, default=("accuracy", "balanced_accuracy")
            Columns of ``loo_results_`` to draw, as for `plot`.
        ax : matplotlib Axes or None, default=None
            Where to draw; new ones are made where it is None.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        LeaveOneOutPathDisplay
            Drawn.
        """
        check_is_fitted(estimator)
        model = last_step(estimator)
        if not hasattr(model, "loo_results_"):
            raise ValueError(
                f"This {type(model).__name__} has no leave-one-out results (loo_results_): "
                "fit it with bandwidth='loo'."
            )
        widths = np.unique(model.loo_results_["bandwidth"])
        display = cls(
            results=model.loo_results_,
            bandwidth=float(model.bandwidth_),
            rule=getattr(model, "rule_", None),
            scoring=model.scoring,
            # The ladder is built around it: as many steps down as up, all of one factor.
            silverman=float(np.sqrt(widths[0] * widths[-1])) if widths.size > 1 else None,
        )
        return display.plot(scores=scores, ax=ax, legend=legend)

    def plot(
        self,
        *,
        scores: Sequence[str] = ("accuracy", "balanced_accuracy"),
        ax: Any = None,
        legend: bool = True,
    ) -> "LeaveOneOutPathDisplay":
        """Draw.

        Parameters
        ----------
        scores : sequence of str, default=("accuracy", "balanced_accuracy")
            Columns of the results; all accuracies or all losses, as they share an axis.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        self
            Itself, with ``ax_`` and ``figure_``.
        """
        scores = [scores] if isinstance(scores, str) else list(scores)
        for score in scores:
            if score not in self.results or score not in _SCORES:
                known = ", ".join(repr(name) for name in self.results if name in _SCORES)
                raise ValueError(f"scores must be among {known}; got {score!r}.")
        if len({"loss" in score for score in scores}) != 1:
            raise ValueError("scores must be all accuracies or all losses: they share an axis.")
        ax = axes("LeaveOneOutPathDisplay", ax)
        widths = self.results["bandwidth"]
        of_row = self.results.get("rule", np.full(widths.shape, ""))
        rules = list(dict.fromkeys(of_row.tolist()))  # in the order of the table
        self.lines_, names = {}, []
        for r, rule in enumerate(rules):
            for s, score in enumerate(scores):
                shown = of_row == rule
                (line,) = ax.plot(
                    widths[shown], self.results[score][shown], color=class_colour(r),
                    linestyle=_LINES[s], marker="o", markersize=3.5, linewidth=1.4,
                )  # fmt: skip
                self.lines_[rule or None, score] = line
                names.append(f"{rule}: {_SCORES[score]}" if rule else _SCORES[score])
        handles = [*self.lines_.values()]
        self._mark(ax, scores[0], of_row, handles, names)
        ax.set_xscale("log")
        ax.set_xlabel("bandwidth h")
        is_loss = "loss" in scores[0]
        ax.set_ylabel("leave-one-out " + ("loss" if is_loss else "score"))
        ax.grid(visible=True, alpha=0.25)
        self.ax_, self.figure_ = ax, ax.figure
        self.legend_ = legend_beside(ax, handles, names) if legend else None
        return self

    def _mark(self, ax: Any, first: str, of_row: Any, handles: list[Any], names: list[str]) -> None:
        """Mark the chosen point, on the line of the score that chose it if that is drawn."""
        self.silverman_ = None
        if self.silverman is not None:
            self.silverman_ = ax.axvline(self.silverman, color=INK, linestyle=":", linewidth=1)
            handles.append(self.silverman_)
            names.append("Silverman's bandwidth")
        score = self.scoring if any(key[1] == self.scoring for key in self.lines_) else first
        widths = self.results["bandwidth"]
        fits = of_row == self.rule if "rule" in self.results else np.ones(widths.shape, dtype=bool)
        at = np.flatnonzero(fits & np.isclose(widths, self.bandwidth, rtol=1e-9, atol=0))
        if at.size == 0:
            raise ValueError(f"bandwidth={self.bandwidth:g} is not among those of the results.")
        (self.chosen_,) = ax.plot(
            [widths[at[0]]], [self.results[score][at[0]]], linestyle="none", marker="o",
            markersize=11, markerfacecolor="none", markeredgecolor=INK, markeredgewidth=1.6,
        )  # fmt: skip
        handles.append(self.chosen_)
        names.append(f"chosen: h = {self.bandwidth:.3g}")

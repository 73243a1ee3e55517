"""How classes look: colours and markers that stay apart, names as they are written, legends."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from numpy.typing import NDArray

from mercer._system.extras import how_to_install

# Ten colours that people with any colour vision tell apart (M. A. Petroff, 2021, arXiv:2107.02270).
# The two lightest come last; white edges and the markers help them on white.
COLOURS = (
    "#3f90da", "#bd1f01", "#ffa90e", "#832db6", "#717581",
    "#e76300", "#a96b59", "#94a4a2", "#b9ac70", "#92dadd",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
INK = "#222222"  # the colour of what belongs to no class
_LONGEST = 30  # characters of a name
_LEGEND_ROWS, _LEGEND_MOST = 20, 60


def pyplot(what: str) -> Any:
    """Import matplotlib; if it is missing, the error names the extra that installs it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: {how_to_install('plot')}.") from error
    return plt


def axes(what: str, ax: Any) -> Any:
    """Return the given axes, or those of a new figure that makes room for legends."""
    plt = pyplot(what)
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
    return ax


def class_colour(index: int) -> str:
    """Return the colour of a class; after ten they begin again, with other markers."""
    return COLOURS[index % len(COLOURS)]


def class_marker(index: int) -> str:
    """Return the marker of a class: as 10 and 11 share no factor, 110 classes look different."""
    return MARKERS[index % len(MARKERS)]


def scatter_classes(ax: Any, X: NDArray[Any], codes: NDArray[Any], n_classes: int) -> list[Any]:
    """Draw points in the colours and markers of their classes; return one artist per class."""
    style = {"s": 22, "linewidths": 0.4, "edgecolors": "white"}
    return [
        ax.scatter(
            X[codes == c, 0], X[codes == c, 1], c=class_colour(c), marker=class_marker(c), **style
        )
        for c in range(n_classes)
    ]


def write(text: Any, words: object) -> None:
    """Set a text as it is written: no mathematics in dollars, and not too long."""
    line = " ".join(str(words).split())
    text.set_text(line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
    text.set_parse_math(False)


def legend_beside(ax: Any, handles: Sequence[Any], names: Sequence[object]) -> Any:
    """Put a legend right of the axes, where it covers no data; too many entries are left out."""
    shown = list(zip(handles, names, strict=True))
    left_out = max(0, len(shown) - _LEGEND_MOST)
    shown = shown[: len(shown) - left_out]
    # Names are set afterwards: older matplotlib skips labels that begin with an underscore.
    legend = ax.legend(
        [handle for handle, _ in shown],
        ["."] * len(shown),
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        frameon=False,
        ncols=max(1, ceil(len(shown) / _LEGEND_ROWS)),
    )
    for text, (_, name) in zip(legend.get_texts(), shown, strict=True):
        write(text, name)
    if left_out:
        legend.set_title(f"{len(shown)} of {len(shown) + left_out}")
    return legend


def last_step(estimator: Any) -> Any:
    """Return a pipeline's last step, or the estimator itself."""
    return estimator[-1] if hasattr(estimator, "steps") else estimator

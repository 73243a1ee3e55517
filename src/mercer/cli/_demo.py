"""``mercer demo``: what the engine does, on data that come with scikit-learn."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer.datasets import load_dataset
from mercer.sums import kernel_sum, log_kernel_sum

_COLOURS = ("dodger_blue2", "dark_orange")
_SHADES = (" ·∘○●", " ░▒▓█")  # of either class, from thin to dense
_BAR = 40


def demo() -> None:
    """Show kernel sums at work: a map of two classes, a width that chooses itself, the speed.

    Needs no data and no network.  The first run takes some ten seconds more, to compile.

    Example: [bold]mercer demo[/bold]
    """
    console = Console()
    with Console(stderr=True).status("Compiling the engine for this machine (once) …"):
        _warm_up()
    _draw_moons(console)
    _choose_width(console)
    _race(console)


def _draw_moons(console: Console) -> None:
    """Draw a map of two classes from one sum with two groups."""
    from sklearn.datasets import make_moons

    console.rule("[bold]Two classes, one kernel sum")
    X, y = make_moons(400, noise=0.15, random_state=0)
    across, down = np.linspace(-1.6, 2.6, 76), np.linspace(1.5, -1.0, 20)
    grid = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    sums = kernel_sum(grid, X, groups=y, bandwidth=0.2).reshape(20, 76, 2)
    density = sums.max(axis=2) / sums.max()
    for shares, strengths in zip(sums.argmax(axis=2), density, strict=True):
        line = Text("  ")
        for share, strength in zip(shares, strengths, strict=True):
            shade = _SHADES[share][min(4, int(5 * strength**0.5))]
            line.append(shade, style=_COLOURS[share])
        console.print(line)
    console.print(
        "  Every cell adds up 400 windows, for both classes at once; the larger sum wins.\n"
    )


def _choose_width(console: Console) -> None:
    """Choose the width of Parzen windows by leave-one-out, for eight widths in one pass."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    console.rule("[bold]Handwritten digits, the width by leave-one-out")
    X, y = load_dataset("digits8x8", return_X_y=True)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    widths = 16.0 / np.sqrt(2) ** np.arange(8)

    def parzen() -> Any:
        left_out = log_kernel_sum(X[train], groups=y[train], exclude_self=True, bandwidth=widths)
        scores[:] = (left_out.argmax(axis=2) == y[train]).mean(axis=1)
        best = widths[scores.argmax()]
        return log_kernel_sum(X[test], X[train], groups=y[train], bandwidth=best).argmax(axis=1)

    scores = np.empty(len(widths))
    predicted, seconds = _timed(parzen)
    for width, score in zip(widths, scores, strict=True):
        mark = " ◀ chosen" if width == widths[scores.argmax()] else ""
        bar = "█" * round(_BAR * max(0.0, score - 0.8) / 0.2)
        console.print(f"  width {width:5.2f}  [green]{bar:<{_BAR}}[/green] {score:6.1%}{mark}")
    console.print("  Leave-one-out accuracy; one pass over all pairs gives the eight of them.\n")

    table = Table(box=None, header_style="bold", pad_edge=True)
    table.add_column("  on the other half of the digits")
    table.add_column("correct", justify="right")
    table.add_column("fit + predict", justify="right")
    rows = [("  Parzen windows, width by leave-one-out", predicted, seconds)]
    for name, model in (
        ("  scikit-learn SVC, defaults", SVC()),
        ("  scikit-learn 5 nearest neighbours", KNeighborsClassifier()),
    ):
        labels, spent = _timed(lambda m=model: m.fit(X[train], y[train]).predict(X[test]))  # type: ignore[misc]
        rows.append((name, labels, spent))
    for name, labels, spent in rows:
        table.add_row(name, f"{(labels == y[test]).mean():.1%}", f"{1000 * spent:.0f} ms")
    console.print(table)
    console.print()


def _race(console: Console) -> None:
    """Time one large sum against the usual way to write it."""
    from sklearn.metrics.pairwise import rbf_kernel

    console.rule("[bold]400 million pairs, and no kernel matrix")
    n, d = 20_000, 16
    X, Y = np.random.default_rng(0).normal(size=(2, n, d))
    ours, seconds = _timed(lambda: kernel_sum(X, Y, bandwidth=2.0))
    part = 2_000

    def usual() -> NDArray[Any]:
        steps = range(0, part, 500)
        parts = [rbf_kernel(X[i : i + 500], Y, gamma=0.125).sum(axis=1) for i in steps]
        return np.concatenate(parts)

    theirs, spent = _timed(usual)
    spent *= n / part
    agreement = np.abs(ours[:part] / theirs - 1).max()
    console.print(f"  mercer.sums.kernel_sum          {seconds:6.2f} s")
    console.print(
        f"  scikit-learn rbf_kernel, chunks {spent:6.2f} s  "
        f"[bold]{spent / seconds:.1f}× as long[/bold] (a tenth of the rows)"
    )
    console.print(
        f"  The two agree to {agreement:.0e}; the matrix, {8 * n * n / 1e9:.1f} GB, never existed."
    )
    far = np.full((1, d), 100.0)
    plain = kernel_sum(far, Y, bandwidth=2.0)[0]
    log = log_kernel_sum(far, Y, bandwidth=2.0)[0]
    console.print(
        f"  Far from all points the sum underflows to {plain:g}, its logarithm is {log:.3f}."
    )


def _warm_up() -> None:
    X = np.zeros((2, 1))
    kernel_sum(X, bandwidth=1.0)


def _timed(run: Callable[[], Any]) -> tuple[NDArray[Any], float]:
    start = time.perf_counter()
    result = run()
    return np.asarray(result), time.perf_counter() - start

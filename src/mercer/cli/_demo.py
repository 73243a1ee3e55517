"""``mercer demo``: what the library does, on data that come with scikit-learn."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mercer.datasets import load_dataset

_COLOURS = ("dodger_blue2", "dark_orange")
_SHADES = (" ·∘○●", " ░▒▓█")  # of the first and the second class, from thin to dense
_BAR_LENGTH = 40  # characters


def demo() -> None:
    """Show kernel sums at work: a map of two classes, classifiers that tune themselves, the speed.

    Needs no data and no network.  The first run takes some ten seconds more, to compile.

    Example: [bold]mercer demo[/bold]
    """
    console = Console()
    with Console(stderr=True).status("Compiling the engine for this machine (once) …"):
        _warm_up()
    _draw_moons(console)
    _classify(console)
    _race(console)


def _draw_moons(console: Console) -> None:
    """Draw a map of two classes from one sum with two groups."""
    from sklearn.datasets import make_moons

    from mercer.sums import kernel_sum

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


def _classify(console: Console) -> None:
    """Compare classifiers that tune themselves by leave-one-out with what people would pick."""
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    from mercer.classifiers import LaplacianClassifier, ParzenClassifier
    from mercer.discriminants import KernelFisherDiscriminant

    console.rule("[bold]Handwritten digits, nothing to tune")
    X, y = load_dataset("digits8x8", return_X_y=True)
    X = X.astype(float)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    laplacian = LaplacianClassifier()
    models = {
        "Mercer KernelFisherDiscriminant, self-tuned": KernelFisherDiscriminant(),
        "Mercer LaplacianClassifier, self-tuned": laplacian,
        "Mercer ParzenClassifier, self-tuned": ParzenClassifier(),
        "scikit-learn SVC, defaults": SVC(),
        "scikit-learn 5 nearest neighbours": KNeighborsClassifier(),
    }
    rows = []
    for name, model in models.items():
        labels, seconds = _timed(lambda m=model: m.fit(X[train], y[train]).predict(X[test]))  # type: ignore[misc]
        rows.append((name, f"{(labels == y[test]).mean():.1%}", f"{1000 * seconds:.0f} ms"))

    results = laplacian.loo_results_
    for width, score in zip(results["bandwidth"], results["accuracy"], strict=True):
        mark = " ◀ chosen" if width == laplacian.bandwidth_ else ""
        bar = "█" * round(_BAR_LENGTH * max(0.0, score - 0.5) / 0.5)
        console.print(
            f"  width {width:6.2f}  [green]{bar:<{_BAR_LENGTH}}[/green] {score:6.1%}{mark}"
        )
    console.print(
        "  Leave-one-out of the Laplacian classifier: each row is judged without it,\n"
        "  at 17 widths in a few passes over all pairs.\n"
    )
    table = Table(box=None, header_style="bold", pad_edge=True)
    table.add_column("  on the other half of the digits")
    table.add_column("correct", justify="right")
    table.add_column("tune + fit + predict", justify="right")
    for name, correct, spent in rows:
        table.add_row(f"  {name}", correct, spent)
    console.print(table)
    console.print()


def _race(console: Console) -> None:
    """Time one large sum against the usual way to write it."""
    from sklearn.metrics.pairwise import rbf_kernel

    from mercer.sums import kernel_sum, log_kernel_sum

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
    from mercer.classifiers import LaplacianClassifier
    from mercer.sums import kernel_sum

    X = np.zeros((4, 1))
    kernel_sum(X, bandwidth=1.0)
    LaplacianClassifier().fit(X, [0, 0, 1, 1])


def _timed(run: Callable[[], Any]) -> tuple[NDArray[Any], float]:
    start = time.perf_counter()
    result = run()
    return np.asarray(result), time.perf_counter() - start

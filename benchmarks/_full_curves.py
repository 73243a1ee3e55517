"""Accuracy against the seconds of a fit: a file of figures, and its picture.  For bench_full.py."""

import json
import os


def write_figures(path: str, figures, best: float) -> None:
    """Write (method, rows, seconds, per cent right) and the best share that is possible."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"best": 100 * best, "figures": figures}, file, indent=1)
    os.replace(path + ".part", path)


def draw_curves(path: str, out: str) -> None:
    """Draw a line for each method, from the fewest rows to the most."""
    import matplotlib.pyplot as plt

    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    curves: dict[str, list[tuple[int, float, float]]] = {}
    for method, *point in found["figures"]:
        curves.setdefault(method, []).append(tuple(point))
    plt.rcParams["svg.hashsalt"] = "mercer"  # The same figures give the same file.
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    beside = {"textcoords": "offset points", "ha": "center"}
    for method, points in curves.items():
        n_rows, seconds, right = zip(*sorted(points), strict=True)
        is_ours = method == "full"
        axes.plot(seconds, right, "o-", lw=2.5 if is_ours else 1.2, label=method)
        if is_ours:
            for n, x, y in zip(n_rows, seconds, right, strict=True):
                axes.annotate(f"{n:,} rows", (x, y), (0, 7), **beside)
    axes.axhline(found["best"], color="0.6", lw=1, ls="--")
    axes.text(0.01, found["best"], "the best that is possible", va="bottom", color="0.4",
              transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set(xscale="log", xlabel="seconds of a fit, choices included", ylabel="per cent right")
    axes.legend(frameon=False)
    figure.savefig(out, metadata={"Date": None})

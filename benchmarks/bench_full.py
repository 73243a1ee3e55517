"""All rows in the expansion of KernelFisherDiscriminant, without the kernel matrix: one command.

    MERCER_DATA=/path/to/data python benchmarks/bench_full.py sets [letter usps] [--no-svc]
    python benchmarks/bench_full.py equal [--rows 4000]
    python benchmarks/bench_full.py cores [--rows 20000]
    python benchmarks/bench_full.py torchkm --device cuda [--rows 10000 20000]
    python benchmarks/bench_full.py million --device cuda [--nodes 500 5000] [--only full LightGBM]
                                            [--json FILE]
    python benchmarks/bench_full.py picture FILE OUT.svg

``sets`` are four data sets with their usual test rows, beside an SVC with a grid of 36 cells and
five folds of the training rows.  ``equal`` compares the iterative solution with the exact one, on
the arrays and settings that a user may have.  ``cores`` times it on this machine.  ``torchkm`` are
the rows of TorchKM's paper, two classes and 1 000 columns.  ``million`` are ten classes of
30 Gaussians each in 16 dimensions, up to 10⁶ rows, beside nodes and peers; the exponent of growth
comes last.  ``picture`` draws its accuracy against the seconds of a fit, from the file of figures.

Everything is tuned on training rows only, and times include that.  On a device, a fit of few rows
comes before, which compiles.  Peers that are not installed, and what takes longer than ``--cap``
seconds, have a row with the reason.  ``--quick`` takes small sizes, to try the script.
"""

import argparse
import os
import sys
import warnings
from functools import partial

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: estimators on tensors need it

import joblib
import numpy as np
from _full_curves import draw_curves, write_figures
from _full_data import Table, mixture, two_classes
from _full_equal import equal
from _full_frame import attempt, fit_and_predict, head, on_device, print_header, row
from _full_peers import PEERS, torchkm_paper
from bench_fisher import stored
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant

SETS = ("letter", "usps", "mnist", "pendigits")
SVC_GRID = {"C": np.logspace(-1, 4, 6), "gamma": np.logspace(-4, 1, 6)}  # as in study_tables.py
QUICK_ROWS = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    add = partial(_add_command, commands)

    each = add("sets", sets, "four data sets, beside SVC", cap=None)
    each.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SETS))
    each.add_argument("--no-svc", action="store_true", help="without SVC, which takes long")
    each.add_argument("--jobs", type=int, default=os.cpu_count(), help="threads of SVC's grid")

    each = add("equal", equal, "the iterative solution against the exact one", cap=None)
    each.add_argument("--rows", type=int, default=4000)
    each.add_argument("--kernel", default="auto", help="of both, auto by default")

    each = add("cores", cores, "generated rows in full on this machine", cap=None)
    each.add_argument("--rows", type=int, default=20_000)

    each = add("torchkm", torchkm, "TorchKM's two classes, beside it", cap=120.0)
    each.add_argument("--rows", type=int, nargs="+", default=[10_000, 20_000])
    each.add_argument("--columns", type=int, default=1000)
    each.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    each.add_argument("--only", nargs="+", metavar="NAME", help="methods by their first word")

    each = add("million", million, "ten classes, beside nodes and peers", cap=120.0)
    each.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    each.add_argument("--nodes", type=int, nargs="*", default=[500, 1000, 2000, 5000])
    each.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    each.add_argument("--only", nargs="+", metavar="NAME", help="methods by their first word")
    each.add_argument("--json", help="file for the figures, written after each of them")

    each = commands.add_parser("picture", help="accuracy against seconds, drawn from figures")
    each.add_argument("figures", metavar="FILE")
    each.add_argument("out", metavar="OUT.svg")

    options = parser.parse_args()
    if options.command == "picture":
        draw_curves(options.figures, options.out)
        return 0
    if unknown := set(getattr(options, "names", ())) - set(SETS):
        parser.error(f"sets are {', '.join(SETS)}; got {', '.join(sorted(unknown))}")
    if options.device == "cuda" and not _has_cuda():
        print("--device cuda needs torch and a CUDA device, and there is none.", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")
    print_header(options)
    options.run(options)
    return 0


def _add_command(commands, name, run, text, cap):
    command = commands.add_parser(name, help=text)
    command.set_defaults(run=run)
    command.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    command.add_argument("--quick", action="store_true", help="small sizes, to try the script")
    command.add_argument("--cap", type=float, default=cap, help="seconds of one fit at most")
    return command


def _has_cuda():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def sets(options) -> None:
    columns = ("accuracy, %", "fit, s", "CPU s", "predict, s", "solver", "iterations", "kernel")
    head("set", "method", *columns)
    methods = {
        "full": partial(_fit, KernelFisherDiscriminant(random_state=0)),
        "nodes": partial(_fit, SparseKernelFisherDiscriminant(random_state=0)),
        "SVC": partial(_fit_svc, n_jobs=options.jobs),
    }
    if options.no_svc:
        del methods["SVC"]
    for name in options.names or SETS:
        X, y, X_test, y_test = stored(name)
        if options.quick:
            few = np.random.default_rng(0).permutation(len(X))[:QUICK_ROWS]
            X, y = X[few], y[few]
        _warm_up(X, y, options)
        for method, fit in methods.items():
            device = "cpu" if method == "SVC" else options.device
            rows = on_device(X, device), y, on_device(X_test, device)
            done = _measure(f"{name}, {method}", fit, rows, device, options)
            if done is not None:
                row(name, method, *done.cells(columns, y_test))


def cores(options) -> None:
    table = mixture(QUICK_ROWS if options.quick else options.rows, n_test=10_000)
    print(
        f"{len(table.X):,} rows, d = {table.X.shape[1]}, 10 classes, float64; the best accuracy "
        f"that is possible is {100 * table.best:.2f} %.\n"
    )
    columns = ("accuracy, %", "fit, s", "CPU s", "predict, s", "solver", "iterations", "kernel")
    head("method", *columns)
    models = {
        "full": KernelFisherDiscriminant(solver="iterative", random_state=0),
        "nodes": SparseKernelFisherDiscriminant(random_state=0),
    }
    X, X_test = (on_device(X, options.device, float) for X in (table.X, table.X_test))
    _warm_up(table.X, table.y, options)
    for name, model in models.items():
        rows = X, table.y, X_test
        done = _measure(name, partial(_fit, model), rows, options.device, options)
        if done is not None:
            row(name, *done.cells(columns, table.y_test))


def torchkm(options) -> None:
    sizes, n_columns = (options.rows, options.columns)
    if options.quick:
        sizes, n_columns = [QUICK_ROWS], 50
    solve = partial(KernelFisherDiscriminant, random_state=0)
    models = {
        "full, auto": solve(),
        "full, exact": solve(solver="exact"),
        "full, iterative": solve(solver="iterative"),
        "full, iterative, rbf": solve(solver="iterative", kernel="rbf"),
        "nodes": SparseKernelFisherDiscriminant(random_state=0),
    }
    ours = {name: partial(_fit, model) for name, model in models.items()}
    print(f"Two classes, {n_columns:,} columns, {options.dtype} for ours.\n")
    columns = (
        "fit, s", "predict, s", "accuracy, %", "peak GB", "solver", "iterations", "kernel"
    )  # fmt: skip
    head("method", "rows", *columns)
    for n_rows in sizes:
        table = two_classes(n_rows, n_rows // 10, n_columns)
        for name, done in _both(ours, {"TorchKM": torchkm_paper}, table, options):
            row(name, f"{n_rows:,}", *done.cells(columns, table.y_test))


def million(options) -> None:
    sizes, nodes = sorted(options.rows), options.nodes
    if options.quick:
        sizes, nodes = [QUICK_ROWS, 2 * QUICK_ROWS], [50]
    whole = mixture(sizes[-1], n_test=2000 if options.quick else 20_000)
    full = KernelFisherDiscriminant(solver="iterative", random_state=0)
    ours = {"full": partial(_fit, full)}
    for count in nodes:
        few = SparseKernelFisherDiscriminant(max_nodes=count, random_state=0)
        ours[f"nodes, {count:,}"] = partial(_fit, few)
    peers = dict(PEERS)
    print(
        f"d = {whole.X.shape[1]}, 10 classes, {len(whole.X_test):,} test rows, {options.dtype} for "
        f"ours; the best accuracy that is possible is {100 * whole.best:.2f} %. LightGBM runs on "
        "the CPU.\n"
    )
    columns = ("fit, s", "predict, s", "accuracy, %", "iterations", "kernel", "peak GB")
    head("method", "rows", *columns)
    times: dict[str, dict[int, float]] = {}
    figures: list[tuple[str, int, float, float]] = []
    for n_rows in sizes:
        table = Table(whole.X[:n_rows], whole.y[:n_rows], whole.X_test, whole.y_test)
        for name, done in _both(ours, peers, table, options):
            times.setdefault(name, {})[n_rows] = done.fit_seconds
            row(name, f"{n_rows:,}", *done.cells(columns, table.y_test))
            figures.append((name, n_rows, done.fit_seconds, done.accuracy(table.y_test)))
            if options.json:
                write_figures(options.json, figures, whole.best)
        # What fails on some rows is not tried on more of them.
        ours, peers = (
            {name: fit for name, fit in methods.items() if n_rows in times.get(name, ())}
            for methods in (ours, peers)
        )
    _print_growth(times)


def _print_growth(times) -> None:
    """Print the exponent of n in the seconds of a fit, from the fewest rows to the most."""
    print("\nGrowth of the time of a fit: seconds ∝ rows^exponent.\n")
    head("method", "rows", "exponent")
    for name, of_rows in times.items():
        few, many = min(of_rows), max(of_rows)
        if many > few:
            exponent = np.log(of_rows[many] / of_rows[few]) / np.log(many / few)
            row(name, f"{few:,} to {many:,}", f"{exponent:.2f}")


def _both(ours, peers, table, options):
    """Yield name and fit of each of our methods, then of each peer; failures print their reason."""
    wanted = options.only
    first = [on_device(X, options.device, options.dtype) for X in (table.X, table.X_test)]
    _warm_up(table.X, table.y, options)
    for name, fit in ours.items():
        if not wanted or _first_word(name) in wanted:
            rows = first[0], table.y, first[1]
            done = _measure(f"{name}, {len(table.X):,} rows", fit, rows, options.device, options)
            if done is not None:
                yield name, done
    del first
    for name, peer in peers.items():
        if not wanted or _first_word(name) in wanted:
            fit = partial(peer, device=options.device, cap=options.cap)
            rows = table.X, table.y, table.X_test
            done = _measure(f"{name}, {len(table.X):,} rows", fit, rows, options.device, options)
            if done is not None:
                yield name, done


def _first_word(name: str) -> str:
    return name.split()[0].strip(",")


def _measure(what, fit, rows, device, options):
    """Return a timed fit with its predictions, or None after printing why there is none."""
    X, y, X_test = rows
    return attempt(what, options.cap, lambda: fit_and_predict(fit, X, y, X_test, device))


def _warm_up(X, y, options) -> None:
    """Compile what is compiled, by a fit of few rows that is not timed."""
    few = slice(0, min(len(X), 2000))
    dtype = getattr(options, "dtype", float)
    A = on_device(X[few], options.device, dtype)
    model = KernelFisherDiscriminant(solver="iterative", kernel="rbf", random_state=0)
    attempt(
        "warm-up", options.cap, lambda: fit_and_predict(model.fit, A, y[few], A, options.device)
    )


def _fit(model, X, y):
    """Fit a copy, so that nothing of it stays on a device."""
    return clone(model).fit(X, y)


def _fit_svc(X, y, n_jobs):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        return GridSearchCV(SVC(cache_size=500), SVC_GRID, cv=folds).fit(X, y)


if __name__ == "__main__":
    sys.exit(main())

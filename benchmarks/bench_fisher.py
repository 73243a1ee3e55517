"""Sparse kernel Fisher discriminants against their peers on larger tables: one command, one table.

    MERCER_DATA=/path/to/data python benchmarks/bench_fisher.py [letter pendigits usps mnist]
    python benchmarks/bench_fisher.py million [--rows 1000000]
    python benchmarks/bench_fisher.py growth
    python benchmarks/bench_fisher.py mixed
    python benchmarks/bench_fisher.py tuned
    python benchmarks/bench_fisher.py noise
    python benchmarks/bench_fisher.py switch

Every contender tunes itself on training rows only, and its time includes that.  Numeric columns
are scaled to variance one and clipped at ±4; images are left as they are.  ``million`` is
synthetic: 10 classes of 3 Gaussians each in 20 dimensions; ``growth`` times its fit from 10⁵ to
10⁶ rows.  ``switch`` times ``KernelFisherDiscriminant`` on its first 500 to 4 000 rows, alone and
with a busy process on every core, beside an SVC with a grid of nine cells and three folds.
``mixed`` is a table made for trees: classes by thresholds on a few of 30 columns, among them skewed
ones and codes of categories; ``tuned`` times ``KernelFisherDiscriminant()`` on parts of it.
``noise`` counts how often it keeps scales of columns that say nothing.

Seconds are wall-clock; CPU seconds, added up over cores, are what counts on a busy machine.  A
row's prediction is CPU time on one core, the best of three runs.
"""

import argparse
import os
import pickle
import resource
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from mercer.datasets import load_dataset
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant

NODES = {
    "letter": 2000,
    "pendigits": 500,
    "usps": 1000,
    "mnist": 1000,
    "million": 500,
    "mixed": 2000,
}
TABLES = (*NODES, "growth", "tuned", "noise", "switch")
SWITCH_ROWS = (500, 1000, 2000, 4000)
TUNING_ROWS = 3000  # for peers whose tuning on all rows would take hours


def _table(name: str) -> str:
    if name not in TABLES:
        raise argparse.ArgumentTypeError(f"no table is called {name}")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = ["letter", "pendigits", "usps", "mnist"]
    parser.add_argument("tables", type=_table, nargs="*", default=usual, help=", ".join(TABLES))
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the synthetic table")
    parser.add_argument("--seeds", type=int, default=1, help="fits of Fisher to average over")
    parser.add_argument("--only", nargs="*", help="contenders, by the first word of their names")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    for table in options.tables:
        if table == "growth":
            growth(options.rows)
        elif table == "tuned":
            tuned()
        elif table == "noise":
            noise()
        elif table == "switch":
            switch()
        else:
            compare(table, options)


def compare(table: str, options: argparse.Namespace) -> None:
    made = {"million": lambda: synthetic(options.rows), "mixed": mixed}
    X, y, X_test, y_test = made[table]() if table in made else stored(table)
    n_nodes = NODES.get(table, 500)
    shape = f"{len(X):,} × {X.shape[1]}, {y.max() + 1} classes"
    means = f", means of {options.seeds} seeds" if options.seeds > 1 else ""
    print(f"\n{table}: {shape}, {len(X_test):,} test rows; Fisher with {n_nodes} nodes{means}")
    print("| | accuracy | balanced | tune + fit, s | CPU s | µs a row | model, MB | memory + GB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, makes in contenders(n_nodes, table == "million", options.seeds).items():
        if options.only and name.split()[0].strip(",") not in options.only:
            continue
        report(name, makes, X, y, X_test, y_test)


def report(name, makes, X, y, X_test, y_test):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, cpu = time.perf_counter(), time.process_time()
    models = [make(X, y) for make in makes]
    fit = (time.perf_counter() - started) / len(makes)
    cpu = (time.process_time() - cpu) / len(makes)
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    found = [model.predict(X_test) for model in models]
    model, seconds = models[-1], np.inf
    with threadpool_limits(1):
        for _ in range(3):
            started = time.process_time()
            model.predict(X_test)
            seconds = min(seconds, (time.process_time() - started) / len(X_test))
    accuracy = 100 * np.mean([accuracy_score(y_test, each) for each in found])
    balanced = 100 * np.mean([balanced_accuracy_score(y_test, each) for each in found])
    size = len(pickle.dumps(model)) / 2**20
    cells = f"{accuracy:.2f} | {balanced:.2f} | {fit:.1f} | {cpu:.1f} | {1e6 * seconds:.1f}"
    print(f"| {name} | {cells} | {size:.1f} | {memory:.2f} |", flush=True)


def contenders(n_nodes: int, is_long: bool, n_seeds: int) -> dict:
    """Return functions from rows and classes to a tuned, fitted model for each contender."""

    def fisher(**options):
        def make(seed):
            model = SparseKernelFisherDiscriminant(max_nodes=n_nodes, random_state=seed, **options)
            return model.fit

        return [make(seed) for seed in range(n_seeds)]

    def tuned(model, grid, X, y):
        rows = sample(y, TUNING_ROWS)
        best = GridSearchCV(model, grid, cv=3).fit(X[rows], y[rows]).best_params_
        return model.set_params(**best).fit(X, y)

    def scale(X):
        return 1 / (X.shape[1] * X[:10_000].var())

    def svc(X, y):
        grid = {"C": [1, 10, 100], "gamma": scale(X) * np.array([0.25, 1, 4])}
        return tuned(SVC(), grid, X, y)

    def nystroem(X, y):
        model = make_pipeline(
            Nystroem(n_components=n_nodes, random_state=0), RidgeClassifier(solver="cholesky")
        )
        few = min(n_nodes, 300)
        grid = {
            "nystroem__gamma": scale(X) * np.array([0.25, 0.5, 1, 2]),
            "nystroem__n_components": [few],
            "ridgeclassifier__alpha": [1e-4, 1e-2, 1],
        }
        rows = sample(y, TUNING_ROWS)
        best = GridSearchCV(model, grid, cv=3).fit(X[rows], y[rows]).best_params_
        best["nystroem__n_components"] = n_nodes
        return model.set_params(**best).fit(X, y)

    def linear(X, y):
        return tuned(LinearSVC(dual=False), {"C": [0.01, 0.1, 1]}, X, y)

    def neighbours(X, y):
        return tuned(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}, X, y)

    def boosting(X, y):
        return HistGradientBoostingClassifier(random_state=0).fit(X, y)

    found = {
        "Fisher, greedy nodes": fisher(),
        "random nodes": fisher(n_candidates=n_nodes),
        "SVC": [svc],
        "Nystroem + ridge": [nystroem],
        "LinearSVC": [linear],
        "kNN": [neighbours],
        "HistGradientBoosting": [boosting],
    }
    if is_long:
        del found["SVC"]
    return found


def sample(y, size):
    splitter = StratifiedShuffleSplit(1, train_size=min(size, len(y) // 2), random_state=0)
    return next(splitter.split(y, y))[0]


def stored(name: str):
    data = load_dataset(name)
    X = data.X.reshape(len(data.y), -1).astype(float)
    train, test = data.train_idx[0], data.test_idx[0]
    if name == "mnist":
        X /= 255
    elif name != "usps":
        X = StandardScaler().fit(X[train]).transform(X).clip(-4, 4)
    return X[train], data.y[train], X[test], data.y[test]


def synthetic(n_rows: int, n_test: int = 10_000):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(30, 20)).astype(np.float32)
    which = rng.integers(0, 30, n_rows + n_test)
    X = centres[which]
    for start in range(0, len(X), 100_000):  # no second table in memory
        part = X[start : start + 100_000]
        part += rng.standard_normal(part.shape, dtype=np.float32)
    y = which % 10
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def mixed(n_rows: int = 20_000, n_test: int = 10_000):
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(n_rows + n_test, 10))
    skewed = rng.lognormal(sigma=2, size=(n_rows + n_test, 10))
    codes = rng.integers(0, 12, (n_rows + n_test, 10))
    y = (normal[:, 0] > 0).astype(int) + ((skewed[:, 0] > 1) & (codes[:, 0] % 3 == 0))
    y = np.where((codes[:, 1] > 8) & (normal[:, 1] < 0.5), 2 - y, y)
    X = np.column_stack([normal, skewed, codes])
    X = StandardScaler().fit(X[:n_rows]).transform(X).clip(-4, 4)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def growth(most: int) -> None:
    X, y, X_test, y_test = synthetic(most)
    print("\n| rows | tune + fit, s | CPU s | accuracy |\n|---|---|---|---|")
    for n_rows in (most // 10, most // 3, most):
        started, cpu = time.perf_counter(), time.process_time()
        model = SparseKernelFisherDiscriminant(max_nodes=500, random_state=0)
        model.fit(X[:n_rows], y[:n_rows])
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        accuracy = 100 * model.score(X_test, y_test)
        print(f"| {n_rows:,} | {seconds:.1f} | {cpu:.1f} | {accuracy:.2f} |", flush=True)


def tuned() -> None:
    X, y, X_test, y_test = mixed(10_000)
    some = [*range(7), *range(10, 16), *range(20, 27)]  # the columns that matter among them
    KernelFisherDiscriminant().fit(X[:100], y[:100])  # compiles what is compiled
    print("\n| rows × columns | tune + fit, s | CPU s | accuracy | kernel |\n|---|---|---|---|---|")
    for n_rows, columns in ((1000, some), (10_000, [*range(30)])):
        rows, model = X[:n_rows, columns], KernelFisherDiscriminant()
        seconds, cpu = seconds_of(lambda m=model, A=rows, n=n_rows: m.fit(A, y[:n]))
        accuracy = 100 * model.score(X_test[:, columns], y_test)
        kernel = f"{model.kernel_}{', scales' if model.column_scales_ is not None else ''}"
        size = f"{n_rows:,} × {len(columns)}"
        print(f"| {size} | {seconds:.1f} | {cpu:.1f} | {accuracy:.2f} | {kernel} |", flush=True)


def noise() -> None:
    """Print how often scales of the columns are kept where they mean nothing."""
    print("\n| rows × columns of noise | scales kept, of 15 |\n|---|---|")
    for n_rows, n_columns in ((n, d) for n in (150, 400, 1000) for d in (6, 20)):
        kept = 0
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)
            model = KernelFisherDiscriminant(kernel="laplacian", column_scales="loo").fit(X, y)
            kept += model.column_scales_ is not None
        print(f"| {n_rows:,} × {n_columns} | {kept} |", flush=True)


def switch() -> None:
    X, y, X_test, y_test = synthetic(max(SWITCH_ROWS))
    grid = {"C": [1, 10, 100], "gamma": 1 / (X.shape[1] * X.var()) * np.array([0.25, 1, 4])}
    models = {
        "Fisher": KernelFisherDiscriminant(random_state=0),
        "SVC, 9 cells": GridSearchCV(SVC(), grid, cv=3),
    }
    print("\n| rows | | alone, s | CPU s | beside others, s | CPU s | accuracy |")
    print("|---|---|---|---|---|---|---|")
    for n_rows in SWITCH_ROWS:
        for name, model in models.items():
            alone = seconds_of(lambda m=model, n=n_rows: m.fit(X[:n], y[:n]))
            with busy_cores():
                beside = seconds_of(lambda m=model, n=n_rows: m.fit(X[:n], y[:n]))
            cells = " | ".join(f"{value:.2f}" for value in (*alone, *beside))
            accuracy = 100 * model.score(X_test, y_test)
            print(f"| {n_rows:,} | {name} | {cells} | {accuracy:.2f} |", flush=True)


def seconds_of(work) -> tuple[float, float]:
    """Return seconds by the clock, and of the processor."""
    started, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - cpu


@contextmanager
def busy_cores():
    """Keep every core busy with another process."""
    spin = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(spin) for _ in range(os.cpu_count() or 1)]  # noqa: S603
    time.sleep(1.0)  # until they run
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


if __name__ == "__main__":
    main()

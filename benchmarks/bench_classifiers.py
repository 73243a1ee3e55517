"""The classifiers against their peers: seconds and accuracy side by side, in one run.

    python benchmarks/bench_classifiers.py [--sizes 2000 10000 40000] [--threads 1|all] [--no-grid]

Synthetic rows, d = 20, ten classes of two clusters each; as many test rows as training rows, at
most 10 000.  "self-tuned" is fit with leave-one-out over 17 bandwidths; "given" is a fit at the
bandwidth that this chose; "float32" is the same after X.astype("float32").  The SVC grid
is 5 × 5 with three folds, as people tune it; where that would take more than ten minutes it is
timed on fewer rows, scaled up by the growth of one fit, and marked so.  Peers that are not
installed are left out: pip install scikit-lego.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

CONTENDERS_PER_SIZE_LIMIT = 600.0  # seconds that one contender may be expected to take


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 10_000, 40_000])
    parser.add_argument("--threads", choices=["1", "all"], default="1")
    parser.add_argument("--no-grid", action="store_true", help="leave the SVC grid out")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.threads == "1":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.environ.update(
            dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        )
    if options.only:
        measure(options.only, options.sizes[0])
        return
    for n in options.sizes:
        report(n, options)


def report(n, options):
    """Time every contender in a process of its own, so that peak memory is its own."""
    names = [name for name in contenders() if not (options.no_grid and "grid" in name)]
    print(f"\nn = {n:,} ({options.threads} thread(s)), d = 20, 10 classes")
    print(f"{'':34}{'fit s':>9}{'predict s':>11}{'accuracy':>10}{'MiB':>8}{'ratio':>9}")
    reference = None
    for name in names:
        command = [sys.executable, __file__, "--only", name, "--sizes", str(n)]
        command += ["--threads", options.threads]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["failed"])[-1]
            print(f"{name:34}  {reason[:80]}", flush=True)
            continue
        fit, predict, accuracy, memory, note = done.stdout.strip("\n").split("\t")
        seconds = float(fit) + float(predict)
        reference = reference or seconds
        print(
            f"{name:34}{float(fit):9.2f}{float(predict):11.2f}{float(accuracy):10.3f}"
            f"{float(memory):8.0f}{seconds / reference:9.2f}  {note}",
            flush=True,
        )


def contenders():
    """Return {name: function that makes the estimator for the number of rows}."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier

    def kde():
        from sklego.neighbors import BayesianKernelDensityClassifier

        return BayesianKernelDensityClassifier()

    def grid():
        values = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.001, 0.005, 0.025, 0.125, 0.625]}
        return GridSearchCV(SVC(cache_size=1000), values, cv=3)

    return {
        "Laplacian, given": lambda: LaplacianClassifier(bandwidth=GIVEN),
        "Laplacian, self-tuned": LaplacianClassifier,
        "Laplacian, given, float32": lambda: LaplacianClassifier(bandwidth=GIVEN),
        "Laplacian, self-tuned, float32": LaplacianClassifier,
        "Laplacian, self-tuned, either rule": lambda: LaplacianClassifier(rule="auto"),
        "Parzen, self-tuned": ParzenClassifier,
        "ISE, self-tuned": ISEClassifier,
        "SVC, defaults": lambda: SVC(cache_size=1000),
        "SVC, 5×5 grid, 3 folds": grid,
        "KNeighbors": KNeighborsClassifier,
        "HistGradientBoosting": HistGradientBoostingClassifier,
        "scikit-lego KDE": kde,
    }


GIVEN = 0.62  # what leave-one-out chooses for 10 000 of these rows


def rows(n):
    from sklearn.datasets import make_classification

    n_test = min(n, 10_000)
    X, y = make_classification(
        n + n_test,
        n_features=20,
        n_informative=12,
        n_redundant=4,
        n_classes=10,
        n_clusters_per_class=2,
        class_sep=1.5,
        random_state=0,
    )
    X = (X - X[:n].mean(axis=0)) / X[:n].std(axis=0)
    return X[:n], y[:n], X[n:], y[n:]


def measure(name, n):
    """Print fit and predict seconds, accuracy and peak memory of one contender."""
    make = contenders()[name]
    X, y, X_test, y_test = rows(n)
    if "float32" in name:
        X, X_test = X.astype("float32"), X_test.astype("float32")
    make().fit(X[:1500], y[:1500]).predict(X_test[:300])  # compiled and imported
    factor, note, size = 1.0, "", n
    if "grid" in name:
        size, factor, note = affordable_grid(X, y, n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = make().fit(X[:size], y[:size])
    fit = (time.perf_counter() - start) * factor
    start = time.perf_counter()
    predicted = model.predict(X_test)
    predict = time.perf_counter() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    accuracy = (predicted == y_test).mean()
    print(f"{fit}\t{predict}\t{accuracy}\t{peak}\t{note}")


def affordable_grid(X, y, n):
    """Return how many rows the grid gets, the factor to scale its time by, and a note."""
    from sklearn.svm import SVC

    def seconds(rows_):
        start = time.perf_counter()
        SVC(cache_size=1000).fit(X[:rows_], y[:rows_])
        return time.perf_counter() - start

    whole, size = seconds(n), n
    while size > 1000 and 90 * seconds(size) > CONTENDERS_PER_SIZE_LIMIT:
        size //= 2
    if size == n:
        return n, 1.0, ""
    return size, whole / seconds(size), f"timed on {size:,} rows, scaled by one fit's growth"


if __name__ == "__main__":
    main()

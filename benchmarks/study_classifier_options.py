"""What options of the classifiers cost and bring: the tables of docs/classifiers.md.

    MERCER_DATA=/path/to/data python benchmarks/study_classifier_options.py [--only PART]

Seven tables in Markdown: leave-one-out to first order against exact, and probabilities with and
without calibration, on bundled data; prediction from fewer nodes, and the density from fewer
rows, on the banana data; densities and norms from a twentieth of the rows, on larger data, and how
the time of such fits grows; and the processor time of fits with leave-one-out over 17 bandwidths,
relative to class sums over all pairs.
"""

import argparse
import time
from functools import partial

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.datasets import load_dataset
from mercer.kernels import mercer_width
from mercer.sums import kernel_sum

LARGER = ("ida_banana", "ida_image", "ida_splice", "ida_twonorm", "letter", "pendigits", "usps")
MOST_ROWS = 8000
OWN = (None, "loo", "loo-biases")  # ways in which the classifiers calibrate themselves


def print_row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def leave_one_out():
    print("\nLeave-one-out, fast against exact: largest difference over 17 bandwidths\n")
    print_row("data", "rule", "decisions", "mean log-loss", "same bandwidth")
    print_row(*["---"] * 5)
    for load in (load_wine, load_iris, load_breast_cancer):
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        for rule in ("cosine", "append"):
            fast, exact = (
                LaplacianClassifier(rule=rule, loo=loo).fit(X, y) for loo in ("fast", "exact")
            )
            gaps = {
                score: np.abs(fast.loo_results_[score] - exact.loo_results_[score]).max()
                for score in ("accuracy", "balanced_accuracy", "log_loss")
            }
            same = max(gaps["accuracy"], gaps["balanced_accuracy"]) < 1e-12
            name = load.__name__.removeprefix("load_").replace("_", " ")
            print_row(
                f"{name} ({len(y)})",
                rule,
                "same counts" if same else f"balanced accuracy by {gaps['balanced_accuracy']:.1e}",
                f"{gaps['log_loss']:.0e}",
                "yes" if fast.bandwidth_ == exact.bandwidth_ else "no",
            )


def calibration():
    print("\nLog-loss on the second half, fitted to the first\n")
    print_row("data", "classifier", *(f"`{c!r}`" for c in OWN), '`"sigmoid"`', '`"isotonic"`')
    print_row(*["---"] * 7)
    for load in (load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        for classifier in (ParzenClassifier, LaplacianClassifier, ISEClassifier):
            models = [make_pipeline(StandardScaler(), classifier(calibration=c)) for c in OWN]
            models += [CalibratedClassifierCV(models[0], method=m) for m in ("sigmoid", "isotonic")]
            losses = [log_loss(b, model.fit(A, a).predict_proba(B)) for model in models]
            name = load.__name__.removeprefix("load_").replace("_", " ")
            label = classifier.__name__.removesuffix("Classifier")
            print_row(name, label, *(f"{loss:.3f}" for loss in losses))


def mean_accuracy(data, n_partitions, **options):
    scores = []
    for seed, (train, test) in enumerate(
        zip(data.train_idx[:n_partitions], data.test_idx[:n_partitions], strict=True)
    ):
        model = LaplacianClassifier(random_state=seed, **options)
        model.fit(data.X[train], data.y[train])
        scores.append(model.score(data.X[test], data.y[test]))
    return f"{100 * np.mean(scores):.1f}"


def nodes(data, n_partitions):
    n = data.train_idx.shape[1]
    print(f"\nAccuracy (%) from fewer nodes, {data.name}, {n} rows, {n_partitions} partitions\n")
    shares = (0.05, 0.1, 0.2, 0.5)
    print_row("node_selection", *(f"{round(share * n)} nodes" for share in shares), "all")
    print_row(*["---"] * (len(shares) + 2))
    whole = mean_accuracy(data, n_partitions)
    for selection in ("herding", "random", "largest"):
        cells = [
            mean_accuracy(data, n_partitions, n_nodes=round(share * n), node_selection=selection)
            for share in shares
        ]
        print_row(selection, *cells, whole)


def density_subset(data, n_partitions):
    print(f"\nAccuracy (%) with the density from fewer rows, {data.name}\n")
    shares = (None, 0.5, 0.2, 0.1, 0.05)
    print_row("density_subset", *shares)
    print_row(*["---"] * (len(shares) + 1))
    print_row("", *(mean_accuracy(data, n_partitions, density_subset=share) for share in shares))


def sampling(names, n_seeds):
    """Print what V_c from a twentieth of the rows is off by, and what that does to accuracy."""
    print(f"\n`density_subset=0.05` at a given bandwidth, {n_seeds} seeds\n")
    print_row("data", "rows", "classes", "all", "a twentieth", "error of V_c", "as stated")
    print_row(*["---"] * 7)
    for name in names:
        X, y = load_dataset(name, return_X_y=True)
        if len(y) > MOST_ROWS:
            X, y = resample(X, y, n_samples=MOST_ROWS, replace=False, stratify=y, random_state=0)
        A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
        full = LaplacianClassifier().fit(A, a)
        h, scores, errors, stated = full.bandwidth_, [], [], []
        for seed in range(n_seeds):
            model = LaplacianClassifier(bandwidth=h, density_subset=0.05, random_state=seed)
            scores.append(model.fit(A, a).score(B, b))
            errors.append(model.norms_ / exact_norms(model) - 1)
            stated.append(model.norm_errors_)
        cells = [f"{100 * s:.1f}" for s in (full.score(B, b), np.mean(scores))]
        cells += [f"{100 * np.sqrt(np.mean(np.square(e))):.1f} %" for e in (errors, stated)]
        print_row(f"`{name}`", len(a), len(full.classes_), *cells)


def exact_norms(model):
    """V_c of a model's own nodes and weights, from all pairs."""
    norms = []
    for c in range(len(model.classes_)):
        X, beta = (A[model.node_classes_ == c] for A in (model.X_fit_, model.node_weights_))
        sums = kernel_sum(X, weights=beta, bandwidth=mercer_width(model.bandwidth_))
        norms.append(np.sqrt(beta @ sums))
    return np.array(norms)


def growth(sizes, n_features, subset):
    """Print the processor time of a fit at a given bandwidth, from all rows and from some."""
    print(f"\nSeconds of `fit` at a given bandwidth, d = {n_features}, 10 classes\n")
    options = ({}, {"density_subset": subset}, {"density_subset": subset, "rule": "append"})
    print_row(
        "rows", *(", ".join(f"{k}={v!r}" for k, v in one.items()) or "all" for one in options)
    )
    print_row(*["---"] * 4)
    for n in sizes:
        X, y = make_classification(
            n, n_features, n_informative=10, n_classes=10, n_clusters_per_class=1, random_state=0
        )
        models = [LaplacianClassifier(bandwidth=3.0, random_state=0, **one) for one in options]
        print_row(n, *(f"{seconds(partial(m.fit, X, y)):.2f}" for m in models))


def seconds(work):
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def cost(n_rows, n_features):
    X, y = make_classification(
        n_rows, n_features, n_informative=10, n_classes=10, n_clusters_per_class=1, random_state=0
    )
    one = seconds(lambda: kernel_sum(X, X.copy(), groups=y, bandwidth=3.0))
    print(
        f"\nProcessor time of `fit` in class sums over all pairs, n = {n_rows}, d = {n_features}\n"
    )
    without = "`calibration=None`"
    print_row("classifier", "given bandwidth", without, "leave-one-out", without)
    print_row(*["---"] * 5)
    models = {
        "ParzenClassifier": ParzenClassifier,
        "ISEClassifier": ISEClassifier,
        'ISEClassifier, rule="append"': lambda **kw: ISEClassifier(rule="append", **kw),
        "LaplacianClassifier": LaplacianClassifier,
        'LaplacianClassifier, rule="append"': lambda **kw: LaplacianClassifier(rule="append", **kw),
    }
    for name, make in models.items():
        fits = [
            partial(make(bandwidth=h, calibration=c).fit, X, y)
            for h in (3.0, "loo")
            for c in ("loo", None)
        ]
        times = [min(seconds(fit) for _ in range(3)) / one for fit in fits]
        print_row(f"`{name}`", *(f"{ratio:.1f}" for ratio in times))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--only", choices=["calibration", "sampling", "growth", "cost"])
    arguments = parser.parse_args()
    only = arguments.only
    if only is None:
        leave_one_out()
    if only in (None, "calibration"):
        calibration()
    if only is None:
        banana = load_dataset("ida_banana")
        nodes(banana, arguments.partitions)
        density_subset(banana, arguments.partitions)
    if only in (None, "sampling"):
        sampling(LARGER, arguments.partitions)
    if only in (None, "sampling", "growth"):
        growth((10_000, 20_000, 40_000), 20, 500)
    if only in (None, "cost"):
        cost(arguments.rows, 20)


if __name__ == "__main__":
    main()

"""What options of the classifiers cost and bring: the tables of docs/classifiers.md.

    MERCER_DATA=/path/to/data python benchmarks/study_classifier_options.py

Five tables in Markdown: leave-one-out to first order against exact, and probabilities with and
without calibration, on bundled data; prediction from fewer nodes, and the density from fewer
rows, on the banana data; and the processor time of fits with leave-one-out over 17
bandwidths, relative to class sums over all pairs.
"""

import argparse
import time

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

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.datasets import load_dataset
from mercer.sums import kernel_sum


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
    print_row("data", "classifier", "as it is", '`"sigmoid"`', '`"isotonic"`')
    print_row(*["---"] * 5)
    for load in (load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
        for classifier in (ParzenClassifier, LaplacianClassifier, ISEClassifier):
            model = make_pipeline(StandardScaler(), classifier())
            calibrated = [CalibratedClassifierCV(model, method=m) for m in ("sigmoid", "isotonic")]
            losses = [log_loss(b, m.fit(A, a).predict_proba(B)) for m in (model, *calibrated)]
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
    print_row("classifier", "given bandwidth", "leave-one-out")
    print_row(*["---"] * 3)
    models = {
        "ParzenClassifier": ParzenClassifier,
        "ISEClassifier": ISEClassifier,
        "LaplacianClassifier": LaplacianClassifier,
        'LaplacianClassifier, rule="append"': lambda **kw: LaplacianClassifier(rule="append", **kw),
    }
    for name, make in models.items():
        times = [seconds(lambda m=make, h=h: m(bandwidth=h).fit(X, y)) / one for h in (3.0, "loo")]
        print_row(f"`{name}`", *(f"{ratio:.1f}" for ratio in times))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=20)
    parser.add_argument("--rows", type=int, default=5000)
    arguments = parser.parse_args()
    leave_one_out()
    calibration()
    banana = load_dataset("ida_banana")
    nodes(banana, arguments.partitions)
    density_subset(banana, arguments.partitions)
    cost(arguments.rows, 20)


if __name__ == "__main__":
    main()

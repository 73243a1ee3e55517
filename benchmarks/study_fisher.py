"""Kernel Fisher discriminants against a tuned SVC.

    MERCER_DATA=/path/to/data python benchmarks/study_fisher.py small      [--splits 5]
    MERCER_DATA=/path/to/data python benchmarks/study_fisher.py imbalanced [--splits 5]

``--json FILE`` writes every single result as one tidy table.  Everything is tuned on training
parts only.  Columns are scaled to variance one on the training part.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, average_precision_score, balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mercer.comparison import compare_over_datasets
from mercer.datasets import load_dataset
from mercer.discriminants import KernelFisherDiscriminant

SMALL = [
    "australian", "balance", "echocardiogram", "ecoli", "german_numeric", "glass", "heart_statlog",
    "ionosphere", "iris", "liver", "newthyroid", "pima", "sonar", "soybean_large", "tae",
    "transfusion", "vehicle", "vowel", "wbc", "wdbc", "wine",
]  # fmt: skip

# Multi-class sets: every class of at least 15 rows and at most a quarter of all makes a problem
# of one class against the rest.
ONE_AGAINST_REST = [
    "balance", "ecoli", "glass", "newthyroid", "soybean_large", "vehicle", "vowel",
]  # fmt: skip

SVC_GRID = {"C": np.logspace(-1, 4, 6), "gamma": np.logspace(-4, 1, 6)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=["small", "imbalanced"])
    parser.add_argument("--splits", type=int, default=5, help="random splits 70:30 of each set")
    parser.add_argument("--json", type=Path, help="where to write all results")
    options = parser.parse_args()
    study = {"small": _small, "imbalanced": _imbalanced}[options.study]
    results = study(options)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


def _small(options):
    rows = []
    for name in SMALL:
        X, y = load_dataset(name, return_X_y=True)
        rows += _run(name, X, y, options.splits, None)
        _print_last(rows, name, ["accuracy"])
    table = pd.DataFrame(rows)
    _print_table(table, ["accuracy"])
    return {"study": "small", "splits": options.splits, "rows": rows}


def _imbalanced(options):
    rows = []
    for name in ONE_AGAINST_REST:
        X, y = load_dataset(name, return_X_y=True)
        counts = np.bincount(y)
        fits = np.flatnonzero((counts >= 15) & (counts <= len(y) / 4))
        for label in sorted(fits, key=lambda c: counts[c]):
            problem = f"{name} {label} ({counts[label]} of {len(y)})"
            rows += _run(problem, X, (y == label).astype(int), options.splits, "balanced")
            _print_last(rows, problem, ["balanced accuracy", "average precision"])
    table = pd.DataFrame(rows)
    _print_table(table, ["balanced accuracy", "average precision"])
    _print_capped(table, ["balanced accuracy", "average precision"], 4)
    return {"study": "imbalanced", "splits": options.splits, "rows": rows}


def _run(name, X, y, n_splits, class_weight):
    """Return one row for each split and method."""
    rows = []
    splits = StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0).split(X, y)
    for number, (train, test) in enumerate(splits):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        scoring = "accuracy" if class_weight is None else "balanced_accuracy"
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        svc = GridSearchCV(SVC(class_weight=class_weight), SVC_GRID, cv=folds, scoring=scoring)
        fisher = KernelFisherDiscriminant(class_weight=class_weight)
        for method, model in (("SVC", svc), ("Fisher", fisher)):
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The least populated class")
                model.fit(A, y[train])
            row = {"problem": name, "split": number, "method": method}
            row["seconds"] = time.perf_counter() - started
            found = model.predict(B)
            if class_weight is None:
                row["accuracy"] = 100 * accuracy_score(y[test], found)
            else:
                row["balanced accuracy"] = 100 * balanced_accuracy_score(y[test], found)
                scores = model.decision_function(B)
                row["average precision"] = 100 * average_precision_score(y[test], scores)
            rows.append(row)
    return rows


def _print_last(rows, name, scores):
    table = pd.DataFrame([row for row in rows if row["problem"] == name]).groupby("method")
    means = table[[*scores, "seconds"]].mean()
    cells = [f"{score} " + " / ".join(f"{means[score][m]:.2f}" for m in means.index)
             for score in means.columns]  # fmt: skip
    print(f"{name:32s} {' / '.join(means.index)}: {', '.join(cells)}", flush=True)


def _print_table(table, scores):
    """Print a row for each problem, the means, and the verdict of each score."""
    for score in scores:
        wide = table.pivot_table(index="problem", columns="method", values=score, sort=False)
        print(f"\n| {score} (%) | Fisher | SVC | difference |\n|---|---|---|---|")
        for name, row in wide.iterrows():
            print(f"| {name} | {row.Fisher:.1f} | {row.SVC:.1f} | {row.Fisher - row.SVC:+.1f} |")
        mean = wide.mean()
        print(f"| **mean** | {mean.Fisher:.2f} | {mean.SVC:.2f} | {mean.Fisher - mean.SVC:+.2f} |")
        wins = (wide.Fisher > wide.SVC).sum(), (wide.Fisher < wide.SVC).sum()
        print(f"\nFisher wins {wins[0]}, loses {wins[1]} of {len(wide)}.")
        print(compare_over_datasets(wide / 100, rope=0.01, random_state=0))
    seconds = table.groupby("method")["seconds"].sum()
    share = seconds["Fisher"] / seconds["SVC"]
    print(f"\nseconds in all: {seconds.to_dict()}; Fisher takes {100 * share:.0f} % of SVC's time")


def _print_capped(table, scores, most):
    """Print means over at most some problems of each set, the smallest classes first."""
    problems = pd.Series(table["problem"].unique())
    few = problems[problems.groupby(problems.str.split().str[0]).cumcount() < most]
    means = table[table["problem"].isin(few)].groupby("method")[scores].mean()
    print(f"\nat most {most} problems of a set, {len(few)} in all:\n{means.round(2)}")


if __name__ == "__main__":
    main()

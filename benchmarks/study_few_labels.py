"""Few labels: the Laplacian machines by form and weight of the Laplacian, and their peers.

    MERCER_DATA=/path/to/data python benchmarks/study_few_labels.py [--output few_labels.jsonl]
    MERCER_DATA=/path/to/data python benchmarks/study_few_labels.py --sets wine vowel --repeats 2

For every set, split and share of labels: the error on the training rows that have no label, which
were in the graph ("unlabelled"), and on the 30 % of the table that no method saw ("new"); at last
all training rows have their labels, for the support vector machines alone.  Then tables in
Markdown, of means over the sets.

Copies of a row are dropped, sets have at most 1000 rows, and columns are standardised by the
training rows.  Labels are drawn within classes, at least one of each.  Nothing is tuned: there
are too few labels to tune on.  All kernels have gamma = 1 / columns, "scale" of standardised
ones, all graphs ten neighbours of each row; LabelSpreading with a kernel has the width of
LaplacianSVC's graph.  Its alpha is scikit-learn's (0.2) or, with neighbours, that of its paper
(0.99).

Poisson learning is run where graphlearning is installed.  It answers for rows of its graph only;
with class sizes it would be told more than the others, so it is not.  LSVA has 300 landmarks,
squared hinge loss, which always has a direction, and ends in the nearest labelled row.

``--output`` keeps each result as a line of JSON; the same command goes on where it was stopped,
with methods that were missing there.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.utils import resample

from mercer.datasets import load_dataset
from mercer.graphs import heat_width, neighbor_graph
from mercer.projections import LaplacianSupportVectorAnalysis, LaplacianSVC

try:
    import graphlearning
except ImportError:
    graphlearning = None

SETS = (
    "australian", "balance", "digits8x8", "german_numeric", "glass", "heart_statlog", "ida_image",
    "ionosphere", "letter", "newthyroid", "pendigits", "pima", "sonar", "soybean_large", "usps",
    "vehicle", "vowel", "wbc", "wdbc", "wine",
)  # fmt: skip
SHARES = (0.01, 0.05, 0.1, 1.0)
WEIGHTS = (0.0, 1.0, 10.0, 100.0)
LOSSES = {"hinge": "LapSVM", "squared_error": "LapRLS"}
FORMS = {False: "plain", True: "normalised"}
MOST_ROWS = 1000
NEIGHBORS = 10
LANDMARKS = 300


def load(name):
    """Return the distinct rows, at most so many, and their classes as 0, 1, …"""
    X, y = load_dataset(name, return_X_y=True)
    X, first = np.unique(np.asarray(X, dtype=float), axis=0, return_index=True)
    _, y = np.unique(np.asarray(y)[first], return_inverse=True)
    if len(y) > MOST_ROWS:
        X, y = resample(X, y, n_samples=MOST_ROWS, replace=False, stratify=y, random_state=0)
    return X, y


def draw_labelled(y, share, rng):
    """Return the rows that have a label: this share of each class, at least one row."""
    chosen = []
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        chosen.append(rng.choice(rows, max(1, round(share * len(rows))), replace=False))
    return np.sort(np.concatenate(chosen))


def label(method, weight, normalized):
    """Return the name of a Laplacian machine; without a weight it has no form."""
    return f"{method}, 0" if weight == 0 else f"{method}, {FORMS[normalized]}, {weight:g}"


def machines():
    """Yield name and estimator of each Laplacian machine."""
    for loss, method in LOSSES.items():
        for normalized in FORMS:
            for weight in WEIGHTS:
                if weight > 0 or not normalized:
                    machine = LaplacianSVC(loss=loss, normalized=normalized)
                    yield (
                        label(method, weight, normalized),
                        machine.set_params(laplacian_weight=weight),
                    )


def spreaders(X):
    """Yield name and estimator of each way of scikit-learn's to spread labels."""
    width = heat_width(neighbor_graph(X, n_neighbors=NEIGHBORS).data)
    for alpha in (0.2, 0.99):
        graph = LabelSpreading("knn", n_neighbors=NEIGHBORS, alpha=alpha, max_iter=1000)
        yield f"LabelSpreading, knn, alpha {alpha:g}", graph
    yield (
        "LabelSpreading, rbf, alpha 0.2",
        LabelSpreading("rbf", gamma=0.5 / width**2, max_iter=1000),
    )


def poisson_learning(X, known, classes):
    """Return the class of each row by graphlearning, on its own graph of exact neighbours."""
    found = graphlearning.weightmatrix.knnsearch(X, NEIGHBORS + 1, method="kdtree")
    graph = graphlearning.weightmatrix.knn(X, NEIGHBORS, knn_data=found)
    # Conjugate gradients, its default, do not end where the graph has several components.
    is_whole = connected_components(graph)[0] == 1
    solver = "conjugate_gradient" if is_whole else "gradient_descent"
    return graphlearning.ssl.poisson(graph, solver=solver).fit_predict(known, classes)


def lsva_answers(A, B, some, known):
    """Yield name and the nearest labelled row's class on both parts, along LSVA's directions."""
    for normalized in FORMS:
        lsva = LaplacianSupportVectorAnalysis(
            kernel="rbf", normalized=normalized, loss="squared_hinge", landmarks=LANDMARKS,
            random_state=0,
        )  # fmt: skip
        weights = [weight for weight in WEIGHTS if weight > 0 or not normalized]
        for weight, one in zip(weights, lsva.fit_path(A, some, weights), strict=True):
            nearest = KNeighborsClassifier(1).fit(one.transform(A[known]), some[known])
            answers = (nearest.predict(one.transform(part)) for part in (A, B))
            yield label("LSVA", weight, normalized), *answers


def answers_of(A, B, some, done):
    """Yield name, classes of the training rows and of the others (or None) by each method."""
    known = np.flatnonzero(some >= 0)
    has_hidden = len(known) < len(some)
    alone = {
        "SVC, labelled rows alone": SVC(C=100, gamma=1 / A.shape[1]),
        "nearest labelled row": KNeighborsClassifier(1),
    }
    for name, model in alone.items():
        if name not in done:
            model.fit(A[known], some[known])
            yield name, model.predict(A), model.predict(B)
    for name, model in [*machines(), *(spreaders(A) if has_hidden else ())]:
        if name not in done and (has_hidden or model.loss == "hinge"):
            model.fit(A, some)
            on_rows = model.transduction_ if isinstance(model, LabelSpreading) else model.predict(A)
            yield name, on_rows, model.predict(B)
    if not has_hidden:
        return
    if label("LSVA", 0, False) not in done:
        yield from lsva_answers(A, B, some, known)
    if graphlearning is not None and "Poisson learning" not in done:
        yield "Poisson learning", poisson_learning(A, known, some[known]), None


def run(name, X, y, repeat, share, done):
    """Yield one row for each method that is not done."""
    A, B, y_A, y_B = train_test_split(X, y, test_size=0.3, stratify=y, random_state=repeat)
    scaler = StandardScaler().fit(A)
    A, B = scaler.transform(A), scaler.transform(B)
    known = draw_labelled(y_A, share, np.random.default_rng(repeat))
    some = np.full(len(y_A), -1)
    some[known] = y_A[known]
    hidden = some < 0
    for method, on_rows, on_new in answers_of(A, B, some, done):
        yield {
            "set": name,
            "repeat": repeat,
            "share": share,
            "method": method,
            "unlabelled": _error(on_rows[hidden], y_A[hidden]),
            "new": None if on_new is None else _error(on_new, y_B),
        }


def _error(answers, truth):
    """Return the error in per cent; None of no rows."""
    return 100 * float(np.mean(answers != truth)) if len(truth) else None


def study(sets, repeats, output):
    """Return all results as one table; print how far it is."""
    rows = []
    if output is not None and output.exists():
        rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
        rows = [row for row in rows if row["set"] in sets and row["repeat"] < repeats]
    done: dict[tuple[str, int, float], set[str]] = {}
    for row in rows:
        done.setdefault((row["set"], row["repeat"], row["share"]), set()).add(row["method"])
    for name in sets:
        start = time.perf_counter()
        X, y = load(name)
        for repeat in range(repeats):
            for share in SHARES:
                new = list(run(name, X, y, repeat, share, done.get((name, repeat, share), set())))
                rows += new
                if output is not None:
                    with output.open("a", encoding="utf-8") as file:
                        file.writelines(json.dumps(row) + "\n" for row in new)
        about = f"{len(y)} rows, {X.shape[1]} columns, {y.max() + 1} classes"
        print(f"{name}: {about}, {time.perf_counter() - start:.0f} s", flush=True)
    return pd.DataFrame(rows).astype({"unlabelled": float, "new": float})


def table(frame, digits=1):
    """Return a data frame in Markdown."""
    titles = [str(frame.index.name or ""), *map(str, frame.columns)]
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for name, row in frame.iterrows():
        cells = [
            one if isinstance(one, str) else "–" if pd.isna(one) else f"{one:.{digits}f}"
            for one in row
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(results):
    """Print means over sets, on how many sets one form or weight is better, and each set."""
    order = list(dict.fromkeys(results["method"]))
    by_set = results.groupby(["method", "share", "set"], sort=False)[["unlabelled", "new"]].mean()
    means = by_set.groupby(level=["method", "share"], sort=False).mean().unstack("share").loc[order]
    means = means.dropna(axis=1, how="all")
    means.columns = [f"{100 * share:g} %, {rows}" for rows, share in means.columns]
    n_sets, n_splits = results["set"].nunique(), results["repeat"].nunique()
    about = f"{n_sets} sets, {n_splits} splits"
    print(f"\nError (%) by the share of labels, means over {about}\n\n{table(means)}")

    # Of rows without a label; where all have one, of new rows.
    errors = by_set["unlabelled"].fillna(by_set["new"]).unstack("set")
    for title, other in (
        ("the plain form of that weight", False),
        ("no Laplacian", None),
    ):
        better = {}
        for method in (*LOSSES.values(), "LSVA"):
            for weight in WEIGHTS[1:]:
                against = label(method, weight if other is False else 0, False)
                name = label(method, weight, True)
                better[name] = count_better(errors.loc[name], errors.loc[against])
        print(f"\nSets better : worse than {title} (mean gain)\n\n{table(pd.DataFrame(better).T)}")

    for share in sorted(results["share"].unique()):
        part = errors.xs(share, level="share")
        shown = [one for one in order if not one.startswith(("LapRLS", "LSVA", "nearest"))]
        part = part.loc[[one for one in shown if one in part.index]].T
        rows = "unlabelled" if share < 1 else "new"
        print(f"\nError (%) on {rows} rows, {100 * share:g} % of labels\n\n{table(part)}")


def count_better(errors, others):
    """Return, for each share of labels, on how many sets the first is better and worse."""
    gains = (others - errors).dropna(how="all")
    return {
        f"{100 * share:g} %": f"{(row > 0).sum()} : {(row < 0).sum()} ({row.mean():+.1f})"
        for share, row in gains.iterrows()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--repeats", type=int, default=5, help="splits of each set")
    parser.add_argument("--output", type=Path, help="file for the results, and to go on from")
    arguments = parser.parse_args()
    if graphlearning is None:
        print("graphlearning is not installed: Poisson learning is left out.")
    start = time.perf_counter()
    results = study(arguments.sets, arguments.repeats, arguments.output)
    print(f"{(time.perf_counter() - start) / 60:.1f} minutes")
    report(results)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer directions than classes
        warnings.simplefilter("ignore", RuntimeWarning)  # rows that no label reaches in spreading
        warnings.filterwarnings("ignore", message="The number of unique classes")
        main()

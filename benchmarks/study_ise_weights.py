"""Which rule of the ISE classifier is the better one, and does it pay to learn its weights?

    MERCER_DATA=/path/to/data python benchmarks/study_ise_weights.py [--only rules|weights]

First the rules with equal weights: the nearest class mean ("plane"), the point appended to each
class in turn ("append"), and the choice between them by leave-one-out ("auto"), each at the
bandwidth that leave-one-out on the training part chooses; accuracy and log-loss on the other part,
in repeated stratified cross-validation on standardised columns of at most 700 rows; pairs of rules
by Wilcoxon's signed-rank test over the sets.

Then equal weights, the SVM's (least ISE under its constraints) and those of the least
Cauchy–Schwarz divergence, in the same way.  First all at the bandwidth that leave-one-out chooses
for equal weights, for each C, with the other classifiers at their own leave-one-out bandwidths
beside them; then each with bandwidth and C of its own, chosen by three-fold cross-validation inside
the training part.  Tables in Markdown; those of weights with the share of rows that are nodes and
the processor time of fit and prediction.
"""

import argparse
import time
import warnings
from itertools import combinations, product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.comparison import wilcoxon_test
from mercer.datasets import load_dataset

RULES = ("plane", "append", "auto")
RULED = (
    "australian", "balance", "ecoli", "german_numeric", "glass", "heart_statlog", "ionosphere",
    "iris", "liver", "newthyroid", "pima", "sonar", "tae", "transfusion", "vehicle", "vowel", "wbc",
    "wdbc", "wine",
)  # fmt: skip
MOST_ROWS = 700
BUNDLED = {"wine": load_wine, "iris": load_iris, "breast cancer": load_breast_cancer}
FOLDER = ("sonar", "ionosphere", "pima")
WEIGHTINGS = ("uniform", "margin", "cauchy_schwarz")
C_VALUES = (1.0, 10.0, 100.0)
OTHERS = {
    "(Parzen)": ParzenClassifier(),
    "(Laplacian)": LaplacianClassifier(),
    '(Laplacian, rule="auto")': LaplacianClassifier(rule="auto"),
}
FACTORS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of Silverman's bandwidth


def load(name):
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    return load_dataset(name, return_X_y=True)


def rules_on(name, n_repeats):
    """Mean accuracy and log-loss of each rule: (rules, 2)."""
    X, y = load_dataset(name, return_X_y=True)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if len(y) > MOST_ROWS:
        X, y = resample(X, y, n_samples=MOST_ROWS, replace=False, stratify=y, random_state=0)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=0)
    found = []
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        models = [ISEClassifier(rule=rule).fit(A, y[train]) for rule in RULES]
        found.append(
            [
                (m.score(B, y[test]), log_loss(y[test], m.predict_proba(B), labels=m.classes_))
                for m in models
            ]
        )
    return np.mean(found, axis=0)


def compare_rules(n_repeats):
    print(f"\nAccuracy (%) and log-loss of the rules, {n_repeats} × 5 folds\n")
    titles = [*RULES, *(f"{rule}, log-loss" for rule in RULES)]
    print("| data | " + " | ".join(titles) + " |")
    print("|---" * (len(titles) + 1) + "|")
    found = {}
    for name in RULED:
        found[name] = rules_on(name, n_repeats)
        print_scores(f"`{name}`", found[name])
    scores = np.array(list(found.values()))
    print_scores("mean", scores.mean(axis=0))
    better = [np.count_nonzero(scores[:, 0, 0] > other) for other in scores[:, 1:, 0].T]
    worse = [np.count_nonzero(scores[:, 0, 0] < other) for other in scores[:, 1:, 0].T]
    for rule, more, less in zip(RULES[1:], better, worse, strict=True):
        print(f"\nplane is better than {rule} on {more} and worse on {less} of {len(found)} sets")
    for a, b in combinations(range(len(RULES)), 2):
        accuracy = wilcoxon_test(*100 * scores[:, [a, b], 0].T, names=(RULES[a], RULES[b]))
        loss = wilcoxon_test(*-scores[:, [a, b], 1].T, names=(RULES[a], RULES[b]))
        print(f"\n{RULES[a]} against {RULES[b]}, Wilcoxon's test over {len(found)} sets:")
        print(f"  accuracy: {accuracy}\n  minus log-loss: {loss}")


def print_scores(label, scores):
    cells = [*(f"{100 * score:.1f}" for score, _ in scores), *(f"{loss:.3f}" for _, loss in scores)]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def candidates(X, weighting):
    """All settings of bandwidth and C from which the second table chooses."""
    base = silverman_bandwidth(X)
    c_values = (1.0,) if weighting == "uniform" else C_VALUES
    for factor, C in product(FACTORS, c_values):
        yield ISEClassifier(weighting=weighting, bandwidth=factor * base, C=C)


def tune(X, y, weighting, seed):
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    models = list(candidates(X, weighting))
    scores = [cross_val_score(model, X, y, cv=folds).mean() for model in models]
    return clone(models[int(np.argmax(scores))])


def models_of(A, y, tuned, seed):
    """Yield a label and a function that makes the model, so that its time includes tuning."""
    if tuned:
        for weighting in WEIGHTINGS:
            yield weighting, lambda w=weighting: tune(A, y, w, seed)
        return
    width = ISEClassifier().fit(A, y).bandwidth_
    yield "uniform", lambda: ISEClassifier(bandwidth=width)
    for weighting, C in product(WEIGHTINGS[1:], C_VALUES):
        options = {"weighting": weighting, "C": C, "bandwidth": width}
        yield f"{weighting}, C={C:g}", lambda kw=options: ISEClassifier(**kw)
    for label, model in OTHERS.items():
        yield label, lambda m=model: clone(m)


def study(name, n_repeats, tuned):
    """Mean accuracy, share of nodes and seconds of each method: {label: three numbers}."""
    X, y = load(name)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=0)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for seed, (train, test) in enumerate(folds.split(X, y)):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for label, make in models_of(A, y[train], tuned, seed):
            start = time.process_time()
            model = make().fit(A, y[train])
            score = model.score(B, y[test])
            seconds = time.process_time() - start
            nodes = model.X_fit_.shape[0] / A.shape[0]
            found.setdefault(label, []).append((score, nodes, seconds))
    return {label: np.mean(rows, axis=0) for label, rows in found.items()}


def show(title, results):
    labels = list(next(iter(results.values())))
    print(f"\n{title}\n")
    print("| | " + " | ".join(results) + " | mean | nodes | seconds |")
    print("|---" * (len(results) + 4) + "|")
    for label in labels:
        rows = np.array([result[label] for result in results.values()])
        cells = [f"{100 * score:.1f}" for score in [*rows[:, 0], rows[:, 0].mean()]]
        cells += [f"{100 * rows[:, 1].mean():.0f} %", f"{rows[:, 2].mean():.2f}"]
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--tuned-repeats", type=int, default=2)
    parser.add_argument("--only", choices=["rules", "weights"])
    arguments = parser.parse_args()
    if arguments.only != "weights":
        compare_rules(arguments.repeats)
    if arguments.only == "rules":
        return
    names = [*BUNDLED, *FOLDER]
    for tuned, n_repeats in ((False, arguments.repeats), (True, arguments.tuned_repeats)):
        how = "each with its own bandwidth and C" if tuned else "at the bandwidth of equal weights"
        results = {name: study(name, n_repeats, tuned) for name in names}
        show(f"Accuracy (%), {n_repeats} × 5 folds, {how}", results)


if __name__ == "__main__":
    with warnings.catch_warnings():  # of classes with fewer rows than folds
        warnings.simplefilter("ignore", UserWarning)
        main()

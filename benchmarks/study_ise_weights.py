"""Does it pay to learn the weights of the ISE classifier, and by which divergence?

    MERCER_DATA=/path/to/data python benchmarks/study_ise_weights.py

Equal weights, the SVM's (least ISE under its constraints) and those of the least Cauchy–Schwarz
divergence, in repeated stratified cross-validation on standardised columns.  First all at the
bandwidth that leave-one-out chooses for equal weights, for each C, with the other classifiers
at their own leave-one-out bandwidths beside them; then each with bandwidth and C of its own, chosen
by three-fold cross-validation inside the training part.
Two tables of accuracies, in Markdown, with the share of rows that are nodes and the processor time
of fit and prediction.
"""

import argparse
import time
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.preprocessing import StandardScaler

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.bandwidth import silverman_bandwidth
from mercer.datasets import load_dataset

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
    arguments = parser.parse_args()
    names = [*BUNDLED, *FOLDER]
    for tuned, n_repeats in ((False, arguments.repeats), (True, arguments.tuned_repeats)):
        how = "each with its own bandwidth and C" if tuned else "at the bandwidth of equal weights"
        results = {name: study(name, n_repeats, tuned) for name in names}
        show(f"Accuracy (%), {n_repeats} × 5 folds, {how}", results)


if __name__ == "__main__":
    main()

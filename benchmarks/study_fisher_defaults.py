"""Defaults of the kernel Fisher discriminants, judged on training rows alone.

    MERCER_DATA=/path/to/data python benchmarks/study_fisher_defaults.py rule   [--splits 3]
    MERCER_DATA=/path/to/data python benchmarks/study_fisher_defaults.py sparse [--splits 3]

``rule``: the threshold of `KernelFisherDiscriminant` with one variance for all outputs, with one
for each discriminant (the default), and with the covariance within the classes; sets of three
classes and more, split 70:30, long ones 1 000 rows against 1 500.  ``sparse``: the thresholds of
`SparseKernelFisherDiscriminant`, and its width by the squared leave-one-out error (the default) or
by the leave-one-out score; split 75:25.  Both with kernel="rbf".  Accuracy (%), and with ``rule``
the mean negative log probability of the true class.  Of tables that come with a test part only the
training part is touched.
"""

import argparse
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from rich.progress import track
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from mercer.datasets import load_dataset
from mercer.discriminants import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from mercer.discriminants import _gaussian as gaussian
from mercer.discriminants import _path as path
from mercer.discriminants import _tuning as tuning
from mercer.discriminants import _width as width

SEVERAL_CLASSES = (
    "iris", "wine", "tae", "newthyroid", "balance", "ecoli", "glass", "soybean_large", "vehicle",
    "vowel", "orl", "yale", "digits8x8", "pendigits", "usps", "letter",
)  # fmt: skip
NODES = {"pendigits": 500, "usps": 1000, "mnist": 1000, "letter": 1000}
IMAGES = ("mnist", "orl", "usps", "yale")
RULES = ("one variance", "one for each discriminant", "covariance")


def training_rows(name):
    data = load_dataset(name)
    rows = np.arange(data.y.size)
    if name in NODES:
        rows = data.train_idx[0]
    return data.X[rows].reshape(len(rows), -1).astype(float), data.y[rows]


def splits(X, y, name, n_splits, **sizes):
    """Yield training and test parts, columns scaled on the first; images stay as they are."""
    parts = list(StratifiedShuffleSplit(n_splits, random_state=0, **sizes).split(X, y))
    for train, test in track(parts, description=name, transient=True):
        A, B = X[train], X[test]
        if name in IMAGES:
            A, B = (Z / np.abs(X).max() for Z in (A, B))
        else:
            scale = StandardScaler().fit(A)
            A, B = (np.clip(scale.transform(Z), -4, 4) for Z in (A, B))
        yield A, y[train], B, y[test]


@contextmanager
def threshold(rule):
    """Fit with another threshold than the default."""
    made, fit = gaussian.rule_from_moments, tuning.fit_rule

    def one_variance(means, axes, variances, log_priors):
        equal = np.mean(variances, axis=-1, keepdims=True) + 0.0 * variances
        return made(means, axes, equal, log_priors)

    def covariance(outputs, fitted, axes, labels, weights, log_priors):
        members = (labels == np.arange(len(log_priors))[:, None]) * weights
        means = members / members.sum(axis=1, keepdims=True) @ outputs
        spread = outputs - means[..., labels, :]
        within = np.swapaxes(spread, -1, -2) @ (weights[:, None] * spread)
        return fit(outputs, fitted, np.linalg.eigh(within)[1], labels, weights, log_priors)

    with ExitStack() as stack:
        if rule == "one variance":
            for module in (gaussian, path):
                stack.enter_context(patch.object(module, "rule_from_moments", one_variance))
        elif rule == "covariance":
            stack.enter_context(patch.object(tuning, "fit_rule", covariance))
        yield


def rules(n_splits):
    print("| | " + " | ".join(RULES) + " | " + " | ".join(f"{r}: loss" for r in RULES) + " |")
    print("|---" * (1 + 2 * len(RULES)) + "|")
    means = []
    for name in SEVERAL_CLASSES:
        X, y = training_rows(name)
        sizes = {"test_size": 0.3} if len(y) < 3000 else {"train_size": 1000, "test_size": 1500}
        found = []
        for A, a, B, b in splits(X, y, name, n_splits, **sizes):
            scores, losses = [], []
            for rule in RULES:
                with threshold(rule):
                    model = KernelFisherDiscriminant(kernel="rbf").fit(A, a)
                scores.append(100 * model.score(B, b))
                losses.append(log_loss(b, model.predict_proba(B), labels=model.classes_))
            found.append(scores + losses)
        means.append(np.mean(found, axis=0))
        print_row(name, means[-1])
    print_row("**mean**", np.mean(means, axis=0))


def sparse(n_splits):
    columns = [f"{by}, {rule}" for by in ("squared error", "score") for rule in RULES]
    print("| | " + " | ".join(columns) + " |\n" + "|---" * (1 + len(columns)) + "|")
    tune, means = width.tune, []
    for name, n_nodes in NODES.items():
        X, y = training_rows(name)
        found = []
        for seed, (A, a, B, b) in enumerate(splits(X, y, name, n_splits, test_size=0.25)):
            scores = []
            for by_error in (True, False):
                model = SparseKernelFisherDiscriminant(
                    kernel="rbf", max_nodes=n_nodes, random_state=seed
                )
                with patch.object(
                    width, "tune", lambda *x, by_error, e=by_error: tune(*x, by_error=e)
                ):
                    model.fit(A, a)
                for rule in RULES[:2]:
                    with threshold(rule):  # the last step; nothing before depends on it
                        model._finish(model.n_nodes_)
                    scores.append(100 * model.score(B, b))
                # With a path of moments the covariance is that of the fitted discriminants.
                pooled = LinearDiscriminantAnalysis(priors=np.bincount(a) / a.size)
                pooled.fit(model.transform(A), a)
                scores.append(100 * pooled.score(model.transform(B), b))
            found.append(scores)
        means.append(np.mean(found, axis=0))
        print_row(name, means[-1])
    print_row("**mean**", np.mean(means, axis=0))


def print_row(name, values):
    print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in values) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    studies = {"rule": rules, "sparse": sparse}
    parser.add_argument("study", choices=studies)
    parser.add_argument("--splits", type=int, default=3, help="random splits of each table")
    options = parser.parse_args()
    studies[options.study](options.splits)


if __name__ == "__main__":
    main()

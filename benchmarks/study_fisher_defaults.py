"""Two defaults of the sparse kernel Fisher discriminant, judged on training rows alone.

    MERCER_DATA=/path/to/data python benchmarks/study_fisher_defaults.py [--seeds 3]

The training part of each table is split 75:25.  The width is chosen by the squared leave-one-out
error (the default) or by the leave-one-out score; the threshold has one variance for all
outputs (the default) or a pooled covariance, as linear discriminant analysis has it.
Accuracy (%) on the held-out quarter; the tables' test parts are not touched.
"""

import argparse
from unittest.mock import patch

import numpy as np
from rich.progress import track
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer.datasets import load_dataset
from mercer.discriminants import SparseKernelFisherDiscriminant
from mercer.discriminants import _width as width

NODES = {"pendigits": 500, "usps": 1000, "mnist": 1000, "letter": 1000}
COLUMNS = (
    "squared error, one variance",
    "squared error, covariance",
    "score, one variance",
    "score, covariance",
)


def training_rows(name):
    data = load_dataset(name)
    rows = data.train_idx[0] if data.train_idx is not None else np.arange(int(0.8 * data.y.size))
    return data.X[rows].astype(float), data.y[rows]


def one_split(X, y, name, seed):
    """Return the four accuracies on a quarter of the training rows."""
    A, B, a, b = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    if name in ("letter", "pendigits"):  # images are left as they are
        scale = StandardScaler().fit(A)
        A, B = (np.clip(scale.transform(Z), -4, 4) for Z in (A, B))
    shares = np.unique(a, return_counts=True)[1] / a.size
    tune, scores = width.tune, []
    for by_error in (True, False):
        with patch.object(width, "tune", lambda *x, by_error, e=by_error: tune(*x, by_error=e)):
            model = SparseKernelFisherDiscriminant(max_nodes=NODES[name], random_state=seed)
            model.fit(A, a)
        pooled = LinearDiscriminantAnalysis(priors=shares).fit(model.transform(A), a)
        scores += [model.score(B, b), pooled.score(model.transform(B), b)]
    return 100 * np.array(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    print("| | " + " | ".join(COLUMNS) + " |\n|---" * 1 + "|---" * len(COLUMNS) + "|")
    means = []
    for name in NODES:
        X, y = training_rows(name)
        splits = track(seeds, description=name, transient=True)
        means.append(np.mean([one_split(X, y, name, seed) for seed in splits], axis=0))
        print(f"| {name} | " + " | ".join(f"{v:.2f}" for v in means[-1]) + " |", flush=True)
    print("| **mean** | " + " | ".join(f"{v:.2f}" for v in np.mean(means, axis=0)) + " |")


if __name__ == "__main__":
    main()

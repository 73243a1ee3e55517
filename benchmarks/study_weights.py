"""What leaves with a row under leave-one-out: one copy, all copies, or as docs/weights.md says.

    python benchmarks/study_weights.py [--data DIR] [NAME ...]

Exact kernel Fisher with its defaults on sets with and without identical rows, as they are and after
a bootstrap, which makes copies.  Accuracy in % on new rows, over four splits.
"""

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.preprocessing import StandardScaler

from mercer import KernelFisherDiscriminant
from mercer.datasets import load_dataset
from mercer.samples import _weights

NAMES = (
    "ida_titanic", "ida_flare_solar", "tae", "transfusion", "ida_breast_cancer", "wbc",
    "pima", "balance", "german_numeric", "wine",
)  # fmt: skip
SPLITS, MOST = 4, 500


def leaving(rule):
    """Return what `merge_places` does under another rule of what leaves."""
    merge = _weights.merge_places

    def merge_places(places, codes, weights):
        merged = merge(places, codes, weights)
        one = merged.weights / np.bincount(merged.index, weights)
        gone = {"one copy": one, "all copies": merged.weights}.get(rule, merged.leaving)
        return _weights.Merged(merged.rows, merged.weights, gone, merged.index)

    return merge_places


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--data", help="folder of data sets; else MERCER_DATA")
    options = parser.parse_args()
    if options.data:
        os.environ["MERCER_DATA"] = options.data
    warnings.simplefilter("ignore")
    rules, plain = ("one copy", "all copies", "Mercer"), _weights.merge_places
    print("| set | distinct rows | " + " | ".join(rules) + " | " + " | ".join(
        f"bootstrap, {rule}" for rule in rules) + " |")  # fmt: skip
    print("|---" * (2 + 2 * len(rules)) + "|")
    for name in options.names:
        data = load_dataset(name)
        X, y = data.X.reshape(len(data.X), -1).astype(float), data.y
        scores, distinct = np.zeros((SPLITS, 2, len(rules))), []
        for split in range(SPLITS):
            rng = np.random.default_rng(split)
            order, n = rng.permutation(len(y)), min(MOST, int(0.6 * len(y)))
            train, test = order[:n], order[n:]
            scaler = StandardScaler().fit(X[train])
            distinct.append(len(np.unique(np.c_[X[train], y[train]], axis=0)) / n)
            drawn = train[rng.integers(0, n, n)]
            for r, rule in enumerate(rules):
                _weights.merge_places = leaving(rule)
                for k, rows in enumerate((train, drawn)):
                    model = KernelFisherDiscriminant().fit(scaler.transform(X[rows]), y[rows])
                    scores[split, k, r] = model.score(scaler.transform(X[test]), y[test])
                _weights.merge_places = plain
        cells = [f"{100 * value:.1f}" for value in scores.mean(axis=0).ravel()]
        print(
            f"| {name} | {100 * np.mean(distinct):.0f} % | " + " | ".join(cells) + " |", flush=True
        )


if __name__ == "__main__":
    main()

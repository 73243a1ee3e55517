"""What columns of unlike scales cost classifiers of one width: the table of docs/classifiers.md.

    MERCER_DATA=/path/to/data python benchmarks/study_scales.py [DATA …]

For every data set, the widest first: how many times as far the widest column spreads as half of
the columns (what the warning goes by), and per cent correct on columns as they are and after a
StandardScaler, by 5 folds of at most 700 rows.
"""

import argparse
import warnings

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.datasets import load_dataset
from mercer.samples._training import widest_against_half

DATA = (
    "breast", "wdbc", "australian", "wine", "transfusion", "german_numeric", "heart_statlog",
    "echocardiogram", "vehicle", "pima", "liver", "glass", "newthyroid", "iris", "ecoli", "sonar",
    "tae", "ionosphere", "vowel", "wbc", "balance",
)  # fmt: skip
MOST_ROWS = 700


def load(name):
    X, y = load_dataset(name, return_X_y=True)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    whole = np.isfinite(X).all(axis=1)
    X, y = X[whole], y[whole]
    if len(y) > MOST_ROWS:
        X, y = resample(X, y, n_samples=MOST_ROWS, replace=False, stratify=y, random_state=0)
    return X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", nargs="*", default=DATA, metavar="DATA")
    tables = {name: load(name) for name in parser.parse_args().data}
    times = {name: widest_against_half(X)[0] for name, (X, _) in tables.items()}
    models = (ParzenClassifier(), LaplacianClassifier(), ISEClassifier())
    print("| data | times | " + " | ".join(type(one).__name__ for one in models) + " |")
    print("|---" * (2 + len(models)) + "|")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name in sorted(tables, key=lambda one: -times[one]):
        cells = []
        for model in models:
            raw, scaled = (
                100 * cross_val_score(one, *tables[name], cv=folds).mean()
                for one in (model, make_pipeline(StandardScaler(), model))
            )
            cells.append(f"{raw:.1f} → {scaled:.1f}")
        print(f"| `{name}` | {times[name]:.3g} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main()

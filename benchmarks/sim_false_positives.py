"""How often does each test find a difference where there is none?

    python benchmarks/sim_false_positives.py [--draws 1000] [--seed 0]

Twins: every sample has two blocks of features with the same distribution given the class. A learns
from the first block, B from the second, by the same method. So A and B have exactly the same
expected accuracy, whatever the size of the training set, and every rejection is a false positive.
A test at the 5 % level should reject in about 5 % of the draws.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from mercer.comparison import (
    corrected_t_test,
    five_by_two_f_test,
    five_by_two_t_test,
    friedman_test,
    kfold_paired_t_test,
    mcnemar_test,
    wilcoxon_test,
)

LEVEL = 0.05
N_SAMPLES, N_FEATURES, SHIFT = 200, 3, 1.0


def twins(rng, n_draws, n_samples=N_SAMPLES):
    """Samples as A and B see them, (n_draws, 2, n_samples, n_features), and their classes."""
    y = np.arange(n_samples) % 2
    X = rng.normal(size=(n_draws, 2, n_samples, N_FEATURES)).astype(np.float32)
    X[..., 0] += SHIFT * y
    return X, y


def nearest(X_test, X_train):
    """Indices of the nearest training rows."""
    scores = (X_train**2).sum(axis=-1)[..., None, :] - 2 * X_test @ X_train.swapaxes(-1, -2)
    return scores.argmin(axis=-1)


def nearest_neighbour(X, y, train, test):
    """Predict by the class of the nearest training sample: an unstable learner."""
    return y[train][nearest(X[..., test, :], X[..., train, :])]


def nearest_mean(X, y, train, test):
    """Predict by the nearest class mean: a stable learner."""
    means = [X[..., train[y[train] == label], :].mean(axis=-2) for label in (0, 1)]
    return nearest(X[..., test, :], np.stack(means, axis=-2))


LEARNERS = {"nearest mean": nearest_mean, "nearest neighbour": nearest_neighbour}


def score_splits(learner, X, y, splits):
    """Accuracies (n_draws, 2, n_splits) and out-of-fold predictions (n_draws, 2, n_samples)."""
    accuracies, out_of_fold = [], np.zeros(X.shape[:3], dtype=int)
    for train, test in splits:
        predictions = learner(X, y, train, test)
        accuracies.append((predictions == y[test]).mean(axis=-1))
        out_of_fold[..., test] = predictions
    return np.stack(accuracies, axis=-1), out_of_fold


def rejections(pvalues):
    return int(np.sum(np.asarray(pvalues) < LEVEL))


def learning_methods(n_draws, seed, learner):
    """Rejections of the tests that compare learning methods, from cross-validation of twins."""
    rng = np.random.default_rng(seed)
    y = np.arange(N_SAMPLES) % 2
    folds = list(StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y))
    random = list(StratifiedShuffleSplit(30, test_size=0.1, random_state=seed).split(y, y))
    halves = [
        split
        for i in range(5)
        for split in StratifiedKFold(2, shuffle=True, random_state=seed + i).split(y, y)
    ]
    found: dict[str, list[float]] = {}
    for start in range(0, n_draws, 100):
        X, y = twins(rng, min(100, n_draws - start))
        by_fold, predictions = score_splits(LEARNERS[learner], X, y, folds)
        by_split, _ = score_splits(LEARNERS[learner], X, y, random)
        by_half, _ = score_splits(LEARNERS[learner], X, y, halves)
        sizes = {"n_train": 180, "n_test": 20}
        for i in range(len(X)):
            for name, test, scores, options in (
                ("t, 10 folds, plain", kfold_paired_t_test, by_fold, {}),
                ("t, 10 folds, corrected", corrected_t_test, by_fold, sizes),
                ("t, 30 random splits, plain", kfold_paired_t_test, by_split, {}),
                ("t, 30 random splits, corrected", corrected_t_test, by_split, sizes),
                ("t, 5×2 halves", five_by_two_t_test, by_half, {}),
                ("F, 5×2 halves", five_by_two_f_test, by_half, {}),
            ):
                p = test(scores[i, 0], scores[i, 1], **options).pvalue
                found.setdefault(name, []).append(p)
            p = mcnemar_test(y, predictions[i, 0], predictions[i, 1]).pvalue
            found.setdefault("McNemar, out-of-fold predictions", []).append(p)
    return {name: rejections(pvalues) for name, pvalues in found.items()}


def correlation_of_halves(n_draws, seed, learner):
    """Correlation over draws of the two differences of one replication; the 5×2 tests expect 0."""
    X, y = twins(np.random.default_rng(seed), n_draws)
    halves = StratifiedKFold(2, shuffle=True, random_state=seed).split(y, y)
    accuracies, _ = score_splits(LEARNERS[learner], X, y, halves)
    return np.corrcoef((accuracies[:, 0] - accuracies[:, 1]).T)[0, 1]


def fixed_classifiers(n_draws, seed):
    """Rejections of McNemar's test for two fixed rules of exactly the same error rate."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for _ in range(n_draws):
        y = rng.integers(2, size=400)
        predictions = rng.normal(size=(2, 400)) + 2 * y > 1
        for method in ("exact", "mid-p", "chi2"):
            result = mcnemar_test(y, *predictions.astype(int), method=method)
            found.setdefault(f"McNemar, one test set, {method}", []).append(result.pvalue)
    return {name: rejections(pvalues) for name, pvalues in found.items()}


def many_datasets(n_draws, seed):
    """Rejections over 20 data sets of unlike difficulty, five equal estimators."""
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {"Wilcoxon, 20 data sets": [], "Friedman, 20 data sets": []}
    for _ in range(n_draws):
        scores = rng.uniform(0.6, 0.95, size=(20, 1)) + 0.02 * rng.normal(size=(20, 5))
        pvalue = wilcoxon_test(scores[:, 0], scores[:, 1]).pvalue
        found["Wilcoxon, 20 data sets"].append(pvalue)
        found["Friedman, 20 data sets"].append(friedman_test(scores).pvalue)
    return {name: rejections(pvalues) for name, pvalues in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    low, high = stats.binom.interval(0.95, options.draws, LEVEL) / np.array(options.draws)
    print(
        f"False positives at the 5 % level in {options.draws} draws; a test that keeps its level "
        f"shows {low:.1%} to {high:.1%} in 95 of 100 such runs."
    )
    for title, counts in (
        ("two fixed classifiers", fixed_classifiers(options.draws, options.seed)),
        *((name, learning_methods(options.draws, options.seed, name)) for name in LEARNERS),
        ("many data sets", many_datasets(options.draws, options.seed)),
    ):
        print(title)
        for name, count in counts.items():
            print(f"  {name:<36}{count / options.draws:7.1%}")
    for name in LEARNERS:
        correlation = correlation_of_halves(options.draws, options.seed, name)
        print(f"correlation of the two halves of a replication, {name}: {correlation:.2f}")
    print(f"({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()

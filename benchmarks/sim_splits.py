"""Do the tests keep their level where rows come in groups, in an order of time, or as a test file?

    python benchmarks/sim_splits.py [--draws 1000] [--seed 0] [--rows 400]

The twins of sim_false_positives.py, A and B equally good, so that every rejection at the 5 % level
is a false positive; but rows are not independent.  In groups, every group moves the features of
its rows, and those of A and B by numbers of their own: one of the two may look better on these
groups, and is not on others.  In time, features drift, and neighbours in time are alike.  Against
the split that knows of it stand random folds, which do not.
"""

import argparse
from itertools import islice

import numpy as np
from scipy import stats
from sim_false_positives import LEARNERS, LEVEL, N_FEATURES, SHIFT, score_splits
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from mercer.comparison import mcnemar_test
from mercer.comparison.engine._metrics import score_all
from mercer.comparison.engine._splits import GroupFolds, TimeBlocks, random_parts
from mercer.comparison.tests._on_parts import parts_t_test, values_by_part

GROUPS = (4, 6, 10, 15, 20, 50, 100)
MOST_ROUNDS = 20
GROUP_SPREAD, DRIFT, MEMORY = 1.0, 1.0, 0.98


def grouped_twins(rng, n_draws, groups):
    """Samples (n_draws, 2, n_rows, n_features) whose groups have offsets, and their classes."""
    y = np.arange(len(groups)) % 2
    offsets = rng.normal(size=(n_draws, 2, groups.max() + 1, N_FEATURES))
    X = (
        rng.normal(size=(n_draws, 2, len(groups), N_FEATURES))
        + GROUP_SPREAD * offsets[..., groups, :]
    )
    X[..., 0] += SHIFT * y
    return X.astype(np.float32), y


def drifting_twins(rng, n_draws, n_rows):
    """The same with an offset that wanders in time, and classes that come in runs."""
    steps = rng.normal(size=(n_draws, 2, n_rows, N_FEATURES)) * np.sqrt(1 - MEMORY**2)
    offset = np.empty_like(steps)
    offset[..., 0, :] = rng.normal(size=(n_draws, 2, N_FEATURES))
    for i in range(1, n_rows):
        offset[..., i, :] = MEMORY * offset[..., i - 1, :] + steps[..., i, :]
    y = (np.arange(n_rows) // 4) % 2
    X = rng.normal(size=(n_draws, 2, n_rows, N_FEATURES)) + DRIFT * offset
    X[..., 0] += SHIFT * y
    return X.astype(np.float32), y


def rejected(differences, overlap):
    """Share of draws in which the t test of differences (n_draws, n_rounds) rejects."""
    n = differences.shape[1]
    error = np.sqrt((1 / n + overlap) * differences.var(axis=1, ddof=1))
    quantile = stats.t.ppf(1 - LEVEL / 2, n - 1)
    return float(np.mean(np.abs(differences.mean(axis=1)) > quantile * error))


def overlap_of(splits):
    return np.mean([len(test) for _, test in splits]) / np.mean([len(a) for a, _ in splits])


def try_splits(learner, twins, draws, seed, splits):
    """Rejections of the t test, plain and corrected, for twins drawn a hundred at a time."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(0, draws, 100):
        X, y = twins(rng)
        accuracies, _ = score_splits(learner, X, y, splits)
        found.append(accuracies[:, 0] - accuracies[:, 1])
    differences = np.concatenate(found)
    return rejected(differences, 0.0), rejected(differences, overlap_of(splits))


def print_groups(options):
    print("groups: t test, plain | corrected")
    y = np.arange(options.rows) % 2
    for n_groups in GROUPS:
        groups = np.arange(options.rows) // 2 % n_groups
        kinds = {}
        folds = GroupFolds(y, groups, 10, 0)
        n_rounds = int(min(folds.n_rounds, MOST_ROUNDS))
        kinds[f"group folds, {n_rounds} rounds"] = [folds[k] for k in range(n_rounds)]
        n = min(10, n_groups)
        repeated = (
            split
            for seed in range(MOST_ROUNDS)
            for split in StratifiedGroupKFold(n, shuffle=True, random_state=seed).split(
                y, y, groups
            )
        )
        kinds["20 rounds whatever"] = list(islice(repeated, MOST_ROUNDS))
        kinds["20 random folds"] = list(
            RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0).split(y, y)
        )
        for kind, splits in kinds.items():
            print(f"  {n_groups:3d} groups, {kind:<26}", end="")
            for learner in LEARNERS:
                plain, corrected = try_splits(
                    LEARNERS[learner],
                    lambda rng, groups=groups: grouped_twins(rng, 100, groups),
                    options.draws,
                    options.seed,
                    splits,
                )
                print(f"   {learner} {plain:6.1%} | {corrected:6.1%}", end="")
            print()


def print_times(options):
    print("time: t test, plain | corrected")
    y = np.arange(options.rows) // 4 % 2
    time = np.arange(options.rows)
    kinds = {}
    for n in (5, 10):
        blocks = TimeBlocks(y, time, n)
        kinds[f"{n} later blocks"] = [blocks[k] for k in range(blocks.n_rounds)]
    kinds["20 random folds"] = list(
        RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0).split(y, y)
    )
    for kind, splits in kinds.items():
        print(f"  {kind:<26}", end="")
        for learner in LEARNERS:
            plain, corrected = try_splits(
                LEARNERS[learner],
                lambda rng: drifting_twins(rng, 100, options.rows),
                options.draws,
                options.seed,
                splits,
            )
            print(f"   {learner} {plain:6.1%} | {corrected:6.1%}", end="")
        print()


def print_test_file(options):
    """Two fixed rules of equal error on the rows of one file, by the parts of the file."""
    print("test file: two fixed rules")
    rng = np.random.default_rng(options.seed)
    for n_rows in (50, 200, 1000):
        for share in (0.5, 0.1):
            found = {"accuracy, McNemar": 0}
            n_draws = min(options.draws, 400)
            for _ in range(n_draws):
                y = (rng.random(n_rows) < share).astype(int)
                if y.sum() < 2:
                    continue
                outputs = rng.normal(size=(2, n_rows)) + 1.5 * y
                parts = random_parts(n_rows, rng.integers(2**31))
                scores, left_out = [], []
                for one in outputs:
                    predicted = (one > 0.75).astype(int)
                    columns = np.column_stack([-one, one])

                    def score(rows, predicted=predicted, columns=columns, y=y):
                        return score_all(
                            y[rows], predicted[rows], columns[rows],
                            are_probabilities=False, n_classes=2, positive=1,
                        )  # fmt: skip

                    scores.append(score(np.arange(n_rows)))
                    left_out.append(
                        [score(np.flatnonzero(parts != g)) for g in range(parts.max() + 1)]
                    )
                codes = (outputs > 0.75).astype(int)
                found["accuracy, McNemar"] += mcnemar_test(y, *codes).pvalue < LEVEL
                for metric in ("accuracy", "balanced", "f1", "auc", "average-precision"):
                    values = [
                        values_by_part(score[metric], [one[metric] for one in without])
                        for score, without in zip(scores, left_out, strict=True)
                    ]
                    result = parts_t_test(*values)
                    found[metric] = found.get(metric, 0) + (result.pvalue < LEVEL)
            print(f"  {n_rows} rows, {share:.0%} of the class: ", end="")
            print(", ".join(f"{name} {n / n_draws:.1%}" for name, n in found.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--only", choices=["groups", "time", "test"])
    options = parser.parse_args()
    for name, show in (("groups", print_groups), ("time", print_times), ("test", print_test_file)):
        if options.only in (None, name):
            show(options)


if __name__ == "__main__":
    main()

"""What does it cost to be judged by several metrics at once, and does the level hold?

    python benchmarks/sim_metrics.py [--draws 2000] [--seed 1] [--shift 0.6]

The twins of sim_false_positives.py with a third sibling: three learners of one method, each on its
own block of features, in 20 rounds of ten folds as `mercer compare` runs them, judged by accuracy,
the area under the ROC curve and log loss. Where the three are equally good, the share of draws in
which any pair differs by any metric is the level of the whole family, which should be 5 % at most.
Where the first block tells more (its classes are farther apart by --shift), the share of draws in
which the first is found to be better than the second, by each metric, is what a correction leaves
of the power. "alone" corrects over the pairs by one metric, as where one metric is asked for.
"""

import argparse

import numpy as np
from scipy import stats
from sim_false_positives import LEVEL, N_FEATURES, N_SAMPLES, SHIFT
from sklearn.model_selection import RepeatedStratifiedKFold

from mercer.comparison import holm_correction

METRICS = ("accuracy", "auc", "log-loss")
PAIRS = ((0, 1), (0, 2), (1, 2))
ROUNDS, FOLDS, NEIGHBOURS = 20, 10, 5


def nearest_mean(X, y, train, test):
    """Log odds by distances from class means, as if features had unit variance: stable."""
    means = [X[..., train[y[train] == label], :].mean(axis=-2, keepdims=True) for label in (0, 1)]
    far = [((X[..., test, :] - mean) ** 2).sum(axis=-1) for mean in means]
    return (far[0] - far[1]) / 2


def nearest_neighbours(X, y, train, test):
    """Log odds by the votes of the nearest training rows, one more for either class: unstable."""
    rows = X[..., train, :]
    near = (rows**2).sum(axis=-1)[..., None, :] - 2 * X[..., test, :] @ rows.swapaxes(-1, -2)
    votes = y[train][near.argpartition(NEIGHBOURS, axis=-1)[..., :NEIGHBOURS]].sum(axis=-1)
    return np.log((votes + 1.0) / (NEIGHBOURS - votes + 1.0))


def scores(odds, y):
    """Accuracy, area and minus log loss of log odds, over the last axis."""
    ahead = odds[..., y == 1][..., :, None] - odds[..., y == 0][..., None, :]
    area = ((ahead > 0) + 0.5 * (ahead == 0)).mean(axis=(-2, -1))
    gain = -np.logaddexp(0.0, np.where(y == 1, -odds, odds)).mean(axis=-1)
    return np.stack([((odds > 0) == y).mean(axis=-1), area, gain])


def pvalues(learner, n_draws, seed, shift):
    """P-values of the corrected t test, (n_draws, metrics, pairs), uncorrected; signs of means."""
    rng, y = np.random.default_rng(seed), np.arange(N_SAMPLES) % 2
    splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=ROUNDS // FOLDS, random_state=seed)
    splits = list(splitter.split(y, y))
    found, signs = [], []
    for _ in range(0, n_draws, 100):
        X = rng.normal(size=(100, 3, N_SAMPLES, N_FEATURES)).astype(np.float32)
        X[..., 0] += SHIFT * y
        X[:, 0, :, 0] += shift * y
        made = [scores(learner(X, y, train, test), y[test]) for train, test in splits]
        by_round = np.stack(made, axis=-1)  # metrics, draws, learners, rounds
        gaps = np.stack([by_round[:, :, a] - by_round[:, :, b] for a, b in PAIRS], axis=2)
        error = np.sqrt((1 / ROUNDS + 1 / (FOLDS - 1)) * gaps.var(axis=-1, ddof=1))
        t = gaps.mean(axis=-1) / error
        found.append(2 * stats.t.sf(np.abs(t), ROUNDS - 1).swapaxes(0, 1))
        signs.append(np.sign(t).swapaxes(0, 1))
    return np.concatenate(found), np.concatenate(signs)


def corrections(p):
    """P-values of one draw, (metrics, pairs), uncorrected and by two families."""
    return {
        "no correction": p,
        "Holm over pairs, each metric alone": np.stack([holm_correction(own) for own in p]),
        "Holm over metrics x pairs": holm_correction(p.ravel()).reshape(p.shape),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shift", type=float, default=0.6)
    options = parser.parse_args()
    for name, learner in (("means", nearest_mean), ("neighbours", nearest_neighbours)):
        null, _ = pvalues(learner, options.draws, options.seed, 0.0)
        other, signs = pvalues(learner, options.draws, options.seed + 1, options.shift)
        print(f"{name}: any false positive; the better one found by {', '.join(METRICS)}")
        for way in corrections(null[0]):
            level = np.mean([(corrections(p)[way] < LEVEL).any() for p in null])
            right = [
                (corrections(p)[way][:, 0] < LEVEL) & (sign[:, 0] > 0)
                for p, sign in zip(other, signs, strict=True)
            ]
            power = "  ".join(f"{one:6.1%}" for one in np.mean(right, axis=0))
            print(f"  {way:<36}{level:7.1%}      {power}")


if __name__ == "__main__":
    main()

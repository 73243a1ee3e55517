"""How many rounds of how many folds does the corrected t test bear?

    python benchmarks/sim_rounds.py [--draws 2000] [--seed 1] [--samples 200]

The twins of sim_false_positives.py: A and B are equally good, so every rejection at the 5 % level
is a false positive. Beside their share stands the mean half-width of the interval of the
difference, which tells what further rounds are worth, and the share of draws in which the
difference was the same on every split and not nought, where the sign test takes the place of t:
few samples make that frequent.
"""

import argparse

import numpy as np
from scipy import stats
from sim_false_positives import LEARNERS, LEVEL, N_SAMPLES, score_splits, twins
from sklearn.model_selection import RepeatedStratifiedKFold

ROUNDS = (2, 3, 5, 10, 20, 30, 50)


def differences(learner, n_folds, n_draws, seed, n_samples):
    """Differences of accuracy, (n_draws, 50), on the rounds of repeated stratified folds."""
    rng, y = np.random.default_rng(seed), np.arange(n_samples) % 2
    repeats = max(ROUNDS) // n_folds
    splitter = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=seed)
    splits = list(splitter.split(y, y))
    found = []
    for _ in range(0, n_draws, 100):
        X, y = twins(rng, 100, n_samples)
        accuracies, _ = score_splits(LEARNERS[learner], X, y, splits)
        found.append(accuracies[:, 0] - accuracies[:, 1])
    return np.concatenate(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    options = parser.parse_args()
    for n_folds in (5, 10):
        for learner in LEARNERS:
            everything = differences(learner, n_folds, options.draws, options.seed, options.samples)
            print(f"{n_folds} folds, {learner}")
            for n in ROUNDS:
                d = everything[:, :n]
                error = np.sqrt((1 / n + 1 / (n_folds - 1)) * d.var(axis=1, ddof=1))
                quantile = stats.t.ppf(1 - LEVEL / 2, n - 1)
                has_spread = np.ptp(d, axis=1) > 1e-12
                by_sign = ~has_spread & (np.abs(d[:, 0]) > 1e-12)
                is_rejected = has_spread & (np.abs(d.mean(axis=1)) > quantile * error)
                is_rejected |= by_sign & (2 * 0.5**n < LEVEL)
                half = (quantile * error).mean()
                print(
                    f"  {n:2d} rounds {is_rejected.mean():6.1%}   half-width {half:.3f}   "
                    f"no spread {by_sign.mean():.1%}"
                )


if __name__ == "__main__":
    main()

"""Prediction sets as their papers say them: refits without each row, loops over rows and classes.

R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani (2021). Predictive inference with the
jackknife+. Annals of Statistics 49, 486-507.
"""

import numpy as np


def refit(K, k_new, targets, weights, alpha):
    """Outputs at new rows of the weighted ridge regression with a free level, from its equations.

    The residual of row j is αaⱼ/pⱼ, and the coefficients add up to zero.  The outputs are relative
    to the mean of the targets.
    """
    n_rows = len(K)
    system = np.zeros((n_rows + 1, n_rows + 1))
    system[:n_rows, :n_rows] = K + alpha * np.diag(1 / weights)
    system[:n_rows, n_rows] = system[n_rows, :n_rows] = 1
    solved = np.linalg.solve(system, np.vstack([targets, np.zeros(targets.shape[1])]))
    outputs = k_new @ solved[:n_rows] + solved[n_rows]
    return outputs - weights @ targets / weights.sum()


def outputs_without_each_row(K, k_new, targets, weights, removed, alpha):
    """Outputs at new rows of the refit without (a share of) each row: (n_new, n_rows, targets)."""
    found = []
    for row in range(len(K)):
        left = weights.copy()
        left[row] *= 1 - removed[row]
        kept = left > 1e-15
        part = K[np.ix_(kept, kept)]
        found.append(refit(part, k_new[:, kept], targets[kept], left[kept], alpha))
    return np.stack(found, axis=1)


def odds_against(scores, label):
    """log((1 − p) / p) of a class, from scores of all of them; −inf for the first of the best."""
    if label == np.argmax(scores):
        return -np.inf
    others = [score for other, score in enumerate(scores) if other != label]
    return np.logaddexp.reduce(others) - scores[label]


def plain_sets(scores, left_out, labels, counts, coverage):
    """Sets by the scores (n_new, C) of the fit, and those of left-out rows (n_rows, C)."""
    same = np.repeat(scores[:, None, :], len(left_out), axis=1)
    return jackknife_sets(scores, same, left_out, labels, counts, coverage)


def jackknife_sets(scores, by_row, left_out, labels, counts, coverage):
    """Sets by the scores (n_new, n_rows, C) of the fits without each row.

    With n rows, a class stays out if ⌈coverage (n + 1)⌉ of them were stranger to their own fit.
    """
    sets = np.zeros(scores.shape, dtype=bool)
    needed = int(np.ceil(round(coverage * (counts.sum() + 1), 9)))
    for x in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            beaten = 0
            for row in range(len(labels)):
                own = odds_against(left_out[row], labels[row])
                beaten += counts[row] * (own < odds_against(by_row[x, row], label))
            sets[x, label] = beaten < needed or label == np.argmax(scores[x])
    return sets

"""Shapley's value as it is defined, over all subsets of the players, for scores of classifiers."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest


def shapley_values(game, n_players):
    """Return Σ_S |S|! (n − |S| − 1)! / n! (v(S ∪ g) − v(S)) of each player g."""
    values = np.zeros(n_players)
    for g in range(n_players):
        others = [k for k in range(n_players) if k != g]
        for size in range(n_players):
            weight = factorial(size) * factorial(n_players - size - 1) / factorial(n_players)
            for subset in combinations(others, size):
                values[g] += weight * (game({*subset, g}) - game(set(subset)))
    return values


def swap_game(score, row, background, groups):
    """Return the game in which players bring the row's columns, others the background's."""

    def game(players):
        taken = np.isin(groups, list(players))
        mixed = np.where(taken, row, background)
        return float(np.mean(score(mixed)))

    return game


def blobs(n=60, n_columns=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    score = X[:, 0] + X[:, 1] * X[:, 2 % n_columns] + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def difference(model, one, other):
    """The public log odds of a class against another, or the score less that of the other."""

    def score(rows):
        if hasattr(model, "predict_log_proba"):
            logs = model.predict_log_proba(rows)
            return logs[:, one] - logs[:, other]
        found = model.decision_function(rows)
        if found.ndim == 1:
            return found if one == 1 else -found
        return found[:, one] - found[:, other]

    return score


def assert_exact(model, X, background, reasons, groups=None):
    groups = np.arange(X.shape[1]) if groups is None else groups
    for i, row in enumerate(X):
        one, other = (
            list(model.classes_).index(names[i]) for names in (reasons.predicted, reasons.against)
        )
        game = swap_game(difference(model, one, other), row, background, groups)
        expected = shapley_values(game, groups.max() + 1)
        size = np.abs(expected).max() + abs(reasons.base[i])
        np.testing.assert_allclose(reasons.shares[i], expected, rtol=1e-7, atol=1e-8 * size)
        assert reasons.base[i] == pytest.approx(game(set()), rel=1e-7, abs=1e-8 * size)
        assert reasons.scores[i] == pytest.approx(game(set(range(len(expected)))), rel=1e-7)

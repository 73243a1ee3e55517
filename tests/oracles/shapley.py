"""Shapley's value as it is defined: over all subsets of the players."""

from itertools import combinations
from math import factorial

import numpy as np


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

"""Weights as estimators take them: 0, or from 1e-100 to 1e100; and some beyond."""

import numpy as np

from torture.cases import weights

WEIGHTS = ("none", "none", "near one", "wide", "broad", "zeros", "all large", "all small", "widest")


def weigh(kind, n, seed):
    """Return n weights: from 1e-99 to 1e99, or beyond with "widest"; None for "none"."""
    rng = np.random.default_rng((seed, 103))
    match kind:
        case "none":
            return None
        case "broad":
            return 10.0 ** rng.uniform(-99, 99, n)
        case "all large":
            return 1e98 * rng.uniform(0.5, 2, n)
        case "all small":
            return 1e-98 * rng.uniform(0.5, 2, n)
    return weights(kind, n, seed)

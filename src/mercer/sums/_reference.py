"""The literal double loop, in extended precision: what the other backends are held to.

It owns nothing by itself; tests call it.
"""

import numpy as np
from numpy.typing import NDArray

from mercer.sums._problem import Problem

OWNS: tuple[str, ...] = ()  # no array goes here of itself


def refuses(problem: Problem) -> str | None:
    """Return None for any sum over NumPy arrays, in the time it takes, where no row is left out."""
    return "left-out sums are written out in tests/sums" if problem.is_left_out else None


def run(problem: Problem) -> NDArray[np.longdouble]:
    """Return the sums, or their logarithms, as (bandwidths, rows of X, outputs)."""
    X, Y = (A.astype(np.longdouble) for A in (problem.X, problem.Y))
    order = range(problem.n_columns) if problem.order is None else problem.order
    weights = problem.weights
    out = np.zeros((len(problem.bandwidths), X.shape[0], problem.n_outputs), np.longdouble)
    if problem.log:
        out -= np.inf
    for b, bandwidth in enumerate(problem.bandwidths):
        for i in range(X.shape[0]):
            for s in range(len(problem.bounds) - 1):
                for j in range(problem.bounds[s], problem.bounds[s + 1]):
                    if problem.exclude_self and order[j] == i:
                        continue
                    d2 = problem.kernel.squared_distances(X[i] - Y[order[j]])
                    w = np.longdouble(1) if weights is None else weights[j].astype(np.longdouble)
                    columns = slice(None) if np.ndim(w) else s
                    if problem.log:
                        with np.errstate(divide="ignore"):
                            term = np.log(w) + problem.kernel.log_profile(d2, bandwidth)
                        out[b, i, columns] = np.logaddexp(out[b, i, columns], term)
                    else:
                        out[b, i, columns] += w * problem.kernel.profile(d2, bandwidth)
    return out

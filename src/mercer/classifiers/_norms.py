"""Links of class vectors; and links and norms from some rows, in time that grows with their number.

V_c² = Σ_{i in c} β_i R_i is a sum over rows, [1] (19), and so is each link.  Rows are drawn at
random, and a term counts as often as its row was unlikely to be drawn: what they add up to is the
whole sum on average, with a standard error that falls as one over the root of their number
(Horvitz and Thompson's estimate [2]_).  Chances are in proportion to the rows' weights ω, as
β_i R_i is about ω_i times the share of class c in the density at row i, whatever the window.
Rows so heavy that they would be drawn more than once are drawn for certain.

References
----------
.. [2] D. G. Horvitz and D. J. Thompson, "A generalization of sampling without replacement from a
   finite universe", Journal of the American Statistical Association 47, 1952.
   https://doi.org/10.1080/01621459.1952.10483446
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, to_numpy
from mercer._memory import row_slabs, working_memory
from mercer.classifiers._class_vectors import ClassVectors
from mercer.samples import SortedSample, home_of, in_memory, logsumexp
from mercer.sums import group_sums

_TABLES = 6  # A slab of rows holds this many arrays of (rows, classes) at once.
_LEAST = 2  # An error can be told from this many rows of a class.


@dataclass(frozen=True)
class Draw:
    """Rows that were drawn: where they are in a sample, their classes and their chances."""

    rows: NDArray[np.int64]
    codes: NDArray[np.int64]
    chances: FloatArray


def draw_rows(sample: SortedSample, size: int, random_state: np.random.RandomState) -> Draw:
    """Draw about `size` rows, as many of each class, or all of a class that has fewer."""
    memory = sample.in_memory
    weights, quota = to_numpy(memory.weights), max(_LEAST, -(-size // memory.n_classes))
    rows, chances = [], []
    for low, high in pairwise(memory.bounds):
        drawn, chance = _draw(weights[low:high], quota, random_state)
        rows.append(low + drawn)
        chances.append(chance)
    drawn = np.concatenate(rows)
    places = np.arange(memory.codes.size)[sample.places(drawn)]
    return Draw(places, memory.codes[drawn], np.concatenate(chances))


def _draw(
    weights: FloatArray, size: int, random_state: np.random.RandomState
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return rows drawn with chances in proportion to their weights, and these chances."""
    if size >= weights.size:
        return np.arange(weights.size), np.ones(weights.size)
    chances = np.ones(weights.size)
    certain = np.zeros(weights.size, dtype=bool)
    while True:
        left = weights[~certain]
        chances[~certain] = (size - np.count_nonzero(certain)) * (left / left.sum())
        too_heavy = ~certain & (chances >= 1)
        if not too_heavy.any():
            break
        certain |= too_heavy
        chances[certain] = 1.0
    # Rows are laid side by side in random order, each as long as its chance, and every unit of
    # length takes the row that lies there.
    order = random_state.permutation(weights.size)
    ends = np.cumsum(chances[order])
    at = np.searchsorted(ends, np.arange(size) + random_state.uniform(), side="right")
    drawn = np.sort(order[np.minimum(at, order.size - 1)])
    return drawn, chances[drawn]


def log_links(vectors: ClassVectors) -> Array:
    """Return log B_c = log Σ_{j≠c} ⟨M_c, M_j⟩ / V_j at one width: one pass over the pairs."""
    sample, beta, (width,) = vectors.sample, vectors.weights[0, :], vectors.widths
    xp, norms = array_namespace(beta), vectors.squared_norms[0, :] ** 0.5
    divided, parts = beta / sample.of_own_class(norms), []
    for rows in sample.slabs(8 * _TABLES * sample.n_classes):
        logs = group_sums(
            sample.X[rows, :], sample.X, divided, sample.codes, sample.n_classes,
            log=True, bandwidth=width, kernel=vectors.kernel, tol=vectors.tol,
        )  # fmt: skip
        others = xp.where(sample.is_of_class(rows), -float("inf"), logs)
        parts.append(logsumexp(others) + xp.log(beta[rows]))
    by_row = parts[0] if len(parts) == 1 else xp.concat(parts)
    return home_of(by_row).log_total(by_row, sample.codes, sample.n_classes)


def sampled_norms(vectors: ClassVectors, draw: Draw) -> tuple[FloatArray, FloatArray]:
    """Return estimates of V_c, and their relative standard errors: (C,) each."""
    n_classes = vectors.sample.n_classes
    log_own = np.concatenate(
        [logs[np.arange(len(codes)), codes] for logs, codes in _log_sums(vectors, draw)]
    )
    terms = np.exp(log_own) * _weights(vectors, draw) / draw.chances
    squared_norms = np.bincount(draw.codes, terms, n_classes)
    # The variance of such a draw, as Hájek approximates it.
    chance_left = 1 - draw.chances
    left = np.bincount(draw.codes, chance_left, n_classes)
    total = np.bincount(draw.codes, chance_left * terms, n_classes)
    means = total / np.where(left > 0, left, 1.0)
    squares = chance_left * (terms - means[draw.codes]) ** 2
    drawn = np.bincount(draw.codes, minlength=n_classes)
    variances = np.bincount(draw.codes, squares, n_classes) * drawn / np.maximum(drawn - 1, 1)
    return np.sqrt(squared_norms), np.sqrt(variances) / (2 * squared_norms)


def sampled_log_links(vectors: ClassVectors, draw: Draw, norms: FloatArray) -> FloatArray:
    """Return estimates of what `log_links` returns: (C,)."""
    log_norms, n_classes, parts = np.log(norms), vectors.sample.n_classes, []
    for logs, codes in _log_sums(vectors, draw):
        others = codes[:, None] != np.arange(n_classes)
        parts.append(logsumexp(np.where(others, logs - log_norms, -np.inf)))
    terms = np.concatenate(parts) + np.log(_weights(vectors, draw) / draw.chances)
    links: FloatArray = home_of(terms).log_total(terms, draw.codes, n_classes)
    return links


def _weights(vectors: ClassVectors, draw: Draw) -> FloatArray:
    """Return β at the rows that were drawn."""
    beta = vectors.weights[0, :]
    return to_numpy(in_memory(home_of(beta).take_rows(beta, draw.rows)))


def _log_sums(vectors: ClassVectors, draw: Draw) -> Iterator[tuple[FloatArray, Any]]:
    """Yield log Σ_{j in c} β_j k(x_i, x_j), j = i included, at rows that were drawn; (rows, C)."""
    sample, home = vectors.sample, home_of(vectors.sample.X)
    (width,), n_classes = vectors.widths, sample.n_classes
    bytes_per_row = 8 * _TABLES * n_classes
    for start, stop in row_slabs(draw.rows.size, bytes_per_row, working_memory() // 2):
        sums = group_sums(
            home.take_rows(sample.X, draw.rows[start:stop]), sample.X, vectors.weights[0, :],
            sample.codes, n_classes, log=True, bandwidth=width, kernel=vectors.kernel,
            tol=vectors.tol,
        )  # fmt: skip
        yield to_numpy(in_memory(sums)), draw.codes[start:stop]

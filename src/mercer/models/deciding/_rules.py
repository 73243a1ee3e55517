"""The maths of decisions: least expected cost, and the threshold that keeps a recall.

*Costs.*  With cost[c, k] of answering k where c is true, the answer is the k of the least
Σ_c p(c)·cost[c, k].  Of two classes that is a threshold on the probability of the second.

*A recall.*  Of a class c, the share s(x) = p(c) / (p(c) + the largest other p) says whether c is
the answer: from 1/2 on, it is the most probable class.  A lower threshold finds more rows of c, and
takes more others for them.  Rows of c that were left out, and new ones, have shares from one
distribution.  So the k-th smallest of n shares lies above at most a part 1 − r of it, and a
threshold there keeps a recall of r, with the probability P(Bin(n, 1 − r) ≥ k), whatever
the distribution (Wilks 1941; with ties the probability is larger).

S. S. Wilks (1941). Determination of sample sizes for setting tolerance limits. The Annals of
Mathematical Statistics 12, 91-96.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from mercer._arrays import FloatArray

PLAIN = 0.5  # At this share a class is as probable as the best of the others.


def least_cost(proba: FloatArray, costs: FloatArray) -> NDArray[np.intp]:
    """Return the class of the least expected cost of each row; of equal ones the first.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, C)
        Probabilities of the classes.
    costs : ndarray of shape (C, C)
        What it costs to answer the class of the column where that of the row is true.
    """
    # Less what it costs to be right, of which no answer can change anything, and as parts of the
    # largest difference, so that no product is out of range.
    return np.asarray(np.argmin(proba @ regrets(costs), axis=1))


def regrets(costs: FloatArray) -> FloatArray:
    """Return what answers cost beyond the right one, as parts of the largest such cost."""
    half = costs / 2  # the difference of two finite numbers may not be finite, that of halves is
    beyond: FloatArray = np.subtract(half, np.diagonal(half)[:, None])
    largest = float(beyond.max())
    relative: FloatArray = np.divide(beyond, largest if largest > 0 else 1.0)
    return relative


def raw_threshold(costs: FloatArray, slope: float, offsets: FloatArray) -> float | None:
    """Return the probability of the second of two classes at which both answers cost the same.

    That is before the correction by slope and offsets; None where no probability changes the
    answer, or all of them cost the same.
    """
    beyond = regrets(costs)
    if slope <= 0 or beyond[0, 1] <= 0 or beyond[1, 0] <= 0:
        return None
    odds = np.log(beyond[0, 1]) - np.log(beyond[1, 0])
    return float(special.expit((odds - (offsets[1] - offsets[0])) / slope))


def shares_of_class(proba: FloatArray, c: int) -> FloatArray:
    """Return how probable a class is beside the most probable other one: p / (p + other)."""
    own, other = proba[:, c], np.delete(proba, c, axis=1).max(axis=1)
    total = own + other
    shares: FloatArray = np.full(len(own), PLAIN)
    np.divide(own, total, out=shares, where=total > 0)
    return shares


def at_threshold(proba: FloatArray, c: int, threshold: float) -> NDArray[np.intp]:
    """Return class c where its share reaches a threshold up to 1/2, else the most probable class.

    Below 1/2 that is another class than c.
    """
    found = shares_of_class(proba, c) >= threshold
    return np.where(found, c, np.argmax(proba, axis=1))


@dataclass(frozen=True)
class RecallThreshold:
    """Where a class becomes the answer, and what that promises.

    Parameters
    ----------
    threshold : float
        Share from which on the class is the answer; at most 1/2.
    promised : float
        The recall that new rows of the class keep, with the confidence that was asked for.
    n_rows : int
        Rows of the class by which it was chosen.
    n_found : int
        How many of them it finds.
    """

    threshold: float
    promised: float
    n_rows: int
    n_found: int


def choose_threshold(shares: FloatArray, recall: float, confidence: float) -> RecallThreshold:
    """Return the highest threshold up to 1/2 that promises a recall.

    Where no threshold can, as the class has too few rows, it is that at which all of them are
    found, and `promised` says less than was asked for.

    Parameters
    ----------
    shares : ndarray of shape (n_rows,)
        `shares_of_class` of rows of the class, at least one, each from a fit without it.
    recall : float
        Between 0 and 1.
    confidence : float
        Between 0 and 1.
    """
    ordered = np.sort(shares)
    rank = max(1, highest_rank(len(ordered), recall, confidence))
    threshold = min(PLAIN, float(ordered[rank - 1]))
    n_found = int(np.sum(ordered >= threshold))
    return RecallThreshold(
        threshold, promised_recall(len(ordered), n_found, confidence), len(ordered), n_found
    )


def highest_rank(n_rows: int, recall: float, confidence: float) -> int:
    """Return the largest k with P(Bin(n, 1 − recall) ≥ k) ≥ confidence; 0 promises nothing."""
    # A share of misses, so that 1 − 0.98 and 0.02 are the same to rounding.
    misses = round(1.0 - recall, 12)
    rank = int(stats.binom.ppf(1.0 - confidence, n_rows, misses))
    # ppf is the least k with P(Bin ≤ k) ≥ 1 − confidence, so that P(Bin ≥ k) is confidence or more.
    while rank > 0 and stats.binom.sf(rank - 1, n_rows, misses) < confidence:
        rank -= 1
    return rank


def promised_recall(n_rows: int, n_found: int, confidence: float) -> float:
    """Return the lower end of the one-sided interval of Clopper and Pearson of a share."""
    if n_found == 0:
        return 0.0
    return float(stats.beta.ppf(1.0 - confidence, n_found, n_rows - n_found + 1))


def rows_needed(recall: float, confidence: float) -> int:
    """Return how many rows of a class a promise takes: the least n with 1 − rⁿ ≥ confidence."""
    return max(1, math.ceil(round(math.log1p(-confidence) / math.log(recall), 9)))

"""Which rows are judged first: nested random subsets, and what they say about all rows.

The rows of each class are put in random order, and a stage takes the first so many of them.  These
stand for the others of their class.  The heaviest rows are judged at the first stage, and
stand for themselves only.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import like, to_numpy
from mercer.samples import SortedSample

Array = Any
_ALL_UP_TO = 2**15  # rows of a sample that is judged at once
_FIRST = 2**13  # rows of the first stage, or up to twice as many where classes differ in size
_GROWTH = 2
_SEED = 0x4D6572636572  # one that no made-up data were drawn with
# Standard errors beyond which a difference is real.  If two were equally good, either would be
# right on as many of the rows on which they differ: Hoeffding's bound is exp(−6.5²/2) = 7e-10.
_ERRORS = 6.5
# Rows decided differently that are reckoned with, though none was seen: a share of 1/r of the rows
# misses all of 6.5·√8·r = 18r others with probability exp(−18) = 1e-8.
_UNSEEN = 8


@dataclass(frozen=True)
class Stages:
    """The order in which the rows of a sample are judged.

    Parameters
    ----------
    sample : SortedSample
    stage : NumPy array of int of shape (n,)
        Stage at which a row is judged.
    certain : NumPy array of bool of shape (n,)
        Rows that stand for themselves.
    last : int
        The last stage; rows of a later one are not judged.
    """

    sample: SortedSample
    stage: NDArray[np.int64]
    certain: NDArray[np.bool_]
    last: int

    @classmethod
    def of(cls, sample: SortedSample, most: int | None = None) -> "Stages":
        """Draw the stages, of all rows or of `most`; the same for the same classes and weights."""
        n, codes = sample.codes.size, sample.codes
        stage, certain = np.zeros(n, np.int64), np.zeros(n, dtype=bool)
        if not has_stages(sample, most):
            return cls(sample, stage, certain, last=0)
        sizes = np.diff(sample.bounds)
        most = n if most is None else min(most, n)
        wanted, quotas = min(_FIRST, most), [np.zeros(sizes.size, np.int64)]
        while wanted < n / 2 or wanted == most < n:
            quota = np.ceil(wanted * np.maximum(sizes / n, 1 / sizes.size)).astype(np.int64)
            quotas.append(np.minimum(quota, sizes))
            if wanted == most:
                break
            wanted = min(wanted * _GROWTH, most)
        # With many classes two stages may be the same.
        quotas = [q for p, q in pairwise(quotas) if (q > p).any()]
        certain = _heavy(sample, quotas[0] // 2)
        chance = np.random.default_rng((_SEED, n)).uniform(0.25, 0.75, n)
        order = np.argsort(codes + np.where(certain, 0.0, chance))
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n) - np.array(sample.bounds)[codes]
        for quota in quotas:
            stage += rank >= quota[codes]
        return cls(sample, stage, certain, last=len(quotas) - 1 if most < n else int(stage.max()))

    def rows(self, stage: int) -> NDArray[np.int64] | None:
        """Return the rows judged at this stage; None where all are at once."""
        rows = np.flatnonzero(self.stage == stage)
        return None if rows.size == self.stage.size else rows

    def standing(self, stage: int) -> dict[str, "Standing"]:
        """Return what the rows judged so far say about either score."""
        sample = self.sample
        judged = np.concatenate([np.flatnonzero(self.stage == s) for s in range(stage + 1)])
        drawn, seen = np.flatnonzero(~self.certain), judged[~self.certain[judged]]
        size, seen_size = (
            np.maximum(1, np.bincount(sample.codes[rows], minlength=sample.n_classes))
            for rows in (drawn, seen)
        )
        factor, unseen = size / seen_size, 1 - seen_size / size
        light = np.where(self.certain, 0.0, self._omega)
        heaviest = np.maximum.reduceat(light, sample.bounds[:-1])

        codes, certain = sample.codes[judged], self.certain[judged]
        expanded = self._omega[judged] * np.where(certain, 1.0, factor[codes])
        variance = np.where(certain, 0.0, unseen[codes]) * expanded**2
        largest = unseen * (factor * heaviest) ** 2
        counts = to_numpy(sample.counts)
        units = {"accuracy": np.ones(counts.size), "balanced_accuracy": 1 / counts}
        return {
            scoring: Standing(
                shares=like(expanded * unit[codes], sample.weights),
                total=float(expanded @ unit[codes]),
                variances=like(variance * unit[codes] ** 2, sample.weights),
                unseen=float((largest * unit**2).max()),
            )
            for scoring, unit in units.items()
        }

    @cached_property
    def _omega(self) -> NDArray[np.float64]:
        return to_numpy(self.sample.weights)


@dataclass(frozen=True)
class Standing:
    """What m judged rows say about the score of all.

    Parameters
    ----------
    shares : array of shape (m,)
        How much each row counts.
    total : float
        What they add up to.
    variances : array of shape (m,)
        What a row found right by one of two adds to the variance of their difference, in
        units of 1/total².
    unseen : float
        The largest that a row not judged could add.
    """

    shares: Array
    total: float
    variances: Array
    unseen: float

    def mean(self, values: Array) -> Array:
        """Return the mean of values (m,), estimated for all rows."""
        xp = array_namespace(self.shares)
        return xp.sum(xp.astype(values, xp.float64) * self.shares) / self.total

    def is_worse(self, found: Array, best: Array) -> Array:
        """Whether decisions (m,) are surely worse, over all rows, than the best ones (m,)."""
        xp = array_namespace(self.shares)
        gain = xp.astype(best, xp.float64) - xp.astype(found, xp.float64)
        variance = xp.sum(gain**2 * self.variances) + _UNSEEN * self.unseen
        return xp.sum(gain * self.shares) > _ERRORS * variance**0.5

    def error(self, found: Array, best: Array) -> Array:
        """Return the standard error of the difference of two scores; 0 if all rows are judged."""
        xp = array_namespace(self.shares)
        gain = xp.astype(best, xp.float64) - xp.astype(found, xp.float64)
        return xp.sum(gain**2 * self.variances) ** 0.5 / self.total


def has_stages(sample: SortedSample, most: int | None = None) -> bool:
    """Whether a sample is large enough to judge some of its rows first, or only `most`."""
    n = sample.codes.size
    return bool(n > max(_ALL_UP_TO, 2 * _FIRST)) or (most is not None and n > most)


def _heavy(sample: SortedSample, most: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the heaviest rows of each class: at most so many, and none where more are alike."""
    omega, heavy = to_numpy(sample.weights), np.zeros(sample.codes.size, dtype=bool)
    if (omega == omega[0]).all():
        return heavy
    for c, (low, high) in enumerate(pairwise(sample.bounds)):
        if most[c] < high - low:
            part = omega[low:high]
            heavy[low:high] = part > np.partition(part, -1 - most[c])[-1 - most[c]]
    return heavy

"""Leave-one-out by elimination: candidates that are clearly not the best see some rows only.

All rules and bandwidths are judged on a first random subset of the rows, each by the classifier
without that row and with all others.  Those that are behind the best by more than chance explains
drop out, the others go on to more rows, until one is left or all rows have been judged.

The rows of each class are put in random order, and each stage takes the next ones of them.  The
rows judged so far stand for the others of their class.  The heaviest rows are judged at the first
stage, and stand for themselves only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, like, to_numpy
from mercer.classifiers._leave_one_out import Ladder, LeftOut
from mercer.samples import SortedSample, log_normalise

_ALL_UP_TO = 2**15  # A sample of up to this many rows is judged in one stage.
_FIRST = 2**13  # The first stage has this many rows, or up to twice as many if classes are unequal.
_GROWTH = 2  # Each stage brings the rows that are judged to this many times as many.
_SEED = 0x4D6572636572  # It is unusual, so that users will not have drawn their data with it.
# A difference of more than this many standard errors is real.  If two candidates were equally good,
# each would be right on half of the rows on which they differ: Hoeffding's bound is
# exp(−6.5²/2) = 7e-10.
_ERRORS = 6.5
# This many rows are assumed to be decided differently although none was seen: a share of 1/r of the
# rows misses all of 6.5·√8·r = 18r others with probability exp(−18) = 1e-8.
_UNSEEN = 8
Table = dict[str, NDArray[Any]]
Rules = Mapping[str, Callable[[LeftOut], Sequence[Array]]]
Runner = tuple[str, int]  # a rule, and the index of a bandwidth
Verdict = tuple[Array, Array]  # whether rows were found right, and at what loss
_SCORES = ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss")
TIE = 1e-12  # Scores that differ by less than this are equal.
_WORST = 745.0  # the largest loss: −log of the smallest positive number


@dataclass(frozen=True)
class Stages:
    """The order in which the rows of a sample are judged."""

    sample: SortedSample
    stage: NDArray[np.int64]  # at which each row is judged
    certain: NDArray[np.bool_]  # rows that stand for themselves
    last: int  # the last stage: rows of a later one are not judged

    @classmethod
    def of(cls, sample: SortedSample, most: int | None = None) -> "Stages":
        """Draw the stages of all rows, or of `most`; they depend on classes and weights alone."""
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
        """Return the rows judged at this stage; None if all rows are judged at once."""
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

    A row that only one of two candidates finds right adds to the variance of their difference, in
    units of 1/total²: a judged one what `variances` say, any other at most `unseen`.
    """

    shares: Array  # how much each row counts: (m,)
    total: float  # what they add up to
    variances: Array
    unseen: float

    def mean(self, values: Array) -> Array:
        """Return the mean of values (m,), estimated for all rows."""
        xp = array_namespace(self.shares)
        return xp.sum(xp.astype(values, xp.float64) * self.shares) / self.total

    def is_worse(self, found: Array, best: Array) -> Array:
        """Tell whether decisions (m,) are surely worse, over all rows, than the best ones (m,)."""
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
    """Tell whether some rows of a sample are judged before others, or only `most` of them."""
    n = sample.codes.size
    return bool(n > max(_ALL_UP_TO, 2 * _FIRST)) or (most is not None and n > most)


def _heavy(sample: SortedSample, most: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which rows of each class are the heaviest: at most `most`, so that ties are left out."""
    omega, heavy = to_numpy(sample.weights), np.zeros(sample.codes.size, dtype=bool)
    if (omega == omega[0]).all():
        return heavy
    for c, (low, high) in enumerate(pairwise(sample.bounds)):
        if most[c] < high - low:
            part = omega[low:high]
            heavy[low:high] = part > np.partition(part, -1 - most[c])[-1 - most[c]]
    return heavy


def race(
    ladder: Ladder, rules: Rules, sample: SortedSample, scoring: str, most: int | None = None
) -> Table:
    """Return the leave-one-out results of every rule at every bandwidth, as columns of a table.

    The narrowest is first for each rule.  `rows` is how many rows a score comes from, not more than
    `most`.  A score from fewer rows than the best one's is the best score plus the difference on
    these rows, and `error` is the standard error of that difference.  A rule may score rows in
    several ways; a row is right only if it is right in all of them.
    """
    stages = Stages.of(sample, most)
    runners = [(rule, rung) for rule in rules for rung in reversed(range(len(ladder.bandwidths)))]
    verdicts: dict[Runner, list[Verdict]] = {runner: [] for runner in runners}
    scores = np.full((stages.last + 1, len(runners), len(_SCORES)), np.nan)
    n_judged, reached = 0, np.zeros(len(runners), np.int64)
    rows, errors = np.zeros(len(runners), np.int64), np.zeros(len(runners))
    running = np.arange(len(runners))
    for stage in range(stages.last + 1):
        standing, new = stages.standing(stage), stages.rows(stage)
        n_judged += sample.codes.size if new is None else new.size
        names = [runners[r] for r in running]
        _judge(ladder, rules, sample, names, new, verdicts)
        scores[stage, running] = _scores([verdicts[name][0] for name in names], standing)
        reached[running], rows[running] = stage, n_judged
        latest = scores[reached, np.arange(len(runners))]
        best = choose(_table(runners, ladder.bandwidths, latest, rows, errors), scoring)
        found = verdicts[runners[best]][0][0]
        xp = array_namespace(found)
        apart = [standing[scoring].error(verdicts[name][0][0], found) for name in names]
        errors[running] = to_numpy(xp.stack(apart))
        if stage < stages.last:
            worse = [standing[scoring].is_worse(verdicts[name][0][0], found) for name in names]
            running = running[~to_numpy(xp.stack(worse))]
        if running.size == 1:
            break
    # Scores on fewer rows are moved by as much as the best one's score has moved since.
    moved = scores[reached[best], best] - scores[reached, best]
    final = np.maximum(scores[reached, np.arange(len(runners))] + moved, 0.0)
    final[:, :2] = np.minimum(final[:, :2], 1.0)
    return _table(runners, ladder.bandwidths, final, rows, errors)


def choose(results: Table, scoring: str) -> int:
    """Return the row of the table with the best score, of those judged on the most rows.

    Ties go to the wider bandwidth, then to the rule that comes first; for balanced accuracy, in
    which a rare class makes many ties, first to the smaller balanced loss.
    """
    last = results["rows"] == results["rows"].max()
    score = np.where(last, results[scoring], -np.inf)
    best = np.flatnonzero(score >= score.max() - TIE)
    if scoring == "balanced_accuracy":
        loss = results["balanced_log_loss"][best]
        best = best[loss <= loss.min()]
    widest = results["bandwidth"][best].max()
    return int(best[results["bandwidth"][best] == widest][0])


def _judge(
    ladder: Ladder,
    rules: Rules,
    sample: SortedSample,
    runners: list[Runner],
    rows: NDArray[np.int64] | None,
    verdicts: dict[Runner, list[Verdict]],
) -> None:
    """Add the verdicts on some rows to those of each runner."""
    rungs = sorted({rung for _, rung in runners})
    for part in ladder.at(rungs).parts(rows):
        for rule, scores in rules.items():
            runner = rule, rungs[part.rung]
            if runner in runners:
                verdicts[runner].append(_verdict(sample, part, scores(part)))
    for runner in runners:
        found, loss = zip(*verdicts[runner], strict=True)
        xp = array_namespace(loss[0])
        verdicts[runner] = [(xp.concat(found), xp.concat(loss))]


def _verdict(sample: SortedSample, part: LeftOut, ways: Sequence[Array]) -> Verdict:
    """Return whether each row was found right in all ways, and its largest loss."""
    xp, is_own = array_namespace(part.counts), sample.is_of_class(part.rows)
    classes = sample.classes[sample.index(part.rows)]
    rights, losses = [], []
    for log_scores in ways:
        rights.append(xp.argmax(log_scores, axis=1) == classes)
        losses.append(-xp.sum(xp.where(is_own, log_normalise(log_scores), 0.0), axis=1))
    loss = xp.max(xp.stack(losses), axis=0)
    # A row that was all of its class has an infinite loss.
    loss = xp.clip(loss, 0.0, _WORST)
    return xp.all(xp.stack(rights), axis=0), loss


def _scores(verdicts: list[Verdict], standing: dict[str, Standing]) -> NDArray[np.float64]:
    """Return accuracy, balanced accuracy and their log-losses for each runner."""
    xp = array_namespace(verdicts[0][1])
    scores = [
        xp.stack([score.mean(values) for values in column for score in standing.values()])
        for column in verdicts
    ]
    return np.asarray(to_numpy(xp.stack(scores)))


def _table(
    runners: list[Runner],
    bandwidths: tuple[float, ...],
    scores: NDArray[np.float64],
    rows: NDArray[np.int64],
    errors: NDArray[np.float64],
) -> Table:
    rules, rungs = zip(*runners, strict=True)
    return {
        "rule": np.array(rules),
        "bandwidth": np.array([bandwidths[rung] for rung in rungs]),
        **dict(zip(_SCORES, scores.T.copy(), strict=True)),
        "rows": rows.copy(),
        "error": errors.copy(),
    }

"""Leave-one-out by elimination: what is surely not the best is judged on some rows only.

All rules and bandwidths are judged on a first random subset of the rows, each by the classifier
without that row and with all others.  Those that are behind the best by more than chance explains
drop out, the others go on to more rows, until one is left or all rows have been judged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import to_numpy
from mercer.classifiers._leave_one_out import Ladder, LeftOut
from mercer.classifiers._stages import Stages, Standing
from mercer.samples import SortedSample, log_normalise

Array = Any
Table = dict[str, NDArray[Any]]
Rules = Mapping[str, Callable[[LeftOut], Sequence[Array]]]
Runner = tuple[str, int]  # a rule, and the index of a bandwidth
Verdict = tuple[Array, Array]  # whether rows were found right, and at what loss
_SCORES = ("accuracy", "balanced_accuracy", "log_loss", "balanced_log_loss")
TIE = 1e-12  # scores that differ by less are equal
_WORST = 745.0  # −log of the smallest positive number


def race(
    ladder: Ladder, rules: Rules, sample: SortedSample, scoring: str, most: int | None = None
) -> Table:
    """Return the leave-one-out results of every rule at every bandwidth, as columns of a table.

    Narrowest first for each rule.  `rows` is how many rows a score comes from, at most so many
    where that is asked for; a score from fewer than the best's is the best's plus the difference on
    these rows, and `error` the standard error of that difference.  A rule may score rows in
    several ways; only what all of them find right is.
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
    # Scores on fewer rows, moved by what the best one's has moved since.
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
    """Add the verdicts on some rows to those there are, one for each runner."""
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
    xp, own = array_namespace(part.counts), sample.own(part.rows)
    classes = sample.classes[sample.index(part.rows)]
    rights, losses = [], []
    for log_scores in ways:
        rights.append(xp.argmax(log_scores, axis=1) == classes)
        losses.append(-xp.sum(xp.where(own, log_normalise(log_scores), 0.0), axis=1))
    loss = xp.max(xp.stack(losses), axis=0)
    # A row whose class vanished with it: as bad as can be.
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

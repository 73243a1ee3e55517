"""Leave-one-out decisions, counted, and the choice that they lead to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import to_numpy
from mercer.bandwidth import bandwidth_ladder, silverman_bandwidth
from mercer.classifiers._leave_one_out import LeftOut
from mercer.classifiers._logs import log_normalise
from mercer.classifiers._sample import Sample

Array = Any


def ladder(X: Array, weights: Array) -> tuple[float, ...]:
    """Return the bandwidths that leave-one-out tries, widest first: Silverman's times 16 … 1/16."""
    centre = silverman_bandwidth(X, sample_weight=weights)
    return tuple(bandwidth_ladder(centre)[::-1].tolist())


def tally(
    sample: Sample,
    bandwidths: tuple[float, ...],
    parts: Iterable[LeftOut],
    rules: Mapping[str, Callable[[LeftOut], Array]],
) -> dict[str, NDArray[Any]]:
    """Return the leave-one-out results of every rule at every bandwidth, as columns of a table."""
    counts = _Tally(sample, bandwidths, tuple(rules))
    for part in parts:
        for rule, scores in rules.items():
            counts.count(rule, part, scores(part))
    return counts.results()


@dataclass
class _Tally:
    """What share of each class was found, and at what loss, for every bandwidth and rule.

    Parameters
    ----------
    sample : Sample
    bandwidths : tuple of float
        The widest first.
    rules : tuple of str
    """

    sample: Sample
    bandwidths: tuple[float, ...]
    rules: tuple[str, ...]
    _found: NDArray[np.float64] = field(init=False)
    _loss: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        shape = (len(self.rules), len(self.bandwidths), self.sample.n_classes)
        self._found, self._loss = np.zeros(shape), np.zeros(shape)

    def count(self, rule: str, part: LeftOut, log_scores: Array) -> None:
        """Count the decisions on some rows."""
        xp = array_namespace(log_scores)
        sample, rows = self.sample, part.rows
        weights, codes = to_numpy(sample.weights)[rows], sample.codes[rows]
        chosen = to_numpy(xp.argmax(log_scores, axis=1))
        logs = to_numpy(xp.sum(xp.where(sample.own(rows), log_normalise(log_scores), 0.0), axis=1))
        at = self.rules.index(rule), part.rung
        n_classes = sample.n_classes
        self._found[at] += np.bincount(codes, weights * (chosen == codes), n_classes)
        loss = np.minimum(-logs, _WORST)  # a row whose class vanished with it: as bad as can be
        self._loss[at] += np.bincount(codes, weights * loss, n_classes)

    def results(self) -> dict[str, NDArray[Any]]:
        """Return columns as of a table, one row for each rule and bandwidth, narrowest first."""
        counts = to_numpy(self.sample.counts)
        found, loss = self._found[:, ::-1], self._loss[:, ::-1]
        n_rules, n_rungs, _ = found.shape
        return {
            "rule": np.repeat(np.array(self.rules), n_rungs),
            "bandwidth": np.tile(self.bandwidths[::-1], n_rules),
            "accuracy": (found.sum(2) / counts.sum()).ravel(),
            "balanced_accuracy": (found / counts).mean(2).ravel(),
            "log_loss": (loss.sum(2) / counts.sum()).ravel(),
            "balanced_log_loss": (loss / counts).mean(2).ravel(),
        }


def choose(results: dict[str, NDArray[Any]], scoring: str) -> int:
    """Return the row of the table with the best score.

    Ties go to the wider bandwidth, then to the rule that comes first; for balanced accuracy, in
    which a rare class makes many ties, first to the smaller balanced loss.
    """
    score = results[scoring]
    best = np.flatnonzero(score >= score.max() - _TIE)
    if scoring == "balanced_accuracy":
        loss = results["balanced_log_loss"][best]
        best = best[loss <= loss.min()]
    widest = results["bandwidth"][best].max()
    return int(best[results["bandwidth"][best] == widest][0])


_TIE = 1e-12
_WORST = 745.0  # −log of the smallest positive number

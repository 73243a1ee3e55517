"""Leave-one-out decisions, counted, and the choice that they lead to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_dask_array
from numpy.typing import NDArray

from mercer._arrays import to_numpy
from mercer.bandwidth import bandwidth_ladder, silverman_bandwidth
from mercer.classifiers._leave_one_out import LeftOut
from mercer.classifiers._logs import log_normalise
from mercer.classifiers._sample import Sample

Array = Any


def search(
    run: Callable[[tuple[float, ...]], dict[str, NDArray[Any]]], sample: Sample, scoring: str
) -> tuple[dict[str, NDArray[Any]], int]:
    """Return the leave-one-out results of a ladder of bandwidths, and which of them is the best.

    `run` takes bandwidths, widest first.  They are Silverman's times 16 … 1/16; where the score is
    still rising at an end of the ladder, it goes on there.
    """
    results = run(tuple(bandwidth_ladder(_centre(sample))[::-1].tolist()))
    best = choose(results, scoring)
    for _ in range(_EXTENSIONS):
        end = _rising_end(results, best, scoring)
        if end is None:
            break
        steps = bandwidth_ladder(results["bandwidth"][best])
        more = steps[:_STEPS] if end == "narrow" else steps[-_STEPS:]
        more = more[(more > 1e-140) & (more < 1e140)]
        if more.size == 0:
            break
        results = _merged(results, run(tuple(more[::-1].tolist())))
        best = choose(results, scoring)
    return results, best


def _centre(sample: Any) -> float:
    """Return Silverman's bandwidth, by quartiles where wild rows put it out of all proportion."""
    if is_dask_array(sample.X):
        from mercer.classifiers._dask_left_out import block_centre

        return block_centre(sample)
    silverman = silverman_bandwidth(sample.X, sample_weight=sample.weights)
    X, weights = to_numpy(sample.X), to_numpy(sample.weights)
    return ladder_centre(silverman, *usual_spread(X / (float(np.abs(X).max()) or 1.0), weights))


def usual_spread(X: NDArray[Any], weights: NDArray[np.float64]) -> tuple[NDArray[Any], ...]:
    """Return each column's variance by quartiles, as of a Gaussian, and its variance."""
    order = np.argsort(X, axis=0)
    shares = np.cumsum(weights[order], axis=0) / weights.sum()
    low, high = (
        np.take_along_axis(X, order, axis=0)[np.argmax(shares > q, axis=0), np.arange(X.shape[1])]
        for q in (0.25, 0.75)
    )
    usual = (high - low) ** 2 / 1.349**2
    return usual, np.average((X - np.average(X, 0, weights)) ** 2, 0, weights)


def ladder_centre(silverman: float, usual: NDArray[Any], spread: NDArray[Any]) -> float:
    """Return Silverman's bandwidth, or what quartiles make of it where the two are far apart."""
    whole = float(np.mean(spread))
    ratio = float(np.sqrt(np.mean(usual) / whole)) if whole > 0 else 0.0
    return silverman * ratio if 0 < ratio < 1 / _LADDER_REACH else silverman


def _rising_end(results: dict[str, NDArray[Any]], best: int, scoring: str) -> str | None:
    """Return the end of the ladder at which the best is better than its neighbour, if any."""
    same_rule = np.flatnonzero(results["rule"] == results["rule"][best])
    score, place = results[scoring][same_rule], int(np.flatnonzero(same_rule == best)[0])
    if score.size > 1 and place == 0 and score[0] > score[1] + _TIE:
        return "narrow"
    if score.size > 1 and place == score.size - 1 and score[-1] > score[-2] + _TIE:
        return "wide"
    return None


def _merged(a: dict[str, NDArray[Any]], b: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Put two tables into one, in the order of rules and bandwidths."""
    both = {key: np.concatenate([a[key], b[key]]) for key in a}
    rules = list(dict.fromkeys(a["rule"].tolist()))
    rank = np.array([rules.index(rule) for rule in both["rule"].tolist()])
    order = np.lexsort((both["bandwidth"], rank))
    return {key: values[order] for key, values in both.items()}


def tally(
    sample: Sample,
    bandwidths: tuple[float, ...],
    parts: Iterable[LeftOut],
    rules: Mapping[str, Callable[[LeftOut], Sequence[Array]]],
) -> dict[str, NDArray[Any]]:
    """Return the leave-one-out results of every rule at every bandwidth, as columns of a table.

    A rule may score rows in several ways; only what all of them find right is.
    """
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

    def count(self, rule: str, part: LeftOut, ways: Sequence[Array]) -> None:
        """Count the decisions on some rows."""
        sample, rows = self.sample, part.rows
        weights, codes = to_numpy(sample.weights)[rows], sample.codes[rows]
        found, loss = np.ones(codes.size, dtype=bool), np.zeros(codes.size)
        for log_scores in ways:
            xp = array_namespace(log_scores)
            found &= to_numpy(xp.argmax(log_scores, axis=1)) == codes
            logs = xp.where(sample.own(rows), log_normalise(log_scores), 0.0)
            loss = np.maximum(loss, -to_numpy(xp.sum(logs, axis=1)))
        loss = np.minimum(loss, _WORST)  # a row whose class vanished with it: as bad as can be
        at = self.rules.index(rule), part.rung
        self._found[at] += np.bincount(codes, weights * found, sample.n_classes)
        self._loss[at] += np.bincount(codes, weights * loss, sample.n_classes)

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


_EXTENSIONS, _STEPS = 4, 8
_LADDER_REACH = 16
_TIE = 1e-12
_WORST = 745.0  # −log of the smallest positive number

"""How sure probabilities are: a temperature from the scores of training rows that are left out.

Scores are logarithms of densities, cosines or distances.  Taken at their word they are far too
sure in many columns, and not sure enough where a rule is no Bayes rule.  One number, by which they
are divided before their soft-max, keeps every prediction; biases of the classes, which a cosine or
a distance lacks, change some.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from sys import float_info
from typing import Protocol

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, FloatArray, like, to_numpy
from mercer.classifiers._leave_one_out import LeftOut
from mercer.samples import (
    LeftOutScores,
    SetClassifier,
    SortedSample,
    fit_biases,
    fit_temperature,
    stratified_rows,
)

# One number needs no more rows: the log-loss that it is off by is some 1/(2·rows).
MOST_ROWS = 2048
# With many classes scores are many: so few rows are enough, and more up to so many scores in all.
_FEW_ROWS, _MOST_SCORES = 256, 2**18
_SEED = 0x4D65726365  # It is unusual, so that users will not have drawn their data with it.


class LeftOutRows(Protocol):
    """What scores rows without them needs, at what was chosen: a `Ladder` of one rung is one."""

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need for these rows, or for all."""


class CalibratedClassifier(SetClassifier):
    """Base of classifiers whose scores get biases, and whose probabilities have a temperature.

    A subclass has the parameters `calibration` and `loo_rows`, writes `_raw_scores`, and calls
    `_calibrate` in its fit.
    """

    calibration: str | None
    loo_rows: int | None
    temperature_: float
    biases_: Array

    @abstractmethod
    def _raw_scores(self, X: Array) -> Array:
        """Return the scores of some rows before biases: (rows, classes)."""

    def _scores(self, X: Array) -> Array:
        # A model of a file that was written before there were biases or temperatures has none.
        return self._raw_scores(X) + vars(self).get("biases_", 0.0)

    def _log_odds(self, scores: Array) -> Array:
        temperature = vars(self).get("temperature_", 1.0)
        if temperature >= 1.0:
            return scores / temperature
        # What is lower than this would leave the range of floating point.
        xp, lowest = array_namespace(scores), -temperature * float_info.max
        relative = scores - xp.max(scores, axis=1, keepdims=True)
        finite = xp.maximum(relative, xp.full_like(relative, lowest))
        return xp.where(scores == -float("inf"), scores, finite) / temperature

    def _calibrate(
        self,
        left_out: Callable[[], LeftOutRows] | None,
        sample: SortedSample,
        ways: Callable[[LeftOut], Sequence[Array]],
        shares: Array,
    ) -> None:
        """Set `temperature_` and `biases_` as `calibration` says.

        Parameters
        ----------
        left_out : callable or None
            Returns what leaves out rows, such as a ladder of one bandwidth; None if nothing does.
        sample : SortedSample
            The rows.
        ways : callable
            From some rows without themselves to their scores; of several the last count: those of
            "append" by the whole classes, as new rows meet them.
        shares : array of shape (n_classes,)
            What the classes weigh, up to a factor.
        """
        self.temperature_, self.biases_ = 1.0, sample.per_class(np.zeros(sample.n_classes))
        self._left_out = None
        if self.calibration is None or left_out is None:
            return
        most = min(MOST_ROWS, max(_FEW_ROWS, _MOST_SCORES // sample.n_classes))
        most = most if self.loo_rows is None else min(most, self.loo_rows)
        scores, codes, rows = _left_out_scores(left_out(), sample.in_memory, ways, most)
        xp = array_namespace(scores)
        labels = like(codes, scores, dtype=xp.int64)
        weights = like(_weigh(codes, rows, to_numpy(shares)), scores)
        if self.calibration == "loo":
            self.temperature_ = fit_temperature(scores, labels, weights)
        else:
            self.temperature_, biases = fit_biases(scores, labels, weights)
            self.biases_ = sample.per_class(self.temperature_ * biases)
        # The mean row that was drawn stands for one.
        counts = _weigh(codes, rows, to_numpy(sample.in_memory.counts))
        odds = self._log_odds(scores + like(to_numpy(self.biases_), scores))
        self._left_out = LeftOutScores.of(odds, codes, counts * (rows.sum() / counts.sum()))

    def _leaves_out_rows(self) -> bool:
        return self.calibration is not None


def _left_out_scores(
    left_out: LeftOutRows,
    sample: SortedSample,
    ways: Callable[[LeftOut], Sequence[Array]],
    most: int,
) -> tuple[Array, NDArray[np.int64], FloatArray]:
    """Return scores, classes and weights of rows without them: of at most so many, by class."""
    scores, numbers = [], []
    for part in left_out.parts(_draw_by_class(sample, most)):
        scores.append(ways(part)[-1])
        numbers.append(np.arange(sample.codes.size)[part.rows])
    taken = np.concatenate(numbers)
    xp = array_namespace(scores[0])
    return xp.concat(scores), sample.codes[taken], to_numpy(sample.weights)[taken]


def _weigh(codes: NDArray[np.int64], weights: FloatArray, shares: FloatArray) -> FloatArray:
    """Return weights of rows that stand for classes which weigh so much."""
    in_class = np.bincount(codes, weights, minlength=shares.size)
    found: FloatArray = weights * (shares / np.where(in_class > 0, in_class, 1.0))[codes]
    return found


def _draw_by_class(sample: SortedSample, most: int) -> NDArray[np.int64] | None:
    """Return rows that are drawn by class, or None for all of them."""
    if sample.codes.size <= most:
        return None
    rng = np.random.RandomState(_SEED % 2**32)
    if most < sample.n_classes:  # No class gets more than its share.
        return np.sort(rng.permutation(sample.codes.size)[:most])
    return stratified_rows(sample.codes, most, 1.0, rng).astype(np.int64)

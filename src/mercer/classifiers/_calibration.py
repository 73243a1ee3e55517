"""How sure probabilities are: a temperature from the scores of training rows that are left out.

Scores are logarithms of densities, cosines or distances.  Taken at their word they are far too
sure in many columns, and not sure enough where a rule is no Bayes rule.  One number, by which they
are divided before their soft-max, keeps every prediction.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from mercer._arrays import Array, like, to_numpy
from mercer.classifiers._leave_one_out import LeftOut
from mercer.samples import (
    ProbabilityClassifier,
    SortedSample,
    fit_temperature,
    log_normalise,
    stratified_rows,
)

# One number needs no more rows: the log-loss that it is off by is some 1/(2·rows).
MOST_ROWS = 2048
_SEED = 0x4D65726365  # It is unusual, so that users will not have drawn their data with it.


class LeftOutRows(Protocol):
    """What scores rows without them needs, at what was chosen: a `Ladder` of one rung is one."""

    def parts(self, rows: NDArray[np.int64] | None = None) -> Iterator[LeftOut]:
        """Yield what the rules need for these rows, or for all."""


class CalibratedClassifier(ProbabilityClassifier):
    """Base of classifiers whose probabilities have a temperature, and whose scores do not."""

    temperature_: float

    def _log_odds(self, scores: Array) -> Array:
        # A model of a file that was written before there were temperatures has none.
        return scores / vars(self).get("temperature_", 1.0)


def left_out_temperature(
    left_out: LeftOutRows,
    sample: SortedSample,
    ways: Callable[[LeftOut], Sequence[Array]],
    shares: Array,
    most: int | None,
) -> float:
    """Return the temperature at which rows have the best odds by a classifier without them.

    Parameters
    ----------
    left_out : LeftOutRows
        Such as a ladder of one bandwidth.
    sample : SortedSample
        The rows.
    ways : callable
        From some rows without themselves to their scores; of several scores of a row, those count
        that give its class the least odds.
    shares : array of shape (n_classes,)
        What the classes weigh, up to a factor.
    most : int or None
        At most so many rows count, and never more than 2048, drawn by class: they stand for the
        others of their class.

    Returns
    -------
    float
        1 where no row says anything, such as one row in each class.
    """
    sample = sample.in_memory
    rows = _draw(sample, MOST_ROWS if most is None else min(most, MOST_ROWS))
    scores, numbers = [], []
    for part in left_out.parts(rows):
        scores.append(_least_odds(sample, part, ways(part)))
        numbers.append(np.arange(sample.codes.size)[part.rows])
    taken = np.concatenate(numbers)
    codes, weights = sample.codes[taken], to_numpy(sample.weights)[taken]
    in_class = np.bincount(codes, weights, minlength=sample.n_classes)
    weights = weights * (to_numpy(shares) / np.where(in_class > 0, in_class, 1.0))[codes]
    xp = array_namespace(scores[0])
    labels = like(codes, scores[0], dtype=xp.int64)
    return fit_temperature(xp.concat(scores), labels, like(weights, scores[0]))


def _draw(sample: SortedSample, most: int) -> NDArray[np.int64] | None:
    """Return rows that are drawn by class, or None for all of them."""
    if sample.codes.size <= most:
        return None
    rng = np.random.RandomState(_SEED % 2**32)
    return stratified_rows(sample.codes, most, 1.0, rng).astype(np.int64)


def _least_odds(sample: SortedSample, part: LeftOut, ways: Sequence[Array]) -> Array:
    """Return the scores of each row by which its own class has the least odds."""
    worst, *others = ways
    if not others:
        return worst
    xp, is_own = array_namespace(worst), sample.is_of_class(part.rows)

    def odds(scores: Array) -> Array:
        return xp.sum(xp.where(is_own, log_normalise(scores), 0.0), axis=1)

    for scores in others:
        worst = xp.where((odds(scores) < odds(worst))[:, None], scores, worst)
    return worst

"""The best of a ladder of bandwidths, by any criterion."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from mercer._arrays import FloatArray
from mercer.bandwidth._rules import bandwidth_ladder

Criterion = Callable[[FloatArray], FloatArray]

_STEPS = 8  # A ladder has this many rungs on either side of its centre; an extension adds as many.
_EXTENSIONS = 4  # A side is extended this many times at most: down to Silverman/2²⁰.


@dataclass(frozen=True, eq=False)
class BandwidthSearch:
    """What cross-validation found; ``str(search)`` is a sentence.

    Attributes
    ----------
    criterion : {"likelihood-cv", "least-squares-cv"}
        What was compared.
    bandwidth : float
        The best bandwidth.
    score : float
        Its score; larger is better.
    bandwidths : ndarray of shape (b,)
        All rungs that were tried, narrowest first.
    scores : ndarray of shape (b,)
        Their scores.
    """

    criterion: str
    bandwidth: float
    score: float
    bandwidths: FloatArray
    scores: FloatArray

    def __str__(self) -> str:
        low, high = self.bandwidths[0], self.bandwidths[-1]
        return (
            f"bandwidth {self.bandwidth:.3g} has the best {self.criterion} score, "
            f"{self.score:.3g}, of {len(self.bandwidths)} from {low:.3g} to {high:.3g}"
        )


def search_ladder(name: str, criterion: Criterion, centre: float, refine: bool) -> BandwidthSearch:
    """Return the best rung, or what lies between its neighbours, by a criterion to maximise."""
    down = up = _STEPS
    bandwidths = bandwidth_ladder(centre, steps_down=down, steps_up=up)
    scores = criterion(bandwidths)
    best = _widest_best(scores)
    while best == 0 and down < _STEPS * (1 + _EXTENSIONS):
        more = bandwidth_ladder(centre, steps_down=down + _STEPS, steps_up=up)[:_STEPS]
        bandwidths, scores = np.append(more, bandwidths), np.append(criterion(more), scores)
        down, best = down + _STEPS, _widest_best(scores)
    while best == len(scores) - 1 and up < _STEPS * (1 + _EXTENSIONS):
        more = bandwidth_ladder(centre, steps_down=down, steps_up=up + _STEPS)[-_STEPS:]
        bandwidths, scores = np.append(bandwidths, more), np.append(scores, criterion(more))
        up, best = up + _STEPS, _widest_best(scores)
    if best in (0, len(scores) - 1):
        best = _local_best(scores, centre=down)
        warnings.warn(
            f"{name} has no best bandwidth: the score still grows at an edge of the ladder, "
            f"{bandwidths[0]:.3g} to {bandwidths[-1]:.3g}, as it does where many rows are equal; "
            f"{bandwidths[best]:.3g} is taken, the widest local optimum, or Silverman's "
            "bandwidth where there is none.",
            UserWarning,
            stacklevel=3,
        )
        refine = refine and 0 < best < len(scores) - 1
    bandwidth, score = float(bandwidths[best]), float(scores[best])
    if refine:
        bandwidth, score = _refine(criterion, bandwidth, score)
    for array in (bandwidths, scores):
        array.flags.writeable = False
    return BandwidthSearch(name, bandwidth, score, bandwidths, scores)


def _widest_best(scores: FloatArray) -> int:
    """Return the last of the largest scores."""
    return len(scores) - 1 - int(np.argmax(scores[::-1]))


def _local_best(scores: FloatArray, centre: int) -> int:
    """Return the widest rung that is better than both neighbours; the centre if there is none."""
    inside = scores[1:-1]
    is_peak = (inside > scores[:-2]) & (inside > scores[2:])
    return int(np.flatnonzero(is_peak)[-1]) + 1 if is_peak.any() else centre


def _refine(criterion: Criterion, rung: float, score: float) -> tuple[float, float]:
    """Search within a factor √2 of the best rung."""
    found = minimize_scalar(
        lambda octaves: -criterion(np.array([rung * 2.0**octaves]))[0],
        bounds=(-0.5, 0.5),
        method="bounded",
        options={"xatol": 1e-3},
    )
    if -found.fun <= score:
        return rung, score
    return rung * 2.0 ** float(found.x), float(-found.fun)

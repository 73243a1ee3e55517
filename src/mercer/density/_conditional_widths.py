"""Both widths of a conditional density, by the likelihood of rows that are left out."""

from math import pi, sqrt

import numpy as np

from mercer._arrays import FloatArray
from mercer.bandwidth import bandwidth_ladder
from mercer.samples import count_rows
from mercer.sums import log_kernel_sum

_DOWN, _UP = 10, 12  # rungs of √2 below and above the centre: an irrelevant x wants a wide window
_STRIDES = (4, 2, 1)  # in which the search walks along the rungs of the other width
_FARTHEST = 32


def choose_widths(
    Z: FloatArray, t: FloatArray, weights: FloatArray, h: float | None, b: float | None
) -> tuple[float, float, float]:
    r"""Return the widths h and b of the largest likelihood, and its mean over the rows.

    .. math:: \frac1N \sum_i \log \frac{\sum_{j \ne i} K_h(x_i - x_j)\, W_b(y_i - y_j)}
       {\sum_{j \ne i} K_h(x_i - x_j)}

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        The x of the rows, columns divided by their scales.
    t : ndarray of shape (n,)
        The y, divided by its scale.
    weights : ndarray of shape (n,)
        Positive.
    h, b : float or None
        A width that is given; None searches it, and one is None.

    Raises
    ------
    ValueError
        If all rows are equal.

    Notes
    -----
    A product of Gaussian windows is one Gaussian of (x, y·h/b): at one ratio b/h, a ladder of h is
    one pass over the pairs.  So the search walks over ratios, each with its best h.
    Rows that are equal leave together: a copy that stayed would tell what left.  Where many y are
    the same, as rounded ones are, the likelihood grows without bound as b → 0: b is no less than
    half of the median gap between neighbouring values.
    """
    rows, places = np.unique(np.column_stack([Z, t]), axis=0, return_inverse=True)
    if len(rows) < 2:
        raise ValueError("Leaving rows out needs two that differ; give both bandwidths instead.")
    Z, t = rows[:, :-1], rows[:, -1]
    weights = np.bincount(places.ravel(), weights).astype(np.float64)
    N, d = count_rows(Z, weights), Z.shape[1]
    centre = (4 / ((d + 3) * N)) ** (1 / (d + 5))  # of a Gaussian density of x and y
    gaps = np.diff(np.unique(t))
    least = 0.5 * float(np.median(gaps)) if gaps.size else centre
    sums: dict[tuple[float, ...], FloatArray] = {}

    def left_out(rows: FloatArray, ladder: FloatArray) -> FloatArray:
        """Return log Σⱼ≠ᵢ wⱼ k(i, j) for each rung."""
        logs: FloatArray = log_kernel_sum(
            rows, weights=weights, bandwidth=ladder, exclude_self=True
        )
        return logs

    def candidates(k: int) -> tuple[FloatArray, float]:
        """Return a ladder of h and the ratio b/h at step k of the walk."""
        step = sqrt(2) ** k
        if h is not None:
            return np.array([h]), step * centre / h
        if b is not None:
            return np.array([step * centre]), b / (step * centre)
        return bandwidth_ladder(centre, steps_down=_DOWN, steps_up=_UP), step

    def best_at(k: int) -> tuple[float, float, float]:
        """Return the best mean log-likelihood of a step and its widths, the widest of equals."""
        ladder, ratio = candidates(k)
        if tuple(ladder) not in sums:
            sums[tuple(ladder)] = left_out(Z, ladder)
        together = left_out(np.column_stack([Z, t / ratio]), ladder)
        logs = together - sums[tuple(ladder)] - np.log(ladder * ratio * sqrt(2 * pi))[:, None]
        means = logs @ weights / weights.sum()
        if b is None:
            means[ladder * ratio < least] = -np.inf
        place = len(means) - 1 - int(np.argmax(means[::-1]))
        return float(means[place]), float(ladder[place]), float(ladder[place] * ratio)

    found, best = {0: best_at(0)}, 0
    for stride in _STRIDES:
        place = None
        while place != best:
            place = best
            for k in (place + stride, place - stride):
                if abs(k) <= _FARTHEST and k not in found:
                    found[k] = best_at(k)
                    best = k if found[k][0] > found[best][0] else best
    score, h, b = found[best]
    return h, b, score

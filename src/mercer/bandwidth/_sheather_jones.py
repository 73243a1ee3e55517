"""The plug-in rule of Botev, Grotowski and Kroese, an improvement of Sheather's and Jones's."""

from math import pi, sqrt
from typing import Any

import numpy as np
from scipy.fft import dct
from scipy.optimize import brentq

from mercer._arrays import FloatArray, detached, to_numpy
from mercer.bandwidth._rounding import rounding_step
from mercer.bandwidth._rules import FALLBACK
from mercer.samples import check_sample, count_rows

_STAGES = 7  # The estimate begins with the norm of this derivative of the density.
_GRID = 2**14  # Rows are counted in so many bins at first, and in four times as many until
_MOST_BINS = 2**20  # a width has this many bins, but not in more bins than these.
_BINS_IN_A_WIDTH = 8
# A root is looked for from a tenth of a bin on, in steps of √2, up to a third of the grid.
_LEAST_WIDTH, _LARGEST_WIDTH = 0.1, 0.35


def improved_sheather_jones_bandwidth(X: Any, *, sample_weight: Any = None) -> float:
    r"""Return the width of Gaussian windows that a plug-in rule finds best, for one column.

    The best width depends on :math:`\lVert f'' \rVert^2`, which windows of another width estimate,
    whose best width depends on the third derivative, and so on; the rule is the fixed point at
    which the width of the highest derivative's windows is the one that follows.  No normal density
    is assumed anywhere, so that several modes do not widen the windows.

    Parameters
    ----------
    X : array-like of shape (n, 1)
        The sample: a NumPy array or what becomes one, or a torch tensor.
    sample_weight : array-like of shape (n,), default=None
        How often each row counts, or relative weights.

    Returns
    -------
    float
        The Parzen bandwidth h, 1.0 where all rows are the same.

    Raises
    ------
    ValueError
        For more than one column, and where the equation has no solution: for few rows, or where
        some are thousands of widths away from all others.

    See Also
    --------
    silverman_bandwidth : For any number of columns.
    least_squares_cross_validation : By all pairs of rows.

    Notes
    -----
    Time is O(n log n), memory O(n) and some grids of at most four million numbers.  N is the number
    of different values: copies of a row tell nothing new.  Rounded values, equal steps apart and
    many of them the same, are another case: each is spread over its step, N is the number of rows,
    and the width is at least half of a step.

    References
    ----------
    .. [1] Z. I. Botev, J. F. Grotowski, D. P. Kroese (2010). Kernel density estimation via
       diffusion. Annals of Statistics 38, 2916-2957. Section 3, algorithm 1.
       :doi:`10.1214/10-AOS799`

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.bandwidth import improved_sheather_jones_bandwidth, silverman_bandwidth
    >>> X = np.random.default_rng(0).normal(size=(1000, 1)) + 10 * np.arange(2).repeat(500)[:, None]
    >>> round(improved_sheather_jones_bandwidth(X), 3), round(silverman_bandwidth(X), 3)
    (0.324, 1.351)
    """
    X, weights = check_sample(X, sample_weight)
    if X.shape[1] != 1:
        raise ValueError(
            f"The rule of Sheather and Jones is for one column, X has {X.shape[1]}; use "
            "cross-validation, or pass the columns one by one."
        )
    x = to_numpy(detached(X)).astype(np.float64)[:, 0]
    w = np.ones(len(x)) if weights is None else to_numpy(weights)
    low, high = x.min(), x.max()
    half_range = high / 2 - low / 2
    if half_range == 0:
        return FALLBACK
    # Half a range of nothing on either side: mirrors at the ends of the grid are far away.
    places = (x / 2 - low / 2) / half_range / 2 + 0.25
    n_rows = count_rows(X, weights)
    step = rounding_step(x, n_rows) / half_range / 4
    N = n_rows if step else len(np.unique(x))
    bins, width = _GRID, None
    while width is None or width * bins < _BINS_IN_A_WIDTH:
        if width is not None:
            bins *= 4
        least = _LEAST_WIDTH / bins if width is None else width / 8
        squares = _squared_coefficients(places, w / w.sum(), bins)
        squares *= np.sinc(np.arange(1, bins) * step / 2) ** 2  # Each value is spread over a step.
        width = _fixed_point(squares, N, least, step / 2) if bins <= _MOST_BINS else None
        if width is None:
            raise ValueError(
                "The equation of Sheather and Jones has no solution for these rows: they are few, "
                "or some of them are too far away from the others; use another rule."
            )
    return float(width * 4 * half_range)


def _squared_coefficients(places: FloatArray, shares: FloatArray, bins: int) -> FloatArray:
    """Return the squares of 2·Σᵢ wᵢ cos(πkxᵢ), k = 1, 2, …, of places between 0 and 1."""
    # A row is shared by the two bins whose middles are beside it.
    at = places * bins - 0.5
    left = np.floor(at).astype(np.int64)
    right = at - left
    counts = np.bincount(left, shares * (1 - right), bins)
    counts += np.bincount(left + 1, shares * right, bins)
    coefficients: FloatArray = dct(counts, type=2)[1:]
    return coefficients**2


def _fixed_point(squares: FloatArray, N: float, least: float, floor: float) -> float | None:
    """Return the root of the least t with t = ξγ(t), [1] eq. (32); None if there is none.

    A root below the floor becomes the floor.
    """
    k2 = np.arange(1.0, len(squares) + 1) ** 2

    def squared_norm(derivative: int, t: float) -> float:
        """Return ‖f^(s)‖² of windows whose width is the root of t: [1] eq. (29)."""
        few = min(len(k2), 2 + int(sqrt(100 / t) / pi))  # beyond them exp(−100)
        waves = k2[:few]
        terms = (pi**2 * waves) ** derivative * squares[:few] * np.exp(-(pi**2) * t * waves)
        return float(terms.sum() / 2)

    def difference(t: float) -> float:
        norm = squared_norm(_STAGES, t)
        for s in range(_STAGES - 1, 1, -1):
            if norm == 0:
                return np.inf
            odd = float(np.prod(np.arange(1.0, 2 * s, 2)))
            constant = (1 + 0.5 ** (s + 0.5)) / 3
            norm = squared_norm(
                s, (constant * odd / (N * sqrt(pi / 2) * norm)) ** (2 / (3 + 2 * s))
            )
        return np.inf if norm == 0 else float((2 * N * sqrt(pi) * norm) ** -0.4 - t)

    with np.errstate(under="ignore", over="ignore"):
        width, before = max(least, floor), np.inf
        if floor >= least and difference(floor**2) <= 0:
            return floor
        while width < _LARGEST_WIDTH:
            now = difference(width**2)
            if now <= 0 < before < np.inf:
                return sqrt(brentq(difference, width**2 / 2, width**2, rtol=1e-6))
            width, before = width * sqrt(2), now
    return None

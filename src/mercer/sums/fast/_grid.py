"""The periodic grid of frequencies on which a Gaussian sum is a product.

A sum of Gaussians of width b, made periodic with period L, is the Fourier series

    f(x) = Σ_k g(2πk/L) c_k exp(2πi k·x/L),    g(ω) = Π √(2π) b/L · exp(−b²ω²/2)
    c_k  = Σ_j w_j exp(−2πi k·y_j/L)

Leaving out |ω| > reach/b, and the images of the data that are farther than reach·b, changes f by
at most some exp(−reach²/2) of Σ|w|.  That takes reach·L/(πb) frequencies along each axis.
"""

from dataclasses import dataclass
from math import ceil, inf, log, pi, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len


@dataclass(frozen=True)
class GridBox:
    """Where sums are computed on a grid.

    Parameters
    ----------
    low, high : arrays of shape (d,)
    holds_all : bool
        Whether all rows of X and Y are inside.  If not, rows of X outside are left to direct
        sums, and rows of Y outside count as far as they reach into the box.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    holds_all: bool = True

    def holds(self, A: NDArray[np.floating], margin: float = 0.0) -> Any:
        """Return an index of the rows that are in the box or within a margin of it."""
        if self.holds_all:
            return slice(None)
        return ((self.low - margin <= A) & (self.high + margin >= A)).all(axis=1)


@dataclass(frozen=True)
class Grid:
    """Where the data lie in their period.

    Parameters
    ----------
    centre, period : arrays of shape (d,)
    reach : float
        At this many widths from its centre a Gaussian is taken to be zero.
    """

    centre: NDArray[np.float64]
    period: NDArray[np.float64]
    reach: float

    @classmethod
    def around(cls, box: GridBox, widest: float, reach: float) -> "Grid":
        """Return the smallest period in which no image of the data reaches into the box."""
        margin = reach * widest * (1 if box.holds_all else 2)
        return cls(box.low / 2 + box.high / 2, (box.high - box.low) + margin, reach)

    def modes(self, bandwidth: float) -> tuple[int, ...]:
        """Return how many frequencies Gaussians of this width need along each axis."""
        counts = self.reach * self.period / (pi * bandwidth)
        return tuple(next_fast_len(ceil(count) + 2) for count in counts)

    def n_modes(self, bandwidth: float) -> float:
        """Return how many they need in all; infinite where 32 bits cannot count them."""
        counts = self.reach * self.period / (pi * bandwidth)
        return float(prod(self.modes(bandwidth))) if counts.max() < 2**31 else inf

    def phases(self, A: NDArray[np.floating]) -> list[NDArray[np.float64]]:
        """Return 2π(x − centre)/L, one array for each axis, in −π … π."""
        columns = []
        for axis, (centre, period) in enumerate(zip(self.centre, self.period, strict=True)):
            column = A[:, axis].astype(np.float64)
            column -= centre
            column *= 2 * pi / period
            columns.append(column)
        return columns

    def spectrum(self, bandwidth: float) -> list[NDArray[np.float64]]:
        """Return g along each axis, the frequencies in ascending order."""
        factors = []
        for count, period in zip(self.modes(bandwidth), self.period, strict=True):
            k = np.arange(-(count // 2), (count + 1) // 2)
            omega = k * (2 * pi * bandwidth / period)
            factors.append(np.exp(-0.5 * omega**2) * (sqrt(2 * pi) * bandwidth / period))
        return factors


def reach_of(error: float) -> float:
    """Return at how many widths from its centre a Gaussian has fallen to this value."""
    return sqrt(2 * log(1 / error))

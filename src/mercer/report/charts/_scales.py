"""From numbers to lengths: domains, round ticks and linear scales."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LEAST_WIDTH = 1e-200  # of a domain: for ticks of a narrower one, powers of ten would underflow


@dataclass(frozen=True)
class Linear:
    """Maps `domain` to `lengths`, end to end, by a straight line."""

    domain: tuple[float, float]
    lengths: tuple[float, float]

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return lengths; what is not finite stays so."""
        (low, high), (start, stop) = self.domain, self.lengths
        part = (np.asarray(values, dtype=np.float64) - low) / (high - low)
        return start + part * (stop - start)


def domain_of(arrays: Iterable[ArrayLike]) -> tuple[float, float]:
    """Return least and greatest finite number; (0, 1) where there is none.

    A domain without width, or too narrow for ticks that differ, is widened about its middle.
    """
    parts = [np.ravel(np.asarray(array, dtype=np.float64)) for array in arrays]
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    if high - low <= max(1e-9 * size, _LEAST_WIDTH):
        half = 0.05 * size if size > _LEAST_WIDTH else 0.5
        return low - half, high + half
    return low, high


def padded(domain: tuple[float, float], share: float) -> tuple[float, float]:
    """Widen a domain by a share of its width at each end."""
    low, high = domain
    room = share * (high - low)
    return low - room, high + room


def tick_step(low: float, high: float, most: int) -> float:
    """Return the least of 1, 2, 5 × 10ᵏ that puts at most `most` ticks between two numbers."""
    if not (isfinite(low) and isfinite(high) and low < high and most >= 2):
        raise ValueError(f"There are no ticks between {low} and {high}, {most} at most.")
    power = floor(log10((high - low) / most)) - 1
    while True:
        for digit in (1, 2, 5):
            step = digit * 10.0**power if power >= 0 else digit / 10.0**-power
            first, last = _ends(low, high, step)
            if last - first + 1 <= most:
                return step
        power += 1


def ticks(low: float, high: float, most: int = 6) -> NDArray[np.float64]:
    """Return the multiples of :func:`tick_step` between two numbers."""
    step = tick_step(low, high, most)
    first, last = _ends(low, high, step)
    digits = max(0, -floor(log10(step) + 1e-9))
    return np.array([round(k * step, digits) + 0.0 for k in range(first, last + 1)])


def _ends(low: float, high: float, step: float) -> tuple[int, int]:
    """Return the first and last multiple in the interval, a rounding error beyond it allowed."""
    slack = 1e-9 * (high - low) / step
    return ceil(low / step - slack), floor(high / step + slack)


def tick_labels(values: NDArray[np.float64]) -> list[str]:
    """Write ticks with the digits that tell them apart, the same number for all."""
    if not len(values):
        return []
    size = float(np.abs(values).max())
    step = float(np.diff(values).min()) if len(values) > 1 else size or 1.0
    if size >= 1e6 or step < 1e-4:
        digits = max(0, floor(log10(size) + 1e-9) - floor(log10(step) + 1e-9)) if size else 0
        texts = [f"{value:.{digits}e}" if value else "0" for value in values]
    else:
        digits = max(0, -floor(log10(step) + 1e-9))
        texts = [f"{value:.{digits}f}" for value in values]
    return [text.replace("-", "−", 1) if text.startswith("-") else text for text in texts]

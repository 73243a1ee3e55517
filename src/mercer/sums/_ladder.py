"""A ladder of bandwidths as few exponentials and many squarings.

exp(−d²/2h²) for h, h/√2, h/2, … are successive squares.  Squaring doubles the relative error, so
a fresh exponential is taken after three of them.
"""

from math import e, log2

from mercer.kernels import Kernel

RUNGS_AT_ONCE = 4
_ROUNDING = 8  # eps by which a ladder that users compute in floating point may be off


def climb(kernel: Kernel, bandwidths: tuple[float, ...], eps: float) -> list[tuple[float, int]]:
    """Return (coefficient, number of rungs that follow from it by squaring, itself included).

    `bandwidths` are the widest first; the coefficient of an exponential kernel is in base 2,
    so that k = 2**(−coefficient·u).

    >>> from mercer.kernels import get_kernel
    >>> climb(get_kernel("cauchy"), (1.0, 0.5), 1e-16)
    [(1.0, 1), (4.0, 1)]
    """
    per_base = log2(e) if kernel.is_exponential else 1.0
    steps: list[tuple[float, int]] = []
    for bandwidth in bandwidths:
        c = kernel.coefficient(bandwidth) * per_base
        if kernel.is_exponential and steps:
            first, rungs = steps[-1]
            if rungs < RUNGS_AT_ONCE and abs(c / (first * 2**rungs) - 1) < _ROUNDING * eps:
                steps[-1] = first, rungs + 1
                continue
        steps.append((c, 1))
    return steps

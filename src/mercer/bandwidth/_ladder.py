"""Bandwidths a factor √2 apart, which kernel sums compute in one pass."""

from math import inf
from numbers import Integral, Real
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray


def bandwidth_ladder(centre: Any, *, steps_down: Any = 8, steps_up: Any = 8) -> NDArray[np.float64]:
    r"""Return bandwidths a factor √2 apart, narrowest first, around a centre.

    exp(−r²/2h²) for h, h/√2, h/2, … are successive squares, so that
    :func:`mercer.sums.kernel_sum` needs one exponential for four of them.

    Parameters
    ----------
    centre : float
        The bandwidth that the ladder is built around and contains, such as a rule's.
    steps_down, steps_up : int, default=8
        How many narrower and wider ones follow; eight reach from centre/16 to 16·centre.

    Returns
    -------
    ndarray of shape (steps_down + 1 + steps_up,)
        The bandwidths, the narrowest first.

    Examples
    --------
    >>> from mercer.bandwidth import bandwidth_ladder
    >>> bandwidth_ladder(3.0, steps_down=2, steps_up=1).round(4)
    array([1.5   , 2.1213, 3.    , 4.2426])
    """
    if not (isinstance(centre, Real) and 0 < float(centre) < inf):
        raise ValueError(f"centre must be a positive number, got {centre!r}.")
    for name, steps in (("steps_down", steps_down), ("steps_up", steps_up)):
        if not (isinstance(steps, Integral) and int(steps) >= 0):
            raise ValueError(f"{name} must be an integer that is not negative, got {steps!r}.")
    with np.errstate(over="ignore", under="ignore"):
        ladder: NDArray[np.float64] = float(centre) * 2.0 ** (
            np.arange(-int(steps_down), int(steps_up) + 1) / 2
        )
    if not (ladder[0] >= float_info.min and ladder[-1] < inf):
        raise ValueError(
            f"centre={float(centre):g} is too extreme for {steps_down} steps down and {steps_up} "
            "steps up: the bandwidths would leave the range of floating point."
        )
    return ladder

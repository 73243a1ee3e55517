"""What the compiled loops are called with: the recipe of a sum, its rows, and tasks of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer._memory import row_slabs
from mercer.kernels import KERNELS, Kernel
from mercer.sums._geometry import Geometry
from mercer.sums._ladder import climb
from mercer.sums._problem import Problem
from mercer.sums.cpu._loops import CAUCHY, EPANECHNIKOV, EXPONENTIAL
from mercer.sums.cpu._threads import thread_count

PAIRS_PER_TASK = 10**8  # some tenths of a second: Ctrl-C is heard between tasks
_PAIRS_WORTH_A_TASK = 10**6
_FORMS = {"cauchy": CAUCHY, "epanechnikov": EPANECHNIKOV}  # of kernels that are no exponentials


def compiled_form(kernel: Kernel) -> int | None:
    """Return how the loops compute a kernel, or None where they do not know it.

    An exponential is told by its coefficient and power alone, whoever wrote it.
    """
    if kernel.is_exponential:
        return EXPONENTIAL
    return _FORMS.get(kernel.name) if KERNELS.get(kernel.name) == kernel else None


@dataclass(frozen=True)
class Recipe:
    """What the compiled loops must know besides arrays, in the order in which they take it."""

    scale: Any
    centre: NDArray[Any]
    product: bool
    kind: int | None
    root: bool
    coefficients: NDArray[Any]
    rungs: NDArray[np.int64]
    own_value: Any

    @classmethod
    def of(cls, problem: Problem, geometry: Geometry) -> "Recipe":
        """Write down the problem's geometry and ladder."""
        dtype = problem.X.dtype
        finfo = np.finfo(dtype)
        steps = climb(problem.kernel, geometry.bandwidths, float(finfo.eps))
        centre = geometry.centre
        return cls(
            scale=dtype.type(geometry.scale),
            centre=np.zeros(problem.X.shape[1], dtype) if centre is None else centre,
            product=centre is not None,
            kind=compiled_form(problem.kernel),
            root=problem.kernel.bandwidth_power == 1,
            coefficients=np.array([min(c, finfo.max / 2**10) for c, _ in steps], dtype),
            rungs=np.array([rungs for _, rungs in steps]),
            own_value=dtype.type(np.inf if problem.exclude_self else 0),
        )

    def arguments(self) -> tuple[Any, ...]:
        """Return the fields in their order."""
        return tuple(vars(self).values())


def log_totals(
    problem: Problem,
    geometry: Geometry,
    nearest: NDArray[np.float64] | None,
    totals: NDArray[np.float64],
) -> None:
    """Take logarithms of (rows, outputs, rungs), in place, adding that of the common factor."""
    with np.errstate(divide="ignore"):  # log 0 = −inf is the answer
        np.log(totals, out=totals)
    if nearest is not None:
        coefficients = np.array([problem.kernel.coefficient(b) for b in geometry.bandwidths])
        totals -= nearest[:, :, None] * coefficients


def row_tasks(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Cut the rows into tasks: enough for all threads, none too small or too long."""
    shared = -(-n_rows // (4 * thread_count()))
    least, most = (pairs // max(1, n_columns) for pairs in (_PAIRS_WORTH_A_TASK, PAIRS_PER_TASK))
    step = max(96, least, min(shared, most))
    return row_slabs(n_rows, 1, step)


def plain(X: NDArray[Any]) -> NDArray[Any]:
    """Return X as the loops are compiled for: in rows, writeable; a copy only if it is not."""
    return np.require(X, requirements=["C", "A", "W"])

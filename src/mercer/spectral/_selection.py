"""Greedy selection of columns by a pivoted, partial Cholesky factorisation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from mercer._arrays import Array

StopRule = Literal["window", "printed"]

# A candidate whose residual is below this share of its diagonal depends on those already taken.
_DEPENDENT = 1e-11
# The stop rule "window" looks at this many gains together: single ones are not monotone.
_WINDOW = 10


@dataclass(frozen=True)
class GreedyPath:
    """What was taken, in order, and the criterion after each step."""

    order: NDArray[np.intp]
    criterion: NDArray[np.float64]


def greedy_selection(
    column: Callable[[int], Array],
    diagonal: Array,
    targets: Array,
    max_steps: int,
    tol: float = 0.0,
    stop_rule: StopRule = "window",
) -> GreedyPath:
    r"""Take indices s one by one so that tr(U_sᵀ G_ss⁻¹ U_s) grows most at every step.

    A partial Cholesky factorisation keeps, for every candidate at once, the residual diagonal ρ
    and the residual R of the targets.  The gain of a candidate is ‖R‖²/ρ, exactly what a
    bordered inverse gives ([1]_ eq. (20), with γ − uᵀz = ρ and (a − b) − y = R).

    Parameters
    ----------
    column : callable
        Returns column j of the positive definite matrix G, at all candidates.
    diagonal : ndarray of shape (n_candidates,)
        The diagonal of G.
    targets : ndarray of shape (n_candidates, n_targets)
        U.
    max_steps : int
        How many to take at most.
    tol : float, default=0
        Steps end where they gain less than this.
    stop_rule : {"window", "printed"}, default="window"
        "window" stops where ten steps together gain less than ten times `tol`, and takes back
        these ten.  "printed" stops behind the first step that gains less than `tol`, and keeps it:
        J_s − J_(s−1) < ε in [1]_.

    Returns
    -------
    GreedyPath
        What was taken, in order, and what each step gained.

    Notes
    -----
    Time O(s²·n_candidates) beside the s columns asked for, memory O(s·n_candidates).

    References
    ----------
    .. [1] Y. Xu, J.-y. Yang, J. Yang (2004). A reformative kernel Fisher discriminant analysis.
       Pattern Recognition 37, 1299-1302. https://doi.org/10.1016/j.patcog.2003.10.006
    """
    xp: Any = array_namespace(diagonal)
    n_candidates = diagonal.shape[0]
    max_steps = min(max_steps, n_candidates)
    rho, residual = (xp.astype(A, xp.float64, copy=True) for A in (diagonal, targets))
    floor = _DEPENDENT * rho
    # Row k is column k of the factor.
    factor = xp.empty((max_steps, n_candidates), dtype=xp.float64, device=device(rho))
    order: list[int] = []
    criterion: list[float] = []
    total = 0.0
    is_free = rho > 0
    for step in range(max_steps):
        norms = xp.sum(residual**2, axis=1)
        gains = xp.where(is_free, norms / xp.where(is_free, rho, 1.0), -1.0)  # eq. (20)
        best = int(xp.argmax(gains))
        gain = float(gains[best])
        if not gain > 0:
            break
        fresh = column(best) - factor[:step, best] @ factor[:step, :]
        root = rho[best] ** 0.5
        fresh /= root  # eq. (19): one more row of the factor
        factor[step, :] = fresh
        share = residual[best, :] / root
        residual -= fresh[:, None] * share
        rho -= fresh**2
        is_free &= rho > floor
        is_free[best] = False
        total += gain  # ‖share‖²
        order.append(best)
        criterion.append(total)
        if stop_rule == "printed":
            if _gained_less(criterion, 1, tol):
                break
        elif _gained_less(criterion, _WINDOW, tol):
            del order[-_WINDOW:], criterion[-_WINDOW:]
            break
    return GreedyPath(np.array(order, dtype=np.intp), np.array(criterion))


def _gained_less(criterion: list[float], steps: int, tol: float) -> bool:
    """Tell whether the last steps gained less than `tol` on average; there is one before them."""
    if tol <= 0 or len(criterion) <= steps:
        return False
    return criterion[-1] - criterion[-1 - steps] < steps * tol

"""What a kernel sum would do, and in about what time, without doing it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from mercer.kernels import Kernel
from mercer.samples import refuse_dask
from mercer.sums._api import state
from mercer.sums._devices import devices_in_use
from mercer.sums._in_memory import passes


@dataclass(frozen=True)
class SumPlan:
    """How a kernel sum would be computed, and why.

    Attributes
    ----------
    method : {"direct", "fast"}
        What would be done.
    seconds : float
        Predicted time of that, on the threads at hand.
    direct_seconds : float
        Predicted time of adding up every term.
    n_modes : int
        Frequencies of the largest grid; 0 where there is no transform.
    redone : float
        Share of the sums that would be too small for the transform, and added up directly.
    reason : str
        Why, in a few words.
    """

    method: str
    seconds: float
    direct_seconds: float
    n_modes: int
    redone: float
    reason: str

    def __str__(self) -> str:
        how = f"{self.method}, about {self.seconds:.2g} s: {self.reason}"
        if self.method == "fast":
            how += f" (direct: about {self.direct_seconds:.2g} s"
            how += f"; {self.n_modes:,} modes, {self.redone:.1%} of the sums added up directly)"
        return how


def explain_kernel_sum(
    X: Any,
    Y: Any = None,
    *,
    weights: Any = None,
    groups: Any = None,
    kernel: str | Kernel = "gaussian",
    bandwidth: Any,
    exclude_self: bool = False,
    method: str = "auto",
    tol: float | None = None,
    precision: str = "high",
) -> SumPlan:
    """Tell how `kernel_sum` would compute these sums, in about what time, and why.

    The answer holds for `log_kernel_sum` too.  It looks at the data's range and, where `tol` is
    given, adds up the sums of 256 rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points at which the sum is wanted.
    Y : array-like of shape (m, d), default=None
        Points that are summed over; X itself when None.
    weights : array-like of shape (m,) or (m, c), default=None
        Weights of the rows of Y, of any sign.
    groups : array-like of int of shape (m,), default=None
        Group 0…G−1 of each row of Y.
    kernel : str or Kernel, default="gaussian"
        What is summed: a name from :mod:`mercer.kernels`.
    bandwidth : float or array-like of shape (b,)
        Width of the kernel, or several.
    exclude_self : bool, default=False
        Leave out the term of a row with itself; only with Y=None.
    method : {"auto", "direct", "fast"}, default="auto"
        How to add up, as for `kernel_sum`.
    tol : float, default=None
        Relative error allowed to an approximation; None allows none.
    precision : {"high", "fast"}, default="high"
        As for `kernel_sum`.

    Returns
    -------
    SumPlan
        With `method`, `seconds`, `direct_seconds`, `n_modes`, `redone` and `reason`; its ``str`` is
        one sentence.

    Raises
    ------
    ValueError
        For what `kernel_sum` would refuse as well.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sums import explain_kernel_sum
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> explain_kernel_sum(X, bandwidth=1.0, tol=1e-6).method
    'direct'
    """
    options: dict[str, Any] = {
        "exclude_self": exclude_self, "method": method, "tol": tol, "precision": precision,
        "log": False,
    }  # fmt: skip
    for A in (X, Y):
        refuse_dask(
            A, "explain_kernel_sum", "every pair of blocks goes its own way",
            "pass one block of either, X.blocks[0].compute()",
        )  # fmt: skip
    problem, _ = state(X, Y, weights, groups, kernel, bandwidth, options)
    if problem.X.shape[0] == 0 or problem.Y.shape[0] == 0:
        return SumPlan("direct", 0.0, 0.0, 0, 0.0, "there are no pairs")
    from mercer.sums.fast._run import explain

    with np.errstate(over="ignore", under="ignore"):  # as in kernel_sum
        plans = [explain(part) for _, parts in passes(problem) for _, part in parts]
    first = next((plan for plan in plans if plan.method == "fast"), plans[0])
    reason, devices = first.reason, devices_in_use()
    if devices and (is_torch_array(problem.X) or tol is None):
        reason += f"; {len(devices)} devices share the rows: {', '.join(devices)}"
    return SumPlan(
        first.method,
        sum(plan.seconds for plan in plans),
        sum(plan.direct_seconds for plan in plans),
        max(plan.n_modes for plan in plans),
        sum(plan.redone for plan in plans) / len(plans),
        reason,
    )

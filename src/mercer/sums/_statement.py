"""From what users pass to the problem that it poses: everything is checked here."""

from typing import Any

from mercer.kernels import get_kernel
from mercer.samples import check_finite, check_rows, match_rows
from mercer.sums._box import Box
from mercer.sums._problem import Problem
from mercer.sums._validation import check_bandwidth, check_groups, check_options, check_weights
from mercer.sums.dask import check_blocks
from mercer.sums.dask import owns as is_in_blocks


def state(
    X: Any, Y: Any, weights: Any, groups: Any, kernel: Any, bandwidth: Any, options: dict[str, Any]
) -> tuple[Problem, bool]:
    """Return the problem of `kernel_sum`, and whether its bandwidth was given as a number.

    Options are `log`, `exclude_self`, `method`, `tol` and `precision`.
    """
    check_options(options)
    if Y is not None and options["exclude_self"]:
        raise ValueError("exclude_self=True goes with Y=None: only then does a row meet itself.")
    check = check_blocks if is_in_blocks(X) or is_in_blocks(Y) else _check_arrays
    arrays = check(X, Y, weights, groups, options["log"])
    bandwidths, is_number = check_bandwidth(bandwidth)
    problem = Problem(
        order=None, bounds=(), kernel=get_kernel(kernel), bandwidths=bandwidths,
        self_sum=Y is None, **arrays, **options,
    )  # fmt: skip
    return problem, is_number


def _check_arrays(X: Any, Y: Any, weights: Any, groups: Any, log: bool) -> dict[str, Any]:
    """Return what was passed in memory, as the engine takes it, by the names of `Problem`."""
    is_self, box = Y is None, None
    X = check_rows(X, "X", finite=False)
    X, Y = (X, X) if is_self else match_rows(X, check_rows(Y, "Y", of=X, finite=False))
    if X.shape[0] or Y.shape[0]:
        box = Box.of(X) if is_self else Box.of(X, Y)
        if not box.is_finite:
            check_finite(X, "X")
            check_finite(Y, "Y")
    weights = check_weights(weights, Y.shape[0], X, log)
    groups = check_groups(groups, Y.shape[0], weights, X)
    return {"X": X, "Y": Y, "weights": weights, "groups": groups, "box": box}

"""From what users pass to the problem that it poses, or the one sentence on what is wrong."""

from math import inf
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_torch_array

from mercer._arrays import Array, detached, like, to_numpy
from mercer.kernels import get_kernel
from mercer.samples import (
    as_array,
    as_float,
    check_finite,
    check_rows,
    first,
    in_memory,
    is_in_blocks,
    match_rows,
    place,
)
from mercer.sums._problem import Box, Problem


def state(
    X: Any, Y: Any, weights: Any, groups: Any, kernel: Any, bandwidth: Any, options: dict[str, Any]
) -> tuple[Problem, bool]:
    """Return the problem of `kernel_sum`, and whether its bandwidth was given as a number.

    Options are `log`, `exclude_self`, `method`, `tol` and `precision`.
    """
    check_options(options)
    if Y is not None and options["exclude_self"]:
        raise ValueError("exclude_self=True goes with Y=None: only then does a row meet itself.")
    check = _check_blocks if is_in_blocks(X, Y) else _check_arrays
    arrays = check(X, Y, weights, groups, options["log"])
    bandwidths, is_number = check_bandwidth(bandwidth)
    problem = Problem(
        order=None, bounds=(), kernel=get_kernel(kernel), bandwidths=bandwidths,
        self_sum=Y is None, **arrays, **options,
    )  # fmt: skip
    return problem, is_number


def _check_blocks(*given: Any) -> dict[str, Any]:
    """Return what was passed as Dask arrays, lazily, by the names of `Problem`."""
    from mercer.sums.dask import check_blocks  # which takes the checks of this module

    return check_blocks(*given)


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


def check_weights(weights: Any, n_rows: int, X: Array, log: bool) -> Array | None:
    """Return weights (m,) or (m, c) as floats of X's library and precision."""
    if weights is None:
        return None
    weights = as_array(weights, "weights", of=X)
    if weights.ndim not in (1, 2) or weights.shape[0] != n_rows:
        raise ValueError(
            f"weights must have one entry or row for each of the {n_rows} rows that are summed "
            f"over, got shape {tuple(weights.shape)}."
        )
    if weights.ndim == 2 and weights.shape[1] == 0:
        raise ValueError("weights has no columns.")
    weights = as_float(weights, "weights")
    xp = array_namespace(X)
    narrow = xp.astype(weights, X.dtype)
    if is_torch_array(X) and n_rows and weights.dtype == X.dtype:
        low, high = to_numpy(xp.stack(detached(weights).aminmax()))  # one word with the device
        if 0 < low <= high < inf:
            return narrow
    check_finite(weights, "weights")
    if weights.dtype != X.dtype:
        changed = ~xp.isfinite(narrow) | ((narrow == 0) != (weights == 0))
        if bool(xp.any(changed)):
            raise ValueError(
                "weights hold numbers beyond the range of float32, which X has; pass X as float64."
            )
    if log:
        if bool(xp.any(narrow < 0)):
            where = first(to_numpy(narrow) < 0)
            raise ValueError(
                f"log_kernel_sum needs weights that are not negative, got {to_numpy(narrow)[where]}"
                f" {place(where)}; use kernel_sum."
            )
        if getattr(narrow, "requires_grad", False) and bool(xp.any(narrow == 0)):
            raise ValueError(
                "log_kernel_sum can not differentiate with respect to weights that are zero; "
                "leave those rows out, or detach the weights."
            )
    return narrow


def check_groups(groups: Any, n_rows: int, weights: Array | None, X: Array) -> Array | None:
    """Return group numbers 0…G−1 as integers of X's library, where X is."""
    if groups is None:
        return None
    if weights is not None and weights.ndim == 2:
        raise ValueError(
            "groups go with weights of one entry for each row, not with columns of weights."
        )
    numbers = as_array(in_memory(groups), "groups")
    if tuple(numbers.shape) != (n_rows,):
        raise ValueError(
            f"groups must have one entry for each of the {n_rows} rows that are summed over, "
            f"got shape {tuple(numbers.shape)}."
        )
    kind = str(numbers.dtype).split(".")[-1]  # torch has names only
    if getattr(numbers.dtype, "kind", kind[0]) not in "iu":
        raise ValueError(
            f"groups must be integers 0, 1, …, got {kind}; "
            "sklearn.preprocessing.LabelEncoder makes such numbers of labels."
        )
    if is_torch_array(numbers):  # which can not order all kinds of integers
        numbers = numbers.to(array_namespace(numbers).int64)
    if n_rows:
        low, high = (int(end) for end in (numbers.min(), numbers.max()))
        if not 0 <= low <= high < 2**31:
            raise ValueError(f"groups must be integers 0, 1, …, got {low if low < 0 else high}.")
    if is_torch_array(X):
        return like(numbers, X, dtype=array_namespace(X).int64)
    return to_numpy(numbers).astype(np.int64)


def check_bandwidth(bandwidth: Any) -> tuple[tuple[float, ...], bool]:
    """Return the bandwidths and whether a single one was given as a number."""
    if getattr(bandwidth, "requires_grad", False):
        raise ValueError(
            "bandwidth can not be differentiated through; divide X and Y by it and pass "
            "bandwidth=1."
        )
    try:
        values = to_numpy(bandwidth)
        if values.dtype.kind not in "iuf" or values.ndim > 1 or values.size == 0:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(
            f"bandwidth must be a positive number or a vector of them, got {bandwidth!r}."
        ) from None
    with np.errstate(over="ignore", under="ignore"):
        numbers = values.ravel().astype(float).tolist()
    for number, value in zip(numbers, values.ravel(), strict=True):
        if not 0 < number < inf:
            raise ValueError(f"bandwidth must be positive and finite, got {value}.")
    return tuple(numbers), values.ndim == 0


def check_options(options: dict[str, Any]) -> None:
    """Refuse what the options that are no arrays can not be."""
    for name, choices in (("method", ("auto", "direct", "fast")), ("precision", ("high", "fast"))):
        value = options[name]
        if not (isinstance(value, str) and value in choices):
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    tol, exclude_self = options["tol"], options["exclude_self"]
    if tol is not None and not (isinstance(tol, Real) and 0 < float(tol) < 1):
        raise ValueError(f"tol must be None or a number between 0 and 1, got {tol!r}.")
    if not isinstance(exclude_self, bool | np.bool_):
        raise ValueError(f"exclude_self must be True or False, got {exclude_self!r}.")

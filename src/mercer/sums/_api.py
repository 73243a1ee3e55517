"""Kernel sums, their logarithms, and these with a row left out.

What users pass is checked here, stated as a `Problem` and computed.
"""

from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from numpy.typing import NDArray

from mercer._arrays import Array, detached, like, to_numpy
from mercer.kernels import KERNELS, Kernel, get_kernel
from mercer.samples import (
    as_array,
    as_float,
    check_finite,
    check_rows,
    describe_index,
    first_true,
    in_memory,
    is_in_blocks,
    kind_of,
    match_rows,
)
from mercer.sums._problem import Box, Problem, Removal, compute

if TYPE_CHECKING:
    from mercer.sums.torch._survey import Survey


def kernel_sum(
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
) -> Array:
    r"""Sum a kernel over the rows of Y, at each row of X, without storing the kernel matrix.

    .. math:: s_i = \sum_j w_j \, k(x_i, y_j)

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points at which the sum is wanted: a NumPy array or what becomes one, a torch tensor, or
        a Dask array whose rows are cut into blocks, for a lazy result.
        float32 and float64 are computed as such, float16 as float32, integers as float64.
    Y : array-like of shape (m, d), default=None
        Points that are summed over; X itself when None, which takes half the time where
        neither groups nor columns of weights are asked for.
    weights : array-like of shape (m,) or (m, c), default=None
        Weights of the rows of Y, of any sign; c columns give c sums.
    groups : array-like of int of shape (m,), default=None
        Group 0…G−1 of each row of Y: one sum for each group, at the cost of one sum.
    kernel : str or Kernel, default="gaussian"
        "gaussian", "exponential", "laplacian" (of the city-block distance), "epanechnikov" or
        "cauchy": see :mod:`mercer.kernels`.
    bandwidth : float or array-like of shape (b,)
        Width of the kernel that is summed: exp(−r²/2·bandwidth²).  Several are computed in one
        pass; where they shrink by √2 (by 2 for "exponential" and
        "laplacian"), most of them by squaring.
    exclude_self : bool, default=False
        Leave out the term of a row with itself (by index); only with Y=None.
    method : {"auto", "direct", "fast"}, default="auto"
        "direct" adds all n·m terms; "fast" takes a fast Gauss transform, in time that grows with
        n + m, for Gaussian sums over NumPy arrays of at most 3 features (extra ``fast``); "auto"
        predicts the time of both and takes the quicker, if `tol` is given.
        `explain_kernel_sum` and the logger "mercer.sums" tell what was chosen.
    tol : float, default=None
        Relative error allowed to an approximation, for each number of the result (relative to
        Σ|w|·k where weights are negative); None allows none.
    precision : {"high", "fast"}, default="high"
        "fast" trades digits for speed: distances by matrix products even where these cancel, and
        float16 or TF32 arithmetic on GPUs.

    Returns
    -------
    array of shape (n,), (n, c) or (n, G)
        In the library and precision of X; a vector of bandwidths adds a leading axis (b, …).

    See Also
    --------
    log_kernel_sum : The logarithm, also where every term underflows.

    Notes
    -----
    Time grows as n·m·(d + 12), memory as inputs, outputs and scikit-learn's ``working_memory``.
    The relative error is at most 8·eps·(1 + r²/2b²), with r the radius of the data at
    d > 4 and the distance to the nearest point at d ≤ 4, and never more than 3e-4 (float32) or
    2e-10 (float64) for positive weights at precision="high": spread-out data are
    measured by differences.  An Epanechnikov kernel ends at 0, so that a term may be wrong by some
    eps of its weight there; and a kernel value below the least normal number counts as 0, whatever
    its weight: `log_kernel_sum` has no such limit.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sums import kernel_sum
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> kernel_sum(X, bandwidth=1.0).round(4)
    array([1.6176, 1.7419, 1.1464])
    >>> kernel_sum(X, groups=[0, 0, 1], bandwidth=1.0).round(4)
    array([[1.6065, 0.0111],
           [1.6065, 0.1353],
           [0.1464, 1.    ]])
    """
    options = {"exclude_self": exclude_self, "method": method, "tol": tol, "precision": precision}
    with np.errstate(over="ignore", under="ignore"):  # The limits inf and 0 are right.
        return _kernel_sum(X, Y, weights, groups, kernel, bandwidth, log=False, **options)


def log_kernel_sum(
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
) -> Array:
    r"""Return the natural logarithm of `kernel_sum`, also where every term underflows.

    .. math:: \ell_i = \log \sum_j w_j \, k(x_i, y_j)

    The sum is kept relative to its largest term, as a soft-max is, so that a point far from all
    others still has a finite and right logarithm.  A sum without any term is −inf.  `kernel_sum`
    says more of the parameters.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points at which the sum is wanted.
    Y : array-like of shape (m, d), default=None
        Points that are summed over; X itself when None.
    weights : array-like of shape (m,) or (m, c), default=None
        Weights of the rows of Y, none negative; c columns give c sums.
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
    array of shape (n,), (n, c) or (n, G)
        With a vector of bandwidths there is a leading axis (b, …).

    Notes
    -----
    The error is at most 1e-5·max(1, \|ℓ\|) in float32, where logarithms of weights count as ℓ does,
    and 1e-12·max(1, \|ℓ\|) in float64.  It costs little more than `kernel_sum`; columns of weights
    that contain zeros are summed one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sums import kernel_sum, log_kernel_sum
    >>> X, Y = np.array([[0.0], [100.0]]), np.array([[1.0], [2.0]])
    >>> kernel_sum(X, Y, bandwidth=1.0)
    array([0.74186594, 0.        ])
    >>> log_kernel_sum(X, Y, bandwidth=1.0)
    array([-2.98586722e-01, -4.80200000e+03])
    """
    options = {"exclude_self": exclude_self, "method": method, "tol": tol, "precision": precision}
    with np.errstate(over="ignore", under="ignore"):  # The limit −inf is right.
        return _kernel_sum(X, Y, weights, groups, kernel, bandwidth, log=True, **options)


def _kernel_sum(
    X: Any, Y: Any, weights: Any, groups: Any, kernel: Any, bandwidth: Any, **options: Any
) -> Array:
    """Return the sums, or their logarithms."""
    problem, is_number = state(X, Y, weights, groups, kernel, bandwidth, options)
    out = compute(problem)
    out = array_namespace(problem.X).astype(out, problem.X.dtype, copy=False)
    if problem.groups is None and not problem.weights_are_columns:
        out = out[:, :, 0]
    return out[0] if is_number else out


def left_out_log_sums(
    X: Array,
    groups: Array,
    *,
    bandwidths: tuple[float, ...],
    weights: Array,
    removal: Removal | None = None,
    rows: slice | NDArray[np.int64] | None = None,
    Y: Array | None = None,
    n_groups: int | None = None,
) -> tuple[Array, Array | None]:
    """Return sums over groups as if the window of the row at hand had left every density.

    What leave-one-out of a density-weighted classifier needs: removing row i changes not only its
    own term but the weight F_j^(−1/2) of every other row.  For each rung b of a ladder of
    bandwidths, exactly and in one pass over the pairs,

        logs[b, i, g]   = log Σ_{j in group g, j ≠ i} w[b, j] k_b(i, j) ρ_b(i, j)
        drifts[b, i, g] =     Σ_{j in group g, j ≠ i} q[b, j] (ρ_b(i, j) − 1)
        ρ_b(i, j)       = (1 − removed[i] k_b(i, j)^p / F[b, j])^(−1/2)

    Parameters
    ----------
    X : float32 or float64 array of shape (n, d)
        Rows, in memory or in the blocks of a Dask array; weights, groups and what is removed are
        then Dask arrays too, cut alike along the rows, and what is returned is in memory.
    groups : NumPy array of int of shape (n,)
        The group of each row.
    bandwidths : tuple of float
        Of the Gaussian kernel that is summed, the widest first.
    weights : array of shape (b, n)
        Not negative, within some 100 orders of magnitude of each other.
    removal : Removal or None
        None leaves the densities as they are: ρ = 1, and there is no drift.
    rows : slice, NumPy array of int or None
        Rows of X for which the sums are wanted, in any order; all when None.
    Y : array of shape (m, d) or None
        Rows that are summed over, none of which is in X, with their groups, weights and
        densities; X itself when None.
    n_groups : int or None
        How many groups there are, where the last may have no row here; None counts them.

    Returns
    -------
    logs : array of shape (b, rows, groups)
        In float64.
    drifts : array of shape (b, rows, groups) or None
        Sums of the drift weights times ρ − 1; None without a removal.
    """
    is_self = Y is None
    problem = Problem(
        X, X if is_self else Y, None, None, (), KERNELS["gaussian"], bandwidths,
        log=True, self_sum=is_self, exclude_self=is_self, method="direct", tol=None,
        precision="high", groups=groups, n_groups=n_groups, rung_weights=weights,
        removal=removal, rows=rows,
    )  # fmt: skip
    logs, drifts = compute(problem)
    return logs, drifts


def expect_left_out_sums(X: Array, *, removes: bool, squared: bool) -> None:
    """Tell that left-out sums of X will be asked for, so that a GPU's code is compiled meanwhile.

    Parameters
    ----------
    X : array of shape (n, d)
    removes : bool
        Whether something will be removed from densities.
    squared : bool
        Whether these sum the squared kernel.
    """
    if kind_of(X) == "cuda":
        from mercer.sums.cuda._ahead import start_compiling

        start_compiling(X, removes, squared)


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
    from mercer.sums.dask import check_blocks  # That module imports this one.

    return check_blocks(*given)


def _check_arrays(X: Any, Y: Any, weights: Any, groups: Any, log: bool) -> dict[str, Any]:
    """Return what was passed in memory, checked, by the names of `Problem`."""
    is_self, box = Y is None, None
    X = check_rows(X, "X", finite=False)
    X, Y = (X, X) if is_self else match_rows(X, check_rows(Y, "Y", of=X, finite=False))
    given = _as_weights(weights, Y.shape[0], X)
    numbers = _as_group_numbers(groups, Y.shape[0], given)
    seen = _survey_of(X, Y, given, numbers) if is_torch_array(X) else None
    if seen is not None:
        box = seen.box
    elif X.shape[0] or Y.shape[0]:
        box = Box.of(X) if is_self else Box.of(X, Y)
    if box is not None and not box.is_finite:
        check_finite(X, "X")
        check_finite(Y, "Y")
    ends = None if seen is None else seen.weight_ends
    return {
        "X": X,
        "Y": Y,
        "weights": _judge_weights(given, X, log, ends),
        "groups": _judge_groups(numbers, X, None if seen is None else seen.group_ends),
        "box": box,
        "middle": None if seen is None else seen.middle,
        "weight_ends": ends,
        "by_group": None if seen is None else seen.by_group,
    }


def _survey_of(X: Array, Y: Array, weights: Array | None, numbers: Array | None) -> "Survey | None":
    """Return what one look at tensors tells; None where there are no rows."""
    from mercer.sums.torch._survey import survey

    if not (X.shape[0] and Y.shape[0]):
        return None
    if weights is not None and weights.dtype != X.dtype:
        weights = None
    is_there = is_torch_array(numbers) and device(numbers) == device(X)
    return survey((X,) if Y is X else (X, Y), weights, numbers if is_there else None)


def check_weights(weights: Any, n_rows: int, X: Array, log: bool) -> Array | None:
    """Return weights (m,) or (m, c) as floats of X's library and precision."""
    given, ends = _as_weights(weights, n_rows, X), None
    if given is not None and is_torch_array(X) and n_rows and given.dtype == X.dtype:
        # Both ends come from the device at once, because each transfer has to wait for it.
        low, high = to_numpy(array_namespace(X).stack(detached(given).aminmax()))
        ends = float(low), float(high)
    return _judge_weights(given, X, log, ends)


def _as_weights(weights: Any, n_rows: int, X: Array) -> Array | None:
    """Return weights (m,) or (m, c) as floats of X's library; their values are not looked at."""
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
    return as_float(weights, "weights")


def _judge_weights(
    weights: Array | None, X: Array, log: bool, ends: tuple[float, float] | None
) -> Array | None:
    """Return weights in X's precision, if their values are fit for a sum, or its logarithm."""
    if weights is None:
        return None
    xp = array_namespace(X)
    narrow = xp.astype(weights, X.dtype)
    if ends is not None and 0 < ends[0] <= ends[1] < inf:
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
            where = first_true(to_numpy(narrow) < 0)
            raise ValueError(
                f"log_kernel_sum needs weights that are not negative, got {to_numpy(narrow)[where]}"
                f" {describe_index(where)}; use kernel_sum."
            )
        if getattr(narrow, "requires_grad", False) and bool(xp.any(narrow == 0)):
            raise ValueError(
                "log_kernel_sum cannot differentiate with respect to weights that are zero; "
                "leave those rows out, or detach the weights."
            )
    return narrow


def check_groups(groups: Any, n_rows: int, weights: Array | None, X: Array) -> Array | None:
    """Return group numbers 0…G−1 as integers of X's library, on its device."""
    return _judge_groups(_as_group_numbers(groups, n_rows, weights), X, None)


def _as_group_numbers(groups: Any, n_rows: int, weights: Array | None) -> Array | None:
    """Return groups as a vector of integers; their values are not looked at."""
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
    kind = str(numbers.dtype).split(".")[-1]  # torch: by name
    if getattr(numbers.dtype, "kind", kind[0]) not in "iu":
        raise ValueError(
            f"groups must be integers 0, 1, …, got {kind}; "
            "sklearn.preprocessing.LabelEncoder makes such numbers of labels."
        )
    if is_torch_array(numbers):  # torch cannot compare integers of every type.
        numbers = numbers.to(array_namespace(numbers).int64)
    return numbers


def _judge_groups(numbers: Array | None, X: Array, ends: tuple[int, int] | None) -> Array | None:
    """Return group numbers of X's library, on its device, if they are 0…G−1."""
    if numbers is None:
        return None
    if numbers.shape[0]:
        low, high = ends or (int(end) for end in (numbers.min(), numbers.max()))
        if not 0 <= low <= high < 2**31:
            raise ValueError(f"groups must be integers 0, 1, …, got {low if low < 0 else high}.")
    if is_torch_array(X):
        return like(numbers, X, dtype=array_namespace(X).int64)
    return to_numpy(numbers).astype(np.int64)


def check_bandwidth(bandwidth: Any) -> tuple[tuple[float, ...], bool]:
    """Return the bandwidths and whether a single one was given as a number."""
    if getattr(bandwidth, "requires_grad", False):
        raise ValueError(
            "bandwidth cannot be differentiated through; divide X and Y by it and pass bandwidth=1."
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
    """Raise ValueError unless method, precision, tol and exclude_self have a valid value."""
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

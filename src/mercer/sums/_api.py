"""The two public functions: validate, state the problem, compute, shape the result."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_dask_array

from mercer._arrays import Array, itemsize, to_numpy
from mercer.kernels import Kernel, get_kernel
from mercer.samples import check_finite, check_rows, match_rows
from mercer.sums._arrange import Arrangement, arrange, arrange_columns, must_go_by_column
from mercer.sums._box import Box
from mercer.sums._dispatch import compute
from mercer.sums._problem import Problem
from mercer.sums._reductions import law
from mercer.sums._validation import (
    check_bandwidth,
    check_groups,
    check_options,
    check_weights,
)

_Checked = tuple[
    Array, Array, Array | None, Array | None, Kernel, tuple[float, ...]
]  # X, Y, weights, groups, kernel, bandwidths
_WIDEST_LADDER = {4: 2.0**20, 8: 2.0**200}  # ratio of bandwidths that one pass can serve
_WIDEST_SPREAD = 2.0**40  # of coordinates to bandwidths, above which float32 is not enough
_SINGLE_RANGE = (2.0**-100, 2.0**100)  # of bandwidths for which float32 is enough


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
    kernel : {"gaussian", "laplace", "epanechnikov", "cauchy"} or Kernel, default="gaussian"
        See :mod:`mercer.kernels`.
    bandwidth : float or array-like of shape (b,)
        Width of the kernel that is summed: exp(−r²/2·bandwidth²).  Several are computed in one
        pass; where they shrink by √2 (by 2 for "laplace"), most of them by squaring.
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
    with np.errstate(over="ignore", under="ignore"):  # beyond the range, inf and 0 are meant
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
    kernel : {"gaussian", "laplace", "epanechnikov", "cauchy"} or Kernel, default="gaussian"
        What is summed.
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
    The error is at most 1e-5·max(1, \|ℓ\|) in float32 and 1e-12·max(1, \|ℓ\|) in float64.  It costs
    little more than `kernel_sum`; columns of weights that contain zeros are summed one by one.

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
    with np.errstate(over="ignore", under="ignore"):  # beyond the range, −inf is meant
        return _kernel_sum(X, Y, weights, groups, kernel, bandwidth, log=True, **options)


def _kernel_sum(
    X: Any, Y: Any, weights: Any, groups: Any, kernel: Any, bandwidth: Any, **options: Any
) -> Array:
    """Validate the arguments of either function and return its result."""
    if is_dask_array(X) or is_dask_array(Y):
        from mercer.sums.dask._run import dask_kernel_sum

        check_options(options)
        _check_exclude_self(Y, options)
        widths, is_one = check_bandwidth(bandwidth)
        kernel = get_kernel(kernel)
        return dask_kernel_sum(
            X, Y, weights, groups, kernel, widths, one_bandwidth=is_one, options=options
        )
    checked, is_number = check(X, Y, weights, groups, kernel, bandwidth, options)
    out = _all_bandwidths(*checked, options)
    X, _, weights, groups, _, _ = checked
    out = array_namespace(X).astype(out, X.dtype, copy=False)
    if groups is None and (weights is None or weights.ndim == 1):
        out = out[:, :, 0]
    return out[0] if is_number else out


def check(
    X: Any,
    Y: Any,
    weights: Any,
    groups: Any,
    kernel: Any,
    bandwidth: Any,
    options: dict[str, Any],
) -> tuple[_Checked, bool]:
    """Return what was passed as the engine takes it, and whether the bandwidth was a number.

    Whether the sum is of X with itself is added to the options.
    """
    check_options(options)
    X = check_rows(X, "X", finite=False)
    options["self_sum"] = Y is None
    if Y is None:
        Y = X
    else:
        _check_exclude_self(Y, options)
        X, Y = match_rows(X, check_rows(Y, "Y", of=X, finite=False))
    if X.shape[0] or Y.shape[0]:
        options["box"] = box = Box.of(X) if options["self_sum"] else Box.of(X, Y)
        if not box.is_finite:
            check_finite(X, "X")
            check_finite(Y, "Y")
    weights = check_weights(weights, Y.shape[0], X, options["log"])
    groups = check_groups(groups, Y.shape[0], weights, X)
    bandwidths, is_number = check_bandwidth(bandwidth)
    return (X, Y, weights, groups, get_kernel(kernel), bandwidths), is_number


def _check_exclude_self(Y: Any, options: dict[str, Any]) -> None:
    if Y is not None and options["exclude_self"]:
        raise ValueError("exclude_self=True goes with Y=None: only then does a row meet itself.")


def _all_bandwidths(
    X: Array,
    Y: Array,
    weights: Array | None,
    groups: Array | None,
    kernel: Kernel,
    bandwidths: tuple[float, ...],
    options: dict[str, Any],
) -> Array:
    """Return (b, n, outputs) in float64, in the order in which the bandwidths were given."""
    xp = array_namespace(X)
    if X.shape[0] == 0 or Y.shape[0] == 0:
        n_outputs = 1 if weights is None or weights.ndim == 1 else weights.shape[1]
        if groups is not None:
            n_outputs = int(to_numpy(groups).max(initial=-1)) + 1
        shape = (len(bandwidths), X.shape[0], n_outputs)
        return xp.full(shape, law(options["log"]).identity, dtype=xp.float64, device=device(X))
    results: list[Array] = [None] * len(bandwidths)
    for rungs, stated in passes(X, Y, weights, groups, kernel, bandwidths, options):
        reduction = law(options["log"])
        outputs = [
            arrangement.restore(compute(problem), reduction) for arrangement, problem in stated
        ]
        parts = outputs[0] if len(outputs) == 1 else xp.concat(outputs, axis=2)
        for rung, i in enumerate(rungs):
            results[i] = parts[rung]
    return results[0][None, ...] if len(results) == 1 else xp.stack(results)


def passes(
    X: Array,
    Y: Array,
    weights: Array | None,
    groups: Array | None,
    kernel: Kernel,
    bandwidths: tuple[float, ...],
    options: dict[str, Any],
) -> Iterator[tuple[list[int], list[tuple[Arrangement, Problem]]]]:
    """Yield which bandwidths, widest first, one pass can serve, and the problems that they pose."""
    xp = array_namespace(X)
    if itemsize(X) == 4 and exceeds_single(options["box"].extent, bandwidths):
        X, Y = xp.astype(X, xp.float64), xp.astype(Y, xp.float64)
        weights = None if weights is None else xp.astype(weights, xp.float64)
    arrangements = _arrangements(Y.shape[0], weights, groups, options["log"])
    widest_first = sorted(range(len(bandwidths)), key=lambda i: -bandwidths[i])
    while widest_first:
        narrowest = bandwidths[widest_first[0]] / _WIDEST_LADDER[itemsize(X)]
        rungs = [i for i in widest_first if bandwidths[i] >= narrowest]
        widest_first = widest_first[len(rungs) :]
        widths = tuple(bandwidths[i] for i in rungs)
        yield (
            rungs,
            [
                (a, Problem(X, Y, a.order, a.weights, a.bounds, kernel, widths, **options))
                for a in arrangements
            ],
        )


def exceeds_single(farthest: float, bandwidths: tuple[float, ...]) -> bool:
    """Whether float32 numbers must be summed as float64."""
    least, most = min(bandwidths), max(bandwidths)
    in_range = _SINGLE_RANGE[0] < least and most < _SINGLE_RANGE[1]
    return not in_range or farthest > _WIDEST_SPREAD * least


def _arrangements(
    n_rows: int, weights: Array | None, groups: Array | None, log: bool
) -> list[Arrangement]:
    """Bring weights and groups to segments; columns that can not share a pass, one by one."""
    if weights is None or weights.ndim == 1:
        return [arrange(n_rows, weights, groups, log)]
    if not must_go_by_column(weights, log):
        return [arrange_columns(weights)]
    return [arrange(n_rows, weights[:, c], None, log) for c in range(weights.shape[1])]

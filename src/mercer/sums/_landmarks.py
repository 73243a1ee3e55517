"""Kernel sums from a few rows of Y, with an estimate of the error: for any kernel and dimension."""

from math import frexp
from numbers import Integral
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from mercer._arrays import Array, like, take_rows, times_powers_of_two, to_numpy
from mercer.kernels import Kernel
from mercer.samples import check_rows, match_rows, refuse_dask
from mercer.sums._api import check_groups, check_weights, kernel_sum
from mercer.sums._problem import SUM

_BATCHES = 16
_RANK = 1e-10  # eigenvalues below this share of the largest are rounding


def landmark_kernel_sum(
    X: Any,
    Y: Any = None,
    *,
    weights: Any = None,
    groups: Any = None,
    kernel: str | Kernel = "gaussian",
    bandwidth: float,
    n_landmarks: Any = 256,
    n_sampled: Any = 4096,
    random_state: Any = None,
) -> tuple[Array, Array]:
    r"""Estimate `kernel_sum` from some rows of Y, and the standard error of each estimate.

    The kernel is k = k̃ + r, where k̃ is its Nyström approximation on landmarks, random rows of
    Y.  The sum of k̃ over all rows is computed; that of the residual r is estimated from a sample
    of other rows, in 16 batches whose spread gives the error.

    .. math::

        \hat s_i = \sum_{j} w_j \tilde k(x_i, y_j) + \frac{m}{|S|} \sum_{j \in S} w_j r(x_i, y_j)

    The estimate has no bias, whatever the landmarks: where the kernel is wide r is almost nothing,
    where it is narrow k̃ is, and what remains is a sample of terms.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Rows for which the sums are wanted.
    Y : array-like of shape (m, d), default=None
        X itself when None.
    weights : array-like of shape (m,), default=None
        Of any sign.
    groups : array-like of int of shape (m,), default=None
        One sum for each group, each with its own landmarks and sample.
    kernel : str or Kernel, default="gaussian"
        What is summed: a name from :mod:`mercer.kernels`.
    bandwidth : float
        Its width.
    n_landmarks : int, default=256
        Time grows with their cube once, and with n times their number.
    n_sampled : int, default=4096
        How many rows the residual is estimated from.  Groups of at most
        `n_landmarks` + `n_sampled` rows are added up in full, and their error is 0.
    random_state : int, RandomState instance or None, default=None
        For landmarks and samples.

    Returns
    -------
    sums : array of shape (n,) or (n, G)
        Estimates.
    errors : array of the same shape
        Standard errors, from 15 degrees of freedom: the truth is within 2.13 of them for some
        95 of 100 rows, as long as a row's sum has many terms.

    See Also
    --------
    kernel_sum : All terms; and ``method="fast"``, which keeps to a tolerance, up to three features.

    Notes
    -----
    Time is (n + n_landmarks)·(n_landmarks + n_sampled) + n_landmarks·m terms of a direct sum, and
    16·n·n_landmarks multiply-adds.

    Errors are absolute.  A row in the far tail has few terms that count, and a sample that has
    none of them shows too small an error: its estimate may even be negative.  Nothing in Mercer
    calls this function by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.sums import kernel_sum, landmark_kernel_sum
    >>> Y = np.random.default_rng(0).normal(size=(20_000, 8))
    >>> sums, errors = landmark_kernel_sum(Y[:500], Y, bandwidth=2.0, random_state=0)
    >>> truth = kernel_sum(Y[:500], Y, bandwidth=2.0)
    >>> bool(np.mean(np.abs(sums - truth) < 2.13 * errors) > 0.9), bool(errors.max() < 30)
    (True, True)
    """
    for name, value in (("n_landmarks", n_landmarks), ("n_sampled", n_sampled)):
        least = 1 if name == "n_landmarks" else 2 * _BATCHES
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}.")
    if np.ndim(bandwidth) != 0:
        raise ValueError("landmark_kernel_sum takes one bandwidth, not several.")
    for A in (X, Y):
        refuse_dask(
            A, "landmark_kernel_sum", "it draws from rows in memory",
            "use kernel_sum over a sample of the rows, X[rows].compute()",
        )  # fmt: skip
    X = check_rows(X, "X")
    X, Y = (X, X) if Y is None else match_rows(X, check_rows(Y, "Y", of=X))
    weights = check_weights(weights, Y.shape[0], X, log=False)
    if weights is not None and weights.ndim == 2:
        raise ValueError("landmark_kernel_sum takes one weight for each row, not columns of them.")
    checked = check_groups(groups, Y.shape[0], weights, X)
    random = check_random_state(random_state)
    options = {"kernel": kernel, "bandwidth": bandwidth}
    if checked is None:
        return _one_sum(X, Y, weights, int(n_landmarks), int(n_sampled), random, options)
    codes, columns = to_numpy(checked), []
    for group in range(int(codes.max(initial=-1)) + 1):
        rows = np.flatnonzero(codes == group)
        part = None if weights is None else take_rows(weights, rows)
        columns.append(
            _one_sum(X, take_rows(Y, rows), part, int(n_landmarks), int(n_sampled), random, options)
        )
    xp = array_namespace(X)
    sums, errors = zip(*columns, strict=True)
    return xp.stack(sums, axis=1), xp.stack(errors, axis=1)


def _one_sum(
    X: Array,
    Y: Array,
    weights: Array | None,
    n_landmarks: int,
    n_sampled: int,
    random: np.random.RandomState,
    options: dict[str, Any],
) -> tuple[Array, Array]:
    """Return the estimates and their standard errors: (n,) each."""
    xp, m = array_namespace(X), Y.shape[0]
    if m <= n_landmarks + n_sampled:
        sums = kernel_sum(X, Y, weights=weights, **options)
        return sums, xp.zeros_like(sums)
    weights = xp.ones_like(Y[:, 0]) if weights is None else weights
    # By a power of two, so that squares of the estimates are in range, whatever the weights.
    exponent = frexp(float(xp.max(xp.abs(weights))))[1]
    weights = times_powers_of_two(weights, np.array(-exponent))
    drawn = random.permutation(m)[: n_landmarks + n_sampled]
    landmarks = take_rows(Y, drawn[:n_landmarks])
    # Landmarks have next to no residual.  Leaving them out of the sample leaves out their share.
    others = drawn[n_landmarks:]
    w_landmarks = take_rows(weights, drawn[:n_landmarks])
    batches = np.arange(others.size) % _BATCHES
    scale = (m - n_landmarks) / np.bincount(batches)
    sampled = take_rows(Y, others)
    w_sampled = take_rows(weights, others) * like(scale[batches], weights)

    # Σ over the rows that are no landmarks, of k̃ in full and of r by batches.
    full = kernel_sum(landmarks, Y, weights=weights, **options)
    full = full - kernel_sum(landmarks, weights=w_landmarks, **options)
    by_batch = kernel_sum(landmarks, sampled, weights=w_sampled, groups=batches, **options)
    coefficients = _pseudo_inverse(landmarks, options) @ to_numpy(full[:, None] - by_batch)
    coefficients += to_numpy(w_landmarks)[:, None]  # the landmarks' own terms, as they are
    estimates = kernel_sum(X, landmarks, weights=like(coefficients, X), **options)
    estimates = estimates + kernel_sum(X, sampled, weights=w_sampled, groups=batches, **options)

    left = 1 - n_sampled / (m - n_landmarks)  # a sample of all rows would have no error
    errors = xp.std(estimates, axis=1, correction=1) * (left / _BATCHES) ** 0.5
    power = np.array(exponent)
    with np.errstate(over="ignore", under="ignore"):  # beyond the range, inf and 0 are meant
        return SUM.scale(xp.mean(estimates, axis=1), power), SUM.scale(errors, power)


def _pseudo_inverse(landmarks: Array, options: dict[str, Any]) -> NDArray[np.float64]:
    """Return K⁺ of the landmarks' kernel matrix."""
    one_each = like(np.eye(landmarks.shape[0]), landmarks)
    K = to_numpy(kernel_sum(landmarks, landmarks, weights=one_each, **options)).astype(np.float64)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept = np.abs(values) > max(_RANK, 4 * np.finfo(K.dtype).eps) * np.abs(values).max()
    inverse: NDArray[np.float64] = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse

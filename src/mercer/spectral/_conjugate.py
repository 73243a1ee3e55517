"""Conjugate gradients for several right-hand sides, each product of the matrix serving all of them.

A matrix of which only products are known, too large to be stored, is solved for with a
preconditioner that nearly inverts it.  Neither has to be exact: directions are made conjugate by
the formula of Polak and Ribière, which forgives rounding in the preconditioner.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace

from mercer._arrays import Array, FloatArray, take_rows, to_numpy


@dataclass(frozen=True)
class Solution:
    """What conjugate gradients reached.

    Attributes
    ----------
    X : array of shape (n_rows, n_columns)
        The solution.
    residuals : ndarray of shape (n_columns,)
        Norms of B − AX, relative to those of B, as the recurrence has them.
    n_steps : int
        Products of the matrix that were used.
    ended : {"tol", "watch", "max_iter", "interrupted"}
        Why it stopped.
    """

    X: Array
    residuals: FloatArray
    n_steps: int
    ended: str


class NotPositiveError(ValueError):
    """The matrix has a direction in which it is not positive."""


def conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    B: Array,
    *,
    tol: FloatArray,
    max_iter: int,
    watch: Callable[[int, Array, FloatArray], bool] | None = None,
) -> Solution:
    """Solve AX = B for every column of B.

    Parameters
    ----------
    product : callable
        Returns AV for V of shape (n_rows, any number of columns); A is positive definite.
    precondition : callable
        Returns nearly A⁻¹V.
    B : float64 array of shape (n_rows, n_columns)
        Right-hand sides.
    tol : ndarray of shape (n_columns,)
        A column is solved when the norm of its residual is this share of its norm; it takes
        part in no further product.
    max_iter : int
        Most products.
    watch : callable or None
        Called after each step with its number, the solution so far and the relative residuals;
        where it returns True, that is the answer.

    Returns
    -------
    Solution
        Ctrl-C after the first step ends it with what was reached so far, which is nearer to the
        solution than anything before.

    Raises
    ------
    NotPositiveError
        If a direction shows that A is not positive definite.
    """
    xp = array_namespace(B)
    # Columns are solved for at a size of one, whose squares stay in range.
    size = xp.max(xp.abs(B), axis=0)
    size = xp.where(size > 0, size, xp.ones_like(size))
    B = B / size
    norms = np.maximum(_norms(B), np.finfo(float).tiny)
    X, R = xp.zeros_like(B), B
    residuals, step, ended = _norms(R) / norms, 0, "max_iter"
    at = np.flatnonzero(residuals > tol)  # the columns that are not solved yet
    R = before = _columns(R, at)
    P = xp.zeros_like(R)
    rho = xp.ones_like(R[0, :])
    try:
        while len(at) and step < max_iter:
            Z = precondition(R)
            share = xp.sum((R - before) * Z, axis=0) / rho  # zero in the first step
            P = Z + xp.maximum(share, xp.zeros_like(share)) * P
            rho, Q = xp.sum(R * Z, axis=0), product(P)
            along = xp.sum(P * Q, axis=0)
            if not bool(xp.all(along > 0)):
                raise NotPositiveError("The matrix is not positive definite.")
            length = xp.sum(R * P, axis=0) / along
            before, R = R, R - length * Q
            _add_to_columns(X, at, length * P)
            step += 1
            residuals[at] = _norms(R) / norms[at]
            if watch is not None and watch(step, X * size, residuals):
                ended = "watch"
                break
            left = residuals[at] > tol[at]
            if not left.all():
                keep = np.flatnonzero(left)
                at = at[keep]
                R, P, before = (_columns(A, keep) for A in (R, P, before))
                rho = take_rows(rho, keep)
    except KeyboardInterrupt:
        if step == 0:  # Nothing was reached yet.
            raise
        ended = "interrupted"
    return Solution(X * size, residuals, step, "tol" if len(at) == 0 else ended)


def _norms(A: Array) -> FloatArray:
    """Return the norms of the columns."""
    return np.asarray(to_numpy(array_namespace(A).linalg.vector_norm(A, axis=0)), dtype=np.float64)


def _columns(A: Array, at: np.ndarray) -> Array:
    """Return some columns; A itself where these are all of them."""
    return A if len(at) == A.shape[1] else take_rows(A.T, at).T


def _add_to_columns(X: Array, at: np.ndarray, values: Array) -> None:
    """Add to some columns of X, in place."""
    if len(at) == X.shape[1]:
        X += values
        return
    for k, column in enumerate(at):
        X[:, int(column)] += values[:, k]

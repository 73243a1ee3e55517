"""Factorisations: by LAPACK for NumPy arrays, by torch on the tensor's device."""

from typing import Any

from array_api_compat import array_namespace, device, is_numpy_array
from scipy import linalg

Array = Any


def cholesky(A: Array, *, lower: bool) -> Array | None:
    """Return the triangular factor of a positive definite matrix, or None where it is not."""
    if is_numpy_array(A):
        try:
            return linalg.cholesky(A, lower=lower, check_finite=False)
        except linalg.LinAlgError:
            return None
    from torch.linalg import cholesky_ex

    factor, failed_at = cholesky_ex(A, upper=not lower)
    return None if int(failed_at) else factor


def solve_triangular(A: Array, B: Array, *, lower: bool, transposed: bool = False) -> Array:
    """Solve A·X = B, or Aᵀ·X = B, for a triangular A and a matrix B."""
    if is_numpy_array(A):
        trans = "T" if transposed else "N"
        return linalg.solve_triangular(A, B, lower=lower, trans=trans, check_finite=False)
    from torch.linalg import solve_triangular as solve

    return solve(A.mT, B, upper=lower) if transposed else solve(A, B, upper=not lower)


def eigh(A: Array) -> tuple[Array, Array]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors.

    A NumPy array may be overwritten.
    """
    if is_numpy_array(A):
        values, vectors = linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    else:
        values, vectors = array_namespace(A).linalg.eigh(A)
    return values, vectors


def add_to_diagonal(A: Array, value: Any) -> Array:
    """Return A plus a diagonal matrix: one number, or one for each row."""
    xp = array_namespace(A)
    A, own = xp.asarray(A, copy=True), xp.arange(A.shape[0], device=device(A))
    A[own, own] = A[own, own] + value
    return A

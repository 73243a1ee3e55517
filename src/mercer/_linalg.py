"""Factorisations: by LAPACK for NumPy arrays, by torch on the tensor's device."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from array_api_compat import array_namespace, device, is_numpy_array
from scipy import linalg
from threadpoolctl import ThreadpoolController

from mercer._arrays import Array

# Rows of a matrix up to which LAPACK gets one thread.  Its threads meet after every column and
# wait for each other at full speed: beside one busy process, two of them took 20 times as long as
# one for 800 rows.  What that may cost grows with the rows, what threads may gain with their cube:
# four seconds here, on two idle cores.
_ONE_THREAD_ROWS = 4000

_lock = Lock()
_holders = 0
_held: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread in this process, until the last of all who asked for it leaves.

    The limit is the process's: if threads of Python each restored what they had found, one that
    came while another held it would leave the process with one thread for good.
    """
    global _holders, _held
    with _lock:
        if _holders == 0:
            _held = _blas().limit(limits=1, user_api="blas")
        _holders += 1
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if _holders == 0:
                _held.restore_original_limits()
                _held = None


def lapack_threads(A: Array) -> AbstractContextManager[None]:
    """Return the context in which LAPACK should factor A: one thread, unless A is large."""
    return one_thread() if A.shape[0] <= _ONE_THREAD_ROWS else nullcontext()


@cache
def _blas() -> ThreadpoolController:
    """Return what sets threads; to find the libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()


def cholesky(A: Array, *, lower: bool) -> Array | None:
    """Return the triangular factor of a positive definite matrix, or None where it is not."""
    if is_numpy_array(A):
        try:
            with lapack_threads(A):
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


def invert_triangular(A: Array, *, lower: bool) -> Array:
    """Return the inverse of a triangular matrix, whose other triangle is nought."""
    if is_numpy_array(A):
        with lapack_threads(A):
            inverse, _ = linalg.lapack.dtrtri(A, lower=lower)
        return inverse
    xp = array_namespace(A)
    one = xp.eye(A.shape[0], dtype=A.dtype, device=device(A))
    return solve_triangular(A, one, lower=lower)


def eigh(A: Array) -> tuple[Array, Array]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors.

    A NumPy array may be overwritten.
    """
    if is_numpy_array(A):
        with lapack_threads(A):
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

"""Factorisations: by LAPACK for NumPy arrays, by torch on the tensor's device."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array
from scipy import linalg
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController

from mercer._arrays import Array
from mercer._memory import limit_threads, thread_count

# LAPACK gets one thread for matrices of up to this many rows.  Its threads wait for each other
# after every column, at full speed: beside one busy process, two of them took 20 times as long as
# one for 800 rows.  Waiting costs time in proportion to the rows, threads gain in proportion to
# their cube: four seconds at this size, on two idle cores.
_ONE_THREAD_ROWS = 4000

_lock = Lock()
_n_users = 0  # how many callers are within `one_thread`
_limiter: Any = None  # what restores the threads when the last of them leaves


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold BLAS to one thread in this process, until the last of all who asked for it leaves.

    The limit holds for the whole process: if each thread of Python restored what it had found, one
    that came while another was here would leave the process with one thread for good.
    """
    global _n_users, _limiter
    with _lock:
        if _n_users == 0:
            _limiter = _blas().limit(limits=1, user_api="blas")
        _n_users += 1
    try:
        yield
    finally:
        with _lock:
            _n_users -= 1
            if _n_users == 0:
                _limiter.restore_original_limits()
                _limiter = None


def in_threads(work: Callable[[Any], Any], items: Sequence[Any], X: Array) -> list[Any]:
    """Return what `work` answers for each item; on NumPy's rows X, in threads.

    Each has one thread of BLAS: factorisations of some hundred rows gain nothing from more.
    """
    n_threads = min(thread_count(), len(items)) if is_numpy_array(X) else 1
    if n_threads <= 1:
        return [work(item) for item in items]
    # Each thread has the settings of scikit-learn of this one, and its share of the cores.
    settings, share = get_config(), max(1, thread_count() // n_threads)

    def answer(item: Any) -> Any:
        with config_context(**settings), limit_threads(share):
            return work(item)

    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(answer, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


def lapack_threads(A: Array) -> AbstractContextManager[None]:
    """Return the context in which LAPACK should factor A: one thread, unless A is large."""
    return one_thread() if _is_small(A) else nullcontext()


def _is_small(A: Array) -> bool:
    """Say whether A gets one thread of LAPACK.

    Then NumPy calls it, which lets other threads of Python run; SciPy does not, and needs less
    memory for large matrices.
    """
    return bool(A.shape[0] <= _ONE_THREAD_ROWS)


@cache
def _blas() -> ThreadpoolController:
    """Return what sets the threads of BLAS; finding the libraries takes milliseconds."""
    return ThreadpoolController()


def cholesky(A: Array, *, lower: bool, overwrite: bool = False) -> Array | None:
    """Return the triangular factor of a positive definite matrix, or None if it is not one.

    With `overwrite`, a large NumPy array in rows becomes its own factor.
    """
    if is_numpy_array(A):
        try:
            with lapack_threads(A):
                if _is_small(A):
                    return np.linalg.cholesky(A, upper=not lower)
                # LAPACK works in columns: it takes the transpose of a symmetric matrix as it is.
                A = A.T if overwrite else A
                return linalg.cholesky(A, lower=lower, overwrite_a=overwrite, check_finite=False)
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


def invert_triangular(A: Array) -> Array:
    """Return the inverse of a lower triangular matrix; a NumPy array becomes its own inverse."""
    if is_numpy_array(A):
        is_in_rows = A.flags.c_contiguous  # Then its transpose, an upper triangle, is in columns.
        with lapack_threads(A):
            inverse, _ = linalg.lapack.dtrtri(
                A.T if is_in_rows else A, lower=not is_in_rows, overwrite_c=True
            )
        return inverse.T if is_in_rows else inverse
    xp = array_namespace(A)
    one = xp.eye(A.shape[0], dtype=A.dtype, device=device(A))
    return solve_triangular(A, one, lower=True)


def eigh(A: Array) -> tuple[Array, Array]:
    """Return all eigenvalues of a symmetric matrix, ascending, and its eigenvectors.

    A NumPy array may be overwritten.
    """
    if is_numpy_array(A):
        with lapack_threads(A):
            if _is_small(A):
                return np.linalg.eigh(A)
            values, vectors = linalg.eigh(A, driver="evd", overwrite_a=True, check_finite=False)
    else:
        values, vectors = array_namespace(A).linalg.eigh(A)
    return values, vectors


def add_to_diagonal(A: Array, value: Any) -> Array:
    """Return A plus a diagonal matrix: one number, or one for each row."""
    xp = array_namespace(A)
    A, at = xp.asarray(A, copy=True), xp.arange(A.shape[0], device=device(A))
    A[at, at] = A[at, at] + value
    return A

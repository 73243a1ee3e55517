"""What a computation may take of the machine: memory and threads.

There is one memory budget for everything: scikit-learn's ``working_memory``.
"""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from array_api_compat import array_namespace, device
from joblib.parallel import get_active_backend
from scipy.sparse import issparse
from sklearn import get_config

from mercer._arrays import Array
from mercer._sklearn import effective_n_threads

_LEAST_ROWS = 64  # A block of rows that does not fit is not cut into smaller ones than this.

_most_threads: ContextVar[int | None] = ContextVar("most threads", default=None)


def working_memory() -> int:
    """Return the bytes that temporaries may take."""
    return int(get_config()["working_memory"] * 2**20)


def is_on_gpu(A: Array) -> bool:
    """Tell whether an array is a tensor on a CUDA device."""
    return str(device(A)).startswith("cuda")


def budget_for(A: Array) -> int:
    """Return the bytes that matrices which are kept for a while may take where A is.

    On a GPU, whose memory is there for such matrices, half of what is free; elsewhere, and at
    least, the working memory.
    """
    if not is_on_gpu(A):
        return working_memory()
    from torch import cuda

    free, _ = cuda.mem_get_info(A.device)
    idle = cuda.memory_reserved(A.device) - cuda.memory_allocated(A.device)
    return int(max(working_memory(), (free + idle) // 2))


def row_slabs(n_rows: int, bytes_per_row: int, budget: int) -> Iterator[tuple[int, int]]:
    """Cut n_rows into as few ranges as fit the budget."""
    step = max(1, budget // max(1, bytes_per_row))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)


def _dense_range(X: Any, rows: slice) -> Any:
    """Return a range of the rows of an array, or of a sparse matrix as an array."""
    return X[rows, :].toarray() if issparse(X) else X[rows, :]


def by_slabs(
    answer: Callable[[Any], Array],
    X: Any,
    bytes_per_row: int,
    *,
    take: Callable[[Any, slice], Any] = _dense_range,
) -> Array:
    """Call `answer` on ranges of rows that each take half of the budget at most; stack the results.

    Parameters
    ----------
    answer : callable
        From some rows of X to an array with a row for each.
    X : array or csr matrix of shape (n, d), or what `take` knows how to take rows of
        Ranges of a sparse matrix are made dense, unless `take` does something else.
    bytes_per_row : int
        Bytes of temporaries for each row, beside the answer itself.
    take : callable
        From X and a slice to some rows of X.
    """
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if issparse(X):
        bytes_per_row += X.shape[1] * X.dtype.itemsize
    slabs = list(row_slabs(n_rows, bytes_per_row, working_memory() // 2))
    if len(slabs) <= 1:
        return answer(take(X, slice(0, n_rows)))
    out = None
    for start, stop in slabs:
        part = answer(take(X, slice(start, stop)))
        if out is None:
            xp, shape = array_namespace(part), (n_rows, *part.shape[1:])
            out = xp.empty(shape, dtype=part.dtype, device=device(part))
        out[start:stop] = part
    return out


def in_blocks(work: Callable[[slice], None], n_rows: int, size: int) -> None:
    """Call `work` on ranges of rows; on smaller ones where a device has no memory for a range.

    Work that fails must have changed nothing.
    """
    start, size = 0, max(min(size, n_rows), _LEAST_ROWS)
    while start < n_rows:
        rows = slice(start, min(start + size, n_rows))
        try:
            work(rows)
        except RuntimeError as error:
            if not is_out_of_memory(error) or size <= _LEAST_ROWS:
                raise
            size = max(size // 2, _LEAST_ROWS)
        else:
            start = rows.stop


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether a device of torch was full, without importing torch."""
    kind = type(error)
    return kind.__name__ == "OutOfMemoryError" and kind.__module__.startswith("torch")


@contextmanager
def explain_full_device(what: str) -> Iterator[None]:
    """Turn torch's error for a full device into one sentence about `what` was computed.

    Raises
    ------
    MemoryError
        It says what was done, how much was wanted, and what may help.
    """
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        wanted = re.search(r"Tried to allocate ([\d.]+ \w+)", str(error))
        more = f"{wanted[1]} more were wanted" if wanted else "more was wanted"
        raise MemoryError(
            f"The device does not have enough memory for {what}: {more}. Free what other tensors "
            "hold, lower sklearn.set_config(working_memory=…), or use fewer rows."
        ) from None


def share_of_machine() -> AbstractContextManager[None]:
    """Return the context in which `thread_count` is at most this task's share of the cores."""
    return limit_threads(_threads_of_this_task())


@contextmanager
def limit_threads(most: int | None) -> Iterator[None]:
    """Within it, `thread_count` is at most this number; None is no limit."""
    token = _most_threads.set(most)
    try:
        yield
    finally:
        _most_threads.reset(token)


def thread_count() -> int:
    """Return how many threads a computation that starts now may use.

    It is the number of scikit-learn's own loops; one inside a thread of joblib, whose siblings
    already use the other cores (joblib's processes set scikit-learn's number themselves); in a
    task of Dask, at most its share of the cores.
    """
    backend, _ = get_active_backend()
    is_joblib_thread = (
        getattr(backend, "nesting_level", 0)
        and threading.current_thread() is not threading.main_thread()
    )
    limit = _most_threads.get()
    most = effective_n_threads()
    return 1 if is_joblib_thread else most if limit is None else min(most, limit)


def _threads_of_this_task() -> int | None:
    """Return the cores for each thread of this cluster worker.

    Without a worker it is one in a thread of a pool, and None, for no limit, in the main thread.
    """
    if "distributed" in sys.modules:
        from distributed import get_worker

        try:
            threads = int(get_worker().state.nthreads)
        except ValueError:  # This thread does not belong to a worker.
            pass
        else:
            from mercer._system.environment import usable_cores

            return max(1, usable_cores() // threads)
    return None if threading.current_thread() is threading.main_thread() else 1

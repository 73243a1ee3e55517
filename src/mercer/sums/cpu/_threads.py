"""The one pool in which the threads of all sums run.

Threads are Python threads around compiled code that holds no lock.  All sums of a process
share one pool, so that sums started from many threads at once still use no more cores than
one sum alone.
"""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from mercer._memory import thread_count

_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


def run_all(task: Callable[..., None], arguments: Iterable[tuple[int, ...]]) -> None:
    """Call ``task(*a)`` for every a, on as many threads as `thread_count` allows.

    The tasks must not depend on each other.  After an exception (Ctrl-C is one) no further
    task is started.
    """
    todo = list(arguments)
    threads = min(thread_count(), len(todo))
    if threads <= 1:
        for a in todo:
            task(*a)
        return
    todo.reverse()
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                a = todo.pop()  # This is atomic, so that no lock is needed.
            except IndexError:
                return
            task(*a)

    futures: list[Future[None]] = []
    try:
        try:
            for _ in range(threads):
                futures.append(_shared_pool(threads).submit(work))  # noqa: PERF401
        except RuntimeError:  # The system starts no further thread, so that this one works too.
            work()
        wait(futures, return_when=FIRST_EXCEPTION)
    finally:
        stop.set()
    for future in futures:
        future.result()


def _shared_pool(threads: int) -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None or _pool._max_workers < threads:
            _pool = ThreadPoolExecutor(threads, thread_name_prefix="mercer")
        return _pool


def _forget_pool() -> None:
    """Forget the pool in a forked child, which has none of its parent's threads."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)

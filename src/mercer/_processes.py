"""Processes that leave Ctrl-C to those who started them, and end with them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection

__all__ = ["interrupts_held", "serve_parent"]


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started.

    They inherit that, and so are deaf to it from their first moment: one that is still importing
    would answer with a traceback.  Here, what came in the meantime is heard at the end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve_parent() -> None:
    """Leave Ctrl-C to the parent, on Windows too, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

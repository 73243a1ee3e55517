"""Processes that leave Ctrl-C to those who started them, and end with them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any


def start_process(
    serve: Callable[[Connection], None], material: Any
) -> tuple[SpawnProcess, Connection]:
    """Start a process that serves a connection, and send it what it works on.

    The material goes through the connection and not with the arguments of the process: the writer
    of arguments waits for ever if the process dies before it has read them, as it does where a
    script does not protect its entry.  Here that is an EOFError for who receives.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there,), daemon=True)
    with interrupts_held():
        process.start()
    there.close()
    with suppress(OSError):  # a process that is gone is seen by who receives
        here.send(material)
    return process, here


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started.

    They inherit that, and so are deaf to it from their first moment: one that is still importing
    would answer with a traceback.  Here, what came in the meantime is heard at the end.  Both the
    mask and the handler are needed: the mask is what processes inherit, but the system may give
    the signal to a thread that does not have it, such as one of BLAS.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    # multiprocessing starts its tracker with the first process and unmasks Ctrl-C after that.
    resource_tracker.ensure_running()
    heard: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()  # others may set no handler
    handler = signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    if in_main and callable(handler):
        signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        if in_main and callable(handler):
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def end_with_parent() -> None:
    """Leave Ctrl-C to the parent, on Windows too, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

"""Launching compiled kernels, and having them compiled before they are needed, several at a time.

Triton compiles a variant of a kernel when it is first launched, for a second or more each, and the
program waits.  What a fit will launch is known when it begins: the same functions then run once
over a few rows, with launches that only start compilations (`compiling_ahead`).  A launch
waits for the compilation of its variant, if one has been started, and for no other.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

_MOST_THREADS = 8  # More of them wait for each other: the first step of each is Python.
_is_ahead: ContextVar[bool] = ContextVar("mercer_is_compiling_ahead", default=False)
# Compilations that were started and that no launch has waited for yet, by kernel and options.
_started: dict[Any, Future[Any]] = {}


def launch(kernel: Any, n_programs: int, *arguments: Any, **options: Any) -> None:
    """Launch a kernel; or only start its compilation, while code runs ahead."""
    if _is_ahead.get():
        _start(kernel, arguments, options)
        return
    if _started:
        started = _started.pop((kernel, frozenset(options.items())), None)
        if started is not None:
            started.exception()  # What failed ahead is tried again, and fails with its own words.
    kernel[(n_programs,)](*arguments, **options)


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Within it, kernels are compiled in threads and not launched: results hold any numbers."""
    token = _is_ahead.set(True)
    try:
        yield
    finally:
        _is_ahead.reset(token)


def _start(kernel: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    import torch

    key, device = (kernel, frozenset(options.items())), torch.cuda.current_device()

    def compile_variant() -> None:
        with torch.cuda.device(device):  # Threads begin with the first device.
            kernel.warmup(*arguments, grid=(1,), **options)

    if key not in _started:
        _started[key] = _compiling_threads().submit(compile_variant)


@cache
def _compiling_threads() -> ThreadPoolExecutor:
    """Return threads for Triton's passes and its assembler, which hold no lock of Python's."""
    return ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1), "mercer-compile")

"""Faults by name: each is a context in which a job runs, in a process of its own."""

import builtins
import errno
import io
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

# The number of places so far at which a disk could have been full.
points = 0


@contextmanager
def nothing() -> Iterator[None]:
    """No fault."""
    yield


@contextmanager
def full_disk(at: int, once: bool = False) -> Iterator[None]:
    """Fail at the k-th call that needs the disk, and at all later ones unless only `once`.

    Such calls are: to open a file for writing, each write that reaches the system, fsync, replace,
    rename and mkdir.  With ``at=0`` none fails and all are counted.
    """

    def point(path: object = None) -> None:
        global points
        points += 1
        if points == at or (at and points > at and not once):
            named = () if path is None or isinstance(path, int) else (os.fspath(path),)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *named)

    class File(io.FileIO):
        def write(self, data: bytes) -> int:
            point()
            return super().write(data)

    plain_open = io.open

    def failing_open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
                     closefd=True, opener=None):  # fmt: skip
        if not set(mode) & set("wax+") or isinstance(file, int) or opener is not None:
            return plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        point(file)
        raw = File(file, mode.replace("b", "").replace("t", ""))
        stream = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline)

    def failing(function):
        def call(path, *args, **options):
            point(path)
            return function(path, *args, **options)

        return call

    kept = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "mkdir")}
    io.open = builtins.open = failing_open
    for name, function in kept.items():
        setattr(os, name, failing(function))
    try:
        yield
    finally:
        io.open = builtins.open = plain_open
        for name, function in kept.items():
            setattr(os, name, function)


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file can grow beyond a size: the system's own refusal."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    yield


@contextmanager
def little_memory(more: int) -> Iterator[None]:
    """Allow so many bytes beyond what the process has at the start."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    yield


@contextmanager
def no_network() -> Iterator[None]:
    """Refuse every connection, and write to a file that there was one."""

    def refuse(*args, **options):
        Path("network.txt").write_text(repr(args))
        raise OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))

    socket.getaddrinfo = socket.create_connection = refuse
    socket.socket.connect = refuse
    yield


@contextmanager
def clock_backwards() -> Iterator[None]:
    """Let the wall clock lose an hour whenever it is asked; the monotonic clock cannot."""
    import mercer.studies._runner

    now = [time.time()]

    def back() -> float:
        now[0] -= 3600.0
        return now[0]

    class Backwards(datetime):
        @classmethod
        def now(cls, tz=None):
            now[0] -= 3600.0
            return datetime.fromtimestamp(now[0], tz) - timedelta(hours=1)

    time.time = back
    time.time_ns = lambda: int(back() * 1e9)
    mercer.studies._runner.datetime = Backwards
    yield


@contextmanager
def no_temporary_folder() -> Iterator[None]:
    """Give no folder for temporary files."""
    import tempfile

    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = "/dev/null/none"
    tempfile._candidate_tempdir_list = lambda: ["/dev/null/none"]
    tempfile.tempdir = None
    yield


@contextmanager
def no_more_threads() -> Iterator[None]:
    """Let no thread be started, as where the limit of processes is reached."""
    import threading

    from mercer.sums.cpu import _threads

    def refuse(self):
        raise RuntimeError("can't start new thread")

    threading.Thread.start = refuse
    _threads._pool = None
    _threads.thread_count = lambda: 4
    yield


@contextmanager
def no_rights() -> Iterator[None]:
    """Be a user whom permissions bind, without a name and without a home."""
    import pwd

    def unknown(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    pwd.getpwuid = unknown
    os.environ.pop("HOME", None)
    os.environ.pop("SCIKIT_LEARN_DATA", None)
    if os.geteuid() == 0:
        _drop_power_over_files()
    yield


def _drop_power_over_files() -> None:
    """Let permissions bind root too: drop CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    sets[0] &= ~0b110
    assert libc.capset(header, sets) == 0


FAULTS = {
    fault.__name__: fault
    for fault in (nothing, full_disk, small_files, little_memory, no_network, clock_backwards,
                  no_temporary_folder, no_more_threads, no_rights)
}  # fmt: skip

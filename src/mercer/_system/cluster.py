"""A Dask cluster that runs whole tasks: connected to, checked, and left as it was."""

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf, isinf
from typing import Any, Generic, Self
from urllib.parse import urlsplit

from mercer._system.environment import versions
from mercer._system.extras import how_to_install
from mercer._system.workers import (
    Limit,
    Result,
    Task,
    TookTooLongError,
    WorkerDiedError,
    no_limit,
    outcome_of,
)

_SECONDS = 8  # until a scheduler that does not answer is given up


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to the scheduler at this address; refuse a cluster whose results would differ.

    ValueError if Dask is not installed, nobody answers, no worker is there, or the packages that
    results depend on are not the same there.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            f"A scheduler needs Dask, which is not installed: {how_to_install('dask')}."
        ) from None
    try:
        _knock(address)
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No Dask scheduler answers at {address!r} ({error}): give an address such as "
            "tcp://10.0.0.1:8786, which dask scheduler prints when it starts."
        ) from None
    try:
        if not client.nthreads():
            raise ValueError(
                f"The scheduler at {address!r} has no workers: start some with "
                f"dask worker {address}."
            )
        _require_same_versions(client)
        yield client
    finally:
        client.close(timeout=2)


def _knock(address: str) -> None:
    """Raise OSError or ValueError where nobody listens: a client would go on trying."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.hostname is None or parts.port is None:
        raise ValueError("it has no host and port")
    socket.create_connection((parts.hostname, parts.port), timeout=_SECONDS).close()


def require_on_workers(client: Any, paths: Iterable[str], option: str) -> None:
    """Refuse paths that a worker does not have."""
    for path in paths:
        for worker, is_there in _on_workers(client, partial(os.path.exists, path)):
            if not is_there:
                raise ValueError(
                    f"{path} ({option}) is not on the worker {worker}: put it at the same place "
                    "on all machines, or on a disk that they share."
                )


def _require_same_versions(client: Any) -> None:
    def ask() -> dict[str, str] | None:  # sent as code: Mercer may not be there
        try:
            from mercer._system.environment import versions
        except ImportError:
            return None
        return versions()

    here = versions()
    for worker, there in _on_workers(client, ask):
        if there is None:
            raise ValueError(f"Mercer is not installed on the worker {worker}.")
        for name, version in here.items():
            if there.get(name) != version:
                raise ValueError(
                    f"{name} is {there.get(name)} on the worker {worker} and {version} here: "
                    "results would depend on where they were computed; install the same version."
                )


def _on_workers(client: Any, question: Callable[[], Any]) -> list[tuple[str, Any]]:
    return sorted(client.run(question).items())


@dataclass
class _Running:
    """A task on the cluster; `is_late` once it has been given up."""

    task: Any
    since: float
    until: float
    is_late: bool = False


class OnCluster(Generic[Task, Result]):
    """Runs tasks on the workers of a scheduler, one for each of their threads.

    It keeps the protocol of :class:`mercer._system.workers.Workers`, but a task that takes too long
    is given up and can not be stopped: its thread is free for another one when it ends.  A function
    that carries much is sent to all workers once, before the first task; otherwise it goes with
    every task, and a worker that is lost takes nothing with it.
    """

    start_seconds = 0.0

    def __init__(
        self, function: Callable[[Task], Result], client: Any, *, send_once: bool = False
    ) -> None:
        self.n = int(sum(client.nthreads().values()))
        self._client = client
        self._function = client.scatter(function, broadcast=True) if send_once else function
        self._running: dict[Any, _Running] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.cancel(list(self._running))
        self._running.clear()

    def run(
        self, tasks: Iterable[Task], *, limit: Limit = no_limit, deadline: float = inf
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """Yield tasks with their results, in the order in which they end."""
        waiting = deque(tasks)
        while True:
            now = time.perf_counter()
            # Without limits the scheduler has all tasks, for workers that join later to take.
            most = inf if limit is no_limit and isinf(deadline) else self.n
            while waiting and len(self._running) < most and now < deadline:
                n_open = len(waiting) + len(self._in_time())
                task = waiting.popleft()
                until = min(now + limit(n_open), deadline)
                future = self._client.submit(outcome_of, self._function, task, pure=False)
                self._running[future] = _Running(task, now, until)
            if now >= deadline or not (waiting or self._in_time()):
                for one in self._in_time():
                    one.is_late = True
                return
            self._wait(min([one.until for one in self._in_time()], default=deadline) - now)
            now = time.perf_counter()
            for future in [future for future in self._running if future.done()]:
                one = self._running.pop(future)
                if not one.is_late:
                    yield one.task, _outcome(future)
            for one in self._in_time():
                if one.until <= now:
                    one.is_late = True
                    if now < deadline:
                        yield one.task, TookTooLongError(one.until - one.since)

    def _in_time(self) -> list[_Running]:
        return [one for one in self._running.values() if not one.is_late]

    def _wait(self, seconds: float) -> None:
        """Wait until a task ends, or for so long."""
        from distributed import TimeoutError as DaskTimeoutError
        from distributed import wait

        timeout = None if isinf(seconds) else max(0.0, seconds)
        with self._client.as_current(), suppress(TimeoutError, DaskTimeoutError):
            wait(list(self._running), timeout=timeout, return_when="FIRST_COMPLETED")


def _outcome(future: Any) -> Any:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return future.result()
    except (KilledWorker, CancelledError):
        return WorkerDiedError()
    except Exception as error:  # the task or its result cannot be sent
        return error

"""Fits on a Dask cluster."""

import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, Self

from mercer._system.cluster import connected, n_threads
from mercer.comparison._rounds_workers import DIED, Done, Limit
from mercer.comparison.engine._fit import Fit, Task, Work, run_task
from mercer.comparison.engine._splits import Split

__all__ = ["Cluster"]


@dataclass
class _Running:
    """A task on the cluster; `is_late` once it has been given up."""

    task: Task
    since: float
    until: float
    is_late: bool = False


class Cluster:
    """Runs tasks on the workers of a scheduler, one for each of their threads.

    A fit that takes too long is given up, but can not be stopped: its thread is free for
    another one when it ends.
    """

    def __init__(self, work: Work, address: str) -> None:
        self.start_seconds = 0.0
        self._running: dict[Any, _Running] = {}
        with ExitStack() as stack:
            self._client = stack.enter_context(connected(address))
            self.n = n_threads(self._client)
            self._shared = self._client.scatter(work, broadcast=True)
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.cancel(list(self._running))
        self._running.clear()
        self._open.close()

    def run(
        self, tasks: Iterable[Task], splits: Mapping[int, Split], *, limit: Limit, deadline: float
    ) -> Iterator[Done]:
        """Yield what comes of tasks, in the order in which they end."""
        waiting = deque(tasks)
        while True:
            now = time.perf_counter()
            while waiting and len(self._running) < self.n and now < deadline:
                n_open = len(waiting) + len(self._in_time())
                task = waiting.popleft()
                until = min(now + limit(n_open), deadline)
                future = self._client.submit(
                    run_task, self._shared, task, splits[task[1]], pure=False
                )
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
                    yield one.task, _result(future)
            for one in self._in_time():
                if one.until <= now:
                    one.is_late = True
                    if now < deadline:
                        yield one.task, one.until - one.since

    def _in_time(self) -> list[_Running]:
        return [one for one in self._running.values() if not one.is_late]

    def _wait(self, seconds: float) -> None:
        """Wait until a task ends, or for so long."""
        from distributed import TimeoutError as DaskTimeoutError
        from distributed import wait

        with self._client.as_current(), suppress(TimeoutError, DaskTimeoutError):
            wait(list(self._running), timeout=max(0.0, seconds), return_when="FIRST_COMPLETED")


def _result(future: Any) -> Fit:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        fit: Fit = future.result()
    except (KilledWorker, CancelledError):
        return Fit(error=DIED)
    return fit

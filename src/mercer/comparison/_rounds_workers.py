"""Where fits run: here, or in processes that can be stopped."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Protocol, Self

import numpy as np

from mercer._system.processes import end_with_parent, start_process
from mercer.comparison.engine._fit import Fit, Task, Work, run_task
from mercer.comparison.engine._splits import Split

__all__ = ["DIED", "Done", "Here", "Limit", "Processes", "Workers"]

# What came of a task: a fit, or the seconds after which it was stopped because it took too long.
Done = tuple[Task, Fit | float]

# The most seconds of a task that begins while so many are open, itself among them.
Limit = Callable[[int], float]

DIED = "MemoryError: its process was ended from outside, for want of memory as a rule"


class Workers(Protocol):
    """Runs tasks; a context that leaves nothing running.

    ``n`` run at the same time, and after a task was stopped it takes ``start_seconds`` to go on.
    """

    n: int
    start_seconds: float

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def run(
        self, tasks: Iterable[Task], splits: Mapping[int, Split], *, limit: Limit, deadline: float
    ) -> Iterator[Done]:
        """Yield what comes of tasks, in any order, until the deadline.

        Tasks that the deadline cuts off are not yielded.
        """


class Here:
    """Runs tasks one after the other in this process, where none can be stopped."""

    n = 1
    start_seconds = 0.0

    def __init__(self, work: Work) -> None:
        self._work = work

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def run(
        self, tasks: Iterable[Task], splits: Mapping[int, Split], *, limit: Limit, deadline: float
    ) -> Iterator[Done]:
        """Yield what comes of tasks; a fit that has begun is waited for."""
        del limit
        for task in tasks:
            if time.perf_counter() >= deadline:
                return
            yield task, run_task(self._work, task, splits[task[1]])


class Processes:
    """Runs tasks in processes of one thread each; a fit that takes too long is stopped."""

    def __init__(self, work: Work, n: int) -> None:
        self.n = n
        self._work = work
        self.start_seconds = 0.0
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        start = time.perf_counter()
        self._workers = [_Worker(self._work) for _ in range(self.n)]
        while not any(worker.is_ready for worker in self._workers):
            for connection in wait([worker.connection for worker in self._workers]):
                self._at(connection).receive()
        self.start_seconds = time.perf_counter() - start
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self, tasks: Iterable[Task], splits: Mapping[int, Split], *, limit: Limit, deadline: float
    ) -> Iterator[Done]:
        """Yield what comes of tasks, in the order in which they end."""
        waiting = deque(tasks)
        while True:
            now = time.perf_counter()
            for worker in self._workers:
                if waiting and worker.is_ready and worker.task is None and now < deadline:
                    n_open = len(waiting) + sum(one.task is not None for one in self._workers)
                    task = waiting.popleft()
                    worker.give(task, splits[task[1]], until=min(now + limit(n_open), deadline))
            busy = [worker for worker in self._workers if worker.task is not None]
            if not busy and (not waiting or now >= deadline):
                return
            until = min([worker.until for worker in busy], default=deadline)
            heard = [w.connection for w in self._workers if w.task is not None or not w.is_ready]
            for connection in wait(heard, timeout=max(0.0, until - now)):
                worker = self._at(connection)
                done, fit = worker.task, worker.receive()
                if done is not None and fit is not None:
                    yield done, fit
            now = time.perf_counter()
            for worker in [w for w in busy if w.task is not None and w.until <= now]:
                late, seconds = worker.task, worker.until - worker.since
                worker.restart()
                if late is not None and now < deadline:
                    yield late, seconds

    def _at(self, connection: object) -> "_Worker":
        return next(worker for worker in self._workers if worker.connection is connection)


class _Worker:
    """One process, and what it is at."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._start()

    def _start(self) -> None:
        self.is_ready = False
        self.task: Task | None = None
        self.since = self.until = np.inf
        self._process, self.connection = start_process(_serve, self._work)

    def give(self, task: Task, split: Split, *, until: float) -> None:
        """Begin a task."""
        self.task, self.since, self.until = task, time.perf_counter(), until
        with suppress(OSError):  # a process that is gone is seen by `receive`
            self.connection.send((task, split))

    def receive(self) -> Fit | None:
        """Take what the process has to say: that it is ready, or what came of its task."""
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            if not self.is_ready:
                raise RuntimeError(
                    "A process for fits did not start. A script that calls compare_in_rounds with "
                    "n_jobs must protect its entry by if __name__ == '__main__':"
                ) from None
            self.restart()
            return Fit(error=DIED)
        self.task, self.is_ready = None, True
        return said if isinstance(said, Fit) else None

    def restart(self) -> None:
        """End what is going on and begin anew."""
        self.end()
        self._start()

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """Fit what comes until nobody asks any more."""
    end_with_parent()
    try:
        work: Work = connection.recv()
        connection.send("ready")
        while True:
            task, split = connection.recv()
            connection.send(run_task(work, task, split))
    except (EOFError, OSError):  # the parent is gone
        return

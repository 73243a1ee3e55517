"""Tasks that run here, in processes that can be ended, or by joblib: one protocol for all.

Comparisons run their fits by it and studies their jobs.  On a Dask cluster the same protocol is
``OnCluster`` of :mod:`mercer._system.cluster`.  Single answers that may be done without come from
``answers_within``.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from math import inf, isinf
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pickle import PickleError
from typing import Any, Generic, Protocol, Self, TypeVar

from mercer._system.processes import end_with_parent, start_process
from mercer._system.words import duration

Task = TypeVar("Task")
Result = TypeVar("Result")
ResultOut = TypeVar("ResultOut", covariant=True)

# The most seconds of a task that begins while so many are open, itself among them.
Limit = Callable[[int], float]


class TookTooLongError(Exception):
    """A task was stopped after these seconds, the most that it was given."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"It was stopped after {duration(seconds)}.")
        self.seconds = seconds


class WorkerDiedError(Exception):
    """The process that ran a task was ended from outside, for want of memory as a rule."""


class NoAnswerError(Exception):
    """A process gave no answer; the text says why, as part of a sentence."""


class WorkerDidNotStartError(RuntimeError):
    """A process ended before it was ready for its first task."""


class Workers(Protocol[Task, ResultOut]):
    """Runs tasks, ``n`` at the same time; a context that leaves nothing running.

    After a task was stopped it takes ``start_seconds`` until its worker can go on.
    """

    n: int
    start_seconds: float

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def run(
        self, tasks: Iterable[Task], *, limit: Limit, deadline: float
    ) -> Iterator[tuple[Task, ResultOut | Exception]]:
        """Yield tasks with their results, in any order, until the deadline.

        In place of a result there may be an error: what the function raised,
        :class:`TookTooLongError` or :class:`WorkerDiedError`.  Tasks that the deadline cuts off are
        not yielded.
        """


def no_limit(n_open: int) -> float:
    """Let a task take as long as it does."""
    del n_open
    return inf


def outcome_of(function: Callable[[Task], Result], task: Task) -> Result | Exception:
    """Return the function's result, or the error that it raised."""
    try:
        return function(task)
    except Exception as error:
        return error


class InThisProcess(Generic[Task, Result]):
    """Runs tasks one after the other in this process, where none can be stopped."""

    n = 1
    start_seconds = 0.0

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self._function = function

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def run(
        self, tasks: Iterable[Task], *, limit: Limit = no_limit, deadline: float = inf
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """Yield tasks with their results; a task that has begun is waited for."""
        del limit
        for task in tasks:
            if time.perf_counter() >= deadline:
                return
            yield task, outcome_of(self._function, task)


class ByJoblib(Generic[Task, Result]):
    """Runs tasks as scikit-learn does, wherever joblib was told to; none can be stopped."""

    start_seconds = 0.0

    def __init__(self, function: Callable[[Task], Result], n_jobs: int | None) -> None:
        from joblib import effective_n_jobs

        self.n = effective_n_jobs(n_jobs)
        self._function = function
        self._n_jobs = n_jobs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def run(
        self, tasks: Iterable[Task], *, limit: Limit = no_limit, deadline: float = inf
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """Yield all tasks with their results, in their order; there is no deadline."""
        from sklearn.utils.parallel import Parallel, delayed

        del limit, deadline
        tasks = list(tasks)
        outcomes = Parallel(n_jobs=self._n_jobs)(
            delayed(outcome_of)(self._function, task) for task in tasks
        )
        yield from zip(tasks, outcomes, strict=True)


class Processes(Generic[Task, Result]):
    """Runs tasks in processes; one that takes too long is stopped with its process."""

    def __init__(self, function: Callable[[Task], Result], n: int) -> None:
        self.n = n
        self.start_seconds = 0.0
        self._function = function
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Start the processes, and wait until one of them is ready."""
        start = time.perf_counter()
        try:
            for _ in range(self.n):
                self._workers.append(_Worker(self._function))
            while self._workers and not any(worker.is_ready for worker in self._workers):
                for connection in wait([worker.connection for worker in self._workers]):
                    self._worker_of(connection).receive()
        except BaseException:
            self.__exit__()
            raise
        self.start_seconds = time.perf_counter() - start
        return self

    def __exit__(self, *exception: object) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self, tasks: Iterable[Task], *, limit: Limit = no_limit, deadline: float = inf
    ) -> Iterator[tuple[Task, Result | Exception]]:
        """Yield tasks with their results, in the order in which they end."""
        waiting = deque(tasks)
        while True:
            now = time.perf_counter()
            for worker in self._workers:
                if waiting and worker.is_free and now < deadline:
                    n_open = len(waiting) + sum(one.is_busy for one in self._workers)
                    until = min(now + limit(n_open), deadline)
                    worker.give(waiting.popleft(), until=until)
            busy = [worker for worker in self._workers if worker.is_busy]
            if not busy and (not waiting or now >= deadline):
                return
            until = min([worker.until for worker in busy], default=deadline)
            # A process that is still starting is heard too: it says when it is ready.
            heard = [worker.connection for worker in self._workers if not worker.is_free]
            timeout = None if isinf(until) else max(0.0, until - now)
            for connection in wait(heard, timeout=timeout):
                worker = self._worker_of(connection)
                was_busy, task = worker.is_busy, worker.task
                outcome = worker.receive()
                if was_busy:
                    yield task, outcome
            now = time.perf_counter()
            for worker in [one for one in busy if one.is_busy and one.until <= now]:
                task, seconds = worker.task, worker.until - worker.since
                worker.restart()
                if now < deadline:
                    yield task, TookTooLongError(seconds)

    def _worker_of(self, connection: object) -> "_Worker":
        return next(worker for worker in self._workers if worker.connection is connection)


class _Worker:
    """One process, and the task that it is busy with."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._start()

    def _start(self) -> None:
        self.is_ready = self.is_busy = False
        self.task: Any = None
        self.since = self.until = inf
        self._process, self.connection = start_process(_serve, self._function)

    @property
    def is_free(self) -> bool:
        """Whether it can be given a task."""
        return self.is_ready and not self.is_busy

    def give(self, task: Any, *, until: float) -> None:
        """Begin a task."""
        self.is_busy, self.task = True, task
        self.since, self.until = time.perf_counter(), until
        with suppress(OSError):  # a process that is gone is seen by `receive`
            self.connection.send(task)

    def receive(self) -> Any:
        """Return the outcome of the task; None where the process says that it is ready."""
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            if not self.is_ready:
                raise WorkerDidNotStartError(
                    "A worker process did not start. There may be too little memory for so many; "
                    "and a script that computes in several processes must protect its entry by "
                    "if __name__ == '__main__':"
                ) from None
            self.restart()
            return WorkerDiedError()
        except Exception as error:  # the result cannot be read here
            outcome = error
        self.is_ready, self.is_busy = True, False
        return outcome

    def restart(self) -> None:
        """End the process, whatever it does, and start another."""
        self.end()
        self._start()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection) -> None:
    """Run the tasks that come until the parent is gone."""
    end_with_parent()
    try:
        function = connection.recv()
        connection.send(None)  # ready
        while True:
            outcome = outcome_of(function, connection.recv())
            _send(connection, _portable(outcome) if isinstance(outcome, Exception) else outcome)
    except (EOFError, OSError):  # the parent is gone
        return


def _send(connection: Connection, outcome: Any) -> None:
    try:
        connection.send(outcome)
    except (EOFError, OSError):
        raise
    except Exception as error:  # the result cannot be pickled: nothing of it was sent
        connection.send(_portable(error))


def _portable(error: Exception) -> Exception:
    """Return an error that any process can read: those of libraries may not be picklable."""
    if type(error).__module__ == "builtins":
        return error
    if isinstance(error, OSError):
        return OSError(str(error))
    return RuntimeError(f"{type(error).__name__}: {error}")


# A function, and what it is called with.
Call = tuple[Callable[..., Any], tuple[Any, ...]]


def answers_within(seconds: float, *calls: Call) -> list[Any]:
    """Return what functions give, each in a process of its own that is ended after these seconds.

    In place of an answer there is a :class:`TookTooLongError` where they are not enough, or a
    :class:`NoAnswerError` where there is no process to be had, it ends, the function fails, or what
    it is given or gives cannot be sent or read.  Sending the arguments is not limited: they should
    be small.
    """
    until = time.perf_counter() + seconds
    started: list[tuple[SpawnProcess, Connection] | NoAnswerError] = []
    try:
        started.extend(_start(call) for call in calls)
        return [
            one if isinstance(one, NoAnswerError) else _answer_until(until, one[1], seconds)
            for one in started
        ]
    finally:
        for one in started:
            if not isinstance(one, NoAnswerError):
                process, connection = one
                process.kill()
                process.join()
                connection.close()


def _start(call: Call) -> tuple[SpawnProcess, Connection] | NoAnswerError:
    try:
        return start_process(_answer, call)
    except OSError as error:
        return NoAnswerError(f"no process could be started ({_named_error(error)})")
    except (AttributeError, TypeError, ValueError, PickleError) as error:
        return NoAnswerError(f"it cannot be sent to a process ({_named_error(error)})")


def _answer_until(until: float, connection: Connection, seconds: float) -> Any:
    if connection.poll(max(0.0, until - time.perf_counter())):
        return _received(connection)
    return TookTooLongError(seconds)


def _received(connection: Connection) -> Any:
    """Return what a process sent, or the error that says why it cannot be had."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return NoAnswerError("its process ended early, for want of memory as a rule")
    except Exception as error:  # the answer cannot be read here
        return NoAnswerError(_named_error(error))


def _answer(connection: Connection) -> None:
    """Send what the function gives, or why there is nothing.

    Standard error is closed: without memory, libraries would fill it with tracebacks.
    """
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    end_with_parent()
    # Sent from here, where the memory that an error held on to is free again.
    answer = _answer_or_error(connection)
    try:
        connection.send(answer)
    except OSError:  # the parent is gone
        return
    except Exception as error:  # the answer cannot be pickled: nothing of it was sent
        connection.send(NoAnswerError(_named_error(error)))


def _answer_or_error(connection: Connection) -> Any:
    try:
        function, arguments = connection.recv()
        return function(*arguments)
    except (ImportError, MemoryError, OSError, SystemError) as error:
        # This process loads all libraries again; one that finds no room says "not found".
        why = _named_error(_first_cause(error))
        return NoAnswerError(f"its process could not go on, for want of memory as a rule ({why})")
    except Exception as error:  # the answer can be done without
        return NoAnswerError(_named_error(error))


def _first_cause(error: BaseException) -> BaseException:
    before = error.__cause__ or error.__context__
    return error if before is None else _first_cause(before)


def _named_error(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__

"""Jobs in processes: one thread each, so that no result depends on how many there are."""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from mercer._system.processes import end_with_parent, interrupts_held
from mercer.studies._catalogue import load_study
from mercer.studies._jobs import Job, resolve
from mercer.studies._store import write_outcome

__all__ = ["Computed", "Finished", "compute_job", "run_jobs"]

# The number of the job, the seconds that it took, and what went wrong, if anything.
Finished = tuple[int, float, str]


def run_jobs(
    jobs: Sequence[Job], output: Path, *, folder: str | None, workers: int
) -> Iterator[Finished]:
    """Run jobs, each kept on disk before it is reported here, in the order in which they end."""
    if workers == 1:
        for number, job in enumerate(jobs):
            yield _run(number, job, output, folder)
        return
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=end_with_parent
    )
    try:
        with interrupts_held():
            futures = [
                executor.submit(_run, number, job, output, folder)
                for number, job in enumerate(jobs)
            ]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool as error:
        raise MemoryError(
            "a worker process died, for want of memory as a rule; run the same command again with "
            "fewer --jobs: what is finished is kept"
        ) from error
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()


@dataclass(frozen=True)
class Computed:
    """What a job gave, by column, or the error that ended it."""

    outcome: Any
    columns: tuple[str, ...]
    seconds: float
    error: str = ""


def compute_job(job: Job, folder: str | None) -> Computed:
    """Compute a job on one thread; a failure is a result, unless later jobs would fail too."""
    start = time.perf_counter()
    columns: tuple[str, ...] = ()
    try:
        function, task = resolve(job, folder)
        with threadpool_limits(1):  # here, where the study has loaded all that has threads
            outcome = function(task)
        seconds = time.perf_counter() - start
        if job.kind == "table":
            columns = load_study(job.source).tables[job.part].methods[job.method].columns
    except OSError:
        raise  # a full disk or a data set gone: no later job would fare better
    except Exception as error:
        return Computed(None, (), time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return Computed(outcome, columns, seconds)


def _run(number: int, job: Job, output: Path, folder: str | None) -> Finished:
    computed = compute_job(job, folder)
    if computed.error:
        return number, computed.seconds, computed.error
    try:
        write_outcome(output / job.file, computed.outcome, computed.columns, computed.seconds)
    except OSError:
        raise
    except Exception as error:
        return number, computed.seconds, f"{type(error).__name__}: {error}"
    return number, computed.seconds, ""

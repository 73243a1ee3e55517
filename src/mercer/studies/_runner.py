"""``run_studies``: studies → jobs → a folder of results, from where it was left; its progress."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import Literal

from mercer._system.cluster import OnCluster, connected, require_on_workers
from mercer._system.environment import machine, usable_cores, versions
from mercer._system.files import make_folder, sweep
from mercer._system.workers import (
    InThisProcess,
    Processes,
    WorkerDidNotStartError,
    WorkerDiedError,
    Workers,
    no_limit,
)
from mercer.studies._catalogue import list_studies
from mercer.studies._collect import Results, collect
from mercer.studies._jobs import Computed, Job, Plan, compute_job, plan_jobs
from mercer.studies._store import read_outcome, write_outcome


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a run tells after every job.

    Parameters
    ----------
    done, total : int
        Number of jobs that are finished, and of all; those of earlier runs are included.
    seconds_left : float or None
        Expected time by the clock until all workers are done; None before the first job has ended.
    label : str
        The job that has just ended.
    error : str
        What went wrong with it, or nothing.
    """

    done: int
    total: int
    seconds_left: float | None
    label: str = ""
    error: str = ""


class Clock:
    """Estimates the time that is left from what jobs of the same kind took.

    Jobs differ a thousandfold, so a mean over all of them says little: every row and method has a
    mean of its own, and a kind that no job has finished yet counts as the mean of all kinds.
    """

    def __init__(self, jobs: Sequence[Job], workers: int) -> None:
        self.workers = workers
        self.total = len(jobs)
        self.done = 0
        self._left: dict[tuple[object, ...], int] = defaultdict(int)
        self._seen: dict[tuple[object, ...], list[float]] = defaultdict(list)
        for job in jobs:
            self._left[self._kind(job)] += 1

    @staticmethod
    def _kind(job: Job) -> tuple[object, ...]:
        return job.source, job.kind, job.part, job.row, job.method, job.protocol

    def finish(self, job: Job, seconds: float) -> None:
        """Count a job as done."""
        self.done += 1
        self._left[self._kind(job)] -= 1
        self._seen[self._kind(job)].append(seconds)

    def seconds_left(self) -> float | None:
        """Return the estimate, or None before the first job has ended."""
        if not self.done:
            return None
        means = {kind: sum(times) / len(times) for kind, times in self._seen.items()}
        overall = sum(means.values()) / len(means)
        rest = sum(count * means.get(kind, overall) for kind, count in self._left.items())
        return rest / self.workers


def run_studies(
    studies: Iterable[str] = (),
    output: str | os.PathLike[str] = "mercer-results",
    *,
    quick: bool = False,
    protocol: Literal["both", "paper", "honest"] = "both",
    data: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Repeat the experiments of papers and keep everything that was found.

    Every job's outcome is a file of its own, written whole or not at all, under a name that
    carries a digest of all that it depends on: the code of the study, options, seed, versions.
    A run that was stopped, however, goes on where it was; a full run uses what a quick one found.
    Seeds are hashed from names and every job has one thread, so that neither the order nor the
    number of processes changes a digit.

    Parameters
    ----------
    studies : iterable of str, default=()
        Names (:func:`list_studies`) or paths of study files; none means all that come with
        Mercer.
    output : path-like, default="mercer-results"
        The folder of results.
    quick : bool, default=False
        Few replications and short grids: minutes instead of hours.
    protocol : {"both", "paper", "honest"}, default="both"
        As the papers did it, with everything chosen on training rows alone, or both.
    data : path-like, default=None
        A folder of ``.npz`` files; without it, ``MERCER_DATA``.
    n_jobs : int or None, default=None
        The number of processes; None means one for every usable core.
    scheduler : str or None, default=None
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``: its workers compute the jobs,
        and this process keeps what they find.  They need the same versions, and the data folder
        at the same place.
    fresh : bool, default=False
        Do not use outcomes of earlier runs.
    on_progress : callable, default=None
        Called with a :class:`Progress` after every job.

    Returns
    -------
    Results
        The tables ``cells``, ``scores``, ``timings`` and ``failures``, which are in the folder
        as CSV files too.

    Notes
    -----
    With more than one process, a script must protect its entry by
    ``if __name__ == "__main__":``, as for any other use of :mod:`multiprocessing`.

    Examples
    --------
    >>> from mercer.studies import run_studies
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     results = run_studies(["equivalences"], folder, quick=True, n_jobs=1)
    >>> results.failures.empty
    True
    """
    if scheduler is not None and n_jobs is not None:
        raise ValueError("Give n_jobs or scheduler, not both.")
    data = os.environ.get("MERCER_DATA") if scheduler is not None and data is None else data
    folder = None if data is None else str(Path(data).absolute())
    output = Path(output).absolute()
    make_folder(output)
    sweep(output)
    n_processes = n_jobs if n_jobs is not None else usable_cores()
    if n_processes < 1:
        raise ValueError(f"n_jobs must be at least 1, got {n_processes}.")
    absolute = (str(Path(name).absolute()) if name.endswith(".py") else name for name in studies)
    sources = tuple(absolute) or list_studies()
    plan = plan_jobs(sources, quick=quick, protocol=protocol, folder=folder)

    compute = partial(compute_job, folder=folder)
    with ExitStack() as stack:
        workers: Workers[Job, Computed]
        if scheduler is not None:
            client = stack.enter_context(connected(scheduler))
            require_on_workers(client, [folder] if folder else [], "the data folder")
            require_on_workers(client, [s for s in sources if s.endswith(".py")], "a study")
            workers = OnCluster(compute, client)
        elif n_processes > 1:
            workers = Processes(compute, n_processes)
        else:
            workers = InThisProcess(compute)
        return _run(plan, output, workers, fresh, on_progress)


def _run(
    plan: Plan,
    output: Path,
    workers: Workers[Job, Computed],
    fresh: bool,
    on_progress: Callable[[Progress], None] | None,
) -> Results:
    """Run what is not there yet and collect everything."""
    started = datetime.now(UTC)
    clock = Clock(plan.jobs, workers.n)
    waiting: list[Job] = []
    earlier: list[float] = []  # when outcomes of earlier runs were written
    for job in plan.jobs:
        stored = None if fresh else read_outcome(output / job.file)
        if stored is None:
            waiting.append(job)
        else:
            clock.finish(job, stored.seconds)
            earlier.append((output / job.file).stat().st_mtime)
    if on_progress:
        on_progress(Progress(done=clock.done, total=clock.total, seconds_left=None))

    failures: dict[str, str] = {}
    for job, seconds, error in _run_jobs(waiting, workers, output):
        clock.finish(job, seconds)
        if error:
            failures[job.file] = error
        if on_progress:
            on_progress(
                Progress(
                    done=clock.done,
                    total=clock.total,
                    seconds_left=clock.seconds_left(),
                    label=_label(plan, job),
                    error=error,
                )
            )
    facts = {
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "earlier": _of_earlier_runs(earlier),
        "workers": workers.n,
        "versions": versions(),
        "machine": machine(),
    }
    return collect(plan, output, failures, facts)


def _of_earlier_runs(written: Sequence[float]) -> dict[str, object]:
    """Say how many jobs earlier runs had done, and since when: a run's own times hide both."""
    first = datetime.fromtimestamp(min(written), UTC) if written else None
    return {"jobs": len(written), "since": first and first.isoformat(timespec="seconds")}


def _run_jobs(
    jobs: Sequence[Job], workers: Workers[Job, Computed], output: Path
) -> Iterator[tuple[Job, float, str]]:
    """Yield jobs as they end, kept on disk, with their seconds and what went wrong, if anything."""
    if not jobs:
        return
    try:
        with workers:
            for job, computed in workers.run(jobs, limit=no_limit, deadline=inf):
                if isinstance(computed, WorkerDiedError):
                    raise MemoryError(_why_died(workers)) from computed
                if isinstance(computed, OSError):
                    raise computed
                if isinstance(computed, Exception):  # what it returned cannot be sent
                    yield job, 0.0, f"{type(computed).__name__}: {computed}"
                else:
                    error = computed.error or _keep(output / job.file, computed)
                    yield job, computed.seconds, error
    except WorkerDidNotStartError as why:
        raise MemoryError(str(why)) from why


def _keep(path: Path, computed: Computed) -> str:
    """Write the outcome of a job, and return why it cannot be kept, if so."""
    try:
        write_outcome(path, computed.outcome, computed.columns, computed.seconds)
    except OSError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _why_died(workers: Workers[Job, Computed]) -> str:
    kept = "run the same command again: what is finished is kept."
    if isinstance(workers, OnCluster):
        return (
            "A job ended its worker several times, for want of memory as a rule; give the workers "
            f"more and {kept}"
        )
    return f"A worker process died, for want of memory as a rule; use fewer --jobs and {kept}"


def _label(plan: Plan, job: Job) -> str:
    study = plan.studies[job.source]
    if job.kind == "figure":
        return f"{study.name} {study.figures[job.part].key}"
    table = study.tables[job.part]
    return f"{study.name} {table.key} {table.rows[job.row].label}"

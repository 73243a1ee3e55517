"""``run_studies``: studies → jobs → a folder of results, from where it was left."""

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from mercer._system.cluster import connected, n_threads, require_on_workers
from mercer._system.environment import machine, usable_cores, versions
from mercer._system.files import make_folder, sweep
from mercer.studies._catalogue import list_studies
from mercer.studies._cluster import run_jobs_on
from mercer.studies._collect import Results, collect
from mercer.studies._jobs import Job, Plan, plan_jobs
from mercer.studies._progress import Clock, Progress
from mercer.studies._store import read_outcome
from mercer.studies._workers import run_jobs

__all__ = ["run_studies"]


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
        raise ValueError("give n_jobs or scheduler, not both")
    data = os.environ.get("MERCER_DATA") if scheduler is not None and data is None else data
    folder = None if data is None else str(Path(data).absolute())
    output = Path(output).absolute()
    make_folder(output)
    sweep(output)
    workers = n_jobs if n_jobs is not None else usable_cores()
    if workers < 1:
        raise ValueError(f"n_jobs must be at least 1, got {workers}")
    sources = tuple(_source(name) for name in studies) or list_studies()
    plan = plan_jobs(sources, quick=quick, protocol=protocol, folder=folder)

    with ExitStack() as stack:
        client = None
        if scheduler is not None:
            client = stack.enter_context(connected(scheduler))
            require_on_workers(client, [folder] if folder else [], "the data folder")
            require_on_workers(client, [s for s in sources if s.endswith(".py")], "a study")
            workers = n_threads(client)
        results = _run(plan, output, workers, client, folder, fresh, on_progress)
    sweep(output)  # what a worker that outlived a killed run by a moment still held
    return results


def _run(
    plan: Plan,
    output: Path,
    workers: int,
    client: Any,
    folder: str | None,
    fresh: bool,
    on_progress: Callable[[Progress], None] | None,
) -> Results:
    """Run what is not there yet, here or on a cluster, and collect everything."""
    started = datetime.now(UTC)
    clock = Clock(plan.jobs, workers)
    waiting: list[Job] = []
    for job in plan.jobs:
        stored = None if fresh else read_outcome(output / job.file)
        if stored is None:
            waiting.append(job)
        else:
            clock.finish(job, stored.seconds)
    if on_progress:
        on_progress(Progress(done=clock.done, total=clock.total, seconds_left=None))

    failures: dict[str, str] = {}
    if client is None:
        finished = run_jobs(waiting, output, folder=folder, workers=workers)
    else:
        finished = run_jobs_on(client, waiting, output, folder=folder)
    for number, seconds, error in finished:
        job = waiting[number]
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
        "workers": workers,
        "versions": versions(),
        "machine": machine(),
    }
    return collect(plan, output, failures, facts)


def _source(name: str) -> str:
    return str(Path(name).absolute()) if name.endswith(".py") else name


def _label(plan: Plan, job: Job) -> str:
    study = plan.studies[job.source]
    if job.kind == "figure":
        return f"{study.name} {study.figures[job.part].key}"
    table = study.tables[job.part]
    return f"{study.name} {table.key} {table.rows[job.row].label}"

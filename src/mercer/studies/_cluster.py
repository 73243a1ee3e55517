"""Jobs on a Dask cluster: computed there, kept on disk here."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mercer.studies._jobs import Job
from mercer.studies._store import write_outcome
from mercer.studies._workers import Computed, Finished, compute_job

__all__ = ["run_jobs_on"]


def run_jobs_on(
    client: Any, jobs: Sequence[Job], output: Path, *, folder: str | None
) -> Iterator[Finished]:
    """Run jobs on the workers, each kept on disk before it is reported, as they end."""
    from distributed import KilledWorker, as_completed

    futures = {
        client.submit(compute_job, job, folder, pure=False, key=f"mercer-job-{number}-{job.file}"):
        number for number, job in enumerate(jobs)
    }  # fmt: skip
    try:
        for future in as_completed(futures, loop=client.loop):
            number, job = futures[future], jobs[futures[future]]
            computed: Computed = future.result()
            if not computed.error:
                try:
                    write_outcome(
                        output / job.file, computed.outcome, computed.columns, computed.seconds
                    )
                except ValueError as error:  # the job returned what can not be kept
                    yield number, computed.seconds, f"{type(error).__name__}: {error}"
                    continue
            yield number, computed.seconds, computed.error
    except KilledWorker as error:
        raise MemoryError(
            "a job ended its worker several times, for want of memory as a rule; give the workers "
            "more and run the same command again: what is finished is kept"
        ) from error
    finally:
        client.cancel(list(futures))

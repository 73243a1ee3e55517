"""What a job computes, wherever it runs: on one thread, so that no result depends on how many."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from threadpoolctl import threadpool_limits

from mercer.studies._catalogue import load_study
from mercer.studies._jobs import Job, resolve
from mercer.studies._model import Outcome


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
            outcome = _ready_to_send(function(task))
        seconds = time.perf_counter() - start
        if job.kind == "table":
            columns = load_study(job.source).tables[job.part].methods[job.method].columns
    except OSError:
        raise  # a full disk, or a data set that is gone: later jobs would fail too
    except Exception as error:
        return Computed(None, (), time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return Computed(outcome, columns, seconds)


def _ready_to_send(outcome: Any) -> Any:
    """Return an outcome in plain containers: what one process takes, several take too."""
    if isinstance(outcome, Outcome):
        values = outcome.values
        return replace(
            outcome,
            values=dict(values) if isinstance(values, Mapping) else values,
            predictions=dict(outcome.predictions),
            details=dict(outcome.details),
        )
    return list(outcome) if isinstance(outcome, Iterator) else outcome

"""A study becomes jobs, the smallest pieces of work that are kept when the rest is lost.

A job computes on one thread wherever it runs, so that no result depends on how many there are.
"""

import hashlib
import json
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from mercer._system.environment import versions
from mercer.datasets import list_datasets
from mercer.studies._catalogue import load_study
from mercer.studies._code import code_digest
from mercer.studies._model import Figure, Method, Outcome, Protocol, Row, Study
from mercer.studies._task import Task


@dataclass(frozen=True, kw_only=True)
class Job:
    """One fit, or a few that belong together: plain data, so that any process can run it.

    Parameters
    ----------
    source : str
        The study's name, or the path of its file.
    kind : {"table", "figure"}
    part : int
        Which of its tables or figures.
    row, method : int
        Which row and method of the table; −1 for figures.
    protocol, replication, seed, options
        As in :class:`Task`.
    file : str
        Where the outcome is kept, relative to the folder of results.  The name ends in a digest
        of all that the outcome depends on: an outcome under this name is the right one.
    """

    source: str
    kind: Literal["table", "figure"]
    part: int
    row: int = -1
    method: int = -1
    protocol: Protocol = "either"
    replication: int = 0
    seed: int
    options: Mapping[str, Any]
    file: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All jobs of a run, and why some rows and figures have none.

    Parameters
    ----------
    studies : mapping from source to Study
    jobs : tuple of Job
        The first replication of everything comes first.
    skipped : mapping from (study, part, row) to str
        Rows and figures whose data are not here, with the reason.
    quick : bool
    protocol : {"paper", "honest", "both"}
        Which of the two protocols is run.
    """

    studies: Mapping[str, Study]
    jobs: tuple[Job, ...]
    skipped: Mapping[tuple[str, str, str], str]
    quick: bool
    protocol: Literal["paper", "honest", "both"]


def plan_jobs(
    sources: tuple[str, ...],
    *,
    quick: bool = False,
    protocol: Literal["paper", "honest", "both"] = "both",
    folder: str | None = None,
) -> Plan:
    """Return the jobs of some studies.

    Parameters
    ----------
    sources : tuple of str
        Names of studies, or paths of their files.
    quick : bool, default=False
        Few replications and short grids.
    protocol : {"both", "paper", "honest"}
        Which of the two protocols to run.
    folder : str or None
        Where data sets are looked for first.

    Returns
    -------
    Plan
        What is to run, and what is left out and why.
    """
    studies = {source: load_study(source) for source in sources}
    absent = _absent(folder)
    jobs: list[Job] = []
    skipped: dict[tuple[str, str, str], str] = {}
    for source, study in studies.items():
        for t, table in enumerate(study.tables):
            for r, row in enumerate(table.rows):
                if row.missing:
                    continue
                if row.dataset in absent:
                    skipped[study.name, table.key, row.label] = absent[row.dataset]
                    continue
                jobs += _row_jobs(source, study, t, r, quick, protocol)
        for f, figure in enumerate(study.figures):
            if figure.dataset in absent:
                skipped[study.name, figure.key, ""] = absent[figure.dataset]
            elif figure.run is not None:
                jobs.append(_figure_job(source, study.name, f, figure, figure.run))
    jobs.sort(key=lambda job: job.replication)
    return Plan(studies=studies, jobs=tuple(jobs), skipped=skipped, quick=quick, protocol=protocol)


def resolve(job: Job, folder: str | None) -> tuple[Callable[[Task], Any], Task]:
    """Return the function of a job, and what it is to be told."""
    study = load_study(job.source)
    function: Any
    if job.kind == "figure":
        figure = study.figures[job.part]
        function, row = figure.run, Row(label=figure.key, dataset=figure.dataset)
    else:
        table = study.tables[job.part]
        function, row = table.methods[job.method].run, table.rows[job.row]
    task = Task(
        row=row,
        protocol=job.protocol,
        replication=job.replication,
        seed=job.seed,
        options=job.options,
        folder=folder,
    )
    return function, task


def _row_jobs(
    source: str, study: Study, t: int, r: int, quick: bool, protocol: str
) -> Iterator[Job]:
    table = study.tables[t]
    row = table.rows[r]
    for m, method in enumerate(table.methods):
        if method.rows is not None and row.label not in method.rows:
            continue
        options = {**row.options, **method.options, **(method.quick if quick else {})}
        for kind in method.protocols:
            if protocol not in ("both", kind) and kind != "either":
                continue
            for replication in range(_replications(row, method, quick)):
                seed = _seed(study.name, row.dataset or "", replication)
                names = (study.name, table.key, row.label, method.columns[0], method.reading)
                facts = [*names, method.fields(kind), row.dataset, kind, replication, seed, options]
                yield Job(
                    source=source,
                    kind="table",
                    part=t,
                    row=r,
                    method=m,
                    protocol=kind,
                    replication=replication,
                    seed=seed,
                    options=options,
                    file=_file(names, f"{kind}-{replication:03d}", facts, method.run),
                )


def _replications(row: Row, method: Method, quick: bool) -> int:
    wanted, most = (row.quick, method.quick_replications) if quick else (row.replications, None)
    limits = [n for n in (most, method.replications) if n is not None]
    return min([wanted, *limits])


def _figure_job(
    source: str, study: str, number: int, figure: Figure, run: Callable[[Task], Any]
) -> Job:
    seed = _seed(study, figure.dataset or "", 0)
    names, options = (study, figure.key), dict(figure.options)
    return Job(
        source=source,
        kind="figure",
        part=number,
        seed=seed,
        options=options,
        file=_file(names, "figure", [*names, seed, options], run),
    )


def _seed(study: str, data: str, replication: int) -> int:
    """Hash a seed from names, so that no order of jobs can change it."""
    digest = hashlib.sha256(f"{study}|{data}|{replication}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1  # NumPy's old generators want 31 bits


def _file(names: tuple[str, ...], end: str, facts: list[Any], run: Callable[..., Any]) -> str:
    everything = json.dumps([facts, code_digest(run), versions()], sort_keys=True)
    digest = hashlib.sha256(everything.encode()).hexdigest()[:12]
    study, *rest = map(_slug, names)
    return f"jobs/{study}/{'-'.join([part for part in rest if part] + [end, digest])}.npz"


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:24]


def _absent(folder: str | None) -> dict[str | None, str]:
    """Return the data sets that are not on this machine, with what to do."""
    table = list_datasets(folder=folder)
    away = table[table["where"].isin(["missing", "OpenML (needs network)"])]
    return {name: f"{name}.npz is not in the data folder" for name in away["name"]}


@dataclass(frozen=True)
class Computed:
    """What a job gave, by column or variant, or the error that ended it."""

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
            method = load_study(job.source).tables[job.part].methods[job.method]
            columns = method.fields(job.protocol)
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

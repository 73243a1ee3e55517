"""Kernel Fisher discriminants against boosting, forests and other peers on real tables.

    export MERCER_TABLES=/path/to/tables MERCER_DATA=/path/to/data
    python benchmarks/study_tables.py run --out results --jobs 2 --threads 1 [--methods fisher,hgb]
    python benchmarks/study_tables.py report --out results [--methods fisher,hgb]

Every result is one small file in ``--out``; what is there is not computed again, so a study that
was broken off goes on.  Everything is tuned on training rows only.
"""

import argparse
import json
import multiprocessing
import os
import threading
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _tables_methods import ALL_METHODS, asked_methods
from _tables_problems import MAX_ROWS, SMALL, Place, all_sizes, draw, load, split
from _tables_report import print_report
from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

# Slow peers: method → (training rows at most, where there are more classes than this).
CAPS = {"svc": (5000, 0), "hgb-tuned": (5000, 2), "catboost": (5000, 10)}

# Rough relative costs, for the order of jobs alone.
COSTS = {"hgb-tuned": 60, "svc": 60, "catboost": 20, "xrfm": 10, "fisher": 10}


class Job(NamedTuple):
    problem: str
    split: int
    method: str

    @property
    def file_name(self):
        return f"{self.problem.replace('/', '+')}.{self.split}.{self.method}.json"


def _run_job(place, job):
    """Return the result of a job; an error is a result too."""
    result: dict[str, Any] = job._asdict()
    warnings.simplefilter("ignore")
    try:
        problem = load(place, job.problem)
        train, test = split(problem, job.split)
        n_classes = int(problem.y.max()) + 1
        used = draw(train, problem.y, _cap(job.method, n_classes), job.split)
        known = problem.X.columns[problem.X.iloc[used].notna().any()]  # Some peers fail on others.
        result |= {"n_train": len(train), "n_train_used": len(used), "n_test": len(test)}
        result |= {"classes": n_classes, "columns": problem.X.shape[1]}
        answer = ALL_METHODS[job.method](
            problem.X.loc[used, known].reset_index(drop=True),
            problem.y[used],
            problem.X.loc[test, known].reset_index(drop=True),
            [name for name in problem.categorical if name in known],
            job.split,
        )
        result |= _score(answer, problem.y[test], n_classes)
    except Exception as error:
        place_of_error = traceback.extract_tb(error.__traceback__)[-1]
        result["error"] = f"{type(error).__name__}: {error} ({place_of_error.name})"
    return result


def _cap(method, n_classes):
    most, beyond_classes = CAPS.get(method, (MAX_ROWS, 0))
    return most if n_classes > beyond_classes else MAX_ROWS


def _score(answer, y, n_classes):
    """Return every score of an answer as a number, NaN where it has none."""
    proba = answer.proba
    if proba.shape != (len(y), n_classes) or not np.isfinite(proba).all():
        raise ValueError(f"The answer has shape {proba.shape} or numbers that are not finite.")
    found = proba.argmax(axis=1) if answer.found is None else answer.found
    scores = {
        "accuracy": accuracy_score(y, found),
        "balanced_accuracy": balanced_accuracy_score(y, found),
        "log_loss": float("nan"),
        "brier": float("nan"),
        "calibration_error": float("nan"),
        "auc": _auc(proba, y, n_classes),
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
    }
    if answer.calibrated:
        clipped = np.clip(proba, 1e-15, 1)
        clipped /= clipped.sum(axis=1, keepdims=True)
        scores["log_loss"] = -np.log(clipped[np.arange(len(y)), y]).mean()
        scores["brier"] = ((proba - np.eye(n_classes)[y]) ** 2).sum(axis=1).mean()
        scores["calibration_error"] = _calibration_error(proba, y)
    return {name: float(score) for name, score in scores.items()}


def _calibration_error(proba, y):
    """Return how far the largest probability is from the share that is right, in 15 bins."""
    sure, right = proba.max(axis=1), proba.argmax(axis=1) == y
    bins = np.minimum((15 * sure).astype(int), 14)
    counts = np.bincount(bins, minlength=15)
    gaps = np.bincount(bins, sure, minlength=15) - np.bincount(bins, right, minlength=15)
    return np.abs(gaps).sum() / counts.sum()


def _auc(proba, y, n_classes):
    """Return the area of each class against the rest, averaged over classes with test rows."""
    if n_classes == 2:
        areas = [roc_auc_score(y, proba[:, 1] - proba[:, 0])] if len(np.unique(y)) == 2 else []
    else:
        areas = [
            roc_auc_score(y == code, proba[:, code])
            for code in range(n_classes)
            if 0 < (y == code).sum() < len(y)
        ]
    return np.mean(areas) if areas else float("nan")


def _write(folder, job, result):
    """Write a result so that the file is there whole or not at all."""
    path = Path(folder, job.file_name)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    temporary.write_text(json.dumps(result), encoding="utf-8")
    temporary.replace(path)


def _work(connection, place):
    """Answer jobs until the other side hangs up: the life of a worker process."""
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            connection.send(_run_job(place, connection.recv()))


class Worker:
    """A process that runs one job after the other and can be killed over one that takes long."""

    def __init__(self, place, timeout):
        self.place, self.timeout = place, timeout
        self.process = None

    def run(self, job):
        if self.process is None:
            self._start()
        self.connection.send(job)
        try:
            if self.connection.poll(self.timeout):
                return self.connection.recv()
            error = f"over {self.timeout:g} s"
        except (EOFError, ConnectionError):
            error = "the process died"
        self.stop()
        return {**job._asdict(), "error": error}

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.place), daemon=True)
        self.process.start()
        theirs.close()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
        self.process = None


def _run(options):
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = str(options.threads)
    os.environ["PYTHONWARNINGS"] = "ignore"
    options.out.mkdir(parents=True, exist_ok=True)
    place = Place(options.tables, options.data)
    jobs = [job for job in _jobs(place, options) if not _is_done(options, job)]
    print(f"{len(jobs)} jobs are left to do.", flush=True)
    pending, lock, started = iter(jobs), threading.Lock(), time.perf_counter()
    counter = iter(range(1, len(jobs) + 1))

    def work():
        worker = Worker(place, options.timeout)
        while True:
            with lock:
                job = next(pending, None)
            if job is None:
                return worker.stop()
            result = worker.run(job)
            _write(options.out, job, result)
            with lock:
                seconds = time.perf_counter() - started
                number = next(counter)
                print(f"{number}/{len(jobs)} {seconds:.0f} s {_line(result)}", flush=True)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _jobs(place, options):
    """Return all jobs that were asked for, those that take longest first."""
    sizes = all_sizes(place)
    wanted = options.problems.split(",") if options.problems else list(sizes)
    unknown = sorted({*wanted} - {*sizes}) + sorted({*asked_methods(options)} - {*ALL_METHODS})
    if unknown:
        raise SystemExit(f"Unknown problems or methods: {', '.join(unknown)}.")
    jobs = [
        Job(name, number, method)
        for name in wanted
        for number in range(_n_splits(options.splits, sizes[name].rows))
        for method in asked_methods(options)
    ]
    return sorted(jobs, key=lambda job: -_cost(job.method, sizes[job.problem]))


def _n_splits(asked, n_rows):
    return asked + 2 if n_rows < SMALL else asked


def _cost(method, size):
    cells = min(size.rows, MAX_ROWS) * size.columns * size.classes
    return COSTS.get(method, 1) * cells


def _is_done(options, job):
    path = Path(options.out, job.file_name)
    if not path.exists():
        return False
    return not (options.retry and "error" in json.loads(path.read_text(encoding="utf-8")))


def _line(result):
    name = f"{result['problem']} {result['split']} {result['method']}"
    if "error" in result:
        return f"{name}: failed, {result['error']}"
    capped = ""
    if result["n_train_used"] < result["n_train"]:
        capped = f", {result['n_train_used']} of {result['n_train']} rows"
    seconds = result["fit_seconds"]
    return f"{name}: {100 * result['accuracy']:.2f} %, fitted in {seconds:.1f} s{capped}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="compute what is not there yet")
    run.add_argument("--data", default=os.environ.get("MERCER_DATA", "../shared/data"))
    run.add_argument("--splits", type=int, default=3, help="of tables under 3 000 rows two more")
    run.add_argument("--problems", help="names between commas, all by default")
    run.add_argument("--jobs", type=int, default=1, help="processes")
    run.add_argument("--threads", type=int, default=1, help="threads of each process")
    run.add_argument("--timeout", type=float, default=600, help="seconds of one job")
    run.add_argument("--retry", action="store_true", help="do again what failed")
    report = commands.add_parser("report", help="print what is there as Markdown")
    report.add_argument("--focus", default="fisher", help="the method that the others meet")
    for command in (run, report):
        where = os.environ.get("MERCER_TABLES", "../shared/tables")
        command.add_argument("--tables", default=where, help="folder of tables.json")
        command.add_argument("--out", type=Path, required=True, help="folder of results")
        command.add_argument("--methods", help="names between commas, all by default")
    options = parser.parse_args()
    {"run": _run, "report": print_report}[options.command](options)


if __name__ == "__main__":
    main()

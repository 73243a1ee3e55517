"""Runs jobs under faults, each in a child that is forked from one process that is warm.

Requests and replies are lines of JSON.  A child costs milliseconds, where a new interpreter would
cost seconds: so every point at which a disk may be full can be tried.
"""

import io
import json
import os
import signal
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

_MOST_SECONDS = 60


def main() -> None:
    """Answer requests until there are no more."""
    from faults import contexts
    from faults.jobs import JOBS

    warm = _Warm(sys.argv[1])
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        warm.run(JOBS[request["job"]])
        pipes = {name: os.pipe() for name in ("out", "err", "points")}  # no limit of files counts
        child = os.fork()
        if child == 0:
            fault = contexts.FAULTS[request["fault"]](**request["options"])
            _run_child(JOBS[request["job"]], fault, request, {n: p[1] for n, p in pipes.items()})
        code = _wait(child)
        said = {name: _read(*pipe) for name, pipe in pipes.items()}
        reply = {**said, "code": code, "points": int(said["points"] or 0)}
        print(json.dumps(reply), flush=True)


def _read(source: int, sink: int) -> str:
    os.close(sink)
    with open(source, errors="replace") as stream:
        return stream.read()


class _Warm:
    """Runs each job once here, so that children find modules imported and functions compiled."""

    def __init__(self, folder: str) -> None:
        import mercer.comparison
        from faults.jobs import write_inputs

        compare = mercer.comparison.compare_in_rounds

        def two_rounds(*args, **options):
            """Compare in this process rather than in others."""
            return compare(*args, **{**options, "n_jobs": None, "max_rounds": 2})

        mercer.comparison.compare_in_rounds = two_rounds
        self._folder, self._known = folder, set()
        write_inputs(Path(folder))

    def run(self, job) -> None:
        from faults.jobs import JOBS, MADE_BY

        if job.name in self._known:
            return
        self._known.add(job.name)
        for name in job.needs:
            self.run(JOBS[MADE_BY[name]])
        os.chdir(self._folder)
        with redirect_stdout(io.StringIO()):
            assert job.run() == 0


def _run_child(job, fault, request, pipes) -> None:
    from faults import contexts

    code = 99
    stdout = request["stdout"]
    os.dup2(os.open(stdout, os.O_WRONLY) if stdout else pipes["out"], 1)
    os.dup2(pipes["err"], 2)
    sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115
    try:
        os.chdir(request["folder"])
        with fault:
            code = job.run()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os.write(pipes["points"], str(contexts.points).encode())
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                code = code or 120  # as Python ends
        os._exit(code)


def _wait(child: int) -> int:
    """Return the exit code, or minus the signal; a child that hangs is ended and reads −999."""
    until = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -999


if __name__ == "__main__":
    main()

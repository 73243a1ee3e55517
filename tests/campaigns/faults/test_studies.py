"""Runs of a study that are killed or interrupted: nobody is left, and the same end is reached."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mercer.studies import run_studies
from sessions import session_of
from studies.toy import content, no_data_folder  # noqa: F401

# Of tests that were started in the background, children would ignore interrupts.
RUN = """
import signal, sys
from mercer.studies import run_studies
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_studies([sys.argv[1]], sys.argv[2], n_jobs=int(sys.argv[3]))
"""


def run_in_process(study, output, workers):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, study, str(output), str(workers)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_again_and_again_it_ends_with_the_same_results(toy, tmp_path, long):
    """SIGINT and SIGKILL in turn, one worker and two, at random moments after the first job.

    Whole commands are killed a hundred times in test_signals.
    """
    study = toy(replications=12, sleep=0.15)
    run_studies([study], tmp_path / "whole", n_jobs=1)
    rng = random.Random(0)  # noqa: S311
    counts = []
    jobs = tmp_path / "stopped" / "jobs"
    for stop in range(12 if long else 4):  # the last by SIGKILL, two workers
        before = len(list(jobs.rglob("*.npz")))
        process = run_in_process(study, tmp_path / "stopped", 1 + stop % 2)
        deadline = time.monotonic() + 60
        while len(list(jobs.rglob("*.npz"))) == before and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.2))
        alive = process.poll() is None
        os.kill(process.pid, (signal.SIGINT, signal.SIGKILL)[stop % 4 >= 2])
        process.wait(timeout=30)
        process.stdout.close()
        counts.append(len(list(jobs.rglob("*.npz"))))
        assert alive == (process.returncode != 0)
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]
    results = run_studies([study], tmp_path / "stopped", n_jobs=1)
    assert results.run["jobs"]["done"] == results.run["jobs"]["of"]
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
def test_workers_end_with_their_parent(toy, tmp_path, how):
    process = run_in_process(toy(replications=200, sleep=0.2), tmp_path / "r", 2)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("r/jobs/*/*.npz")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    members = session_of(process.pid)
    assert len(members) > 2  # the parent and two workers at least
    os.kill(process.pid, how)
    process.wait(timeout=30)
    while session_of(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.stdout.close()


QUIET = """
import signal, sys
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from mercer.studies import run_studies
    print("ready", flush=True)
    try:
        run_studies([sys.argv[1]], sys.argv[2], n_jobs=2)
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3])
def test_ctrl_c_while_workers_start_is_quiet(toy, tmp_path, delay):
    """As a terminal sends it: to the parent and to workers that are still importing."""
    study = toy(replications=200, sleep=0.2)
    process = subprocess.Popen(
        [sys.executable, "-c", QUIET, study, str(tmp_path / "r")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while len(session_of(process.pid)) < 4:  # the parent, multiprocessing's tracker, two workers
        assert time.monotonic() < deadline
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Traceback" not in output

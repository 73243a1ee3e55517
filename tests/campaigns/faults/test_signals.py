"""Runs that are killed at random moments: nothing half written, nobody left, the same end."""

import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from faults.bench import check_files, command, environment, record, wait_until
from faults.jobs import JOBS, read_whole, write_inputs
from sessions import session_of

pytestmark = [
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc"),
    pytest.mark.timeout(1200),
]

COMMANDS = {
    "reproduce": ["reproduce", "study.py", "-o", "reproduced"],
    "compare": ["compare", "table.csv", "-t", "kind", "--models", "dummy,logistic,parzen",
                "--budget", "5m", "-o", "compared"],
}  # fmt: skip
TRIALS = {signal.SIGKILL: 50, signal.SIGINT: 5, signal.SIGTERM: 5}


def start(name, folder, jobs=1):
    return subprocess.Popen(
        command(*COMMANDS[name], "--jobs", str(jobs)),
        env=environment(),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def hears(pid, number):
    """Whether a process has a handler for a signal."""
    mask = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text())[1]
    return bool(int(mask, 16) >> (number - 1) & 1)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a function that gives a command's answer and how long it takes."""
    known = {}

    def run(name):
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            write_inputs(folder, sleep=0.02)
            begun = time.monotonic()
            process = start(name, folder)
            said = process.communicate(timeout=200)[1]
            assert process.returncode == 0, said
            known[name] = JOBS[name].answer(folder), time.monotonic() - begun
        return known[name]

    return run


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("how", TRIALS, ids=lambda how: how.name)
def test_killed_at_random_moments(only_long, undisturbed, tmp_path, name, how):
    """Again and again in one folder, with one process and two; every tenth run may end."""
    expected, seconds = undisturbed(name)
    rng = random.Random(f"{name} {how}")  # noqa: S311
    folder = tmp_path / "run"
    write_inputs(folder, sleep=0.02)
    for trial in range(TRIALS[how]):
        process = start(name, folder, jobs=1 + trial % 2)
        time.sleep(rng.uniform(0.05, 1.0) * seconds)
        if process.poll() is None:
            os.kill(process.pid, how)
        said = process.communicate(timeout=60)[1]
        wait_until(lambda: not session_of(process.pid), 20, f"{name} left processes")  # noqa: B023
        check_ended(how, process.returncode, said)
        check_left(folder)
        if trial % 10 == 9 or trial == TRIALS[how] - 1:
            last = start(name, folder)
            said = last.communicate(timeout=200)[1]
            assert last.returncode == 0, said
            assert JOBS[name].answer(folder) == expected
            check_files(folder)
            shutil.rmtree(folder)
            write_inputs(folder, sleep=0.02)
        record(f"{how.name} during {name}", "right")


def check_ended(how, code, said):
    """Fail unless a run ended by the signal, or before it; politely where it could."""
    if how is signal.SIGKILL:
        assert code in (0, -how), (code, said)
        return
    # A signal while Python itself starts is not ours to answer.
    assert code in (0, 128 + how, -how, 1), (code, said)
    if code == 128 + how:
        assert "Traceback" not in said, said


def check_left(folder):
    """Fail if a file that has its name is not whole; what was not finished is hidden."""
    for path in folder.rglob("*"):
        hidden = any(part.endswith(".partial") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            read_whole(path)


def test_batch_systems_get_what_is_finished(only_long, tmp_path):
    """SIGTERM is answered like Ctrl-C: the rounds that are finished are kept."""
    write_inputs(tmp_path)
    arguments = ["compare", "table.csv", "-t", "kind", "--models", "logistic,boosting",
                 "--jobs", "1", "--budget", "5m"]  # fmt: skip
    process = subprocess.Popen(command(*arguments), env=environment(), cwd=tmp_path, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
    wait_until(lambda: hears(process.pid, signal.SIGTERM), 60, "no handler")
    time.sleep(4)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=120)[1]
    code = process.returncode
    assert code in (0, 143), said
    assert "Traceback" not in said
    record("SIGTERM during compare", "right")


@pytest.mark.parametrize("name", COMMANDS)
def test_two_at_once_in_one_folder(only_long, undisturbed, tmp_path, name):
    expected, _ = undisturbed(name)
    for trial in range(3):
        folder = tmp_path / str(trial)
        write_inputs(folder, sleep=0.02)
        for process in [start(name, folder) for _ in range(2)]:
            said = process.communicate(timeout=200)[1]
            assert process.returncode == 0, said
        assert JOBS[name].answer(folder) == expected
        check_files(folder)
        record("two runs at once in one folder", "right")

"""Places where nothing can be written, users without a home, no network, a strange clock."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from faults.bench import check_clear, command, environment, record
from faults.jobs import JOBS


@pytest.mark.parametrize("fault", ["no_network", "clock_backwards", "no_temporary_folder"])
def test_what_jobs_do_not_need(bench, bounded, fault):
    for name in bounded(["print", *(name for name in JOBS if name != "print")], 1):
        label = fault.replace("_", " ")
        assert bench.try_one(name, fault, label=label)["code"] == 0


def test_data_that_must_be_fetched_without_network(only_long, bench):
    code = (
        "import socket\n"
        "def refuse(*args, **options): raise OSError(101, 'Network is unreachable')\n"
        "socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "from mercer.datasets import load_dataset\n"
        "try:\n    load_dataset('australian')\n"
        "except LookupError as error:\n    print('mercer:', error); raise SystemExit(2)\n"
    )
    place = {"SCIKIT_LEARN_DATA": str(bench.place / "none")}
    done = subprocess.run([sys.executable, "-c", code], env=environment(**place), text=True,
                          capture_output=True, timeout=100, check=False)  # fmt: skip
    check_clear(done.returncode, done.stdout, ("OpenML",))
    record("no network, data wanted", "clear")


def test_a_user_without_home_and_rights(bench, bounded):
    """Nothing but the folder of results can be written, not even the folder above it."""
    for name in bounded(JOBS, 1):
        folder = bench.folder(name, with_old=False)
        with closed(folder.parent):
            done = bench.send(name, "no_rights", folder)
        assert done["code"] == 0, done
        assert JOBS[name].answer(folder) == bench.answer(name)
        record("user without home and rights", "right")


def test_a_folder_that_may_not_be_written(bench, bounded):
    for name in bounded(["fit", "compare", "reproduce"], 1):
        folder = bench.folder(name, with_old=False)
        with closed(folder):
            done = bench.send(name, "no_rights", folder)
        check_clear(done["code"], done["err"], ("an be written", "cannot be written"))
        record("folder that may not be written", "clear")


def test_only_the_folder_of_results_may_be_written(bench):
    """A folder of results that exists is enough: nothing is written beside it."""
    folder = bench.folder("compare", with_old=True)
    with closed(folder):
        done = bench.send("compare", "no_rights", folder)
    assert done["code"] == 0, done
    assert JOBS["compare"].answer(folder) == bench.answer("compare")
    record("user without home and rights", "right")


@contextmanager
def closed(folder):
    """Let nobody write to a folder."""
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def test_a_closed_standard_output():
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *command("--version")],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    record("standard output closed", "right")

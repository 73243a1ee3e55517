"""One real cluster, of processes that the tests' process has nothing to do with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lazy import MEMORY_LIMIT


@pytest.fixture(scope="session")
def scheduler():
    """The address of a scheduler with two workers."""
    pytest.importorskip("distributed")
    here = Path(__file__).parent
    paths = [str(here.parents[1]), os.environ.get("PYTHONPATH", "")]  # for tests/lazy.py
    command = [sys.executable, str(here / "serve.py"), str(MEMORY_LIMIT)]
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture
def client(scheduler):
    from distributed import Client

    with Client(scheduler, timeout=20) as one:
        yield one

"""Fixtures of the faults, and the table of what came of them."""

import os
from collections import Counter

import pytest

from faults.bench import LEDGER, Bench
from studies.toy import toy  # noqa: F401

if os.name != "posix":
    collect_ignore_glob = ["*"]


def pytest_terminal_summary(terminalreporter, config) -> None:
    if not config.getoption("--long") or not LEDGER:
        return
    say = terminalreporter.write_line
    say("")
    say("| fault | tried | right answer | clear error |")
    say("|---|---:|---:|---:|")
    for fault, counts in LEDGER.items():
        say(f"| {fault} | {counts.total()} | {counts['right']} | {counts['clear']} |")
    total = sum(LEDGER.values(), Counter())
    say(f"| all | {total.total()} | {total['right']} | {total['clear']} |")


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    one = Bench(tmp_path_factory.mktemp("bench"))
    yield one
    one.close()


@pytest.fixture(scope="session")
def only_long(long):
    """Skip what takes long; what is quick of it is named here."""
    if not long:
        pytest.skip("runs for long (test_studies, test_comparison and tests/sums have quick ones)")


@pytest.fixture
def share(request, long):
    """Skip, unless all are wanted, the jobs that are not named."""
    return lambda *names: (
        long
        or request.getfixturevalue("name") in names
        or pytest.skip("a share of the jobs meets faults here, all of them with --long")
    )


@pytest.fixture(scope="session")
def bounded(long):
    """Return a function that takes all of some cases in the long mode, else a few of them."""

    def take(cases, n):
        cases = list(cases)
        if long or len(cases) <= n:
            return cases
        return [cases[round(i * (len(cases) - 1) / max(1, n - 1))] for i in range(n)]

    return take

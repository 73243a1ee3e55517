"""`--long` tries all cases: its tests have another limit of time than those of the suite."""

import subprocess
import sys


def test_a_test_of_all_cases_has_an_hour(pytestconfig):
    """Two tests of `make security` were cut off after the suite's five minutes."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--long", __file__]
    done = subprocess.run(
        command, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True
    )
    assert "timeout: 3600.0s" in done.stdout

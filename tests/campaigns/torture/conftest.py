"""The tally of the laws, printed in the end."""

import sys


def pytest_terminal_summary(terminalreporter, config) -> None:
    cases = sys.modules.get("torture.cases")
    if cases is None or not cases.TALLY or not config.getoption("--long"):
        return
    terminalreporter.section("numerical torture")
    terminalreporter.write_line(f"MERCER_TORTURE_SEED={cases.SEED}")
    terminalreporter.write_line(cases.table())
    terminalreporter.write_line(cases.summary())

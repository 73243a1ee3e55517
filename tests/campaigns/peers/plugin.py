"""A pytest plugin that runs other people's tests on Mercer.

Each suite of `suites.py` is one run of pytest.  Before any of its test modules is imported, names
of the peer are replaced by Mercer's; the tests themselves are not changed.  `deviations.toml` says
which tests apply (all, or those named), which do not, and which are known to fail (strict: one that
passes fails the run), with their reasons.  A line that matches no test fails the run too.
"""

import json
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from suites import SUITES

_FOLDER = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite", choices=sorted(SUITES), help="whose tests these are")
    parser.addoption("--tally", type=Path, help="a JSON file for the numbers of tests")


def pytest_configure(config: pytest.Config) -> None:
    suite = SUITES[config.getoption("--suite")]
    for name, ours in suite.replaced.items():
        _replace(name, _load(ours))
    for function in suite.before:
        _load(function)()
    config.pluginmanager.register(_Tally(config), "tally")


def _load(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _replace(name: str, ours: Any) -> None:
    """Put ours in the place of `package.module:name`, which must exist."""
    module, _, attribute = name.partition(":")
    owner = import_module(module)
    getattr(owner, attribute)
    setattr(owner, attribute, ours)


class _Tally:
    """Leaves tests out, expects failures, and counts what became of the others."""

    def __init__(self, config: pytest.Config) -> None:
        suite = config.getoption("--suite")
        table = tomllib.loads((_FOLDER / "deviations.toml").read_text()).get(suite, {})
        self.applies = _Patterns(dict.fromkeys(table.get("applies", ["*"]), ""))
        self.left_out = _Patterns(table.get("does_not_apply", {}))
        self.deviations = _Patterns(table.get("deviates", {}))
        self.path = config.getoption("--tally")
        self.counts: Counter[str] = Counter()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[Any]) -> None:
        kept, left_out = [], []
        for item in items:
            applies = self.applies.match(item) is not None and self.left_out.match(item) is None
            (kept if applies else left_out).append(item)
        for item in kept:
            if (reason := self.deviations.match(item)) is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)
        self.counts["left out"] = len(left_out)
        tables = (self.applies, self.left_out, self.deviations)
        unused = [pattern for table in tables for pattern in table.unused()]
        if unused and not config.option.keyword:
            raise pytest.UsageError(f"deviations.toml: no test is called {', '.join(unused)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "context"):
            return  # a subtest, which its test answers for
        if hasattr(report, "wasxfail"):
            # scikit-learn marks expected failures of its own; ours are those of the table.
            self.counts["deviations" if report.skipped else "failed"] += 1
        elif report.failed:
            self.counts["failed"] += 1
        elif report.skipped:
            self.counts["skipped"] += 1
        elif report.when == "call":
            self.counts["passed"] += 1

    def pytest_sessionfinish(self) -> None:
        if self.path:
            self.path.write_text(json.dumps(self.counts))


class _Patterns:
    """Test names with `*` for anything, and their reasons."""

    def __init__(self, reasons: dict[str, str]) -> None:
        self._reasons = {
            re.compile(re.escape(pattern).replace(r"\*", ".*"), re.DOTALL): (pattern, reason)
            for pattern, reason in reasons.items()
        }
        self._used: set[str] = set()

    def match(self, item: pytest.Item) -> str | None:
        """Return the reason of the last pattern that fits; None where none does."""
        name = f"{item.path.name}::{item.nodeid.partition('::')[2]}"
        found = None
        for compiled, (pattern, reason) in self._reasons.items():
            if compiled.fullmatch(name):
                self._used.add(pattern)
                found = reason
        return found

    def unused(self) -> list[str]:
        return [pattern for pattern, _ in self._reasons.values() if pattern not in self._used]

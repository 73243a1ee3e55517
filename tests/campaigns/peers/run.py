"""Run the peers' tests: `make peers`, or `make peers ARGS="lda kde"` for some of them.

Environments `.venv-peers` and `.venv-clients` are made in the root of the repository when they are
missing or when their list of versions has changed.  The exit status is 1 if anything failed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from suites import SUITES, Suite

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]
_COLUMNS = ("checks", "passed", "deviations", "failed", "skipped", "left out")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", help=f"some of {', '.join(SUITES)}; all by default")
    chosen = parser.parse_args().suites or list(SUITES)
    if unknown := set(chosen) - set(SUITES):
        parser.error(f"there is no suite called {', '.join(sorted(unknown))}")
    pythons = {
        environment: _environment(environment)
        for environment in dict.fromkeys(SUITES[name].environment for name in chosen)
    }
    rows, started = [], time.monotonic()
    for name in chosen:
        suite = SUITES[name]
        print(f"\n=== {name}: {suite.title}", flush=True)
        rows.append((suite.title, *_run(name, suite, pythons[suite.environment])))
    print("\n" + _table(rows))
    print(f"\n{(time.monotonic() - started) / 60:.1f} minutes")
    return int(any(counts["failed"] or not ended for _, counts, _, ended in rows))


def _environment(name: str) -> Path:
    """Return the Python of an environment with its packages and this Mercer."""
    folder, wanted = _ROOT / f".venv-{name}", _HERE / f"requirements-{name}.txt"
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    if not installed.exists() or installed.read_text() != wanted.read_text():
        print(f"installing {folder.name}: minutes, the first time", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "-e", _ROOT, "-r", wanted]
        subprocess.run(install, check=True)
        installed.write_text(wanted.read_text())
    return python


def _run(name: str, suite: Suite, python: Path) -> tuple[dict[str, int], float, bool]:
    """Return the numbers of tests, the seconds, and whether pytest came to its end."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally = Path(folder) / "tally.json"
        command = [python, "-m", "pytest", "-c", "pytest.ini", "--confcutdir=.", "-q", "--tb=short"]
        command += ["-W", "ignore", "--suite", name, "--tally", tally, "--pyargs", *suite.tests]
        variables = os.environ | {
            "MLFLOW_TRACKING_URI": f"sqlite:///{folder}/mlflow.db",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_HERE)]),
        }
        done = subprocess.run(command, cwd=_HERE, env=variables, check=False)
        found = json.loads(tally.read_text()) if tally.exists() else {}
    counts = {column: found.get(column, 0) for column in _COLUMNS}
    counts["checks"] = counts["passed"] + counts["deviations"] + counts["failed"]
    return counts, time.monotonic() - started, done.returncode in (0, 1)


def _table(rows: list[tuple[str, dict[str, int], float, bool]]) -> str:
    """Write the table of docs/reliability.md."""
    lines = [f"| suite | {' | '.join(_COLUMNS)} | seconds |", "|---" * (len(_COLUMNS) + 2) + "|"]
    for title, counts, seconds, ended in rows:
        cells = [str(counts[column]) for column in _COLUMNS] if ended else ["did not run"]
        lines.append(f"| {title} | {' | '.join(cells)} | {seconds:.0f} |")
    sums = [str(sum(counts[column] for _, counts, _, _ in rows)) for column in _COLUMNS]
    total = sum(seconds for _, _, seconds, _ in rows)
    return "\n".join([*lines, f"| all | {' | '.join(sums)} | {total:.0f} |"])


if __name__ == "__main__":
    raise SystemExit(main())

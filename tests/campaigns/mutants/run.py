"""Break the maths on purpose, one mistake at a time, and see whether the tests notice.

    make mutants                                 all
    make mutants ARGS="--list"                   what there is
    make mutants ARGS="--only bandwidth/ cli/"   some: names, or beginnings of names
    make mutants ARGS="--jobs 4"                 so many at a time

The working tree is never edited: mistakes are made in a copy of it in a temporary folder.  A mutant
is killed when one of its package's tests fails and that same test passes on a copy without
mistakes; a run that does not get as far as a test is no kill.  Exits with 1 below 95 % killed.
"""

import argparse
import gc
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

from mutants.table import ROOT, Mutant, load_mutants

_ENOUGH = 0.95
_SECONDS = 300  # a mutant that takes longer has made something endless, or very slow
_COPIED = ("src", "tests", "docs", "examples", "benchmarks", "pyproject.toml", "README.md")
_PYTEST = ("-q", "-p", "no:cacheprovider", "--tb=no", "--timeout=60",  # no test takes half of that
           "-m", "not gpu and not browser and not data",
           "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")  # fmt: skip
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.*?)(?: - .*)?$", re.MULTILINE)
# What takes seconds to import and is not ours: a server does so once, and forks.
_PRELOADED = (
    "hypothesis", "numba", "pandas", "pytest", "scipy.stats", "sklearn.svm", "torch"
)  # fmt: skip
_FORKS = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: killed, survived, slow, broken or void; by which test."""

    mutant: Mutant
    outcome: str
    test: str
    seconds: float


class Copy:
    """A copy of the repository in which one mistake at a time is made."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in _COPIED:
            if (ROOT / name).is_dir():  # with times: loops compiled for the tree serve here as well
                shutil.copytree(ROOT / name, place / name)
            else:
                shutil.copy2(ROOT / name, place / name)

    def judge(self, mutant: Mutant) -> Verdict:
        """Make the mistake, run the tests, and take it back."""
        file = self.place / mutant.file
        before, times = file.read_text(encoding="utf-8"), file.stat()
        start = time.perf_counter()
        try:
            file.write_text(mutant.applied(before), encoding="utf-8")
            for tests in filter(None, (mutant.tests[:1], mutant.tests[1:])):
                code, said = self.run_tests(tests, "-x")
                if code != 0:
                    break
        finally:
            file.write_text(before, encoding="utf-8")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        seconds = time.perf_counter() - start
        failed = _FAILED.findall(said)
        if code == 1 and failed:
            return Verdict(mutant, "killed", failed[0], seconds)
        outcome = {0: "survived", None: "slow"}.get(code, "broken")
        return Verdict(mutant, outcome, said.strip()[-300:] if outcome == "broken" else "", seconds)

    def run_tests(self, tests: Iterable[str], *options: str) -> tuple[int | None, str]:
        """Return pytest's exit code, None if it takes too long, and what it said."""
        said = self.place / "said.txt"
        process = _FORKS.Process(target=_run, args=(self.place, said, [*options, *tests]))
        process.start()
        process.join(_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            return None, ""
        return process.exitcode, said.read_text(encoding="utf-8", errors="replace")


def _run(place: Path, said: Path, arguments: list[str]) -> None:
    """Run pytest in the folder; everything that it prints goes to a file.

    No byte code is written, so that none is left of a mistake.  Compiled loops are kept: their
    names carry a digest of their sources, and a mistake has names of its own.
    """
    ours = [ROOT, ROOT / "src", ROOT / "tests", ROOT / "tests" / "campaigns"]
    sys.path[:] = [str(place / "src"), *(path for path in sys.path if Path(path) not in ours)]
    sys.dont_write_bytecode = True
    os.chdir(place)
    os.environ["PYTHONPATH"] = str(place / "src")
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    gc.freeze()  # what was imported before need not be looked through again and again
    import pytest

    sys.exit(pytest.main([*_PYTEST, *arguments]))


def judge_all(mutants: Sequence[Mutant], n_jobs: int) -> list[Verdict]:
    """Judge the mutants, each copy one after the other, and say what becomes of each."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for k in range(n_jobs):
            copies.put(Copy(Path(folder, str(k))))

        def judge(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                verdict = copy.judge(mutant)
            finally:
                copies.put(copy)
            print(f"{verdict.outcome:9}{verdict.seconds:6.1f} s  {mutant.name}", flush=True)
            if verdict.test:
                print(f"{'':18}{verdict.test}", flush=True)
            return verdict

        with ThreadPoolExecutor(n_jobs) as pool:
            verdicts = list(pool.map(judge, mutants))
        return _without_void(verdicts, copies.get())


def _without_void(verdicts: list[Verdict], clean: Copy) -> list[Verdict]:
    """Take back kills by tests that fail on the tree without mistakes, too."""
    killers = sorted({verdict.test for verdict in verdicts if verdict.outcome == "killed"})
    code, said = clean.run_tests(killers) if killers else (0, "")
    if code not in (0, 1):
        raise RuntimeError(f"the tests that noticed could not be run without mistakes:\n{said}")
    guilty = set(_FAILED.findall(said))
    print(f"\n{len(killers)} tests noticed; {len(guilty)} of them fail without a mistake, too.")
    return [
        replace(verdict, outcome="void") if verdict.test in guilty else verdict
        for verdict in verdicts
    ]


def report(verdicts: Sequence[Verdict], seconds: float) -> bool:
    """Print the figures by package; tell whether enough were killed."""
    print("\n| package | mutants | killed | not killed |\n|---|---|---|---|")
    by_package = sorted(verdicts, key=lambda verdict: verdict.mutant.package)
    for package, group in groupby(by_package, key=lambda verdict: verdict.mutant.package):
        print(_line(package, list(group)))
    print(_line("all", verdicts))
    killed = sum(verdict.outcome == "killed" for verdict in verdicts)
    print(
        f"\n{killed} of {len(verdicts)} killed, {killed / len(verdicts):.1%}, in {seconds:.0f} s."
    )
    return killed >= _ENOUGH * len(verdicts)


def _line(package: str, verdicts: Sequence[Verdict]) -> str:
    alive = [verdict for verdict in verdicts if verdict.outcome != "killed"]
    names = ", ".join(f"{one.mutant.name} ({one.outcome})" for one in alive)
    return f"| {package} | {len(verdicts)} | {len(verdicts) - len(alive)} | {names or '–'} |"


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names, or how they begin")
    parser.add_argument("--list", action="store_true", help="print the table and run nothing")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    options = parser.parse_args()
    chosen = [
        mutant
        for mutant in load_mutants()
        if not options.only or mutant.name.startswith(tuple(options.only))
    ]
    if not chosen:
        parser.error(f"no mutant is called {' or '.join(options.only)}; see --list")
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name}: {mutant.why} ({mutant.file})")
        return 0
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    _FORKS.set_forkserver_preload(list(_PRELOADED))
    start = time.perf_counter()
    verdicts = judge_all(chosen, options.jobs)
    return 0 if report(verdicts, time.perf_counter() - start) else 1


if __name__ == "__main__":
    sys.exit(main())

"""A bench on which jobs meet faults, and the ledger of what came of it."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from faults.jobs import JOBS, MADE_BY, read_whole, write_inputs

_CAMPAIGNS = Path(__file__).parents[1]
LEDGER: dict[str, Counter] = {}


def record(fault: str, outcome: str) -> None:
    """Count a trial: it ended with the right answer ("right") or a clear error ("clear")."""
    LEDGER.setdefault(fault, Counter())[outcome] += 1


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a process that finds Mercer and these files."""
    import mercer

    source = Path(mercer.__file__).parents[1]
    paths = [str(_CAMPAIGNS), str(source), os.environ.get("PYTHONPATH")]
    kept = {k: v for k, v in os.environ.items() if k not in ("MERCER_DATA", "PYTHONWARNINGS")}
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return {**kept, **one, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def command(*arguments: str) -> list[str]:
    """Return a command line of Mercer."""
    code = "import sys; from mercer.cli import main; sys.exit(main())"
    return [sys.executable, "-c", code, *arguments]


def check_clear(code: int, said: str, words: tuple[str, ...] = ()) -> None:
    """Fail unless a command ended with one sentence, which has one of the words."""
    lines = [line for line in said.splitlines() if not line.startswith(("note: ", "check: "))]
    assert code == 2, (code, said)
    assert len(lines) == 1, said
    assert lines[0].startswith("mercer: "), said
    assert "Traceback" not in said
    assert not words or any(word in said for word in words), said


def check_files(folder: Path) -> None:
    """Fail if any file below is not whole, or is left over."""
    for path in folder.rglob("*"):
        assert not path.name.endswith(".partial"), path
        if path.is_file():
            read_whole(path)


class Bench:
    """Folders of inputs and of older results, a warm process, and the answers without faults."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "warm").mkdir()
        self._server = subprocess.Popen(
            [sys.executable, str(_CAMPAIGNS / "faults" / "server.py"), str(place / "warm")],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert json.loads(self._server.stdout.readline()) == "ready"
        self._number = 0
        self._answers: dict[tuple[str, str], object] = {}
        write_inputs(place / "old", seed=1, replications=2)
        write_inputs(place / "new")

    def answer(self, job: str, age: str = "new") -> object:
        """Return the answer of a job that nothing disturbs, from "old" inputs or "new" ones."""
        if (job, age) not in self._answers:
            for name in JOBS[job].needs:
                self.answer(MADE_BY[name], age)
            folder = self.place / age
            done = self.send(job, "nothing", folder)
            assert done["code"] == 0, done
            self._answers[job, age] = JOBS[job].answer(folder)
        return self._answers[job, age]

    def close(self) -> None:
        self._server.stdin.close()
        self._server.wait(timeout=20)
        self._server.stdout.close()

    def send(self, job: str, fault: str, folder: Path, stdout: str = "", **options) -> dict:
        """Run a job under a fault in a folder."""
        request = {"job": job, "fault": fault, "options": options, "folder": str(folder),
                   "stdout": stdout}  # fmt: skip
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())

    def folder(self, job: str, *, with_old: bool) -> Path:
        """Return a new folder with what a job needs, and older results of it if asked for."""
        self._number += 1
        self.answer(job)
        folder = self.place / f"{job}-{self._number}"
        write_inputs(folder)
        for name in JOBS[job].needs:
            self._copy(self.place / "new" / name, folder)
        if with_old:
            self.answer(job, "old")
            for path in (self.place / "old").glob(JOBS[job].output):
                self._copy(path, folder)
        return folder

    @staticmethod
    def _copy(path: Path, folder: Path) -> None:
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)

    def try_one(self, job: str, fault: str, *, with_old=False, label="", words=None, **options):
        """Let a job meet a fault; it must end well or with a clear error, and go well after it."""
        one = JOBS[job]
        folder = self.folder(job, with_old=with_old)
        done = self.send(job, fault, folder, **options)
        is_kept = "the older files are in" in done["err"]  # no way back: a disk that refuses all
        if is_kept:
            (kept,) = folder.glob("*/.results.*.partial/old")
            assert str(kept) in done["err"]
            assert any(kept.iterdir())
        else:
            check_files(folder)
        lacks = self._left_out(job, done["err"], words)
        if done["code"] == 0:
            assert "Traceback" not in done["err"], done
            found, expected = one.answer(folder), self.answer(job)
            if lacks:
                expected = {**expected, **{key: [] for key in lacks}}
            assert found == expected, (job, fault, options)
        else:
            check_clear(done["code"], done["err"], one.words if words is None else words)
            if not is_kept:
                self._check_old(one, folder, with_old)
            again = self.send(job, "nothing", folder)
            assert again["code"] == 0, again
            assert one.answer(folder) == self.answer(job), (job, fault, options)
            check_files(folder)
        record(label or fault, "right" if done["code"] == 0 and not lacks else "clear")
        shutil.rmtree(folder)
        return done

    @staticmethod
    def _left_out(job: str, said: str, words: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return what a job may leave out if a note says so, with one of the words.

        A new process draws the map of ``compare``.  It loads by itself what the warm process has.
        """
        notes = [line for line in said.splitlines() if line.startswith("note: The map is left out")]
        if job != "compare" or not notes or words is None:
            return ()
        assert any(word in notes[0] for word in words), said
        return ("map",)

    def _check_old(self, job, folder: Path, with_old: bool) -> None:
        """Fail unless results are the old or the new ones, or say themselves that they are none."""
        try:
            answer = job.answer(folder)
        except FileNotFoundError:
            assert not with_old, f"{job.name} lost its older results"
            return
        ages = [self.answer(job.name, age) for age in (("old", "new") if with_old else ("new",))]
        if job.name == "compare":  # the map is added last, to results that are whole without it
            ages.append({**self.answer(job.name), "map": []})
        if job.separate:
            for one, choice in zip(answer, zip(*ages, strict=True), strict=True):
                assert one in choice, job.name
        else:
            assert answer in ages, job.name


def wait_until(condition, seconds: float, what: str) -> None:
    """Wait for a condition, and fail after some seconds."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.02)

"""The means by which files are whole: unfinished ones beside them, locks, and ways back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from faults.bench import environment
from mercer._system import files
from mercer._system.files import moved_in_whole, one_at_a_time, sweep, written_whole

LEAVE = """
import os, sys
from pathlib import Path
from mercer._system.files import moved_in_whole, written_whole
with written_whole(Path("a.csv")) as beside, moved_in_whole(Path("r"), "last") as place:
    beside.write_text("half")
    (place / "last").write_text("half")
    os.kill(os.getpid(), 9)
"""


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_what_a_killed_process_left_is_swept_and_what_is_in_use_is_not(tmp_path):
    killed = subprocess.run(
        [sys.executable, "-c", LEAVE], env=environment(), cwd=tmp_path, timeout=60, check=False
    )
    assert killed.returncode == -9
    left = names(tmp_path)
    assert [name for name in left if name.startswith(".a.csv.")]
    assert [name for name in left if name.endswith("new/last")]
    (tmp_path / ".mine.partial").write_text("not ours")
    with written_whole(tmp_path / "b.csv") as beside:
        sweep(tmp_path, "a.csv")
        assert [n for n in names(tmp_path) if n.startswith(".a.csv")] == []
        sweep(tmp_path)
        beside.write_text("whole")
    assert names(tmp_path) == [".mine.partial", "b.csv", "r"]


def test_no_two_processes_write_to_one_place(tmp_path):
    """Containers number their processes alike: no number of a process tells them apart."""
    with written_whole(tmp_path / "a.csv") as one, written_whole(tmp_path / "a.csv") as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert (tmp_path / "a.csv").read_text() == "one"


@pytest.mark.parametrize("broken", range(1, 8))
def test_a_folder_is_exchanged_as_one(tmp_path, monkeypatch, broken):
    """At whichever move it fails, what was there before is there again."""
    for name in ("last", "one", "two", "page", "mine"):
        (tmp_path / name).write_text("old")
    replace, calls = os.replace, []

    def fail(source, target):
        calls.append(target)
        if len(calls) == broken:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", fail)

    def exchange():
        with moved_in_whole(tmp_path, "last", outdated=["page"]) as place:
            for name in ("last", "one", "two"):
                (place / name).write_text("new")

    with pytest.raises(OSError, match="No space"):
        exchange()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("last", "one", "two", "page", "mine"), "old"
    )


def test_the_mark_of_completeness_goes_first_and_comes_last(tmp_path, monkeypatch):
    replace, moves = os.replace, []
    monkeypatch.setattr(files.os, "replace", lambda a, b: (moves.append(b), replace(a, b)))
    for content in ("old", "new"):
        moves.clear()
        with moved_in_whole(tmp_path, "last") as place:
            for name in ("last", "one", "z"):
                (place / name).write_text(content)
    assert [path.name for path in moves] == ["last", "z", "one", "one", "z", "last"]


def test_one_at_a_time(tmp_path):
    code = (
        "import sys; from pathlib import Path; from mercer._system.files import one_at_a_time\n"
        "print('waits', flush=True)\n"
        "with one_at_a_time(Path(sys.argv[1])): print('in', flush=True)"
    )
    with one_at_a_time(tmp_path):
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], text=True,
                                   env=environment(), stdout=subprocess.PIPE)  # fmt: skip
        assert process.stdout.readline() == "waits\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.3)
    assert process.communicate(timeout=30)[0] == "in\n"


def test_where_there_is_no_way_back_the_older_files_are_named(tmp_path, monkeypatch):
    (tmp_path / "last").write_text("old")
    (tmp_path / "one").write_text("old")
    replace, calls = os.replace, []

    def fail_from_the_second(source, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        replace(source, target)

    def exchange():
        with moved_in_whole(tmp_path, "last") as place:
            for name in ("last", "one"):
                (place / name).write_text("new")

    monkeypatch.setattr(files.os, "replace", fail_from_the_second)
    with pytest.raises(OSError, match="No space left on device; the older files are in ") as error:
        exchange()
    old = Path(str(error.value).rpartition(" in ")[2])
    assert [path.name for path in old.iterdir()] == ["last"]
    assert (tmp_path / "one").read_text() == "old"

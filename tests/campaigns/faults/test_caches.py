"""Caches of outcomes and machine code: damaged, from elsewhere, or not to be written."""

import io
import os
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mercer
from faults.bench import check_files, environment, record
from faults.jobs import JOBS
from mercer.report import write_report
from mercer.studies._store import read_outcome

pytestmark = pytest.mark.timeout(1200)

DAMAGES = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "garbage": lambda content: random.Random(0).randbytes(len(content)),  # noqa: S311
    "zeros": lambda content: bytes(len(content)),
    "longer": lambda content: content + b"more",
    "other kind": lambda content: b'{"seconds": 1}',
    "an array": lambda content: _saved(np.save, np.arange(3)),
    "a list for a note": lambda content: _saved(np.savez, note=np.frombuffer(b"[1]", np.uint8)),
    "no seconds": lambda content: _saved(np.savez, note=np.frombuffer(b"{}", np.uint8)),
    "encrypted": lambda content: _flagged(content),
}


def _saved(save, *args, **arrays):
    stream = io.BytesIO()
    save(stream, *args, **arrays)
    return stream.getvalue()


def _flagged(content):
    """Set the bit of the first member that says: encrypted."""
    changed = bytearray(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        start = archive.start_dir
    changed[start + 8] |= 1
    return bytes(changed)


def test_outcomes_that_are_damaged_are_computed_again(bench, bounded):
    for kind in bounded(DAMAGES, 2):
        folder = bench.folder("reproduce", with_old=False)
        shutil.copytree(bench.place / "new" / "reproduced", folder / "reproduced")
        for path in (folder / "reproduced" / "jobs").rglob("*.npz"):
            path.write_bytes(DAMAGES[kind](path.read_bytes()))
        done = bench.send("reproduce", "nothing", folder)
        assert done["code"] == 0, (kind, done)
        assert JOBS["reproduce"].answer(folder) == bench.answer("reproduce")
        check_files(folder)
        record("damaged outcomes of reproduce", "right")


def test_an_outcome_with_any_byte_changed_is_whole_or_nothing(bench, bounded):
    """Every byte in the long mode: none brings down the reader, or changes a value."""
    path = next(bench.place.glob("new/reproduced/jobs/*/*narrow*.npz"))
    content, sound = path.read_bytes(), read_outcome(path)
    place = bench.place / "changed.npz"
    for i in bounded(range(len(content)), 150):
        changed = bytearray(content)
        changed[i] ^= 0x55
        place.write_bytes(changed)
        found = read_outcome(place)
        if found is not None:
            assert found.seconds == sound.seconds
            assert found.values.keys() == sound.values.keys()
            assert all(np.array_equal(found.values[c], sound.values[c]) for c in sound.values)
        record("outcome with one byte changed", "right")


@pytest.mark.parametrize("name", ["comparison.json", "scores.csv", "curves.json", "map.csv",
                                  "run.json", "studies.json", "cells.csv"])  # fmt: skip
def test_pages_of_damaged_results_are_refused_in_a_sentence(only_long, bench, name):
    for kind in ["half", "empty", "garbage", "zeros", "other kind"]:
        folder = bench.folder("report", with_old=True)
        path = next(folder.glob(f"*ed/{name}"))
        path.write_bytes(DAMAGES[kind](path.read_bytes()))
        done = bench.send("report", "nothing", folder)
        assert "Traceback" not in done["err"], (kind, done)
        assert done["code"] in (0, 2)
        assert done["code"] == 0 or path.parent.name in done["err"], (kind, done)
        JOBS["report"].answer(folder)  # the pages that were there, whole
        record("damaged results folder", "clear" if done["code"] else "right")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\xcd\xff", "run.json is not UTF-8 text"), (b'{"seconds": 1}', "run.json has no 'mercer'")],
)
def test_a_damaged_file_of_results_is_named(tmp_path, content, words):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match=words):
        write_report(tmp_path)


SUM = """
import numpy as np
from mercer.sums import kernel_sum
X = np.random.default_rng(0).normal(size=(50, 3))
print(kernel_sum(X, X, bandwidth=0.5).sum())
"""


def _sum(**more):
    done = subprocess.run([sys.executable, "-c", SUM], env=environment(**more), text=True,
                          capture_output=True, timeout=200, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return float(done.stdout)


@pytest.fixture(scope="module")
def machine_code(tmp_path_factory):
    """A folder of compiled code that is in order, and the answer."""
    folder = tmp_path_factory.mktemp("code")
    return folder, _sum(NUMBA_CACHE_DIR=str(folder))


def _flip(content):
    """Change one bit in the middle, as a disk may do."""
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("kind", ["empty", "half", "garbage", "zeros", "one bit"])
def test_damaged_machine_code_is_compiled_again(only_long, machine_code, tmp_path, kind):
    folder, expected = machine_code
    damage = {**DAMAGES, "one bit": _flip}[kind]
    shutil.copytree(folder, tmp_path / "code")
    files = list((tmp_path / "code").rglob("*.nbc"))
    assert files
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    assert _sum(NUMBA_CACHE_DIR=str(tmp_path / "code")) == expected
    record("damaged machine code", "right")


def test_machine_code_of_another_cpu_is_not_used(only_long, machine_code, tmp_path):
    """A shared home: code of a plain CPU lies in the same folder, even under the name of ours."""
    folder, expected = machine_code
    shutil.copytree(folder, tmp_path / "code")
    names = {path.name for path in (tmp_path / "code").rglob("*.nbc")}
    plain = {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""}
    other = _sum(NUMBA_CACHE_DIR=str(tmp_path / "code"), **plain)
    assert other == pytest.approx(expected, rel=1e-12)
    new = [path for path in (tmp_path / "code").rglob("*.nbc") if path.name not in names]
    assert len(new) == len(names)
    assert _sum(NUMBA_CACHE_DIR=str(tmp_path / "code")) == expected
    for path in new:  # forged: the other's code under our names
        base = path.name.rsplit(".", 2)[0]
        for name in names:
            if name.startswith(base):
                path.with_name(name).write_bytes(path.read_bytes())
    assert _sum(NUMBA_CACHE_DIR=str(tmp_path / "code")) == expected
    record("machine code of another CPU", "right")
    record("machine code of another CPU", "right")


def test_no_place_for_machine_code(only_long, machine_code, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    below = str(tmp_path / "file" / "cache")
    assert _sum(NUMBA_CACHE_DIR=below, HOME=below) == machine_code[1]
    record("no place for machine code", "right")
    assert os.listdir(tmp_path) == ["file"]


def test_an_install_that_is_read_only(only_long, machine_code, tmp_path):
    """Machine code then goes to the user's cache folder."""
    package = Path(mercer.__file__).parent
    shell = (
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" || exit 77; '
        'touch "$0/new" 2>/dev/null && exit 78; exec "$@"'
    )
    cut = ["unshare", "-rm", "sh", "-c", shell, str(package), sys.executable, "-c", SUM]
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    home = environment(HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path))
    home.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(cut, env=home, text=True, capture_output=True, timeout=200, check=False)
    if done.returncode in (1, 77):
        pytest.skip("this user may not mount")
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) == machine_code[1]
    assert list(tmp_path.rglob("*.nbc"))
    record("read-only install", "right")


SUMS = """
import sys
import numpy as np
from mercer.sums import kernel_sum, log_kernel_sum
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(300, 5)), rng.normal(size=(400, 5))
groups = np.arange(400) % 3
found = [f(X, Y, kernel=kernel, bandwidth=[1.0, 0.6], groups=groups)
         for f in (kernel_sum, log_kernel_sum) for kernel in ("gaussian", "cauchy")]
np.save(sys.argv[1], np.stack(found))
"""


def test_who_compiles_has_the_bits_of_who_loads(tmp_path):
    place = environment(NUMBA_CACHE_DIR=str(tmp_path / "code"))
    results = []
    for name in ("compiled.npy", "loaded.npy"):
        command = [sys.executable, "-c", SUMS, str(tmp_path / name)]
        subprocess.run(command, env=place, check=True)
        results.append(np.load(tmp_path / name))
    assert any((tmp_path / "code").rglob("*.nbc"))
    np.testing.assert_array_equal(*results)

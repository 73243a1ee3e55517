"""The cache of machine code: never stale, never needed."""

import os
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen as CPUCodegen

from mercer import sums
from mercer.sums.cpu import _compile, _exp2, _loops

FOLDER = Path(sums.__file__).parent / "cpu"
COMPILED = [
    value
    for module in (_exp2, _loops)
    for value in vars(module).values()
    if hasattr(value, "py_func")
]


def test_digest_covers_every_file_that_compiled_code_comes_from():
    """Files that decorate, and files whose names such files import into compiled code."""
    pattern = re.compile(r"^@intrinsic|\bcompiled\(|^@overload", re.MULTILINE)
    found = {path.name for path in FOLDER.glob("*.py") if pattern.search(path.read_text("utf-8"))}
    assert {"_exp2.py", "_loops.py", "_simd.py"} <= found
    assert found | {"_compile.py"} == set(_compile.SOURCES)


def test_files_of_compiled_code_import_nothing_else_of_ours():
    """A constant from another file would be frozen into the code without being in the digest."""
    ours = re.compile(r"^\s*(?:from|import) mercer\.sums\.?(?:cpu\.)?(\w*)", re.MULTILINE)
    for name in _compile.SOURCES:
        imported = {f"{m}.py" for m in ours.findall((FOLDER / name).read_text("utf-8"))}
        assert imported <= set(_compile.SOURCES)


def test_cached_names_carry_the_digest():
    for function in COMPILED:
        assert function.py_func.__qualname__.endswith(f"_{_compile._DIGEST}")
    assert re.fullmatch(r"[0-9a-f]{16}", _compile._DIGEST)


def test_compiled_code_lets_other_threads_run():
    for function in COMPILED:
        assert function.targetoptions["nogil"]


def test_without_a_cache_folder_functions_are_compiled_all_the_same(monkeypatch):
    def nowhere(function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(_compile, "_Cache", nowhere)

    @_compile.compiled("contract")
    def double(a):
        return 2 * a

    assert double(21.0) == 42.0
    assert double._cache.cache_path is None


def test_fast_math_is_only_what_was_granted():
    """NaN and infinity keep their meaning in every compiled function."""
    assert COMPILED
    for function in COMPILED:
        assert not {"fast", "nnan", "ninf"} & set(function.targetoptions["fastmath"])
    with np.errstate(invalid="ignore"):
        assert np.isnan(_loops._dot(np.array([np.inf, -np.inf]), np.ones(2)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_compilation_serves_every_layout(dtype):
    """Strided, read-only and Fortran arrays call the code that plain arrays do."""
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(dtype)
    sums.kernel_sum(X, X[:9], bandwidth=1.0)
    before = len(_loops.absorb.signatures), len(_loops.pack_columns.signatures)
    frozen = X.copy()
    frozen.setflags(write=False)
    for rows in (np.asfortranarray(X), X[::2], X[:, ::-1], frozen):
        sums.kernel_sum(rows, X[:9], bandwidth=1.0)
        sums.kernel_sum(X[:9], rows, bandwidth=[1.0, 3.0])
        sums.log_kernel_sum(rows, rows, groups=np.arange(len(rows)), bandwidth=1.0)
    assert (len(_loops.absorb.signatures), len(_loops.pack_columns.signatures)) == before


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Return a function that compiles a small function anew, and tells whether from the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def compile_and_call(value):
        def double(a):
            return 2 * a

        dispatcher = _compile.compiled("contract")(double)
        answer = dispatcher(value)
        return answer, sum(dispatcher.stats.cache_hits.values()) > 0

    return compile_and_call


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:100],
        lambda content: content[:-1],
        lambda content: bytes(len(content)),
        lambda content: content[:2000] + bytes([content[2000] ^ 1]) + content[2001:],
    ],
)
def test_machine_code_that_is_damaged_is_compiled_again(fresh, tmp_path, damage):
    assert fresh(21.0) == (42.0, False)
    assert fresh(21.0) == (42.0, True)
    (path,) = tmp_path.rglob("*.nbc")
    path.write_bytes(damage(path.read_bytes()))
    assert fresh(21.0) == (42.0, False)
    assert fresh(21.0) == (42.0, True)  # it has been put in order


def test_machine_code_for_other_types_or_another_cpu_is_not_taken(fresh, tmp_path, monkeypatch):
    """Numba numbers its files: of two that start together, one would get the code of the other."""
    fresh(21.0)
    (floats,) = tmp_path.rglob("*.nbc")
    assert fresh(21) == (42, False)
    (integers,) = set(tmp_path.rglob("*.nbc")) - {floats}
    integers.write_bytes(floats.read_bytes())  # forged
    assert fresh(21) == (42, False)
    monkeypatch.setattr(CPUCodegen, "magic_tuple", lambda self: ("triple", "other", "features"))
    assert fresh(21.0) == (42.0, False)
    (other,) = set(tmp_path.rglob("*.nbc")) - {floats, integers}
    floats.write_bytes(other.read_bytes())
    monkeypatch.undo()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert fresh(21.0) == (42.0, False)


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk_is_no_reason_not_to_compile(fresh, tmp_path, monkeypatch, call):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    assert fresh(21.0) == (42.0, False)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

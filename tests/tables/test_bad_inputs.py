"""Every input that cannot be used has one sentence: what is wrong, where, and what to do."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.tables import (
    ColumnNotFoundError,
    MissingPackageError,
    describe_columns,
    match_columns,
    read_table,
    split_target,
    write_table,
)


def check_sentence(error: BaseException, *parts: str) -> None:
    """One line, one sentence that says a remedy (after a colon or as a question), and the parts."""
    text = str(error)
    assert "\n" not in text
    assert text.isprintable()
    assert text.endswith((".", "?"))
    assert len(text) < 400
    without_names = re.sub(r"'[^']*'|\S*/\S*", "", text)
    assert re.search(r"[.?!]\s+[A-Z]", without_names) is None, "more than one sentence"
    assert ": " in text, "no remedy"
    for part in parts:
        assert part in text


@contextmanager
def refused(kind: type[Exception], *parts: str) -> Iterator[None]:
    with pytest.raises(kind) as caught:
        yield
    check_sentence(caught.value, *parts)


def zipped(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def lying_npz() -> bytes:
    """An array whose header promises a petabyte."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**47,)}
    )
    return zipped(**{"X.npy": header.getvalue() + b"\0" * 64})


GOOD = b"age,job\n31,baker\n40,clerk\n"
BOMB = b"a,b\n" + b"1,2\n" * 300_000
LOCKED = zipped(a=GOOD).replace(
    b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
)

# name: content, what the sentence must say beside the name of the file
UNREADABLE: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty": (b"", ("is empty",)),
    "only spaces": (b" \n\n  \n", ("is empty",)),
    "only a byte order mark": (b"\xef\xbb\xbf", ("is empty",)),
    "header only": (b"age,job\n", ("only its header", "'age'")),
    "duplicate names": (b"age,job,age\n1,2,3\n", ("2 columns named 'age'", "1, 3")),
    "duplicate names after trimming": (b"age, age \n1,2\n", ("2 columns named 'age'",)),
    "numbers without a header": (b"0,0,1\n2,3,4\n", ("no line of column names",)),
    "row too long": (b"a,b\n1,2\n1,2,3\n", ("3 cells in line 3", "header has 2")),
    "row too short": (b"a,b,c\n1,2,3\n1,2\n1,2,3\n", ("2 cells in line 3", "header has 3")),
    "first row too long": (b"a,b\n1,2,3\n1,2,3\n", ("3 cells in line 2", "header has 2")),
    "rows that even out": (b"a,b,c\n1,2\n1,2,3,4\n", ("2 cells in line 2",)),
    "ragged after a quoted line break": (b'a,b\n"x\ny",2\n1\n', ("1 cell in line 4",)),
    "ragged after blank lines": (b"a,b\n\n\n1,2\n1\n", ("1 cell in line 5",)),
    "quote not closed": (b'a,b\n1,2\n"3,4\n5,6\n', ("quotation mark in line 3",)),
    "quote not closed in the last column": (b'a,b\n1,2\n3,"4\n5,6\n', ("quotation mark",)),
    "binary junk": (bytes(range(256)) * 4, ("binary", "line 1")),
    "NUL in line 3": (b"a,b\n1,2\n\0,3\n", ("binary", "line 3")),
    "neither UTF-8 nor Windows": (b"a,b\n1,\x81\xff\n", ("UTF-8", "line 2")),
    "broken UTF-16": ("a,b\n1,2\n".encode("utf-16") + b"\0", ("UTF-16",)),
    "old Excel": (b"\xd0\xcf\x11\xe0" + bytes(100), ("Excel", ".xlsx")),
    "pickle": (pickle.dumps({"a": 1}, protocol=4), ("pickle",)),
    "SQLite": (b"SQLite format 3\0" + bytes(100), ("SQLite",)),
    "archive of two": (zipped(a=GOOD, b=GOOD), ("2 files", "'a' and 'b'", "exactly one")),
    "archive of none": (zipped(), ("0 files", "exactly one")),
    "damaged archive": (zipped(a=GOOD)[:-30], ("damaged",)),
    "locked archive": (LOCKED, ("password",)),
    "cut gzip": (gzip.compress(BOMB)[:-9], ("damaged",)),
    "cut bzip2": (bz2.compress(BOMB)[:-9], ("damaged",)),
    "cut xz": (lzma.compress(BOMB)[:-9], ("damaged",)),
    "compressed twice": (gzip.compress(gzip.compress(GOOD)), ("twice",)),
    "arrays without X": (npz(Z=np.ones(3)), ("no array X", "'Z'")),
    "arrays of objects": (npz(X=np.array([{}, {}], dtype=object)), ("objects", "numpy.savez")),
    "X and y of other lengths": (npz(X=np.ones((3, 2)), y=np.ones(2)), ("3 rows", "(2,)")),
    "too few feature names": (
        npz(X=np.ones((3, 2)), feature_names=np.array(["a"])),
        ("1 feature_names", "2 columns"),
    ),
    "a feature named y": (
        npz(X=np.ones((3, 1)), y=np.ones(3), feature_names=np.array(["y"])),
        ("2 columns named 'y'",),
    ),
    "array that promises too much": (lying_npz(), ("damaged .npz",)),
    "no rows in X": (npz(X=np.ones((0, 2))), ("no rows",)),
    "damaged npz": (zipped(**{"X.npy": b"junk"}), ("damaged .npz",)),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable(case: str, put) -> None:
    content, parts = UNREADABLE[case]
    path = put(content)
    with refused(ValueError, str(path), *parts):
        read_table(path)


# Limits, made small: the same code runs with the large defaults.
BEYOND: dict[str, tuple[bytes, dict[str, int], tuple[str, ...]]] = {
    "file": (BOMB, {"max_bytes": 1 << 20}, ("larger than 1 MiB", "max_bytes")),
    "gzip bomb": (gzip.compress(BOMB), {"max_bytes": 1 << 20}, ("decompressed", "1 MiB")),
    "bzip2 bomb": (bz2.compress(BOMB), {"max_bytes": 1 << 20}, ("decompressed", "1 MiB")),
    "xz bomb": (lzma.compress(BOMB), {"max_bytes": 1 << 20}, ("decompressed", "1 MiB")),
    "zip bomb": (zipped(a=BOMB), {"max_bytes": 1 << 20}, ("decompressed", "1 MiB")),
    "npz bomb": (
        zipped(**{"X.npy": npz(X=np.ones(9)) + bytes(1 << 20)}),
        {"max_bytes": 1 << 20},
        ("decompressed", "1 MiB"),
    ),
    "line": (
        b"a,b\n1,2\n" + b"3" * 5000 + b",4\n",
        {"max_line": 4096},
        ("line of more than 4 KiB", "line 3"),
    ),
    "first line": (b"x" * 5000, {"max_line": 4096}, ("line of more than 4 KiB", "line 1")),
    "cell over many lines": (
        b'a,b\n1,"' + b"x\n" * 5000 + b'"\n',
        {"max_line": 4096},
        ("cell of more than 4 KiB",),
    ),
    "columns": (
        b",".join(b"c%d" % i for i in range(300)) + b"\n",
        {"max_columns": 200},
        ("300 columns", "200", "max_columns"),
    ),
    "columns of X": (npz(X=np.ones((2, 9))), {"max_columns": 5}, ("9 columns", "5")),
}


@pytest.mark.parametrize("case", BEYOND)
def test_beyond_a_limit(case: str, put) -> None:
    content, limits, parts = BEYOND[case]
    path = put(content)
    with refused(ValueError, str(path), *parts):
        read_table(path, **limits)


def test_a_hundred_thousand_columns_are_refused_by_default(put) -> None:
    path = put(",".join(f"c{i}" for i in range(100_000)) + "\n" + "1," * 99_999 + "1\n")
    with refused(ValueError, str(path), "10000"):
        read_table(path)


def test_a_line_of_a_hundred_megabytes_costs_no_more_than_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    with path.open("wb") as stream:
        stream.write(b"a,b\n")
        stream.seek(100 << 20)  # a hole: read as NUL bytes, which are binary
        stream.write(b"\n")
    with pytest.raises(ValueError, match="binary"):
        read_table(path)
    with path.open("wb") as stream:
        for _ in range(100):
            stream.write(b"7" * (1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="line of more than 16 MiB") as caught:
            read_table(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    check_sentence(caught.value, str(path), "line 1")
    assert peak < 250 << 20


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as stream:
        for _ in range(100):
            stream.write(b"1,2\n" * (1 << 18))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="larger than 2 MiB"):
            read_table(path, max_bytes=2 << 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20


def test_missing_file_suggests_near_names(put, tmp_path: Path) -> None:
    put(GOOD, "people.csv")
    with refused(FileNotFoundError, "peple.csv", "did you mean 'people.csv'?"):
        read_table(tmp_path / "peple.csv")
    with refused(FileNotFoundError, "at all", "check the path"):
        read_table(tmp_path / "none" / "at all")


def test_name_with_a_line_break_is_spelled_out(tmp_path: Path) -> None:
    with refused(FileNotFoundError, r"two\nlines.csv"):
        read_table(tmp_path / "two\nlines.csv")


def test_folder(tmp_path: Path) -> None:
    with refused(IsADirectoryError, str(tmp_path), "folder"):
        read_table(tmp_path)


def test_file_as_a_folder(put) -> None:
    path = put(GOOD)
    with refused(NotADirectoryError, str(path)):
        read_table(path / "people.csv")


def test_no_permission(put, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    if os.geteuid():
        path.chmod(0)
    else:  # root may read everything
        monkeypatch.setattr(Path, "open", refuse)
    with refused(PermissionError, str(path), "permissions"):
        read_table(path)


def test_empty_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with refused(ValueError, "standard input is empty"):
        read_table("-")


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize(
    ("content", "package"),
    [
        (b"PAR1" + bytes(40), "pyarrow"),
        (zipped(**{"xl/workbook.xml": b""}), "openpyxl"),
        (b"\x28\xb5\x2f\xfd" + bytes(40), "zstandard"),
    ],
    ids=["parquet", "Excel", "zstandard"],  # An archive holds the time: it is no name.
)
def test_package_is_named(
    content: bytes, package: str, put, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, package)
    path = put(content)
    with refused(MissingPackageError, str(path), f"needs {package}", "pip install"):
        read_table(path)
    # The command line catches ValueError; libraries expect ImportError.
    assert issubclass(MissingPackageError, ValueError)
    assert issubclass(MissingPackageError, ImportError)


@pytest.mark.parametrize(
    ("content", "package", "part"),
    [
        (b"PAR1" + bytes(40), "pyarrow", "damaged"),
        (zipped(**{"xl/workbook.xml": b"<junk"}), "openpyxl", "Excel"),
        (b"\x28\xb5\x2f\xfd" + bytes(range(40)), "zstandard", "damaged"),
    ],
    ids=["parquet", "Excel", "zstandard"],  # An archive holds the time: it is no name.
)
def test_damaged_file_of_a_package(content: bytes, package: str, part: str, put) -> None:
    pytest.importorskip(package)
    path = put(content)
    with refused(ValueError, str(path), part):
        read_table(path)


def test_sheet_of_a_text_file(put) -> None:
    path = put(GOOD)
    with refused(ValueError, str(path), "sheet"):
        read_table(path, sheet="Sheet1")


def test_not_a_table() -> None:
    with refused(ValueError, "A list", "read_table"):
        describe_columns([[1, 2], [3, 4]])


# Targets


def people(**columns: object) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"size": rng.normal(size=200), "kind": ["a", "b"] * 100} | columns)


TARGETS: dict[str, tuple[pd.DataFrame, str, type[Exception], tuple[str, ...]]] = {
    "missing": (people(), "knd", ColumnNotFoundError, ("'knd'", "did you mean 'kind'?")),
    "other case": (people(), "KIND", ColumnNotFoundError, ("did you mean 'kind'?",)),
    "nothing like it": (people(), "zzz", ColumnNotFoundError, ("'size' and 'kind'",)),
    "constant": (people(kind="a"), "kind", ValueError, ("same class 'a'", "'kind'")),
    "one class and gaps": (
        people(kind=["a", None] * 100),
        "kind",
        ValueError,
        ("same class 'a'",),
    ),
    "empty": (people(kind=None), "kind", ValueError, ("No row has a value", "'kind'")),
    "quantity": (people(), "size", ValueError, ("200 different numbers", "regression")),
    "counts": (people(n=range(200)), "n", ValueError, ("regression",)),
    "names": (
        people(name=[f"name {i}" for i in range(200)]),
        "name",
        ValueError,
        ("200 different values", "'name'"),
    ),
    "classes of one row": (
        people(kind=["a"] * 198 + ["b", "c"]),
        "kind",
        ValueError,
        ("'b' and 'c'", "2 rows"),
    ),
    "nothing to learn from": (
        people()[["kind"]],
        "kind",
        ValueError,
        ("none but the target",),
    ),
    "nothing of use": (
        people(size=1.0),
        "kind",
        ValueError,
        ("'size' (constant: it is '1' in every row)",),
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_target(case: str) -> None:
    frame, target, error, parts = TARGETS[case]
    with refused(error, *parts):
        split_target(frame, target)


@pytest.mark.parametrize(
    ("kinds", "error", "parts"),
    [
        ({"sise": "number"}, ColumnNotFoundError, ("'sise'", "'size'")),
        ({"size": "float"}, ValueError, ("'size'", "'float'", "number")),
        ({"kind": "number"}, ValueError, ("'kind'", "row 1", "'a'")),
        ({"kind": "date"}, ValueError, ("'kind'", "row 1", "'a'")),
    ],
)
def test_kinds_that_cannot_be(kinds, error, parts) -> None:
    with pytest.raises(error) as caught:
        describe_columns(people(), kinds=kinds)
    text = str(caught.value)
    assert "\n" not in text
    assert all(part in text for part in parts)


# New tables


def training() -> pd.DataFrame:
    days = pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d")
    return people(day=days, age=np.arange(200) % 50)


NEW: dict[str, tuple[pd.DataFrame, type[Exception], tuple[str, ...]]] = {
    "missing": (
        training().drop(columns="age"),
        ColumnNotFoundError,
        ("'age'", "is missing", "add it"),
    ),
    "misspelt": (
        training().rename(columns={"age": "Age"}),
        ColumnNotFoundError,
        ("'age'", "did you mean 'Age'?"),
    ),
    "two missing": (
        training().drop(columns=["age", "day"]),
        ColumnNotFoundError,
        ("2 columns", "'day' and 'age'"),
    ),
    "more text than numbers": (
        training().assign(age=["1"] * 6 + ["old"] * 101 + ["2"] * 93),
        ValueError,
        ("'age'", "'old' in row 7", "numbers", "more such cells than others"),
    ),
    "numbers for dates": (training().assign(day=3.5), ValueError, ("'day'", "'3.5' in row 1")),
    "another order of dates": (
        training().assign(day="31.12.2020"),
        ValueError,
        ("'day'", "'31.12.2020' in row 1", "'2020-01-01'"),
    ),
    "a cell of two lines": (
        training().assign(age="a\nb"),
        ValueError,
        (r"'a\nb' in row 1",),
    ),
}


@pytest.mark.parametrize("case", NEW)
def test_new_table(case: str) -> None:
    columns = describe_columns(training(), "kind")
    frame, error, parts = NEW[case]
    with refused(error, *parts):
        match_columns(frame, columns)


# Writing

WRITE: dict[str, tuple[Callable[[Path], Path], type[Exception], str]] = {
    "no folder": (lambda folder: folder / "none" / "a.csv", FileNotFoundError, "folder first"),
    "a folder": (lambda folder: folder, ValueError, ".csv, .tsv or .parquet"),
    "another ending": (lambda folder: folder / "a.docx", ValueError, ".csv, .tsv or .parquet"),
    "a device": (lambda _: Path("/dev/null"), ValueError, ".csv, .tsv or .parquet"),
}


@pytest.mark.parametrize("case", WRITE)
def test_write(case: str, tmp_path: Path) -> None:
    where, error, part = WRITE[case]
    with refused(error, str(where(tmp_path)), part):
        write_table(people(), where(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_write_over_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with refused(OSError, "a.csv", "plain file"):
        write_table(people(), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").is_dir()


def test_write_parquet_names_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pyarrow")
    with refused(MissingPackageError, "pyarrow", "pip install"):
        write_table(people(), tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b'{"a": 1}\n{"a": 2\n', ("no JSON object in line 2",)),
        (b'{"a": 1}\n[1, 2]\n', ("holds '[1, 2]' in line 2",)),
        (b'[{"a": 1}, {"a": 2}]', ("one list of JSON",)),
        (b'{"a": 1, "a ": 2}\n', ("2 columns named 'a'",)),
        (b'{"a": ' + b"[" * 100_000 + b"\n", ("no JSON object in line 1",)),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, content: bytes, parts: tuple[str, ...]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with refused(ValueError, str(path), *parts):
        read_table(path)


@pytest.mark.parametrize("delimiter", ["", "ab", "a", "1", '"', "\n", "."])
def test_what_cannot_divide_cells(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with refused(ValueError, "cannot divide cells: give one sign"):
        read_table(path, delimiter=delimiter)


def test_a_delimiter_of_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(3))
    with refused(ValueError, "is not a text file: leave out the delimiter"):
        read_table(path, delimiter=",")


def test_json_lines_of_too_many_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"c{i}": 1}}\n' for i in range(300)))
    with refused(ValueError, "as a table,"):
        read_table(path, max_bytes=100_000)

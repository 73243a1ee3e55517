"""A table in parts is the table that is read at once, whatever the parts: cells, notes, errors."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer.tables.reading._part_sources as sources
import mercer.tables.reading._parts as parts
from mercer.tables import as_text, describe_columns, match_columns, read_table, table_in_parts
from mercer.tables._table import Table
from mercer.tables.typing._match import ColumnMatcher


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "_WHOLE_BYTES", 0)
    monkeypatch.setattr(parts, "_ROWS_AT_ONCE", (7, 7))
    monkeypatch.setattr(parts, "_CELLS_AT_ONCE", 1)
    monkeypatch.setattr(sources, "PART_BYTES", 40)
    monkeypatch.setattr(sources, "_BATCH_ROWS", 5)


def in_parts(path, **options):
    """Return all rows with their notes, and how many parts there were."""
    with table_in_parts(path, **options) as table:
        found = list(table)
    frames = [part.frame for part in found]
    frame = pd.concat([frame.astype(object) for frame in frames])
    assert frame.index.tolist() == list(range(len(frame)))
    assert len({tuple(map(str, frame.dtypes)) for frame in frames}) == 1  # settled before
    return Table(frame, table.name, table.notes), frames


def refusal(read):
    """Return the sentence with which something is refused, or nothing."""
    try:
        read()
    except ValueError as error:
        return str(error)
    return ""


def same(path, **options):
    """Assert that cells, as models see them, and notes are those of the whole."""
    whole = read_table(path, **options)
    found, frames = in_parts(path, **options)
    assert found.notes == whole.notes
    assert list(found.frame) == list(whole.frame)
    joined = pd.concat(frames)
    for name in whole.frame:
        ours, theirs = (list(as_text(frame[name])) for frame in (joined, whole.frame))
        assert [str(one) for one in ours] == [str(one) for one in theirs]
        numeric = [pd.api.types.is_numeric_dtype(frame[name]) for frame in (joined, whole.frame)]
        assert numeric[0] == numeric[1] or whole.frame[name].isna().all()
        if all(numeric):
            np.testing.assert_array_equal(joined[name], whole.frame[name])
    return frames


TEXT = "age;job;zip\n" + "".join(
    f"{20 + i if i % 7 else ''};{['baker', 'clerk'][i % 2]};{i:05d}\n" for i in range(60)
)


def test_it_comes_in_parts_of_so_many_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    frames = same(path)
    assert [len(frame) for frame in frames] == [7] * 8 + [4]


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n2,y\n3,\n4,007\n5,z\n6,2.50\n",  # text in one part, numbers in others
        "a,b\n" + "1,2\n" * 20 + "1.5,\n" + ",true\n" * 9,  # fractions, gaps and truth values
        "a,b\n" + "07,1\n" * 9 + "12,2\n" * 9,  # codes: zeros in some parts only
        "a,b\n" + "7,1\n" * 9 + "012,2\n" * 9,  # no codes: of unlike length
        "a,b\n" + "1,9007199254740993\n" * 9 + "1,0.5\n",  # digits that a fraction would lose
        "a,b\n" + "-1,1\n" * 9 + "18446744073709551615,2\n",  # no whole number holds both
        "a,b\n" + "1,1\n" * 9 + "18446744073709551615,2\n",
        "a,b\n" + "True,1\n" * 9 + "FALSE,2\n" * 5 + ",3\n",
        "a,b\n" + '"x\ny",1\n' * 12 + '"he said ""no""",2\n',  # cells of several lines
        "# a comment\n# and another\na,b\n" + "1,2\n" * 20,
        "a,b\r\n" + "1,x\r\n" * 20,
        "a,b\r" + "1,x\r" * 20,
        "a,b\n\n1,2\n\n" + "\n\n3,4\n" * 10 + "\n",
        "a,b\n" + "1,'=x\n" * 15 + "2,y\n" * 15,  # made harmless to spreadsheets
        "a,\n" + "1,2\n" * 20,  # a column without a name
        "a\n" + "1\n" * 30,
        "3,4\n" + "1,2\n" * 20,
        "a,b\n" + 'x" y,1\n' * 15,  # a quotation mark within a cell
        "a,b\n" + "1,?\n" * 15 + "2,NA\n",
        "a,b\n" + ' "x, y" ,1\n' * 3 + '"p",2\n' * 12,
    ],
)
def test_delimited_text(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert len(same(path)) > 1 or text.count("\n") < 9


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes(("näme,b\n" + "1,x\n" * 30 + "2,é\n").encode(encoding))
    same(path)


@pytest.mark.parametrize("pack", ["gz", "bz2", "xz", "zst", "zip"])
def test_compressed(tmp_path, pack):
    if pack == "zst":
        zstandard = pytest.importorskip("zstandard")
        content = zstandard.ZstdCompressor().compress(TEXT.encode())
    elif pack == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("people.csv", TEXT)
        content = buffer.getvalue()
    else:
        content = {"gz": gzip, "bz2": bz2, "xz": lzma}[pack].compress(TEXT.encode())
    path = tmp_path / f"people.csv.{pack}"
    path.write_bytes(content)
    assert len(same(path)) > 1
    path.write_bytes(content[: len(content) * 2 // 3])
    assert refusal(lambda: in_parts(path)) == refusal(lambda: read_table(path)) != ""


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    table, frames = in_parts("-")
    assert (table.name, len(table.frame), len(frames)) == ("standard input", 60, 9)


LINES = [
    [{"a": i, "b": "x"} for i in range(30)],
    [{"a": i} for i in range(15)] + [{"b": True, "a": None}, {"a": 1.5, "c": [1, {"d": 2}]}] * 5,
    [{"a": 1}] * 12 + [{"a": "one"}] * 3,
    [{"a": None}] * 12 + [{"a": False}] * 3,
    [{"a": 2**60}] * 9 + [{"a": 2**70}],
    [{}] * 5 + [{"a": 1}] * 9 + [{}] * 9,
]


@pytest.mark.parametrize("lines", LINES)
def test_json_lines(tmp_path, lines):
    path = tmp_path / "t.jsonl"
    path.write_text("\n\n".join(json.dumps(line) for line in lines))
    same(path)


@pytest.mark.parametrize("is_packed", [False, True])
def test_parquet(tmp_path, is_packed):
    pytest.importorskip("pyarrow")
    n = 40
    frame = pd.DataFrame(
        {
            "whole": pd.array([None if i == 33 else i for i in range(n)], dtype="Int64"),
            "job": ["a", "b", None, "c"] * 10,
            "size": np.linspace(0, 1, n, dtype=np.float32),
            "day": pd.date_range("2020-01-01", periods=n),
            "yes": [True] * 39 + [None],
            "kind": pd.Categorical(["u", "v"] * 20),
            "none": [None] * n,
        }
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    if is_packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert len(same(path)) > 1


def test_formats_that_are_read_at_once(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.arange(60.0).reshape(20, 3))
    with table_in_parts(path) as table:
        (whole,) = table
    assert table.is_whole
    pd.testing.assert_frame_equal(whole.frame, read_table(path).frame)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n" + b"1,2\n" * 20 + b"1,2,3\n" + b"1,2\n" * 20,
        b"a,b\n" + b"1,2\n" * 20 + b'"1,2\n' + b"1,2\n" * 20,
        b"a,b\n" + b"1,2\n" * 20 + b"1,\0\n",
        b"a,b\n" + b"1,2\n" * 20 + b"\x81,\xe9\n",
        b"a,a\n" + b"1,2\n" * 20,
        b"a,b\n",
        b"\n\n\n",
        b'{"a": 1}\n' * 20 + b"[1]\n",
        b'{"a": 1}\n' * 20 + b"oops\n",
        b"%PDF-1.4" + b"\n" * 99,
        "a,b\n1,2\n".encode("utf-16") * 9 + b"\x00",
        b"\x80\x04\x95" + b"x\n" * 50,
    ],
)
def test_what_is_broken_is_refused_in_the_same_sentence(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert refusal(lambda: in_parts(path)) == refusal(lambda: read_table(path)) != ""


CELLS = st.one_of(
    st.sampled_from(["", "0", "1", "01", "1.5", "True", "x", "NA", "1,5", '"', "'=1", "é", " y "]),
    st.text(st.sampled_from("ab01;,\"\n' -."), max_size=6),
    # Larger ones are text or fractions beside gaps and fractions, as pandas has it: see the page.
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.floats(allow_nan=False).map(repr),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=30),
    st.integers(1, 60),
    st.data(),
)
def test_any_table_is_read_as_the_whole(tmp_path_factory, rows, n_bytes, data):
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    path = tmp_path_factory.mktemp("any") / "t.csv"
    frame.to_csv(path, index=False, quoting=data.draw(st.sampled_from([0, 1])))
    sources.PART_BYTES = n_bytes
    if sentence := refusal(lambda: read_table(path)):
        assert refusal(lambda: in_parts(path)) == sentence
    else:
        same(path)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["1", "2.5", "", "oops", "1,5", "81 %", "2020-01-01", "unknown", "inf"]),
        min_size=1, max_size=30,
    ),
    st.sampled_from(["number", "category", "date", "percent"]),
    st.integers(1, 9),
)  # fmt: skip
def test_columns_are_matched_as_the_whole(cells, kind, n_rows):
    training = {
        "number": ["1", "2", "3.5", "7"], "category": ["1", "oops", "1", "oops"],
        "date": ["2020-01-01", "2020-01-02", "2020-02-01", "2020-03-01"],
        "percent": ["1 %", "2 %", "2.5 %", "7 %"],
    }[kind]  # fmt: skip
    columns = describe_columns(pd.DataFrame({"a": training, "b": [1.0, 2.0, 3.0, 5.0]}))
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": 1.0, "more": 0})
    matcher = ColumnMatcher(columns, "the table", list(frame))
    some = [matcher.match(frame.iloc[i : i + n_rows]) for i in range(0, len(frame), n_rows)]
    if sentence := refusal(lambda: match_columns(frame, columns)):
        assert refusal(matcher.notes) == sentence
        return
    whole = match_columns(frame, columns)
    assert tuple(matcher.notes()) == whole.notes
    for name in whole.frame:
        joined = [one for part in some for one in part[name].tolist()]
        assert str(joined) == str(whole.frame[name].tolist())

"""Tables that were made to do harm: refused in one sentence, within bounded memory, or read right.

What tests/tables/test_bad_inputs.py has is not here again: cut archives, bombs of gzip, bzip2, xz
and zip, long lines, open quotation marks, NUL bytes, headers that lie.
"""

import gzip
import io
import tracemalloc
import zipfile
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from mercer.tables import read_table, split_target

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
HEAD = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>'
    '<c r="B1" t="inlineStr"><is><t>b</t></is></c></row>'
)
ROW = '<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c></row>'
ENTITY = '<c r="A2" t="inlineStr"><is><t>&x;</t></is></c>'


@contextmanager
def taking_at_most(n_bytes):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


def refused(path, *words, **limits):
    """Refuse in one sentence that names the file; little memory is taken."""
    with taking_at_most(32 << 20), pytest.raises(ValueError, match=r"[.?]$") as caught:
        read_table(path, **limits)
    sentence = str(caught.value)
    assert sentence.isprintable()
    assert len(sentence) < 400
    for word in (str(path), *words):
        assert word in sentence


def sheet(rows=HEAD + ROW, *, before="", dimension="A1:B2", encoding="utf-8"):
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?>{before}<worksheet {MAIN}>'
        f'<dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    )
    if encoding == "cp037":  # only what follows the declaration
        start = text.index("?>") + 2
        return text[:start].encode("ascii") + text[start:].encode("cp037")
    return text.encode(encoding)


@pytest.fixture(scope="session")
def book():
    """Return a function that puts a sheet, or any other part, into a plain workbook."""
    openpyxl = pytest.importorskip("openpyxl")
    stream = io.BytesIO()
    plain = openpyxl.Workbook()
    plain.active.append(["a", "b"])
    plain.active.append(["one", 2])
    plain.save(stream)

    def make(path, **parts):
        with zipfile.ZipFile(stream) as source, zipfile.ZipFile(path, "w", 8) as out:
            for name in source.namelist():
                short = name.rpartition("/")[2].partition(".")[0]
                out.writestr(name, parts.get(short, source.read(name)))
        return path

    return make


LAUGHS = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(8))
TYPE = f'<!DOCTYPE worksheet [<!ENTITY a "ha"><!ENTITY x "&i;">{LAUGHS}]>'
SHEETS = {
    "a billion laughs": (sheet(HEAD + f'<row r="2">{ENTITY}</row>', before=TYPE), "document type"),
    "the same in UTF-16": (
        sheet(HEAD + f'<row r="2">{ENTITY}</row>', before=TYPE, encoding="utf-16"), "document type"
    ),
    "the same in EBCDIC": (
        sheet(HEAD + f'<row r="2">{ENTITY}</row>', before=TYPE, encoding="cp037"), "cannot be read"
    ),
    "a file from outside": (
        sheet(
            HEAD + f'<row r="2">{ENTITY}</row>',
            before='<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        ),
        "document type",
    ),
    "a row far down": (sheet(HEAD + '<row r="900000000"><c><v>1</v></c></row>'), "row beyond"),
    "a row in words": (sheet(HEAD + '<row r="9e8"><c><v>1</v></c></row>'), "without a number"),
    "rows without numbers after a far one": (
        sheet(HEAD + '<row r="1048576"/>' + "<row><c><v>1</v></c></row>" * 3), "row beyond"
    ),
    "cells far right": (
        sheet(HEAD + "".join(f'<row r="{i}"><c r="ZZZ{i}"><v>1</v></c></row>' for i in (2, 3))),
        "18 278 columns",
    ),
    "many rows of few far cells": (
        sheet(HEAD + "".join(f'<row r="{i}"><c r="IV{i}"/></row>' for i in (2, 1048576))), "GiB"
    ),
    "a cell nowhere": (sheet(HEAD + '<row r="2"><c r="ÄÖ2"><v>1</v></c></row>'), "without a place"),
    "elements in elements": (sheet("<row>" * 5000 + "</row>" * 5000), "inside each other"),
}  # fmt: skip


@pytest.mark.parametrize("case", SHEETS)
def test_workbooks_that_would_fill_the_memory(book, tmp_path, case):
    content, word = SHEETS[case]
    path = book(tmp_path / "t.xlsx", sheet1=content)
    assert path.stat().st_size < 50_000
    refused(path, word)


def test_entities_in_other_parts_of_a_workbook(book, tmp_path):
    text = f'<?xml version="1.0"?>{TYPE}<styleSheet {MAIN}>&x;</styleSheet>'
    refused(book(tmp_path / "t.xlsx", styles=text.encode()), "document type")


@pytest.mark.parametrize("dimension", ["A1:XFD1048576", "A1", ""])
def test_what_a_workbook_declares_of_its_size_does_not_matter(book, tmp_path, dimension):
    path = book(tmp_path / "t.xlsx", sheet1=sheet(dimension=dimension))
    frame = read_table(path).frame
    assert (list(frame), frame.to_numpy().tolist()) == (["a", "b"], [[1, 2]])


def test_a_plain_workbook_is_read(book, tmp_path):
    frame = read_table(book(tmp_path / "t.xlsx")).frame
    assert (list(frame), frame.to_numpy().tolist()) == (["a", "b"], [["one", 2]])


def test_a_text_that_is_repeated_in_parquet_is_kept_once(tmp_path):
    """Five kilobytes would take three gigabytes."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    n = 30_000
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array(["x" * 10**5]))
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": texts, "b": range(n)}), path, store_schema=False)
    assert path.stat().st_size < 200_000
    with taking_at_most(20 << 20):
        before = pa.total_allocated_bytes()
        frame = read_table(path).frame
        assert pa.total_allocated_bytes() - before < 20 << 20
    assert frame["a"].str.len().eq(10**5).all()


def test_a_list_of_millions_in_one_cell_of_parquet_counts(tmp_path):
    """Nine hundred bytes took as much memory as they said."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    numbers = pa.array(np.zeros(10**6, dtype=np.int64))
    lists = pa.ListArray.from_arrays(pa.array([0, 10**6], pa.int32()), numbers)
    parquet.write_table(pa.table({"a": lists}), path)
    assert path.stat().st_size < 5000
    refused(path, "larger than 4 MiB", max_bytes=4 << 20)


def test_parquet_keeps_missing_texts(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": ["u", None, "v", "u"], "b": [1.5, 2, np.nan, 4]}).to_parquet(path)
    frame = read_table(path).frame
    assert frame["a"].isna().tolist() == [False, True, False, False]
    assert frame["a"].dropna().tolist() == ["u", "v", "u"]


CELLS = {
    "empty cells": (b"a,b,c,d\n", b",,,\n"),
    "digits": (b"a\n", b"1\n"),
    "blank lines": (b"a,b\n1,2\n", b"\n"),
    "line ends of old": (b"a,b\r", b"1,2\r"),
}


@pytest.mark.parametrize("case", CELLS)
def test_cells_count_as_well_as_bytes(tmp_path, case):
    """Commas that gzip keeps in nothing took 25 times their own size."""
    head, line = CELLS[case]
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(head + line * ((1 << 18) // len(line) - 9), 1))
    refused(path, "as a table", "larger than 256 KiB", max_bytes=1 << 18)


@pytest.mark.parametrize(
    "text",
    [
        "a\u202eb,c\n1,2\n3,4\n",
        "e" + "\u0301" * 5000 + ",b\n1,2\n3,4\n",
        "\U0001f468\u200d\U0001f469,\ufeffb\n1,2\n3,4\n",
        "a,b\n\u0661,2\n3,4\n",
    ],
)
def test_odd_unicode_is_read_as_it_is(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    frame = read_table(path).frame
    assert frame.shape == (2, 2)
    assert next(iter(frame)) == text.partition(",")[0]


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": np.zeros((3, 2), "V4")},
        {"X": np.zeros(3, [("a", "f8"), ("b", "i4")])},
        {"X": np.zeros((3, 2), "c16")},
        {"X": np.array(["1", "2"], "S1")},
        {"X": np.array(1.0)},
        {"X": np.zeros((2, 2, 2, 2))},
        {"X": np.zeros((3, 2), "M8[s]"), "y": np.zeros(3, "m8[s]")},
        {"X": np.ones((3, 2)), "feature_names": np.zeros((2, 2))},
        {"X": np.ones((3, 2)), "feature_names": np.array(["a", "a"])},
    ],
    ids=str,
)
def test_arrays_of_odd_types_are_refused_or_read(tmp_path, arrays):
    np.savez(tmp_path / "t.npz", **arrays)
    try:
        split_target(read_table(tmp_path / "t.npz"), "x1")
    except (ValueError, LookupError) as error:
        assert "\n" not in str(error)  # noqa: PT017 - refused or read


def test_two_names_that_an_apostrophe_keeps_apart(tmp_path):
    """One of the columns was lost without a word."""
    path = tmp_path / "t.csv"
    path.write_text("=a,'=a\n1,2\n3,4\n")
    refused(path, "two columns are named '=a'")

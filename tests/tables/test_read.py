import bz2
import gzip
import io
import lzma
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.tables import Table, describe_columns, read_table, split_target

ROWS = [
    ["Ann; Lee", 31.0, "x|y"],
    ["O'Hara, B", 40.5, 'say "hi"'],
    ["tab\there", -1e-9, "line\nbreak"],
]


def as_csv(delimiter: str) -> str:
    frame = pd.DataFrame(ROWS, columns=["name", "age", "said"])
    return frame.to_csv(index=False, sep=delimiter)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(put, delimiter: str, end: str) -> None:
    table = read_table(put(as_csv(delimiter).replace("\n", end)))
    assert isinstance(table, Table)
    assert table.frame.columns.tolist() == ["name", "age", "said"]
    said = [row[2].replace("\n", end) for row in ROWS]
    assert table.frame["said"].tolist() == said
    assert table.frame["age"].tolist() == [31.0, 40.5, -1e-9]
    assert table.notes == ()


def test_old_mac_line_ends(put) -> None:
    assert read_table(put("a,b\r1,2\r3,4\r")).frame["b"].tolist() == [2, 4]


def test_last_line_needs_no_end_and_blank_lines_do_not_count(put) -> None:
    frame = read_table(put("\n\na,b\n1,2\n\n  \n3,4")).frame
    assert frame["a"].tolist() == [1, 3]


def test_decimal_commas_do_not_divide(put) -> None:
    frame = read_table(put("a;b\n1,5;2,5\n3,5;4,5\n")).frame
    assert frame["a"].tolist() == ["1,5", "3,5"]
    assert [column.kind for column in describe_columns(frame)] == ["number", "number"]


def test_the_delimiter_that_divides_evenly_wins_over_the_more_frequent(put) -> None:
    frame = read_table(put("size, in cm, of it;kind\n1;a\n2;b\n")).frame
    assert frame.columns.tolist() == ["size, in cm, of it", "kind"]


def test_the_delimiter_is_judged_by_the_beginning_of_a_long_file(put) -> None:
    frame = read_table(put("a;b\n" + "1,5;22,25\n" * 10_000)).frame
    assert frame.shape == (10_000, 2)


def test_spaces_after_delimiters_and_missing_values(put) -> None:
    table = read_table(put("a, b, c\n1, ?, x\nNA, 2.5, null\n , nan, z\n"))
    assert table.frame.columns.tolist() == ["a", "b", "c"]
    assert table.frame.isna().to_numpy().tolist() == [
        [False, True, False],
        [True, False, True],
        [True, True, False],
    ]


def test_classes_that_look_like_gaps_are_kept(put) -> None:
    data = split_target(read_table(put("a,y\n1,-\n2,+\n3,None\n4,-\n5,+\n6,None\n")), "y")
    assert data.y.tolist() == ["-", "+", "None"] * 2
    assert data.notes == ()


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_are_certain(put, codec: str) -> None:
    table = read_table(put("naïve,b\n日本,2\nZoë,3\n".encode(codec)))
    assert table.frame.columns.tolist() == ["naïve", "b"]
    assert table.frame["naïve"].tolist() == ["日本", "Zoë"]
    assert table.notes == ()


def test_windows_encoding_is_noted(put) -> None:
    path = put("name,b\nAnn,1\nZoë “x”,3\n".encode("cp1252"))
    table = read_table(path)
    assert table.frame["name"].tolist() == ["Ann", "Zoë “x”"]
    assert table.notes == (
        f"{path} is not UTF-8 (line 3); it was read as Windows-1252, so check names with accents.",
    )


def test_characters_across_blocks_of_the_check_are_not_cut(put, monkeypatch) -> None:
    from mercer.tables.reading import _encoding

    for block in range(1, 9):
        monkeypatch.setattr(_encoding, "_BLOCK", block)
        assert _encoding.first_not_utf8("aé日😀".encode() * 5) is None
        assert _encoding.first_not_utf8("aé日😀".encode() * 5 + b"\xff") == 50
        assert _encoding.first_not_utf8(b"\xc3\xa9\x80" + b"\x80" * 20) == 2


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("ending", COMPRESS)
def test_compressed_by_content_whatever_the_name(put, ending: str) -> None:
    content = COMPRESS[ending](as_csv(",").encode())
    for name in (f"a.csv.{ending}", "a.csv", "a"):
        assert read_table(put(content, name)).frame["age"].tolist() == [31.0, 40.5, -1e-9]
    twice = COMPRESS[ending](b"a,b\n") + COMPRESS[ending](b"1,2\n")  # as log files are joined
    assert read_table(put(twice)).frame["b"].tolist() == [2]


def test_zstd(put) -> None:
    zstandard = pytest.importorskip("zstandard")
    content = zstandard.ZstdCompressor().compress(as_csv(",").encode())
    assert read_table(put(content)).frame.shape == (3, 3)


def test_zip_of_one(put) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("folder/", b"")
        archive.writestr("folder/a.csv", as_csv(","))
        archive.writestr("__MACOSX/._a.csv", b"\0")
    assert read_table(put(stream.getvalue(), "a.zip")).frame.shape == (3, 3)


def test_text_that_begins_like_an_archive(put) -> None:
    assert read_table(put("PK,b\n1,2\n")).frame.columns.tolist() == ["PK", "b"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a,b\n1,2\n"))))
    table = read_table("-")
    assert table.name == "standard input"
    assert table.frame["b"].tolist() == [2]


def test_numpy_archive(put) -> None:
    X = np.arange(12.0).reshape(3, 2, 2)
    stream = io.BytesIO()
    np.savez_compressed(stream, X=X, y=np.array(["a", "b", "a"]), train_idx=np.arange(2))
    path = put(stream.getvalue(), "a.npz")
    table = read_table(path)
    assert table.frame.columns.tolist() == ["x1", "x2", "x3", "x4", "y"]
    np.testing.assert_array_equal(table.frame.iloc[:, :4].to_numpy(float), X.reshape(3, 4))
    assert table.frame["y"].tolist() == ["a", "b", "a"]
    assert table.notes == (f"Arrays 'train_idx' of {path} are not used.",)

    stream = io.BytesIO()
    np.savez(stream, X=np.ones((2, 2)), feature_names=np.array(["p", "q"]))
    assert read_table(put(stream.getvalue())).frame.columns.tolist() == ["p", "q"]


def test_parquet(put) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "n": [1, 2, None],
            "t": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
            "c": pd.Categorical(["a", None, "b"]),
            "l": [[1], [2], None],
        }
    )
    stream = io.BytesIO()
    frame.set_index("n").to_parquet(stream)
    table = read_table(put(stream.getvalue(), "a.parquet"))
    assert sorted(table.frame.columns) == ["c", "l", "n", "t"]
    kinds = {column.name: column.kind for column in describe_columns(table)}
    assert kinds == {"c": "category", "l": "identifier", "n": "number", "t": "date"}
    stream = io.BytesIO()
    pd.DataFrame({"a": np.zeros(100_000)}).to_parquet(stream)
    path = put(stream.getvalue())
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match="once decompressed"):
        read_table(path, max_bytes=100_000)


def test_excel(put, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    first = pd.DataFrame(
        {"n": [1.5, None], "t": pd.to_datetime(["2020-01-01", "2021-01-01"]), "x": ["?", 5]}
    )
    with pd.ExcelWriter(path) as book:
        first.to_excel(book, sheet_name="one", index=False, startrow=2)
        first[["n"]].to_excel(book, sheet_name="two", index=False)
    table = read_table(path)
    assert table.notes == (f"The first of 2 sheets of {path}, 'one', is read; the other is 'two'.",)
    assert table.frame.columns.tolist() == ["n", "t", "x"]
    assert [column.kind for column in describe_columns(table)] == ["constant", "date", "constant"]
    assert table.frame["t"].tolist() == first["t"].tolist()
    assert read_table(path, sheet="two").frame.columns.tolist() == ["n"]
    assert read_table(path, sheet="two").notes == ()
    with pytest.raises(LookupError, match=r"There is no sheet 'tow' in .*: did you mean 'two'\?"):
        read_table(path, sheet="tow")
    with pytest.raises(ValueError, match="once decompressed"):
        read_table(path, max_bytes=path.stat().st_size)
    pd.DataFrame([[1, 2]], columns=["a", "a"]).to_excel(path, index=False)
    with pytest.raises(ValueError, match="2 columns named 'a'"):
        read_table(path)
    pd.DataFrame().to_excel(path, index=False)
    with pytest.raises(ValueError, match="is empty"):
        read_table(path)


def test_codes_keep_their_zeros(put) -> None:
    text = "zip,n,m,y\n01234,00,1,01\n99999,5,,02\n01234,7,3,01\n"
    frame = read_table(put(text)).frame
    assert frame["zip"].tolist() == ["01234", "99999", "01234"]
    assert frame["n"].tolist() == [0, 5, 7]  # of different lengths: numbers
    assert frame["y"].tolist() == ["01", "02", "01"]


def test_columns_without_a_name(put) -> None:
    table = read_table(put(",a,\n1,2,3\n4,5,6\n"))
    assert table.frame.columns.tolist() == ["column 1", "a", "column 3"]
    assert table.notes == ("2 columns without a name are called 'column 1' and so on.",)
    table = read_table(put('"",a\n1,2\n'))
    assert table.notes == ("A column without a name is called 'column 1'.",)


def test_header_of_numbers_is_noted(put) -> None:
    path = put("39,State,77516\n50,Self,83311\n")
    (note,) = read_table(path).notes
    assert note.startswith(f"The first line of {path} holds numbers ('39'): if it is a row, add")


def test_one_column_is_noted(put) -> None:
    path = put("a b c\n1 2 3\n")
    (note,) = read_table(path).notes
    assert note == (
        f"{path} has one column only; cells are divided by comma, semicolon, tab or |, or by the "
        "delimiter that you name."
    )


def test_long_lines_are_found_wherever_they_are(put) -> None:
    for start in range(0, 40, 3):
        path = put("a\n" + "b\n" * start + "x" * 21 + "\n" + "c\n" * 30)
        with pytest.raises(ValueError, match=rf"\(line {start + 2}\)"):
            read_table(path, max_line=20)
        assert len(read_table(path, max_line=21).frame) == start + 31


def test_polars_frames_are_taken() -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = polars.DataFrame({"a": [1.0, None, 3.0], "b": ["x", "y", "x"], "y": ["p", "q", "p"]})
    data = split_target(frame, "y", min_class_rows=1)
    assert data.X["b"].tolist() == ["x", "y", "x"]
    assert [column.kind for column in data.columns] == ["number", "category"]


def test_frames_are_not_changed() -> None:
    frame = pd.DataFrame({1: ["1", "?", "2"], "y": ["a", "b", "a"]}, index=[5, 7, 9])
    before = frame.copy()
    data = split_target(frame, "y", min_class_rows=1, kinds={"1": "category"})
    assert data.X.columns.tolist() == ["1"]
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".parquet", ".npz"])
def test_blanks_around_a_name_are_trimmed_in_every_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    frame = pd.DataFrame({" size ": [1.5, 2.5], "kind": [0.0, 1.0]})
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif ending == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        np.savez(path, X=frame.to_numpy(), feature_names=np.array(frame.columns, dtype=str))
    assert list(read_table(path).frame) == ["size", "kind"]


JSON_LINES = b"""{"size": 1.5, "fruit": "fig", "tags": ["a", "b"]}

{"fruit": "kiwi", "size": null, "ripe": true}
{"size": 4, "fruit": "kiwi", " note ": "\\u00e4"}
"""


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(JSON_LINES)
    table = read_table(path)
    assert list(table.frame) == ["size", "fruit", "tags", "ripe", "note"]
    assert table.frame["size"].tolist()[::2] == [1.5, 4.0]
    assert table.frame["size"].isna().tolist() == [False, True, False]
    assert table.frame["tags"][0] == '["a", "b"]'
    assert table.frame["note"][2] == "ä"
    assert table.notes == (f"1 nested value of {path} is taken as text.",)
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    frame.to_json(path, orient="records", lines=True)
    pd.testing.assert_frame_equal(
        read_table(path).frame, frame, check_dtype=False, check_column_type=False
    )


@pytest.mark.parametrize(
    ("text", "names", "rows", "notes"),
    [
        ("# made by hand\n# in May\na,b\n1,2\n3,4\n", ["a", "b"], 2,
         ("2 lines that begin with # are passed over.",)),
        ("#a,b\n1,2\n3,4\n", ["a", "b"], 2, ()),
        ("# a,b\n1,2\n3,4\n", ["a", "b"], 2, ()),
        ("#who,where\nanna,Oslo\nben,Rome\n", ["who", "where"], 2, ()),
        ("# May, 2020\na,b\n1,2\n", ["a", "b"], 1,
         ("1 line that begins with # is passed over.",)),
        ("a,b\n#1,2\n#2,3\n", ["a", "b"], 2, ()),
    ],
)  # fmt: skip
def test_comments_before_the_names(tmp_path: Path, text, names, rows, notes) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    table = read_table(path)
    assert (list(table.frame), len(table.frame), table.notes) == (names, rows, notes)


def test_lines_keep_their_numbers_behind_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("# one\n# two\na,b\n1,2\n3\n")
    with pytest.raises(ValueError, match=r"1 cell in line 5 where the header has 2"):
        read_table(path)


def test_a_delimiter_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("size~fruit, or so\n1,5~fig\n2,5~kiwi\n")
    frame = read_table(path, delimiter="~").frame
    assert list(frame) == ["size", "fruit, or so"]
    assert frame["size"].tolist() == ["1,5", "2,5"]
    path.write_text("size fruit\n1.5 fig\n2.5  kiwi\n")
    assert read_table(path, delimiter=" ").frame["fruit"].tolist() == ["fig", "kiwi"]


def test_a_workbook_names_its_other_sheets(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as writer:
        for name in ("May", "June", "July"):
            pd.DataFrame({"a": [1.5, 2.5], name: ["p", "q"]}).to_excel(writer, sheet_name=name)
    table = read_table(path)
    assert table.notes[0].endswith("'May', is read; the others are 'June' and 'July'.")
    with pytest.raises(LookupError, match=r"no column 'Juli' .*other sheets: 'June' and 'July'"):
        describe_columns(table, "Juli")
    assert read_table(path, sheet="July").other_sheets == ("May", "June")


def test_an_empty_sheet_is_refused_with_the_names_of_the_others(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "year.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="Cover", index=False)
        pd.DataFrame({"size": [1, 2]}).to_excel(book, sheet_name="May", index=False)
    with pytest.raises(ValueError, match=r"Sheet 'Cover' of .* is empty: .* another sheet: .*May"):
        read_table(path)

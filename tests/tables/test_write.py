import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._system.formulas import neutralised, neutralised_text, restored
from mercer.tables import Table, read_table, write_table

FRAME = pd.DataFrame({"class": ["=cmd()", "-1"], "p": [0.1, 1 / 3]})


def test_text_is_quoted_and_numbers_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_table(Table(FRAME), path)
    assert path.read_bytes() == b'"class","p"\n"\'=cmd()",0.1\n"-1",0.3333333333333333\n'
    write_table(FRAME, tmp_path / "out.TSV")
    assert (tmp_path / "out.TSV").read_text().splitlines()[0] == '"class"\t"p"'


@pytest.mark.parametrize(
    "cell", ["=1+1", "+cmd", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "-1+1", "--1"]
)
def test_formulas_get_an_apostrophe(cell: str) -> None:
    assert neutralised_text(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["", "-1", "+1", "-1.5e-3", "a=b", "'", "'tis", " =1", "<=50K"])
def test_other_text_stays(cell: str) -> None:
    assert neutralised_text(cell) == cell


def test_names_of_columns_are_neutralised(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"=cmd()": [1]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == '"\'=cmd()"\n1\n'
    assert read_table(tmp_path / "a.csv").frame.columns.tolist() == ["=cmd()"]


cells = st.text(alphabet="'=+-@\t\r1ab", max_size=6)


@given(st.lists(cells, min_size=1))
def test_neutralising_is_undone_exactly(values: list[str]) -> None:
    frame = pd.DataFrame({"a": values}, dtype=object)
    safe = neutralised(frame)
    assert restored(safe)["a"].tolist() == values
    # Nothing that is left begins as a formula and is not a number.
    for cell in safe["a"]:
        assert cell[:1] not in tuple("=+-@\t\r") or cell == "" or float(cell) is not None


@settings(max_examples=30)
@given(st.lists(st.text(alphabet="'=+-@xyz,;\"", min_size=1, max_size=6), min_size=2))
def test_cells_come_back_from_a_file(tmp_path_factory, values: list[str]) -> None:
    values = [value + "x" for value in values]  # no numbers and no missing values
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    write_table(pd.DataFrame({"a": values, "b": 1}), path)
    assert read_table(path).frame["a"].tolist() == values


def test_existing_file_is_replaced_and_a_link_followed(tmp_path: Path) -> None:
    path, link = tmp_path / "a.csv", tmp_path / "link.csv"
    path.write_text("old")
    link.symlink_to(path)
    write_table(FRAME, link)
    assert link.is_symlink()
    assert path.read_text().startswith('"class"')
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "link.csv"]


def test_permissions_are_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_table(FRAME, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert stat.S_ISREG((tmp_path / "a.csv").stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="no limit on the size of files")
def test_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "a.csv"
    path.write_text("old")
    large = pd.DataFrame(np.ones((10_000, 10)))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"a\.csv cannot be written \(.*\): free some space"):
            write_table(large, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_permission_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(
        PermissionError, match=r"a\.csv cannot be written \(Permission denied\): cho"
    ):
        write_table(FRAME, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_parquet_round_trip(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_table(FRAME, tmp_path / "a.parquet")
    back = read_table(tmp_path / "a.parquet").frame
    assert back["class"].tolist() == FRAME["class"].tolist()  # no apostrophe: it is no spreadsheet
    assert back["p"].tolist() == FRAME["p"].tolist()

"""No cell of a CSV that Mercer writes is run by a spreadsheet, and all are read back as they were.

The convention: text that begins as a formula does, and is not a number, gets an apostrophe in
front; so does text that begins with apostrophes before such a sign.  Reading takes one away.
"""

import csv
import io
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer._system.formulas import neutralised_text
from mercer.report import write_report
from mercer.report._checked_files import read_table as read_result
from mercer.studies import run_studies
from mercer.tables import read_table, write_table

SIGNS = "=+-@\t\r\n＝＋－＠"
texts = st.text(st.sampled_from(SIGNS + "'\"a1.,;e | "), max_size=8)


@given(texts)
def test_what_is_written_is_harmless(text):
    written = neutralised_text(text)
    if written[:1] in tuple(SIGNS):
        float(written)  # a number, and nothing else
    assert written in (text, "'" + text)


@pytest.mark.parametrize("number", ["-1.5", "+2", "-1e5", "-0", "1", "+1.5e-300"])
def test_numbers_stay_numbers(number):
    assert neutralised_text(number) == number


@settings(max_examples=40)
@given(st.lists(texts.filter(lambda one: one.strip(" \t\r\n'\"")), min_size=2, max_size=5))
def test_tables_come_back(tmp_path_factory, cells):
    """Cells and names alike; those that are read as numbers or gaps are texts no more."""
    cells = [f"{one}z" for one in cells]
    path = tmp_path_factory.mktemp("t") / "t.csv"
    name = cells[0].strip()
    write_table(pd.DataFrame({name: cells, "p": range(len(cells))}), path)
    for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")):
        assert not row[0].startswith(tuple(SIGNS))
    frame = read_table(path).frame
    assert list(frame) == [name, "p"]
    assert frame[name].tolist() == cells


STUDY = """
from mercer.studies import Method, Outcome, Row, Study, Table

def run(task):
    if "fail" in task.options:
        raise RuntimeError("=cmd|' /C calc'!A0")
    return Outcome(values=1.0, details={"=a": "=b"})

STUDY = Study(
    name="=study", title="=t", reference="=r", protocol={}, missing={},
    tables=(
        Table(
            key="=1", title="=t", unit="%", better="higher",
            rows=(Row(label="-row+1"), Row(label="'=row", options={"fail": 1})),
            published={},
            methods=(Method(columns=("+column",), run=run),),
        ),
    ),
)
"""


def test_results_of_studies_are_neutralised_and_shown_as_they_were(tmp_path):
    """cells.csv had labels and errors as they stood."""
    source = tmp_path / "study.py"
    source.write_text(STUDY, encoding="utf-8")
    results = run_studies([str(source)], tmp_path / "results", n_jobs=1, quick=True)
    for name in ("cells", "scores", "timings", "failures"):
        text = (results.folder / f"{name}.csv").read_text(encoding="utf-8")
        for row in csv.reader(io.StringIO(text)):
            for cell in row:
                assert not cell.startswith(tuple("=+@")) or neutralised_text(cell) == cell
    cells = read_result(results.folder, "cells.csv", ("row", "column"), ())
    assert set(cells["row"]) == {"-row+1", "'=row"}
    assert set(cells["column"]) == {"+column"}
    page = write_report(results.folder).read_text(encoding="utf-8")
    assert "&#39;=row" in page
    assert "&#39;&#39;=row" not in page
    assert json.loads((results.folder / "studies.json").read_text())[0]["name"] == "=study"

"""Tables in the paper's layout: every number once, in the right place, with the right digits."""

import pandas as pd
import pytest

from mercer.report.study._paper_tables import decimals, make_table, table_name
from mercer.report.study._results import read_results


@pytest.fixture
def views(folder):
    results = read_results(folder)
    return {
        (study["name"], table["key"]): make_table(
            table,
            results.cells[
                (results.cells["study"] == study["name"]) & (results.cells["table"] == table["key"])
            ],
        )
        for study in results.studies
        for table in study["tables"]
    }


def _rows(view):
    return {row.label: row for row in view.rows}


def test_rows_and_columns_are_in_the_papers_order(views, nasty):
    view = views["laplacian", "VI"]
    assert [row.label for row in view.rows][:3] == ["Banana", "Thyroid", "Image"]
    assert [row.label for row in view.rows][-1] == nasty
    assert [column.name for column in view.columns] == ["Laplacian", "SVM", "Parzen (ours)"]
    assert [column.ours for column in view.columns] == [False, False, True]
    assert view.better == "higher is better"


def test_every_measured_number_stands_in_its_place(folder, views):
    cells = pd.read_csv(folder / "cells.csv").fillna({"reading": ""})
    for (study, key), view in views.items():
        part = cells[(cells["study"] == study) & (cells["table"] == key)]
        part = part[part["measured"].notna()]
        shown = sum(
            bool(cell.value) for row in view.rows for line in row.lines for cell in line.cells
            if line.kind != "published"
        )  # fmt: skip
        assert shown == len(part)
        slots = [(c.name, reading) for c in view.columns for reading in c.readings]
        rows = _rows(view)
        for one in part.to_dict("records"):
            kind = "honest" if one["protocol"] == "honest" else "measured"
            line = next(line for line in rows[one["row"]].lines if line.kind == kind)
            cell = line.cells[slots.index((one["column"], one["reading"]))]
            assert abs(float(cell.value) - one["measured"]) <= 0.051
            assert cell.mark.name == one["mark"]
            assert cell.protocol == one["protocol"]


def test_readings_are_columns_under_the_published_number(views):
    view = views["faces-roweis-saul", "2"]
    (column,) = view.columns
    assert column.readings == ("683 rows", "307 rows")
    assert view.width == 2
    soy = _rows(view)["Soy"]
    published, measured = soy.lines
    assert [(cell.value, cell.dimension, cell.span) for cell in published.cells] == [
        ("8.8", "5", 2)
    ]
    assert [(cell.value, cell.mark.name) for cell in measured.cells] == [
        ("8.5", "reached"),
        ("12.3", "short"),
    ]
    assert [cell.counts for cell in measured.cells] == [True, False]
    assert soy.sort == (8.46, 12.3)


def test_rows_that_cannot_be_measured_say_so_once(views):
    rows = _rows(views["faces-roweis-saul", "2"])
    assert rows["FERET"].message == "not available: FERET may not be passed on."
    assert rows["MNIST"].message == "no data: no data set mnist on this machine"
    assert rows["Yale"].message == "not run"
    assert rows["ORL"].marks == ["failed"]
    assert [line.kind for line in rows["FERET"].lines] == ["published"]
    assert rows["FERET"].sort == (4.5, None)
    assert rows["Nothing at all"].lines == ()


def test_a_table_of_many_lines_keeps_its_heads_in_view(views, page):
    long, short = (view for view in views.values() if len(view.rows) > 1)
    assert (long.is_high, short.is_high) == (True, False)
    text = page.read_text(encoding="utf-8")
    assert text.count('<div class="scroll high"') == 1


def test_integers_stay_integers_and_means_get_a_decimal(views):
    (row,) = views["faces-roweis-saul", "count"].rows
    published, measured = row.lines
    assert published.cells[0].value == "12"
    assert measured.cells[0].value == "15.2"
    assert measured.cells[0].spread == ""


def test_a_missing_number_among_measured_ones_is_told_in_its_cell(folder):
    results = read_results(folder)
    cells = results.cells[results.cells["table"] == "VI"].copy()
    first = cells.index[0]
    cells.loc[first, ["measured", "spread"]] = float("nan")
    cells.loc[first, ["mark", "reason"]] = ["failed", "KeyError: 'x'"]
    view = make_table(results.studies[0]["tables"][0], cells)
    cell = view.rows[0].lines[1].cells[0]
    assert (cell.value, cell.mark.name, cell.hint) == ("", "failed", "KeyError: 'x'")


def test_rows_of_the_paper_only_are_known(views):
    lines = views["faces-roweis-saul", "2"].rows[0].lines
    assert [line.paper_only for line in lines] == [False, True]
    (row,) = views["faces-roweis-saul", "count"].rows
    assert not row.lines[1].paper_only  # "either" is honest too


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("VI", "Table VI"),
        ("I–III", "Tables I–III"),
        ("2", "Table 2"),
        ("2 (nodes)", "Table 2 (nodes)"),
        ("usps", "Usps"),
        ("Figs 3–4", "Figs 3–4"),
    ],
)
def test_names_of_tables(key, name):
    assert table_name(key) == name


def test_decimals_of_printed_numbers():
    assert decimals([89.4, 95.0, 12.25]) == 2
    assert decimals([float("nan")]) == 0
    assert decimals([3.0]) == 0

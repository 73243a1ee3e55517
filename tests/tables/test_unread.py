"""Some cells among numbers or dates are neither: they become missing, and a note names them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.tables import (
    Column,
    Table,
    describe_columns,
    make_preprocessor,
    match_columns,
    read_table,
    split_target,
)

N = 200
DAYS = pd.Series(pd.date_range("2020-01-01", periods=N))


def measured(seed: int = 0) -> list[str]:
    return [f"{value:.3f}" for value in np.random.default_rng(seed).normal(size=N)]


def described(values: list, name: str = "a", **options) -> Column:
    return describe_columns(pd.DataFrame({name: values}), **options)[0]


def with_cells(values: list, cells: dict[int, object]) -> list:
    return [cells.get(i, value) for i, value in enumerate(values)]


def test_a_column_with_one_junk_cell_is_numbers_and_the_note_names_cell_and_row() -> None:
    column = described(with_cells(measured(), {16: "n.v."}))
    assert (column.kind, column.used, column.n_missing) == ("number", True, 1)
    assert column.reason == "1 cell is not a number and is taken as missing ('n.v.' in row 17)"


def test_several_junk_cells_are_counted_and_the_first_is_named() -> None:
    column = described(with_cells(measured(), {30: "12.5*", 16: "0.05!", 90: "n.v."}))
    assert column.reason == (
        "3 cells are not numbers and are taken as missing (first '0.05!' in row 17)"
    )


def test_numbers_of_few_different_values_with_a_junk_cell_are_no_category() -> None:
    values = [str(i % 7) for i in range(N)]
    assert described(with_cells(values, {3: "n.v."})).kind == "number"


def test_the_share_is_of_cells_with_a_value_and_its_bound_is_95_in_100() -> None:
    for n_gaps in (0, 40):
        junk = (N - n_gaps) // 20
        gaps = dict.fromkeys(range(n_gaps // 2), "") | dict.fromkeys(
            range(n_gaps // 2, n_gaps), "unknown"
        )
        for n_junk, kind in ((junk, "number"), (junk + 1, "identifier")):
            cells = gaps | dict.fromkeys(range(n_gaps, n_gaps + n_junk), "n.v.")
            assert described(with_cells(measured(), cells)).kind == kind, (n_gaps, n_junk)


def test_rows_count_and_not_different_values() -> None:
    values = ["1", "2"] * (N // 2)
    assert described(with_cells(values, {0: "a", 1: "b", 2: "c"})).kind == "number"
    many = with_cells(["1", "2", "3"] * 100, dict.fromkeys(range(16), "other"))
    assert described(many).categories == ("1", "2", "3", "other")


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        pytest.param([f"{7 * i:05d}" for i in range(N)], {3: "n.v."}, id="leading zeros"),
        pytest.param(
            [str(536000 + i // 3) for i in range(N)], {3: "C536001", 9: "C536003"}, id="invoices"
        ),
        pytest.param(
            [str(94000 + i % 90) for i in range(N)], {3: "94001-1234", 8: "94002-0001"}, id="zip+4"
        ),
        pytest.param(["1"] * N, {3: "no", 8: "no"}, id="one number"),
        pytest.param(["2020-01-31"] * N, {3: "no", 8: "no"}, id="one date"),
    ],
)
def test_codes_and_marks_do_not_become_numbers(values: list[str], cells: dict[int, str]) -> None:
    assert described(with_cells(values, cells)).kind in ("category", "identifier")


def test_one_cell_with_a_unit_does_not_make_codes() -> None:
    values = [str(10000 + 37 * i) for i in range(N)]
    assert described(with_cells(values, {3: "10111 EUR"})).kind == "number"


def test_numbers_that_name_rows_do_so_with_a_junk_cell() -> None:
    values = [str(i) for i in range(N)]
    for row in (0, 50, N - 1):
        assert described(with_cells(values, {row: "n.v."})).kind == "identifier"
    wide = [str(i * i) for i in range(N)]
    assert described(with_cells(wide, {5: "n.v."}), "patient_id").kind == "identifier"
    assert described(with_cells(wide, {5: "n.v."}), "size").kind == "number"


def test_the_style_with_the_fewest_junk_cells_counts() -> None:
    thousands = [f"{i % 9 + 1},{i:03d}" for i in range(N)]  # 1,234: also a decimal comma
    assert described(with_cells(thousands, {3: "n.v."})).style == "1,234.5"
    mixed = with_cells(thousands, {3: "n.v.", 7: "1,5", 9: "2,25"})
    assert described(mixed).style == "1234,5"
    assert described(mixed).n_missing == 1


def test_dates_with_junk_cells_are_dates() -> None:
    for style in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y"):
        values = with_cells(DAYS.dt.strftime(style).tolist(), {4: "n.v.", 9: "0000-00-00"})
        column = described(values)
        assert (column.kind, column.style, column.n_missing) == ("date", style, 2)
        assert column.reason == (
            "2 cells are not dates and are taken as missing (first 'n.v.' in row 5)"
        )


def test_a_few_days_beyond_12_tell_months_from_days() -> None:
    values = with_cells([f"05/{i % 12 + 1:02d}/2020" for i in range(N)], {7: "05/31/2020"})
    assert described(values).style == "%m/%d/%Y"
    assert described(with_cells(values, {8: "n.v."})).style == "%m/%d/%Y"
    assert described(with_cells(values, {8: "n.v."})).reason.startswith("1 cell is not a date")
    doubtful = with_cells([f"05/{i % 12 + 1:02d}/2020" for i in range(N)], {7: "n.v."})
    assert described(doubtful).reason.endswith("is in doubt; the day is taken first")


def test_a_kind_that_was_asked_for_is_as_patient_and_names_the_row_otherwise() -> None:
    frame = pd.DataFrame({"a": with_cells(measured(), {16: "n.v."}), "y": ["p", None] * (N // 2)})
    assert describe_columns(frame, kinds={"a": "number"})[0].n_missing == 1
    bad = frame.assign(a=with_cells(measured(), {i: f"bad {i}" for i in range(20, 40)}))
    with pytest.raises(ValueError, match=r"cannot be read as numbers: row 21 holds 'bad 20'\.$"):
        describe_columns(bad, kinds={"a": "number"})


def test_rows_are_those_of_the_file_where_rows_without_a_class_are_left_out() -> None:
    classes = [None if i < 10 else "pq"[i % 2] for i in range(N)]
    frame = pd.DataFrame({"a": with_cells(measured(), {16: "n.v."}), "y": classes})
    data = split_target(frame, "y")
    assert "Column 'a': 1 cell is not a number and is taken as missing ('n.v.' in row 17)." in (
        data.notes
    )
    assert data.X.loc[16, "a"] != data.X.loc[16, "a"]
    assert data.X["a"].isna().sum() == 1


def test_one_junk_cell_in_every_column_leaves_every_column() -> None:
    frame = pd.DataFrame(
        {f"c{k}": with_cells(measured(k), {k: "n.v."}) for k in range(12)}
        | {"day": with_cells(DAYS.astype(str).tolist(), {5: "n.v."}), "y": list("pq") * (N // 2)}
    )
    data = split_target(frame, "y")
    assert data.X.shape == (N, 13)
    assert data.X.isna().sum().tolist() == [1] * 13
    about = [note for note in data.notes if "taken as missing" in note]
    assert len(about) == 10  # then one for the rest
    assert data.notes[-1] == (
        "3 more columns ('c10', 'c11' and 'day') are read in a particular way; the list of columns "
        "says how."
    )


def write(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.astype(str).to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".xlsx", ".parquet"])
def test_every_format_is_read_alike(tmp_path: Path, ending: str) -> None:
    numbers = [float(text) for text in measured()]
    frame = pd.DataFrame(
        {"a": with_cells(numbers, {16: "n.v."}), "b": numbers, "y": list("pq") * (N // 2)}
    )
    data = split_target(read_table(write(frame, tmp_path / f"t{ending}")), "y")
    assert list(data.X) == ["a", "b"]
    np.testing.assert_array_equal(data.X["a"], with_cells(numbers, {16: np.nan}))
    assert data.notes == (
        "Column 'a': 1 cell is not a number and is taken as missing ('n.v.' in row 17).",
    )


@pytest.mark.parametrize("n", [1, 3, N])
def test_a_junk_cell_of_a_new_file_is_missing_with_a_note(n: int) -> None:
    train = pd.DataFrame({"a": measured(), "day": DAYS, "y": list("pq") * (N // 2)})
    data = split_target(train, "y")
    new = pd.DataFrame(
        {"a": with_cells(measured(1), {0: "n.v."}), "day": with_cells(list(DAYS), {0: "soon"})}
    ).head(n)
    table = match_columns(Table(new, "new.csv"), data.columns)
    where = [note for note in table.notes if "taken as missing" in note]
    assert where == [
        "Column 'a' of new.csv: 1 cell is not a number and is taken as missing ('n.v.' in row 1).",
        "Column 'day' of new.csv: 1 cell is not a date and is taken as missing ('soon' in row 1).",
    ]
    assert table.frame.isna().sum().tolist() == [1, 1]
    seen = make_preprocessor(data.columns).fit(data.X).transform(table.frame)
    assert np.all(np.isfinite(seen))


def test_dates_of_a_workbook_with_a_junk_cell_are_read_in_the_style_of_training() -> None:
    columns = describe_columns(pd.DataFrame({"day": DAYS.dt.strftime("%d.%m.%Y")}))
    new = pd.DataFrame({"day": with_cells([day.to_pydatetime() for day in DAYS], {3: "soon"})})
    frame = match_columns(new, columns).frame
    assert frame["day"].isna().tolist() == [i == 3 for i in range(N)]
    assert frame["day"].drop(3).tolist() == DAYS.drop(3).tolist()
    assert describe_columns(new)[0].kind == "date"


def test_a_column_of_another_kind_is_refused() -> None:
    columns = describe_columns(pd.DataFrame({"a": measured()}))
    half = pd.DataFrame({"a": with_cells(measured(), dict.fromkeys(range(N // 2), "x"))})
    assert match_columns(half, columns).frame["a"].isna().sum() == N // 2
    more = pd.DataFrame({"a": with_cells(measured(), dict.fromkeys(range(N // 2 + 1), "x"))})
    with pytest.raises(ValueError, match=r"'a' of the table holds 'x' in row 1, where numbers are"):
        match_columns(more, columns)
    five = pd.DataFrame({"a": ["x"] * 5})
    assert match_columns(five, columns).frame["a"].isna().all()
    with pytest.raises(ValueError, match="more such cells than others"):
        match_columns(pd.DataFrame({"a": ["x"] * 6}), columns)


def test_signs_of_missing_values_are_no_junk() -> None:
    columns = describe_columns(pd.DataFrame({"a": measured()}))
    new = pd.DataFrame({"a": ["unknown", "-", "1.5", "X"]})
    assert match_columns(new, columns).notes == (
        "Column 'a' of the table: 1 cell is not a number and is taken as missing ('X' in row 4).",
        "Column 'a' of the table has 2 values taken as missing.",
    )

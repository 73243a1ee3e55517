import numpy as np
import pandas as pd
import pytest

from mercer.tables import Table, describe_columns, match_columns, split_target

TRAIN = pd.DataFrame(
    {
        "price": ["1,5", "2,25", "3,125", "4"] * 10,
        "pet": ["cat", "dog", "cat", None] * 10,
        "day": ["05/06/2020", "07/08/2021", "25/12/2020", "01/01/2020"] * 10,
        "code": ["01", "02", "10", "11"] * 10,
        "flag": [True, False] * 20,
        "name": [f"n{i}" for i in range(40)],
    }
)
COLUMNS = describe_columns(TRAIN)


def test_the_training_table_matches_itself() -> None:
    data = split_target(TRAIN.assign(y=["p", "q"] * 20), "y")
    table = match_columns(TRAIN, data.columns)
    pd.testing.assert_frame_equal(table.frame, data.X)
    assert table.notes == ()


def test_columns_are_found_by_name_and_read_in_the_same_style() -> None:
    new = pd.DataFrame(
        {
            "day": ["05/06/2020"],  # day first, although alone it is in doubt
            "flag": ["TRUE"],
            "code": [10],
            "pet": ["dog"],
            "price": ["3,125"],  # a decimal comma, although alone it could divide thousands
            "name": ["someone"],
        }
    )
    table = match_columns(new, COLUMNS)
    assert table.frame.columns.tolist() == ["price", "pet", "day", "code", "flag"]
    assert table.frame.iloc[0].tolist() == [3.125, "dog", pd.Timestamp(2020, 6, 5), "10", "True"]
    assert table.notes == ()


def test_plain_numbers_do_for_any_style() -> None:
    new = TRAIN.assign(price=np.arange(40) / 4)
    np.testing.assert_array_equal(match_columns(new, COLUMNS).frame["price"], np.arange(40) / 4)
    new = TRAIN.assign(price=["2.5"] * 39 + ["3,5"])
    np.testing.assert_array_equal(match_columns(new, COLUMNS).frame["price"], [2.5] * 39 + [3.5])


def test_unused_columns_need_not_be_there_and_others_are_noted() -> None:
    new = Table(TRAIN.drop(columns="name").assign(x=1, y=2, z=3, u=4), "new.csv", ("before",))
    notes = match_columns(new, COLUMNS).notes
    assert notes == ("before", "Columns 'x', 'y', 'z' and 1 more of new.csv are not used.")


def test_new_categories_are_counted() -> None:
    new = TRAIN.assign(pet=["emu"] * 3 + ["yak"] * 2 + ["cat"] * 35)
    table = match_columns(Table(new, "new.csv"), COLUMNS)
    (note,) = table.notes
    assert note.startswith("Column 'pet' of new.csv has 2 categories that the model does not know")
    assert note.endswith("('emu' and 'yak', in 5 rows).")
    assert table.frame["pet"].tolist()[:4] == ["emu"] * 3 + ["yak"]


def test_a_new_table_of_numbers_may_have_gaps() -> None:
    new = TRAIN.assign(price=[np.inf, "-", "?", None] + ["1,5"] * 36, pet=None)
    table = match_columns(new, COLUMNS)
    assert table.frame["price"].isna().tolist() == [True] * 4 + [False] * 36
    assert "Column 'price' of the table has 3 values taken as missing." in table.notes
    assert "Column 'pet' of the table has no values; the model will take its usual one." in (
        table.notes
    )


def test_one_row_is_enough() -> None:
    assert len(match_columns(TRAIN.head(1), COLUMNS).frame) == 1


@pytest.mark.parametrize("seed", range(3))
def test_order_of_columns_and_rows_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(TRAIN))
    names = rng.permutation(TRAIN.columns.to_numpy(dtype=object))
    shuffled = TRAIN.iloc[rows][list(names)].reset_index(drop=True)
    found = {column.name: column for column in describe_columns(shuffled)}
    assert found == {column.name: column for column in COLUMNS}
    pd.testing.assert_frame_equal(
        match_columns(shuffled, COLUMNS).frame,
        match_columns(TRAIN, COLUMNS).frame.iloc[rows].reset_index(drop=True),
    )

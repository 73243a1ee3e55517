"""Few rows take a quicker way through matching and preparing; nothing else may differ."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer

from mercer.tables import describe_columns, make_preprocessor, match_columns, split_target
from mercer.tables.preparing._table_transformer import TableTransformer
from mercer.tables.typing._cells import as_text

MANY = 200  # More than take the quick way.


def shop(n: int = MANY, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "visits": rng.integers(0, 9, n),
            "price": [f"${price:,.2f}" for price in rng.lognormal(7, 1, n)],
            "share": [f"{share:.1f}%" for share in rng.uniform(0, 90, n)],
            "city": rng.choice(
                ["Ulm", "Jena", "Bonn", "Köln", "Hof"], n, p=[0.5, 0.3, 0.1, 0.09, 0.01]
            ),
            "vip": rng.random(n) < 0.3,
            "day": (np.datetime64("2020-01-01") + rng.integers(0, 900, n)).astype(str),
            "time": (np.datetime64("2020-01-01T00:00") + rng.integers(0, 10**6, n)).astype(str),
            "y": rng.choice(["p", "q"], n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    frame.loc[rng.random(n) < 0.2, ["price", "city", "time"]] = None
    return frame


@pytest.mark.parametrize("scale", [True, False, "soft-ranks"])
def test_numbers_are_those_of_a_column_transformer(scale):
    data = split_target(shop(), "y")
    fitted = make_preprocessor(data.columns, scale=scale).fit(data.X[:150])
    for rows in (data.X, data.X[3:4], data.X[150:160]):
        np.testing.assert_array_equal(
            fitted.transform(rows), ColumnTransformer.transform(fitted, rows)
        )


def test_the_quick_way_is_taken(monkeypatch):
    data = split_target(shop(), "y")
    fitted = make_preprocessor(data.columns).fit(data.X)

    def refuse(*_, **__):
        raise AssertionError("the long way")

    monkeypatch.setattr(ColumnTransformer, "transform", refuse)
    assert len(fitted.transform(data.X[:1])) == 1
    for others in (
        data.X[:1].iloc[:, ::-1],
        data.X[:1].assign(more=1.0),
        data.X[:1].astype(object),
    ):
        with pytest.raises(AssertionError, match="the long way"):
            fitted.transform(others)


def test_columns_in_another_order_are_found_by_name():
    data = split_target(shop(), "y")
    fitted = make_preprocessor(data.columns).fit(data.X)
    np.testing.assert_array_equal(fitted.transform(data.X.iloc[:, ::-1]), fitted.transform(data.X))


def test_frames_where_they_are_asked_for():
    data = split_target(shop(), "y")
    fitted = make_preprocessor(data.columns).fit(data.X)
    numbers = fitted.transform(data.X[:4])
    framed = make_preprocessor(data.columns).set_output(transform="pandas").fit(data.X)
    found = framed.transform(data.X[:4])
    assert isinstance(found, pd.DataFrame)
    np.testing.assert_array_equal(found.to_numpy(), numbers)


def test_an_infinite_number_is_refused_as_by_scikit_learn():
    data = split_target(shop(), "y")
    fitted = make_preprocessor(data.columns).fit(data.X)
    with pytest.raises(ValueError, match="infinity"):
        fitted.transform(data.X[:2].assign(age=np.inf))


def test_one_row_at_a_time_is_matched_and_answered_as_all_of_them():
    frame = shop()
    data = split_target(frame, "y")
    fitted = make_preprocessor(data.columns, scale="soft-ranks").fit(data.X, data.y)
    new = shop(MANY, seed=1).drop(columns="y")
    together = fitted.transform(match_columns(new, data.columns).frame)
    alone = [
        fitted.transform(match_columns(new.iloc[[row]], data.columns).frame)
        for row in range(0, MANY, 10)
    ]
    np.testing.assert_array_equal(np.vstack(alone), together[::10])


CELLS = st.one_of(
    st.none(),
    st.text(max_size=4),
    st.sampled_from(["NA", " a ", "true", "1", "1.0", "?"]),
    st.integers(-3, 3),
    st.sampled_from([1.0, 0.5, float("nan")]),
    st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=8), st.booleans())
def test_a_short_column_has_the_texts_of_a_long_one(cells, is_category):
    short = pd.Series(cells, dtype=object)
    if is_category:
        short = short.astype("category")
    long = pd.concat([short] * MANY, ignore_index=True)
    few, many = as_text(short), as_text(long)
    assert few.categories.tolist() == many.categories.tolist()
    assert few.codes.tolist() == many.codes[: len(cells)].tolist()


def test_notes_on_one_row_are_those_on_many():
    columns = describe_columns(shop(), "y")
    row = pd.DataFrame(
        [{"age": "old", "visits": 2, "price": "7", "share": "0.5", "city": "Rom", "vip": "false",
          "day": "2020-13-13", "time": "", "pet": "cat"}]
    )  # fmt: skip
    few = match_columns(row, columns)
    many = match_columns(pd.concat([row] * 5), columns)
    assert [note.split("(")[0] for note in few.notes if "cell" in note] == [
        "Column 'age' of the table: 1 cell is not a number and is taken as missing ",
        "Column 'day' of the table: 1 cell is not a date and is taken as missing ",
    ]
    assert len(few.notes) == len(many.notes)
    assert isinstance(make_preprocessor(columns), TableTransformer)

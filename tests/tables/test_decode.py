"""Numbers that a classifier sees → the values of the table."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.tables import (
    SoftRankScaler,
    Table,
    decode_rows,
    describe_columns,
    make_preprocessor,
    match_columns,
)

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.lists(st.floats(-2e6, 2e6), max_size=10))
def test_soft_ranks_come_back(column, new):
    scaler = SoftRankScaler().fit(np.reshape(column, (-1, 1)))
    there = scaler.inverse_transform(scaler.transform(np.reshape(column, (-1, 1))))
    np.testing.assert_array_equal(there.ravel(), np.add(column, 0.0))
    if len(new) and len(set(column)) > 1:
        coordinates = scaler.transform(np.reshape(new, (-1, 1)))
        back = scaler.transform(scaler.inverse_transform(coordinates))
        np.testing.assert_allclose(back, coordinates, atol=1e-9)


def test_a_gap_between_knots_is_halved_until_digits_end():
    column = np.sort(np.random.default_rng(0).lognormal(size=3000))
    scaler = SoftRankScaler().fit(column[:, None])
    assert len(scaler.knots_[0]) < 3000
    back = scaler.inverse_transform(scaler.transform(column[:, None])).ravel()
    np.testing.assert_allclose(back, column, rtol=1e-10)


def test_coordinates_beyond_all_numbers_are_infinite_and_missing_ones_missing():
    scaler = SoftRankScaler().fit([[1.0], [2.0], [5.0]])
    found = scaler.inverse_transform([[9.0], [-9.0], [np.nan]]).ravel()
    np.testing.assert_array_equal(found, [np.inf, -np.inf, np.nan])


def frame(n=60, seed=0):
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "city": rng.choice(["Bath", "Ely", "York"], n),
            "born": pd.date_range("1960-02-29", periods=n, freq="201D"),
            "seen": pd.date_range("2020-01-01 06:30", periods=n, freq="37h"),
            "pay": rng.lognormal(8, 1, n).round(2),
        }
    )
    found.loc[::7, "age"] = np.nan
    found.loc[1::9, "city"] = None
    found.loc[2::8, "seen"] = pd.NaT
    return found


@pytest.mark.parametrize("scale", [True, False, "soft-ranks"])
def test_a_table_comes_back(scale):
    given = frame()
    columns = describe_columns(Table(given))
    X = match_columns(given, columns).frame
    preprocessor = make_preprocessor(columns, scale=scale).fit(X)
    found = decode_rows(preprocessor, preprocessor.transform(X))
    assert list(found.columns) == list(given.columns)
    for name in ("age", "pay"):
        np.testing.assert_allclose(found[name], given[name], rtol=1e-9)
    if scale == "soft-ranks":
        np.testing.assert_array_equal(found["pay"], given["pay"])
    np.testing.assert_array_equal(found["city"].isna(), given["city"].isna())
    assert list(found["city"].dropna()) == list(given["city"].dropna())
    for name in ("born", "seen"):
        np.testing.assert_array_equal(found[name], given[name].to_numpy().astype("M8[s]"))


def test_what_was_not_kept_apart_is_said():
    train = frame()
    train.loc[10, "city"] = "Ryde"
    columns = describe_columns(Table(train))
    X = match_columns(train, columns).frame
    preprocessor = make_preprocessor(columns).fit(X)
    far = match_columns(train[:1].assign(pay=1e9, city="Hull"), columns).frame
    found = decode_rows(preprocessor, preprocessor.transform(far))
    limit = X["pay"].mean() + 4 * X["pay"].std(ddof=0)
    assert found["pay"][0] == pytest.approx(limit)
    assert found["city"].isna().all()
    rare = decode_rows(preprocessor, preprocessor.transform(X[10:11]))
    assert rare["city"][0] == "(infrequent)"


def test_a_table_without_numbers_comes_back():
    given = pd.DataFrame({"city": ["Bath", "Ely"] * 10})
    columns = describe_columns(Table(given))
    X = match_columns(given, columns).frame
    preprocessor = make_preprocessor(columns).fit(X)
    assert list(decode_rows(preprocessor, preprocessor.transform(X))["city"]) == list(given["city"])

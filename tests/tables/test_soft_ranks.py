"""``SoftRankScaler``: half a bent value, half a rank."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from mercer.tables import SoftRankScaler, describe_columns, make_preprocessor
from mercer.tables.preparing import _transformers


def literal(column, new):
    """The formula of the docstring, value by value; ranks between values are interpolated."""
    known = sorted(value for value in column if value == value)
    low, median, high = np.percentile(known, [25, 50, 75])
    spread = (high - low) / 1.3489795 or np.std(known) or 1.0
    found = []
    for value in new:
        z = (value - median) / spread
        left = max((v for v in known if v <= value), default=known[0])
        right = min((v for v in known if v >= value), default=known[-1])
        ranks = [  # values below, and half of the equal ones
            (sum(v < near for v in known) + known.count(near) / 2) / len(known)
            for near in (left, right)
        ]
        inside = 0.0 if left == right else (value - left) / (right - left)
        rank = ranks[0] + inside * (ranks[1] - ranks[0])
        bent = z / np.sqrt(1 + (z / 3) ** 2)
        found.append(bent / 2 + np.sqrt(12) * (rank - 0.5) / 2)
    return np.array(found)


NUMBERS = st.floats(-100, 100).map(lambda x: round(x, 2))
COLUMNS = st.lists(NUMBERS, min_size=2, max_size=30).filter(lambda c: len(set(c)) > 1)


@given(COLUMNS, st.lists(NUMBERS, min_size=1, max_size=10))
def test_coordinates_are_those_of_the_formula(column, new):
    scaler = SoftRankScaler().fit(np.array(column)[:, None])
    for values in (column, new):
        found = scaler.transform(np.array(values)[:, None])[:, 0]
        np.testing.assert_allclose(found, literal(column, values), rtol=1e-9, atol=1e-9)


def test_five_values_by_hand():
    # Median 3, quartiles 2 and 4: z = 1.3489795·(x − 3)/2; ranks 0.1, 0.3, …, 0.9.
    found = SoftRankScaler().fit_transform([[1.0], [2.0], [3.0], [4.0], [1e9]])[:, 0]
    z = 1.3489795 * np.array([-2, -1, 0, 1, 1e9 - 3]) / 2
    expected = z / np.sqrt(1 + z**2 / 9) / 2 + np.sqrt(3) * np.array([-0.4, -0.2, 0, 0.2, 0.4])
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(COLUMNS, st.lists(st.floats(-1e308, 1e308), min_size=2, max_size=20))
def test_larger_values_never_have_smaller_coordinates(column, new):
    found = SoftRankScaler().fit(np.array(column)[:, None]).transform(np.sort(new)[:, None])
    assert np.isfinite(found).all()
    assert (np.diff(found[:, 0]) > -1e-14).all()  # but for rounding


@given(COLUMNS, st.sampled_from([0.25, 2.0, 2.0**40]), st.sampled_from([0.0, -8.0, 1024.0]))
def test_unit_and_origin_say_nothing(column, unit, origin):
    X = np.round(np.array(column)[:, None] * 64) / 64  # so that both change them exactly
    if len(np.unique(X)) < 2:
        return
    expected = SoftRankScaler().fit_transform(X)
    found = SoftRankScaler().fit_transform(unit * (X + origin))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_missing_values_stay_missing_and_do_not_count():
    X = np.array([[1.0, np.nan, 7.0], [np.nan, np.nan, 7.0], [2.0, np.nan, 7.0], [4.0, np.nan, 7]])
    found = SoftRankScaler().fit_transform(X)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    alone = SoftRankScaler().fit_transform(X[[0, 2, 3], :1])
    np.testing.assert_array_equal(found[[0, 2, 3], :1], alone)
    np.testing.assert_array_equal(found[:, 2], 0)  # one value only
    empty = SoftRankScaler().fit(X).transform([[3.0, 0.0, 7.0]])
    assert empty[0, 1] == 0


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300, 5e-324])
def test_numbers_of_any_size_have_finite_coordinates(size):
    X = size * np.array([[-1.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    scaler = SoftRankScaler().fit(X)
    new = np.array([[-1.7e308], [-1.0], [0.0], [1.0], [1.7e308]])
    for rows in (X, new):
        found = scaler.transform(rows)
        assert np.isfinite(found).all()
        assert np.abs(found).max() <= 1.5 + np.sqrt(3) / 2
    assert (np.diff(scaler.transform(X)[[0, 1, 3], 0]) > 0).all()


def test_quantiles_stand_for_many_values():
    X = np.random.default_rng(0).lognormal(sigma=2, size=(20_000, 1))
    scaler = SoftRankScaler().fit(X)
    assert len(scaler.knots_[0]) <= _transformers._MOST_KNOTS
    ranks = np.interp(X[:, 0], scaler.knots_[0], scaler.ranks_[0])
    np.testing.assert_allclose(ranks, (rankdata(X[:, 0]) - 0.5) / len(X), atol=1e-2)
    assert scaler.ranks_[0][0] == 0.5 / len(X)
    assert scaler.ranks_[0][-1] == 1 - 0.5 / len(X)


def test_a_preprocessor_of_soft_ranks_has_categories_of_height_one_half():
    frame = pd.DataFrame({"size": np.arange(40.0) ** 2, "pet": ["cat", "dog"] * 20})
    made = make_preprocessor(describe_columns(frame), scale="soft-ranks").fit_transform(frame)
    np.testing.assert_allclose(made[:, 0], SoftRankScaler().fit_transform(frame[["size"]])[:, 0])
    np.testing.assert_array_equal(np.sort(made[:, 1:], axis=1), [[0, 0.5]] * 40)

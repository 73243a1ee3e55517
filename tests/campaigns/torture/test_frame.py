"""The frame judges as it says: right answers pass, all else is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torture import cases
from torture.cases import (
    LABELS,
    LAYOUTS,
    WEIGHTS,
    Points,
    Refusal,
    agree,
    answered,
    labels,
    law,
    points,
    weights,
)


def test_agree_notices_nan_and_the_wrong_infinity():
    agree([np.inf, 1.0], [np.inf, 1.0])
    agree([1.0 + 1e-9], [1.0], rtol=1e-8)
    for out, expected in (
        ([np.nan], [np.nan]),
        ([np.inf], [-np.inf]),
        ([1.0], [1.1]),
        ([1], [[1]]),
    ):
        with pytest.raises(AssertionError):
            agree(out, expected, rtol=1e-8)


def test_only_a_sentence_of_ours_that_names_a_parameter_is_a_refusal():
    from mercer.sums import kernel_sum

    X = np.ones((2, 1))
    assert isinstance(answered(kernel_sum, X, bandwidth=0.0, names=("bandwidth",)), Refusal)
    with pytest.raises(AssertionError, match="no clear refusal"):
        answered(kernel_sum, X, bandwidth=0.0, names=("weights",))
    with pytest.raises(AssertionError, match="no clear refusal"):
        answered(np.zeros, -1, names=("negative",))
    with pytest.raises(AssertionError, match="no clear refusal"):  # LinAlgError is a ValueError
        answered(np.linalg.inv, np.zeros((2, 2)), names=("matrix",))


def test_a_law_counts_answers_and_refusals_and_lets_failures_through(monkeypatch):
    monkeypatch.setattr(cases, "TALLY", {})

    @law(1000, number=st.integers(0, 10**6))
    def test_even_numbers_are_answered(number):
        return Refusal("It is odd.") if number % 2 else number

    @law(1000, number=st.integers(0, 10**6))
    def test_small_numbers_only(number):
        assert number < 2

    test_even_numbers_are_answered(long=False)
    count = cases.TALLY["even numbers are answered"]
    assert count.answered > 0
    assert count.refused > 0
    assert count.answered + count.refused == 1000 // cases.SHARE
    assert "| even numbers are answered | 10 | " in cases.table()
    with pytest.raises(AssertionError):
        test_small_numbers_only(long=True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_as_their_recipe_says(layout):
    for dtype in ("float64", "float32"):
        recipe = Points(n=5, d=3, layout=layout, scale=20, seed=1, dtype=dtype)
        X = recipe.rows()
        assert X.shape == (5, 3)
        assert X.dtype == dtype
        assert np.isfinite(X).all()
        np.testing.assert_array_equal(X, recipe.rows())


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_are_as_their_kind_says(kind):
    for dtype in ("float64", "float32"):
        w = weights(kind, 6, seed=0, dtype=dtype)
        assert np.isfinite(w).all()
        assert (w >= 0).all()
        assert w.any()


@pytest.mark.parametrize("kind", LABELS)
def test_each_class_has_a_row(kind):
    assert set(labels(kind, 7, 3, seed=0)) == {0, 1, 2}


@given(points(dtypes=("float32", "float64")))
def test_rows_stay_in_the_range_of_their_precision(recipe):
    assert np.isfinite(recipe.rows()).all()

"""A warning where one column drowns the others, and none where none does."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import ISEClassifier, LaplacianClassifier, ParzenClassifier
from mercer.samples import warn_of_scales

MODELS = [ParzenClassifier, LaplacianClassifier, ISEClassifier]
WINE, KINDS = load_wine(return_X_y=True, as_frame=True)


def warned(X, y, model=ParzenClassifier):
    """Return what a fit warns of, without any other warning passing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model(bandwidth=1.0).fit(X, y)
    (text, *more) = [str(one.message) for one in caught] or [""]
    assert not more
    return text


@pytest.mark.parametrize("model", MODELS)
def test_wine_as_it_is_names_both_columns_their_ratio_and_what_to_do(model):
    text = warned(WINE, KINDS, model)
    assert text.startswith("Column 'proline' spreads 165 times as far as column 'alcohol', and ")
    assert f"{model.__name__} has one width for all columns; put a StandardScaler before" in text
    assert text.count(". ") == 0
    assert warned(WINE.to_numpy(), KINDS, model).startswith("Column 12 spreads 165 times as far")
    assert warned(StandardScaler().fit_transform(WINE), KINDS, model) == ""


@pytest.mark.parametrize("model", MODELS)
def test_the_warning_points_to_the_line_that_fits(model):
    with pytest.warns(UserWarning, match="StandardScaler") as caught:
        model(bandwidth=1.0).fit(WINE, KINDS)
    assert caught[0].filename == __file__


def test_pipelines_with_a_scaler_and_sets_of_one_unit_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_pipeline(StandardScaler(), LaplacianClassifier()).fit(WINE, KINDS)
        LaplacianClassifier().fit(*load_iris(return_X_y=True))


def test_rare_categories_beside_standardised_columns_are_quiet():
    rng = np.random.default_rng(0)
    categories = np.r_[np.zeros(990), np.arange(1, 11)][:, None]  # ten that are there once
    dummies = OneHotEncoder(sparse_output=False).fit_transform(categories)
    y = rng.integers(0, 2, 1000)
    numbers = rng.standard_t(3, size=(1000, 3))
    assert warned(np.hstack([StandardScaler().fit_transform(numbers), dummies]), y) == ""
    assert "spreads" in warned(np.hstack([1e3 * numbers, dummies]), y)


def test_one_narrow_column_among_many_and_far_rows_are_quiet():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    assert warned(X * [1, 1, 1, 1, 1e-6], y) == ""  # glass: one such column is no great loss
    assert warned(X * [1, 1, 1, 1, 1e6], y) != ""
    X[7, 2] = 300.0
    assert warned(X, y) == ""
    assert warned(X[:, [0]], y) == ""
    assert warned(np.c_[X[:, 0], np.full(200, 5.0)], y) == ""
    assert warned(np.ones((200, 3)), y) == ""
    assert warned(X[:, :2] * [1e3, 1], y) != ""


def _widest_against_half(X):
    """Return what the warning says: how many times as far, and which two columns."""
    with pytest.warns(UserWarning, match="spreads") as caught:
        warn_of_scales(ParzenClassifier(), X)
    said = re.match(
        r"Column (\d+) spreads (\w+) times as far as column (\d+)", str(caught[0].message)
    )
    return float(said[2]), int(said[1]), int(said[3])


def test_neither_units_of_all_columns_nor_their_order_or_origin_matter():
    X = WINE.to_numpy()
    times, wide, middle = _widest_against_half(X)
    deviation, reach = X.std(axis=0), np.ptp(X, axis=0)
    assert times == round(2 * deviation.max() / sorted(reach)[6])
    assert (wide, middle) == (12, 0)
    order = np.random.default_rng(0).permutation(13)
    again = _widest_against_half(X[:, order] + 3.0)
    assert again[0] == times
    assert (order[again[1]], order[again[2]]) == (wide, middle)
    for factor in (1e-290, 1e290):
        assert _widest_against_half(X * factor)[0] == times
    with np.errstate(all="raise"):
        assert _widest_against_half(np.array([[1e308, 1e-300], [-1e308, 3e-300]]))[0] == np.inf


def test_long_tables_sparse_ones_and_tensors_are_looked_at_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5003, 3)) * [1e4, 1, 1], rng.integers(0, 2, 5003)
    ratio = re.match(r"Column 0 spreads (\d+) times as far as column [12]", warned(X, y))
    assert int(ratio[1]) == pytest.approx(1e4 / 3.3, rel=0.2)  # half a range of 1000 rows
    assert "Column 0 spreads" in warned(csr_array(X[:300]), y[:300])
    assert "Column 0 spreads" in warned(pd.DataFrame(X[:300]).astype("float32").to_numpy(), y[:300])

"""``partial_dependence`` and ``column_interaction``, against their definitions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from mercer import KernelFisherDiscriminant, ParzenClassifier
from mercer.explanations import column_interaction, partial_dependence
from mercer.tables import ColumnNotFoundError


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)


class OfProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier with these probabilities of class 1."""

    def __init__(self, function):
        self.function, self.classes_, self.n_features_in_ = function, np.array([0, 1]), 3

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = self.function(X)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (self.function(X) > 0.5).astype(int)

    def __sklearn_is_fitted__(self):
        return True


def test_probabilities_are_means_of_rows_with_that_value():
    X, y = table()
    model = KernelFisherDiscriminant(kernel="rbf", alpha=0.1).fit(X, y)
    found = partial_dependence(model, X, "x1", n_values=40)
    np.testing.assert_array_equal(found.values, np.sort(X[:, 1]))
    for value, mean, error in zip(
        found.values, found.probabilities, found.standard_errors, strict=True
    ):
        changed = X.copy()
        changed[:, 1] = value
        shares = model.predict_proba(changed)
        np.testing.assert_allclose(mean, shares.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(error, shares.std(axis=0, ddof=1) / np.sqrt(40), rtol=1e-9)


def test_training_rows_are_taken_where_none_are_given():
    X, y = table()
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    found, given = partial_dependence(model, column=1), partial_dependence(model, X, 1)
    np.testing.assert_allclose(found.probabilities, given.probabilities, rtol=1e-9)
    assert (found.background, given.background) == ("training", "given")
    with pytest.raises(ValueError, match="LogisticRegression keeps no training rows: give X"):
        partial_dependence(LogisticRegression().fit(X, y))


def test_values_are_quantiles_and_counts_are_all_rows():
    X, y = table(n=200)
    X[:50, 1] = 0.25
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    found = partial_dependence(model, X, "x1", n_values=7)
    assert len(found.values) <= 7
    assert (np.diff(found.values) > 0).all()
    assert found.values[[0, -1]].tolist() == [X[:, 1].min(), X[:, 1].max()]
    assert 0.25 in found.values
    assert found.counts.sum() == 200


def test_columns_of_a_table_have_the_values_of_their_kind(fitted, data):
    model = fitted("fisher")
    colour = partial_dependence(model, data.X, "colour")
    counts = data.X["colour"].value_counts()
    assert dict(zip(colour.values, colour.counts, strict=True)) == dict(counts)
    when = partial_dependence(model, data.X, "when", n_values=5)
    assert when.values.dtype.kind == "M"
    assert when.values[0] == data.X["when"].min()
    number = partial_dependence(model, data.X, "count", n_values=20)
    assert np.isnan(number.values[-1])
    assert number.counts[-1] == data.X["count"].isna().sum()
    assert number.counts.sum() == len(data.X)
    np.testing.assert_array_equal(number.values[:-1], np.unique(data.X["count"].dropna()))
    red = data.X.copy()
    red["colour"] = pd.Categorical(["red"] * len(red), categories=red["colour"].cat.categories)
    at = list(colour.values).index("red")
    np.testing.assert_allclose(
        colour.probabilities[at], model.predict_proba(red).mean(axis=0), rtol=1e-9
    )


def test_a_sum_of_two_columns_has_no_interaction():
    X, _ = table()
    model = OfProbabilities(lambda X: 0.5 + 0.05 * np.tanh(X[:, 0]) + 0.05 * np.tanh(X[:, 1]))
    found = column_interaction(model, X, ("x0", "x1"))
    assert found.strength == pytest.approx(0, abs=1e-12)
    assert found.columns == ("x0", "x1")


def test_the_interaction_is_friedmans():
    X, _ = table(n=12)

    def chance(X):
        return 1 / (1 + np.exp(-X[:, 0] * X[:, 1] - X[:, 2] - 0.5 * X[:, 0]))

    def mean(columns, row):
        changed = X.copy()
        changed[:, columns] = row[columns]
        return chance(changed).mean()

    both, one, other = (
        np.array([mean(columns, row) for row in X]) for columns in ([0, 1], [0], [1])
    )
    both, one, other = both - both.mean(), one - one.mean(), other - other.mean()
    rest = both - one - other
    found = column_interaction(OfProbabilities(chance), X, (0, 1))
    assert found.strength == pytest.approx((rest**2).sum() / (both**2).sum())
    assert found.change == pytest.approx(np.sqrt((rest**2).mean()))


def test_a_constant_model_has_no_interaction():
    X, _ = table()
    found = column_interaction(OfProbabilities(lambda X: np.full(len(X), 0.3)), X)
    assert (found.strength, found.change) == (0.0, pytest.approx(0, abs=1e-12))


@pytest.mark.parametrize("columns", [("x0", "x0"), ("x0",), (0, 1, 2)])
def test_columns_that_are_not_two_are_refused(columns):
    X, y = table()
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    with pytest.raises(ValueError, match="columns must be two different columns"):
        column_interaction(model, X, columns)


@pytest.mark.parametrize("column", ["y", 3, -1, True])
def test_a_column_that_is_not_there_is_refused(column):
    X, y = table()
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    with pytest.raises(ColumnNotFoundError, match="The model sees no column"):
        partial_dependence(model, X, column)

"""What `explain_rows` takes: pipelines of any steps, searches, wrappers; and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import KernelFisherDiscriminant, ParzenClassifier
from mercer.explanations import explain_rows
from oracles.shapley import assert_exact, blobs, shapley_values


def test_scalers_before_a_kernel_leave_the_columns_apart():
    X, y = blobs()
    model = make_pipeline(StandardScaler(), KernelFisherDiscriminant(kernel="rbf")).fit(X, y)
    reasons = explain_rows(model, X[:3], background=X[4:11])
    assert reasons.exact
    assert_exact(model, X[:3], X[4:11], reasons)


def test_what_mixes_columns_is_part_of_the_classifier():
    X, y = blobs(n_columns=2)
    model = make_pipeline(PCA(2), KernelFisherDiscriminant(kernel="rbf")).fit(X, y)
    reasons = explain_rows(model, X[:3], background=X[4:11])
    assert not reasons.exact
    assert reasons.supporting is None  # its rows are of other columns
    assert_exact(model, X[:3], X[4:11], reasons)


def test_columns_of_any_kind_before_somebody_elses_preprocessing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "c": pd.Categorical(rng.choice([*"xyz"], 80))})
    y = np.where((X["a"] > 0) ^ (X["c"] == "x"), "p", "q")
    coder = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["c"]))
    model = make_pipeline(coder, RandomForestClassifier(20, random_state=0)).fit(X, y)
    reasons = explain_rows(model, X[:3], background=X[4:9])
    for i in range(3):
        one, other = (
            list(model.classes_).index(n[i]) for n in (reasons.predicted, reasons.against)
        )

        def game(players, i=i, one=one, other=other):
            mixed = X[4:9].copy()
            for player in players:
                mixed[X.columns[player]] = X.iloc[i, player]
            mixed["c"] = pd.Categorical(mixed["c"], categories=[*"xyz"])
            shares = model.predict_proba(mixed)
            return float(np.mean(shares[:, one] - shares[:, other]))

        np.testing.assert_allclose(reasons.shares[i], shapley_values(game, 2), atol=1e-12)
    assert reasons.unit == "probability"


def test_preprocessing_that_only_has_the_names_of_ours_is_somebody_elses():
    X = pd.DataFrame({"a": np.arange(40.0), "c": ["x", "y"] * 20})
    y = np.where(X["a"] > 20, "p", "q")
    coder = ColumnTransformer(
        [("number", StandardScaler(), ["a"]), ("category", OneHotEncoder(), ["c"])]
    )
    model = make_pipeline(coder, LogisticRegression()).fit(X, y)
    reasons = explain_rows(model, X[:2])
    assert reasons.columns == ("a", "c")
    assert (np.abs(reasons.shares[:, 0]) > np.abs(reasons.shares[:, 1])).all()


def test_a_search_is_explained_as_its_best_model():
    X, y = blobs()
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    found, plain = (explain_rows(m, X[:2]) for m in (search, search.best_estimator_))
    np.testing.assert_array_equal(found.shares, plain.shares)


class _Bent(KernelFisherDiscriminant):
    """A classifier whose scores are no sums any more."""

    def _scores(self, X):
        return np.tanh(super()._scores(X))


def test_scores_that_were_bent_are_not_taken_for_sums():
    X, y = blobs()
    model = _Bent(kernel="rbf", alpha=0.1).fit(X, y)
    reasons = explain_rows(model, X[:3])
    assert not reasons.exact
    np.testing.assert_allclose(reasons.base + reasons.shares.sum(axis=1), reasons.scores)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_background": 0}, "n_background must be a whole number, 1 or more; got 0."),
        ({"n_rows": -1}, "n_rows must be a whole number, 0 or more; got -1."),
        ({"n_rows": True}, "n_rows must be a whole number, 0 or more; got True."),
        ({"background": np.empty((0, 4))}, "background must have at least one row."),
        ({"background": np.zeros((2, 3))}, "X must have 4 columns"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(options, sentence):
    X, y = blobs()
    model = KernelFisherDiscriminant(kernel="rbf", alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match=sentence):
        explain_rows(model, X[:1], **options)


def test_what_is_no_fitted_classifier_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="model must be a fitted classifier; got int"):
        explain_rows(3, X)
    with pytest.raises(ValueError, match="not fitted"):
        explain_rows(KernelFisherDiscriminant(), X)
    with pytest.raises(ValueError, match="X must be a table of numbers"):
        explain_rows(ParzenClassifier(bandwidth=1.0).fit(X, y), [["a"] * 4])


def test_a_window_that_reaches_no_row_is_refused():
    X, y = blobs()
    model = ParzenClassifier(kernel="epanechnikov", bandwidth=0.5).fit(X, y)
    with pytest.raises(ValueError, match="no window reaches some row"):
        explain_rows(model, X[:3] + 0.2)


def test_no_warning_reaches_the_user(fitted, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explain_rows(fitted("boosting"), data.X[:2])

"""``explain_rows``: shares of columns, against Shapley's definition on the public answers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import (
    ISEClassifier,
    KernelFisherDiscriminant,
    LaplacianClassifier,
    LaplacianSVC,
    ParzenClassifier,
    SparseKernelFisherDiscriminant,
)
from mercer.explanations import explain_rows
from mercer.models import list_models
from oracles.shapley import shapley_values, swap_game


def blobs(n=60, n_columns=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    score = X[:, 0] + X[:, 1] * X[:, 2 % n_columns] + 0.3 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def difference(model, one, other):
    """The public score of a class less that of another, as a function of rows."""

    def score(rows):
        found = model.decision_function(rows)
        if found.ndim == 1:
            return found if one == 1 else -found
        return found[:, one] - found[:, other]

    return score


def assert_exact(model, X, background, reasons, groups=None):
    groups = np.arange(X.shape[1]) if groups is None else groups
    for i, row in enumerate(X):
        one, other = (
            list(model.classes_).index(names[i]) for names in (reasons.predicted, reasons.against)
        )
        game = swap_game(difference(model, one, other), row, background, groups)
        expected = shapley_values(game, groups.max() + 1)
        size = np.abs(expected).max() + abs(reasons.base[i])
        np.testing.assert_allclose(reasons.shares[i], expected, rtol=1e-7, atol=1e-8 * size)
        assert reasons.base[i] == pytest.approx(game(set()), rel=1e-7, abs=1e-8 * size)
        assert reasons.scores[i] == pytest.approx(game(set(range(len(expected)))), rel=1e-7)


SCALES = (0.3, 1.0, 2.0, 0.1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        KernelFisherDiscriminant(kernel="rbf"),
        KernelFisherDiscriminant(kernel="laplacian", alpha=0.1),
        KernelFisherDiscriminant(kernel="laplacian", column_scales=SCALES, alpha=0.1),
        KernelFisherDiscriminant(kernel="rbf", column_scales=SCALES, alpha=0.1),
        KernelFisherDiscriminant(kernel="linear", alpha=0.1),
        KernelFisherDiscriminant(kernel="linear", column_scales=SCALES, alpha=0.1),
        SparseKernelFisherDiscriminant(kernel="rbf", max_nodes=10),
        ISEClassifier(bandwidth=1.0),
        ISEClassifier(bandwidth=1.0, kernel="laplacian"),
        ISEClassifier(weighting="margin", bandwidth=1.0),
        LaplacianSVC(kernel="rbf", gamma=0.3),
        LogisticRegression(),
        LinearDiscriminantAnalysis(),
    ],
    ids=lambda model: repr(model).replace("\n", ""),
)
def test_exact_shares_are_shapleys_values_of_the_scores(model, n_classes):
    X, y = blobs(n_classes=n_classes)
    model.fit(X, y)
    reasons = explain_rows(model, X[:4], background=X[4:11])
    assert reasons.exact
    assert (reasons.standard_errors == 0).all()  # all rows of the background were taken
    assert_exact(model, X[:4], X[4:11], reasons)


def test_weights_are_in_the_shares():
    X, y = blobs()
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    model = KernelFisherDiscriminant(kernel="laplacian", alpha=0.1).fit(X, y, weights)
    assert_exact(model, X[:2], X[4:11], explain_rows(model, X[:2], background=X[4:11]))


def test_a_column_of_a_table_is_one_player(fitted, data):
    model = fitted("fisher")
    table, estimator = model[0], model[-1]
    reasons = explain_rows(model, data.X[:3], background=data.X[10:18])
    assert reasons.exact
    assert set(reasons.columns) == {"size", "count", "colour", "when"}
    of = [str(name).split("__")[1] for name in table.get_feature_names_out()]
    groups = [next(k for k, c in enumerate(reasons.columns) if c in name) for name in of]
    groups, Z = np.array(groups), np.asarray(table.transform(data.X))
    assert np.bincount(groups).max() > 1
    assert_exact(estimator, Z[:3], Z[10:18], reasons, groups)


@pytest.mark.parametrize("name", list_models())
def test_shares_of_every_model_add_up_to_its_score(name, fitted, data):
    reasons = explain_rows(fitted(name), data.X[:6], n_background=20)
    whole = reasons.base + reasons.shares.sum(axis=1)
    np.testing.assert_allclose(whole, reasons.scores, rtol=1e-8, atol=1e-10)
    assert list(reasons.predicted) == list(fitted(name).predict(data.X[:6]))
    assert (reasons.predicted != reasons.against).all()
    assert reasons.exact == (name in ("fisher", "ise", "logistic"))
    assert reasons.n_background == (20 if reasons.background == "training" else 6)


@pytest.mark.parametrize(
    "model",
    [
        KernelFisherDiscriminant(kernel="exponential", alpha=0.1),
        KernelFisherDiscriminant(kernel="poly", alpha=0.1),
        ParzenClassifier(bandwidth=1.0),
        LaplacianClassifier(bandwidth=1.0),
        LaplacianClassifier(bandwidth=1.0, rule="append"),
        ISEClassifier(bandwidth=1.0, rule="append"),
        ISEClassifier(bandwidth=[1.0, 2.0]),
    ],
    ids=lambda model: repr(model).replace("\n", ""),
)
def test_sampled_shares_are_shapleys_values_within_their_errors(model):
    X, y = blobs()
    model.fit(X, y)
    reasons = explain_rows(model, X[:1], background=np.tile(X[4:8], (50, 1)), n_background=200)
    assert not reasons.exact
    game = swap_game(
        difference(model, *(int(names[0]) for names in (reasons.predicted, reasons.against))),
        X[0],
        X[4:8],
        np.arange(4),
    )
    expected, errors = shapley_values(game, 4), reasons.standard_errors[0]
    assert (np.abs(reasons.shares[0] - expected) < 4 * errors).all()
    assert (errors > 0).all()
    assert (errors < np.abs(expected).max() / 5).all()


def test_two_columns_have_two_orders_and_no_sampling_error():
    X, y = blobs(n_columns=2)
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    reasons = explain_rows(model, X[:3], background=X[4:11])
    assert_exact(model, X[:3], X[4:11], reasons)
    assert (reasons.standard_errors < 1e-12).all()


def test_errors_of_walks_say_how_far_other_walks_are():
    X, y = blobs(n_columns=6)
    model = ParzenClassifier(bandwidth=1.0).fit(X, y)
    drawn = [explain_rows(model, X[:1], background=X[4:24], random_state=s) for s in range(60)]
    values = np.array([one.shares[0] for one in drawn])
    errors = np.array([one.standard_errors[0] for one in drawn])
    ratio = values.std(axis=0, ddof=1) / np.sqrt((errors**2).mean(axis=0))
    assert ((ratio > 0.7) & (ratio < 1.4)).all()


def test_errors_say_how_far_shares_of_other_backgrounds_are():
    X, y = blobs(n=300)
    model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    whole = explain_rows(model, X[:1], n_background=300)
    drawn = [explain_rows(model, X[:1], n_background=60, random_state=s) for s in range(60)]
    assert (whole.standard_errors == 0).all()
    off = np.array([one.shares[0] - whole.shares[0] for one in drawn])
    errors = np.array([one.standard_errors[0] for one in drawn])
    ratio = np.sqrt((off**2).mean(axis=0) / (errors**2).mean(axis=0))
    assert ((ratio > 0.7) & (ratio < 1.4)).all()


def test_nothing_depends_on_the_memory_budget():
    X, y = blobs(n=200)
    model = KernelFisherDiscriminant(kernel="laplacian", alpha=0.1).fit(X, y)
    parzen = ParzenClassifier(bandwidth=1.0).fit(X, y)
    plain = [explain_rows(one, X[:20], n_background=30) for one in (model, parzen)]
    with config_context(working_memory=0.1):
        tight = [explain_rows(one, X[:20], n_background=30) for one in (model, parzen)]
    for one, other in zip(plain, tight, strict=True):
        np.testing.assert_allclose(one.shares, other.shares, rtol=1e-12)
        np.testing.assert_array_equal(one.supporting.terms, other.supporting.terms)


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


def test_shares_do_not_depend_on_other_rows_of_the_request():
    X, y = blobs(n_classes=3)
    model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    whole, part = (explain_rows(model, rows) for rows in (X[:5], X[3:5]))
    np.testing.assert_array_equal(whole.shares[3:], part.shares)


def test_one_row_of_background_says_nothing_of_its_error():
    X, y = blobs()
    model = KernelFisherDiscriminant(kernel="rbf").fit(X, y)
    assert np.isnan(explain_rows(model, X[:1], n_background=1).standard_errors).all()
    given = explain_rows(model, X[:1], background=X[4:5])
    assert (given.standard_errors == 0).all()


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

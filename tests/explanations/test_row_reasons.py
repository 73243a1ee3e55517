"""``explain_rows``: shares of columns, against Shapley's definition on the public answers."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

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
from oracles.shapley import assert_exact, blobs, difference, shapley_values, swap_game

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
    reasons = explain_rows(model, X[:2], background=X[4:11])
    assert reasons.exact
    assert (reasons.standard_errors == 0).all()  # all rows of the background were taken
    assert_exact(model, X[:2], X[4:11], reasons)


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
    shares = fitted(name).predict_proba(data.X[:6])
    classes = fitted(name).classes_
    own, other = (
        shares[np.arange(6), np.searchsorted(classes, names)]
        for names in (reasons.predicted, reasons.against)
    )
    if reasons.unit == "log odds":
        np.testing.assert_allclose(reasons.scores, np.log(own / other), rtol=1e-6)
    else:
        assert reasons.unit == "probability"
        np.testing.assert_allclose(reasons.scores, own - other, rtol=1e-12)
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

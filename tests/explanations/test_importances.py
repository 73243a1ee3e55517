"""``column_importances``: what is lost when a column is shuffled."""

import numpy as np
import pytest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from mercer import KernelFisherDiscriminant, ParzenClassifier
from mercer.explanations import column_importances


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where(2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n) > 0, "b", "a")
    return X, y


def test_losses_are_those_of_scikit_learn():
    X, y = table()
    model = LogisticRegression().fit(X[::2], y[::2])
    found = column_importances(model, X[1::2], y[1::2], n_repeats=20)
    for name, values, errors in (
        ("accuracy", found.accuracy, found.accuracy_errors),
        ("neg_log_loss", found.log_loss, found.log_loss_errors),
    ):
        peer = permutation_importance(
            model, X[1::2], y[1::2], scoring=name, n_repeats=20, random_state=1
        )
        spread = 4 * np.sqrt(2 / 20) * peer.importances_std + 1e-3  # of two means of 20 shuffles
        assert (np.abs(values - peer.importances_mean) < spread).all()
        assert (errors < 0.1).all()
        assert (errors[:2] > 0).all()
    assert found.n_rows == 200


def test_losses_are_means_over_the_rows():
    X, y = table(n=30)
    model = LogisticRegression().fit(X, y)
    found = column_importances(model, X, y, n_repeats=1, random_state=3)
    rng = np.random.RandomState(3)
    before = log_loss(y, model.predict_proba(X))
    for k in range(4):
        shuffled = X.copy()
        shuffled[:, k] = X[rng.permutation(30), k]
        after = log_loss(y, model.predict_proba(shuffled))
        assert found.log_loss[k] == pytest.approx(after - before)
        right = model.score(X, y) - model.score(shuffled, y)
        assert found.accuracy[k] == pytest.approx(right, abs=1e-12)


def test_a_column_that_the_model_does_not_look_at_loses_nothing():
    X, y = table()
    model = KernelFisherDiscriminant(
        kernel="laplacian", alpha=0.1, column_scales=[1, 1, 1, 1e-300]
    ).fit(X, y)
    found = column_importances(model, X, y)
    assert found.log_loss[3] == 0
    assert found.accuracy[3] == 0
    assert found.log_loss[0] > found.log_loss[1] > 0


def test_numbers_of_one_column_are_shuffled_together(fitted, data):
    model = fitted("fisher")
    found = column_importances(model, data.X, data.y)
    assert found.columns[found.log_loss.argmax()] == "size"
    shares = model[-1].column_shares_
    if model[-1].column_scales_ is None:
        assert found.learned_shares is None
    else:
        assert found.learned_shares.sum() == pytest.approx(shares.sum())


def test_learned_shares_are_added_up_by_column():
    X, y = table()
    model = KernelFisherDiscriminant(
        kernel="laplacian", alpha=0.1, column_scales=[4.0, 2.0, 1.0, 1.0]
    ).fit(X, y)
    found = column_importances(model, X, y, n_repeats=1)
    np.testing.assert_allclose(found.learned_shares, model.column_shares_)
    assert (
        column_importances(
            ParzenClassifier(bandwidth=1.0).fit(X, y), X, y, n_repeats=1
        ).learned_shares
        is None
    )


def test_a_classifier_without_probabilities_has_an_accuracy_only():
    X, y = table()
    found = column_importances(LinearSVC().fit(X, y), X, y)
    assert np.isnan(found.log_loss).all()
    assert found.accuracy[0] > 0.1


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (["a", "c"], "y holds 'c', which the model does not know."),
        (["a"], "X has 2 rows and y has 1."),
        ([["a", "b"]], "y must hold a class for each row."),
        ([], "y must hold a class for each row."),
    ],
)
def test_classes_that_do_not_fit_are_refused(y, sentence):
    X, labels = table()
    model = LogisticRegression().fit(X, labels)
    with pytest.raises(ValueError, match=sentence):
        column_importances(model, X[:2], y)

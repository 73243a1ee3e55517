"""−1 marks rows without a label, everywhere the same."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

from mercer.projections import LaplacianSupportVectorAnalysis, LaplacianSVC

ESTIMATORS = [LaplacianSupportVectorAnalysis, LaplacianSVC]


@pytest.fixture
def moons():
    X, truth = make_moons(120, noise=0.06, random_state=0)
    some = np.full(120, -1)
    some[:10] = truth[:10]
    return X, truth, some


def output(estimator, X):
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_names_among_minus_ones(cls, moons):
    X, _, some = moons
    named = np.array(["up", "down", None], dtype=object)[some]
    named[some == -1] = -1
    for marker in (-1, -1.0, np.int64(-1)):
        named[some == -1] = marker
        fitted = cls(kernel="rbf").fit(X, named)
        assert fitted.classes_.tolist() == ["down", "up"]
    numbers = cls(kernel="rbf").fit(X, np.where(some == -1, -1, 1 - some))
    if cls is LaplacianSVC:
        assert (numbers.predict(X) == (fitted.predict(X) == "up")).all()
    else:
        np.testing.assert_allclose(fitted.transform(X), numbers.transform(X))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_strings_have_a_name_in_every_row(cls, moons):
    X, truth, _ = moons
    assert cls().fit(X, np.array(["-1", "1"])[truth]).classes_.tolist() == ["-1", "1"]


@pytest.mark.parametrize("y", [[-1, -1, 3, 3], [-1] * 4, np.array([-1, "a", "a", "a"], object)])
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_too_few_classes_say_what_minus_one_means(cls, y):
    with pytest.raises(ValueError, match="−1 means unlabelled"):
        cls().fit(np.arange(8.0).reshape(4, 2), y)


def test_signs_are_an_error_in_the_analysis_and_a_warning_in_the_classifier(moons):
    X, truth, _ = moons
    signs = 2 * truth - 1
    with pytest.raises(ValueError, match="−1 means unlabelled"):
        LaplacianSupportVectorAnalysis().fit(X, signs)
    with pytest.warns(UserWarning, match="taken as two classes"):
        fitted = LaplacianSVC().fit(X, signs)
    assert fitted.classes_.tolist() == [-1, 1]
    assert fitted.score(X, signs) == 1.0


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_unlabelled_rows_are_no_class_but_count_in_the_graph(cls, moons):
    X, _, some = moons
    with_all = cls(kernel="rbf", gamma=5.0).fit(X, some)
    few = some != -1
    without = cls(kernel="rbf", gamma=5.0).fit(X[few], some[few])
    assert with_all.classes_.tolist() == without.classes_.tolist() == [0, 1]
    assert not np.allclose(output(with_all, X), output(without, X))


def test_without_the_penalty_unlabelled_rows_change_nothing(moons):
    X, _, some = moons
    few = some != -1
    one = LaplacianSVC(gamma=5.0, laplacian_weight=0.0).fit(X, some)
    two = LaplacianSVC(gamma=5.0, laplacian_weight=0.0).fit(X[few], some[few])
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-7)


def test_the_graph_moves_the_boundary_into_the_gap(moons):
    X, truth, some = moons
    alone = LaplacianSVC(gamma=5.0, laplacian_weight=0.0).fit(X, some).score(X, truth)
    assert alone < 0.95
    for normalized, weight in ((False, 10.0), (True, 30.0)):
        for loss in ("hinge", "squared_hinge", "squared_error"):
            machine = LaplacianSVC(
                gamma=5.0, laplacian_weight=weight, normalized=normalized, loss=loss
            )
            assert machine.fit(X, some).score(X, truth) == 1.0


def test_digits_with_ten_per_cent_of_the_labels():
    X, y = load_digits(return_X_y=True)
    X = X / 8 - 1
    gains = []
    splits = StratifiedShuffleSplit(5, train_size=0.1, random_state=0)
    for known, hidden in splits.split(X, y):
        some = np.full(len(y), -1)
        some[known] = y[known]
        lsva = LaplacianSupportVectorAnalysis(
            n_components=10, kernel="rbf", gamma=0.1, laplacian_weight=10.0, landmarks=250,
            random_state=0,
        )  # fmt: skip
        errors = []
        for rows, labels in ((np.arange(len(y)), some), (known, y)):
            lsva.fit(X[rows], labels[rows])
            nearest = KNeighborsClassifier(1).fit(lsva.transform(X[known]), y[known])
            errors.append(1 - nearest.score(lsva.transform(X[hidden]), y[hidden]))
        gains.append(errors[1] - errors[0])
    assert np.mean(gains) > 0.03

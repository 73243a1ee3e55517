"""Classifiers around a classifier keep scikit-learn's contract and do what they say."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import calibration_curve
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from mercer.models import CappedClassifier, DecidingClassifier, TunedClassifier

ESTIMATORS = [
    CappedClassifier(LogisticRegression(), max_rows=50, random_state=0),
    TunedClassifier(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0),
    TunedClassifier(SVC(), {"C": [1, 10]}, random_state=0),
    DecidingClassifier(LogisticRegression(), random_state=0),
]


def _deviations(estimator):
    if not isinstance(estimator, CappedClassifier):
        return {}
    if parse_version(sklearn.__version__) < parse_version("1.8"):
        return {}  # there the check has 40 rows, and all are drawn
    return {"check_dtype_object": "a row that is not drawn is not looked at, whatever is in it"}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_deviations)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_capped_keeps_shares_and_sees_no_other_row():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [600, 390, 10])
    X = rng.normal(size=(1000, 2)) + y[:, None]
    model = CappedClassifier(KNeighborsClassifier(1), max_rows=100, random_state=0).fit(X, y)
    assert model.n_rows_fitted_ == 100
    assert np.bincount(model.estimator_._y).tolist() == [60, 39, 1]
    all_rows = CappedClassifier(KNeighborsClassifier(1), max_rows=1000).fit(X, y)
    assert all_rows.score(X, y) == 1.0


def test_tuned_agrees_with_grid_search():
    X, y = load_iris(return_X_y=True)
    grid = {"n_neighbors": [1, 15, 75]}
    tuned = TunedClassifier(KNeighborsClassifier(), grid, random_state=3).fit(X, y)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=folds).fit(X, y)
    assert tuned.best_params_ == search.best_params_
    assert tuned.best_score_ == pytest.approx(search.best_score_)


def test_probabilities_of_a_machine_without_any_are_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = (rng.random(4000) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    model = TunedClassifier(SVC(), {"C": [1]}, random_state=0).fit(X[:1000], y[:1000])
    shares = model.predict_proba(X[1000:])[:, 1]
    seen, said = calibration_curve(y[1000:], shares, n_bins=5)
    assert np.abs(seen - said).max() < 0.1
    bare = SVC().fit(X[:1000], y[:1000])
    values = bare.decision_function(X[1000:])
    seen, said = calibration_curve(y[1000:], 1 / (1 + np.exp(-3 * values)), n_bins=5)
    assert np.abs(seen - said).max() > 0.1  # what the test above can see


def test_tuned_with_classes_that_some_folds_lack():
    X = np.repeat([0.0, 5.0, 10.0], [1, 10, 10])[:, None]
    y = np.repeat(["a", "b", "c"], [1, 10, 10])
    model = TunedClassifier(SVC(), {"C": [1, 100]}, random_state=0).fit(X, y)
    assert model.best_score_ == pytest.approx(20 / 21)  # all but the only row of its class
    assert model.predict_proba(X).shape == (21, 3)
    assert model.score(X[1:], y[1:]) == 1.0


class _NearestMean(ClassifierMixin, BaseEstimator):
    """Its values, minus distances, are all negative."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def decision_function(self, X):
        return -np.linalg.norm(X[:, None] - self.means_, axis=2)


def test_a_class_that_a_fold_lacks_is_never_its_answer():
    X, y = load_iris(return_X_y=True)
    y[0] = 3  # one row: one of the three folds is fitted without it
    model = TunedClassifier(_NearestMean(), {}, random_state=0).fit(X, y)
    right = np.zeros(len(y))
    seed = np.random.RandomState(0).randint(2**31 - 1)
    with pytest.warns(UserWarning, match="least populated"):
        folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y))
    for train, test in folds:
        fitted = _NearestMean().fit(X[train], y[train])
        found = fitted.classes_[fitted.decision_function(X[test]).argmax(axis=1)]
        right[test] = found == y[test]
    assert model.best_score_ == right.mean()


TEXTS = ["a fine day", "fine and dry", "rain and wind", "wind, then rain"] * 10
SKY = np.array(["good", "good", "bad", "bad"] * 10)
OF_WORDS = make_pipeline(TfidfVectorizer(), LogisticRegression())
OF_COLUMNS = make_pipeline(
    make_column_transformer((TfidfVectorizer(), "text"), (OneHotEncoder(), ["place"])),
    LogisticRegression(),
)
TABLE = pd.DataFrame({"text": TEXTS, "place": ["sea", "hill"] * 20}, index=np.arange(40) * 3)
OF_TEXT = {
    "list": (OF_WORDS, TEXTS),
    "array": (OF_WORDS, np.array(TEXTS)),
    "array of objects": (OF_WORDS, np.array(TEXTS, dtype=object)),
    "Series": (OF_WORDS, TABLE["text"]),
    "DataFrame": (OF_COLUMNS, TABLE),
}


@pytest.mark.parametrize("kind", OF_TEXT)
def test_a_pipeline_that_begins_with_text_can_be_wrapped(kind):
    pipeline, X = OF_TEXT[kind]
    grid = {"logisticregression__C": [1e-9, 10.0]}
    expected = clone(pipeline).set_params(logisticregression__C=10.0).fit(X, SKY)
    tuned = TunedClassifier(pipeline, grid, random_state=0).fit(X, SKY)
    assert tuned.best_params_ == {"logisticregression__C": 10.0}
    np.testing.assert_array_equal(tuned.predict(X), SKY)
    np.testing.assert_allclose(tuned.predict_proba(X), expected.predict_proba(X))
    capped = CappedClassifier(expected, max_rows=20, random_state=0).fit(X, SKY)
    assert capped.n_rows_fitted_ == 20
    np.testing.assert_array_equal(capped.predict(X), SKY)
    for model in (tuned, capped):
        assert hasattr(model, "feature_names_in_") == hasattr(expected, "feature_names_in_")
        assert hasattr(model, "n_features_in_") == hasattr(expected, "n_features_in_")
    with config_context(working_memory=1e-4):  # one row at a time
        np.testing.assert_allclose(tuned.predict_proba(X), expected.predict_proba(X))

"""Mercer's estimators inside ensembles, calibration and searches: scikit-learn, imbalanced-learn.

Boosting passes weights that add up to one, bagging whole ones or repeated rows.
"""

import numpy as np
import pytest
from imblearn.ensemble import BalancedBaggingClassifier, RUSBoostClassifier
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
    train_test_split,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import mercer

CLASSIFIERS = [
    mercer.ISEClassifier(),
    mercer.KernelFisherDiscriminant(),
    mercer.LaplacianClassifier(),
    mercer.ParzenClassifier(),
    mercer.SparseKernelFisherDiscriminant(random_state=0),
    mercer.LaplacianSVC(),
]


def _name(estimator: BaseEstimator) -> str:
    return type(estimator).__name__


def _halves(load):
    """Return scaled training and test rows, and their classes."""
    X, y = load(return_X_y=True)
    X, new, y, truth = train_test_split(X, y, random_state=0, stratify=y)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(new), y, truth


def _rare_class():
    """Return the tumours with malignant ones made rare: 30 of 387."""
    X, y = load_breast_cancer(return_X_y=True)
    kept = np.r_[np.flatnonzero(y == 0)[:30], np.flatnonzero(y == 1)]
    return StandardScaler().fit_transform(X[kept]), (y[kept] == 0).astype(int)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer], ids=["iris", "cancer"])
def test_adaboost_is_no_worse_than_what_it_boosts(estimator, load):
    X, new, y, truth = _halves(load)
    alone = clone(estimator).fit(X, y).score(new, truth)
    boosted = AdaBoostClassifier(estimator, n_estimators=5, random_state=0).fit(X, y)
    assert boosted.score(new, truth) >= alone - 0.06
    assert boosted.score(new, truth) > 0.88


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_rusboost_finds_a_rare_class(estimator):
    X, y = _rare_class()
    boosted = RUSBoostClassifier(estimator, n_estimators=5, random_state=0).fit(X, y)
    assert balanced_accuracy_score(y, boosted.predict(X)) > 0.9


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_bagging_by_drawn_rows(estimator):
    X, new, y, truth = _halves(load_iris)
    bagged = BaggingClassifier(estimator, n_estimators=5, oob_score=False, random_state=0)
    assert bagged.fit(X, y).score(new, truth) > 0.8


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_balanced_bagging_finds_a_rare_class(estimator):
    X, y = _rare_class()
    bagged = BalancedBaggingClassifier(estimator, n_estimators=5, random_state=0).fit(X, y)
    assert balanced_accuracy_score(y, bagged.predict(X)) > 0.9


@pytest.mark.parametrize("sampler", [SMOTE, RandomUnderSampler])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_a_pipeline_that_resamples(sampler, estimator):
    X, y = _rare_class()
    model = make_sampling_pipeline(StandardScaler(), sampler(random_state=0), clone(estimator))
    scores = cross_val_score(model, X, y, cv=4, scoring="balanced_accuracy", error_score="raise")
    assert scores.mean() > 0.8


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_rows_that_smote_makes_up_do_no_harm(estimator):
    X, y = _rare_class()
    with_rows, without = (
        cross_val_score(model, X, y, cv=4, scoring="balanced_accuracy").mean()
        for model in (
            make_sampling_pipeline(SMOTE(random_state=0), clone(estimator)),
            clone(estimator),
        )
    )
    assert with_rows > without - 0.04


def test_stacking_and_voting():
    X, new, y, truth = _halves(load_wine)
    named = [(_name(estimator), clone(estimator)) for estimator in CLASSIFIERS]
    stacked = StackingClassifier(named, LogisticRegression(), cv=3).fit(X, y)
    assert stacked.score(new, truth) > 0.93
    soft = [(name, estimator) for name, estimator in named if hasattr(estimator, "predict_proba")]
    assert VotingClassifier(soft, voting="soft").fit(X, y).score(new, truth) > 0.93


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_calibration_gives_probabilities(method, estimator):
    X, new, y, truth = _halves(load_breast_cancer)
    calibrated = CalibratedClassifierCV(clone(estimator), method=method, cv=3).fit(X, y)
    proba = calibrated.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert log_loss(truth, np.clip(proba, 1e-6, 1 - 1e-6)) < 0.35


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (mercer.ParzenClassifier(), {"bandwidth": [0.05, 0.7, 20.0]}),
        (mercer.KernelFisherDiscriminant(), {"gamma": [5.0, 0.05, 500.0]}),
        (mercer.LaplacianSVC(), {"gamma": [5.0, 0.05, 500.0]}),
    ],
    ids=lambda value: _name(value) if isinstance(value, BaseEstimator) else "",
)
@pytest.mark.parametrize("search", [GridSearchCV, HalvingGridSearchCV])
def test_a_search_finds_the_sensible_setting(estimator, grid, search):
    X, new, y, truth = _halves(load_wine)
    found = search(estimator, grid, cv=3, error_score="raise").fit(X, y)
    ((name, values),) = grid.items()
    assert found.best_params_ == {name: values[1]}
    assert found.score(new, truth) > 0.9


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
@pytest.mark.parametrize("wrapper", [OneVsOneClassifier, OneVsRestClassifier])
def test_one_machine_per_class_or_pair(estimator, wrapper):
    X, new, y, truth = _halves(load_iris)
    assert wrapper(clone(estimator)).fit(X, y).score(new, truth) > 0.88


def test_self_training_uses_rows_without_a_class():
    X, new, y, truth = _halves(load_iris)
    few = np.where(np.random.RandomState(0).rand(len(y)) < 0.3, y, -1)
    learned = SelfTrainingClassifier(mercer.ParzenClassifier()).fit(X, few)
    assert learned.score(new, truth) > 0.88
    assert (learned.transduction_ == -1).sum() < (few == -1).sum()


def test_features_are_selected_by_a_classifier():
    X, _, y, _ = _halves(load_iris)
    selected = SequentialFeatureSelector(mercer.ParzenClassifier(), n_features_to_select=2, cv=3)
    assert selected.fit(X, y).get_support()[2:].all()  # the petals


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_a_mixed_table_of_sparse_categories(estimator):
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=120)
    table = np.c_[rng.normal(size=120) + 2 * y, rng.randint(8, size=120) + 4 * y]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [1]), (StandardScaler(), [0]), sparse_threshold=1.0
    )
    dense = FunctionTransformer(lambda X: X.toarray())
    sparse_model = make_pipeline(encode, clone(estimator)).fit(table, y)
    dense_model = make_pipeline(clone(encode), dense, clone(estimator)).fit(table, y)
    np.testing.assert_array_equal(sparse_model.predict(table), dense_model.predict(table))
    assert sparse_model.score(table, y) > 0.85

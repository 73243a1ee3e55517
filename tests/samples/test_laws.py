"""One law for all estimators: priors, precision of scores, sparse rows, nothing to learn from."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from mercer import (
    ISEClassifier,
    KernelFisherDiscriminant,
    LaplacianClassifier,
    LaplacianFeatureMap,
    LaplacianSupportVectorAnalysis,
    LaplacianSVC,
    LocalityPreservingProjection,
    NearestAngleClassifier,
    ParzenClassifier,
    RoweisSaulProjection,
    SparseKernelFisherDiscriminant,
)

WITH_PRIORS = [
    ParzenClassifier(),
    LaplacianClassifier(),
    LaplacianClassifier(rule="append", bandwidth=1.0),
    KernelFisherDiscriminant(),
    SparseKernelFisherDiscriminant(random_state=0),
]
CLASSIFIERS = [*WITH_PRIORS, ISEClassifier(), NearestAngleClassifier(), LaplacianSVC()]
PROJECTIONS = [
    LaplacianFeatureMap(),
    LaplacianSupportVectorAnalysis(),
    LocalityPreservingProjection(),
    RoweisSaulProjection(),
]


def name(model):
    return type(model).__name__


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("model", WITH_PRIORS, ids=name)
def test_a_class_of_prior_zero_is_never_chosen(model, iris):
    X, y = iris
    model = clone(model).set_params(priors=[0.3, 0.0, 0.7]).fit(X, y)
    assert set(model.predict(X)) == {0, 2}
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.predict_proba(X)[:, 1] < 1e-300).all()
    assert (model.predict_log_proba(X)[:, 1] < -1e300).all()


@pytest.mark.parametrize("model", WITH_PRIORS, ids=name)
def test_uniform_priors_are_equal_ones(model, iris):
    X, y = iris[0][20:], iris[1][20:]
    named, given = (
        clone(model).set_params(priors=priors).fit(X, y) for priors in ("uniform", [1 / 3] * 3)
    )
    np.testing.assert_array_equal(named.decision_function(X), given.decision_function(X))
    assert not np.allclose(clone(model).fit(X, y).decision_function(X), given.decision_function(X))


@pytest.mark.parametrize("model", WITH_PRIORS, ids=name)
@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"priors must have one entry for each of the 3 classes, got shape \(2,\)\."),
        ([0.5, 0.5, 0.5], r"priors must add up to 1, got 1\.5\."),
        ([0.6, 0.5, -0.1], r"priors must be finite and not negative, got \[0\.6, 0\.5, -0\.1\]\."),
        ([0.5, 0.5, np.nan], "priors must be finite and not negative"),
        (["a", "b", "c"], r"priors must be numbers, got \['a', 'b', 'c'\]\."),
    ],
)
def test_wrong_priors_get_one_sentence(model, priors, message, iris):
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(priors=priors).fit(*iris)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_scores_are_double_and_finite(model, iris):
    X, y = iris
    model = clone(model).fit(X.astype(np.float32), y)
    far = np.concatenate([X, 1e6 * X]).astype(np.float32)
    asked = ["decision_function"]
    if hasattr(model, "predict_proba"):
        asked += ["predict_proba", "predict_log_proba"]
    for method in asked:
        answer = getattr(model, method)(far)
        assert answer.dtype == np.float64
        assert np.isfinite(answer).all()


@pytest.mark.parametrize("model", [*CLASSIFIERS, *PROJECTIONS], ids=name)
def test_sparse_rows_are_dense_ones(model, iris):
    X, y = iris
    dense, sparse = clone(model).fit(X, y), clone(model).fit(csr_array(X), y)
    method = "decision_function" if is_classifier(model) else "transform"
    wanted = getattr(dense, method)(X)
    np.testing.assert_array_equal(getattr(sparse, method)(X), wanted)
    np.testing.assert_allclose(getattr(sparse, method)(csr_array(X)), wanted, rtol=1e-12)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_one_class_gets_one_sentence(model, iris):
    X, _ = iris
    message = (
        f"{name(model)} needs at least two classes in y with a positive weight, got one class: 4."
    )
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, np.full(len(X), 4))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_weights_that_are_all_zero_get_one_sentence(model, iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"sample_weight is zero everywhere: no row is left\."):
        clone(model).fit(X, y, sample_weight=np.zeros(len(X)))


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
def test_weights_get_one_sentence(model, iris):
    X, y = iris
    with pytest.raises(ValueError, match="must be finite and not negative, got -1 in row 7"):
        clone(model).fit(X, y, sample_weight=np.where(np.arange(150) == 7, -1.0, 1.0))
    with pytest.raises(ValueError, match="sample_weight must have one entry for each of the 150"):
        clone(model).fit(X, y, sample_weight=np.ones(3))


@pytest.mark.parametrize("weight", [1e-40, 1e40])
@pytest.mark.parametrize("model", [ParzenClassifier(), LaplacianClassifier()], ids=name)
def test_weights_that_single_precision_does_not_hold(model, weight, iris):
    X, y = iris
    weights = np.where(np.arange(150) % 5 == 0, weight, 1.0)
    assert clone(model).fit(X.astype(np.float32), y, weights).X_fit_.dtype == np.float64


def test_nodes_are_numbered_as_the_rows_were_given(iris):
    """Rows of weight zero and copies of rows once moved the numbers of all that came after."""
    X, y = iris
    X, y = np.concatenate([X[:1], X]), np.append(y[:1], y)
    weights = np.where(np.arange(151) % 2, 1.0, 0.0)
    model = LaplacianClassifier(bandwidth=1.0, n_nodes=9, node_selection="largest")
    model.fit(X, y, weights)
    np.testing.assert_array_equal(X[model.support_], model.X_fit_)
    assert (weights[model.support_] > 0).all()

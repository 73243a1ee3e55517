"""On two processes, everything is what it is in memory, to rounding."""

import numpy as np
import pytest

import mercer
from lazy import cut, cut_elsewhere, labelled
from mercer import information

pytestmark = pytest.mark.usefixtures("client")

CLASSIFIERS = {
    "parzen": mercer.ParzenClassifier(bandwidth=0.5),
    "parzen, per class": mercer.ParzenClassifier(bandwidth="silverman", per_class=True),
    "parzen, leave-one-out": mercer.ParzenClassifier(),
    "laplacian": mercer.LaplacianClassifier(bandwidth=0.5),
    "laplacian, append": mercer.LaplacianClassifier(bandwidth="scott", rule="append"),
    "laplacian, leave-one-out": mercer.LaplacianClassifier(),
    "ise": mercer.ISEClassifier(bandwidth=0.5),
    "ise, leave-one-out": mercer.ISEClassifier(),
    "nearest angle": mercer.NearestAngleClassifier(),
}
DISCRIMINANTS = {
    "sparse": mercer.SparseKernelFisherDiscriminant(max_nodes=20, random_state=0),
    "exact": mercer.KernelFisherDiscriminant(),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    X, y = labelled(120)
    new, _ = labelled(40, seed=1)
    expected = CLASSIFIERS[name].fit(X, y)
    answers = {
        method: getattr(expected, method)(new)
        for method in ("predict", "predict_proba", "decision_function")
        if hasattr(expected, method)
    }
    width = getattr(expected, "bandwidth_", None)
    model = CLASSIFIERS[name].fit(cut(X), cut_elsewhere(y))
    if width is not None:
        np.testing.assert_allclose(model.bandwidth_, width, rtol=1e-9)
    assert (model.predict(cut(new)).compute() == answers.pop("predict")).all()
    for method, answer in answers.items():
        lazily = getattr(model, method)(cut(new))
        np.testing.assert_allclose(lazily.compute(), answer, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", DISCRIMINANTS)
def test_discriminants(name):
    X, y = labelled(200)
    new, _ = labelled(40, seed=1)
    model = DISCRIMINANTS[name].fit(X, y)
    scores, places = model.decision_function(new), model.transform(new)
    support = model.support_
    model.fit(cut(X), cut_elsewhere(y))
    np.testing.assert_array_equal(model.support_, support)
    np.testing.assert_allclose(model.decision_function(cut(new)).compute(), scores, rtol=1e-6)
    np.testing.assert_allclose(model.transform(cut(new)).compute(), places, rtol=1e-6, atol=1e-8)


def _measures():
    X, y = labelled(100)
    Y, _ = labelled(70, seed=1)
    one = ("information_potential", "log_information_potential", "renyi_quadratic_entropy")
    two = (
        "cross_information_potential",
        "log_cross_information_potential",
        "integrated_squared_error",
        "log_integrated_squared_error",
        "information_cut",
        "log_information_cut",
        "cauchy_schwarz_divergence",
    )
    sides = (
        "hilbert_schmidt_independence",
        "euclidean_mutual_information",
        "cauchy_schwarz_mutual_information",
    )
    classes = ("laplacian_information_cut", "log_laplacian_information_cut")
    yield from ((name, (X,)) for name in one)
    yield from ((name, (X, Y)) for name in two)
    yield from ((name, (X[:, :1], X[:, 1:])) for name in sides)
    yield "renyi_entropy", (X,)
    yield from ((name, (X, y)) for name in classes)


MEASURES = dict(_measures())


@pytest.mark.parametrize("name", MEASURES)
def test_measures(name):
    measure, arrays = getattr(information, name), MEASURES[name]
    options = {"bandwidth": 0.6} | ({"order": 1.5} if name == "renyi_entropy" else {})
    expected = measure(*arrays, **options)
    value = measure(*map(cut, arrays), **options)
    assert isinstance(value, float)
    assert value == pytest.approx(expected, rel=1e-10)


def test_every_measure_is_here():
    tests = {"independence_test", "k_sample_test", "two_sample_test"}
    results = {"IndependenceTestResult", "KSampleTestResult", "TwoSampleTestResult"}
    assert set(MEASURES) == set(information.__all__) - tests - results
